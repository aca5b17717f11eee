"""Chains: samples strung together by "comes next" links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._types import FloatArray, IntArray


@dataclass(frozen=True)
class Chains:
    """Every sample in exactly one chain; chain c is `order[offsets[c]:offsets[c + 1]]`, in order of time."""

    order: IntArray
    offsets: IntArray

    @classmethod
    def of(cls, successor: IntArray, x: FloatArray) -> Chains:
        """Chains of a successor array (-1: none). A closed loop is opened at its longest link."""
        chains, closed = _strung(successor)
        return chains if len(closed) == 0 else _strung(open_loops(successor, x))[0]

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

    def joined(self, follows: IntArray) -> Chains:
        """Chains put behind one another: c is followed by `follows[c]`, -1 for none, without loops."""
        groups, _ = _strung(follows)
        length = self.lengths[groups.order]
        start = np.cumsum(length) - length
        place = np.repeat(self.offsets[groups.order] - start, length) + np.arange(len(self.order))
        return Chains(self.order[place], np.append(start[groups.offsets[:-1]], len(place)).astype(np.intp))

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


def _strung(successor: IntArray) -> tuple[Chains, IntArray]:
    """Chains, numbered by their heads, and the nodes of closed loops, which are in none of them.

    Every node looks up how far back it can see, and then how far back that one can: the distance doubles from round to
    round, until all see the head of their chain. Those that never do go round.
    """
    n = len(successor)
    linked = np.flatnonzero(successor >= 0)
    ancestor, distance = np.arange(n), np.zeros(n, dtype=np.intp)
    ancestor[successor[linked]], distance[successor[linked]] = linked, 1
    has_one = distance > 0
    looking = np.flatnonzero(has_one)
    for _ in range(n.bit_length() + 1):
        looking = looking[has_one[ancestor[looking]]]
        if len(looking) == 0:
            break
        seen = ancestor[looking]
        farther, way = ancestor[seen], distance[looking] + distance[seen]
        ancestor[looking], distance[looking] = farther, way
    whole = np.ones(n, dtype=bool)
    whole[looking] = False
    chain_of_head = np.cumsum(~has_one) - 1
    node = np.flatnonzero(whole) if len(looking) else np.arange(n)
    chain = chain_of_head[ancestor[node]]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(chain, minlength=n - int(has_one.sum())))]).astype(np.intp)
    order = np.empty(len(node), dtype=np.intp)
    order[offsets[chain] + distance[node]] = node
    return Chains(order, offsets), looking


def open_loops(successor: IntArray, leave: FloatArray, arrive: FloatArray | None = None) -> IntArray:
    """Cut every closed loop at its longest link; a loop in space has to be cut somewhere, and time has no loops.

    A link i -> j leads from `leave[i]` to `arrive[j]`, the same places for samples, tails and heads for chains.
    """
    closed, arrive = _strung(successor)[1], leave if arrive is None else arrive
    if len(closed) == 0:
        return successor
    local = np.empty(len(successor), dtype=np.intp)
    local[closed] = np.arange(len(closed))
    links = (np.ones(len(closed)), (np.arange(len(closed)), local[successor[closed]]))
    _, loop = connected_components(sp.csr_array(links, shape=(len(closed), len(closed))), directed=False)
    length = np.linalg.norm(arrive[successor[closed]] - leave[closed], axis=1)
    by_length = np.lexsort((-length, loop))
    first = np.concatenate([[True], np.diff(loop[by_length]) != 0])
    out = successor.copy()
    out[closed[by_length[first]]] = -1
    return out


def unique_pairs(i: IntArray, j: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """The distinct pairs with i != j."""
    key = np.sort((i * n + j)[i != j])
    key = key[np.concatenate([[True], key[1:] != key[:-1]])] if len(key) else key
    return key // n, key % n
