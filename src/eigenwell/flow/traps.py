"""What a field has that attracts: sinks, each with a region that no solution leaves, and closed curves, where a path comes back
to where it was and its neighbours come closer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray
from ..runge_kutta import returned
from .field import PRECISION, FlowField
from .integration import BETWEEN, LOOKS, STEPS, Stepper, Trap, hermite

# Directions per dimension and radii at which a trapping region is tested, and the part of the tested radius that is used.
DIRECTIONS, RADII, MARGIN = 24, np.geomspace(0.005, 2.0, 24), 0.8


@dataclass(frozen=True, eq=False)
class Sink:
    """A stable zero. V(x) = (x - place)^T P (x - place) falls along every solution from V < radius^2."""

    place: FloatArray
    jacobian: FloatArray
    lyapunov: FloatArray
    radius: float
    error: FloatArray  # (r, r) posterior covariance of the place

    def holds(self, x: FloatArray) -> BoolArray:
        e = x - self.place
        return np.asarray(((e @ self.lyapunov) * e).sum(axis=1) < self.radius**2)


def newton(field: FlowField, starts: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Where Newton's method leads from every start (n, r), and whether the field is zero there.

    Each step doubles the digits: after one as short as zeros may be apart the place is known to twice as many.

    Steps are cut to half a standard deviation of the data, so that a start finds a zero near it or none; farther than the starts
    are apart from each other, or a few steps from a single one, nothing is looked for.
    """
    # Seldom more than ten steps are needed; a start that has not arrived by then belongs to no zero near.
    x = np.array(starts)
    r = x.shape[1]
    low, high = x.min(axis=0, initial=-1.0), x.max(axis=0, initial=1.0)
    far = low - (high - low), high + (high - low)
    moving = np.arange(len(x))
    done = np.zeros(len(x), dtype=bool)
    for _ in range(STEPS):
        if len(moving) == 0 or field.work.over:
            break
        f, jacobian = field.jacobian(x[moving])
        step = -np.linalg.solve(jacobian + 1e-12 * np.eye(r), f[..., None])[..., 0]
        size = np.linalg.norm(step, axis=1)
        x[moving] += step * np.minimum(1.0, 0.5 / np.maximum(size, 1e-300))[:, None]
        done[moving[size < PRECISION]] = True
        lost = ((x[moving] < far[0]) | (x[moving] > far[1])).any(axis=1)
        moving = moving[(size >= PRECISION) & ~lost]
    return x, done


def zeros(field: FlowField, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct zeros (k, r) that Newton's method reaches from the starts, with their Jacobians (k, r, r)."""
    x, done = newton(field, starts)
    found = x[done]
    kept: list[int] = []
    for i in range(len(found)):
        if all(np.linalg.norm(found[i] - found[k]) > PRECISION for k in kept):
            kept.append(i)
    places = found[kept].reshape(-1, x.shape[1])
    return places, field.jacobian(places)[1] if kept else np.empty((0, x.shape[1], x.shape[1]))


def sinks(field: FlowField, starts: FloatArray) -> list[Sink]:
    """Stable zeros near the starts, each with its trapping region."""
    places, jacobians = zeros(field, starts)
    return [
        without(trapping(field, place, jacobian), places)
        for place, jacobian in zip(places, jacobians, strict=True)
        if np.linalg.eigvals(jacobian).real.max() < 0
    ]


def without(sink: Sink, places: FloatArray) -> Sink:
    """The sink with a region that ends before any of these other zeros: V cannot fall at rest, whatever the shells missed."""
    e = places - sink.place
    distance = np.sqrt(((e @ sink.lyapunov) * e).sum(axis=1))
    other = distance[np.linalg.norm(e, axis=1) > PRECISION]
    return replace(sink, radius=min(sink.radius, MARGIN * float(other.min(initial=np.inf))))


def trapping(field: FlowField, place: FloatArray, jacobian: FloatArray) -> Sink:
    """The largest tested ellipsoid of J^T P + P J = -I on which V falls: V' = 2 (x - place)^T P f(x) < 0."""
    p = scipy.linalg.solve_continuous_lyapunov(jacobian.T, -np.eye(len(place)))
    p = (p + p.T) / 2
    p /= np.linalg.eigvalsh(p)[-1]
    directions = np.random.default_rng(0).standard_normal((DIRECTIONS * len(place), len(place)))
    directions /= np.sqrt(((directions @ p) * directions).sum(axis=1))[:, None]
    shells = RADII[:, None, None] * directions
    f = field((place + shells).reshape(-1, len(place))).reshape(shells.shape)
    falls = (((shells @ p) * f).sum(axis=2) < 0).all(axis=1)
    count = len(RADII) if falls.all() else int(np.argmin(falls))
    inverse = np.linalg.inv(jacobian)
    error = inverse @ field.covariance(place[None])[0] @ inverse.T
    return Sink(place, jacobian, p, MARGIN * float(RADII[count - 1]) if count else 0.5 * float(RADII[0]), error)


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
