"""A planar field over a grid, as pictures want it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray


def over_grid(field: Any, gx: FloatArray, gy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Velocities (len(gy), len(gx), 2), and sqrt(V) as a share of the largest in its basin (len(gy), len(gx)).

    Every attractor has a potential of its own; between basins only the shape compares.
    """
    states = np.column_stack([a.ravel() for a in np.meshgrid(gx, gy)])
    shape = (len(gy), len(gx))
    height, basin = np.sqrt(field.potential(states)), field.basin(states)
    for q in np.unique(basin):
        mine = basin == q
        height[mine] /= max(float(height[mine].max()), np.finfo(np.float64).tiny)
    return field.predict(states).reshape(*shape, 2), height.reshape(shape)
