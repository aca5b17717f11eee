"""Figures of a learned field that its picture in the plane (`live.py`) does not show: roll-outs in space, lifted paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..demonstrations import Demonstrations
from ..fields.simulation import drawn_motions
from ..identification import Identification
from .figures import spatial_layout
from .pairs import pair_matrix
from .traces import Plot, Section, Trace, attractor_marks, joined, polyline, spatial, sub_dynamics, thinning
from .wording import words

MARGIN = 0.15
"""Of the data's box: random starts lie in it and so far around it."""


def learned(demos: Demonstrations, found: Identification, field: Any) -> list[Section]:
    if demos.dimension > 2:
        return [_rolled(demos, found, field)]
    return [_lifted(field)] if field.by_motion else []


def _rolled(demos: Demonstrations, found: Identification, field: Any) -> Section:
    """Roll-outs: from random starts in space, from the starts of the data in more dimensions, where space is empty."""
    d = demos.dimension
    if d == 3:
        low, high = demos.x.min(axis=0), demos.x.max(axis=0)
        pad = MARGIN * (high - low)
        starts = np.random.default_rng(0).uniform(low - pad, high + pad, (16 * found.n_attractors, 3))
        origin = "random starts in and around the data"
    else:
        starts = demos.x[[path[0] for q in range(found.n_attractors) for path in found.paths(q)]]
        origin = "the starts of the demonstrations"
    rolled = field.simulate(starts, t=np.linspace(0.0, _duration(demos), 100))
    flat = rolled.reshape(-1, d)
    basin = np.linalg.norm(rolled[:, -1, None] - field.attractors, axis=2).argmin(axis=1)
    rows = np.arange(len(flat)).reshape(rolled.shape[:2])
    paths = [list(rows[basin == q]) for q in range(found.n_attractors)]
    caption = f"Roll-outs of the learned field from {origin}, each in the colour of the {words().attractor} it goes to."
    if field.by_motion:
        caption += (
            " They carry their phase: motions that cross themselves or each other are followed as they were shown."
        )
    if d > 3:
        plot, chosen = pair_matrix(flat, paths, found)
        return Section("field", "The learned field", caption + chosen, (plot,))
    extent = float(np.ptp(demos.x, axis=0).max())
    data = [
        spatial(polyline(flat, mine), extent, **sub_dynamics(q, mode="lines", line={"width": 3}))
        for q, mine in enumerate(paths)
    ]
    data += attractor_marks(found.attractors, found.uncertainty, extent)
    return Section("field", "The learned field", caption, (Plot(data, spatial_layout(3), 600),))


def _duration(demos: Demonstrations) -> float:
    """Time to cross the data's box three times at full pace; most samples of a motion that comes to rest are slow."""
    pace = float(np.quantile(np.linalg.norm(demos.v, axis=1), 0.95))
    return float(3 * np.linalg.norm(np.ptp(demos.x, axis=0)) / max(pace, np.finfo(np.float64).tiny))


def _lifted(field: Any) -> Section:
    """Paths of a field with memory in the plane, their phase as height."""
    rolled = drawn_motions(field)
    data: list[Trace] = []
    starts = np.flatnonzero(field.phases == 1.0)
    shown = np.split(np.column_stack([field.samples, field.phases]), starts[1:])
    owner = field.labels[starts]
    for q in range(field.n_attractors):
        mine = [path[:: thinning(len(path), 200)] for path, label in zip(shown, owner, strict=True) if label == q]
        trace = sub_dynamics(q, mode="lines", line={"width": 8}, hoverinfo="name")
        trace["meta"] |= {"faded": 0.45}
        data.append(spatial(joined(mine, 3), None, **trace))
    line = {"mode": "lines", "line": {"width": 3}, "name": "motions, with memory", "hoverinfo": "name"}
    data.append(spatial(joined([one.states for one in rolled], 3), None, **line, meta={"ink": True}))
    goals = np.column_stack([field.attractors, np.zeros(field.n_attractors)])
    mark: Trace = {
        "mode": "markers+text",
        "marker": {"symbol": "cross", "size": 6},
        "hoverinfo": "name",
        "meta": {"ink": True},
    }
    text = [f" {q + words().first}" for q in range(field.n_attractors)]
    data.append(spatial(goals, None, name=f"{words().attractor}s", text=text, **mark))
    layout = spatial_layout(3, ("x₁", "x₂", "phase"))
    layout["scene"] |= {"aspectmode": "cube"}
    caption = (
        "The same paths with their phase as height, from 1 at the start down to 0 at the goal. Lifted, none crosses another or "
        "itself, and one stable field follows them. Drag to turn."
    )
    return Section("lifted", "The lifted paths", caption, (Plot(data, layout, 620),))
