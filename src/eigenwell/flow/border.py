"""Attractors at the edge of the data: where solutions stop when nothing shows that they go on.

Concentrations end at zero, and many a switch rests there: half of its neighbourhood has no samples, and an estimated
field that is off by less than its own error carries everything out. So what leaves is carried once more, held within one
spacing of the samples; where it then stops, leaving is believed only if the field there is more than its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from .._types import BoolArray, FloatArray, IntArray
from .field import FlowField
from .integration import LEFT, Stepper, Support

# States that are held at once, and steps of half a spacing they take: enough to walk round the data.
HELD, STEPS = 80, 250
# The field at the edge is something where a field of zero would give as much once in a hundred times.
LEVEL = 0.99
# Stopped: moved by less than this many spacings in the last quarter of the steps. One place: within as many.
STOPPED = 4.0


@dataclass(frozen=True, eq=False)
class EdgeSink:
    """A place at the edge of the data that solutions do not significantly leave."""

    place: FloatArray
    radius: float
    error: FloatArray

    def holds(self, x: FloatArray) -> BoolArray:
        return np.asarray(np.linalg.norm(x - self.place, axis=1) < self.radius)


def hold(field: FlowField, x: FloatArray, support: Support) -> tuple[FloatArray, BoolArray]:
    """Where states end when they are held within one spacing of the samples, and whether they have stopped there."""
    edge = support.spacing
    path = Stepper(field, x)
    path.longest = min(path.longest, edge / 2)
    everyone = np.arange(len(x))
    before = path.x.copy()
    for k in range(STEPS):
        path.advance(everyone)
        gap, nearest = support.tree.query(path.x)
        out = gap > edge
        if out.any():
            at = support.tree.data[nearest[out]]
            path.x[out] = at + (path.x[out] - at) * (edge / gap[out])[:, None]
            path.f[out] = field(path.x[out])
        if k == 3 * STEPS // 4:
            before = path.x.copy()
    return path.x, np.linalg.norm(path.x - before, axis=1) < STOPPED * edge


def edge_sinks(field: FlowField, leaving: FloatArray, support: Support) -> list[EdgeSink]:
    """Places at the edge where states that leave stop without significant motion."""
    if len(leaving) == 0:
        return []
    end, stopped = hold(field, leaving[:HELD], support)
    found: list[EdgeSink] = []
    left = end[stopped]
    while len(left):
        distance = np.linalg.norm(left[:, None] - left, axis=2)
        # The place where most stop, and all that stop next to it.
        near = distance < STOPPED * support.spacing
        busiest = int(near.sum(axis=1).argmax())
        place = left[busiest]
        covariance = field.covariance(place[None])[0]
        f = field(place[None])[0]
        # The quantile of chi squared; scipy.stats is slow to import.
        if f @ np.linalg.solve(covariance, f) < 2 * gammaincinv(len(f) / 2, LEVEL):
            rate = max(float(np.abs(np.linalg.eigvals(field.jacobian(place[None])[1][0])).min()), 1e-6)
            found.append(EdgeSink(place, STOPPED * support.spacing, covariance / rate**2))
        left = left[~near[busiest]]
    return found


def held_fates(field: FlowField, x: FloatArray, sinks: list[EdgeSink], support: Support) -> IntArray:
    """Number of the edge sink that each leaving state stops at, LEFT for none."""
    end, stopped = hold(field, x, support)
    gap = np.array([np.linalg.norm(end - s.place, axis=1) for s in sinks])
    near = stopped & (gap.min(axis=0) < 2 * sinks[0].radius)
    return np.where(near, gap.argmin(axis=0), LEFT)
