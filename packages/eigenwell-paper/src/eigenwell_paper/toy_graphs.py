"""Toy graphs: 3, 4 and 5 paths of five nodes whose ends are joined in a cycle; spectrum, eigenvectors, embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from eigenwell._types import FloatArray
from eigenwell.graphs import Cycle
from eigenwell.palette import Theme
from eigenwell.spectral import Spectrum, UnitMasses, joined_laplacian, joined_spectrum, linearity

from .drawing import bare, sheet, titled
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study

NODES, SHOWN = 5, 9
SAME = 1e-9
# Pairs of equal eigenvalues before the gap, as the text counts them.
PRINTED_PAIRS = {3: 1, 4: 1, 5: 2}


def make(study: Study) -> Outcome:
    spectra = {k: joined_spectrum(np.full(k, NODES), Cycle(), UnitMasses(), SHOWN) for k in PRINTED_PAIRS}
    rows: list[tuple[Cell, ...]] = []
    worst, straight, rising = 0.0, 1.0, True
    for k, spectrum in spectra.items():
        laplacian, _ = joined_laplacian(np.full(k, NODES), Cycle(), UnitMasses())
        dense = eigh(laplacian.toarray(), eigvals_only=True)[:SHOWN]
        worst = max(worst, float(np.abs(dense - spectrum.eigenvalues).max()))
        u = spectrum.eigenvectors
        plane = _straight(u[:, 1:3], k)
        straight = min(straight, plane)
        rising &= _monotone(u[:, 1:3], k)
        further = {3: None, 4: _straight(u[:, 1:4], k), 5: _straight(u[:, 3:5], k)}[k]
        name = {3: "–", 4: "u₂, u₃, u₄", 5: "u₄, u₅"}[k]
        left = None if further is None else 1 - further
        rows.append((f"{k} paths", PRINTED_PAIRS[k], _pairs(spectrum, k), 1 - plane, name, left))
    table = Table(
        "pairs",
        "1 - R² is that of the worst path to its best line, 0 where it is one. (u₂, u₃, u₄) of four paths has eigenvalues "
        "that differ: the paper calls it quasi-linear.",
        (
            "graph",
            "printed pairs before the gap",
            "pairs here",
            "1 - R² of (u₂, u₃)",
            "further embedding",
            "1 - R² of it",
        ),
        tuple(rows),
    )
    return Outcome(
        verdict="As printed: the first non-zero eigenvalue is double, its eigenvectors change monotonically along every path, "
        "and every path is a straight line in their plane.",
        tables=(table,),
        figures=tuple(
            Figure(
                f"toy-{k}-paths",
                f"{k} paths of five nodes, ends joined in a cycle: the graph, its lowest eigenvalues with the gap, the "
                "entries of u₂ and u₃ (a colour a path), and the embeddings.",
                _draw(k, spectrum),
            )
            for k, spectrum in spectra.items()
        ),
        checks=(
            Check("pairs of equal eigenvalues as printed", all(row[1] == row[2] for row in rows)),
            Check("paths are straight in (u₂, u₃), R² above 1 - 1e-9", straight > 1 - SAME),
            Check("entries of u₂ and u₃ are monotone along every path", rising),
            Check("closed form and dense solver agree to 1e-9", worst < SAME),
        ),
        settings={"nodes_per_path": NODES, "join": "cycle", "masses": "none"},
    )


def _pairs(spectrum: Spectrum, k: int) -> int:
    """Equal neighbours among the K - 1 eigenvalues before the gap."""
    return int((np.diff(spectrum.eigenvalues[1:k]) < SAME).sum())


def _straight(u: FloatArray, k: int) -> float:
    return float(linearity(u, np.arange(k + 1) * NODES).min())


def _monotone(u: FloatArray, k: int) -> bool:
    steps = np.diff(u.reshape(k, NODES, -1), axis=1)
    return bool(((steps <= 1e-12).all(axis=1) | (steps >= -1e-12).all(axis=1)).all())


def _positions(k: int) -> FloatArray:
    """Bent spokes, outer node first: any drawing would do, the graph knows no places."""
    radius = np.linspace(3.0, 0.8, NODES)
    angle = np.pi / 2 + 2 * np.pi * np.arange(k)[:, None] / k + 0.35 * (radius - 0.8)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 2)


def _draw(k: int, spectrum: Spectrum) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        u = spectrum.eigenvectors
        rows, columns = {3: (1, 4), 4: (1, 5), 5: (2, 3)}[k]
        figure, axes = sheet(rows, columns, width=11.0 if rows == 1 else 9.0, height=2.6)
        panels = list(axes.flat)
        _web(panels[0], theme, _positions(k), k, numbered=True)
        titled(panels[0], "graph")
        bare(panels[0])
        panels[0].spines[:].set_visible(False)
        _eigenvalues(panels[1], theme, spectrum.eigenvalues, k)
        _entries(panels[2], theme, u, k)
        _web(panels[3], theme, u[:, 1:3], k)
        titled(panels[3], "embedding", "u₂", "u₃")
        if k == 5:
            _web(panels[4], theme, u[:, 3:5], k)
            titled(panels[4], "the next pair", "u₄", "u₅")
        if k > 3:
            _solid(figure, panels[-1], theme, u[:, 1:4], k)
        return figure

    return draw


def _web(ax: Any, theme: Theme, at: FloatArray, k: int, numbered: bool = False) -> None:
    ends = np.append(np.arange(k) * NODES + NODES - 1, NODES - 1)
    ax.plot(*at[ends].T, color=theme.faint, lw=0.9)
    for q in range(k):
        mine = at[q * NODES : (q + 1) * NODES]
        ax.plot(*mine.T, "o-", color=theme.colour(q), ms=4, lw=1.2)
    ax.margins(0.14)
    if numbered:
        ax.set_aspect("equal")
        for i, (a, b) in enumerate(at):
            # To the side of the path, which runs nearly along the radius.
            aside = 8 * np.array([b, -a]) / np.hypot(a, b)
            place = {"xytext": aside, "textcoords": "offset points", "ha": "center", "va": "center"}
            ax.annotate(str(i + 1), (a, b), fontsize=7, color=theme.faint, **place)


def _eigenvalues(ax: Any, theme: Theme, values: FloatArray, k: int) -> None:
    number = np.arange(1, len(values) + 1)
    ax.axvspan(k, k + 1, color=theme.faint, alpha=0.15, lw=0)
    ax.annotate("gap", (k + 0.5, values.max()), ha="center", va="top", fontsize=8, color=theme.faint)
    ax.plot(number, values, "o-", color=theme.colour(0), ms=4, lw=1)
    ax.set_xticks(number)
    titled(ax, "spectrum", "number", "λ")


def _entries(ax: Any, theme: Theme, u: FloatArray, k: int) -> None:
    gap = 1.15 * float(np.abs(u[:, 1:3]).max())
    for row, name in ((1, "u₂"), (2, "u₃")):
        base = gap * (3 - 2 * row)
        ax.axhline(base, color=theme.grid, lw=0.8, zorder=0)
        for q in range(k):
            at = np.arange(q * NODES, (q + 1) * NODES)
            ax.plot(at + 1, base + u[at, row], "o-", color=theme.colour(q), ms=3, lw=1)
        ax.annotate(name, (0.5, base), xytext=(-4, 0), textcoords="offset points", ha="right", va="center")
    ax.set_xlim(0.5, k * NODES + 0.5)
    ax.set_yticks([])
    titled(ax, "entries of u₂ and u₃", "node")


def _solid(figure: Any, old: Any, theme: Theme, u: FloatArray, k: int) -> None:
    where = old.get_subplotspec()
    old.remove()
    ax = figure.add_subplot(where, projection="3d")
    for side in (ax.xaxis, ax.yaxis, ax.zaxis):
        side.set_pane_color(theme.paper)
        side.set_ticklabels([])
    for q in range(k):
        mine = u[q * NODES : (q + 1) * NODES]
        ax.plot(*mine.T, "o-", color=theme.colour(q), ms=3, lw=1.2)
    ax.set_title("in three dimensions", loc="left")
    ax.set_xlabel("u₂", labelpad=-12)
    ax.set_ylabel("u₃", labelpad=-12)
    ax.set_zlabel("u₄", labelpad=-12)
