"""One step of the classical Runge-Kutta method, for every place that integrates something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._types import FloatArray


def step(slope: Callable[[FloatArray], FloatArray], x: FloatArray, dt: Any) -> FloatArray:
    """x after dt of xdot = slope(x), to fourth order."""
    a = slope(x)
    b = slope(x + dt / 2 * a)
    c = slope(x + dt / 2 * b)
    d = slope(x + dt * c)
    return np.asarray(x + dt / 6 * (a + 2 * b + 2 * c + d))
