"""A spectrum as a picture shows it: as many eigenvalues as say where its gap is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .._types import FloatArray
from ..graphs import Clique, Graph, PathGraph
from .masses import ExactMasses
from .spectrum import Spectrum, joined_spectrum

BEYOND, MOST = 3, 40
"""Eigenvalues shown: as many as there are paths, which is where the gap is, and these beyond it; but no more than these."""


def eigenvalues(graph: Graph | PathGraph, spectra: Sequence[Spectrum], q: int) -> tuple[FloatArray, int]:
    """Eigenvalues of sub-dynamics q from the bottom, and how many lie below the widest gap, in ratio.

    Paths joined in a clique have one (K - 1)-fold eigenvalue above zero; the embedding needs its first two alone, and a picture
    all of them.
    """
    values = spectra[q].eigenvalues
    if isinstance(graph, PathGraph):
        values = _of_joined(tuple(graph.lengths[graph.paths_of(q)].tolist()))
    values = np.abs(values)
    above = np.maximum(values[1:], np.finfo(np.float64).tiny)
    return values, 2 + int(np.argmax(above[1:] / above[:-1])) if len(above) > 1 else len(values)


@lru_cache(maxsize=256)
def _of_joined(lengths: tuple[int, ...]) -> FloatArray:
    """They depend on the lengths alone: bundles to which a stroke adds nothing are not solved again."""
    return joined_spectrum(
        np.array(lengths), Clique(), ExactMasses(), min(len(lengths) + BEYOND, MOST, sum(lengths))
    ).eigenvalues
