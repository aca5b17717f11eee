"""Attractors at the edge of the data: where solutions stop when nothing shows that they go on.

Concentrations end at zero, and many a switch rests there: half of its neighbourhood has no samples, and an estimated
field that is off by less than its own error carries everything out. So what leaves is carried once more, held within one
spacing of the samples; where it then stops, leaving is believed only if the field there is more than its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from .._types import BoolArray, FloatArray, IntArray
from .field import FlowField
from .integration import FEW, LEFT, LOOKS, STEPS, TINY, Support, Trap, longest_step

# The field at the edge is something where a field of zero would give as much once in a hundred times.
LEVEL = 0.99
# Stopped: moved by less than this many spacings between two looks. One place: within as many.
STOPPED = 5.0


@dataclass(frozen=True, eq=False)
class EdgeSink:
    """A place at the edge of the data that solutions do not significantly leave."""

    place: FloatArray
    radius: float
    error: FloatArray
    wall: bool = False

    def holds(self, x: FloatArray) -> BoolArray:
        return np.asarray(np.linalg.norm(x - self.place, axis=1) < self.radius)


def hold(field: FlowField, x: FloatArray, support: Support) -> tuple[FloatArray, BoolArray]:
    """Where states end when they are held within one spacing of the samples, and whether they have stopped there.

    Midpoint steps of half a spacing, whatever the speed: the way matters, not the time. They are enough to walk round the data.
    """
    edge = support.spacing
    step = min(longest_step(field), edge / 2)
    end = np.array(x)
    stopped = np.zeros(len(x), dtype=bool)
    moving = np.arange(len(x))
    for _ in range(LOOKS):
        x = end[moving]
        held = np.zeros(len(x), dtype=bool)
        for _ in range(STEPS):
            if support.walls is None:
                x = x + step * _unit(field(x + 0.5 * step * _unit(field(x))))
            else:
                x = x + step * _unit(support.walls.along(x, field(x)))
            gap, nearest = support.tree.query(x)
            held = gap > edge
            at = support.tree.data[nearest[held]]
            x[held] = at + (x[held] - at) * (edge / gap[held])[:, None]
            if support.walls is not None:
                held |= support.beyond(x)
                x = support.walls.clip(x)
        stopped[moving] = np.linalg.norm(x - end[moving], axis=1) < STOPPED * edge
        end[moving] = x
        # One that is pressed against the edge stays there.
        moving = moving[~(stopped[moving] & held)]
        if len(moving) == 0:
            break
    return end, stopped


def _unit(f: FloatArray) -> FloatArray:
    return np.asarray(f / np.maximum(np.sqrt((f * f).sum(axis=1, keepdims=True)), TINY))


def edge_sinks(field: FlowField, leaving: FloatArray, support: Support) -> list[EdgeSink]:
    """Places at the edge where states that leave stop without significant motion."""
    if len(leaving) == 0:
        return []
    end, stopped = hold(field, leaving[:FEW], support)
    found: list[EdgeSink] = []
    left = end[stopped]
    while len(left):
        distance = np.linalg.norm(left[:, None] - left, axis=2)
        # The place where most stop, and all that stop next to it.
        near = distance < STOPPED * support.spacing
        busiest = int(near.sum(axis=1).argmax())
        place = left[busiest]
        ahead = place + support.spacing * _unit(field(place[None]))
        pressed = support.walls is not None and bool(support.beyond(ahead)[0])
        if support.walls is not None and pressed:
            # Steps are of one length: those that rest at the wall hop about it.
            place = support.walls.clip(left[near[busiest]].mean(axis=0) + ahead - place)[0]
        covariance = field.covariance(place[None])[0]
        f = field(place[None])[0]
        # A wall is where it stops; elsewhere by the quantile of chi squared (scipy.stats is slow to import).
        if pressed or f @ np.linalg.solve(covariance, f) < 2 * gammaincinv(len(f) / 2, LEVEL):
            rate = max(float(np.abs(np.linalg.eigvals(field.jacobian(place[None])[1][0])).min()), 1e-6)
            found.append(EdgeSink(place, STOPPED * support.spacing, covariance / rate**2, pressed))
        left = left[~near[busiest]]
    return found


def held_fates(field: FlowField, x: FloatArray, traps: Sequence[Trap], support: Support) -> IntArray:
    """Number of the trap that each leaving state ends in when it is held: an edge sink it stops at, or, where there are walls to
    slide along, any; LEFT for none."""
    out = np.full(len(x), LEFT, dtype=np.intp)
    edges = [k for k, t in enumerate(traps) if isinstance(t, EdgeSink)]
    if len(x) == 0 or (not edges and support.walls is None):
        return out
    end, stopped = hold(field, x, support)
    if support.walls is not None:
        for k, trap in enumerate(traps):
            out[trap.holds(end)] = k
    if edges:
        sinks = [t for t in traps if isinstance(t, EdgeSink)]
        gap = np.array([np.linalg.norm(end - s.place, axis=1) for s in sinks])
        near = stopped & (gap.min(axis=0) < 2 * sinks[0].radius) & (out == LEFT)
        out[near] = np.array(edges)[gap.argmin(axis=0)[near]]
    return out
