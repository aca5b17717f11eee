"""Figures of a planar field with memory: its motions over the data, and the lifted paths that do not cross."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Demonstrations
from ..fields.surface import Rolled, drawn_motions
from ..identification import Identification
from .figures import spatial_layout
from .sections import Plot, Section
from .traces import Trace, attractor_marks, polyline, spatial, sub_dynamics, thinning
from .wording import words


def remembered(demos: Demonstrations, found: Identification, field: Any) -> tuple[Section, Section]:
    """The motions in the plane, and the same with their phase as height."""
    extent = float(np.ptp(demos.x, axis=0).max())
    rolled = drawn_motions(field)
    return _plane(demos, found, rolled, extent), _lifted(field, rolled, extent)


def _plane(demos: Demonstrations, found: Identification, rolled: list[Rolled], extent: float) -> Section:
    every = thinning(demos.n_samples)
    data: list[Trace] = []
    for q in range(found.n_attractors):
        trace = sub_dynamics(q, mode="lines", line={"width": 7}, hoverinfo="name")
        trace["meta"] |= {"faded": 0.4}
        data.append(spatial(polyline(demos.x, found.paths(q), every), extent, **trace))
    motions = _joined([one.states[:, :2] for one in rolled])
    line = {"mode": "lines", "line": {"width": 1.8}, "name": "motions, with memory", "hoverinfo": "name"}
    data.append(spatial(motions, extent, **line, meta={"ink": True}))
    places, bearings = _heads(rolled)
    marks = {"symbol": "triangle-up", "size": 10, "angle": bearings}
    data.append(
        spatial(places, extent, mode="markers", marker=marks, hoverinfo="skip", showlegend=False, meta={"ink": True})
    )
    data += attractor_marks(found.attractors, found.uncertainty, extent)
    caption = (
        "Paths cross here, so the field has memory: a motion carries its phase, the share of its path still to go. Dark: the "
        "motions from the starts of the demonstrations, over the demonstrations themselves. There is no one direction at a "
        "crossing, so no streamlines are drawn."
    )
    layout = spatial_layout(2)
    layout["xaxis"]["showgrid"] = layout["yaxis"]["showgrid"] = False
    return Section("field", "The learned motions", caption, (Plot(data, layout, 620),))


def _lifted(field: Any, rolled: list[Rolled], extent: float) -> Section:
    data: list[Trace] = []
    starts = np.flatnonzero(field.phases == 1.0)
    shown = [
        np.column_stack([x, p])
        for x, p in zip(np.split(field.samples, starts[1:]), np.split(field.phases, starts[1:]), strict=True)
    ]
    owner = field.labels[starts]
    for q in range(field.n_attractors):
        mine = [path[:: thinning(len(path), 200)] for path, label in zip(shown, owner, strict=True) if label == q]
        trace = sub_dynamics(q, mode="lines", line={"width": 8}, hoverinfo="name")
        trace["meta"] |= {"faded": 0.45}
        data.append(spatial(_joined(mine), None, **trace))
    line = {"mode": "lines", "line": {"width": 3}, "name": "motions, with memory", "hoverinfo": "name"}
    data.append(spatial(_joined([one.states for one in rolled]), None, **line, meta={"ink": True}))
    goals = np.column_stack([field.attractors, np.zeros(field.n_attractors)])
    mark = {"symbol": "cross", "size": 6}
    text = [f" {q + words().first}" for q in range(field.n_attractors)]
    data.append(
        spatial(
            goals,
            None,
            mode="markers+text",
            name=f"{words().attractor}s",
            marker=mark,
            text=text,
            hoverinfo="name",
            meta={"ink": True},
        )
    )
    layout = spatial_layout(3, ("x₁", "x₂", "phase"))
    layout["scene"] |= {"aspectmode": "cube"}
    caption = (
        "The same paths with their phase as height, from 1 at the start down to 0 at the goal. Lifted, they no longer cross, and "
        "one stable field follows them. Drag to turn."
    )
    return Section("lifted", "The lifted paths", caption, (Plot(data, layout, 620),))


def _joined(paths: list[FloatArray]) -> FloatArray:
    """One after the other, with gaps."""
    if not paths:
        return np.full((1, 2), np.nan)
    gap = np.full((1, paths[0].shape[1]), np.nan)
    return np.concatenate([part for path in paths for part in (path, gap)])


def _heads(rolled: list[Rolled]) -> tuple[FloatArray, list[float]]:
    """Places and bearings, up being 0, of an arrow head a third along every motion."""
    places, bearings = [], []
    # In shares of the picture, whose axes have scales of their own.
    span = np.ptp(np.concatenate([one.states[:, :2] for one in rolled]), axis=0) if rolled else np.ones(2)
    for one in rolled:
        x = one.states[:, :2]
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        i = min(max(int(np.searchsorted(length, 0.35 * length[-1])), 1), len(x) - 1)
        dx, dy = (x[i] - x[i - 1]) / np.maximum(span, 1e-300)
        places.append(x[i])
        bearings.append(round(float(np.degrees(np.arctan2(dx, dy))), 1))
    return np.array(places).reshape(-1, 2), bearings
