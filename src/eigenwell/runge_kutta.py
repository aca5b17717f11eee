"""One step of the classical Runge-Kutta method, for every place that integrates something."""

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
