"""Figures of a learned field: streamlines and potential in the plane, roll-outs in space."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Demonstrations
from ..fields.surface import borders, over_grid
from ..identification import Identification
from .figures import spatial_layout
from .memory_figures import remembered
from .pairs import pair_matrix
from .sections import Plot, Section
from .streamlines import streamlines
from .traces import Trace, attractor_marks, numbers, polyline, spatial, sub_dynamics, thinning
from .wording import a, words

MARGIN = 0.15
"""Of the data's box, drawn around it."""
CELLS = 72


def learned(demos: Demonstrations, found: Identification, field: Any) -> list[Section]:
    if demos.dimension > 2:
        return [_rolled(demos, found, field)]
    return list(remembered(demos, found, field)) if field.by_motion else [_plane(demos, found, field)]


def box(x: FloatArray, margin: float = MARGIN) -> tuple[FloatArray, FloatArray]:
    low, high = x.min(axis=0), x.max(axis=0)
    pad = margin * np.maximum(high - low, 0.02 * (high - low).max())
    return low - pad, high + pad


def _plane(demos: Demonstrations, found: Identification, field: Any) -> Section:
    low, high = box(demos.x)
    extent = float(np.ptp(demos.x, axis=0).max())
    gx, gy = (np.linspace(low[i], high[i], CELLS) for i in (0, 1))
    velocity, height, basin = over_grid(field, gx, gy)
    count, first = field.n_attractors, words().first
    across, up = {"x": numbers(gx, extent), "y": numbers(gy, extent)}, {"showlegend": True}
    data: list[Trace] = [
        {
            "type": "contour", **across, **up, "z": [numbers(row, 1.0) for row in height], "name": "potential",
            "showscale": False, "ncontours": 16, "contours": {"coloring": "none" if count > 1 else "heatmap"},
            "line": {"width": 0.6},
            "hovertemplate": "√V %{z:.3f} of its largest<extra></extra>", "meta": {"potential": True},
        }
    ]  # fmt: skip
    if count > 1:
        data.append(
            {
                "type": "heatmap", **across, **up, "z": [[None if q < 0 else int(q) + first for q in row] for row in basin],
                "zmin": first, "zmax": count + first, "name": "basins", "showscale": False, "opacity": 0.25,
                "hovertemplate": f"ends at {words().attractor} %{{z}}<extra></extra>", "meta": {"basins": count},
            }
        )  # fmt: skip
    lines, heads, angles = streamlines(gx, gy, velocity)
    data.append(
        spatial(
            lines,
            extent,
            mode="lines",
            line={"width": 1},
            name="streamlines",
            hoverinfo="skip",
            meta={"ink": True, "faded": 0.65},
        )
    )
    arrows = {"symbol": "triangle-up", "size": 6, "angle": numbers(angles, 1e3)}
    data.append(
        spatial(
            heads,
            extent,
            mode="markers",
            marker=arrows,
            hoverinfo="skip",
            showlegend=False,
            meta={"ink": True, "faded": 0.65},
        )
    )
    every = thinning(demos.n_samples)
    for q in range(found.n_attractors):
        trace = sub_dynamics(q, mode="lines", line={"width": 2.2})
        data.append(spatial(polyline(demos.x, found.paths(q), every), extent, **trace))
    data += _between(field, low, high, extent)
    data += attractor_marks(found.attractors, found.uncertainty, extent)
    layout = spatial_layout(2)
    layout["xaxis"] |= {"range": [float(low[0]), float(high[0])], "showgrid": False}
    layout["yaxis"] |= {"range": [float(low[1]), float(high[1])], "showgrid": False}
    caption = (
        "Streamlines of the learned field over its potential, which falls along every one of them until "
        f"{a(words().attractor)} is reached. "
    )
    if count > 1:
        caption += (
            f"Colours say in which {words().attractor} a state ends. Dashed: the separatrices, borders of the basins; diamonds: "
            "the saddles on them. "
        )
    caption += "Click an entry of the legend to hide it."
    return Section("field", "The learned field", caption, (Plot(data, layout, 620),))


def _between(field: Any, low: FloatArray, high: FloatArray, extent: float) -> list[Trace]:
    """Separatrices, dashed on a halo, and saddles."""
    curves = borders(field, low, high)
    if not curves:
        return []
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([part for curve in curves for part in (curve, gap)])
    common = {"mode": "lines", "legendgroup": "separatrices"}
    halo = spatial(points, extent, **common, line={"width": 4}, hoverinfo="skip", showlegend=False, meta={"halo": True})
    dash = {"width": 1.8, "dash": "6px,4px"}
    line = spatial(points, extent, **common, line=dash, name="separatrices", hoverinfo="name", meta={"ink": True})
    mark = {"symbol": "diamond", "size": 11, "line": {"width": 2}}
    hover = [f"saddle<br>{a:.5g}<br>{b:.5g}" for a, b in field.saddles]
    saddles = spatial(
        field.saddles, extent, mode="markers", name="saddles", marker=mark, hovertext=hover, hoverinfo="text",
        meta={"ink": True, "hollow": True},
    )  # fmt: skip
    return [halo, line, saddles]


def _rolled(demos: Demonstrations, found: Identification, field: Any) -> Section:
    """Roll-outs: from random starts in space, from the starts of the data in more dimensions, where space is empty."""
    d = demos.dimension
    if d == 3:
        starts = np.random.default_rng(0).uniform(*box(demos.x), (16 * found.n_attractors, 3))
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
