"""Sections of a page: plots of Plotly traces, plain dictionaries, small and without colours; the page paints them for its theme.

A trace says whose it is in `meta`: {"q": 0} for a sub-dynamics, {"ink": true} for the text's colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..palette import symbol
from .wording import words

Trace = dict[str, Any]
MOST_POINTS = 8_000
"""Points drawn in one figure: what a browser moves without lag."""


@dataclass(frozen=True)
class Plot:
    """One Plotly picture. `layout` holds what is special; the page adds fonts, colours and margins."""

    data: list[Trace]
    layout: dict[str, Any]
    height: int
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the page: one wide plot, or several small ones side by side."""

    name: str
    title: str
    caption: str
    plots: tuple[Plot, ...]


def numbers(values: FloatArray, extent: float | None = None) -> list[Any]:
    """A list, rounded to a hundred-thousandth of the extent; gaps stay gaps."""
    finite = values[np.isfinite(values)]
    size = extent or (float(np.ptp(finite)) if finite.size else 0.0) or 1.0
    decimals = min(max(5 - math.floor(math.log10(size)), 0), 300)
    rounded = np.round(values, decimals).tolist()
    return [None if isinstance(v, float) and not math.isfinite(v) else v for v in rounded]


def thinning(n: int, most: int = MOST_POINTS) -> int:
    return max(1, -(-n // most))


def polyline(x: FloatArray, paths: Sequence[IntArray], every: int = 1) -> FloatArray:
    """Positions along the paths, one after the other, with a gap between them; starts and ends are kept."""
    kept = [path[::every] if (len(path) - 1) % every == 0 else np.append(path[::every], path[-1]) for path in paths]
    return joined([x[rows] for rows in kept], x.shape[1])


def joined(parts: Sequence[FloatArray], dimension: int) -> FloatArray:
    """Lines one after the other, with a gap behind each."""
    gap = np.full((1, dimension), np.nan)
    return np.concatenate([one for part in parts for one in (part, gap)] or [gap])


def spatial(points: FloatArray, extent: float | None = None, **trace: Any) -> Trace:
    """A trace in the plane or in space, by the number of columns."""
    axes = dict(zip("xyz", (numbers(c, extent) for c in points.T), strict=False))
    return {"type": "scatter3d" if points.shape[1] == 3 else "scatter", **axes, **trace}


def sub_dynamics(q: int, **trace: Any) -> Trace:
    """Name, legend and owner of a trace of sub-dynamics q."""
    name = "unassigned" if q < 0 else words().one(q)
    return {"name": name, "legendgroup": str(q), "meta": {"q": q}, "marker": {"symbol": symbol(q)}, **trace}


def attractor_marks(attractors: FloatArray, uncertainty: FloatArray, extent: float, shown: bool = True) -> list[Trace]:
    """A cross at every attractor with bars of two standard errors."""
    hover = [
        f"{words().one(q)}<br>" + "<br>".join(f"{c:.5g} ± {e:.1g}" for c, e in zip(place, error, strict=True))
        for q, (place, error) in enumerate(zip(attractors, uncertainty, strict=True))
    ]
    bars = {
        f"error_{axis}": {"type": "data", "array": (2 * error).tolist(), "thickness": 1.5, "width": 4}
        for axis, error in zip("xyz", uncertainty.T, strict=False)
    }
    flat = attractors.shape[1] == 2
    mark = {"symbol": "x" if flat else "cross", "size": 11 if flat else 6, "line": {"width": 1.5}}
    shape = {
        "mode": "markers+text",
        "marker": mark,
        "textposition": "top right",
        "hoverinfo": "text",
        "hovertext": hover,
    }
    belongs = {"showlegend": shown, "legendgroup": "attractors", "meta": {"ink": True}}
    text = [f" {q + words().first}" for q in range(len(attractors))]
    name = f"{words().attractor}s (± 2 standard errors)"
    return [spatial(attractors, extent, name=name, text=text, **shape, **belongs, **bars)]
