"""What the ends of paths say: which paths share an attractor, which broke off, which go round for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, Caution, DataError
from .ends import Grouping, Reading
from .odd import FEW, Odd, odd_paths
from .told import NOTHING, Told

# An end is at rest below a fifth of the path's own top speed (the 90 % quantile), in full motion above a half.
AT_REST, IN_FULL_MOTION = 0.2, 0.5
# A second reading of the ends is a doubt when one in five such answers would be it.
RIVAL = 0.2


@dataclass(frozen=True)
class PathEnds:
    """All that is asked of K paths: where they end (K, d), how fast relative to their way (`end_pace`), whether they
    are closed orbits, how many samples they have, and whether they are whole enough to count.

    Of recordings also where they start (K, d), the earlier one a path repeats (K,), -1 for none, and whether they stand
    still on the way (K,)."""

    place: FloatArray
    pace: FloatArray
    orbit: BoolArray
    length: IntArray
    usable: BoolArray
    start: FloatArray | None = None
    twin: IntArray | None = None
    pauses: BoolArray | None = None


@dataclass(frozen=True)
class Graded:
    """Sub-dynamics of every path, -1 for none; `arrived` is the share of attractors at which a path comes to rest.

    `labels` says the same of all paths, scraps of samples too that lie on paths of one group. `alternatives` are other
    readings, likewise; `odd` the recordings that are unlike the others.
    """

    group: IntArray
    labels: IntArray
    grouping: Grouping
    arrived: float
    warnings: tuple[Caution, ...]
    alternatives: tuple[Reading, ...] = ()
    odd: tuple[Odd, ...] = ()


def grade_paths(
    ends: PathEnds,
    *,
    resolution: float,
    radius: float,
    trusted_ends: bool,
    told: Told = NOTHING,
    running_on: Callable[[IntArray], IntArray] | None = None,
    lying_on: Callable[[IntArray, IntArray], list[IntArray]] | None = None,
) -> Graded:
    """Group the ends of the usable paths; ends broken off in motion do not found an attractor.

    `running_on` says of paths which other one runs on where they end, -1 for none: a recovered path may have lost its tail.
    `lying_on` says of paths too short to be trusted on which of the others, given too, each lies.
    """
    usable = ends.usable & ~told.excluded(len(ends.pace))
    paths = np.flatnonzero(usable)
    if len(paths) == 0 and ends.usable.any():
        raise DataError("Expected some recordings to be left, got exclude or labels that leave out all of them.")
    if len(paths) == 0:
        raise DataError(
            f"Expected trajectories of at least {SHORTEST_PATH} samples, found none. Are the velocities those of the "
            "positions, in the same units and with the right sign?"
        )

    reach = max(radius, _reach(ends, paths))

    def grouped(of: IntArray) -> Grouping:
        return told.grouping(ends.place[of], of, resolution, reach)

    cautions: list[Caution] = []
    heirs: dict[int, int] = {}
    odd: tuple[Odd, ...] = ()
    twin = np.full(len(ends.pace), -1) if ends.twin is None else ends.twin
    if told.names_paths:
        grouping = grouped(paths)
    elif trusted_ends:
        counted = told.n_attractors is not None or told.resolution is not None
        odd, grouping, paths = odd_paths(
            ends, paths, twin, grouped, resolution=resolution, at_rest=AT_REST, counted=counted
        )
    else:
        grouping = grouped(paths)
        # An end that few paths share, beside attractors that many reach: they were lost on the way if others run on through
        # all of its ends, or, alone, if the path is in motion there.
        size = np.bincount(grouping.group)
        lone = (size[grouping.group] == 1) & (size.max() > 1)
        few = lone | (size[grouping.group] <= FEW * size.max())
        heir = np.full(len(paths), -1, dtype=np.intp)
        if running_on is not None and few.any():
            heir[few] = running_on(paths[few])
        taken = few & np.isin(heir, paths[~few])
        taken &= (np.bincount(grouping.group[taken], minlength=len(size)) == size)[grouping.group]
        lost = lone & ~taken & (ends.pace[paths] > AT_REST)
        if ends.length[paths[lost]].sum() > FEW * ends.length[paths].sum():
            lost[:] = False
        cautions += _broken(int(taken.sum()), int(lost.sum()), len(paths))
        if (taken | lost).any():
            heirs = dict(zip(paths[taken].tolist(), heir[taken].tolist(), strict=True))
            paths = paths[~(taken | lost)]
            grouping = grouped(paths)

    def of_paths(by_end: IntArray) -> IntArray:
        group = np.full(len(ends.pace), -1, dtype=np.intp)
        group[paths] = by_end
        repeats = np.flatnonzero((twin >= 0) & usable)
        group[repeats] = group[twin[repeats]]
        group[list(heirs)] = group[list(heirs.values())]
        return group

    group = of_paths(grouping.group)
    scraps = np.flatnonzero(~ends.usable)
    # Asked once: all readings are of the same paths.
    on = (
        [] if lying_on is None or len(scraps) == 0 or told.names_paths else lying_on(scraps, np.flatnonzero(group >= 0))
    )

    def with_scraps(group: IntArray) -> IntArray:
        out = group.copy()
        if on:
            out[scraps] = adopted(on, group)
        return out

    labels = with_scraps(group)
    slowest = np.full(grouping.n_groups, np.inf)
    np.minimum.at(slowest, grouping.group, ends.pace[paths])
    arrived = float((slowest <= AT_REST).mean())
    alternatives = tuple(Reading(with_scraps(of_paths(r.group)), r.probability) for r in grouping.alternatives)
    doubts = _doubts(ends, group, labels, grouping, slowest)
    return Graded(group, labels, grouping, arrived, (*cautions, *doubts), alternatives, odd)


def adopted(paths: list[IntArray], group: IntArray) -> IntArray:
    """The group of each scrap, -1 where the paths it lies on are not in one, or there are none."""
    return np.array(
        [group[on[0]] if len(on) and (group[on] == group[on[0]]).all() else -1 for on in paths], dtype=np.intp
    )


def _reach(ends: PathEnds, paths: IntArray) -> float:
    """Radius of a square (root of its summed variances) whose corners are as far out as the paths start or end.

    Recordings that rest at their goal for most of the time have a small radius of their own.
    """
    if ends.start is None:
        return 0.0
    places = np.concatenate([ends.start[paths], ends.place[paths]])
    return float(np.linalg.norm(places - places.mean(axis=0), axis=1).max() / np.sqrt(3))


def end_pace(v: FloatArray) -> float:
    """Speed at the end of a path, relative to the speed it keeps below for nine tenths of its samples.

    Not relative to the median: a recording may stand still for half of its time. The end is the slowest of the last
    three samples or the mean velocity of the last twentieth, whichever is less: noise of a pen at rest averages out.
    """
    speed = np.linalg.norm(v, axis=1)
    mean = np.linalg.norm(v[-max(3, len(v) // 20) :].mean(axis=0))
    return float(min(speed[-3:].min(), mean) / (np.quantile(speed, 0.9) + np.finfo(np.float64).tiny))


def has_pause(v: FloatArray) -> bool:
    """Whether a path comes to rest and sets out again: below a fifth of its top speed between two times above a half."""
    speed = np.linalg.norm(v, axis=1)
    pace = speed / (np.quantile(speed, 0.9) + np.finfo(np.float64).tiny)
    state = np.where(pace > IN_FULL_MOTION, 1, np.where(pace < AT_REST, -1, 0))
    moving = state[state != 0] > 0
    stops, starts = np.flatnonzero(moving[:-1] & ~moving[1:]), np.flatnonzero(~moving[:-1] & moving[1:])
    return len(stops) > 0 and bool((starts > stops[0]).any())


def is_orbit(x: FloatArray, v: FloatArray) -> bool:
    """Whether the end of a path lies on its own earlier track, moving along it.

    On it: within two steps of an earlier sample at least ten samples back, a quarter of a step sideways, with nearly the
    same velocity. A spiral that still converges misses its last turn by more, and a path no longer than ten steps
    across has no track to speak of.
    """
    speed = np.linalg.norm(v, axis=1)
    # Mean velocity of the last samples: the noise of a pen at rest is not motion.
    if len(x) < 20 or np.linalg.norm(v[-5:].mean(axis=0)) < IN_FULL_MOTION * np.quantile(speed, 0.9):
        return False
    if speed[-1] == 0:  # stopped dead
        return False
    # Several turns interleave into one with short and long steps; the long ones are what a turn leaves open.
    step = np.quantile(np.linalg.norm(np.diff(x, axis=0), axis=1), 0.95)
    gap = x[:-10] - x[-1]
    along = gap @ v[-1] / (v[-1] @ v[-1])
    sideways = np.linalg.norm(gap - along[:, None] * v[-1], axis=1)
    alike = np.linalg.norm(v[:-10] - v[-1], axis=1) < 0.2 * speed[-1]
    on_track = alike & (sideways < step / 4) & (np.linalg.norm(gap, axis=1) < 2 * step)
    return bool(on_track.any() and np.ptp(x, axis=0).max() > 10 * step)


def _broken(taken: int, lost: int, total: int) -> list[Caution]:
    said = []
    if taken:
        said.append(
            f"{taken} of {total} recovered paths break off where another path runs on, and count to its attractor."
        )
    if lost:
        said.append(
            f"{lost} of {total} recovered paths break off in motion where no other path ends; their samples stay unassigned."
        )
    advice = "Pass trajectories in order of time if you have them, or sample more densely."
    return [Caution("broken-paths", " ".join([*said, advice]))] if said else []


def _doubts(
    ends: PathEnds, group: IntArray, labels: IntArray, grouping: Grouping, slowest: FloatArray
) -> list[Caution]:
    cautions = []
    q, dimension = grouping.n_groups, ends.place.shape[1]
    unassigned, total = int(ends.length[labels < 0].sum()), int(ends.length.sum())
    if unassigned:
        cautions.append(
            Caution(
                "unassigned-samples",
                f"{unassigned} of {total} samples lie in fragments too short to trust and have label -1.",
            )
        )
    moving = slowest[slowest > AT_REST]
    if len(moving):
        cautions.append(
            Caution(
                "ends-not-at-rest",
                f"The paths of {len(moving)} of {q} attractors do not end at rest (slowest end at {100 * moving.max():.0f} % of "
                "the speed on the way): they may not have arrived, and both number and place of attractors are in doubt. "
                "Record until the motion stops.",
            )
        )
    rival = grouping.rival
    if rival is not None and rival.probability > RIVAL:
        cautions.append(
            Caution(
                "two-candidates",
                f"{q} and {rival.n_groups} attractors explain the ends of the paths about as well (probabilities "
                f"{grouping.probability:.2f} and {rival.probability:.2f}); found.alternatives has both. Record more "
                "demonstrations, or say n_attractors=...",
            )
        )
    few = int((np.bincount(group[group >= 0]) < dimension + 1).sum())
    if few:
        cautions.append(
            Caution(
                "few-trajectories",
                f"{few} of {q} sub-dynamics have fewer than d + 1 = {dimension + 1} trajectories, so their "
                f"embedding has fewer than {dimension} dimensions. Record more demonstrations for each attractor.",
            )
        )
    orbits, paths = int(ends.orbit.sum()), len(ends.orbit)
    if orbits == paths:
        raise DataError(
            "Expected motion towards attractors, got closed orbits: every path returns to its own track at full speed. "
            "A periodic motion has no point attractor."
        )
    if orbits:
        cautions.append(
            Caution(
                "closed-orbit",
                f"{orbits} of {paths} paths return to their own track at full speed: periodic motion has no attractor.",
            )
        )
    return cautions
