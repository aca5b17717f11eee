"""Figures of an identification: samples, graph, spectrum, embeddings, close-ups of the attractors."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np

from .._types import IntArray
from ..demonstrations import Demonstrations
from ..graphs import Graph
from ..identification import Identification
from ..spectral.shown import eigenvalues
from .pairs import pair_matrix
from .traces import (
    MOST_POINTS,
    Plot,
    Section,
    Trace,
    attractor_marks,
    numbers,
    polyline,
    spatial,
    sub_dynamics,
    thinning,
)
from .wording import words

MOST_PANELS = 12
"""Small plots in one figure, one per sub-dynamics."""
MOST_SPACES = 4
"""Plots in space in one figure: a browser keeps sixteen at most."""
SMALL = 320
"""Height of a small plot."""


def axis(title: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title}, **more}


_VIEW = {
    "aspectmode": "data",
    "camera": {"eye": {"x": 1.3, "y": 1.3, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.15}},
}


def spatial_layout(d: int, names: tuple[str, ...] = ("x₁", "x₂", "x₃")) -> dict[str, Any]:
    """Axes of a plane or of a space; in space equal scales, because a view that turns must not distort."""
    if d == 3:
        return {"scene": {f"{a}axis": axis(n) for a, n in zip("xyz", names, strict=True)} | _VIEW}
    return {"xaxis": axis(names[0]), "yaxis": axis(names[1])}


def samples(demos: Demonstrations, found: Identification) -> Section:
    d, n = demos.dimension, demos.n_samples
    every = thinning(n)
    told = f" One sample in {every} is drawn." if every > 1 else ""
    goal = words().attractor
    caption = f"Each sample in the colour of the {goal} it belongs to; crosses are the {goal}s found.{told}"
    if d > 3:
        plot, chosen = pair_matrix(demos.x, [lines(found, q) for q in range(found.n_attractors)], found)
        along = "along their paths" if found.has_paths else "by edges of their graph"
        return Section("samples", f"Samples by {goal}", f"{caption} Drawn {along}.{chosen}", (plot,))
    extent = float(np.ptp(demos.x, axis=0).max())
    size = 3 if d == 2 else 1.8
    data = []
    for q in range(-1, found.n_attractors):
        mine = np.flatnonzero(found.labels == q)[::every]
        if len(mine):
            trace = sub_dynamics(q, mode="markers")
            trace["marker"] |= {"size": size, "opacity": 0.75}
            data.append(spatial(demos.x[mine], extent, **trace))
    data += attractor_marks(found.attractors, found.uncertainty, extent)
    return Section("samples", f"Samples by {goal}", caption, (Plot(data, spatial_layout(d), 560),))


def fates(demos: Demonstrations, found: Identification) -> Section | None:
    """Snapshots in the plane or in space by their most likely fate; faint where it is not sure."""
    if found.fates is None or demos.dimension > 3:
        return None
    d, every = demos.dimension, thinning(demos.n_samples)
    extent = float(np.ptp(demos.x, axis=0).max())
    fate, sure = found.fates.argmax(axis=1), found.fates.max(axis=1)
    data = []
    for q in range(found.n_attractors + 1):
        for low, high, opacity in ((0.9, 1.01, 0.9), (0.6, 0.9, 0.45), (0.0, 0.6, 0.15)):
            mine = np.flatnonzero((fate == q) & (sure >= low) & (sure < high))[::every]
            if len(mine):
                trace = sub_dynamics(-1 if q == found.n_attractors else q, mode="markers")
                trace["marker"] |= {"size": 4 if d == 2 else 2, "opacity": opacity}
                data.append(spatial(demos.x[mine], extent, **trace))
    for place in found.located:
        if place.curve is not None:
            closed = np.concatenate([place.curve, place.curve[:1]])
            data.append(spatial(closed, extent, **sub_dynamics(-1, mode="lines")))
    data += attractor_marks(found.attractors, found.uncertainty, extent)
    unsure = float((sure < 0.9).mean())
    caption = (
        f"Each sample in the colour of the {words().attractor} it is carried to in most of the fields that fit re-weighted "
        f"samples; fainter where fewer of them agree, grey where it leaves the data. The fate of {unsure:.0%} of the samples is "
        "less than 90 % sure."
    )
    return Section("fates", "Fates", caption, (Plot(data, spatial_layout(d), 560),))


def graph(demos: Demonstrations, found: Identification) -> Section | None:
    d = demos.dimension
    if d > 3:
        return None
    extent = float(np.ptp(demos.x, axis=0).max())
    every = thinning(demos.n_samples)
    data = []
    for q in range(found.n_attractors):
        paths = lines(found, q)
        shape = sub_dynamics(q, mode="lines", line={"width": 1.5 if d == 2 else 4})
        data.append(spatial(polyline(demos.x, paths, every if found.has_paths else 1), extent, **shape))
        if not found.has_paths:
            continue
        called = [f"start of path {k}" for k in range(len(paths))]
        start = sub_dynamics(q, mode="markers", showlegend=False, hovertext=called)
        start["marker"] = {"symbol": "circle-open", "size": 7 if d == 2 else 3}
        data.append(spatial(demos.x[[p[0] for p in paths]], extent, **start, hoverinfo="text"))
        ends = np.array([p[-1] for p in paths])
        pairs = [np.array(pair) for pair in combinations(ends, 2)][:200]
        if pairs:
            joins = sub_dynamics(q, mode="lines", showlegend=False, hoverinfo="skip", line={"width": 1, "dash": "dot"})
            data.append(spatial(polyline(demos.x, pairs), extent, **joins))
    how = "as given" if demos.ordered else "recovered from the unordered samples"
    if found.kind == "snapshots":
        how = "on which the samples were strung along the flow, for learning,"
    caption = (
        f"The paths {how}, from their starts (circles) to their ends. The ends that belong to one {words().attractor} are "
        f"joined, which makes one connected graph per {words().attractor}; the close-ups below show the joins."
        if found.has_paths
        else "Samples are linked where the kernel is large enough; at most two thousand links of each component are drawn. "
        f"Every component counts as one {words().attractor}."
    )
    return Section("graph", "The graph", caption, (Plot(data, spatial_layout(d), 560),))


def lines(found: Identification, q: int) -> list[IntArray]:
    """What to draw of a sub-dynamics: its paths, or edges of its graph where there are none."""
    return list(found.graph.edges(found.members(q))) if isinstance(found.graph, Graph) else found.paths(q)


def spectrum(found: Identification) -> Section:
    data: list[Trace] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    gaps = []
    for q in range(found.n_attractors):
        values, below = eigenvalues(found.graph, found.spectra, q)
        if len(values) < 2 or values[1] <= 0:
            continue
        gaps.append((below, values[below] / values[below - 1] if below < len(values) else 1.0))
        kept = 1 + found.embeddings[q].shape[1]
        scaled = values / values[1]
        trace = sub_dynamics(q, mode="lines+markers", line={"width": 1.5}, x=list(range(1, len(values) + 1)))
        trace["marker"] |= {"size": 9, "symbol": ["circle"] * kept + ["circle-open"] * (len(values) - kept)}
        text = [f"λ{i + 1} = {value:.4g}" for i, value in enumerate(values)]
        data.append({"type": "scatter", **trace, "y": numbers(scaled), "hovertext": text, "hoverinfo": "text+name"})
    ratio = min((ratio for _, ratio in gaps), default=1.0)
    if len({below for below, _ in gaps}) == 1 and round(ratio, 1) > 1.0:
        below = gaps[0][0]
        edges = {"x0": below, "x1": below + 1, "y0": 0, "y1": 1, "yref": "paper"}
        shapes = [{"type": "rect", "xref": "x", **edges, "line": {"width": 0}}]
        place = {"x": below + 0.5, "y": 1, "yref": "paper", "yanchor": "top", "yshift": -6}
        notes = [{"text": f"gap × {ratio:.1f}", **place, "showarrow": False}]
    caption = (
        "Lowest eigenvalues of each graph Laplacian, in units of the first that is not zero. Filled marks span the "
        "embedding."
    )
    if found.has_paths:
        caption += " K paths that end together have K - 1 equal ones, and then a gap."
    layout = {
        "xaxis": axis("number of the eigenvalue", dtick=1),
        "yaxis": axis("λ / λ₂", rangemode="tozero"),
        "shapes": shapes,
        "annotations": notes,
    }
    return Section("spectrum", "The spectrum and its gap", caption, (Plot(data, layout, 380),))


def embeddings(found: Identification) -> Section:
    shown = min(found.n_attractors, MOST_PANELS)
    plots = tuple(_embedding(found, q, in_space=found.n_attractors <= MOST_SPACES) for q in range(shown))
    caption = (
        "Eigenvectors of each graph as coordinates. Every trajectory is a straight line here, and all of them meet in the "
        f"{words().attractor} (cross)."
        if found.has_paths
        else "Eigenvectors of each graph as coordinates, a point for every sample. A kernel graph has no paths: nothing makes "
        "its trajectories straight."
    )
    if shown < found.n_attractors:
        caption += f" The first {shown} of {found.n_attractors} are shown."
    widest = max(e.shape[1] for e in found.embeddings)
    if widest > 3:
        caption += f" The embeddings have up to {widest} dimensions; the first two are drawn."
    return Section("embeddings", "The embeddings", caption, plots)


def _embedding(found: Identification, q: int, in_space: bool) -> Plot:
    u = found.embeddings[q]
    m = 3 if u.shape[1] == 3 and in_space else min(u.shape[1], 2)
    points = u[:, :m] if m > 1 else np.column_stack([np.arange(len(u)), u[:, 0]])
    layout = spatial_layout(max(m, 2), ("u₂", "u₃", "u₄")[:m] if m > 1 else ("sample", "u₂"))
    every = thinning(len(u), MOST_POINTS // 4)
    if not found.has_paths:
        cloud = sub_dynamics(q, mode="markers", showlegend=False)
        cloud["marker"] |= {"size": 4 if m < 3 else 2}
        return Plot([spatial(points[::every], **cloud)], layout, SMALL, words().one(q))
    bounds = np.concatenate([[0], np.cumsum([len(p) for p in found.paths(q)])])
    rows = [np.arange(a, b) for a, b in pairwise(bounds)]
    lines = sub_dynamics(q, mode="lines+markers", line={"width": 2 if m < 3 else 5}, showlegend=False)
    lines["marker"] = {"size": 1}  # too small to see, but Plotly leaves room around marks and none around lines
    data = [spatial(polyline(points, rows, every), **lines)]
    if m > 1:
        hub: Trace = {"mode": "markers", "marker": {"symbol": "x", "size": 9 if m == 2 else 4}, "meta": {"ink": True}}
        hub |= {"showlegend": False, "hoverinfo": "text", "hovertext": [words().attractor]}
        data.append(spatial(np.zeros((1, m)), **hub))
        for name in ("xaxis", "yaxis", "zaxis") if m == 3 else ():
            layout["scene"][name]["showticklabels"] = False  # no room for them, and their scale means nothing
    return Plot(data, layout, SMALL, words().one(q))
