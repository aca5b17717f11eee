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
from ..runge_kutta import CLOSED, radius, returned
from .integration import BETWEEN, hermite

# Two curves are one when they lie within the shares of their diameter by which both may miss their start. A motion that slows to
# this share of its top speed somewhere on a turn stops there rather than goes round; one whose whole turn is slower than that,
# beside the way there, is at rest, and its turn is noise.
# Fewest samples on a turn that show its shape, and fewest windows: a cubic misses a sixth of a circle by less than a thousandth.
SHORTEST_TURN, WINDOWS = 12, 6


@dataclass(frozen=True, eq=False)
class Orbit:
    """Trajectories `members` that run along one closed `curve` (m, d), with its `period`, the spread of its centre, and how
    `steady` it is: 1 where the last turns are as large as those before, 0 where they just count as closed."""

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
            if max(turn.apart(turns[group[0]]), turns[group[0]].apart(turn)) < 2 * CLOSED:
                group.append(k)
                break
        else:
            groups.append([k])
    cycles = [_orbit(group, turns) for group in groups]
    for k in sorted(set(range(len(runs))) - set(turns)):
        x, v = runs[k]
        on = [q for q, group in enumerate(groups) if turns[group[0]].carries(x, v)]
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
        # Time along the turn from steps ahead and speeds: stamps may be missing.
        step, mean = np.diff(x, axis=0, append=x[:1]), (v + np.roll(v, -1, axis=0)) / 2
        time = (step * mean).sum(axis=1) / np.maximum((mean**2).sum(axis=1), np.finfo(np.float64).tiny)
        centres.append((time[:, None] * x).sum(axis=0) / time.sum())
        periods.append(time.sum())
    places = np.array(centres)
    x = turns[group[0]].x
    spread = (
        places.std(axis=0, ddof=1) / np.sqrt(len(group)) if len(group) > 1 else np.linalg.norm(x[0] - x[-1]) + 0 * x[0]
    )
    # A decaying motion shrinks in every recording; what noise takes off one turn it adds to another.
    grown = np.mean([turns[k].grown for k in group])
    chance = np.linalg.norm([turns[k].chance for k in group]) / len(group)
    curve, steady = x + places.mean(axis=0) - places[0], max(float(1 - np.hypot(grown, chance) / CLOSED), 0.0)
    return Orbit(np.array(group, dtype=np.intp), curve, float(np.median(periods)), spread, steady)


@dataclass(frozen=True, eq=False)
class Turn:
    """The last turn of a trajectory as a closed curve, with velocities, the share by which it has `grown` since the one before
    it, and how much of that may be `chance`."""

    x: FloatArray
    v: FloatArray
    grown: float = 0.0
    chance: float = 0.0

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.x, axis=0)))

    def apart(self, other: Turn) -> float:
        """How far the other turn lies from this one in the mean, as a share of this one's size."""
        return float(cKDTree(self.x).query(other.x)[0].mean()) / self.size

    def carries(self, x: FloatArray, v: FloatArray) -> bool:
        """Whether most of the last states, seen as broadly as a turn allows, lie on the curve and move along it, both to the same
        share."""
        window = max(1, len(self.x) // (WINDOWS * BETWEEN))
        if len(x) < SHORTEST_TURN + window:
            return False
        x, v = _seen(x, window)[-SHORTEST_TURN:], _seen(v, window)[-SHORTEST_TURN:]
        off, at = cKDTree(self.x).query(x)
        along = (v * self.v[at]).sum(axis=1) > (1 - 2 * CLOSED) * np.linalg.norm(v, axis=1) * np.linalg.norm(
            self.v[at], axis=1
        )
        return bool((along & (off < 2 * CLOSED * self.size)).mean() > 0.5)


def last_turn(x: FloatArray, v: FloatArray) -> Turn | None:
    """The last full turn of a trajectory; None where it does not go round and round.

    The turn begins where the trajectory crossed the plane through its end, across its motion there, in the same
    direction and next to its end. There must be one before it, of the same size. States that are noisy are seen through
    windows, each the cubic that is nearest to its states: as wide as they must be for the noise to be less than what closes a
    turn, and as narrow as a turn needs. Noise at rest is never so little, since it is all there is.
    """
    if len(x) < 2 * SHORTEST_TURN:
        return None
    top, noise = np.linalg.norm(v, axis=1).max(), noise_of(x, v)
    window = 1
    while WINDOWS * window < len(x):
        turn = _closed(_seen(x, window), _seen(v, window), top)
        if turn is not None and len(turn.x) < BETWEEN * WINDOWS * window:
            return None
        # The cubic's middle has 9 / 4 of the variance that a mean of the window has.
        if turn is not None and 1.5 * noise <= CLOSED * turn.size * np.sqrt(window):
            return replace(turn, chance=noise / radius(turn.x) * np.sqrt(2 * x.shape[1] * BETWEEN / len(turn.x)))
        window = 2 * window + 3
    return None


def _closed(x: FloatArray, v: FloatArray, top: float) -> Turn | None:
    ahead = (x[:-1] - x[-1]) @ v[-1]
    if not ((ahead[:-1] < 0) & (ahead[1:] >= 0)).any():
        return None  # it was never here before: there is no need to look between the states
    least = SHORTEST_TURN * BETWEEN
    x, v = between(x, v)
    back = returned(x, v[-1], len(x) - 1, CLOSED, least)
    if back is None:
        return None
    first = back[0] + 1
    before = returned(x, v[first], first, CLOSED, least)
    if before is None:
        return None
    turn = Turn(x[first:], v[first:])
    speed = np.linalg.norm(turn.v, axis=1)
    size = radius(turn.x)
    grown = size - radius(x[before[0] + 1 : first + 1])
    if abs(grown) >= CLOSED * size or speed.min() < CLOSED * speed.max() or speed.max() < CLOSED * top:
        return None
    return replace(turn, grown=grown / size)


def noise_of(x: FloatArray, v: FloatArray) -> float:
    """Standard deviation of the states beside the cubic from the one before to the one after, the middle one: the way of a
    smooth motion hardly shows there how often, and how evenly, it was sampled."""
    chord = np.linalg.norm(np.diff(x, axis=0), axis=1)
    pace = np.maximum(np.linalg.norm(v[:-2] + v[2:], axis=1) / 2, np.finfo(np.float64).tiny)
    step, time = x[2:] - x[:-2], ((chord[:-1] + chord[1:]) / pace)[:, None]
    s = (chord[:-1] / np.maximum(chord[:-1] + chord[1:], np.finfo(np.float64).tiny))[:, None]
    off = x[1:-1] - x[:-2] - s**2 * (3 - 2 * s) * step - time * s * (1 - s) * ((1 - s) * v[:-2] - s * v[2:])
    ahead = step / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    beside = off - (off * ahead).sum(axis=1, keepdims=True) * ahead
    # Two places of half a weight beside the one between.
    return float(np.median(np.linalg.norm(beside, axis=1)) / np.sqrt(1.5 * max(x.shape[1] - 1, 1)))


def _seen(x: FloatArray, window: int) -> FloatArray:
    """States through windows of so many, but for those that have half a window beside them only."""
    half = window // 2
    if half < 2:
        return x
    middle = np.linalg.pinv(np.vander(np.arange(-half, half + 1) / half, 4))[-1]  # of the cubic, symmetric
    return np.stack([np.convolve(column, middle, mode="valid") for column in x.T], axis=1)


def between(x: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """States along the curve through the samples with their velocities: Hermite's cubic between any two."""
    pace = np.linalg.norm(v[:-1] + v[1:], axis=1, keepdims=True) / 2
    time = np.linalg.norm(np.diff(x, axis=0), axis=1, keepdims=True) / np.maximum(pace, np.finfo(np.float64).tiny)
    return hermite(x, v, time[:, 0])
