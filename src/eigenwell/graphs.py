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
        """Undirected edges among the terminals of one sub-dynamics.

        Parameters
        ----------
        terminals : (K,) int array
            Last nodes of its paths.

        Returns
        -------
        (m, 2) int array
        """
        ...


@dataclass(frozen=True)
class Cycle(Join):
    """Terminals joined in a ring, as in the paper. Keeps the radial order of the paths in (u2, u3).

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.Cycle().edges(np.array([3, 7, 9])).tolist()
    [[3, 7], [7, 9], [9, 3]]
    """

    def edges(self, terminals: IntArray) -> IntArray:
        k = len(terminals)
        if k < 2:
            return np.empty((0, 2), dtype=np.intp)
        if k == 2:
            return np.array([[terminals[0], terminals[1]]], dtype=np.intp)
        return np.column_stack([terminals, np.roll(terminals, -1)])


@dataclass(frozen=True)
class Clique(Join):
    """Every terminal joined to every other: a (K-1)-dimensional embedding that is exactly linear.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.graphs.Clique().edges(np.array([3, 7, 9])).tolist()
    [[3, 7], [3, 9], [7, 9]]
    """

    def edges(self, terminals: IntArray) -> IntArray:
        i, j = np.triu_indices(len(terminals), k=1)
        return np.column_stack([terminals[i], terminals[j]])


@dataclass(frozen=True)
class PathGraph:
    """Disjoint paths over samples 0..n-1, and which paths share an attractor.

    Attributes
    ----------
    n_samples : int
        n.
    nodes : int array
        Path k visits `nodes[offsets[k]:offsets[k + 1]]` in order of time; its last node is its terminal.
        Samples in no path are not listed.
    offsets : (K + 1,) int array
        Where paths begin and end in `nodes`.
    group : (K,) int array
        The sub-dynamics of every path, 0 to Q - 1, or -1 for a fragment too short to trust.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.graphs import PathGraph
    >>> graph = PathGraph(5, np.array([4, 3, 2, 1, 0]), np.array([0, 2, 5]), np.array([0, 0]))
    >>> graph.path(1)
    array([2, 1, 0])
    """

    n_samples: int
    nodes: IntArray
    offsets: IntArray
    group: IntArray

    @property
    def n_paths(self) -> int:
        """K, the number of paths."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """(K,) samples of every path."""
        return np.diff(self.offsets)

    @property
    def terminals(self) -> IntArray:
        """(K,) last node of every path."""
        return self.nodes[self.offsets[1:] - 1]

    def path(self, k: int) -> IntArray:
        """Nodes of a path in order of time.

        Parameters
        ----------
        k : int
            The path.

        Returns
        -------
        int array
        """
        return self.nodes[self.offsets[k] : self.offsets[k + 1]]

    def paths_of(self, q: int) -> IntArray:
        """Numbers of the paths of one sub-dynamics.

        Parameters
        ----------
        q : int
            The sub-dynamics.

        Returns
        -------
        int array
        """
        return np.flatnonzero(self.group == q)

    @property
    def labels(self) -> IntArray:
        """Sub-dynamics of every sample; -1 where unassigned."""
        labels = np.full(self.n_samples, -1, dtype=np.intp)
        labels[self.nodes] = np.repeat(self.group, self.lengths)
        return labels


@dataclass(frozen=True)
class Graph:
    """Any undirected graph over the samples.

    Attributes
    ----------
    adjacency : (n, n) sparse array
        Symmetric, 0 or 1.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from eigenwell.graphs import Graph
    >>> Graph(sp.csr_array(np.array([[0, 1], [1, 0]]))).n_samples
    2
    """

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


def laplacian(adjacency: sp.csr_array) -> sp.csr_array:
    """L = D - A."""
    weights = adjacency.astype(np.float64)
    return sp.csr_array(sp.diags_array(weights.sum(axis=1)) - weights)
