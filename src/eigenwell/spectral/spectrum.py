"""The spectrum of joined paths, in closed form (`secular`), and the embedding it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._types import FloatArray, IntArray
from ..graphs import Clique, Join, PathGraph, laplacian
from .masses import ExactMasses, Masses
from .secular import JoinedPaths


@dataclass(frozen=True)
class Spectrum:
    """Lowest eigenpairs of one connected component.

    Attributes
    ----------
    nodes : (n,) int array
        Its samples, in the order of the rows.
    eigenvalues : (m,) array
        They ascend from 0.
    eigenvectors : (n, m) array
        Orthonormal, with respect to the node masses where there are any.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> s = ew.spectral.joined_spectrum(np.array([5, 5, 5]), ew.graphs.Clique(), ew.spectral.ExactMasses(), 3)
    >>> s.eigenvectors.shape
    (15, 3)
    """

    nodes: IntArray
    eigenvalues: FloatArray
    eigenvectors: FloatArray


def joined_spectrum(lengths: IntArray, join: Join, masses: Masses, count: int) -> Spectrum:
    """Closed form for K paths of the given lengths, nodes numbered path after path.

    Parameters
    ----------
    lengths : (K,) int array
        Nodes of every path.
    join : Join
        How their ends are joined.
    masses : Masses
        How lengths are weighed.
    count : int
        Eigenpairs, the constant one among them.

    Returns
    -------
    Spectrum

    Raises
    ------
    ValueError
        For no paths or empty ones.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> s = ew.spectral.joined_spectrum(np.array([9, 5, 7]), ew.graphs.Clique(), ew.spectral.ExactMasses(), 3)
    >>> bool(abs(s.eigenvalues[1] - s.eigenvalues[2]) < 1e-12)
    True
    """
    lengths = _path_lengths(lengths)
    eigenvalues, eigenvectors = JoinedPaths(lengths, join, masses.weigh(lengths, join)).eigenpairs(count)
    return Spectrum(np.arange(lengths.sum()), eigenvalues, eigenvectors)


def _path_lengths(lengths: IntArray) -> IntArray:
    lengths = np.asarray(lengths, dtype=np.intp)
    if lengths.ndim != 1 or len(lengths) == 0 or np.any(lengths < 1):
        raise ValueError(
            f"lengths: expected at least one path, each of at least one node, got {lengths!r}; drop empty paths first."
        )
    return lengths


def group_spectrum(graph: PathGraph, q: int, join: Join, masses: Masses, count: int) -> Spectrum:
    """Spectrum of sub-dynamics q of a graph: `count` eigenpairs, or all where there are fewer."""
    paths = graph.paths_of(q)
    if len(paths) == 0:
        raise ValueError(
            f"group: expected a sub-dynamics 0..{int(graph.group.max(initial=-1))} with at least one path, "
            f"got {q}; number the groups without gaps."
        )
    lengths = graph.lengths[paths]
    nodes = np.concatenate([graph.path(int(k)) for k in paths])
    found = joined_spectrum(lengths, join, masses, min(count, len(nodes)))
    return Spectrum(nodes, found.eigenvalues, found.eigenvectors)


def joined_laplacian(lengths: IntArray, join: Join, masses: Masses) -> tuple[sp.csr_array, FloatArray]:
    """L (sparse) and the node masses of L u = lambda M u, for oracles and for solvers that want matrices.

    Parameters
    ----------
    lengths : (K,) int array
        Nodes of every path.
    join : Join
        How their ends are joined.
    masses : Masses
        How lengths are weighed.

    Returns
    -------
    L, M : sparse array, (n,) array

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> L, M = ew.spectral.joined_laplacian(np.array([2, 2]), ew.graphs.Clique(), ew.spectral.UnitMasses())
    >>> float(L.toarray().sum())
    0.0
    """
    lengths = _path_lengths(lengths)
    weights = masses.weigh(lengths, join)
    total, last = int(lengths.sum()), np.cumsum(lengths) - 1
    start = np.setdiff1d(np.arange(total), last, assume_unique=True)
    hub = join.edges(last)
    i, j = np.concatenate([start, hub[:, 0]]), np.concatenate([start + 1, hub[:, 1]])
    w = np.concatenate([np.repeat(weights.edge, lengths - 1), np.ones(len(hub))])
    half = sp.coo_array((w, (i, j)), shape=(total, total))
    return laplacian(sp.csr_array(half + half.T)), np.repeat(weights.node, lengths)


def embedding(
    graph: PathGraph, q: int, join: Join | None = None, masses: Masses | None = None, dimension: int = 2
) -> tuple[IntArray, FloatArray]:
    """Nodes of sub-dynamics q and their coordinates (n_nodes, dimension): u_2, u_3, ... of its spectrum.

    With ExactMasses (the default) the paths are straight lines through the origin for any lengths: in the
    plane with the cycle, in all K - 1 dimensions with the clique (the default). The first two coordinates
    place the paths around the attractor in the order in which the graph lists them.

    Parameters
    ----------
    graph : PathGraph
        Grouped paths.
    q : int
        The sub-dynamics.
    join, masses : Join, Masses, optional
        Clique() and ExactMasses() where left out.
    dimension : int
        1 to K - 1 for K paths.

    Returns
    -------
    nodes, u : (n,) int array, (n, dimension) array

    Raises
    ------
    ValueError
        For more dimensions than the paths span.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> nodes, u = ew.spectral.embedding(found.graph, 0)
    >>> u.shape
    (603, 2)
    """
    k = len(graph.paths_of(q))
    if not 1 <= dimension <= max(k - 1, 1):
        raise ValueError(
            f"dimension: expected 1 to {max(k - 1, 1)} for the {k} paths of sub-dynamics {q} (K paths span "
            f"K - 1 dimensions), got {dimension}; ask for fewer dimensions or give more trajectories."
        )
    found = group_spectrum(graph, q, join or Clique(), masses or ExactMasses(), dimension + 1)
    return found.nodes, found.eigenvectors[:, 1:]


def linearity(u: FloatArray, offsets: IntArray) -> FloatArray:
    """R^2 of each path to the best line through its own points, 1 - residual / total sum of squares.

    Path k is u[offsets[k]:offsets[k + 1]]. A path without extent is a line.

    Parameters
    ----------
    u : (n, m) array
        Embedding, path after path.
    offsets : (K + 1,) int array
        Path k is u[offsets[k]:offsets[k + 1]].

    Returns
    -------
    (K,) array
        1 for a line.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.spectral import linearity
    >>> linearity(np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]), np.array([0, 3])).round(9)
    array([1.])
    """
    r2 = np.ones(len(offsets) - 1)
    for k, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        centred = u[start:stop] - u[start:stop].mean(axis=0)
        spread = np.linalg.eigvalsh(centred.T @ centred)
        if spread.sum() > 0:
            r2[k] = spread[-1] / spread.sum()
    return r2
