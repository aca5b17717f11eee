"""Graphs of a data set: what the theory wants (joined paths) and what a kernel gives (any sparse graph).

A sub-dynamics is K path graphs, one per trajectory, whose last nodes are joined around the attractor.
Two joins are offered: the paper's cycle, and a clique, whose first non-zero eigenvalue is (K-1)-fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ._types import IntArray

__all__ = ["Clique", "Cycle", "Graph", "Join", "PathGraph"]


class Join(Protocol):
    """How the terminals of one sub-dynamics are joined."""

    def edges(self, terminals: IntArray) -> IntArray:
        """Undirected edges, (m, 2), among the given terminal nodes."""
        ...


@dataclass(frozen=True)
class Cycle:
    """Terminals joined in a ring, as in the paper. Keeps the radial order of the paths in (u2, u3)."""

    def edges(self, terminals: IntArray) -> IntArray:
        k = len(terminals)
        if k < 2:
            return np.empty((0, 2), dtype=np.intp)
        if k == 2:
            return np.array([[terminals[0], terminals[1]]], dtype=np.intp)
        return np.column_stack([terminals, np.roll(terminals, -1)])


@dataclass(frozen=True)
class Clique:
    """Every terminal joined to every other: a (K-1)-dimensional embedding that is exactly linear."""

    def edges(self, terminals: IntArray) -> IntArray:
        i, j = np.triu_indices(len(terminals), k=1)
        return np.column_stack([terminals[i], terminals[j]])


@dataclass(frozen=True)
class PathGraph:
    """Disjoint paths over samples 0..n-1, and which paths share an attractor.

    Path k visits `nodes[offsets[k]:offsets[k + 1]]` in order of time; its last node is its terminal.
    `group[k]` is the sub-dynamics of path k, 0..Q-1, or -1 for a fragment too short to trust.
    Samples in no path are not in `nodes`.
    """

    n_samples: int
    nodes: IntArray
    offsets: IntArray
    group: IntArray

    @property
    def n_paths(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        return np.diff(self.offsets)

    @property
    def terminals(self) -> IntArray:
        return self.nodes[self.offsets[1:] - 1]

    def path(self, k: int) -> IntArray:
        return self.nodes[self.offsets[k] : self.offsets[k + 1]]

    def paths_of(self, q: int) -> IntArray:
        return np.flatnonzero(self.group == q)

    @property
    def labels(self) -> IntArray:
        """Sub-dynamics of every sample; -1 where unassigned."""
        labels = np.full(self.n_samples, -1, dtype=np.intp)
        labels[self.nodes] = np.repeat(self.group, self.lengths)
        return labels


@dataclass(frozen=True)
class Graph:
    """Any undirected graph over the samples, as a symmetric 0/1 adjacency matrix."""

    adjacency: sp.csr_array

    @property
    def n_samples(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    def edges(self, nodes: IntArray, most: int = 2000) -> IntArray:
        """Edges among some nodes, for a picture: at most so many, the same ones every time.

        Parameters
        ----------
        nodes : int array
            Nodes whose edges are asked for.
        most : int
            Edges returned at most.

        Returns
        -------
        (m, 2) int array
        """
        inside = sp.triu(self.adjacency[nodes][:, nodes], k=1).tocoo()
        chosen = np.sort(np.random.default_rng(0).permutation(len(inside.row))[:most])
        return np.column_stack([nodes[inside.row[chosen]], nodes[inside.col[chosen]]])


def thinned(length: int, step: int) -> IntArray:
    """Every step-th place along a path, with its start and its end."""
    return np.unique(np.append(np.arange(0, length, step), length - 1))
