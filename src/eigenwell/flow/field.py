"""An estimated field: an affine part, and blocks of components that share a kernel; and the coordinates it is estimated in, in
which samples have unit variance in every direction.

The kernel is k(x, z) = exp(-D / 2), D = (x - z)^T M (x - z), or (1 + D / 4)^-2, a mixture of such kernels of all lengths
(rational quadratic, alpha = 2) for fields that bend here and there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from dataclasses import field as part
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._types import FloatArray, IntArray

# Velocities are taken to be measured to four digits at best: what bends by less than this share of its variation is affine,
# and zeros nearer than this are one.
PRECISION = 1e-4
# In more dimensions than these the products of a kernel's evaluation cost as much as the rest of it.
MANY_DIMENSIONS = 4
# A call costs as much as so many evaluations for each of its kernels.
CALL = 8000


@dataclass(frozen=True, eq=False)
class Whitening:
    """Whitened coordinates: y = (x - centre) W with unit covariance; velocities turn to v W. `beside` (d,): standard deviation of
    what is left out."""

    centre: FloatArray
    forward: FloatArray  # (d, r)
    backward: FloatArray  # (r, d)
    beside: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> Whitening:
        centre = x.mean(axis=0)
        scale = x.std(axis=0)
        moving = scale > 0
        unit = np.where(moving, scale, 1.0)
        values, vectors = np.linalg.eigh(np.cov((x - centre).T / unit[:, None]).reshape(len(scale), -1))
        kept = values > 1e-10 * values.max()
        root = np.sqrt(values[kept])
        return cls(
            centre, vectors[:, kept] / unit[:, None] / root, (vectors[:, kept] * unit[:, None] * root).T, 0 * scale
        )

    def seen_along(self, directions: FloatArray, y: FloatArray) -> Whitening:
        """The frame of the projections y D, whitened; what is left out is put at its mean given those."""
        c = y @ directions
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(c.T)))
        turn = directions @ (vectors / np.sqrt(values))
        back = np.linalg.lstsq(y @ turn, y, rcond=None)[0]
        beside = ((y - y @ turn @ back) @ self.backward).std(axis=0)
        return Whitening(self.centre, self.forward @ turn, back @ self.backward, beside)

    def enter(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - self.centre) @ self.forward)

    def leave(self, y: FloatArray) -> FloatArray:
        return np.asarray(y @ self.backward + self.centre)


def spread_out(x: FloatArray, count: int) -> IntArray:
    """Numbers of `count` samples far from each other: each the farthest from those before it, the first from the mean."""
    chosen = [int(((x - x.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    gap = np.full(len(x), np.inf)
    while len(chosen) < min(count, len(x)):
        np.minimum(gap, ((x - x[chosen[-1]]) ** 2).sum(axis=1), out=gap)
        chosen.append(int(gap.argmax()))
    return np.array(chosen, dtype=np.intp)


@dataclass(eq=False)
class Work:
    """Kernel evaluations `left` to all fields that share this: a bound that is the same on every machine."""

    left: float = np.inf

    @property
    def over(self) -> bool:
        return self.left <= 0


class Kernel(NamedTuple):
    """tail: 1 / alpha, 0 for the Gaussian; metric (r, k): M = T T^T; length: in standard deviations of the data."""

    tail: float
    metric: FloatArray
    length: float

    def __call__(self, a: FloatArray, b: FloatArray) -> FloatArray:
        return radial(a @ self.metric, b @ self.metric, self.tail)


def radial(a: FloatArray, b: FloatArray, tail: float) -> FloatArray:
    """k = (1 + tail D / 2)^(-1 / tail), D = |a_i - b_j|^2, or its limit exp(-D / 2) at tail 0; dk / d(-D / 2) = k^(1 + tail)."""
    return lifted_radial(a, lifted(b, tail), tail)


def lifted(z: FloatArray, tail: float) -> FloatArray:
    """(k + 2, m) Z with (u, |u|^2 / 2, 1) Z = -D / 2, or 1 + tail D / 2: all that is not a power, in one product."""
    rows = np.vstack([z.T, -np.ones(len(z)), -0.5 * (z**2).sum(axis=1)])
    if tail:
        rows *= -tail
        rows[-1] += 1
    return rows


def lifted_radial(u: FloatArray, lift: FloatArray, tail: float) -> FloatArray:
    """`radial` of u and the places that were lifted."""
    k = u.shape[1]
    a = np.empty((len(u), k + 2))
    a[:, :k], a[:, k], a[:, k + 1] = u, 0.5 * (u * u).sum(axis=1), 1.0
    e = a @ lift
    if tail == 0:
        return np.asarray(np.exp(e, out=e))
    return np.asarray(np.reciprocal(e, out=e) ** round(1 / tail))


@dataclass(frozen=True, eq=False)
class Block:
    """Components of the velocities that one kernel explains.

    kernel      with its metric and length
    inducing    (m, r)
    features    (m, m') from kernel values to features of unit prior variance
    weights     (m', k) of the features in every component, in units of its noise
    basis, e    (m', m'), (m',) the features' eigenvectors on the samples, and their eigenvalues
    ratios      (k,) noise ratio of every component: feature j has there the posterior variance 1 / (e_j + lambda_k)
    affine_phi  (r + 1, m') affine part of each feature
    """

    kernel: Kernel
    inducing: FloatArray
    features: FloatArray
    weights: FloatArray
    basis: FloatArray
    e: FloatArray
    ratios: FloatArray
    affine_phi: FloatArray

    def phi(self, x: FloatArray) -> FloatArray:
        """(n, m') the features at x."""
        return np.asarray(self.kernel(x, self.inducing) @ self.features)

    def bent(self, x: FloatArray, h: FloatArray) -> FloatArray:
        """(n, m') the features without their affine part, in their eigenvectors; h = (1, x)."""
        return np.asarray((self.phi(x) - h @ self.affine_phi) @ self.basis)

    def variance(self, bent: FloatArray) -> FloatArray:
        """(n, k) posterior variance of every component, in units of its noise, where the features are `bent`."""
        return np.asarray(bent**2 @ (1 / (self.e[:, None] + self.ratios)))


@dataclass(frozen=True, eq=False)
class FlowField:
    """An estimated field in whitened coordinates: f(x) = (1, x) B + sum over blocks of k(x, z) c.

    affine      (r + 1, r) rows: constant, then x
    outputs     (r, r) from velocities to components that are independent of each other, with noise of unit variance
    blocks      one after the other, the components
    flat        inverse of H^T H, H = (1, x) of the samples
    held        (p,) values of the last coordinates, where these do not move: x then has only those that do
    work        what it was asked, together with its replicates
    """

    affine: FloatArray
    outputs: FloatArray
    blocks: tuple[Block, ...]
    flat: FloatArray
    held: FloatArray = part(default_factory=lambda: np.empty(0), kw_only=True)
    work: Work = part(default_factory=Work, kw_only=True)

    @cached_property
    def columns(self) -> list[tuple[Block, slice]]:
        """Every block, and where its components are among all."""
        ends = np.cumsum([len(b.ratios) for b in self.blocks])
        return [(b, slice(end - len(b.ratios), end)) for b, end in zip(self.blocks, ends, strict=True)]

    @cached_property
    def size(self) -> int:
        """Kernel evaluations for one state."""
        return sum(len(b.inducing) for b in self.blocks)

    def _count(self, states: int, products: int) -> None:
        self.work.left -= states * self.size * (1 + products // MANY_DIMENSIONS**2) + CALL * len(self.blocks)

    @cached_property
    def back(self) -> FloatArray:
        """(r, r) from components to velocities."""
        return np.asarray(np.linalg.inv(self.outputs))

    @cached_property
    def _terms(self) -> list[tuple[Kernel, FloatArray, FloatArray, FloatArray]]:
        """Of every block: kernel, places in its metric, these lifted, and the coefficients of the velocities."""
        terms = []
        for b, mine in self.columns:
            z = b.inducing @ b.kernel.metric
            c = b.features @ b.weights @ self.back[mine]
            terms.append((b.kernel, z, lifted(z, b.kernel.tail), c))
        return terms

    def _whole(self, x: FloatArray) -> FloatArray:
        """x with the coordinates that are held."""
        return np.column_stack([x, np.tile(self.held, (len(x), 1))]) if len(self.held) else x

    def __call__(self, x: FloatArray) -> FloatArray:
        self._count(len(x), x.shape[1])
        x = self._whole(x)
        f = x @ self.affine[1:] + self.affine[0]
        for kernel, _, lift, c in self._terms:
            f += lifted_radial(x @ kernel.metric, lift, kernel.tail) @ c
        return np.asarray(f)

    def jacobian(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """f (n, r) and J (n, r, r), J[i, a, b] = d f_a / d x_b."""
        moving = x.shape[1]
        self._count(len(x), moving**2)
        x = self._whole(x)
        f = x @ self.affine[1:] + self.affine[0]
        slopes = np.repeat(self.affine[1:].T[None], len(x), axis=0)
        for kernel, z, lift, c in self._terms:
            u = x @ kernel.metric
            k = lifted_radial(u, lift, kernel.tail)
            f += k @ c
            if kernel.tail:
                k **= 1 + kernel.tail
            # grad k = -slope T (u - z), summed over the inducing samples with weights c.
            total = (k @ np.hstack([c, (c[:, :, None] * z[:, None]).reshape(len(z), -1)])).reshape(len(x), -1)
            d = c.shape[1]
            gradient = total[:, d:].reshape(len(x), d, -1) - total[:, :d, None] * u[:, None]
            slopes += gradient @ kernel.metric.T
        return np.asarray(f), slopes[:, :, :moving]

    def bent_jacobian(self, x: FloatArray) -> FloatArray:
        """(n, r, r) of the part that is not affine."""
        return np.asarray(self.jacobian(x)[1] - self.affine[1:].T)

    @cached_property
    def ratios(self) -> FloatArray:
        """(r,) noise ratio of every component."""
        return np.concatenate([b.ratios for b in self.blocks])

    @property
    def length(self) -> float:
        """The shortest kernel length."""
        return min(b.kernel.length for b in self.blocks)

    @property
    def sharpest(self) -> float:
        """One over the shortest distance on which a kernel changes, in standard deviations of the data."""
        return max(float(np.linalg.norm(b.kernel.metric[: len(self.outputs)], 2)) for b in self.blocks)

    def covariance(self, x: FloatArray) -> FloatArray:
        """(n, r, r) posterior covariance of the field at x."""
        x = self._whole(x)
        h = np.column_stack([np.ones(len(x)), x])
        variance = self.variance(h, [b.bent(x, h) for b in self.blocks])
        return np.asarray(np.einsum("ka,nk,kb->nab", self.back, variance, self.back))

    def variance(self, h: FloatArray, bent: list[FloatArray]) -> FloatArray:
        """(n, r) posterior variance of every component in units of its noise, at a sample its leverage; h = (1, x), and the
        bent features of every block there."""
        of_blocks = np.hstack([b.variance(f) for b, f in zip(self.blocks, bent, strict=True)])
        return np.asarray(of_blocks + ((h @ self.flat) * h).sum(axis=1)[:, None])

    def moved(self, affine: FloatArray, weights: list[FloatArray]) -> FlowField:
        """The field with other coefficients, those of every block."""
        blocks = tuple(replace(b, weights=w) for b, w in zip(self.blocks, weights, strict=True))
        return replace(self, affine=affine, blocks=blocks)

    def plus(self, affine: FloatArray, bent: list[FloatArray]) -> FlowField:
        """With more of every component: so much of (1, x), and of every block's features as `Block.bent` has them."""
        affine, weights = np.array(affine), []
        for (block, mine), more in zip(self.columns, bent, strict=True):
            more = block.basis @ more
            affine[:, mine] -= block.affine_phi @ more
            weights.append(block.weights + more)
        return self.moved(self.affine + affine @ self.back, weights)


def left_out_errors(field: FlowField, y: FloatArray, v: FloatArray) -> FloatArray:
    """(n, r) by how much each velocity differs from what the field would be without its sample: residuals over 1 - leverage."""
    h = np.column_stack([np.ones(len(y)), y])
    leverage = field.variance(h, [b.bent(y, h) for b in field.blocks])
    return np.asarray((v - field(y)) @ field.outputs / np.maximum(1 - leverage, np.finfo(np.float64).eps) @ field.back)


def blend(a: FlowField, b: FlowField, share: float) -> FlowField:
    """The field `share` of the way from a to b, which has the same kernels."""
    weights = [p.weights + share * (q.weights - p.weights) for p, q in zip(a.blocks, b.blocks, strict=True)]
    return a.moved(a.affine + share * (b.affine - a.affine), weights)
