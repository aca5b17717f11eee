"""Velocities from positions and time, and positions without their noise.

A recording is x(t_i) = z(t_i) + noise, and a hand or a robot moves with bounded jerk: z''' is white. Then the best estimate
of z minimises

    sum_i |x_i - z_i|^2 + lambda sum_k w_k |z[t_k, .., t_k+3]|^2,

third divided differences, scaled to steps (the discrete quintic smoothing spline; w_k is the time they span). lambda =
noise variance / jerk variance is what the data say: the maximum of the restricted likelihood, one for all coordinates of a
recording, so that nothing depends on how axes are turned. What is left after smoothing tells the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._types import FloatArray

__all__ = ["Smoothed", "estimate_velocities", "smoothed"]


# Seven points and a cubic: the slope at a sample of what has been smoothed, or was smooth.
WINDOW, ORDER = 7, 3
# Recorders that call themselves regular jitter by well under this share of a step.
JITTER = 1e-3
# Below this lambda a single sample is moved by less than a hundredth of its noise: nothing to smooth away.
NEGLIGIBLE = 1e-2
# Noise this small a share of the numbers is how they were rounded.
ROUNDING = 1e-9
# Range searched. The upper end, a window of 200 samples, is as smooth as any motion that is sampled on purpose.
LOG_RANGE = (np.log(1e-3), np.log(1e9))
# Below so many samples noise and motion cannot be told apart.
SHORTEST = 12
# Stamps of a bursting bus may nearly coincide; a step is taken to be no shorter than this share of the usual one.
SHORTEST_STEP = 0.1


@dataclass(frozen=True)
class Smoothed:
    """A trajectory freed of noise, with its velocities.

    Attributes
    ----------
    x : (n, d) array
        Positions.
    v : (n, d) array
        Velocities.
    noise : float
        Standard deviation found in a coordinate.
    window : float
        Samples averaged over.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.velocities import smoothed
    >>> t = np.linspace(0, 3, 60)
    >>> smoothed(np.exp(-t)[:, None], t).v.shape
    (60, 1)
    """

    x: FloatArray
    v: FloatArray
    noise: float
    window: float


def smoothed(x: FloatArray, t: FloatArray) -> Smoothed:
    """One trajectory x (T, d) with increasing times t (T,), without its noise, and its velocity.

    Parameters
    ----------
    x : (n, d) array
        Positions in order of time.
    t : (n,) array
        Their times.

    Returns
    -------
    Smoothed

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.velocities import smoothed
    >>> t = np.linspace(0, 3, 60)
    >>> float(smoothed(2 * t[:, None], t).v.min().round(6))
    2.0
    """
    n = len(x)
    if n < SHORTEST:
        return Smoothed(x, estimate_velocities(x, t), 0.0, 1.0)
    penalty = _penalty(t)
    centred = x - x.mean(axis=0)
    log_lambda = _likeliest(centred, penalty)
    if log_lambda <= np.log(NEGLIGIBLE):
        return Smoothed(x, estimate_velocities(x, t), 0.0, 1.0)
    z, _, variance = _smooth(centred, penalty, log_lambda)
    noise = float(np.sqrt(max(variance, 0.0)))
    if noise <= ROUNDING * float(np.abs(x).max()):
        return Smoothed(x, estimate_velocities(x, t), 0.0, 1.0)
    z = z + x.mean(axis=0)
    # The filter halves a wave of 2 pi lambda^(1/6) samples; a mean of w samples halves one of 1.66 w.
    window = 2 * np.pi * np.exp(log_lambda / 6) / 1.66
    return Smoothed(z, estimate_velocities(z, t), noise, float(window))


def _penalty(t: FloatArray) -> FloatArray:
    """Bands (4, T) of D^T W D, D the third divided differences in units of the usual step; upper form of LAPACK."""
    step = np.diff(t)
    usual = float(np.median(step))
    step = np.maximum(step / usual, SHORTEST_STEP)
    n = len(t)
    rows = np.zeros((4, n))  # row k of D: coefficients at samples k .. k + 3
    for j in range(4):
        rows[j, : n - 3] = 6.0
        for i in range(4):
            if i != j:
                rows[j, : n - 3] /= _span(step, min(i, j), max(i, j), n) * (1 if j > i else -1)
    rows[:, : n - 3] *= np.sqrt(_span(step, 0, 3, n) / 3)
    bands = np.zeros((4, n))
    for a in range(4):
        for b in range(a, 4):
            # D^T D at (k + a, k + b); LAPACK keeps the entry (i, j) at [3 + i - j, j].
            bands[3 - (b - a), b : b + n - 3] += rows[a, : n - 3] * rows[b, : n - 3]
    return bands


def _span(step: FloatArray, a: int, b: int, n: int) -> FloatArray:
    """t[k + b] - t[k + a] for k = 0 .. n - 4."""
    return np.asarray(sum(step[j : j + n - 3] for j in range(a, b)))


def _smooth(x: FloatArray, penalty: FloatArray, log_lambda: float) -> tuple[FloatArray, float, float]:
    """z for one lambda, log |I + lambda D^T W D|, and the variance of the noise."""
    from scipy.linalg import cho_solve_banded, cholesky_banded  # slow to import, and only estimates need them

    bands = np.exp(log_lambda) * penalty
    bands[3] += 1.0
    factor = cholesky_banded(bands, overwrite_ab=True, check_finite=False)
    z = cho_solve_banded((factor, False), x, check_finite=False)
    n, d = x.shape
    variance = float(np.sum(x * (x - z))) / ((n - 3) * d)
    return z, 2 * float(np.log(factor[3]).sum()), variance


def _likeliest(x: FloatArray, penalty: FloatArray) -> float:
    """log lambda of the largest restricted likelihood: (T - 3) (log s^2 - log lambda) + log|I + lambda D^T W D|, least."""
    from scipy.optimize import minimize_scalar

    n = len(x)
    smallest = np.finfo(np.float64).tiny

    def misfit(log_lambda: float) -> float:
        _, log_det, variance = _smooth(x, penalty, log_lambda)
        return float((n - 3) * (np.log(max(variance, smallest)) - log_lambda) + log_det)

    grid = np.linspace(*LOG_RANGE, 10)
    best = int(np.argmin([misfit(g) for g in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(minimize_scalar(misfit, bounds=(low, high), method="bounded", options={"xatol": 0.01}).x)


def estimate_velocities(x: FloatArray, t: FloatArray) -> FloatArray:
    """Velocities of one trajectory from its positions and times.

    Parameters
    ----------
    x : (n, d) array
        Positions in order of time.
    t : (n,) array
        Their times.

    Returns
    -------
    (n, d) array

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.velocities import estimate_velocities
    >>> t = np.linspace(0, 3, 60)
    >>> float(estimate_velocities(2 * t[:, None], t).min().round(6))
    2.0
    """
    n = len(x)
    if n < 2:
        return np.zeros_like(x)
    window = min(WINDOW, n if n % 2 else n - 1)
    order = min(ORDER, window - 1)
    step = np.diff(t)
    if order == 0:
        return np.broadcast_to((x[-1] - x[0]) / (t[-1] - t[0]), x.shape).copy()
    if np.ptp(step) <= JITTER * step.mean():
        from scipy.signal import savgol_filter  # half a second to import, and only estimates need it

        out = savgol_filter(x, window, order, deriv=1, delta=float(step.mean()), axis=0, mode="interp")
        return np.asarray(out, dtype=np.float64)
    first = np.clip(np.arange(n) - window // 2, 0, n - window)
    index = first[:, None] + np.arange(window)
    s = t[index] - t[:, None]
    scale = np.abs(s).max(axis=1, keepdims=True)  # keeps the Vandermonde matrices well conditioned
    powers = (s / scale)[:, :, None] ** np.arange(order + 1)
    coefficients = np.linalg.pinv(powers) @ x[index]
    return np.asarray(coefficients[:, 1] / scale, dtype=np.float64)
