"""Weights that let paths of different lengths share one eigenvalue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from .._types import FloatArray, IntArray
from ..graphs import Join
from .joins import join_eigenvalues


@dataclass(frozen=True)
class Weights:
    """Edge weight w_k and node mass m_k of each path. Edges of the join always weigh 1.

    `resonance` is sqrt(lambda) where the weights were made so that all f_k agree there, else None.
    """

    edge: FloatArray
    node: FloatArray
    resonance: float | None = None


class Masses(Protocol):
    """How paths of different lengths are weighed against each other."""

    def weigh(self, lengths: IntArray, join: Join) -> Weights:
        """Edge weights and node masses of paths of some lengths.

        Parameters
        ----------
        lengths : (K,) int array
            Nodes of every path.
        join : Join
            How their ends are joined.

        Returns
        -------
        Weights
        """
        ...


@dataclass(frozen=True)
class UnitMasses(Masses):
    """w = m = 1: the paper's Laplacian. With unequal lengths eigenvalues split and lines bend.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.spectral.UnitMasses().weigh(np.array([10, 30]), ew.graphs.Clique()).edge
    array([1., 1.])
    """

    def weigh(self, lengths: IntArray, join: Join) -> Weights:
        return Weights(np.ones(len(lengths)), np.ones(len(lengths)))


@dataclass(frozen=True)
class ContinuumMasses(Masses):
    """w_k = N_k / N, m_k = N / N_k: every path becomes a string of one length in the continuum limit.

    N is the mean length: the total mass is then the number of nodes, as without masses, and equal
    lengths give back w = m = 1. The repeated eigenvalue is restored up to O(1/N_k).

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.spectral.ContinuumMasses().weigh(np.array([10, 30]), ew.graphs.Clique()).edge
    array([0.5, 1.5])
    """

    def weigh(self, lengths: IntArray, join: Join) -> Weights:
        ratio = lengths / np.mean(lengths)
        return Weights(ratio, 1.0 / ratio)


@dataclass(frozen=True)
class ExactMasses(Masses):
    """The discrete form of ContinuumMasses: the repeated eigenvalue is restored exactly, at any length.

    Let mu be the first non-zero eigenvalue of the join and theta the angle at which a path of the mean
    length N would resonate with it, f(theta) = mu at w = 1. Give every path the same phase up to its
    terminal, phi = (N - 1/2) theta = (N_k - 1/2) theta_k, and choose

        w_k = mu / (1 - cos theta_k + tan phi sin theta_k),    m_k = w_k sin^2(theta_k/2) / sin^2(theta/2).

    Then f_k = mu on every path at lambda = 4 sin^2(theta/2), the secular matrix is L_J - mu I, and lambda
    has the multiplicity of mu: 2 for the cycle, K - 1 for the clique. Since phi < pi/2 no pole lies below,
    so it is the first non-zero eigenvalue. w_k -> N_k / N and m_k -> N / N_k for long paths.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.spectral.ExactMasses().weigh(np.array([20, 20]), ew.graphs.Clique()).edge.round(9)
    array([1., 1.])
    """

    def weigh(self, lengths: IntArray, join: Join) -> Weights:
        k = len(lengths)
        if np.all(lengths == lengths[0]):
            return Weights(np.ones(k), np.ones(k))
        mu = join_eigenvalues(join, k)[1]
        n = float(np.mean(lengths))
        theta = brentq(
            lambda a: 2 * np.sin(n * a) * np.sin(a / 2) - mu * np.cos((n - 0.5) * a),
            0.0,
            np.pi / (2 * n - 1),
            xtol=1e-300,
            rtol=4 * np.finfo(float).eps,
        )
        theta_k = theta * (n - 0.5) / (lengths - 0.5)
        tan_phi = (mu - 2 * np.sin(theta / 2) ** 2) / np.sin(theta)
        edge = mu / (2 * np.sin(theta_k / 2) ** 2 + tan_phi * np.sin(theta_k))
        node = edge * (np.sin(theta_k / 2) / np.sin(theta / 2)) ** 2
        return Weights(edge, node, resonance=2 * np.sin(theta / 2))
