"""Panels that several figures share, in matplotlib, on light or dark paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any, Literal

import numpy as np

from eigenwell._types import FloatArray, IntArray
from eigenwell.errors import missing_extra
from eigenwell.palette import Theme
from eigenwell.plotting import style

from .results import Figure

CELLS = 40
MARGIN = 0.08
DOTS = 110
"""Dots per inch: eleven inches are a little more than the width of the page."""
DENSITY = 0.9
"""Of streamlines: as many as leave the paths in sight."""
LAYOUT: Literal["constrained"] | None = "constrained"
"""How panels are kept from overlapping, which takes half of the time of a figure."""


def sheet(rows: int, columns: int, width: float = 11.0, height: float = 2.9, **options: Any) -> tuple[Any, Any]:
    """A figure of equal panels and its axes, always (rows, columns)."""
    try:
        from matplotlib.figure import Figure as Sheet
    except ImportError as error:
        raise missing_extra("Reproducing figures", "matplotlib", "reproduce") from error
    figure = Sheet(figsize=(width, height * rows), layout=LAYOUT)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def render(figure: Figure, theme: Theme, *kinds: str) -> list[bytes]:
    """The picture as png, svg or both; the same bytes every time."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = []
    with style(theme), rc_context({"svg.hashsalt": "eigenwell", "font.size": 9, "axes.titlesize": 10}):
        drawn = figure.draw(theme)
        drawn.set_dpi(DOTS)
        for kind in kinds:
            file = BytesIO()
            # Not by `savefig`, which draws everything twice.
            canvas: Any = FigureCanvasSVG(drawn) if kind == "svg" else FigureCanvasAgg(drawn)
            if kind == "svg":
                canvas.print_svg(file, metadata={"Date": None})
            else:
                canvas.print_png(file, metadata={"Software": None})
            out.append(file.getvalue())
            drawn.set_layout_engine("none")  # laid out once; doing it again would take half of the time
    return out


def titled(ax: Any, title: str, x: str = "", y: str = "") -> Any:
    """A heading and names of the axes; a legend that came with the panel goes, the caption says what it said."""
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    ax.set_title(title, loc="left")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def bounds(x: FloatArray, margin: float = MARGIN) -> tuple[FloatArray, FloatArray]:
    """Rulings of a grid over the data and a little around them."""
    low, high = x.min(axis=0), x.max(axis=0)
    pad = margin * (high - low)
    a, b = (np.linspace(low[i] - pad[i], high[i] + pad[i], CELLS) for i in range(2))
    return a, b


def streams(ax: Any, theme: Theme, field: Callable[[FloatArray], FloatArray], x: FloatArray) -> None:
    """Streamlines of a planar field over the box of the data."""
    gx, gy = bounds(x)
    velocity = field(np.column_stack([a.ravel() for a in np.meshgrid(gx, gy)])).reshape(CELLS, CELLS, 2)
    ax.streamplot(
        gx, gy, velocity[..., 0], velocity[..., 1], color=theme.faint, linewidth=0.6, density=DENSITY, arrowsize=0.6
    )
    ax.set_xlim(gx[0], gx[-1])
    ax.set_ylim(gy[0], gy[-1])


def heights(ax: Any, theme: Theme, potential: Callable[[FloatArray], FloatArray], x: FloatArray) -> None:
    """Contours of sqrt(V), which is the distance to the attractor for the quadratic potential."""
    from matplotlib.colors import LinearSegmentedColormap

    gx, gy = bounds(x)
    states = np.column_stack([a.ravel() for a in np.meshgrid(gx, gy)])
    value = np.sqrt(potential(states)).reshape(CELLS, CELLS)
    levels = np.linspace(0, value.max(), 13)
    shades = LinearSegmentedColormap.from_list("potential", list(theme.potential))
    ax.contourf(gx, gy, value, levels=levels, cmap=shades)
    ax.contour(gx, gy, value, levels=levels[1:], colors=[theme.faint], linewidths=0.4)
    ax.set_xlim(gx[0], gx[-1])
    ax.set_ylim(gy[0], gy[-1])


def points(ax: Any, theme: Theme, x: FloatArray, labels: IntArray, size: float = 3.0) -> None:
    """Samples in the colours of their labels."""
    for q in range(-1, int(labels.max(initial=-1)) + 1):
        mine = labels == q
        ax.scatter(*x[mine].T, s=size, color=theme.colour(q), linewidths=0, rasterized=True)


def cross(ax: Any, theme: Theme, place: FloatArray) -> None:
    """The mark of an attractor."""
    ax.plot(*np.atleast_2d(place).T, "X", color=theme.ink, ms=8, mec=theme.paper, ls="none", zorder=6)


def lines(ax: Any, paths: Sequence[FloatArray], colour: str, width: float = 1.4) -> None:
    for path in paths:
        ax.plot(*path.T, color=colour, lw=width)


def bare(ax: Any) -> None:
    """Without numbers along the axes: where only the shape counts."""
    ax.set_xticks([])
    ax.set_yticks([])
