"""Spectrum of a join, and the K x K matrix S = L_J - diag(H / C) of the secular problem.

A hub answers three questions about S, scaled to entries of order one by the congruence g = sqrt(|C| / (|C| + |H|)), which
keeps inertia and makes the poles C = 0 ordinary points:

    eigenvalue(c, h, i)        the i-th smallest; c, h are (n, K), i is (n,)
    negative(c, h)             how many are negative; c, h are (K,)
    null(c, h, first, r)       (t, L_J t), both (K, r): the r eigenvectors from the first-th on, which are null here
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from .._types import FloatArray, IntArray
from ..graphs import Clique, Cycle, Join


def fourier_basis(k: int) -> FloatArray:
    """Real Fourier modes on k points, orthonormal columns 1, cos 1, sin 1, cos 2, sin 2, ..."""
    column = np.arange(k)
    frequency = (column + 1) // 2
    angle = 2 * np.pi * np.outer(np.arange(k), frequency) / k
    basis = np.where(column % 2 == 1, np.cos(angle), np.where(column == 0, 1.0, np.sin(angle)))
    unit: FloatArray = basis / np.linalg.norm(basis, axis=0)
    return unit


def join_laplacian(join: Join, k: int) -> FloatArray:
    """L_J, dense (K, K)."""
    edges = join.edges(np.arange(k, dtype=np.intp))
    matrix = np.zeros((k, k))
    np.subtract.at(matrix, (edges[:, 0], edges[:, 1]), 1.0)
    matrix = matrix + matrix.T
    if connected_components(matrix, directed=False, return_labels=False) > 1:
        raise ValueError(
            f"join: expected edges that connect all {k} terminals, got {join!r} which leaves some apart; "
            "paths that share no attractor belong to different groups."
        )
    matrix[np.diag_indices(k)] -= matrix.sum(axis=1)
    return matrix


def join_eigenvalues(join: Join, k: int) -> FloatArray:
    """mu, the eigenvalues of L_J, ascending: 4 sin^2(pi f / K) for the cycle, K for the clique."""
    if isinstance(join, Clique):
        return np.where(np.arange(k) == 0, 0.0, float(k))
    if isinstance(join, Cycle):
        frequency = (np.arange(k) + 1) // 2
        # Two terminals share one edge, not the two of a ring.
        return np.asarray((2.0 if k == 2 else 4.0) * np.sin(np.pi * frequency / k) ** 2)
    return np.asarray(np.linalg.eigvalsh(join_laplacian(join, k)), dtype=np.float64)


def join_modes(join: Join, k: int) -> FloatArray:
    """Orthonormal eigenvectors of L_J in the same order: Fourier modes for cycle and clique."""
    if isinstance(join, Clique | Cycle):
        return fourier_basis(k)
    return np.asarray(np.linalg.eigh(join_laplacian(join, k)).eigenvectors, dtype=np.float64)


@dataclass(frozen=True)
class DiagonalHub:
    """All paths alike: S = L_J - f I keeps the eigenvectors of the join."""

    mu: FloatArray
    modes: FloatArray

    def eigenvalue(self, c: FloatArray, h: FloatArray, i: IntArray) -> FloatArray:
        c, h = c[:, 0], h[:, 0]
        value: FloatArray = np.copysign(1.0, c) * (self.mu[i] * c - h) / (np.abs(c) + np.abs(h))
        return value

    def negative(self, c: FloatArray, h: FloatArray) -> int:
        return int(np.sum(np.copysign(1.0, c[0]) * (self.mu * c[0] - h[0]) < 0))

    def null(self, c: FloatArray, h: FloatArray, first: int, r: int) -> tuple[FloatArray, FloatArray]:
        t = self.modes[:, first : first + r]
        return t, t * self.mu[first : first + r]


@dataclass(frozen=True)
class DenseHub:
    """Any join: dense symmetric K x K eigenproblems."""

    laplacian: FloatArray

    def _scaled(self, c: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = np.abs(c) + np.abs(h)
        g = np.sqrt(np.abs(c) / size)
        s = self.laplacian * g[..., :, None] * g[..., None, :]
        k = np.arange(c.shape[-1])
        s[..., k, k] -= np.copysign(1.0, c) * h / size
        return s, g

    def eigenvalue(self, c: FloatArray, h: FloatArray, i: IntArray) -> FloatArray:
        values = np.linalg.eigvalsh(self._scaled(c, h)[0])
        return np.asarray(np.take_along_axis(values, i[:, None], axis=1)[:, 0], dtype=np.float64)

    def negative(self, c: FloatArray, h: FloatArray) -> int:
        return int(np.sum(np.linalg.eigvalsh(self._scaled(c, h)[0]) < 0))

    def null(self, c: FloatArray, h: FloatArray, first: int, r: int) -> tuple[FloatArray, FloatArray]:
        s, g = self._scaled(c, h)
        values, y = np.linalg.eigh(s)
        # By size and not by index: at a pole, rounding decides on which side it was counted.
        null = np.argsort(np.abs(values), kind="stable")[:r]
        t = canonical_basis(g[:, None] * y[:, null])
        return t, self.laplacian @ t


def canonical_basis(span: FloatArray) -> FloatArray:
    """Orthonormal basis of span (K, r) that depends on the subspace only, not on how a solver returned it.

    Each vector is the projection of the first Fourier mode of the paths that is at least half as well
    represented as the best one. This settles signs and rotations, and for the cycle keeps the radial
    order of the paths.
    """
    q, _ = np.linalg.qr(span)
    fourier = fourier_basis(len(q))
    left = q.T @ fourier
    chosen: list[FloatArray] = []
    for _ in range(q.shape[1]):
        size = np.linalg.norm(left, axis=0)
        pick = int(np.argmax(size >= 0.5 * size.max()))
        vector = left[:, pick] / size[pick]
        chosen.append(vector)
        left = left - np.outer(vector, vector @ left)
    basis: FloatArray = q @ np.stack(chosen, axis=1)
    return basis
