"""Numbers of attractors and paths: other readings, and an order without a trace of the samples' order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._types import FloatArray, IntArray
from .demonstrations import Demonstrations
from .graphs import PathGraph
from .wording import plural


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another reading of the same ends: so many attractors, how sure, and the label of every sample."""

    n_attractors: int
    confidence: float
    labels: IntArray

    def __repr__(self) -> str:
        return f"Alternative({plural(self.n_attractors, 'attractor')}, confidence {self.confidence:.2f})"


def by_place(places: FloatArray, extent: float) -> IntArray:
    """Order by first coordinate, then second, ...; rounded to a thousandth of the data's extent, so that equal
    coordinates do not decide by rounding error."""
    return np.lexsort(np.round(places / (1e-3 * extent)).T[::-1])


def canonical(demos: Demonstrations, graph: PathGraph) -> PathGraph:
    heads = graph.nodes[graph.offsets[:-1]]
    extent = float(np.ptp(demos.x, axis=0).max())
    group, order = canonical_order(demos.x[heads], demos.x[graph.terminals], graph.group, heads, extent)
    nodes = np.concatenate([graph.path(int(k)) for k in order])
    offsets = np.concatenate([[0], np.cumsum(graph.lengths[order])]).astype(np.intp)
    return PathGraph(graph.n_samples, nodes, offsets, group[order])


def canonical_order(
    starts: FloatArray, ends: FloatArray, group: IntArray, heads: IntArray, extent: float
) -> tuple[IntArray, IntArray]:
    """Sub-dynamics by the place of their ends, paths by the direction they come from: no trace of the sample order.

    Directions are angles in the plane that the starts spread most in, so that a cycle or the first two coordinates of
    the embedding go round the attractor as the data do. Gives the new group of every path, and the order of the paths;
    of two from one direction the one with the first head comes first.
    """
    n_groups = int(group.max()) + 1
    by_group = np.argsort(group, kind="stable")
    members = np.split(by_group, np.searchsorted(group[by_group], np.arange(n_groups)))[1:]
    centre = np.array([ends[mine].mean(axis=0) for mine in members])
    rank = np.empty(n_groups, dtype=np.intp)
    rank[by_place(centre, extent)] = np.arange(n_groups)
    renumbered = np.where(group >= 0, rank[group], -1)
    angle = np.zeros(len(group))
    for q, mine in enumerate(members):
        offset = starts[mine] - centre[q]
        if offset.shape[1] == 1:  # on a line there are two directions to come from
            offset = np.hstack([offset, np.zeros_like(offset)])
        plane = np.linalg.svd(offset.T @ offset)[0][:, :2]
        plane *= np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
        angle[mine] = np.arctan2(*(offset @ plane).T)
    return renumbered, np.lexsort((heads, angle, np.where(group < 0, n_groups, renumbered)))
