"""Which directions steer a field: along the others it is affine, and a kernel need not look (in many dimensions that is
most of them; recursive feature machines, Radhakrishnan et al. 2024).

Often each velocity has directions of its own: a gene is repressed by two others, a force depends on one angle. Then there
are combinations of the velocities that few directions steer, and each is learned from its few, with the kernel lengths along
them that maximise the likelihood (automatic relevance determination; the affine part, as everywhere, has a flat prior),

-2 log p = (n - p) log y^T P y + log det V + log det H^T V^-1 H, V = K + lambda I, P = V^-1 - V^-1 H (H^T V^-1 H)^-1 H^T V^-1,

H = (1, x). The prior of a length is log-normal about one standard deviation of the data, or, with a tenth of its height,
anything longer: a field bends on the scale of its data along a direction, or not at all. Without it noise is taken for bends
too short to be seen.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.optimize

from .._types import FloatArray
from .field import PRECISION, radial
from .integration import ASKED, STEPS

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


# The shortest length allowed, in standard deviations of the data: the finest that so many samples can show.
SHORTEST = 0.15
# The longest: over one standard deviation it bends by no more than the precision of a velocity.
LONGEST = PRECISION**-0.5
# Noise ratios: from none that would show to nothing but noise.
RATIOS = np.geomspace(1e-7, 1e4, 45)
# Standard deviation of log length under the prior: a third to three standard deviations of the data are likely.
SPREAD, IRRELEVANT = 0.75, 0.1


def relevant_metric(
    x: FloatArray, y: FloatArray, directions: FloatArray, tail: float
) -> tuple[FloatArray, float, float]:
    """T (r, k) with the directions (r, k) as columns, each divided by the kernel length along it, for y (n,) at x (n, r); the
    noise ratio; and -2 log of the likelihood, for each of the samples asked."""
    # More would change the lengths little and cost their cube. Evenly by their distance from the middle, which no turn and no
    # order of the samples changes.
    inward = np.argsort((x**2).sum(axis=1), kind="stable")
    asked = inward[np.linspace(0, len(x) - 1, min(ASKED, len(x))).round().astype(np.intp)]
    x, y = x[asked], y[asked]
    h = np.column_stack([np.ones(len(x)), x])
    bent = y - h @ np.linalg.lstsq(h, y, rcond=None)[0]
    spread = max(float(bent.std()), PRECISION * float(y.std()), np.finfo(np.float64).tiny)
    if bent.std() <= PRECISION * y.std():
        return directions, float(RATIOS[-1]), 2 * np.log(spread)
    y = bent / spread
    u = x @ directions
    free = len(x) - h.shape[1]

    def score(logs: FloatArray) -> tuple[float, FloatArray]:
        scaled, ratio = u / np.exp(logs[:-1]), float(np.exp(logs[-1]))
        k = radial(scaled, scaled, tail)
        slope = k ** (1 + tail)
        k[np.diag_indices(len(k))] += ratio
        lower = np.linalg.cholesky(k)
        inverse = scipy.linalg.cho_solve((lower, True), np.eye(len(k)))
        vh = inverse @ h
        hvh = h.T @ vh
        p = inverse - vh @ np.linalg.solve(hvh, vh.T)
        py = p @ y
        error = float(y @ py)
        value = free * np.log(error) + 2 * np.log(np.diag(lower)).sum() + np.linalg.slogdet(hvh)[1]
        pull = p - free / error * np.outer(py, py)
        gain = pull * slope
        # sum_ik gain_ik (u_i - u_k)^2 for every direction
        lengths = 2 * (gain.sum(axis=1) @ scaled**2 - ((gain @ scaled) * scaled).sum(axis=0))
        height, slant = _prior(logs[:-1])
        return float(value + height.sum()), np.append(lengths + slant, ratio * np.trace(pull))

    bounds = [(np.log(SHORTEST), np.log(LONGEST))] * u.shape[1] + [tuple(np.log(RATIOS[[0, -1]]))]
    found = scipy.optimize.minimize(
        score, np.zeros(u.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS}
    )
    ratio = float(np.exp(found.x[-1]))
    told = float(found.fun) / free + 2 * np.log(spread)
    return np.asarray(directions / np.exp(found.x[:-1])), ratio if ratio > 2 * RATIOS[0] else 0.0, told


def _prior(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """-2 log of the prior of log lengths, and its slope."""
    bell = np.exp(-0.5 * (logs / SPREAD) ** 2)
    flat = np.where(logs > 0, IRRELEVANT, IRRELEVANT * bell)
    return -2 * np.log(bell + flat), 2 * logs / SPREAD**2 * np.where(logs > 0, bell / (bell + flat), 1.0)
