"""The field between the samples: v = B (1, x) + sum_j k(x, z_j) c_j + noise, a Gaussian process on inducing samples.

B has a flat prior, so that what is affine costs nothing and rules where there are no samples. Kernel, metric M and noise
ratio lambda = sigma^2 / s^2 maximise the restricted likelihood (REML)

    -2 log p = (n - p) log det R(lambda) / (n - p) + d [sum_j log(e_j + lambda) + (n - p - m) log lambda],

R = (Y^T Y - g^T diag(1 / (e + lambda)) g) / lambda, e the eigenvalues of the features' Gram matrix after the affine part
is projected out, g the data in its eigenvectors. Either all velocities have one kernel, or each of some combinations v O
has its own, which adds -2 (n - p) log |det O|. The prior of its kernel's length is
log-normal about the spread of the data, within which anything that has more than one attractor must bend.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from .._types import FloatArray, IntArray
from .field import MANY_DIMENSIONS, PRECISION, Block, FlowField, Kernel, radial
from .integration import ASKED
from .steering import (
    RATIOS,
    SHORTEST,
    SPREAD,
    fewest_steering,
    relevant_metric,
    sliced_metric,
    steering_metric,
)

# Samples that choose metric and noise, the most inducing samples, and those used while choosing: beyond these the choice
# no longer changes, only its cost.
CHOOSING, INDUCING = 1500, 600
INDUCING_CHOOSING = 2 * INDUCING // 3
# Lengths tried, in standard deviations of the data: from the finest that a few hundred samples can show to nearly affine;
# and those tried about the best one in another metric.
LENGTHS, NEARBY = np.geomspace(SHORTEST, 4.0, 10), np.geomspace(0.5, 2.0, 5)
NEAREST = np.geomspace(0.6, 1 / 0.6, 3)
# Kernels tried: the Gaussian, and one that has all lengths.
TAIL = 0.5
TAILS = (0.0, TAIL)
# A kernel this much less likely (-2 log) has no say, nor have shorter lengths.
HOPELESS = 20.0
# Prior variance that inducing samples may leave unexplained, as a share of the noise, and of all at most.
UNEXPLAINED = 1e-2
# Directions of features with less than this share of the largest variance are rounding error.
RANK = INDUCING * np.finfo(np.float64).eps
# With more samples than these one kernel sees as much, and what the components leave out would outweigh their noise: the
# samples that choose do not show it.
FEW = 2 * CHOOSING
# Fields drawn from all that were tried, as they are likely.
FIELDS = 16


def pivots(u: FloatArray, count: int, unexplained: float, tail: float = 0.0) -> IntArray:
    """Samples that represent the kernel on all of u: pivoted Cholesky, the least explained sample next.

    Stops at `count`, or when no sample has more than `unexplained` of its prior variance left.
    """
    count = min(count, len(u))
    left = np.ones(len(u))
    rows = np.empty((count, len(u)))
    chosen: list[int] = []
    at = int((u**2).sum(axis=1).argmin())
    for k in range(count):
        chosen.append(at)
        row = radial(u, u[[at]], tail)[:, 0]
        row -= rows[:k, at] @ rows[:k]
        row /= np.sqrt(left[at])
        rows[k] = row
        left -= row**2
        left[at] = 0.0
        at = int(left.argmax())
        if left[at] <= max(unexplained, RANK):
            break
    return np.array(chosen, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class _Fit:
    """What a kernel and its inducing samples z make of the samples: eigenvalues e and data g in the features' eigenvectors,
    the affine part projected out; the likeliest noise ratio and -2 log of its likelihood."""

    kernel: Kernel
    z: FloatArray
    features: FloatArray
    n: int
    basis: FloatArray  # (m', m') eigenvectors
    e: FloatArray
    g: FloatArray
    total: FloatArray  # (k, k) Y^T Y after the affine part
    affine_y: FloatArray  # (r + 1, k) affine part of Y
    affine_phi: FloatArray  # (r + 1, m') affine part of the features
    flat: FloatArray  # inverse of H^T H
    ratio: float
    score: float

    @property
    def free(self) -> int:
        return self.n - len(self.affine_y)

    def noise(self, ratio: float) -> FloatArray:
        """(k, k) covariance of the noise."""
        r = self.total - self.g.T @ (self.g / (self.e + ratio)[:, None])
        return (r + r.T) / (2 * self.free)

    def block(self, weights: FloatArray, ratios: FloatArray) -> Block:
        return Block(self.kernel, self.z, self.features, weights, self.basis, self.e, ratios, self.affine_phi)


def _best_ratio(n: int, p: int, e: FloatArray, g: FloatArray, total: FloatArray) -> tuple[float, float]:
    """The noise ratio of the smallest -2 log REML likelihood, and that."""
    free, lam = n - p, e[:, None] + RATIOS
    residual = total - np.einsum("ja,jq,jb->qab", g, 1 / lam, g, optimize=True)
    scale = np.linalg.eigvalsh((residual + residual.transpose(0, 2, 1)) / 2) / RATIOS[:, None] / free
    log_det = np.log(lam).sum(axis=0) + (free - len(e)) * np.log(RATIOS)
    score = free * np.log(np.maximum(scale, np.finfo(np.float64).tiny)).sum(axis=1) + len(total) * log_det
    best = int(score.argmin())
    return float(RATIOS[best]), float(score[best])


def in_parts(n: int) -> Iterator[slice]:
    """All of n samples, in parts that fit into memory."""
    return (slice(a, min(a + CHOOSING, n)) for a in range(0, n, CHOOSING))


def _fit(x: FloatArray, v: FloatArray, kernel: Kernel, z: FloatArray) -> _Fit:
    (n, r), k = x.shape, v.shape[1]
    features = _features(z, kernel)
    m = features.shape[1]
    gram, cross = np.zeros((m, m)), np.zeros((m, k))
    h_phi, h_y, hh, yy = np.zeros((r + 1, m)), np.zeros((r + 1, k)), np.zeros((r + 1, r + 1)), np.zeros((k, k))
    for rows in in_parts(n):
        phi = kernel(x[rows], z) @ features
        h = np.column_stack([np.ones(len(phi)), x[rows]])
        gram += phi.T @ phi
        cross += phi.T @ v[rows]
        h_phi += h.T @ phi
        h_y += h.T @ v[rows]
        hh += h.T @ h
        yy += v[rows].T @ v[rows]
    solve = scipy.linalg.cho_factor(hh)
    affine_phi, affine_y = scipy.linalg.cho_solve(solve, h_phi), scipy.linalg.cho_solve(solve, h_y)
    gram -= h_phi.T @ affine_phi
    cross -= h_phi.T @ affine_y
    e, basis = np.linalg.eigh((gram + gram.T) / 2)
    e = np.maximum(e, 0)
    # No measured velocity is exact to more than this; without it a component that is affine to the last digit would
    # outweigh all others in the determinant.
    total = yy - h_y.T @ affine_y + PRECISION**2 * yy
    g = basis.T @ cross
    ratio, score = _best_ratio(n, r + 1, e, g, total)
    return _Fit(kernel, z, features, n, basis, e, g, total, affine_y, affine_phi, np.linalg.inv(hh), ratio, score)


def _features(z: FloatArray, kernel: Kernel) -> FloatArray:
    values, vectors = np.linalg.eigh(kernel(z, z))
    kept = values > RANK * values.max()
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _together(fit: _Fit) -> FlowField:
    """The field with one kernel, and a noise ratio for each of the components that it has under it."""
    fitted = fit.g / (fit.e + fit.ratio)[:, None]
    # Components that are independent under the prior and under the noise: some are affine, others are not.
    _, outputs = scipy.linalg.eigh(fitted.T @ fitted, fit.noise(fit.ratio))
    g = fit.g @ outputs
    ratios = np.array(
        [
            _best_ratio(fit.n, len(fit.flat), fit.e, g[:, [k]], o[None] @ fit.total @ o[:, None])[0]
            for k, o in enumerate(outputs.T)
        ]
    )
    weights = fit.basis @ (g / (fit.e[:, None] + ratios))
    affine = fit.affine_y - fit.affine_phi @ weights @ np.linalg.inv(outputs)
    return FlowField(affine, outputs, (fit.block(weights, ratios),), fit.flat)


def _apart(fits: list[_Fit], outputs: FloatArray) -> FlowField:
    """The field whose components v O have kernels of their own."""
    scale = np.array([1 / np.sqrt(f.noise(f.ratio)[0, 0]) for f in fits])
    weights = [f.basis @ (f.g * s / (f.e[:, None] + f.ratio)) for f, s in zip(fits, scale, strict=True)]
    affine = [f.affine_y * s - f.affine_phi @ w for f, s, w in zip(fits, scale, weights, strict=True)]
    blocks = tuple(f.block(w, np.array([f.ratio])) for f, w in zip(fits, weights, strict=True))
    return FlowField(np.hstack(affine) @ np.linalg.inv(outputs * scale), outputs * scale, blocks, fits[0].flat)


def _try_lengths(
    x: FloatArray, v: FloatArray, shape: FloatArray, lengths: FloatArray, tail: float, ratio: float = 0.0
) -> list[_Fit]:
    """One kernel at every length, longest first; after a hopeless one no shorter one is tried.

    `ratio`: about that of the noise, where it is known, so that no more is explained than it allows.
    """
    tried: list[_Fit] = []
    for length in np.unique(lengths)[::-1]:
        kernel = Kernel(tail, shape / length, float(length))
        unexplained = UNEXPLAINED * min(ratio or min((f.ratio for f in tried), default=0.0), 1.0)
        tried.append(_fit(x, v, kernel, x[pivots(x @ kernel.metric, INDUCING_CHOOSING, unexplained, tail)]))
        best = min(f.score for f in tried)
        if tried[-1].score > best + HOPELESS:
            break
    return tried


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Kernels of all velocities together (one fit, no outputs) or of the components v O, and the log of their likelihood."""

    fits: list[_Fit]
    outputs: FloatArray | None
    log: float

    def refit(self, y: FloatArray, v: FloatArray) -> FlowField:
        """The field on all samples, with as few inducing samples as its noise allows."""

        def whole(fit: _Fit, w: FloatArray) -> _Fit:
            u, unexplained = y[: 4 * CHOOSING] @ fit.kernel.metric, UNEXPLAINED * min(fit.ratio, 1.0)
            return _fit(y, w, fit.kernel, y[pivots(u, INDUCING, unexplained, fit.kernel.tail)])

        if self.outputs is None:
            return _together(whole(self.fits[0], v))
        fits = [whole(f, v @ o[:, None]) for f, o in zip(self.fits, self.outputs.T, strict=True)]
        return _apart(fits, self.outputs)


def fit_fields(
    y: FloatArray, v: FloatArray, *, axes: FloatArray | None = None, few: int = FEW
) -> list[tuple[float, FlowField]]:
    """Fields of samples in whitened coordinates with their probabilities, the likeliest first.

    They differ in kernel, length and metric, and in whether all velocities share these; at first all are equally likely.
    `axes` (r, r) are combinations of the velocities that may well have kernels of their own: those that were measured.
    Rows come in an order that depends on their values alone.
    """
    x, u = y[:CHOOSING], v[:CHOOSING]
    # All samples together tell as much more than those that choose as they are more.
    more = len(y) / len(x)
    output = np.linalg.pinv(np.atleast_2d(np.cov(u.T)))
    tried: list[_Fit] = []
    lengths, ratio = LENGTHS, 0.0
    for tail in TAILS:
        tried += _try_lengths(x, u, np.eye(y.shape[1]), lengths, tail, ratio)
        best = min(tried, key=lambda f: f.score)
        lengths, ratio = np.minimum(best.kernel.length * NEARBY, LENGTHS[-1]), best.ratio
    # In many dimensions no two samples are near each other, and a kernel that looks everywhere sees nothing.
    sliced = sliced_metric(y, v) if y.shape[1] > MANY_DIMENSIONS else None
    if sliced is not None:
        tried += _try_lengths(x, u, sliced, np.append(LENGTHS, 2 * LENGTHS[-1]), TAILS[0])
    for _ in range(2):
        best = min(tried, key=lambda f: f.score)
        shape = steering_metric(_together(best).bent_jacobian(x), output)
        lengths = np.minimum(best.kernel.length * NEARBY, LENGTHS[-1])
        again = _try_lengths(x, u, shape, lengths, best.kernel.tail, best.ratio)
        tried += again
        if min(f.score for f in again) >= best.score:
            break
    best = min(tried, key=lambda f: f.score)
    found = [_Candidate([f], None, -0.5 * more * f.score - float(np.log(len(tried)))) for f in tried]
    # In more dimensions one kernel serves all velocities: the cost of one for each grows as their square.
    if 1 < y.shape[1] <= MANY_DIMENSIONS and len(y) <= few:
        field = _together(best)
        slopes = field.bent_jacobian(x)
        turned = field.outputs @ fewest_steering(np.einsum("nab,ak->nkb", slopes, field.outputs))
        shapes = [_Shapes.of(x, u, turned, slopes, None, best.kernel.tail)]
        if axes is not None:
            # Coordinates that do not move, as a parameter, are directions of their own.
            directions = scipy.linalg.block_diag(axes, np.eye(y.shape[1] - len(axes)))
            directions /= np.linalg.norm(directions, axis=0)
            shapes.append(_Shapes.of(x, u, axes, slopes, directions, best.kernel.tail))
        likeliest = min(s.score for s in shapes)
        for s in shapes:
            if (s.score - likeliest) * min(ASKED, len(x)) <= HOPELESS:
                found += _components(x, u, s, best.kernel.tail, more)
    found.sort(key=lambda c: -c.log)
    odds = np.exp([c.log - found[0].log for c in found])
    drawn = np.bincount(golden_draws(np.cumsum(odds), FIELDS), minlength=len(found)) / FIELDS
    return [(float(p), c.refit(y, v)) for k, (p, c) in enumerate(zip(drawn, found, strict=True)) if p > 0 or k == 0]


def loosened(field: FlowField, y: FloatArray, v: FloatArray) -> FlowField:
    """The field with the same kernels and one n-th of their smoothing, n samples.

    What inducing samples leave out is the same in all samples: so much of it as the noise of one sample would hide is left here.
    """
    blocks, affine = [], []
    for block, mine in field.columns:
        ratios = block.ratios / len(y)
        u, unexplained = y[: 4 * CHOOSING] @ block.kernel.metric, min(float(ratios.min()), 1 / len(y))
        fit = _fit(y, v @ field.outputs[:, mine], block.kernel, y[pivots(u, INDUCING, unexplained, block.kernel.tail)])
        weights = fit.basis @ (fit.g / (fit.e[:, None] + ratios))
        affine.append(fit.affine_y - fit.affine_phi @ weights)
        blocks.append(fit.block(weights, ratios))
    return replace(field, affine=np.hstack(affine) @ field.back, blocks=tuple(blocks))


def golden_steps(count: int) -> FloatArray:
    """Golden steps through the unit interval: every beginning of them is spread evenly."""
    return np.asarray((0.5 + np.arange(count) * (np.sqrt(5) - 1) / 2) % 1.0)


def golden_draws(share: FloatArray, count: int) -> IntArray:
    """Numbers with cumulative probabilities `share`: every beginning of the list has all in nearly their shares."""
    return np.asarray(np.searchsorted(share / share[-1], golden_steps(count)), dtype=np.intp)


class _Shapes(NamedTuple):
    """Combinations O of the velocities, for each of them the metric and noise ratio that are likeliest, and -2 log of the
    likelihood of all, for each sample."""

    outputs: FloatArray
    metrics: list[tuple[FloatArray, float]]
    score: float

    @classmethod
    def of(
        cls, x: FloatArray, v: FloatArray, outputs: FloatArray, slopes: FloatArray, axes: FloatArray | None, tail: float
    ) -> _Shapes:
        metrics, score = [], -2 * float(np.linalg.slogdet(outputs)[1])
        for o in outputs.T:
            along = steering_metric(slopes, np.outer(o, o))
            along /= np.maximum(np.linalg.norm(along, axis=0), np.finfo(np.float64).tiny)
            metric, ratio, one = relevant_metric(x, v @ o, along if axes is None else axes, tail)
            metrics.append((metric, ratio))
            score += one
        return cls(outputs, metrics, score)


def _components(x: FloatArray, v: FloatArray, shapes: _Shapes, tail: float, more: float) -> list[_Candidate]:
    """Fields whose components v O have kernels of their own, with the logarithms of their likelihoods."""
    outputs, chosen = shapes.outputs, []
    for o, (metric, ratio) in zip(outputs.T, shapes.metrics, strict=True):
        w = v @ o[:, None]
        size = np.linalg.norm(metric) / np.sqrt(metric.shape[1])
        fits = _try_lengths(x, w, metric / size, NEAREST / size, tail, ratio)
        near = np.array([min(fits, key=lambda f: f.score).kernel.length])
        for other in set(TAILS) - {tail}:
            fits += _try_lengths(x, w, metric / size, near, other, ratio)
        chosen.append(fits)
    volume = more * chosen[0][0].free * float(np.linalg.slogdet(outputs)[1])
    combined: list[tuple[list[_Fit], float]] = [([], volume)]
    for fits in chosen:
        prior = [-0.5 * (np.log(f.kernel.length) / SPREAD) ** 2 for f in fits]
        log = np.array([-0.5 * more * f.score for f in fits]) + prior - np.log(len(fits))
        best = int(log.argmax())
        if fits[best].ratio == RATIOS[-1]:  # affine, with whatever kernel: one for all of them
            fits, log = fits[best : best + 1], np.logaddexp.reduce(log, keepdims=True)
        combined = [([*c, f], p + one) for c, p in combined for f, one in zip(fits, log, strict=True)]
        combined = sorted(combined, key=lambda c: -c[1])[:FIELDS]
    return [_Candidate(fits, outputs, float(p)) for fits, p in combined]
