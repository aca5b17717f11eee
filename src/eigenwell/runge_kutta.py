"""One step of Runge-Kutta methods, for every place that integrates something, and whether what was integrated comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._types import FloatArray

# A turn is closed when it misses its start by less than this share of its diameter, and is as large as the turn before
# it to the same share: a spiral that loses less in a turn has more than thirty turns to go.
CLOSED = 0.03


def step(slope: Callable[[Any], Any], x: Any, dt: Any, begin: Any = None) -> Any:
    """x after dt of xdot = slope(x), to fourth order; `begin` is slope(x) where it is known."""
    a = slope(x) if begin is None else begin
    b = slope(x + dt / 2 * a)
    c = slope(x + dt / 2 * b)
    d = slope(x + dt * c)
    return x + dt / 6 * (a + 2 * b + 2 * c + d)


def long_step(slope: Callable[[Any], Any], x: Any, dt: Any) -> Any:
    """The same to eighth order, by the twelve slopes of Dormand and Prince: as right as ten of the steps above, where a solution
    turns by a radian in it."""
    from scipy.integrate import DOP853

    slopes = [slope(x)]
    for row in (*DOP853.A[1 : DOP853.n_stages], DOP853.B):
        there = x + dt * sum(share * one for share, one in zip(row, slopes, strict=False) if share)
        slopes.append(slope(there) if len(slopes) < DOP853.n_stages else there)
    return slopes[-1]


def returned(x: FloatArray, forward: FloatArray, end: int, closed: float, least: int = 0) -> tuple[int, float] | None:
    """The last state k, at least so many before `end`, after which a path came back to its place there, and the share of the step
    from k to the next at which it did: it crossed the plane through x[end], across the direction `forward`, and missed the
    place by less than so many diameters of the turn."""
    ahead = (x[:end] - x[end]) @ forward
    for k in np.flatnonzero((ahead[:-1] < 0) & (ahead[1:] >= 0))[::-1]:
        if end - k < least:
            continue
        share = -ahead[k] / (ahead[k + 1] - ahead[k])
        miss = np.linalg.norm(x[k] + share * (x[k + 1] - x[k]) - x[end])
        diameter = np.linalg.norm(np.ptp(x[k + 1 : end + 1], axis=0))
        # Between two states the path bends off its chord by about chord^2 / diameter.
        chord = np.linalg.norm(x[k + 1] - x[k])
        if miss * diameter < closed * diameter**2 + chord**2 / 2:
            return int(k), float(share)
    return None


def radius(x: FloatArray) -> float:
    """Of a closed curve, the root of its mean square; every piece of its length counts alike."""
    step = np.linalg.norm(np.diff(x, axis=0, append=x[:1]), axis=1)
    weight = ((step + np.roll(step, 1)) / max(2 * step.sum(), np.finfo(np.float64).tiny))[:, None]
    return float(np.sqrt((weight * (x - (weight * x).sum(axis=0)) ** 2).sum()))
