"""The field between the samples: v = B (1, x) + sum_j k(x, z_j) c_j + noise, a Gaussian process on inducing samples.

The kernel is k(x, z) = exp(-D / 2), D = (x - z)^T M (x - z), or (1 + D / 4)^-2, a mixture of such kernels of all lengths
(rational quadratic, alpha = 2) for fields that bend here and there; B has a flat prior, so that what is affine costs
nothing and rules where there are no samples. Kernel, metric M and noise ratio lambda = sigma^2 / s^2 maximise the
restricted likelihood (REML)

    -2 log p = (n - p) log det R(lambda) / (n - p) + d [sum_j log(e_j + lambda) + (n - p - m) log lambda],

R = (Y^T Y - g^T diag(1 / (e + lambda)) g) / lambda, e the eigenvalues of the features' Gram matrix after the affine part
is projected out, g the data in its eigenvectors. Nothing in it changes when x is scaled, turned or sheared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from .._types import FloatArray, IntArray

# Samples that choose metric and noise, the most inducing samples, and those used while choosing: beyond these the choice
# no longer changes, only its cost.
CHOOSING, INDUCING, INDUCING_CHOOSING = 1500, 600, 400
# Lengths tried, in standard deviations of the data: from the finest that a few hundred samples can show to nearly affine.
LENGTHS = np.geomspace(0.15, 4.0, 10)
# Kernels tried: the Gaussian, and one that has all lengths.
TAILS = (0.0, 0.5)
# A kernel this much less likely (-2 log) has no say; after three in a row shorter lengths have none either.
HOPELESS, PATIENCE = 20.0, 3
# Noise ratios tried: from rounding error to nothing but noise.
RATIOS = np.geomspace(1e-7, 1e4, 45)
# Prior variance that inducing samples may leave unexplained, as a share of the noise and at most.
EXPLAINED, UNEXPLAINED = 1e-2, 1e-2
# Velocities are taken to be measured to four digits at best.
PRECISION = 1e-4
# Directions of features with less than this share of the largest variance are rounding error.
RANK = 1e-9
ROWS = 4096
# Fields less likely than this are left out: they would not get one replicate in forty.
LEAST_LIKELY = 0.02


@dataclass(frozen=True, eq=False)
class Posterior:
    """Covariance of the estimate in the features' eigenvectors: component k of feature j has variance 1 / (e_j + lambda_k).

    `affine_phi` (r + 1, m') is the affine part of each feature, `affine` the inverse of H^T H, H = (1, x).
    """

    basis: FloatArray
    e: FloatArray
    ratios: FloatArray
    affine_phi: FloatArray
    affine: FloatArray


@dataclass(frozen=True, eq=False)
class FlowField:
    """An estimated field in whitened coordinates, or several that differ in their coefficients.

    tail        1 / alpha of the kernel: 0 for the Gaussian
    metric      (r, k) M = T T^T: distances are measured between x T and z T
    inducing    (m, r)
    features    (m, m') from kernel values to features of unit prior variance
    affine      (r + 1, r) rows: constant, then x
    weights     (m', r)
    length      kernel length in standard deviations of the data
    outputs     (r, r) from velocities to components that are independent of each other, with noise of unit variance
    posterior   how far each feature is known, for every such component
    """

    tail: float
    metric: FloatArray
    inducing: FloatArray
    features: FloatArray
    affine: FloatArray
    weights: FloatArray
    length: float
    outputs: FloatArray
    posterior: Posterior

    def __post_init__(self) -> None:
        object.__setattr__(self, "_z", self.inducing @ self.metric)
        object.__setattr__(self, "_c", self.features @ self.weights)

    _z: FloatArray = None  # type: ignore[assignment]
    _c: FloatArray = None  # type: ignore[assignment]

    def kernel(self, x: FloatArray) -> FloatArray:
        return radial(x @ self.metric, self._z, self.tail)

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.kernel(x) @ self._c + x @ self.affine[1:] + self.affine[0])

    def jacobian(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """f (n, r) and J (n, r, r), J[i, a, b] = d f_a / d x_b."""
        u = x @ self.metric
        k = radial(u, self._z, self.tail)
        slope = k ** (1 + self.tail)
        f = k @ self._c + x @ self.affine[1:] + self.affine[0]
        # grad k = -slope T (u - w), summed over the inducing samples with weights c.
        n, r = f.shape
        inner = np.empty((n, r, u.shape[1]))
        for a in range(r):
            kc = slope * self._c[:, a]
            inner[:, a] = kc @ self._z - u * kc.sum(axis=1, keepdims=True)
        return f, inner @ self.metric.T + self.affine[1:].T

    @property
    def ratio(self) -> float:
        """The noise ratio of the component that is best known."""
        return float(self.posterior.ratios.min())

    def covariance(self, x: FloatArray) -> FloatArray:
        """(n, r, r) posterior covariance of the field at x."""
        known = self.posterior
        h = np.column_stack([np.ones(len(x)), x])
        phi = self.kernel(x) @ self.features
        bent = (phi - h @ known.affine_phi) @ known.basis
        flat = ((h @ known.affine) * h).sum(axis=1)
        variance = np.stack([(bent**2 / (known.e + q)).sum(axis=1) for q in known.ratios], axis=1) + flat[:, None]
        back = np.linalg.inv(self.outputs)
        return np.asarray(np.einsum("ka,nk,kb->nab", back, variance, back))


def radial(a: FloatArray, b: FloatArray, tail: float) -> FloatArray:
    """k = (1 + tail D / 2)^(-1 / tail), D = |a_i - b_j|^2, or its limit exp(-D / 2) at tail 0; dk / d(-D / 2) = k^(1 + tail)."""
    e = a @ b.T
    e -= 0.5 * (a**2).sum(axis=1)[:, None]
    e -= 0.5 * (b**2).sum(axis=1)
    np.minimum(e, 0, out=e)
    if tail == 0:
        return np.exp(e, out=e)
    e *= -tail
    e += 1
    return np.asarray(np.reciprocal(e, out=e) ** round(1 / tail))


def pivots(u: FloatArray, count: int, unexplained: float, tail: float = 0.0) -> IntArray:
    """Samples that represent the kernel on all of u: pivoted Cholesky, the least explained sample next.

    Stops at `count`, or when no sample has more than `unexplained` of its prior variance left.
    """
    count = min(count, len(u))
    left = np.ones(len(u))
    rows = np.empty((count, len(u)))
    chosen: list[int] = []
    at = int(np.argmin((u**2).sum(axis=1)))
    for k in range(count):
        chosen.append(at)
        rows[k] = (radial(u[at : at + 1], u, tail)[0] - rows[:k, at] @ rows[:k]) / np.sqrt(left[at])
        left -= rows[k] ** 2
        left[at] = 0.0
        at = int(left.argmax())
        if left[at] <= max(unexplained, RANK):
            break
    return np.array(chosen, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class _Moments:
    """What a fit needs of the samples: eigenvalues and data in the features' eigenvectors, affine part projected out."""

    n: int
    basis: FloatArray  # (m', m') eigenvectors
    e: FloatArray
    g: FloatArray
    total: FloatArray  # (r, r) Y^T Y after the affine part
    affine_y: FloatArray  # (r + 1, r) affine part of Y
    affine_phi: FloatArray  # (r + 1, m') affine part of the features
    affine: FloatArray  # inverse of H^T H

    @property
    def p(self) -> int:
        return len(self.affine_y)

    def component(self, output: FloatArray) -> _Moments:
        """The moments of one component of the velocities."""
        o = output[:, None]
        return replace(self, g=self.g @ o, total=o.T @ self.total @ o)

    def residual(self, ratio: float) -> FloatArray:
        r = self.total - self.g.T @ (self.g / (self.e + ratio)[:, None])
        return (r + r.T) / 2

    def criterion(self, ratio: float) -> float:
        """-2 log REML likelihood."""
        free, r = self.n - self.p, len(self.total)
        scale = np.maximum(np.linalg.eigvalsh(self.residual(ratio)), np.finfo(np.float64).tiny) / ratio / free
        log_det = np.log(self.e + ratio).sum() + (free - len(self.e)) * np.log(ratio)
        return float(free * np.log(scale).sum() + r * log_det)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(a, min(a + ROWS, n)) for a in range(0, n, ROWS))


def _moments(
    x: FloatArray, v: FloatArray, tail: float, metric: FloatArray, z: FloatArray, features: FloatArray
) -> _Moments:
    n, r = x.shape
    m = features.shape[1]
    w = z @ metric
    gram, cross, k = np.zeros((m, m)), np.zeros((m, v.shape[1])), v.shape[1]
    h_phi, h_y, hh, yy = np.zeros((r + 1, m)), np.zeros((r + 1, k)), np.zeros((r + 1, r + 1)), np.zeros((k, k))
    for rows in _blocks(n):
        phi = radial(x[rows] @ metric, w, tail) @ features
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
    e, u = np.linalg.eigh((gram + gram.T) / 2)
    e = np.maximum(e, 0)
    # No measured velocity is exact to more than this; without it a component that is affine to the last digit would
    # outweigh all others in the determinant.
    total = yy - h_y.T @ affine_y + PRECISION**2 * yy
    return _Moments(n, u, e, u.T @ cross, total, affine_y, affine_phi, np.linalg.inv(hh))


def _features(z: FloatArray, metric: FloatArray, tail: float) -> FloatArray:
    values, vectors = np.linalg.eigh(radial(z @ metric, z @ metric, tail))
    kept = values > RANK * values.max()
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _best_ratio(moments: _Moments) -> tuple[float, float]:
    score = [moments.criterion(float(q)) for q in RATIOS]
    best = int(np.argmin(score))
    return float(RATIOS[best]), score[best]


def _solve(
    moments: _Moments, tail: float, metric: FloatArray, z: FloatArray, features: FloatArray, length: float, ratio: float
) -> FlowField:
    """The field at a noise ratio that serves all components, or, refined, at one for each."""
    noise = moments.residual(ratio) / (moments.n - moments.p)
    fitted = moments.g / (moments.e + ratio)[:, None]
    # Components that are independent under the prior and under the noise: some are affine, others are not.
    _, outputs = scipy.linalg.eigh(fitted.T @ fitted, noise)
    ratios = np.array([_best_ratio(moments.component(o))[0] for o in outputs.T])
    weights = moments.basis @ (moments.g @ outputs / (moments.e[:, None] + ratios)) @ np.linalg.inv(outputs)
    affine = moments.affine_y - moments.affine_phi @ weights
    known = Posterior(moments.basis, moments.e, ratios, moments.affine_phi, moments.affine)
    return FlowField(tail, metric, z, features, affine, weights, length, outputs, known)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A field fitted to the samples that choose, -2 log of its likelihood, and its noise ratio."""

    score: float
    field: FlowField
    ratio: float


def _try_lengths(x: FloatArray, v: FloatArray, shape: FloatArray, lengths: FloatArray, tail: float) -> list[_Candidate]:
    """Fields of one kernel at every length, longest first; after a few hopeless ones no shorter one is tried."""
    tried: list[_Candidate] = []
    for length in np.sort(lengths)[::-1]:
        metric = shape / length
        z = x[pivots(x @ metric, INDUCING_CHOOSING, 0.0, tail)]
        features = _features(z, metric, tail)
        moments = _moments(x, v, tail, metric, z, features)
        ratio, score = _best_ratio(moments)
        tried.append(_Candidate(score, _solve(moments, tail, metric, z, features, float(length), ratio), ratio))
        best = min(c.score for c in tried)
        if len(tried) > PATIENCE and all(c.score > best + HOPELESS for c in tried[-PATIENCE:]):
            break
    return tried


def steering_metric(field: FlowField, x: FloatArray, v: FloatArray) -> FloatArray:
    """T with T T^T = mean over samples of J^T S^-1 J, J of the part that is not affine: the directions that steer it.

    Along a direction in which the field is affine the kernel need not look at all; in many dimensions that is most of
    them (recursive feature machines, Radhakrishnan et al. 2024).
    """
    _, jacobian = field.jacobian(x)
    bent = jacobian - field.affine[1:].T
    output = np.linalg.inv(np.atleast_2d(np.cov(v.T)))
    gradient = np.einsum("nab,ac,ncd->bd", bent, output, bent, optimize=True) / len(x)
    values, vectors = np.linalg.eigh((gradient + gradient.T) / 2)
    values = np.maximum(values, 0)
    if values.sum() == 0:  # affine throughout: every direction alike
        return np.eye(len(values))
    return np.asarray(vectors * np.sqrt(values * len(values) / values.sum()))


def fit_fields(y: FloatArray, v: FloatArray, *, rounds: int = 2) -> list[tuple[float, FlowField]]:
    """Fields of samples in whitened coordinates with their probabilities, the likeliest first.

    They differ in kernel length and metric, all those tried being equally likely at first. Rows come in an order that
    depends on their values alone.
    """
    x, u = y[:CHOOSING], v[:CHOOSING]
    tried = [c for tail in TAILS for c in _try_lengths(x, u, np.eye(y.shape[1]), LENGTHS, tail)]
    for _ in range(rounds):
        best = min(tried, key=lambda c: c.score)
        lengths = np.minimum(best.field.length * np.geomspace(0.5, 2.0, 5), LENGTHS[-1])
        more = _try_lengths(x, u, steering_metric(best.field, x, u), lengths, best.field.tail)
        tried += more
        if min(c.score for c in more) >= best.score:
            break
    tried.sort(key=lambda c: c.score)
    # All samples together tell as much more than those that choose as they are more.
    odds = np.exp([(tried[0].score - c.score) / 2 * len(y) / len(x) for c in tried])
    odds /= odds.sum()
    kept: list[tuple[float, _Candidate]] = []
    for p, c in zip(odds, tried, strict=True):
        like = next((k for k, (_, other) in enumerate(kept) if _alike(c.field, other.field)), None)
        if like is None:
            kept.append((float(p), c))
        else:  # one kernel, tried twice
            kept[like] = (kept[like][0] + float(p), kept[like][1])
    return [(p, _refit(y, v, c)) for p, c in kept if p >= LEAST_LIKELY or c is tried[0]]


def _alike(a: FlowField, b: FlowField) -> bool:
    """Whether two kernels are the same but for a tenth of their metric."""
    ours, theirs = a.metric @ a.metric.T, b.metric @ b.metric.T
    return a.tail == b.tail and bool(np.linalg.norm(ours - theirs) < 0.1 * np.linalg.norm(theirs))


def _refit(y: FloatArray, v: FloatArray, chosen: _Candidate) -> FlowField:
    """The chosen field on all samples, with as few inducing samples as its noise allows."""
    metric, tail = chosen.field.metric, chosen.field.tail
    z = y[pivots(y[: 4 * CHOOSING] @ metric, INDUCING, min(EXPLAINED * chosen.ratio, UNEXPLAINED), tail)]
    features = _features(z, metric, tail)
    moments = _moments(y, v, tail, metric, z, features)
    return _solve(moments, tail, metric, z, features, chosen.field.length, chosen.ratio)


def fit_field(y: FloatArray, v: FloatArray) -> FlowField:
    """The likeliest field."""
    return fit_fields(y, v)[0][1]


def moved(field: FlowField, affine: FloatArray, weights: FloatArray) -> FlowField:
    return replace(field, affine=affine, weights=weights)


def blend(a: FlowField, b: FlowField, share: float) -> FlowField:
    """The field `share` of the way from a to b, which has the same kernel."""
    return moved(a, a.affine + share * (b.affine - a.affine), a.weights + share * (b.weights - a.weights))
