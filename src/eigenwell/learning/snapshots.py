"""Paths for samples that lie on none: snapshots carried along the field that was estimated from them."""

from __future__ import annotations

import numpy as np

from .. import runge_kutta
from .._types import FloatArray
from ..flow.whitening import spread_out
from ..identification import Identification
from .doubts import Motions

PATHS = 10
"""A path for every tenth part of the samples of an attractor, the farthest first: together they cover its basin."""
STEPS = 600
STEP = 0.01
"""Of the extent, at the root mean square speed: a path has some hundred samples."""


def carried_motions(found: Identification, which: list[int]) -> Motions:
    """For each attractor paths (x, v) of the estimated field from samples that end there."""
    assert found.flow is not None
    x, v = found.demos.x, found.demos.v
    extent = float(np.ptp(x, axis=0).max())
    dt = STEP * extent / max(float(np.sqrt((v**2).sum(1).mean())), np.finfo(float).tiny)
    motions = []
    for q in which:
        mine = np.flatnonzero(found.labels == q)
        starts = x[mine[spread_out(x[mine], PATHS)]]
        motions.append(_carried(found, starts, found.attractors[q], dt, 1e-3 * extent))
    return motions


def _carried(
    found: Identification, starts: FloatArray, attractor: FloatArray, dt: float, close: float
) -> list[tuple[FloatArray, FloatArray]]:
    """Solutions from the starts until they are close to the attractor; those that do not come close are left out."""
    assert found.flow is not None
    states = [starts]
    for _ in range(STEPS):
        if (np.linalg.norm(states[-1] - attractor, axis=1) < close).all():
            break
        states.append(runge_kutta.step(found.flow, states[-1], dt))
    path = np.stack(states, axis=1)
    near = np.linalg.norm(path - attractor, axis=2)
    paths = []
    for one, distance in zip(path, near, strict=True):
        arrived = np.flatnonzero(distance < close)
        stop = int(arrived[0]) + 1 if len(arrived) else len(one)
        if stop > 2 and distance[stop - 1] < 0.5 * distance[0]:
            paths.append((one[:stop], found.flow(one[:stop])))
    return paths
