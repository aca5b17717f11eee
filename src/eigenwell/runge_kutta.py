"""One step of Runge-Kutta methods, for every place that integrates something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def step(slope: Callable[[Any], Any], x: Any, dt: Any) -> Any:
    """x after dt of xdot = slope(x), to fourth order."""
    a = slope(x)
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
