"""The spectrum of any graph, by ARPACK, component by component.

The number of sub-dynamics is the number of connected components, never a count of small eigenvalues:
lambda_2 ~ (pi / 2N)^2 is tiny without being zero.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg

from .._types import FloatArray
from ..graphs import Graph, laplacian
from .spectrum import Spectrum

# Below this many nodes a dense solve is both faster and exact about multiplicities.
_DENSE_UP_TO = 400


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


def _component_eigenpairs(adjacency: sp.csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    n = adjacency.shape[0]
    matrix = laplacian(adjacency)
    if n <= _DENSE_UP_TO or count >= n - 1:
        values, vectors = scipy.linalg.eigh(matrix.toarray(), subset_by_index=[0, count - 1])
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = scipy.sparse.linalg.eigsh(
            matrix.tocsc(), k=count, sigma=-_scale(matrix, adjacency), which="LM", v0=start
        )
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    # A connected component's null vector is known; keep it free of rounding.
    values, vectors = np.maximum(values, 0.0), vectors * _signs(vectors)
    values[0], vectors[:, 0] = 0.0, 1.0 / np.sqrt(n)
    return values, vectors


def _scale(matrix: sp.csr_array, adjacency: sp.csr_array) -> float:
    """A shift of the size of lambda_2: the Rayleigh quotient of the breadth-first order.

    Far below lambda_2 the shifted matrix is singular to rounding; far above, ARPACK converges slowly.
    """
    order = scipy.sparse.csgraph.breadth_first_order(adjacency, 0, directed=False, return_predecessors=False)
    far = scipy.sparse.csgraph.breadth_first_order(adjacency, int(order[-1]), directed=False, return_predecessors=False)
    rank = np.empty(len(far))
    rank[far] = np.arange(len(far)) - (len(far) - 1) / 2.0
    return float(rank @ (matrix @ rank) / (rank @ rank))


def _signs(vectors: FloatArray) -> FloatArray:
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    signs: FloatArray = np.copysign(1.0, np.take_along_axis(vectors, first[None], axis=0)[0])
    return signs
