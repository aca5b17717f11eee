"""Closed curves that attract: where a path comes back to where it was, and its neighbours come closer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray
from ..runge_kutta import returned
from .field import FlowField
from .integration import BETWEEN, LOOKS, STEPS, Stepper, Trap, hermite

# Neighbours this share of the diameter away must come closer in one turn for the curve to attract them; a path that misses itself
# by a twentieth of it after a turn is closed.
TUBE = 0.02
CLOSED = TUBE / 20


@dataclass(frozen=True, eq=False)
class LimitCycle:
    """A closed curve (m, r) in steps of time, its period, and the share of a small deviation left after a period."""

    curve: FloatArray
    period: float
    multiplier: float
    tube: float
    tree: cKDTree

    @property
    def place(self) -> FloatArray:
        return np.asarray(self.curve.mean(axis=0))

    def holds(self, x: FloatArray) -> BoolArray:
        return np.asarray(self.tree.query(x)[0] < self.tube)


def limit_cycle(field: FlowField, start: FloatArray, traps: Sequence[Trap]) -> LimitCycle | None:
    """The attracting closed curve that the solution from `start` winds onto; None where it does not close, or is trapped."""
    path = Stepper(field, start[None])
    for k in range(LOOKS):
        run, times = _watch(path, STEPS * 2**k, traps)
        if field.work.over:
            break
        if any(trap.holds(path.x)[0] for trap in traps):
            return None
        turn = _last_turn(run, times)
        if turn is not None:
            return _attracting(field, *turn)
    return None


def _watch(path: Stepper, steps: int, traps: Sequence[Trap]) -> tuple[FloatArray, FloatArray]:
    """States and times of one path over so many steps, or until it is trapped, and between the steps."""
    at = np.zeros(1, dtype=np.intp)
    states, slopes, times = [path.x[0].copy()], [path.f[0].copy()], [float(path.time[0])]
    for k in range(steps):
        path.advance(at)
        if path.field.work.over or (k % 15 == 0 and any(trap.holds(path.x)[0] for trap in traps)):
            break
        if path.time[0] > times[-1]:
            states.append(path.x[0].copy())
            slopes.append(path.f[0].copy())
            times.append(float(path.time[0]))
    t = np.array(times)
    if len(t) < 2:
        return np.array(states), t
    run, _ = hermite(np.array(states), np.array(slopes), np.diff(t))
    s = np.arange(BETWEEN) / BETWEEN
    return run, np.append((t[:-1, None] + s * np.diff(t)[:, None]).ravel(), t[-1])


def _last_turn(path: FloatArray, times: FloatArray) -> tuple[FloatArray, float] | None:
    """The last turn of the path and its period, if it closes."""
    back = returned(path, path[-1] - path[-2], len(path) - 1, CLOSED)
    if back is None:
        return None
    k, share = back
    return path[k + 1 :], float(times[-1] - times[k] - share * (times[k + 1] - times[k]))


def _attracting(field: FlowField, turn: FloatArray, period: float) -> LimitCycle | None:
    """The curve with its tube, if deviations across the motion shrink in one period."""
    diameter = float(np.linalg.norm(np.ptp(turn, axis=0)))
    tube = TUBE * diameter
    motion = field(turn[-1:])[0]
    across = np.linalg.svd(motion[None] / np.linalg.norm(motion))[2][1:]
    starts = turn[-1] + tube * np.concatenate([across, -across])
    path, late = Stepper(field, starts), np.arange(len(starts))
    for _ in range(20 * len(turn)):
        path.h[late] = np.minimum(path.h[late], period - path.time[late])
        path.advance(late)
        late = late[path.time[late] < period * (1 - 1e-9)]
        if len(late) == 0:
            break
    end = path.x
    # Where steps are long, points of the spline are far apart: between ten times as many they miss a tube by a hundredth.
    tree = cKDTree(_smooth(turn, 2000))
    turn = _smooth(turn, 200)
    left = float(tree.query(end)[0].max())
    if left >= 0.95 * tube:
        return None
    return LimitCycle(turn, period, left / tube, tube, tree)


def _smooth(turn: FloatArray, count: int) -> FloatArray:
    """`count` points of the periodic cubic spline through a turn, so that distance to the curve is that to a point."""
    from scipy.interpolate import CubicSpline  # slow to import, and few data have cycles

    closed = np.concatenate([turn, turn[:1]])
    spline = CubicSpline(np.arange(len(closed)), closed, bc_type="periodic")
    return np.asarray(spline(np.linspace(0, len(turn), count, endpoint=False)))
