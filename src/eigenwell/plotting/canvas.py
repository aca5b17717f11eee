"""What every figure needs: a theme, axes, labels, and the data that go with a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import DataError, Demonstrations
from ..errors import missing_extra
from ..palette import LIGHT, Theme
from ..results import Identification

current_theme: ContextVar[Theme] = ContextVar("theme", default=LIGHT)


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
    plt = pyplot()
    ink = {name: theme.ink for name in ("text.color", "axes.labelcolor", "axes.titlecolor")}
    faint = {name: theme.faint for name in ("axes.edgecolor", "xtick.color", "ytick.color")}
    paper = {name: theme.paper for name in ("figure.facecolor", "axes.facecolor", "savefig.facecolor")}
    plain = {name: False for name in ("axes.spines.top", "axes.spines.right", "legend.frameon")}
    form = {"grid.color": theme.grid, "font.size": 10, "figure.dpi": 120}
    token = current_theme.set(theme)
    try:
        with plt.rc_context(ink | faint | paper | plain | form):
            yield
    finally:
        current_theme.reset(token)


def given(data: Any, found: Any) -> tuple[Demonstrations, Identification]:
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


def framed(data: Any, found: Any, ax: Any) -> tuple[Identification, FloatArray, tuple[str, ...], Any, Theme]:
    """What was found, the samples as they are seen and the names of their axes, where to draw them, and the colours."""
    demos, found = given(data, found)
    x, names = view(demos.x)
    return found, x, names, axes(ax, x.shape[1]), current_theme.get()


def view(x: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """Up to three coordinates as they are; of more, the two principal ones."""
    if x.shape[1] <= 3:
        return x, ("x₁", "x₂", "x₃")[: x.shape[1]]
    centred = x - x.mean(axis=0)
    axes = np.linalg.svd(centred.T @ centred)[0][:, :2]
    return np.asarray(centred @ axes), ("first principal direction", "second principal direction")


def mark_attractors(ax: Any, found: Identification) -> None:
    d = found.attractors.shape[1]
    theme = current_theme.get()
    if d > 3:
        return  # the view is a projection; where the attractors lie in it is where the samples gather
    for q, (place, error) in enumerate(zip(found.attractors, found.uncertainty, strict=True)):
        bars = dict(zip(("xerr", "yerr", "zerr"), 2 * error, strict=False))
        label = "attractor ± 2 std. errors" if q == 0 else None
        ax.errorbar(*place, **bars, fmt="X", ms=9, color=theme.ink, mec=theme.paper, capsize=3, label=label, zorder=5)


def labelled(ax: Any, names: tuple[str, ...]) -> Any:
    for setter, name in zip((ax.set_xlabel, ax.set_ylabel, getattr(ax, "set_zlabel", None)), names, strict=False):
        if setter is not None:
            setter(name)
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        spacing = {"handletextpad": 0.4, "columnspacing": 1.2, "borderaxespad": 0.2}
        marks = [2.5 if label[-1].isdigit() else 0.9 for label in labels]  # samples, which are small in the picture
        legend = ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=9, **spacing)
        for handle, scale in zip(legend.legend_handles, marks, strict=True):
            if hasattr(handle, "set_sizes"):
                handle.set_sizes([4 * scale**2])
    return ax


def axes(ax: Any, d: int) -> Any:
    if ax is not None:
        return ax
    figure = pyplot().figure(figsize=(6.4, 4.8), layout="constrained")
    ax = figure.add_subplot(projection="3d" if d == 3 else None)
    if d == 3:
        for side in (ax.xaxis, ax.yaxis, ax.zaxis):
            side.set_pane_color(current_theme.get().paper)
    return ax


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise missing_extra("Plotting", "matplotlib", "plot") from error
    return plt
