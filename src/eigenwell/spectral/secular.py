"""Eigenpairs of K paths joined at their terminals: a K x K problem, then O(M) to fill the vectors.

On path k (edge weight w_k, node mass m_k) an eigenvector of L u = lambda M u obeys Lem. recursion,
whose solution is u_n = a_k p_n with

    p_n = cos((n - 1/2) theta_k),    lambda = (w_k / m_k) 4 sin^2(theta_k / 2),

the paper's Eq. chebyshev_poly2 up to the factor cos(theta/2). Continued one node past the terminal it
leaves one equation per terminal, t_k = a_k p_N and flux a_k w_k (p_N - p_{N+1}):

    (L_J - diag f_k(lambda)) t = 0,    f_k = H_k / C_k,    C_k = p_N,    H_k = w_k (p_N - p_{N+1}),

with L_J the Laplacian of the join. Eliminating the path interiors is a congruence, so by Sylvester the
number of eigenvalues below lambda is the number of poles of the f_k below lambda (the eigenvalues of
the paths with their terminal held, theta = (2i - 1) pi / (2 N_k - 1)) plus the number of negative
eigenvalues of L_J - diag f. That count brackets every eigenvalue, multiple ones and those at poles too.
The unknown is z = sqrt(lambda): lambda itself would lose half the digits of a long path's small theta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import elementwise

from .._types import BoolArray, FloatArray, IntArray
from ..graphs import Join
from .joins import DenseHub, DiagonalHub, join_eigenvalues, join_laplacian, join_modes
from .masses import Weights

# Two roots closer than this, relative to z, are one multiple eigenvalue as far as vectors are concerned.
_SAME = 1e-10
# Neighbours closer than this are orthogonalised against each other.
_NEAR = 1e-4


@dataclass(frozen=True)
class _Wave:
    """p_n on every path at one z. Three forms meet: theta near 0, theta = pi - beta, and lambda past 4 w/m,
    where theta = pi + i eta and p_n grows towards the terminal. `rate` is theta, beta or eta."""

    rate: FloatArray
    high: BoolArray
    past: BoolArray

    @staticmethod
    def at(z: FloatArray, omega: FloatArray) -> _Wave:
        """z (...,) and omega = sqrt(w / m), (K,) -> rates (..., K)."""
        s = z[..., None] / (2.0 * omega)  # sin(theta / 2)
        high, past = s > np.sqrt(0.5), s > 1.0
        if not high.any():
            return _Wave(2.0 * np.arcsin(s), high, past)
        rest = np.sqrt(np.abs((1.0 - s) * (1.0 + s)))  # |cos(theta / 2)|
        # At theta = pi exactly all p_n vanish together; a hair beside it only their ratio remains.
        near_pi = np.maximum(2.0 * np.where(past, np.arcsinh(rest), np.arcsin(np.minimum(rest, 1.0))), 1e-8)
        return _Wave(np.where(high, near_pi, 2.0 * np.arcsin(np.minimum(s, 1.0))), high, past)

    def ends(self, n: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """C, H and the number of poles passed on each path."""
        a = self.rate
        phi = (n - 0.5) * a
        c, h = np.cos(phi), 2 * np.sin(n * a) * np.sin(a / 2)
        turns = phi / np.pi + 0.5
        if self.high.any():
            c = np.where(self.high, np.sin(phi), c)
            h = np.where(self.high, 2 * np.sin(n * a) * np.cos(a / 2), h)
            turns = np.where(self.high, n - phi / np.pi, turns)
        if self.past.any():
            at_end = -np.expm1(-2 * phi)
            next_up = -np.exp(a) * np.expm1(-(2 * n + 1) * a)
            c, h = np.where(self.past, at_end, c), np.where(self.past, at_end + next_up, h)
            turns = np.where(self.past, n, turns)
        return c, w * h, np.clip(np.floor(turns), 0, n - 1)

    def fill(self, n: IntArray) -> FloatArray:
        """p along all nodes, path after path; the rates here are (K,)."""
        if not self.high.any() and n.mean() > 256:
            return np.concatenate([_cosines(*path) for path in zip(n.tolist(), self.rate.tolist(), strict=True)])
        position = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + 0.5
        rate = np.repeat(self.rate, n)
        if not self.high.any():
            wave: FloatArray = np.cos(position * rate)
            return wave
        last = np.repeat(n - 0.5, n)
        alternating = np.where((last - position) % 2 == 0, 1.0, -1.0)
        growing = np.exp((position - last) * rate) * -np.expm1(-2 * position * rate)
        reflected = alternating * np.where(np.repeat(self.past, n), growing, np.sin(position * rate))
        return np.where(np.repeat(self.high, n), reflected, np.cos(position * rate))


def _cosines(n: int, theta: float) -> FloatArray:
    """cos((i - 1/2) theta), i = 1..n, from 4 sqrt(n) cosines and sines by the addition theorem.

    A cosine per node would be most of the cost of a long path.
    """
    block = math.isqrt(n) + 1
    coarse, fine = (np.arange(0, n, block) + 0.5) * theta, np.arange(block) * theta
    wave: FloatArray = np.multiply.outer(np.cos(coarse), np.cos(fine))
    wave -= np.multiply.outer(np.sin(coarse), np.sin(fine))
    return wave.ravel()[:n]


@dataclass(frozen=True)
class JoinedPaths:
    """K weighted paths and their join: everything the secular problem needs."""

    lengths: IntArray
    join: Join
    weights: Weights

    def eigenpairs(self, count: int) -> tuple[FloatArray, FloatArray]:
        """The `count` lowest eigenpairs of L u = lambda M u: (count,), (sum N_k, count).

        Nodes are ordered path after path, first node to terminal. Eigenvectors are M-orthonormal, and
        bases of multiple eigenspaces follow `canonical_basis`.
        """
        total = int(self.lengths.sum())
        if not 1 <= count <= total:
            raise ValueError(
                f"count: expected 1 to {total}, the number of nodes, got {count}; ask for fewer eigenpairs."
            )
        z, tuned = np.zeros(count), self._tuned
        z[1 : 1 + tuned] = self.weights.resonance or 0.0
        wanted = np.arange(1 + tuned, count)
        if len(wanted):
            z[wanted] = self._roots(wanted)
        vectors = np.empty((total, count), order="F")
        vectors[:, 0] = 1.0 / np.sqrt(np.sum(self.weights.node * self.lengths))
        for start, stop in _runs(z, _SAME):
            self._fill_eigenspace(float(z[start:stop].mean()), start, vectors[:, start:stop])
        for start, stop in _runs(z, _NEAR):
            if stop - start > 1:
                self._orthonormalise(vectors[:, start:stop])
        return z**2, vectors

    def _orthonormalise(self, u: FloatArray) -> None:
        """Neighbours solved one by one are orthogonal only to eps / gap; restore the digits, in place."""
        gram = u.T @ (np.repeat(self.weights.node, self.lengths)[:, None] * u)
        if np.max(np.abs(gram - np.eye(len(gram)))) > 1e-12:
            u[:] = solve_triangular(np.linalg.cholesky(gram), u.T, lower=True).T

    @cached_property
    def _hub(self) -> DiagonalHub | DenseHub:
        k = len(self.lengths)
        if all(np.all(a == a[0]) for a in (self.lengths, self.weights.edge, self.weights.node)):
            return self._alike
        return DenseHub(join_laplacian(self.join, k))

    @property
    def _alike(self) -> DiagonalHub:
        k = len(self.lengths)
        return DiagonalHub(join_eigenvalues(self.join, k), join_modes(self.join, k))

    @property
    def _tuned(self) -> int:
        """How many eigenvalues the weights were made to bring together."""
        if self.weights.resonance is None:
            return 0
        mu = join_eigenvalues(self.join, len(self.lengths))
        return int(np.sum(np.isclose(mu, mu[1], rtol=1e-9)))

    @cached_property
    def _omega(self) -> FloatArray:
        return np.sqrt(self.weights.edge / self.weights.node)

    def _ends(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return _Wave.at(z, self._omega).ends(self.lengths.astype(np.float64), self.weights.edge)

    def count_below(self, z: float) -> int:
        """Number of eigenvalues below z^2."""
        c, h, poles = self._ends(np.array(z))
        return int(poles.sum()) + self._hub.negative(c, h)

    def _curve(self, z: FloatArray, j: IntArray) -> FloatArray:
        """Continuous in z, positive before and negative after the j-th eigenvalue (from 0)."""
        c, h, poles = self._ends(z)
        i = j - poles.sum(axis=-1).astype(np.intp)
        value = np.where(i < 0, -1.0, 1.0)
        inside = (i >= 0) & (i < len(self.lengths))
        if inside.any():
            value[inside] = self._hub.eigenvalue(c[inside], h[inside], i[inside])
        return value

    def _roots(self, j: IntArray) -> FloatArray:
        """z of the j-th eigenvalues, each between the two poles that must enclose it."""
        k, n, w = len(self.lengths), self.lengths, self.weights
        order = np.arange(1, min(int(j.max()) + 1, int(n.max()) - 1) + 1)
        held = 2 * self._omega * np.sin((2 * order[:, None] - 1) * np.pi / (2 * (2 * n - 1)))
        held = np.sort(held[order[:, None] < n])
        degree = np.bincount(self.join.edges(np.arange(k, dtype=np.intp)).ravel(), minlength=k)
        gershgorin = 1.01 * np.sqrt(2 * np.max((2 * w.edge + degree) / w.node))
        # At most K eigenvalues more than poles, at least as many: the pole list brackets each eigenvalue.
        # A root may sit on a pole, hence the hair's breadth.
        upper = np.append(held * (1 + 1e-9), np.full(max(int(j.max()) + 1 - len(held), 0), gershgorin))[j]
        lower = np.where(j >= k, np.append(held, gershgorin)[np.clip(j - k, 0, len(held))] * (1 - 1e-9), 0.0)
        tight = {"xatol": 0.0, "xrtol": 4 * np.finfo(float).eps, "fatol": 0.0, "frtol": 0.0}
        found = elementwise.find_root(self._curve, (lower, upper), args=(j,), tolerances=tight, maxiter=200)
        if not np.all(found.success):
            raise ArithmeticError(
                f"secular roots: expected all of {len(j)} bracketed, {int(np.sum(~found.success))} were not; "
                "this is a defect, please report the path lengths."
            )
        return np.asarray(found.x)

    def _fill_eigenspace(self, z: float, start: int, out: FloatArray) -> None:
        """Eigenvectors from `start` on that share the eigenvalue z^2, perhaps with others not asked for."""
        stop = start + out.shape[1]
        wave = _Wave.at(np.array(z), self._omega)
        c, h, poles = wave.ends(self.lengths.astype(np.float64), self.weights.edge)
        if start <= self._tuned:
            below, (t, flux) = 1, self._alike.null(c, h, 1, self._tuned)
        else:
            below = min(self.count_below(z * (1 - _SAME)), start)
            r = max(self.count_below(z * (1 + _SAME)), stop) - below
            t, flux = self._hub.null(c, h, below - int(poles.sum()), r)
        t, flux = t[:, : stop - below], flux[:, : stop - below]
        # t = a C and flux = a H: divide by the larger, for either may vanish.
        amplitude = np.where((np.abs(h) > np.abs(c))[:, None], flux / _nonzero(h), t / _nonzero(c))
        p = wave.fill(self.lengths)
        norm = np.sqrt(self.weights.node * np.add.reduceat(p * p, np.cumsum(self.lengths) - self.lengths))
        q, r_factor = np.linalg.qr(norm[:, None] * amplitude)
        amplitude = (q * np.copysign(1.0, np.diag(r_factor)) / norm[:, None])[:, start - below :]
        for u, a in zip(out.T, amplitude.T, strict=True):
            np.multiply(p, np.repeat(a, self.lengths), out=u)


def _runs(z: FloatArray, tolerance: float) -> list[tuple[int, int]]:
    """Index ranges [start, stop) of neighbours closer than the tolerance, the zero eigenvalue left out."""
    breaks = np.flatnonzero(np.diff(z[1:]) > tolerance * z[1:-1]) + 2
    bounds = [1, *breaks.tolist(), len(z)]
    return [(a, b) for a, b in pairwise(bounds) if a < b]


def _nonzero(a: FloatArray) -> FloatArray:
    return np.where(a == 0, 1.0, a)[:, None]
