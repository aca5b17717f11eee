"""The spectrum for one to four attractors of three trajectories each, with its gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenwell._types import FloatArray
from eigenwell.graphs import Cycle
from eigenwell.palette import Theme
from eigenwell.spectral import UnitMasses, joined_spectrum

from .alg_1 import largest_gap
from .drawing import sheet, titled
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study

TRAJECTORIES, SHOWN = 3, 16
# Different from one sub-dynamics to the next, as in data; equal lengths would make all their eigenvalues equal.
LENGTHS = (100, 90, 80, 70)


def make(study: Study) -> Outcome:
    values = {q: _spectrum(LENGTHS[:q]) for q in range(1, 5)}
    rows: list[tuple[Cell, ...]] = []
    for q, spectrum in values.items():
        zeros = int((spectrum == 0).sum())
        rows.append((q, q, zeros, (TRAJECTORIES - 1) * q, _relevant(spectrum)))
    table = Table(
        "components",
        "Zero eigenvalues count the attractors; n_DS = Σ (K_q - 1) relevant components lie before the gap.",
        ("attractors", "printed zeros", "zeros here", "printed components before the gap", "components here"),
        tuple(rows),
    )
    return Outcome(
        verdict="As printed: as many zero eigenvalues as attractors, and two relevant components for each before the gap.",
        tables=(table,),
        figures=(
            Figure("spectra", "Lowest eigenvalues for one to four attractors; the gap is shaded.", _draw(values)),
        ),
        checks=(Check("zeros and components as printed", all(r[1] == r[2] and r[3] == r[4] for r in rows)),),
        settings={"trajectories_per_attractor": TRAJECTORIES, "samples_per_trajectory": list(LENGTHS), "join": "cycle"},
    )


def _spectrum(lengths: tuple[int, ...]) -> FloatArray:
    each = [joined_spectrum(np.full(TRAJECTORIES, n), Cycle(), UnitMasses(), SHOWN) for n in lengths]
    return np.sort(np.concatenate([one.eigenvalues for one in each]))[:SHOWN]


def _relevant(values: FloatArray) -> int:
    """Non-zero eigenvalues before the widest gap in ratio."""
    return largest_gap(values[int((values == 0).sum()) - 1 :])


def _draw(values: dict[int, FloatArray]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        figure, axes = sheet(1, 4)
        for k, (ax, (q, spectrum)) in enumerate(zip(axes.flat, values.items(), strict=True)):
            last = q + _relevant(spectrum)
            # Two beyond the gap: more would press the rest against the axis.
            number, shown = np.arange(1, last + 3), 1e3 * spectrum[: last + 2]
            ax.axvspan(last, last + 1, color=theme.faint, alpha=0.15, lw=0)
            ax.plot(number, shown, "o-", color=theme.colour(k), ms=4, lw=1)
            ax.annotate("gap", (last + 0.5, shown.max()), ha="center", va="top", fontsize=8, color=theme.faint)
            ax.xaxis.get_major_locator().set_params(integer=True)
            titled(ax, f"{q} attractor{'s' if q > 1 else ''}", "number", "10³ λ" if k == 0 else "")
        return figure

    return draw
