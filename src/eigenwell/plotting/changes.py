"""Figures of what changes: attractors of several conditions, and the bifurcation diagram of a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comparison import Comparison, Sweep
from ..demonstrations import DataError
from .canvas import current_theme, pyplot, view

MOST_POINTS = 1500
_MARKS = "osD^vP*X"


def plot_comparison(compared: Comparison, ax: Any = None) -> Any:
    """Attractors of all conditions over their samples, an arrow from where each was, dashed where two merged or one split; and
    the share of each basin beside.

    Parameters
    ----------
    compared : Comparison
        What compare() found.
    ax : matplotlib axes, optional
        Where to draw the attractors alone; a new figure with the shares beside them where left out.

    Returns
    -------
    matplotlib axes
        That of the attractors.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ax = ew.plotting.plot_comparison(ew.compare({"control": found, "treated": found}))
    """
    beside = None
    if ax is None:
        figure = pyplot().figure(figsize=(9.0, 4.4), layout="constrained")
        ax, beside = figure.subplots(1, 2, width_ratios=[3, 2])
    theme = current_theme.get()
    every = [r.demos.x for r in compared.results]
    sizes = np.cumsum([0, *map(len, every)])
    places = [r.attractors for r in compared.results]
    flat, names = view(np.concatenate(every + places))
    if flat.shape[1] == 1:
        flat, names = np.column_stack([flat, np.zeros(len(flat))]), (names[0], "")
    shown = np.split(flat[sizes[-1] :, :2], np.cumsum([len(p) for p in places])[:-1])
    for c, name in enumerate(compared.conditions):
        mine, label = flat[sizes[c] : sizes[c + 1], :2], compared.labels(name)
        step = max(1, len(mine) // MOST_POINTS)
        for s in range(-1, compared.n_states):
            some = mine[::step][label[::step] == s]
            ax.scatter(*some.T, s=5, marker=_MARKS[c % 8], color=theme.colour(s), alpha=0.4, linewidths=0)
    arrow = {"arrowstyle": "->", "color": theme.ink, "shrinkA": 4, "shrinkB": 4}
    for change in compared.changes:
        c = compared.conditions.index(change.condition)
        before, after = {
            "merged": (compared.states[change.state, 0], compared.states[change.relative, c]),
            "split": (compared.states[change.relative, 0], compared.states[change.state, c]),
        }.get(change.what, (-1, -1))
        if min(before, after) >= 0:
            ax.annotate("", shown[c][after], shown[0][before], arrowprops=arrow | {"linestyle": "--"})
    for s, row in enumerate(compared.states):
        seen = [(c, shown[c][q]) for c, q in enumerate(row) if q >= 0]
        for (_, a), (_, b) in zip(seen[:-1], seen[1:], strict=True):
            ax.annotate("", b, a, arrowprops=arrow)
        for c, place in seen:
            ax.scatter(*place, s=90, marker=_MARKS[c % 8], color=theme.colour(s), edgecolors=theme.ink, zorder=5)
    for c, name in enumerate(compared.conditions):
        ax.scatter([], [], s=60, marker=_MARKS[c % 8], color=theme.faint, label=name)
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, fontsize=9)
    if beside is not None:
        _shares(beside, compared)
    return ax


def _shares(ax: Any, compared: Comparison) -> None:
    theme = current_theme.get()
    width = 0.8 / len(compared.conditions)
    leave = bool(compared.shares[-1].any())
    for s in range(compared.n_states + leave):
        for c in range(len(compared.conditions)):
            at, share = s + (c - (len(compared.conditions) - 1) / 2) * width, 100 * compared.shares[s, c]
            ends = 100 * np.array([[compared.low[s, c]], [compared.high[s, c]]])
            error = np.maximum([[share], [-share]] + ends * [[-1], [1]], 0)
            colour = theme.colour(s if s < compared.n_states else -1)
            ax.errorbar([at], [share], error, fmt=_MARKS[c % 8], color=colour, mec=theme.ink, ms=7, capsize=3)
    ticks = [f"state {s}" for s in range(compared.n_states)] + ["no basin"] * leave
    ax.set_xticks(range(len(ticks)), ticks)
    ax.set_xlim(-0.6, len(ticks) - 0.4)
    ax.set_ylim(-4, 104)
    ax.set_ylabel(f"share of {compared.counted[0]} (%), 90 % interval")


def plot_sweep(swept: Sweep, axes: Any = None, coordinate: int = 0) -> Any:
    """The bifurcation diagram: states against the parameter with bars of two standard errors, a cycle from its least to its
    most, events as bands; below it the share of each basin.

    Parameters
    ----------
    swept : Sweep
        What sweep() found.
    axes : pair of matplotlib axes, optional
        Where to draw; a new figure where left out.
    coordinate : int
        The one drawn against the parameter.

    Returns
    -------
    pair of matplotlib axes

    Raises
    ------
    DataError
        For a coordinate that there is not.

    Examples
    --------
    >>> import eigenwell as ew
    >>> axes = ew.plotting.plot_sweep(ew.sweep(frame, by="temperature"))  # doctest: +SKIP
    """
    d = max((len(a.position) for some in swept.located for a in some), default=1)
    if not 0 <= coordinate < d:
        raise DataError(f"Expected a coordinate 0 to {d - 1}, got {coordinate}.")
    if axes is None:
        figure = pyplot().figure(figsize=(6.4, 5.6), layout="constrained")
        axes = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    top, below = axes
    theme = current_theme.get()
    for event in swept.events:
        for ax in axes:
            ax.axvspan(event.low, event.high, color=theme.grid, linewidth=0)
        top.axvline(event.value, color=theme.faint, linewidth=1, linestyle=":")
    for s, row in enumerate(swept.states):
        there = np.flatnonzero(row >= 0)
        some = [swept.located[c][row[c]] for c in there]
        p, colour = swept.values[there], theme.colour(s)
        x = np.array([a.position[coordinate] for a in some])
        error = np.array([a.standard_error[coordinate] for a in some])
        reach = [a.position if a.curve is None else a.curve for a in some]
        ends = np.array([[np.min(r.T[coordinate]), np.max(r.T[coordinate])] for r in reach])
        breaks = np.flatnonzero(np.diff(there) > 1) + 1
        for part in np.split(np.arange(len(there)), breaks):
            top.plot(p[part], ends[part], color=colour, linewidth=1.8)
            cyclic = ends[part, 0] < ends[part, 1]
            top.fill_between(p[part], *ends[part].T, where=cyclic, color=colour, alpha=0.15, linewidth=0)
        rest = np.array([a.curve is None for a in some])
        top.errorbar(p[rest], x[rest], 2 * error[rest], fmt="o", ms=4, color=colour, label=f"state {s}", capsize=2)
        below.plot(p, 100 * swept.shares[s, there], "o-", ms=3, color=colour)
    if swept.shares[-1].any():
        below.plot(swept.values, 100 * swept.shares[-1], "--", color=theme.unassigned, label="leave")
        below.legend(fontsize=8, loc="best")
    top.set_ylabel(("x₁", "x₂", "x₃")[coordinate] if coordinate < 3 else f"coordinate {coordinate}")
    below.set(xlabel=swept.parameter, ylabel="share of basin (%)", ylim=(-4, 104))
    if swept.n_states:
        top.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, fontsize=9)
    return axes
