"""Builders of path graphs: from known trajectories, and from unordered samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, Caution, DataError, Demonstrations, first_occurrence
from ..graphs import PathGraph
from .ends import Grouping, group_ends
from .fragments import join_fragments, typical_length
from .successors import match_successors

# A path with less than a tenth of the samples of the path a typical sample lies in is a remainder, not a trajectory.
REMAINDER = 0.1
# An end is at rest below a fifth of the path's own top speed (the 90 % quantile), in full motion above a half.
AT_REST, IN_FULL_MOTION = 0.2, 0.5
# The second reading of the ends is worth mentioning when it scores half as much as the first.
RIVAL = 0.5


@dataclass(frozen=True)
class PathFinding:
    """A path graph, how its ends were grouped, and what is doubtful about it.

    `arrived` is the share of attractors at which a path comes to rest.
    """

    graph: PathGraph
    grouping: Grouping
    arrived: float
    warnings: tuple[Caution, ...]


@dataclass(frozen=True)
class TrajectoryGraph:
    """Paths in the order the user gave; only the grouping of their ends is unknown."""

    def build(self, demos: Demonstrations) -> PathFinding:
        if demos.offsets is None:
            raise DataError("TrajectoryGraph expects trajectories, got unordered samples; use SuccessorGraph.")
        step = np.concatenate([np.linalg.norm(np.diff(x, axis=0), axis=1) for x, _ in demos.trajectories()])
        nodes = np.arange(demos.n_samples, dtype=np.intp)
        usable = np.diff(demos.offsets) >= SHORTEST_PATH
        moving = step[step > 0]
        resolution = float(np.median(moving)) if len(moving) else 0.0
        return _grouped(demos, nodes, demos.offsets, usable, resolution, trusted_ends=True)


@dataclass(frozen=True)
class SuccessorGraph:
    """Paths recovered from unordered samples by matching successors. No parameter to set.

    Samples that repeat another one exactly carry no information on order; they follow the one they repeat.
    """

    def build(self, demos: Demonstrations) -> PathFinding:
        first = first_occurrence(demos.x, demos.v)
        index = np.flatnonzero(first)
        x, v = demos.x[index], demos.v[index]
        places = int(first_occurrence(x, np.zeros_like(x)).sum())
        # Many samples at a handful of places are labels or switches, not positions of a motion.
        if places <= demos.dimension + 1 or places < min(10, len(x)):
            raise DataError(
                f"Expected more than {max(9, demos.dimension + 1)} distinct positions in {demos.dimension}-D, got {places}. "
                "Record more samples, or pass trajectories in order of time."
            )
        chains, kin, sure = match_successors(x, v)
        fragments = join_fragments(x, v, chains, kin, beyond_doubt=sure)
        nodes, offsets = fragments.nodes, fragments.offsets
        lengths = np.diff(offsets)
        usable = lengths >= max(SHORTEST_PATH, REMAINDER * typical_length(lengths))
        nodes, offsets = _with_repeats(demos, index[nodes], offsets, first)
        resolution = max(kin.step, 4 * kin.noise_x)
        return _grouped(demos, nodes, offsets, usable, resolution, trusted_ends=False)


def _with_repeats(
    demos: Demonstrations, nodes: IntArray, offsets: IntArray, first: BoolArray
) -> tuple[IntArray, IntArray]:
    """Put every repeated sample right behind the one it repeats."""
    repeats = np.flatnonzero(~first)
    if len(repeats) == 0:
        return nodes, offsets
    both = np.hstack([demos.x, demos.v])
    original = nodes[cKDTree(both[nodes]).query(both[repeats])[1]]
    position = np.empty(len(both))
    position[nodes] = np.arange(len(nodes))
    path = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    key = np.concatenate([np.arange(len(nodes)), position[original] + 0.5])
    owner = np.concatenate([path, path[position[original].astype(np.intp)]])
    order = np.argsort(key, kind="stable")
    counts = np.bincount(owner, minlength=len(offsets) - 1)
    return np.concatenate([nodes, repeats])[order], np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def _grouped(
    demos: Demonstrations, nodes: IntArray, offsets: IntArray, usable: BoolArray, resolution: float, trusted_ends: bool
) -> PathFinding:
    """Group the ends of the usable paths; ends broken off in motion do not found an attractor."""
    x = demos.x
    paths = np.flatnonzero(usable)
    if len(paths) == 0:
        raise DataError(
            f"Expected trajectories of at least {SHORTEST_PATH} samples, found none. Are the velocities those of the "
            "positions, in the same units and with the right sign?"
        )
    ends = x[nodes[offsets[1:] - 1]]
    radius = float(np.sqrt(x.var(axis=0).sum()))
    pace = _end_speed(demos.v, nodes, offsets)
    grouping = group_ends(ends[paths], resolution, radius)
    cautions: list[Caution] = []
    if not trusted_ends:
        # A lone end that is not at rest, beside attractors that several paths reach, is a path that was lost on the way.
        size = np.bincount(grouping.group)
        lost = (size[grouping.group] == 1) & (size.max() > 1) & (pace[paths] > AT_REST)
        if lost.any():
            cautions.append(_broken(int(lost.sum()), len(paths)))
            paths = paths[~lost]
            grouping = group_ends(ends[paths], resolution, radius)
    group = np.full(len(offsets) - 1, -1, dtype=np.intp)
    group[paths] = grouping.group
    graph = PathGraph(len(x), nodes, offsets, group)
    still = np.array([pace[graph.paths_of(q)].min() <= AT_REST for q in range(grouping.n_groups)])
    return PathFinding(graph, grouping, float(still.mean()), (*cautions, *_doubts(demos, graph, grouping, pace)))


def _end_speed(v: FloatArray, nodes: IntArray, offsets: IntArray) -> FloatArray:
    """Speed at the end of every path, relative to the speed it keeps below for nine tenths of its samples.

    Not relative to the median: a recording may stand still for half of its time. The end is the slowest of the last
    three samples or the mean velocity of the last twentieth, whichever is less: noise of a pen at rest averages out.
    """
    out = np.empty(len(offsets) - 1)
    for k, (a, b) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        path = v[nodes[a:b]]
        speed = np.linalg.norm(path, axis=1)
        mean = np.linalg.norm(path[-max(3, len(path) // 20) :].mean(axis=0))
        out[k] = min(speed[-3:].min(), mean) / (np.quantile(speed, 0.9) + np.finfo(np.float64).tiny)
    return out


def _broken(lost: int, total: int) -> Caution:
    return Caution(
        "broken-paths",
        f"{lost} of {total} recovered paths break off in motion where no other path ends; their samples stay "
        "unassigned. Pass trajectories in order of time if you have them, or sample more densely.",
    )


def _doubts(demos: Demonstrations, graph: PathGraph, grouping: Grouping, pace: FloatArray) -> list[Caution]:
    cautions = []
    q = grouping.n_groups
    unassigned = int((graph.labels < 0).sum())
    if unassigned:
        cautions.append(
            Caution(
                "unassigned-samples",
                f"{unassigned} of {demos.n_samples} samples lie in fragments too short to trust and have label -1.",
            )
        )
    moving = [k for k in range(q) if pace[graph.paths_of(k)].min() > AT_REST]
    if moving:
        slowest = max(pace[graph.paths_of(k)].min() for k in moving)
        cautions.append(
            Caution(
                "ends-not-at-rest",
                f"The paths of {len(moving)} of {q} attractors do not end at rest (slowest end at {100 * slowest:.0f} % of "
                "the speed on the way): they may not have arrived, and both number and place of attractors are in doubt. "
                "Record until the motion stops.",
            )
        )
    if grouping.rival is not None and grouping.rival_score > RIVAL * grouping.score:
        cautions.append(
            Caution(
                "two-candidates",
                f"{q} and {grouping.rival} attractors explain the ends of the paths almost equally well; a threshold "
                f"between {grouping.low:.3g} and {grouping.high:.3g} gives {q}.",
            )
        )
    few = [k for k in range(q) if len(graph.paths_of(k)) < demos.dimension + 1]
    if few:
        cautions.append(
            Caution(
                "few-trajectories",
                f"{len(few)} of {q} sub-dynamics have fewer than d + 1 = {demos.dimension + 1} trajectories, so their "
                f"embedding has fewer than {demos.dimension} dimensions. Record more demonstrations for each attractor.",
            )
        )
    orbits = _closed_orbits(demos, graph)
    if orbits == graph.n_paths:
        raise DataError(
            "Expected motion towards attractors, got closed orbits: every path returns to its own track at full speed. "
            "A periodic motion has no point attractor."
        )
    if orbits:
        cautions.append(
            Caution(
                "closed-orbit",
                f"{orbits} of {graph.n_paths} paths return to their own track at full speed: periodic motion has no attractor.",
            )
        )
    return cautions


def _closed_orbits(demos: Demonstrations, graph: PathGraph) -> int:
    """Paths whose end lies on their own earlier track, moving along it.

    On it: within two steps of an earlier sample at least ten samples back, a quarter of a step sideways, with nearly the
    same velocity. A spiral that still converges misses its last turn by more, and a path no longer than ten steps
    across has no track to speak of.
    """
    count = 0
    for k in range(graph.n_paths):
        path = graph.path(k)
        x, v = demos.x[path], demos.v[path]
        speed = np.linalg.norm(v, axis=1)
        # Mean velocity of the last samples: the noise of a pen at rest is not motion.
        if len(path) < 20 or np.linalg.norm(v[-5:].mean(axis=0)) < IN_FULL_MOTION * np.quantile(speed, 0.9):
            continue
        # Several turns interleave into one with short and long steps; the long ones are what a turn leaves open.
        step = np.quantile(np.linalg.norm(np.diff(x, axis=0), axis=1), 0.95)
        gap = x[:-10] - x[-1]
        along = gap @ v[-1] / (v[-1] @ v[-1])
        sideways = np.linalg.norm(gap - along[:, None] * v[-1], axis=1)
        alike = np.linalg.norm(v[:-10] - v[-1], axis=1) < 0.2 * speed[-1]
        on_track = alike & (sideways < step / 4) & (np.linalg.norm(gap, axis=1) < 2 * step)
        count += bool(on_track.any() and np.ptp(x, axis=0).max() > 10 * step)
    return count
