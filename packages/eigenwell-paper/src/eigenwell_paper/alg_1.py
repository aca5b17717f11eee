"""The paper's Alg. 1: which eigenvectors of a whole graph belong to which sub-dynamics, and how many of them.

The library solves component by component, which gives the same and needs neither.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from eigenwell._types import BoolArray, FloatArray
from eigenwell.graphs import Graph


def null_vectors(graph: Graph) -> FloatArray:
    """(n, Q) indicator vectors c 1_q of the components: the null space in the basis that Alg. 1 needs.

    An eigensolver returns some rotation of this basis, in which every vector touches every component.
    """
    n_components, labels = connected_components(graph.adjacency, directed=False)
    indicator = (labels[:, None] == np.arange(n_components)).astype(np.float64)
    unit: FloatArray = indicator / np.linalg.norm(indicator, axis=0)
    return unit


def assign_eigenvectors(null: FloatArray, vectors: FloatArray, tol: float = 1e-8) -> BoolArray:
    """(Q, m): unit eigenvector i (n, m) belongs to sub-dynamics q when 1^T (u_0^q o |u_i|) is not zero.

    Zero means at most tol times |u_0^q|, the largest value the sum can take for a unit vector.
    """
    overlap = np.abs(null).T @ np.abs(vectors)
    belongs: BoolArray = overlap > tol * np.linalg.norm(null, axis=0)[:, None]
    return belongs


def largest_gap(eigenvalues: FloatArray) -> int:
    """The stop, without a scale to set: of ascending eigenvalues, the zero first, how many others lie below the largest
    ratio l_{i+1} / l_i."""
    nonzero = eigenvalues[1:]
    return int(np.argmax(nonzero[1:] / nonzero[:-1])) + 1 if len(nonzero) > 1 else len(nonzero)
