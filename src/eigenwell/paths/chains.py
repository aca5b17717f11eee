"""Chains: samples strung together by "comes next" links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, depth_first_order

from .._types import FloatArray, IntArray


@dataclass(frozen=True)
class Chains:
    """Every sample in exactly one chain; chain c is `order[offsets[c]:offsets[c + 1]]`, in order of time."""

    order: IntArray
    offsets: IntArray

    @classmethod
    def of(cls, successor: IntArray, x: FloatArray) -> Chains:
        """Chains of a successor array (-1: none). A closed loop is opened at its longest link."""
        order, heads = _walk(successor)
        if len(order) < len(successor):  # what no head leads to goes round
            successor = open_loops(successor, x)
            order, heads = _walk(successor)
        is_head = np.zeros(len(successor), dtype=bool)
        is_head[heads] = True
        return cls(order, np.append(np.flatnonzero(is_head[order]), len(order)).astype(np.intp))

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


def _walk(successor: IntArray) -> tuple[IntArray, IntArray]:
    """Samples chain after chain, and the heads of the chains. One depth-first walk from a virtual node n that leads to
    every head."""
    n = len(successor)
    linked = successor >= 0
    followed = np.zeros(n, dtype=bool)
    followed[successor[linked]] = True
    heads = np.flatnonzero(~followed)
    indptr = np.concatenate([[0], np.cumsum(linked), [n]]).astype(np.int32)
    indptr[-1] = indptr[-2] + len(heads)
    indices = np.concatenate([successor[linked], heads]).astype(np.int32)
    walk = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n + 1, n + 1))
    return depth_first_order(walk, n, return_predecessors=False)[1:].astype(np.intp), heads


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


def unique_pairs(i: IntArray, j: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """The distinct pairs with i != j."""
    key = np.sort((i * n + j)[i != j])
    key = key[np.concatenate([[True], key[1:] != key[:-1]])] if len(key) else key
    return key // n, key % n
