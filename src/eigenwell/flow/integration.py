"""Integrate states along the field until they are in a trapping region, have left the data, or time is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .field import MANY_DIMENSIONS, PRECISION, FlowField, Whitening

# Error allowed in a step, in standard deviations of the data: a turn of twenty steps then errs by a per mille.
TOLERANCE = PRECISION / 2
# Dormand and Prince 1980: their stages, the last of them the step, and by how much the step of order 4 differs.
TABLEAU = [
    np.array(row)
    for row in (
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    )
]
DIFFERENCE = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# Steps before the first look at what is still on its way, and how often it is looked at again, twice as long later.
STEPS, LOOKS = 50, 4
# States asked where more would say the same, and where those known already say most of it.
ASKED, FEW = 250, 50
# Places that a tree holds in many dimensions, where it is no faster than asking all of them.
PLACES = 4 * ASKED
LEFT, WANDERING = -1, -2
# Places between two states on a curve, by Hermite's cubic, which errs there by less than the steps do.
BETWEEN = 8
TINY = np.finfo(np.float64).tiny


class Trap(Protocol):
    """A region that solutions enter and never leave."""

    def holds(self, x: FloatArray) -> BoolArray: ...


@dataclass(frozen=True, eq=False)
class Walls:
    """Bounds (d,) of the data's coordinates that nothing crosses; infinite where there is none."""

    frame: Whitening
    low: FloatArray
    high: FloatArray

    def clip(self, y: FloatArray) -> FloatArray:
        x = self.frame.leave(y)
        return np.asarray(y + (np.clip(x, self.low, self.high) - x) @ self.frame.forward)

    def along(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """The velocities f without what points into a wall that y is at."""
        x, v = self.frame.leave(y), f @ self.frame.backward
        near = 1e-9 * (1 + np.abs(x))
        v[((x <= self.low + near) & (v < 0)) | ((x >= self.high - near) & (v > 0))] = 0.0
        return np.asarray(v @ self.frame.forward)

    def outside(self, y: FloatArray) -> BoolArray:
        x = self.frame.leave(y)
        return np.asarray(((x < self.low) | (x > self.high)).any(axis=1))


@dataclass(frozen=True, eq=False)
class Support:
    """Where there are data: `tree` of samples, `spacing` between them, `reach` beyond which the field is not believed, and walls
    where there are any."""

    tree: cKDTree
    spacing: float
    reach: float
    walls: Walls | None = None

    @classmethod
    def of(cls, y: FloatArray, length: float, count: int = 5000, walls: Walls | None = None) -> Support:
        """Of samples in whitened coordinates. The field is believed up to a kernel length from a sample, at most one
        standard deviation of the data; samples as far apart as the loneliest per cent do not count as far."""
        tree = cKDTree(y[: count if y.shape[1] <= MANY_DIMENSIONS else PLACES])
        near = tree.query(tree.data, k=2)[0][:, 1]
        spacing = float(np.quantile(near, 0.99))
        return cls(tree, spacing, spacing + min(length, 1.0), walls)

    def gap(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.tree.query(x)[0])

    def left(self, x: FloatArray) -> BoolArray:
        return (self.gap(x) > self.reach) | self.beyond(x)

    def beyond(self, x: FloatArray) -> BoolArray:
        """Whether x lies behind a wall."""
        return np.zeros(len(x), dtype=bool) if self.walls is None else self.walls.outside(x)

    def holds(self, x: FloatArray, error: float = 0.0) -> BoolArray:
        """Whether there are samples next to x, as near as samples are to each other, or as x is known; never beyond reach."""
        return (self.gap(x) <= min(2 * self.spacing + 2 * error, self.reach)) & ~self.beyond(x)


def longest_step(field: FlowField) -> float:
    """The longest step in space: the shortest length on which the kernel changes, at most half a standard deviation."""
    return min(1 / field.sharpest, 0.5)


class Stepper:
    """Dormand and Prince's Runge-Kutta pair of order 5(4), every state with a step of its own."""

    def __init__(self, field: FlowField, x: FloatArray):
        self.field, self.x, self.time = field, np.array(x), np.zeros(len(x))
        self.f = field(self.x)
        self.longest = longest_step(field)
        self.h = 0.1 * self.longest / np.maximum(np.linalg.norm(self.f, axis=1), TINY)

    def advance(self, at: IntArray) -> None:
        """One try for the states `at`; those that err too much stay where they are and take a shorter step next time."""
        x, f = self.x[at], self.f[at]
        h = np.minimum(self.h[at], self.longest / np.maximum(_length(f), TINY))[:, None]
        k = np.empty((7, f.size))
        k[0], new = f.ravel(), x
        for i, row in enumerate(TABLEAU, 1):
            new = x + h * (row @ k[:i]).reshape(x.shape)
            f = self.field(new)
            k[i] = f.ravel()
        error = _length(h * (DIFFERENCE @ k).reshape(x.shape))
        good = error <= TOLERANCE
        done = at[good]
        self.x[done], self.f[done] = new[good], f[good]
        self.time[done] += h[good, 0]
        self.h[at] = h[:, 0] * np.clip(0.9 * (TOLERANCE / np.maximum(error, TINY)) ** 0.2, 0.2, 4.0)


def _length(x: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((x * x).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Carried:
    """`fate` (n,): the trap every state ended in, LEFT or WANDERING; `end` where it was then and `time` how long it took.

    `states`, `owner`, `to_go`: places along all paths, whose they are, and the time left from there, where asked for.
    """

    fate: IntArray
    end: FloatArray
    time: FloatArray
    states: FloatArray
    owner: IntArray
    to_go: FloatArray


def carry(
    field: FlowField,
    x: FloatArray,
    traps: Sequence[Trap],
    support: Support,
    *,
    steps: int,
    keep: bool = False,
) -> Carried:
    """Carry states (n, r), at most so many steps, and until the field's work is done."""
    n, r = x.shape
    path = Stepper(field, x)
    end, time = path.x, path.time
    fate = np.full(n, WANDERING, dtype=np.intp)
    active = np.arange(n)
    trail: list[tuple[FloatArray, IntArray, FloatArray]] = []
    for k in range(steps + 1):
        for q, trap in enumerate(traps):
            fate[active[trap.holds(end[active])]] = q
        active = active[fate[active] == WANDERING]
        gone = support.left(end[active])
        fate[active[gone]] = LEFT
        active = active[~gone]
        if keep:
            trail.append((end[active], active, time[active]))
        if len(active) == 0 or k == steps or field.work.over:
            break
        path.advance(active)
    states = np.concatenate([t[0] for t in trail]) if keep else np.empty((0, r))
    owner = np.concatenate([t[1] for t in trail]) if keep else np.empty(0, dtype=np.intp)
    to_go = time[owner] - np.concatenate([t[2] for t in trail]) if keep else np.empty(0)
    return Carried(fate, end, time, states, owner, to_go)


def hermite(x: FloatArray, v: FloatArray, time: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States and velocities along the curve through the states (n, d) with these velocities, `time` (n - 1,) apart: by Hermite's
    cubic, at BETWEEN places from each to the next."""
    time = time[:, None]
    s = np.linspace(0, 1, BETWEEN, endpoint=False)[:, None, None]
    step, begin, end = np.diff(x, axis=0), time * v[:-1], time * v[1:]
    places = x[:-1] + s**2 * (3 - 2 * s) * step + s * (1 - s) ** 2 * begin - s**2 * (1 - s) * end
    slopes = 6 * s * (1 - s) * step + (1 - s) * (1 - 3 * s) * begin + s * (3 * s - 2) * end
    slopes = np.where(time > 0, slopes / np.where(time > 0, time, 1.0), v[:-1])
    in_order = [part.transpose(1, 0, 2).reshape(-1, x.shape[1]) for part in (places, slopes)]
    return np.concatenate([in_order[0], x[-1:]]), np.concatenate([in_order[1], v[-1:]])
