"""Bottom of the Laplacian spectrum of every sub-dynamics, and the embedding it gives.

Joined paths are solved in closed form (`secular`); any other graph by ARPACK, component by component.
The number of sub-dynamics is the number of connected components, never a count of small eigenvalues:
lambda_2 ~ (pi / 2N)^2 is tiny without being zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg

from .._types import BoolArray, FloatArray, IntArray
from ..graphs import Clique, Graph, Join, PathGraph
from .masses import ExactMasses, Masses
from .secular import JoinedPaths

# Below this many nodes a dense solve is both faster and exact about multiplicities.
_DENSE_UP_TO = 400


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
    >>> s = ew.spectral.joined_spectrum(np.array([5, 5, 5]), ew.Clique(), ew.spectral.ExactMasses(), 3)
    >>> s.eigenvectors.shape
    (15, 3)
    """

    nodes: IntArray
    eigenvalues: FloatArray
    eigenvectors: FloatArray


# --- joined paths -------------------------------------------------------------------------------------


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
    >>> s = ew.spectral.joined_spectrum(np.array([9, 5, 7]), ew.Clique(), ew.spectral.ExactMasses(), 3)
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


def joined_spectra(graph: PathGraph, join: Join, masses: Masses, count: int) -> tuple[Spectrum, ...]:
    """One Spectrum per sub-dynamics q = 0..Q-1, of `count` eigenpairs or of all where there are fewer.

    Parameters
    ----------
    graph : PathGraph
        Grouped paths.
    join : Join
        How their ends are joined.
    masses : Masses
        How lengths are weighed.
    count : int
        Eigenpairs of every sub-dynamics.

    Returns
    -------
    tuple of Spectrum

    Raises
    ------
    ValueError
        For a sub-dynamics without paths.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> len(ew.spectral.joined_spectra(found.graph, ew.Clique(), ew.spectral.ExactMasses(), 4))
    2
    """
    n_groups = int(graph.group.max(initial=-1)) + 1
    return tuple(_group_spectrum(graph, q, join, masses, count) for q in range(n_groups))


def _group_spectrum(graph: PathGraph, q: int, join: Join, masses: Masses, count: int) -> Spectrum:
    paths = graph.paths_of(q)
    if len(paths) == 0:
        raise ValueError(
            f"group: expected a sub-dynamics 0..{int(graph.group.max(initial=-1))} with at least one path, "
            f"got {q}; number the groups without gaps."
        )
    lengths = graph.lengths[paths]
    total = int(lengths.sum())
    # Positions in graph.nodes, path after path, without a Python loop over paths.
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    nodes = graph.nodes[np.repeat(graph.offsets[paths], lengths) + within]
    found = joined_spectrum(lengths, join, masses, min(count, total))
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
    >>> L, M = ew.spectral.joined_laplacian(np.array([2, 2]), ew.Clique(), ew.spectral.UnitMasses())
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
    return _laplacian(sp.csr_array(half + half.T)), np.repeat(weights.node, lengths)


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
    found = _group_spectrum(graph, q, join or Clique(), masses or ExactMasses(), dimension + 1)
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


# --- any graph ----------------------------------------------------------------------------------------


def graph_spectra(graph: Graph, count: int) -> tuple[Spectrum, ...]:
    """One Spectrum per connected component, by smallest node; fewer eigenpairs where a component is small.

    Signs are fixed: the entry of largest modulus (the first of ties) is positive.

    Parameters
    ----------
    graph : Graph
        Any graph.
    count : int
        Eigenpairs of every component, the constant one among them.

    Returns
    -------
    tuple of Spectrum

    Raises
    ------
    ValueError
        For fewer than one.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from eigenwell.graphs import Graph
    >>> from eigenwell.spectral import graph_spectra
    >>> path = Graph(sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))
    >>> graph_spectra(path, 3)[0].eigenvalues.round(9)
    array([0., 1., 3.])
    """
    if count < 1:
        raise ValueError(f"count: expected at least 1 eigenpair, got {count}; the first is the constant one.")
    n_components, labels = scipy.sparse.csgraph.connected_components(graph.adjacency, directed=False)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(n_components + 1))
    spectra = []
    for start, stop in zip(bounds[:-1], bounds[1:], strict=True):
        nodes = order[start:stop]
        adjacency = graph.adjacency[nodes][:, nodes]
        spectra.append(Spectrum(nodes, *_component_eigenpairs(adjacency, min(count, len(nodes)))))
    return tuple(sorted(spectra, key=lambda s: int(s.nodes[0])))


def _laplacian(adjacency: sp.csr_array) -> sp.csr_array:
    """L = D - A."""
    weights = adjacency.astype(np.float64)
    return sp.csr_array(sp.diags_array(weights.sum(axis=1)) - weights)


def _component_eigenpairs(adjacency: sp.csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    n = adjacency.shape[0]
    laplacian = _laplacian(adjacency)
    if n <= _DENSE_UP_TO or count >= n - 1:
        values, vectors = scipy.linalg.eigh(laplacian.toarray(), subset_by_index=[0, count - 1])
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = scipy.sparse.linalg.eigsh(
            laplacian.tocsc(), k=count, sigma=-_scale(laplacian, adjacency), which="LM", v0=start
        )
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    # A connected component's null vector is known; keep it free of rounding.
    values, vectors = np.maximum(values, 0.0), vectors * _signs(vectors)
    values[0], vectors[:, 0] = 0.0, 1.0 / np.sqrt(n)
    return values, vectors


def _scale(laplacian: sp.csr_array, adjacency: sp.csr_array) -> float:
    """A shift of the size of lambda_2: the Rayleigh quotient of the breadth-first order.

    Far below lambda_2 the shifted matrix is singular to rounding; far above, ARPACK converges slowly.
    """
    order = scipy.sparse.csgraph.breadth_first_order(adjacency, 0, directed=False, return_predecessors=False)
    far = scipy.sparse.csgraph.breadth_first_order(adjacency, int(order[-1]), directed=False, return_predecessors=False)
    rank = np.empty(len(far))
    rank[far] = np.arange(len(far)) - (len(far) - 1) / 2.0
    return float(rank @ (laplacian @ rank) / (rank @ rank))


def _signs(vectors: FloatArray) -> FloatArray:
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    signs: FloatArray = np.copysign(1.0, np.take_along_axis(vectors, first[None], axis=0)[0])
    return signs


# --- Alg. 1 -------------------------------------------------------------------------------------------


def null_vectors(graph: Graph) -> FloatArray:
    """(n, Q) indicator vectors c 1_q of the components: the null space in the basis that Alg. 1 needs.

    An eigensolver returns some rotation of this basis, in which every vector touches every component.

    Parameters
    ----------
    graph : Graph
        Any graph.

    Returns
    -------
    (n, Q) array

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from eigenwell.graphs import Graph
    >>> from eigenwell.spectral import null_vectors
    >>> null_vectors(Graph(sp.csr_array((3, 3)))).shape
    (3, 3)
    """
    n_components, labels = scipy.sparse.csgraph.connected_components(graph.adjacency, directed=False)
    indicator = (labels[:, None] == np.arange(n_components)).astype(np.float64)
    unit: FloatArray = indicator / np.linalg.norm(indicator, axis=0)
    return unit


def assign_eigenvectors(null: FloatArray, vectors: FloatArray, tol: float = 1e-8) -> BoolArray:
    """(Q, m): eigenvector i belongs to sub-dynamics q when 1^T (u_0^q o |u_i|) is not zero (Alg. 1).

    Zero means at most tol times |u_0^q|, the largest value the sum can take for a unit vector.

    Parameters
    ----------
    null : (n, Q) array
        Indicator vectors of the components.
    vectors : (n, m) array
        Unit eigenvectors.
    tol : float
        Below which a sum is zero.

    Returns
    -------
    (Q, m) bool array

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.spectral import assign_eigenvectors
    >>> assign_eigenvectors(np.eye(2), np.array([[1.0], [0.0]])).tolist()
    [[True], [False]]
    """
    overlap = np.abs(null).T @ np.abs(vectors)
    belongs: BoolArray = overlap > tol * np.linalg.norm(null, axis=0)[:, None]
    return belongs


def first_gap(eigenvalues: FloatArray, tol: float) -> int:
    """Alg. 1's stop, to the letter: non-zero eigenvalues up to the first step |l_{i+1} - l_i| > tol.

    `eigenvalues` ascend and start with the zero. tol has the scale of lambda, hence of 1 / N^2.

    Parameters
    ----------
    eigenvalues : (m,) array
        Ascending, the zero first.
    tol : float
        Has the scale of lambda, hence of 1 / N^2.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.spectral import first_gap
    >>> first_gap(np.array([0.0, 0.1, 0.1, 0.4]), 0.05)
    2
    """
    steps = np.diff(eigenvalues[1:])
    return int(np.argmax(steps > tol)) + 1 if np.any(steps > tol) else len(eigenvalues) - 1


def largest_gap(eigenvalues: FloatArray) -> int:
    """The same stop without a scale: non-zero eigenvalues below the largest ratio l_{i+1} / l_i.

    Parameters
    ----------
    eigenvalues : (m,) array
        Ascending, the zero first.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.spectral import largest_gap
    >>> largest_gap(np.array([0.0, 0.1, 0.11, 0.9]))
    2
    """
    nonzero = eigenvalues[1:]
    return int(np.argmax(nonzero[1:] / nonzero[:-1])) + 1 if len(nonzero) > 1 else len(nonzero)
