"""A learned field in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import DataError, Demonstrations
from ..fields.simulation import borders, drawn_motions, over_grid
from ..palette import Theme
from ..results import Identification, Result
from .canvas import axes, current_theme, given, labelled

CELLS = 80
MARGIN = 0.12


def plot_field(field: Any, data: Any = None, found: Result | None = None, ax: Any = None) -> Any:
    """A learned 2-D field as particles follow it, with its data where given.

    Without memory: the map, streamlines over level lines of its one potential, basins tinted in the colours of their
    attractors, with the saddles between them and the separatrices that are their borders. With memory: the motions
    from the starts of the demonstrations; a map would show another way where paths cross.

    Parameters
    ----------
    field : Field or StableField
        A field in the plane.
    data : Identification, DistributedIdentification or Demonstrations, optional
        What it was learned from, to be drawn beneath it.
    found, ax
        As for `plot_samples`.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        For a field that is not in the plane.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(found)  # doctest: +SKIP
    >>> ax = ew.plotting.plot_field(field, found)
    """
    demos = data
    if data is not None and (found is not None or not isinstance(data, Demonstrations)):
        demos, found = given(data, found)
    if field.dimension != 2:
        raise DataError(
            f"Expected a field in the plane, got {field.dimension}-D. Plot roll-outs with plot_samples instead."
        )
    ax = axes(ax, 2)
    theme = current_theme.get()
    x = field.samples if demos is None else demos.x
    pad = MARGIN * np.ptp(x, axis=0)
    (left, bottom), (right, top) = x.min(axis=0) - pad, x.max(axis=0) + pad
    memory = bool(getattr(field, "has_memory", False))
    if not memory:
        _map(ax, theme, field, np.linspace(left, right, CELLS), np.linspace(bottom, top, CELLS))
    if demos is not None and isinstance(found, Identification) and found.has_paths:
        shape = {"lw": 4.5, "alpha": 0.35} if memory else {"lw": 1.8}
        for q in range(found.n_attractors):
            for k, path in enumerate(found.paths(q)):
                label = f"sub-dynamics {q}" if k == 0 else None
                ax.plot(*demos.x[path].T, color=theme.colour(q), label=label, solid_capstyle="round", **shape)
    if memory:
        _motions(ax, theme, field)
    ax.plot(*field.attractors.T, "X", color=theme.ink, ms=9, label="attractors", ls="none", mec=theme.paper, zorder=6)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    return labelled(ax, ("x₁", "x₂"))


def _map(ax: Any, theme: Theme, field: Any, gx: FloatArray, gy: FloatArray) -> None:
    velocity, height, basin = over_grid(field, gx, gy)
    levels = np.linspace(0, 1, 15)
    ax.contourf(gx, gy, height, levels=levels, cmap=_shades(theme), zorder=0)
    if field.n_attractors > 1:
        ax.imshow(_tinted(theme, basin), extent=_edges(gx, gy), origin="lower", aspect="auto", zorder=0.1)
    ax.contour(gx, gy, height, levels=levels, colors=[theme.grid], linewidths=0.5, zorder=0.2)
    ax.streamplot(
        gx, gy, velocity[..., 0], velocity[..., 1], color=theme.faint, linewidth=0.6, density=1.3, arrowsize=0.7
    )
    if field.n_attractors == 1:
        return
    for k, curve in enumerate(borders(field, *(np.array([gx[end], gy[end]]) for end in (0, -1)))):
        ax.plot(*curve.T, color=theme.paper, lw=3.6, zorder=4, solid_capstyle="round")
        label = "separatrices" if k == 0 else None
        ax.plot(*curve.T, color=theme.ink, lw=1.6, ls=(0, (5, 2.5)), zorder=4.1, label=label)
    if len(field.saddles):
        shape = {"ms": 8, "mfc": theme.paper, "mew": 1.8, "ls": "none", "zorder": 5}
        ax.plot(*field.saddles.T, "D", color=theme.ink, label="saddles", **shape)


def _motions(ax: Any, theme: Theme, field: Any) -> None:
    """Roll-outs with memory, dark on the demonstrations they follow, with an arrow each."""
    for k, (q, _, states) in enumerate(drawn_motions(field)):
        x, label = states[:, :-1], "motions, with memory" if k == 0 else None
        ax.plot(*x.T, color=theme.ink, lw=1.3, zorder=4, label=label)
        ax.plot(*x[0], "o", color=theme.colour(q), ms=5, mec=theme.ink, zorder=5)
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        for share in (0.3, 0.65):
            i = min(max(int(np.searchsorted(length, share * length[-1])), 1), len(x) - 1)
            head = {"arrowstyle": "-|>", "color": theme.ink, "lw": 1.2, "mutation_scale": 11}
            ax.annotate("", x[i], x[i - 1], arrowprops=head, zorder=4.5)


def _tinted(theme: Theme, basin: Any) -> FloatArray:
    """(rows, columns, 4): the colour of each node's attractor, thin enough to see the potential through it."""
    from matplotlib.colors import to_rgba

    colours = np.array([to_rgba(theme.colour(q), 0.16) for q in range(-1, max(int(basin.max()), 0) + 1)])
    return np.asarray(colours[basin + 1])


def _edges(gx: FloatArray, gy: FloatArray) -> tuple[float, float, float, float]:
    """Edges of an image whose pixels have the nodes of the grid in their middle."""
    dx, dy = (gx[1] - gx[0]) / 2, (gy[1] - gy[0]) / 2
    return float(gx[0] - dx), float(gx[-1] + dx), float(gy[0] - dy), float(gy[-1] + dy)


def _shades(theme: Theme) -> Any:
    """Deep in the wells, pale on the heights."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("potential", list(theme.potential))
