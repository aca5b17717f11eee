"""Velocities from positions and time."""

from __future__ import annotations

import numpy as np

from ._types import FloatArray

# Seven points and a cubic: the smallest window that averages noise (variance of the slope 1/28 of a two-point
# difference) while a cubic keeps corners and speed peaks of hand motion.
WINDOW, ORDER = 7, 3
# Recorders that call themselves regular jitter by well under this share of a step.
JITTER = 1e-3


def estimate_velocities(x: FloatArray, t: FloatArray) -> FloatArray:
    """dx/dt at the samples of one trajectory x (T, d) with increasing times t (T,).

    Evenly sampled: Savitzky-Golay. Unevenly: the slope of a local least-squares polynomial in time around each
    sample, the same window and order.
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
