"""Which paths end at the same attractor.

Ends are joined by single linkage; the scale at which to cut is read off the widest gap, in ratio, between successive
merging distances. Two scales frame the search: ends within a step cannot be told apart, and ends farther apart than a
quarter of the data's radius are not taken for one attractor unless nothing else fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray

# Ends of one attractor lie within this share of the data's radius; hand-drawn strokes scatter by a few hundredths.
ATTRACTOR_RADIUS = 0.25
# An attractor seen by a single path shows no scatter to compare a gap with, so a reading with some of them is weaker
# than one without, and a reading where every path has its own is the weakest.
SOME_LONE, ALL_LONE = 1 / 2, 1 / 3


@dataclass(frozen=True)
class Grouping:
    """`group[k]` for every end; the threshold may lie anywhere in (`low`, `high`) without changing the groups.

    `weight` is less than one where attractors are seen by a single path; a reading scores weight log(high/low).
    `rival` is the number of groups of the second-best reading, `rival_score` its score.
    """

    group: IntArray
    low: float
    high: float
    weight: float
    rival: int | None
    rival_score: float

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1

    @property
    def score(self) -> float:
        return self.weight * float(np.log(self.high / self.low))

    @property
    def confidence(self) -> float:
        """1 - (low/high)^weight: 0 when the threshold has no room, 0.9 when it can move by a factor of ten."""
        return 1.0 - float(np.exp(-self.score))


def group_ends(ends: FloatArray, resolution: float, radius: float) -> Grouping:
    """Groups of ends (K, d). `resolution` is the distance below which ends coincide, `radius` that of the data."""
    k = len(ends)
    reach = ATTRACTOR_RADIUS * radius
    resolution = min(resolution, reach)
    if k == 1:
        return Grouping(np.zeros(1, dtype=np.intp), resolution, max(reach, resolution), ALL_LONE, None, 0.0)
    pairs, distance = spanning_tree(ends)
    height = np.concatenate([[resolution], distance, [reach]])
    height = np.maximum.accumulate(np.maximum(height, resolution))
    low, high = height[:-1], height[1:]
    # Cutting after m merges leaves k - m groups.
    weight = _weights(pairs, k)
    score = np.log(high / low) * weight
    best = int(np.argmax(score)) if score.any() else k - 1  # no gap at all: everything lies within the resolution
    others = np.where(np.arange(k) == best, 0.0, score)
    second = int(np.argmax(others))
    return Grouping(
        group=_components(pairs[:best], k),
        low=float(low[best]),
        high=float(high[best]),
        weight=float(weight[best]),
        rival=k - second if others[second] > 0 else None,
        rival_score=float(others[second]),
    )


def spanning_tree(points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Edges (K - 1, 2) of a minimum spanning tree of the points, shortest first, with their lengths: single linkage.

    Boruvka: every component takes its shortest edge to another, until one is left. Two components differ in a bit of
    their numbers, so the nearest point of any other component is the nearest, over all bits, among the points whose
    component has the other bit: a few KD-tree queries instead of all K^2 pairs.
    """
    k = len(points)
    component = np.arange(k)
    edges = np.empty((0, 2), dtype=np.intp)
    while (count := int(component.max()) + 1) > 1:
        nearest, distance = _nearest_outside(points, component, count)
        order = np.lexsort((distance, component))
        shortest = order[np.concatenate([[True], np.diff(component[order]) != 0])]
        edges = np.concatenate([edges, np.stack([shortest, nearest[shortest]], axis=1)])
        component = _components(edges, k)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    # Equal lengths can close a ring. Ranks in place of lengths: a sparse matrix would forget an edge of length zero.
    i, j = np.sort(edges, axis=1).T
    order = np.lexsort((j, i, length))
    key, first = np.unique((i * k + j)[order], return_index=True)
    ranked = sp.csr_array((first + 1.0, (key // k, key % k)), shape=(k, k))
    kept = order[np.sort(minimum_spanning_tree(ranked).data).astype(np.intp) - 1]
    return edges[kept], length[kept]


def _nearest_outside(points: FloatArray, component: IntArray, count: int) -> tuple[IntArray, FloatArray]:
    """For each point the nearest one of another component, and its distance."""
    nearest, distance = np.full(len(points), -1, dtype=np.intp), np.full(len(points), np.inf)
    for bit in range((count - 1).bit_length()):
        side = (component >> bit) & 1
        sides = np.flatnonzero(side == 0), np.flatnonzero(side == 1)
        for mine, theirs in (sides, sides[::-1]):
            away, which = cKDTree(points[theirs]).query(points[mine])
            closer = away < distance[mine]
            distance[mine[closer]], nearest[mine[closer]] = away[closer], theirs[which[closer]]
    return nearest, distance


def _components(pairs: IntArray, k: int) -> IntArray:
    """Labels of the connected components, by order of first appearance."""
    graph = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(k, k))
    _, first, label = np.unique(connected_components(graph, directed=False)[1], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label].astype(np.intp)


def _weights(pairs: IntArray, k: int) -> FloatArray:
    """Weight of the reading after 0, 1, ..., k - 1 merges: a union of sets, the lone ones counted."""
    parent, size = list(range(k)), [1] * k
    weight, lone = [ALL_LONE], k
    for a, b in pairs.tolist():
        a, b = _root(parent, a), _root(parent, b)
        if size[a] < size[b]:
            a, b = b, a
        lone -= (size[a] == 1) + (size[b] == 1)
        parent[b], size[a] = a, size[a] + size[b]
        weight.append(SOME_LONE if lone else 1.0)
    return np.array(weight)


def _root(parent: list[int], a: int) -> int:
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a
