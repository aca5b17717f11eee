"""Trajectories that go round: a closed curve that the last turn of each runs along."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import SHORTEST_PATH, Demonstrations
from ..graphs import PathGraph
from ..paths import PathFinding, TrajectoryGraph
from ..runge_kutta import returned
from .integration import BETWEEN, hermite

# A turn is closed when it misses its start by less than this share of its diameter, and is as large as the turn before
# it to the same share: a spiral that loses less in a turn has more than thirty turns to go. Two curves are one when they lie
# within as much of each other. A motion that slows to this share of its top speed somewhere on a turn stops there rather than
# goes round; one whose whole turn is slower than that, beside the way there, is at rest, and its turn is noise.
CLOSED = 0.03
# Fewest samples on a turn that show its shape.
SHORTEST_TURN = 12


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

    Two trajectories are on one cycle when each lies on the other's closed curve, however coarsely they were sampled. One that was
    not seen to close is on a cycle too if its last states lie on the curve, moving along it: what is on a cycle stays there.
    """
    runs = list(demos.trajectories())
    turns = {k: turn for k, (x, v) in enumerate(runs) if (turn := last_turn(x, v)) is not None}
    groups: list[list[int]] = []
    for k, turn in turns.items():
        for group in groups:
            if max(turn.apart(turns[group[0]]), turns[group[0]].apart(turn)) < CLOSED:
                group.append(k)
                break
        else:
            groups.append([k])
    cycles = [_orbit(group, turns) for group in groups]
    for k in sorted(set(range(len(runs))) - set(turns)):
        x, v = runs[k]
        last = slice(-SHORTEST_TURN, None)
        on = [
            q for q, group in enumerate(groups) if len(x) >= SHORTEST_TURN and turns[group[0]].carries(x[last], v[last])
        ]
        if on:
            cycles[on[0]] = replace(cycles[on[0]], members=np.sort(np.append(cycles[on[0]].members, k)))
    return cycles


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
    """The last turn of a trajectory as a closed curve, with velocities, and how `steady` it is."""

    x: FloatArray
    v: FloatArray
    steady: float

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.x, axis=0)))

    def apart(self, other: Turn) -> float:
        """How far the other turn lies from this one in the mean, as a share of this one's size."""
        return float(cKDTree(self.x).query(other.x)[0].mean()) / self.size

    def carries(self, x: FloatArray, v: FloatArray) -> bool:
        """Whether most of the states x lie on the curve and move along it, both to the same share."""
        off, at = cKDTree(self.x).query(x)
        along = (v * self.v[at]).sum(axis=1) > (1 - CLOSED) * np.linalg.norm(v, axis=1) * np.linalg.norm(
            self.v[at], axis=1
        )
        return bool((along & (off < CLOSED * self.size)).mean() > 0.5)


def last_turn(x: FloatArray, v: FloatArray) -> Turn | None:
    """The last full turn of a trajectory; None where it does not go round and round.

    The turn begins where the trajectory crossed the plane through its end, across its motion there, in the same
    direction and next to its end. There must be one before it, of the same size.
    """
    if len(x) < 2 * SHORTEST_TURN:
        return None
    x, v = between(x, v)
    least = SHORTEST_TURN * BETWEEN
    back = returned(x, v[-1], len(x) - 1, CLOSED, least)
    if back is None:
        return None
    first = back[0] + 1
    before = returned(x, v[first], first, CLOSED, least)
    if before is None:
        return None
    size, size_before = (np.linalg.norm(np.ptp(turn, axis=0)) for turn in (x[first:], x[before[0] + 1 : first + 1]))
    speed = np.linalg.norm(v[first:], axis=1)
    change, most = abs(size - size_before), CLOSED * size
    if change >= most or speed.min() < CLOSED * speed.max() or speed.max() < CLOSED * np.linalg.norm(v, axis=1).max():
        return None
    return Turn(x[first:], v[first:], float(1 - change / most))


def between(x: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States along the curve through the samples with their velocities: Hermite's cubic between any two."""
    pace = np.linalg.norm(v[:-1] + v[1:], axis=1, keepdims=True) / 2
    time = np.linalg.norm(np.diff(x, axis=0), axis=1, keepdims=True) / np.maximum(pace, np.finfo(np.float64).tiny)
    return hermite(x, v, time[:, 0])
