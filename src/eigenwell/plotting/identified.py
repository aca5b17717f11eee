"""Figures of an identification: samples, fates, graph, spectrum, embedding."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ..demonstrations import DataError
from ..graphs import Graph
from ..results import Result
from ..spectral.shown import eigenvalues
from .canvas import axes, current_theme, framed, given, labelled, mark_attractors

MOST_POINTS = 50_000


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

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_samples(found)
    """
    found, x, names, ax, theme = framed(data, found, ax)
    step = max(1, -(-len(x) // MOST_POINTS))
    for q in range(-1, found.n_attractors):
        mine = np.flatnonzero(found.labels == q)[::step]
        if len(mine):
            name = "unassigned" if q < 0 else f"sub-dynamics {q}"
            ax.scatter(*x[mine].T, s=4, color=theme.colour(q), linewidths=0, label=name, rasterized=len(mine) > 5000)
    mark_attractors(ax, found)
    return labelled(ax, names)


def plot_fates(data: Any, found: Result | None = None, ax: Any = None) -> Any:
    """Samples in the colour of their most likely fate, the paler the less sure; those that leave in grey.

    Parameters
    ----------
    data, found, ax
        As for `plot_samples`, of snapshots.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        For an identification of trajectories, which has no probabilities of fates.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.duffing.snapshots(200, seed=0))  # doctest: +SKIP
    >>> ax = ew.plotting.plot_fates(found)  # doctest: +SKIP
    """
    if given(data, found)[1].fates is None:
        raise DataError(
            "Expected snapshots, which have probabilities of fates, got an identification of trajectories. Use plot_samples()."
        )
    found, x, names, ax, theme = framed(data, found, ax)
    step = max(1, -(-len(x) // MOST_POINTS))
    assert found.fates is not None
    fate, sure = found.fates.argmax(axis=1), found.fates.max(axis=1)
    for q in range(found.n_attractors + 1):
        mine = np.flatnonzero(fate == q)[::step]
        if len(mine):
            leaves = q == found.n_attractors
            # Half sure is as good as not sure.
            shade = np.clip(2 * sure[mine] - 1, 0.1, 1.0)
            name = "leaves" if leaves else f"attractor {q}"
            ax.scatter(*x[mine].T, s=9, color=theme.colour(-1 if leaves else q), alpha=shade, linewidths=0, label=name)
    mark_attractors(ax, found)
    for place in found.located:
        if place.curve is not None and x.shape[1] == found.demos.dimension:
            ax.plot(*np.concatenate([place.curve, place.curve[:1]]).T, color=theme.ink, linewidth=1)
    return labelled(ax, names)


def plot_graph(data: Any, found: Result | None = None, ax: Any = None) -> Any:
    """Paths from their starts (rings) to their ends, the ends of one attractor joined (dotted).

    A kernel graph has no paths: its edges are drawn, two thousand of each component at most.

    Parameters
    ----------
    data, found, ax
        As for `plot_samples`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_graph(found)
    """
    found, x, names, ax, theme = framed(data, found, ax)
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
    return labelled(ax, names)


def plot_spectrum(found: Result, ax: Any = None) -> Any:
    """Lowest eigenvalues of every graph Laplacian over the first non-zero one; filled marks span the embedding.

    Parameters
    ----------
    found : Identification or DistributedIdentification
        What identify() found.
    ax
        As for `plot_samples`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_spectrum(found)
    """
    found = found.in_memory()
    ax = axes(ax, 2)
    theme = current_theme.get()
    for q, embedding in enumerate(found.embeddings):
        (values, below), kept = eigenvalues(found.graph, found.spectra, q), 1 + embedding.shape[1]
        if len(values) < 2 or values[1] <= 0:
            continue
        number, scaled = np.arange(1, len(values) + 1), values / values[1]
        ax.plot(number, scaled, color=theme.colour(q), lw=1.2, label=f"sub-dynamics {q}")
        ax.plot(number[:kept], scaled[:kept], "o", color=theme.colour(q), ms=6)
        ax.plot(number[kept:], scaled[kept:], "o", color=theme.colour(q), ms=6, mfc=theme.paper)
        if q == 0 and below < len(values):
            ax.axvspan(below, below + 1, color=theme.faint, alpha=0.12, lw=0, label="gap")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylim(bottom=0)
    return labelled(ax, ("number of the eigenvalue", "λ / λ₂"))


def plot_embedding(found: Result, q: int = 0, ax: Any = None) -> Any:
    """The first two coordinates of one embedding: straight lines that meet in the attractor (cross).

    The samples of a kernel graph, which has no paths, are drawn as points.

    Parameters
    ----------
    found, ax
        As for `plot_spectrum`.
    q : int
        The sub-dynamics.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        For a number that no sub-dynamics has.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_embedding(found, 1)
    """
    found = found.in_memory()
    if not 0 <= q < found.n_attractors:
        raise DataError(f"Expected a sub-dynamics 0 to {found.n_attractors - 1}, got {q}.")
    ax = axes(ax, 2)
    theme, u = current_theme.get(), found.embeddings[q]
    flat, names = u.shape[1] > 1, ("u₂", "u₃") if u.shape[1] > 1 else ("sample", "u₂")
    if not found.has_paths:
        points = u[:, :2].T if flat else (np.arange(len(u)), u[:, 0])
        ax.scatter(*points, s=5, color=theme.colour(q), linewidths=0, label=f"samples of sub-dynamics {q}")
        return labelled(ax, names)
    for k, one in enumerate(np.split(u, np.cumsum([len(p) for p in found.paths(q)])[:-1])):
        line = one[:, :2].T if flat else (np.arange(len(one)), one[:, 0])
        ax.plot(*line, color=theme.colour(q), lw=1.5, label=f"paths of sub-dynamics {q}" if k == 0 else None)
    if flat:
        ax.plot(0, 0, "X", color=theme.ink, ms=8, label="attractor")
    return labelled(ax, names)
