"""Each attractor from near: the ends of its paths, the joins, the estimates and their uncertainty."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import Demonstrations
from ..identification import Identification
from .figures import MOST_PANELS, SMALL, axis, lines
from .traces import Plot, Section, Trace, polyline, spatial, sub_dynamics
from .wording import words


def close_ups(demos: Demonstrations, found: Identification) -> Section:
    """Each attractor with the ends of its paths, in the plane its ends spread most in."""
    shown = min(found.n_attractors, MOST_PANELS)
    caption = (
        f"Close-ups with the {words().attractor} in the middle: a cross with bars of two standard errors. Dotted: the joined "
        "ends of the paths. Square: where the lines of the embedding meet, the paper's estimate. Diamond: the mean of the ends."
        if found.has_paths
        else f"Close-ups with the {words().attractor} in the middle: a cross with bars of two standard errors, which hold what "
        "the estimates differ by. Square: where the lines of the embedding meet, the paper's estimate. Diamond: the mean of the "
        "slowest samples."
    )
    plots = tuple(_close_up(demos, found, q) for q in range(shown))
    return Section("attractors", f"The {words().attractor}s with their uncertainty", caption, plots)


def _close_up(demos: Demonstrations, found: Identification, q: int) -> Plot:
    here, paths = found.located[q], lines(found, q)
    ends = demos.x[[p[-1] for p in paths]] if found.has_paths else np.stack([here.by_mean_end, here.by_intersection])
    axes = _plane(ends - here.position)
    radius = max(_radius(demos.x, ends, here.position), 2.5 * float(here.standard_error.max()))
    near = [run for p in paths for run in _runs(p, np.linalg.norm(demos.x[p] - here.position, axis=1) < 3 * radius)]
    flat = (demos.x - here.position) @ axes
    line = sub_dynamics(q, mode="lines+markers", line={"width": 1}, hoverinfo="skip")
    line["marker"] = {"size": 3}
    data = [spatial(polyline(flat, near), 20 * radius, **line)]
    joins = [np.array(pair) for pair in combinations([p[-1] for p in paths], 2)][:200] if found.has_paths else []
    if joins:
        dotted = sub_dynamics(q, mode="lines", line={"width": 1, "dash": "dot"}, hoverinfo="skip")
        data.append(spatial(polyline(flat, joins), 20 * radius, **dotted))
    data += _estimates(found, q, axes, radius)
    names = ("x₁ − x₁*", "x₂ − x₂*") if demos.dimension == 2 else ("first direction", "second direction")
    reach = {"range": [-1.5 * radius, 1.5 * radius], "nticks": 5}
    layout = {"xaxis": axis(names[0], **reach), "yaxis": axis(names[1], **reach)}
    return Plot([trace | {"showlegend": False} for trace in data], layout, SMALL, words().one(q))


def _runs(path: IntArray, inside: BoolArray) -> list[IntArray]:
    """Unbroken stretches of a path that lie inside."""
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return [path[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _plane(offsets: FloatArray) -> FloatArray:
    """(d, 2) orthonormal axes: the data's own in the plane, else those in which the ends spread most."""
    d = offsets.shape[1]
    return np.eye(2) if d == 2 else np.asarray(np.linalg.svd(offsets.T @ offsets)[0][:, :2])


def _radius(x: FloatArray, ends: FloatArray, centre: FloatArray) -> float:
    """Far enough to see every end, and never less than a thousandth of the data."""
    return max(float(np.linalg.norm(ends - centre, axis=1).max()), 1e-3 * float(np.ptp(x, axis=0).max()))


def _estimates(found: Identification, q: int, axes: FloatArray, radius: float) -> list[Trace]:
    here = found.located[q]
    error = np.sqrt(((here.standard_error[:, None] * axes) ** 2).sum(axis=0))
    bars = {
        f"error_{a}": {"type": "data", "array": [2 * float(e)], "thickness": 1.5, "width": 5}
        for a, e in zip("xy", error, strict=True)
    }
    points: tuple[tuple[str, FloatArray, str, dict[str, Any]], ...] = (
        ("where the lines meet", here.by_intersection, "square-open", {}),
        ("mean of the ends", here.by_mean_end, "diamond-open", {}),
        (words().attractor, here.position, "x", bars),
    )
    shown: Trace = {"mode": "markers", "hoverinfo": "name", "meta": {"ink": True}}
    return [
        spatial(
            (at - here.position)[None] @ axes,
            20 * radius,
            name=name,
            marker={"symbol": mark, "size": 10},
            **shown,
            **more,
        )
        for name, at, mark, more in points
    ]
