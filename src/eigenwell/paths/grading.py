"""What the ends of paths say: which paths share an attractor, which broke off, which go round for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, Caution, DataError
from .ends import Ends, Grouping, Reading
from .odd import Odd, lost_odds, odd_paths, strays
from .told import NOTHING, Told

# An end is at rest below a fifth of the path's own top speed (the 90 % quantile), in full motion above a half.
AT_REST, IN_FULL_MOTION = 0.2, 0.5
# Nothing is more at rest than this: what noise leaves of a recording's velocity.
STILL = 0.02
# A second reading of the ends is a doubt when one in five such answers would be it.
RIVAL = 0.2
# Ends of recovered paths that fewer share than this part of the largest group may be places where they were torn.
FEW = 0.25
# Beyond this share of the box a path that has not slowed down says nothing about its goal.
UNKNOWN_WAY = 0.1


@dataclass(frozen=True)
class PathEnds:
    """All that is asked of K paths: where they end (K, d), how fast relative to their way (`end_pace`), how far they still had
    to go (`way_left`) in units of the data's box, whether they are closed orbits, how many samples they have, whether they are
    whole enough to count, how far `ahead` (K, d) they are `bound.bound_for`, in the same units, with an `error` (K,), and what
    their places were rounded to at most, the `grain` (K, d).

    Of recordings also where they start (K, d), the earlier one a path repeats (K,), -1 for none, and whether they stand
    still on the way (K,); and the speed in motion (K,), see `full_speed`."""

    place: FloatArray
    pace: FloatArray
    way: FloatArray
    orbit: BoolArray
    length: IntArray
    usable: BoolArray
    ahead: FloatArray
    error: FloatArray
    grain: FloatArray
    start: FloatArray | None = None
    twin: IntArray | None = None
    pauses: BoolArray | None = None
    full: FloatArray | None = None

    def beside_others(self) -> PathEnds:
        """Paces beside those of the others: a path many times slower than most is at rest all along, and has no pause."""
        if self.full is None or not self.usable.any():
            return self
        share = np.minimum(self.full / (AT_REST * np.median(self.full[self.usable])), 1.0)
        return replace(self, pace=self.pace * share, pauses=None if self.pauses is None else self.pauses & (share == 1))


@dataclass(frozen=True)
class Graded:
    """Sub-dynamics of every path, -1 for none; `arrived` (Q,) says of every attractor how near to rest a path came there: 1 less
    its speed, as a share of that on the way, or less what it had to go, as a share of a tenth of the box, whichever is more.

    `labels` says the same of all paths, scraps of samples too that lie on paths of one group; `sure` (K,) is the probability of
    each of them. `alternatives` are other readings, likewise; `odd` the recordings that are unlike the others.
    """

    group: IntArray
    labels: IntArray
    sure: FloatArray
    grouping: Grouping
    arrived: FloatArray
    warnings: tuple[Caution, ...]
    alternatives: tuple[Reading, ...] = ()
    odd: tuple[Odd, ...] = ()


def grade_paths(
    ends: PathEnds,
    *,
    extent: FloatArray,
    trusted_ends: bool,
    told: Told = NOTHING,
    running_on: Callable[[IntArray], IntArray] | None = None,
    lying_on: Callable[[IntArray, IntArray], list[IntArray]] | None = None,
) -> Graded:
    """Group the ends of the usable paths, by the model of `evidence`; `extent` (d,) is the size of the data's box.

    `running_on` says of paths which other one runs on where they end, -1 for none: a recovered path may have lost its tail.
    `lying_on` says of paths too short to be trusted on which of the others, given too, each lies.
    """
    ends = ends.beside_others()
    usable = ends.usable & ~told.excluded(len(ends.pace))
    twin = np.full(len(ends.pace), -1) if ends.twin is None else ends.twin
    paths = np.flatnonzero(usable & (twin < 0))
    if len(paths) == 0 and ends.usable.any():
        raise DataError("Expected some recordings to be left, got exclude or labels that leave out all of them.")
    if len(paths) == 0:
        raise DataError(
            f"Expected trajectories of at least {SHORTEST_PATH} samples, found none. Are the velocities those of the "
            "positions, in the same units and with the right sign?"
        )
    way, error = np.minimum(ends.way, UNKNOWN_WAY), np.minimum(ends.error, UNKNOWN_WAY)
    grain = ends.grain[paths].min(axis=0)
    grain = np.where(np.isfinite(grain), grain, 0.0)
    measured = Ends(ends.place, extent, way, lost_odds(ends, paths, extent), ends.ahead, error, grain)
    grouping = told.grouping(measured.take(paths), paths)
    heirs = np.full(len(ends.pace), -1, dtype=np.intp)
    if running_on is not None and not told.names_paths:
        size = np.append(np.bincount(grouping.group[grouping.group >= 0]), 0)
        few = paths[size[grouping.group] <= (max(1, FEW * size.max()) if size.max() > 1 else 0)]
        heirs[few] = running_on(few) if len(few) else -1
        # An end is none where others run on through all ends of its group.
        torn = (heirs >= 0) & ~np.isin(heirs, few)
        for q in np.unique(grouping.group[torn[paths]]):
            mine = paths[grouping.group == q]
            if q >= 0 and not torn[mine].all():
                torn[mine] = False
        heirs[~torn] = -1
        if torn.any():
            paths = paths[~torn[paths]]
            grouping = told.grouping(measured.take(paths), paths)
    home = strays(measured.take(paths), grouping.group)

    def of_paths(by_end: IntArray) -> IntArray:
        group = np.full(len(ends.pace), -1, dtype=np.intp)
        group[paths] = np.where(by_end < 0, by_end[home] * (home >= 0) - (home < 0), by_end)
        for later in (twin * usable - ~usable, heirs):
            follows = np.flatnonzero(later >= 0)
            group[follows] = group[later[follows]]
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
    sure = np.full(len(ends.pace), grouping.membership.min())
    sure[paths] = np.where(grouping.group < 0, 0.5, grouping.membership)
    sure[heirs >= 0] = sure[heirs[heirs >= 0]]
    slowest = np.full(grouping.n_groups, np.inf)
    kept = grouping.group >= 0
    under_way = np.maximum(ends.pace, np.minimum(ends.way / UNKNOWN_WAY, 1.0))
    np.minimum.at(slowest, grouping.group[kept], under_way[paths[kept]])
    alternatives = tuple(Reading(with_scraps(of_paths(r.group)), r.probability) for r in grouping.alternatives)
    odd = odd_paths(ends, paths, grouping, home, extent) if trusted_ends and not told.names_paths else ()
    doubts = [
        *_broken(int((heirs >= 0).sum()), 0 if trusted_ends else int((group[paths] < 0).sum()), int(usable.sum()))
    ]
    doubts += _doubts(ends, group, labels, grouping, slowest)
    return Graded(group, labels, sure, grouping, 1 - np.minimum(slowest, 1.0), tuple(doubts), alternatives, odd)


def adopted(paths: list[IntArray], group: IntArray) -> IntArray:
    """The group of each scrap, -1 where the paths it lies on are not in one, or there are none."""
    return np.array(
        [group[on[0]] if len(on) and (group[on] == group[on[0]]).all() else -1 for on in paths], dtype=np.intp
    )


def way_left(x: FloatArray, v: FloatArray) -> float:
    """How far a path still had to go, by its own slowing down: the way since it was twice as fast.

    For a decaying motion speed is proportional to the way left. Mean velocities over a twentieth of the path, at least three
    samples: noise of a sensor at rest leaves its own small wiggle. Infinite where the path never slowed down.
    """
    width = min(max(3, len(v) // 20), len(v))
    total = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(v, axis=0)])
    pace = np.linalg.norm(total[width:] - total[:-width], axis=1)
    fast = np.flatnonzero(pace >= 2 * pace[-1])
    if len(fast) == 0:
        return float("inf")
    then, now = (np.median(x[k : k + width], axis=0) for k in (fast[-1], len(pace) - 1))
    return float(np.linalg.norm(now - then))


def full_speed(v: FloatArray) -> float:
    """The speed of a path in motion: its largest median velocity over a twentieth of it, at least three samples.

    Not a quantile over time: a recording may stand still for most of it, where a sensor leaves noise that averages out.
    """
    width = min(max(3, len(v) // 20), len(v))
    pieces = v[len(v) % width :].reshape(-1, width, v.shape[1])
    return float(np.linalg.norm(np.median(pieces, axis=1), axis=1).max()) + np.finfo(np.float64).tiny


def end_pace(v: FloatArray) -> float:
    """Speed at the end of a path, relative to its `full_speed`.

    The end is the slowest of the last three samples or the mean velocity of the last twentieth, whichever is less: noise of
    a pen at rest averages out.
    """
    mean = np.linalg.norm(v[-max(3, len(v) // 20) :].mean(axis=0))
    return float(min(np.linalg.norm(v[-3:], axis=1).min(), mean) / full_speed(v))


def has_pause(v: FloatArray) -> bool:
    """Whether a path comes to rest on the way: nearly as much as at its end.

    A system that passes a saddle slows down too, but not to the rest it comes to later.
    """
    return len(rests(v, min(AT_REST, max(STILL, 2 * end_pace(v))))) > 0


def rests(v: FloatArray, still: float = STILL) -> IntArray:
    """Where a path comes to rest and sets out again: its slowest samples between two times in full motion."""
    speed = np.linalg.norm(v, axis=1)
    # Between two samples that move against each other it stood still, whichever of them is slower.
    between = np.linalg.norm(v + np.concatenate([v[1:], v[-1:]]), axis=1) / 2
    pace, slow = np.stack([speed, np.minimum(speed, between)]) / full_speed(v)
    moving = np.flatnonzero(pace > IN_FULL_MOTION)
    gaps = zip(moving[:-1], moving[1:], strict=True)
    slowest = [a + int(np.argmin(slow[a:b])) for a, b in gaps if b > a + 1]
    return np.array([k for k in slowest if slow[k] <= still], dtype=np.intp)


def is_orbit(x: FloatArray, v: FloatArray) -> bool:
    """Whether the end of a path lies on its own earlier track, moving along it.

    On it: within two steps of an earlier sample at least ten samples back, a quarter of a step sideways, with nearly the
    same velocity. A spiral that still converges misses its last turn by more, and a path no longer than ten steps
    across has no track to speak of.
    """
    speed = np.linalg.norm(v, axis=1)
    # Mean velocity of the last samples: the noise of a pen at rest is not motion.
    if len(x) < 20 or np.linalg.norm(v[-5:].mean(axis=0)) < IN_FULL_MOTION * full_speed(v):
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
                f"The paths of {len(moving)} of {q} attractors do not end at rest: by their speed or by how they slow down they "
                "may not have arrived, and both number and place of attractors are in doubt. Record until the motion stops.",
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
