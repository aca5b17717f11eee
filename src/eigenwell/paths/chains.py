"""Chains: samples strung together by "comes next" links, and the best set of such links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, depth_first_order, min_weight_full_bipartite_matching

from .._types import BoolArray, FloatArray, IntArray

# Links kept for every node as predecessor and as successor: a best set hardly ever needs more, and the time of the
# assignment grows with them.
CHOICES = 4


@dataclass(frozen=True)
class Chains:
    """Every sample in exactly one chain; chain c is `order[offsets[c]:offsets[c + 1]]`, in order of time."""

    order: IntArray
    offsets: IntArray

    @classmethod
    def of(cls, successor: IntArray, x: FloatArray) -> Chains:
        """Chains of a successor array (-1: none). A closed loop is opened at its longest link."""
        successor = open_loops(successor, x)
        n = len(successor)
        linked = successor >= 0
        heads = np.setdiff1d(np.arange(n), successor[linked], assume_unique=True)
        # One depth-first walk from a virtual node n that leads to every head visits chain after chain.
        indptr = np.concatenate([[0], np.cumsum(linked), [linked.sum() + len(heads)]])
        indices = np.concatenate([successor[linked], heads])
        walk = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n + 1, n + 1))
        order = depth_first_order(walk, n, return_predecessors=False)[1:].astype(np.intp)
        is_head = np.zeros(n, dtype=bool)
        is_head[heads] = True
        return cls(order, np.append(np.flatnonzero(is_head[order]), n).astype(np.intp))

    @property
    def n_chains(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> IntArray:
        return np.diff(self.offsets)

    @cached_property
    def heads(self) -> IntArray:
        return self.order[self.offsets[:-1]]

    @cached_property
    def tails(self) -> IntArray:
        return self.order[self.offsets[1:] - 1]

    @cached_property
    def chain_at(self) -> IntArray:
        """Chain of each position in `order`."""
        return np.repeat(np.arange(self.n_chains), self.lengths)

    @cached_property
    def chain_of(self) -> IntArray:
        """Chain of each sample."""
        out = np.empty(len(self.order), dtype=np.intp)
        out[self.order] = self.chain_at
        return out

    @cached_property
    def position_of(self) -> IntArray:
        """Position of each sample in `order`."""
        out = np.empty(len(self.order), dtype=np.intp)
        out[self.order] = np.arange(len(self.order))
        return out

    @cached_property
    def successor(self) -> IntArray:
        out = np.full(len(self.order), -1, dtype=np.intp)
        inside = self.chain_at[1:] == self.chain_at[:-1]
        out[self.order[:-1][inside]] = self.order[1:][inside]
        return out

    def members(self, c: int) -> IntArray:
        return self.order[self.offsets[c] : self.offsets[c + 1]]

    def lagged(self, lag: int, shortest: int = 2) -> tuple[IntArray, IntArray]:
        """Pairs of samples `lag` links apart, in chains of at least `shortest` samples."""
        same = (self.chain_at[lag:] == self.chain_at[:-lag]) & (self.lengths[self.chain_at[lag:]] >= shortest)
        return self.order[:-lag][same], self.order[lag:][same]

    def window_sum(self, value: FloatArray, half_width: int) -> FloatArray:
        """Sum of `value` (by position) over a centred window that does not leave the chain."""
        total = np.concatenate([[0.0], np.cumsum(value)])
        position = np.arange(len(value))
        low = np.maximum(position - half_width, self.offsets[self.chain_at])
        high = np.minimum(position + half_width + 1, self.offsets[self.chain_at + 1])
        return np.asarray(total[high] - total[low], dtype=np.float64)


def open_loops(successor: IntArray, leave: FloatArray, arrive: FloatArray | None = None) -> IntArray:
    """Cut every closed loop at its longest link; a loop in space has to be cut somewhere, and time has no loops.

    A link i -> j leads from `leave[i]` to `arrive[j]`, the same places for samples, tails and heads for chains.
    """
    n = len(successor)
    arrive = leave if arrive is None else arrive
    linked = np.flatnonzero(successor >= 0)
    if len(linked) == 0:
        return successor
    graph = sp.csr_array((np.ones(len(linked)), (linked, successor[linked])), shape=(n, n))
    count, component = connected_components(graph, directed=False)
    closed = np.bincount(component, minlength=count) == np.bincount(component[linked], minlength=count)
    in_loop = np.flatnonzero(closed[component])
    if len(in_loop) == 0:
        return successor
    length = np.linalg.norm(arrive[successor[in_loop]] - leave[in_loop], axis=1)
    by_length = in_loop[np.lexsort((-length, component[in_loop]))]
    first = np.concatenate([[True], np.diff(component[by_length]) != 0])
    out = successor.copy()
    out[by_length[first]] = -1
    return out


def best_links(i: IntArray, j: IntArray, score: FloatArray, n: int) -> IntArray:
    """Successor array that minimises the sum of scores over links i -> j, at most one into and out of a node.

    A link is worth making when its score is negative; -1 where none is. A sparse assignment problem, solved exactly,
    in which every node may also stay alone at no cost; links that are among the few best of neither end are left out.
    """
    successor = np.full(n, -1, dtype=np.intp)
    useful = score < 0
    i, j, score = i[useful], j[useful], score[useful]
    if len(i) == 0:
        return successor
    kept = _among_best(i, score) | _among_best(j, score)
    i, j, score = i[kept], j[kept], score[kept]
    # Rows: nodes as predecessors, then one stand-in per node as successor; columns the other way round. A link uses
    # (i, j) and the stand-ins' (j', i'); a node left alone uses its own stand-in. `alone` shifts all costs above 0.
    tail, i = np.unique(i, return_inverse=True)
    head, j = np.unique(j, return_inverse=True)
    t, h = len(tail), len(head)
    alone = 1.0 - score.min()
    rows = np.concatenate([i, np.arange(t), t + np.arange(h), t + j])
    columns = np.concatenate([j, h + np.arange(t), np.arange(h), h + i])
    cost = np.concatenate([score + alone, np.full(t + h, alone), np.full(len(i), alone)])
    row, column = min_weight_full_bipartite_matching(sp.csr_array((cost, (rows, columns)), shape=(t + h, t + h)))
    link = (row < t) & (column < h)
    successor[tail[row[link]]] = head[column[link]]
    return successor


def _among_best(node: IntArray, score: FloatArray) -> BoolArray:
    """True for links among the few best ones of their node."""
    order = np.lexsort((score, node))
    first = np.concatenate([[True], np.diff(node[order]) != 0])
    rank = np.arange(len(order)) - np.flatnonzero(first)[np.cumsum(first) - 1]
    out = np.empty(len(order), dtype=bool)
    out[order] = rank < CHOICES
    return out


def unique_pairs(i: IntArray, j: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """The distinct pairs with i != j."""
    key = np.sort((i * n + j)[i != j])
    key = key[np.concatenate([[True], key[1:] != key[:-1]])] if len(key) else key
    return key // n, key % n
