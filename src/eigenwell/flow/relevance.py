"""How far each direction matters to one component: the kernel lengths along given directions that maximise the likelihood.

-2 log p = (n - p) log y^T P y + log det V + log det H^T V^-1 H, V = K + lambda I, P = V^-1 - V^-1 H (H^T V^-1 H)^-1 H^T V^-1,
H = (1, x) (automatic relevance determination; the affine part, as everywhere, has a flat prior). The prior of a length is
log-normal about one standard deviation of the data, or, with a tenth of its height, anything longer: a field bends on the
scale of its data along a direction, or not at all. Without it noise is taken for bends too short to be seen.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.optimize

from .._types import FloatArray
from .field import radial
from .integration import ASKED, STEPS

# Lengths allowed, in standard deviations of the data, from the finest that so many samples can show to nearly affine.
SHORTEST, LONGEST = 0.15, 30.0
# Noise ratios: from none that would show to nothing but noise.
RATIOS = np.geomspace(1e-7, 1e4, 45)
# Velocities are taken to be measured to four digits at best: what bends by less than this share of its variation is affine,
# and zeros nearer than this are one.
PRECISION = 1e-4
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
