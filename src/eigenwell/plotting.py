"""Figures in matplotlib. Each function draws one thing on one axes and returns it.

>>> import eigenwell as ew
>>> demos = ew.systems.heart.sample(seed=0)
>>> found = ew.identify(demos)
>>> ax = ew.plotting.plot_samples(found)                              # doctest: +SKIP
>>> with ew.plotting.style(ew.plotting.DARK):                         # doctest: +SKIP
...     ax = ew.plotting.plot_field(ew.learn(found), found)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import combinations
from typing import Any

import numpy as np

from ._types import FloatArray
from .demonstrations import DataError, Demonstrations
from .errors import missing_extra
from .fields.surface import borders, drawn_motions, over_grid
from .graphs import Graph
from .palette import DARK, LIGHT, Theme
from .results import Identification, Result

__all__ = [
    "DARK",
    "LIGHT",
    "plot_embedding",
    "plot_fates",
    "plot_field",
    "plot_graph",
    "plot_samples",
    "plot_spectrum",
    "style",
]

_theme: ContextVar[Theme] = ContextVar("theme", default=LIGHT)
MOST_POINTS = 50_000
CELLS = 80
MARGIN = 0.12


@contextmanager
def style(theme: Theme = LIGHT) -> Iterator[None]:
    """Fonts, lines and colours of a theme for the figures made inside.

    Parameters
    ----------
    theme : Theme
        LIGHT or DARK.

    Examples
    --------
    >>> import eigenwell as ew
    >>> with ew.plotting.style(ew.plotting.DARK):  # doctest: +SKIP
    ...     ax = ew.plotting.plot_samples(found)
    """
    plt = _pyplot()
    ink = {
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.faint,
        "axes.titlecolor": theme.ink,
    }
    ticks = {"xtick.color": theme.faint, "ytick.color": theme.faint, "grid.color": theme.grid}
    paper = {"figure.facecolor": theme.paper, "axes.facecolor": theme.paper, "savefig.facecolor": theme.paper}
    form = {
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "font.size": 10,
        "figure.dpi": 120,
    }
    token = _theme.set(theme)
    try:
        with plt.rc_context(ink | ticks | paper | form):
            yield
    finally:
        _theme.reset(token)


def plot_samples(data: Any, found: Result | None = None, ax: Any = None) -> Any:
    """Samples in the colour of their sub-dynamics; attractors with bars of two standard errors.

    Parameters
    ----------
    data : Identification, DistributedIdentification or Demonstrations
        What identify() found, which holds its data; or the data.
    found : Identification, optional
        What was found in `data`, where these are demonstrations.
    ax : matplotlib axes, optional
        Where to draw; a new figure where left out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    MissingExtra
        When matplotlib is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_samples(found)
    """
    demos, found = _given(data, found)
    x, names = _view(demos.x)
    ax = _axes(ax, x.shape[1])
    theme = _theme.get()
    step = max(1, -(-len(x) // MOST_POINTS))
    for q in range(-1, found.n_attractors):
        mine = np.flatnonzero(found.labels == q)[::step]
        if len(mine):
            name = "unassigned" if q < 0 else f"sub-dynamics {q}"
            ax.scatter(*x[mine].T, s=4, color=theme.colour(q), linewidths=0, label=name, rasterized=len(mine) > 5000)
    _attractors(ax, found)
    return _labelled(ax, names)


def plot_fates(data: Any, found: Result | None = None, ax: Any = None) -> Any:
    """Samples in the colour of their most likely fate, the paler the less sure; those that leave in grey.

    Parameters
    ----------
    data : Identification or Demonstrations
        What identify() found in snapshots, which holds its data; or the data.
    found : Identification, optional
        What was found in `data`, where these are demonstrations.
    ax : matplotlib axes, optional
        Where to draw; a new figure where left out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        For an identification of trajectories, which has no probabilities of fates.
    MissingExtra
        When matplotlib is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.duffing.snapshots(200, seed=0))  # doctest: +SKIP
    >>> ax = ew.plotting.plot_fates(found)  # doctest: +SKIP
    """
    demos, found = _given(data, found)
    if found.fates is None:
        raise DataError(
            "Expected snapshots, which have probabilities of fates, got an identification of trajectories. Use plot_samples()."
        )
    x, names = _view(demos.x)
    ax = _axes(ax, x.shape[1])
    theme = _theme.get()
    step = max(1, -(-len(x) // MOST_POINTS))
    fate, sure = found.fates.argmax(axis=1), found.fates.max(axis=1)
    for q in range(found.n_attractors + 1):
        mine = np.flatnonzero(fate == q)[::step]
        if len(mine):
            leaves = q == found.n_attractors
            # Half sure is as good as not sure.
            shade = np.clip(2 * sure[mine] - 1, 0.1, 1.0)
            name = "leaves" if leaves else f"attractor {q}"
            ax.scatter(*x[mine].T, s=9, color=theme.colour(-1 if leaves else q), alpha=shade, linewidths=0, label=name)
    _attractors(ax, found)
    for place in found.located:
        if place.curve is not None and x.shape[1] == demos.dimension:
            ax.plot(*np.concatenate([place.curve, place.curve[:1]]).T, color=theme.ink, linewidth=1)
    return _labelled(ax, names)


def plot_graph(data: Any, found: Result | None = None, ax: Any = None) -> Any:
    """Paths from their starts (rings) to their ends, the ends of one attractor joined (dotted).

    A kernel graph has no paths: its edges are drawn, two thousand of each component at most.

    Parameters
    ----------
    data : Identification, DistributedIdentification or Demonstrations
        What identify() found, which holds its data; or the data.
    found : Identification, optional
        What was found in `data`, where these are demonstrations.
    ax : matplotlib axes, optional
        Where to draw; a new figure where left out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    MissingExtra
        When matplotlib is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_graph(found)
    """
    demos, found = _given(data, found)
    x, names = _view(demos.x)
    ax = _axes(ax, x.shape[1])
    theme = _theme.get()
    for q in range(found.n_attractors):
        colour = theme.colour(q)
        if isinstance(found.graph, Graph):
            for k, edge in enumerate(found.graph.edges(found.members(q))):
                ax.plot(*x[edge].T, color=colour, lw=0.6, label=f"sub-dynamics {q}" if k == 0 else None)
            continue
        paths = found.paths(q)
        for k, path in enumerate(paths):
            ax.plot(*x[path].T, color=colour, lw=1, label=f"sub-dynamics {q}" if k == 0 else None)
        starts = x[[p[0] for p in paths]]
        ax.scatter(*starts.T, s=24, facecolors="none" if x.shape[1] == 2 else colour, edgecolors=colour)
        for a, b in list(combinations([p[-1] for p in paths], 2))[:200]:
            ax.plot(*x[[a, b]].T, color=colour, lw=0.8, ls=":")
    return _labelled(ax, names)


def plot_spectrum(found: Result, ax: Any = None) -> Any:
    """Lowest eigenvalues of every graph Laplacian over the first non-zero one; open marks lie beyond the gap.

    Parameters
    ----------
    found : Identification or DistributedIdentification
        What identify() found.
    ax : matplotlib axes, optional
        Where to draw; a new figure where left out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    MissingExtra
        When matplotlib is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_spectrum(found)
    """
    found = found.in_memory()
    ax = _axes(ax, 2)
    theme = _theme.get()
    for q, one in enumerate(found.spectra):
        values, kept = one.eigenvalues, 1 + found.embeddings[q].shape[1]
        if len(values) < 2 or values[1] <= 0:
            continue
        number, scaled = np.arange(1, len(values) + 1), values / values[1]
        ax.plot(number, scaled, color=theme.colour(q), lw=1.2, label=f"sub-dynamics {q}")
        ax.plot(number[:kept], scaled[:kept], "o", color=theme.colour(q), ms=6)
        ax.plot(number[kept:], scaled[kept:], "o", color=theme.colour(q), ms=6, mfc=theme.paper)
        if q == 0 and kept < len(values):
            ax.axvspan(kept, kept + 1, color=theme.faint, alpha=0.12, lw=0, label="gap")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylim(bottom=0)
    return _labelled(ax, ("number of the eigenvalue", "λ / λ₂"))


def plot_embedding(found: Result, q: int = 0, ax: Any = None) -> Any:
    """The first two coordinates of one embedding: straight lines that meet in the attractor (cross).

    The samples of a kernel graph, which has no paths, are drawn as points.

    Parameters
    ----------
    found : Identification or DistributedIdentification
        What identify() found.
    q : int
        The sub-dynamics.
    ax : matplotlib axes, optional
        Where to draw; a new figure where left out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        For a number that no sub-dynamics has.
    MissingExtra
        When matplotlib is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_embedding(found, 1)
    """
    found = found.in_memory()
    if not 0 <= q < found.n_attractors:
        raise DataError(f"Expected a sub-dynamics 0 to {found.n_attractors - 1}, got {q}.")
    ax = _axes(ax, 2)
    theme, u = _theme.get(), found.embeddings[q]
    if not found.has_paths:
        points = u[:, :2].T if u.shape[1] > 1 else (np.arange(len(u)), u[:, 0])
        ax.scatter(*points, s=5, color=theme.colour(q), linewidths=0, label=f"samples of sub-dynamics {q}")
        return _labelled(ax, ("u₂", "u₃") if u.shape[1] > 1 else ("sample", "u₂"))
    bounds = np.concatenate([[0], np.cumsum([len(p) for p in found.paths(q)])])
    for k, (a, b) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        line = u[a:b, :2].T if u.shape[1] > 1 else (np.arange(b - a), u[a:b, 0])
        ax.plot(*line, color=theme.colour(q), lw=1.5, label=f"paths of sub-dynamics {q}" if k == 0 else None)
    if u.shape[1] > 1:
        ax.plot(0, 0, "X", color=theme.ink, ms=8, label="attractor")
    return _labelled(ax, ("u₂", "u₃") if u.shape[1] > 1 else ("sample", "u₂"))


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
    found : Identification, optional
        What was found in `data`, where these are demonstrations.
    ax : matplotlib axes, optional
        Where to draw; a new figure where left out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        For a field that is not in the plane.
    MissingExtra
        When matplotlib is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(found)  # doctest: +SKIP
    >>> ax = ew.plotting.plot_field(field, found)
    """
    demos = data
    if data is not None and (found is not None or not isinstance(data, Demonstrations)):
        demos, found = _given(data, found)
    if field.dimension != 2:
        raise DataError(
            f"Expected a field in the plane, got {field.dimension}-D. Plot roll-outs with plot_samples instead."
        )
    ax = _axes(ax, 2)
    theme = _theme.get()
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
    return _labelled(ax, ("x₁", "x₂"))


def _given(data: Any, found: Any) -> tuple[Demonstrations, Identification]:
    """Data and what was found in them, from an identification alone or from both."""
    if found is None:
        if not hasattr(data, "in_memory"):
            raise DataError(f"Expected what identify() found, got {type(data).__name__}. Call identify() first.")
        data, found = None, data
    found = found.in_memory()
    demos = found.demos if data is None else Demonstrations.of(data)
    if demos.n_samples != found.n_samples:
        raise DataError(
            f"Expected the {found.n_samples} samples that were identified, got {demos.n_samples}. Leave the data out: the "
            "identification holds its own."
        )
    return demos, found


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


def _view(x: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """Up to three coordinates as they are; of more, the two principal ones."""
    if x.shape[1] <= 3:
        return x, ("x₁", "x₂", "x₃")[: x.shape[1]]
    centred = x - x.mean(axis=0)
    axes = np.linalg.svd(centred.T @ centred)[0][:, :2]
    return np.asarray(centred @ axes), ("first principal direction", "second principal direction")


def _attractors(ax: Any, found: Identification) -> None:
    d = found.attractors.shape[1]
    theme = _theme.get()
    if d > 3:
        return  # the view is a projection; where the attractors lie in it is where the samples gather
    for q, (place, error) in enumerate(zip(found.attractors, found.uncertainty, strict=True)):
        bars = dict(zip(("xerr", "yerr", "zerr"), 2 * error, strict=False))
        label = "attractor ± 2 std. errors" if q == 0 else None
        ax.errorbar(*place, **bars, fmt="X", ms=9, color=theme.ink, mec=theme.paper, capsize=3, label=label, zorder=5)


def _shades(theme: Theme) -> Any:
    """Deep in the wells, pale on the heights."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("potential", theme.potential)


def _labelled(ax: Any, names: tuple[str, ...]) -> Any:
    for setter, name in zip((ax.set_xlabel, ax.set_ylabel, getattr(ax, "set_zlabel", None)), names, strict=False):
        if setter is not None:
            setter(name)
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        spacing = {"handletextpad": 0.4, "columnspacing": 1.2, "borderaxespad": 0.2}
        marks = [2.5 if "sub-dynamics" in label else 0.9 for label in labels]
        legend = ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=9, **spacing)
        for handle, scale in zip(legend.legend_handles, marks, strict=True):
            if hasattr(handle, "set_sizes"):
                handle.set_sizes([4 * scale**2])
    return ax


def _axes(ax: Any, d: int) -> Any:
    if ax is not None:
        return ax
    figure = _pyplot().figure(figsize=(6.4, 4.8), layout="constrained")
    ax = figure.add_subplot(projection="3d" if d == 3 else None)
    if d == 3:
        for side in (ax.xaxis, ax.yaxis, ax.zaxis):
            side.set_pane_color(_theme.get().paper)
    return ax


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise missing_extra("Plotting", "matplotlib", "plot") from error
    return plt
