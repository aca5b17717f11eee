"""Trajectories that go round: a closed curve that the last turn of each runs along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import SHORTEST_PATH, Demonstrations
from ..graphs import PathGraph
from ..paths import PathFinding, TrajectoryGraph

# A turn is closed when it misses its start by less than this share of its diameter, and is as large as the turn before
# it to the same share: a spiral that loses less in a turn has more than thirty turns to go.
CLOSED = 0.03
# A motion that slows to less than this share of its top speed somewhere on a turn stops there rather than goes round.
STOPS = 0.02
# Fewest samples on a turn that show its shape.
SHORTEST_TURN = 12
# Two curves are one when they lie within this share of their diameter from each other.
SAME = 0.05


@dataclass(frozen=True, eq=False)
class Orbit:
    """Trajectories `members` that run along one closed `curve` (m, d), with its `period`, the spread of its centre, and how
    `steady` it is: 1 where the last turn is as large as the one before, 0 where it just counts as closed."""

    members: IntArray
    curve: FloatArray
    period: float
    standard_error: FloatArray
    steady: float


def orbits(demos: Demonstrations) -> list[Orbit]:
    """Closed curves that trajectories end on, in the order of the trajectories.

    Two trajectories are on one cycle when each lies on the other's closed curve, however coarsely they were sampled.
    """
    turns = {k: turn for k, (x, v) in enumerate(demos.trajectories()) if (turn := last_turn(x, v)) is not None}
    groups: list[list[int]] = []
    for k, turn in turns.items():
        for group in groups:
            other = turns[group[0]]
            apart = max(cKDTree(a.curve).query(b.x)[0].mean() for a, b in ((turn, other), (other, turn)))
            if apart < SAME * np.linalg.norm(np.ptp(other.x, axis=0)):
                group.append(k)
                break
        else:
            groups.append([k])
    return [_orbit(group, turns) for group in groups]


def group_with_orbits(
    demos: Demonstrations, closed: list[Orbit]
) -> tuple[PathGraph, dict[int, Attractor], PathFinding | None]:
    """Paths of trajectories with their groups, the cycles among these, and how the other trajectories were grouped."""
    offsets = demos.offsets
    assert offsets is not None  # orbits() saw trajectories
    group = np.full(len(offsets) - 1, -1, dtype=np.intp)
    ring = np.concatenate([o.members for o in closed])
    rest = np.setdiff1d(np.flatnonzero(np.diff(offsets) >= SHORTEST_PATH), ring)
    found = None
    if len(rest):
        parts = [(demos.x[offsets[k] : offsets[k + 1]], demos.v[offsets[k] : offsets[k + 1]]) for k in rest]
        found = TrajectoryGraph().build(Demonstrations.from_trajectories(parts))
        group[rest] = found.graph.group
    cycles = {}
    for q, orbit in enumerate(closed, start=int(group.max()) + 1):
        group[orbit.members] = q
        centre = orbit.curve.mean(axis=0)
        cycles[q] = Attractor(
            centre, orbit.standard_error, centre, None, centre, kind="cycle", period=orbit.period, curve=orbit.curve
        )
    graph = PathGraph(demos.n_samples, np.arange(demos.n_samples, dtype=np.intp), offsets, group)
    return graph, cycles, found


def _orbit(group: list[int], turns: dict[int, Turn]) -> Orbit:
    centres, periods = [], []
    for k in group:
        x, v = turns[k].x, turns[k].v
        # Time along the turn from lengths and speeds: stamps may be missing.
        step = np.linalg.norm(np.diff(x, axis=0, append=x[:1]), axis=1)
        speed = np.linalg.norm(v + np.roll(v, -1, axis=0), axis=1) / 2
        time = step / np.maximum(speed, np.finfo(np.float64).tiny)
        centres.append((time[:, None] * x).sum(axis=0) / time.sum())
        periods.append(time.sum())
    places = np.array(centres)
    x = turns[group[0]].x
    spread = (
        places.std(axis=0, ddof=1) / np.sqrt(len(group)) if len(group) > 1 else np.linalg.norm(x[0] - x[-1]) + 0 * x[0]
    )
    curve, steady = x + places.mean(axis=0) - places[0], float(np.mean([turns[k].steady for k in group]))
    return Orbit(np.array(group, dtype=np.intp), curve, float(np.median(periods)), spread, steady)


@dataclass(frozen=True, eq=False)
class Turn:
    """The last turn of a trajectory, with velocities, and how `steady` it is."""

    x: FloatArray
    v: FloatArray
    steady: float

    @property
    def curve(self) -> FloatArray:
        """The closed curve through its samples, along their velocities: a cubic between any two, at eight places."""
        x, y = self.x, np.roll(self.x, -1, axis=0)
        v, w = self.v, np.roll(self.v, -1, axis=0)
        pace = np.linalg.norm(v + w, axis=1, keepdims=True) / 2
        time = np.linalg.norm(y - x, axis=1, keepdims=True) / np.maximum(pace, np.finfo(np.float64).tiny)
        s = np.linspace(0, 1, 8, endpoint=False)[:, None, None]
        to, along, there = s**2 * (3 - 2 * s), s * (1 - s) ** 2, -(s**2) * (1 - s)
        return np.asarray((x + to * (y - x) + time * (along * v + there * w)).reshape(-1, x.shape[1]))


def last_turn(x: FloatArray, v: FloatArray) -> Turn | None:
    """The last full turn of a trajectory; None where it does not go round and round.

    The turn begins where the trajectory crossed the plane through its end, across its motion there, in the same
    direction and next to its end. There must be one before it, of the same size.
    """
    first = _return(x, v, len(x) - 1)
    if first is None:
        return None
    before = _return(x, v, first)
    if before is None:
        return None
    size, size_before = (np.linalg.norm(np.ptp(x[a:b], axis=0)) for a, b in ((first, len(x)), (before, first + 1)))
    speed = np.linalg.norm(v[first:], axis=1)
    change = abs(size - size_before) / (CLOSED * size)
    if change > 1 or speed.min() < STOPS * speed.max():
        return None
    return Turn(x[first:], v[first:], float(1 - change))


def _return(x: FloatArray, v: FloatArray, end: int) -> int | None:
    """The last sample after which the trajectory passed its place at `end` in the same direction, a turn earlier."""
    ahead = (x[: end + 1] - x[end]) @ v[end]
    crossing = np.flatnonzero((ahead[:-1] < 0) & (ahead[1:] >= 0))
    for k in crossing[::-1]:
        if end - k < SHORTEST_TURN or v[k] @ v[end] <= 0:
            continue
        share = -ahead[k] / (ahead[k + 1] - ahead[k])
        miss = np.linalg.norm(x[k] + share * (x[k + 1] - x[k]) - x[end])
        if miss < CLOSED * np.linalg.norm(np.ptp(x[k : end + 1], axis=0)):
            return int(k + 1)
    return None
