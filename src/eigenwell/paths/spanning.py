"""Minimum spanning tree of points, the tree of single linkage, without all pairs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray


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
        component = components(edges, k)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    # Equal lengths can close a ring. Ranks in place of lengths: a sparse matrix would forget an edge of length zero.
    i, j = np.sort(edges, axis=1).T
    order = np.lexsort((j, i, length))
    key, first = np.unique((i * k + j)[order], return_index=True)
    # Indices of 32 bits: the tree of SciPy before 1.16 takes no others.
    ranked = sp.csr_array((first + 1.0, ((key // k).astype(np.int32), (key % k).astype(np.int32))), shape=(k, k))
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


def components(pairs: IntArray, k: int) -> IntArray:
    """Labels of the connected components, by order of first appearance."""
    graph = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(k, k))
    _, first, label = np.unique(connected_components(graph, directed=False)[1], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label].astype(np.intp)


def edges(points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Pairs (K - 1, 2) of the tree and their lengths, in any order, by Prim's way: faster for up to a few hundred points."""
    k = len(points)
    nearest, pairs, length = np.zeros(k, dtype=np.intp), np.zeros((k - 1, 2), dtype=np.intp), np.zeros(k - 1)
    square = ((points - points[0]) ** 2).sum(axis=1)
    square[0] = np.inf
    left = np.arange(k) > 0
    for n in range(k - 1):
        j = int(square.argmin())
        pairs[n], length[n], left[j] = (nearest[j], j), square[j] ** 0.5, False
        to_j = ((points - points[j]) ** 2).sum(axis=1)
        closer = left & (to_j < square)
        nearest[closer] = j
        square = np.where(left, np.minimum(square, to_j), np.inf)
    return pairs, length
