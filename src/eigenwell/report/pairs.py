"""More than three dimensions: each coordinate against each, the lower half of a pair matrix."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..identification import Identification
from .traces import MOST_POINTS, Plot, Trace, attractor_marks, polyline, spatial, sub_dynamics, thinning

MOST_COORDINATES = 8
"""More panels than these are too small to read."""
GAP = 0.012


def pair_matrix(x: FloatArray, paths: list[list[IntArray]], found: Identification) -> tuple[Plot, str]:
    """Paths of every sub-dynamics over the points x, and a sentence where coordinates were left out.

    Of many coordinates those that vary most are drawn.
    """
    d = x.shape[1]
    chosen = np.sort(np.argsort(-x.std(axis=0), kind="stable")[:MOST_COORDINATES])
    m = len(chosen)
    every = thinning(len(x), max(8 * MOST_POINTS // (m * (m - 1)), 400))
    layout: dict[str, Any] = {}
    data: list[Trace] = []
    for panel, (i, j) in enumerate(combinations(range(m), 2)):
        tag = "" if panel == 0 else str(panel + 1)
        layout |= _axes(tag, i, j, m, (f"x{chosen[i] + 1}", f"x{chosen[j] + 1}"))
        columns, place = chosen[[i, j]], {"xaxis": f"x{tag}", "yaxis": f"y{tag}"}
        for q, mine in enumerate(paths):
            trace = sub_dynamics(q, mode="lines", line={"width": 1}, showlegend=panel == 0, hoverinfo="name", **place)
            data.append(spatial(polyline(x[:, columns], mine, every), **trace))
        for mark in attractor_marks(found.attractors[:, columns], found.uncertainty[:, columns], 0.0, panel == 0):
            data.append(mark | place | {"mode": "markers", "marker": {"symbol": "x", "size": 6}})
    told = f" Of {d} coordinates the {m} that vary most, each against each." if m < d else ""
    return Plot(data, layout, 760), told


def _axes(tag: str, i: int, j: int, m: int, names: tuple[str, str]) -> dict[str, Any]:
    """Panel of coordinate i (across) against j (up): named at the left and at the bottom of the triangle alone."""
    width = (1 - GAP * (m - 2)) / (m - 1)
    left, top = i * (width + GAP), 1 - (j - 1) * (width + GAP)
    side: dict[str, Any] = {"showticklabels": False, "ticks": "", "zeroline": False}
    across = {"domain": [left, left + width], "anchor": f"y{tag}", "title": {"text": names[0] if j == m - 1 else ""}}
    up = {"domain": [max(top - width, 0), top], "anchor": f"x{tag}", "title": {"text": names[1] if i == 0 else ""}}
    return {f"xaxis{tag}": side | across, f"yaxis{tag}": side | up}
