"""Which directions steer a field: along the others it is affine, and a kernel need not look (in many dimensions that is
most of them; recursive feature machines, Radhakrishnan et al. 2024).

Often each velocity has directions of its own: a gene is repressed by two others, a force depends on one angle. Then there
are combinations of the velocities that few directions steer, and each is learned from its few.
"""

from __future__ import annotations

import numpy as np

from .._types import FloatArray

# Angles of a turn in the plane of two components, and sweeps over all pairs: enough for a tenth of the angle between them.
ANGLES, SWEEPS = np.linspace(0, np.pi, 60, endpoint=False), 10
# Slices of the samples by their velocity: enough to tell a bend from a slope.
SLICES = 10
# Samples in a slice per dimension: with fewer its covariance is mostly chance, and chance would be taken for steering.
IN_A_SLICE = SLICES // 2


def steering_metric(slopes: FloatArray, output: FloatArray) -> FloatArray:
    """T with T T^T = mean over samples of J^T S J, J (n, r, r) the slopes of what is not affine, S (r, r) of the outputs."""
    gradient = np.einsum("nab,ac,ncd->bd", slopes, output, slopes, optimize=True) / len(slopes)
    values, vectors = np.linalg.eigh((gradient + gradient.T) / 2)
    values = np.maximum(values, 0)
    if values.sum() == 0:  # affine throughout: every direction alike
        return np.eye(len(values))
    return np.asarray(vectors * np.sqrt(values * len(values) / values.sum()))


def sliced_metric(x: FloatArray, v: FloatArray) -> FloatArray | None:
    """The directions that steer, before there is a field to ask: T T^T, or None where none is seen.

    Among samples whose velocities exceed the affine fit by the same amount, x has mean zero and unit covariance along every
    direction that does not steer; mean m and covariance C of such slices give (I - C)^2 + (2 + m^T m) m m^T (sliced average
    variance and inverse regression; directional regression, Li and Wang 2007). What slices of no order have is subtracted.
    """
    n, r = x.shape
    if n < SLICES * IN_A_SLICE * r:
        return None
    h = np.column_stack([np.ones(n), x])
    excess = v - h @ np.linalg.lstsq(h, v, rcond=None)[0]
    excess = excess @ np.linalg.inv(np.linalg.cholesky(np.atleast_2d(np.cov(v.T)))).T
    size, turn = np.linalg.eigh(excess.T @ excess / n)
    seen, chance = np.zeros((r, r)), np.zeros((r, r))
    for weight, e in zip(size, (excess @ turn).T, strict=True):
        for total, order in ((seen, np.argsort(e, kind="stable")), (chance, np.arange(n))):
            for slice_ in np.array_split(order, SLICES):
                m, c = x[slice_].mean(axis=0), np.eye(r) - np.cov(x[slice_].T)
                total += weight * (c @ c + (2 + m @ m) * np.outer(m, m))
    values, vectors = np.linalg.eigh(seen)
    values = np.maximum(values - np.linalg.eigvalsh(chance)[-1], 0)
    return np.asarray(vectors * np.sqrt(values * r / values.sum())) if values.any() else None


def fewest_steering(slopes: FloatArray) -> FloatArray:
    """The turn (r, r) of the components whose slopes (n, r, r) these are after which the fewest directions steer each.

    It maximises the sum over components of tr(G^2) / tr(G)^2, G = mean of g g^T over the gradients g of a component: one
    where a single direction steers, 1 / r where all do alike. Jacobi's method, a pair of components at a time.
    """
    n, r, _ = slopes.shape
    turn = np.eye(r)
    cos, sin = np.cos(ANGLES)[:, None, None], np.sin(ANGLES)[:, None, None]
    for _ in range(SWEEPS):
        still = True
        for i in range(r):
            for j in range(i + 1, r):
                a, b = slopes.transpose(0, 2, 1) @ turn[:, i], slopes.transpose(0, 2, 1) @ turn[:, j]
                aa, bb, ab = a.T @ a / n, b.T @ b / n, a.T @ b / n
                mixed = ab + ab.T
                gain = _concentration(cos**2 * aa + cos * sin * mixed + sin**2 * bb)
                gain += _concentration(sin**2 * aa - cos * sin * mixed + cos**2 * bb)
                best = int(gain.argmax())
                if gain[best] > gain[0] + 1e-6:
                    c, s = np.cos(ANGLES[best]), np.sin(ANGLES[best])
                    turn[:, [i, j]] = turn[:, [i, j]] @ np.array([[c, -s], [s, c]])
                    still = False
        if still:
            break
    return turn


def _concentration(g: FloatArray) -> FloatArray:
    trace = np.trace(g, axis1=-2, axis2=-1)
    return np.asarray((g**2).sum(axis=(-2, -1)) / np.maximum(trace**2, np.finfo(np.float64).tiny))
