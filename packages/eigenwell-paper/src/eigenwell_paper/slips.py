"""What we could not reproduce and why: formulas and figures that do not hold as printed, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from eigenwell import systems
from eigenwell._types import FloatArray, IntArray
from eigenwell.graphs import Cycle
from eigenwell.identification import identify
from eigenwell.palette import Theme
from eigenwell.spectral import (
    CorrectedFilter,
    CorrectedGamma,
    ExactMasses,
    Masses,
    PrintedFilter,
    PrintedGamma,
    UnitMasses,
    joined_spectrum,
    linearity,
)
from eigenwell.spectral.kernels import Gamma

from . import printed
from .drawing import cross, sheet, titled
from .results import Check, Figure, Outcome, Table
from .study import Study

ANGLES = np.linspace(0.05, np.pi / 2, 60)
SIZES = np.arange(3, 61)
ARMS = np.array([300, 60, 30])
FOUR_ARMS = np.array([100, 60, 140, 80])


@dataclass(frozen=True)
class Slip:
    """One thing that does not hold: as printed, what we computed, what eigenwell does, and whether the evidence bears it out."""

    printed: str
    evidence: str
    instead: str
    borne_out: bool


def make(study: Study) -> Outcome:
    slips = (
        _gamma(),
        _filter(),
        _bound(),
        _count(),
        _unequal(),
        _duffing(study.seed),
        _pendulum(),
        _units(study.seed),
        _contradiction(),
        _prose(),
    )
    table = Table(
        "slips",
        "Every number in the middle column was computed in this run.",
        ("as printed", "what we computed", "what eigenwell does"),
        tuple((one.printed, one.evidence, one.instead) for one in slips),
    )
    borne = sum(one.borne_out for one in slips)
    return Outcome(
        verdict=f"{len(slips)} statements do not hold as printed; the evidence computed here bears out {borne} of them.",
        tables=(table,),
        figures=(
            Figure(
                "slips",
                "The penalty at the angle θ_r, which the text wants to be 3σ; λ₂ of N nodes a path with its printed lower bound; "
                "arms of 300, 60 and 30 nodes without and with masses.",
                _draw,
            ),
        ),
        checks=tuple(Check(f"evidence against: {one.printed}", one.borne_out) for one in slips),
    )


def _gamma() -> Slip:
    theta = 0.2
    old, new = (float(g(np.cos([theta]), 1.0, theta)[0]) for g in (PrintedGamma(), CorrectedGamma()))
    return Slip(
        "γ(g) = (3/2) θ_r (1 - g) σ maps cos θ_r to 3σ",
        f"At θ_r = {theta} it gives {old:.4f} σ, {3 / old:.0f} times too little: neighbours at that angle keep "
        f"{100 * np.exp(-(old**2)):.3f} % of their weight instead of next to nothing.",
        f"γ(g) = 3σ (1 - g) / (1 - cos θ_r), which gives {new:.4f} σ. The printed form is PrintedGamma.",
        old < 0.1 and abs(new - 3) < 1e-9,
    )


def _filter() -> Slip:
    delta, cosine = np.array([0.5, 0.5]), np.array([1.0, -1.0])
    old, new = PrintedFilter()(delta, cosine), CorrectedFilter()(delta, cosine)
    return Slip(
        "The filter is added to the cosine before the absolute value",
        f"Half open, with neighbours straight ahead and straight behind, |g| is {old[0]:g} and {old[1]:g}: both are punished, "
        "though both lie on the line of motion, where 1 is meant.",
        f"|g| = max(|cos|, filter), which gives {new[0]:g} and {new[1]:g}. The printed form is PrintedFilter.",
        bool(old[1] < 1 < old[0] and (new == 1).all()),
    )


@cache
def _first(nodes: int) -> float:
    """λ₂ of three joined paths."""
    return float(joined_spectrum(np.full(3, nodes), Cycle(), UnitMasses(), 2).eigenvalues[1])


def _bound() -> Slip:
    bound = {n: round(1 - 2 * np.cos(np.pi / n), 3) + 0.0 for n in (3, 4, 10, 100)}
    true = _first(100)
    close = (np.pi / 200) ** 2
    said = ", ".join(f"{value:g} at N = {n}" for n, value in bound.items())
    return Slip(
        "1 - 2 cos(π/N) < λ_min, the lower bound of the eigenvalue proposition",
        f"The bound is {said}: empty from N = 3 on. λ_min at N = 100 is {true:.3e}, close to (π/2N)² = {close:.3e}.",
        "Solves for λ in closed form, and counts connected components instead of small eigenvalues.",
        all(value <= 0 for value in bound.values()) and abs(true / close - 1) < 0.05,
    )


def _count() -> Slip:
    rows = []
    for k, n in ((3, 5), (4, 5), (5, 5)):
        values = joined_spectrum(np.full(k, n), Cycle(), UnitMasses(), k * n).eigenvalues
        rows.append((k, n, int((np.diff(values) < 1e-9).sum()), (k - 1) // 2))
    said = "; ".join(f"{k} paths of {n} nodes: {found}, printed {stated}" for k, n, found, stated in rows)
    return Slip(
        "(K - 1)/2 or K/2 - 1 eigenvalues are double",
        f"Double eigenvalues: {said}. The proof gives N times as many, because each pair of blocks is alike in all its N "
        "eigenvalues.",
        "Tests N ⌊(K - 1)/2⌋.",
        all(found >= n * stated for _, n, found, stated in rows),
    )


def _arms(lengths: IntArray, masses: Masses) -> tuple[FloatArray, IntArray]:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
    return joined_spectrum(lengths, Cycle(), masses, 3).eigenvectors[:, 1:], offsets


def _unequal() -> Slip:
    plain, offsets = _arms(ARMS, UnitMasses())
    cured, _ = _arms(ARMS, ExactMasses())
    r2 = [float(linearity(u, offsets).min()) for u in (plain, cured)]
    off = [_off_hub(u, offsets) for u in (plain, cured)]
    four, at = _arms(FOUR_ARMS, UnitMasses())
    nearest = int(np.argmin(np.linalg.norm(four, axis=1)))
    path = int(np.searchsorted(at, nearest, side="right")) - 1
    away = int(at[path + 1] - 1 - nearest)
    return Slip(
        "Paths are lines that meet in the attractor, whatever trajectories were sampled",
        f"Proved for equal lengths. Arms of {'/'.join(map(str, ARMS))} nodes: worst R² to a line {r2[0]:.2f}, ends "
        f"{100 * off[0]:.0f} % of the radius off the origin. Arms of {'/'.join(map(str, FOUR_ARMS))}: the node nearest to "
        f"the origin is {away} nodes away from the hub.",
        f"Masses, L u = λ M u: worst R² {r2[1]:.6f}, ends {100 * off[1]:.1f} % off.",
        r2[0] < 0.9 and r2[1] > 1 - 1e-9 and away > 5,
    )


def _off_hub(u: FloatArray, offsets: IntArray) -> float:
    size = np.linalg.norm(u, axis=1)
    return float(size[np.asarray(offsets[1:]) - 1].max() / size.max())


def _duffing(seed: int) -> Slip:
    demos = systems.duffing_short.sample(seed)
    found = identify(demos.shuffled(seed))
    left = float(np.exp(-0.15 * systems.duffing_short.duration))
    true = systems.duffing_short.attractors
    ends = np.array([x[-1] for x, _ in demos.trajectories()])
    gap = float(np.linalg.norm(ends[:, None] - true, axis=2).min(axis=1).mean())
    told = any(c.name == "ends-not-at-rest" for c in found.warnings)
    return Slip(
        "Duffing, sampled for 5 s at 200 Hz, ends at its attractors",
        f"The linear part decays as exp(-0.15 t): {100 * left:.0f} % is left after 5 s. The ends lie {gap:.2f} from the nearest "
        f"attractor on average, {100 * gap / float(np.linalg.norm(true[0])):.0f} % of the way from an attractor to the saddle.",
        f"Takes 40 s at 25 Hz, as many samples. On the 5 s it says that motions did not end: {'yes' if told else 'no'}.",
        left > 0.4 and told,
    )


def _pendulum() -> Slip:
    length, gravity, friction = 1.0, 9.81, 0.2
    periods = [2 * np.pi / np.sqrt(w - (friction * length / 2) ** 2) for w in (length / gravity, gravity / length)]
    demos = systems.pendulum.sample(0)
    last = max(float(np.linalg.norm(v[-1])) for _, v in demos.trajectories())
    return Slip(
        "θ̈ = -(l/g) sin θ - k l θ̇",
        f"A pendulum has g/l there. For l = 1 m the printed form swings with a period of {periods[0]:.1f} s, a real one with "
        f"{periods[1]:.1f} s.",
        f"As printed, with l = 1 and k = 0.2: after 60 s the fastest end moves at {last:.1e}, so the experiment itself holds.",
        periods[0] > 5 * periods[1] and last < 0.01,
    )


def _units(seed: int) -> Slip:
    demos = systems.heart.sample(seed)
    shift = np.array([0.01, 0.0])
    errors = [float(np.sqrt(((k * shift) ** 2 / (k * demos.x).std(axis=0)).sum())) for k in (1.0, 100.0)]
    return Slip(
        "e(x*) = sqrt(Δᵀ Σ⁻¹ Δ), Σ the diagonal of the standard deviations, in percent",
        f"Lengths squared over lengths: the value depends on the unit. The same miss on heart gives {errors[0]:.4f} in "
        f"metres and {errors[1]:.4f} in centimetres.",
        "Reports the printed formula for comparison, and standard errors in the data's units elsewhere.",
        abs(errors[1] / errors[0] - 10) < 1e-6,
    )


def _contradiction() -> Slip:
    first, second = printed.CLUSTERED["heart"].mixture
    return Slip(
        "Heart, Gaussian mixture: both clusters hold 12.71 % of A and 87.29 % of B",
        f"Then {first[0]:g} % of all samples would be A whatever the sizes of the clusters; half of them are, by construction.",
        "Prints its own row beside it.",
        first == second and abs(first[0] - 50) > 1,
    )


def _prose() -> Slip:
    table = {name: float(np.mean(values)) for name, values in printed.LASA_METRICS.items()}
    return Slip(
        "LASA: cosine errors and DTWD 'about 0.5 and 0.2'; '12 examples'; a column CShape",
        f"The table beside the text has means of {table['cosine_error']:.2f} and {table['dtwd']:.3f}, over "
        f"{len(printed.LASA_SHAPES)} shapes. The pictures of the column CShape are files named DoubleBendedLine.",
        "Learns all thirty shapes and names each by its data.",
        abs(table["cosine_error"] - printed.LASA_PROSE["cosine_error"]) > 0.1,
    )


def _draw(theme: Theme) -> Any:
    figure, axes = sheet(1, 4, width=12.5)
    penalties: tuple[tuple[str, Gamma], ...] = (("printed", PrintedGamma()), ("corrected", CorrectedGamma()))
    for k, (name, gamma) in enumerate(penalties):
        value = [float(gamma(np.cos([a]), 1.0, a)[0]) for a in ANGLES]
        axes[0, 0].plot(ANGLES, value, color=theme.colour(1 - k), lw=1.6, label=name)
    axes[0, 0].set_ylim(-0.1, 3.6)
    titled(axes[0, 0], "γ(cos θ_r) / σ", "θ_r")
    axes[0, 0].legend(loc="center left")
    axes[0, 1].plot(SIZES, [_first(int(n)) for n in SIZES], color=theme.colour(0), lw=1.6, label="λ₂")
    axes[0, 1].plot(SIZES, 1 - 2 * np.cos(np.pi / SIZES), color=theme.colour(1), lw=1.6, label="printed lower bound")
    axes[0, 1].axhline(0, color=theme.grid, lw=0.8, zorder=0)
    titled(axes[0, 1], "the bound and λ₂", "N")
    axes[0, 1].legend(loc="center right")
    panels: tuple[tuple[str, Masses], ...] = (("plain Laplacian", UnitMasses()), ("with masses", ExactMasses()))
    for ax, (name, masses) in zip(axes[0, 2:], panels, strict=True):
        u, offsets = _arms(ARMS, masses)
        for q, (a, b) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
            ax.plot(*u[a:b].T, color=theme.colour(q), lw=1.6)
        cross(ax, theme, np.zeros(2))
        titled(ax, f"{name}, arms {'/'.join(map(str, ARMS))}", "u₂", "u₃")
    return figure
