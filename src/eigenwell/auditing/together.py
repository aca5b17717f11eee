"""Faults that show only beside the others: where an episode ends, how it goes there, how fast, and whether it is a copy."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .alone import Faults
from .episodes import Episodes
from .faults import TRIM, fault
from .goals import Goals
from .measures import Rests
from .tails import FEWEST, excess, judged, spread

# Every number here says from where on a thing matters at all; whether it is unusual the set itself says.
MOVING = 0.2  # of its mean speed: slower is coming to rest
AWAY = 0.03  # of the usual size of an episode: nearer is there
PACE = 2.0  # a factor: less is another mood
SHORT = 8.0  # a factor in length of way and in time: what is longer was cut off, not begun by mistake
DETOUR = 0.05  # of the usual size
COPY = 1e-6  # of the usual size: what rounding in files leaves
FEW = 0.15  # places that more than this share of episodes reach alone are how the set is, not a fault
TOLD = {
    "breaks off": ("cut-off", "Leave it out."),
    "runs backwards": ("backwards", "Reverse it or leave it out."),
    "ends alone": ("no-goal", "Leave it out, or record more that go there."),
}
"""What identification calls odd: the fault that it is, and what to do. Copies are told by `repeats`, with what they repeat."""
POINTS = 24
"""Places along a way at which it is compared with others."""


def ends_of(episodes: Episodes, rested: list[Rests]) -> tuple[FloatArray, FloatArray]:
    """Where each episode ends (n, d), and how fast it still is there, in shares of its mean speed under way."""
    ends, speeds = [], []
    for e, rest in zip(episodes.items, rested, strict=True):
        lag = max(1, min(len(e) // 50, len(e) - 1))
        tail = e.x[-max(1, lag) :]
        ends.append(tail.mean(axis=0) if rest.stop < len(e) else e.x[-1])
        if len(e) < 3:
            speeds.append(0.0)
            continue
        last = np.linalg.norm(e.x[-1] - e.x[-1 - lag]) / max(e.t[-1] - e.t[-1 - lag], np.finfo(float).tiny)
        mean = travelled(e.x, lag) / max(under_way(e.t, rest), e.step)
        speeds.append(float(last / max(mean, np.finfo(float).tiny)))
    return np.array(ends), np.array(speeds)


def travelled(x: FloatArray, lag: int) -> float:
    """Length of the way, by samples `lag` apart: noise adds less."""
    some = np.vstack([x[::lag], x[-1:]])
    return float(np.linalg.norm(np.diff(some, axis=0), axis=1).sum())


def under_way(t: FloatArray, rest: Rests) -> float:
    """Time between the rests at both ends, less the longest rest between."""
    return 0.0 if rest.middle == (0, len(t)) else rest.spans(t)[3]


def short(episodes: Episodes, rested: list[Rests], out: Faults) -> BoolArray:
    """Episodes that are over before they began: a fraction of the way and of the time of the others."""
    ways, times = _way_and_time(episodes, rested)
    tiny = np.finfo(float).tiny
    by_way = judged(-np.log(np.maximum(ways / max(np.median(ways), tiny), tiny)), float(np.log(SHORT)), spread)
    by_time = judged(-np.log(np.maximum(times / max(np.median(times), tiny), 1e-9)), float(np.log(SHORT)), spread)
    found = by_time.also(by_way)
    count = np.array([len(e) for e in episodes.items])
    bad = found.bad | (count < 3)
    for k in np.flatnonzero(bad):
        said = f"Only {count[k]} samples, {100 * ways[k] / max(np.median(ways), tiny):.0f} % of the usual way. Leave it out."
        sure = 1.0 if count[k] < 3 else float(found.confidence[k])
        out[k].append(fault("too-short", said, float(found.value[k]), float(np.log(SHORT)), sure))
    return np.asarray(bad)


def _way_and_time(episodes: Episodes, rested: list[Rests]) -> tuple[FloatArray, FloatArray]:
    ways = np.array([travelled(e.x, max(1, len(e) // 50)) for e in episodes.items])
    return ways, np.array([max(under_way(e.t, r), e.step) for e, r in zip(episodes.items, rested, strict=True)])


def arrivals(
    goals: Goals, speeds: FloatArray, size: float, starts: FloatArray, healthy: BoolArray, out: Faults
) -> None:
    """Episodes that break off in motion, and those that come to rest where no other does."""
    if goals.cyclic or not len(goals.places):
        return
    distance = judged(goals.distance / size, AWAY, excess)
    fast = judged(speeds, MOVING, excess)
    lonely = distance.bad & ~fast.bad
    share = (lonely[healthy].sum() + 1) / (healthy.sum() + 2)
    for k in np.flatnonzero(distance.bad & healthy):
        if fast.bad[k]:
            both = distance.also(fast)
            said = (
                f"Breaks off in motion, at {100 * speeds[k]:.0f} % of its mean speed and {100 * goals.distance[k] / size:.0f} "
                "% of the usual size from the nearest goal. Leave it out."
            )
            out[k].append(both.fault(int(k), "cut-off", said))
        elif share <= FEW:
            back = np.linalg.norm(goals.places - starts[k], axis=1).min() <= AWAY * size
            said = "Starts at a goal and ends where none is: it runs backwards. Reverse it or leave it out."
            if not back:
                said = (
                    f"Comes to rest where no other episode does, {100 * goals.distance[k] / size:.0f} % of the usual size "
                    "from the nearest goal. Leave it out, or record more that go there."
                )
            sure = float(min(distance.confidence[k], 1 - share))
            name = "backwards" if back else "no-goal"
            out[k].append(fault(name, said, float(distance.value[k]), distance.threshold, sure))


def taken_over(goals: Goals, speeds: FloatArray, size: float, out: Faults) -> None:
    """What identification found odd of episodes that nothing else is said of but rests: no surer than the goals are."""
    for k, odd in goals.odd:
        if odd.kind not in TOLD or any(f.action != TRIM for f in out[k]):
            continue
        alike = sum(o.kind == odd.kind for _, o in goals.odd)
        # Laplace's rule: the chance that one of this set is so and meant so, after as many that are.
        sure = min(goals.confidence, 1 - (alike + 1) / (len(out) + 2))
        name, advice = TOLD[odd.kind]
        value, matters = (speeds[k], MOVING) if name == "cut-off" else (goals.distance[k] / size, AWAY)
        out[k].append(fault(name, f"{odd.what[0].upper()}{odd.what[1:]}. {advice}", float(value), matters, sure))


def tasks(episodes: Episodes, goals: Goals, arrived: BoolArray, out: Faults) -> None:
    """Episodes that reach a goal which is that of another task, where nearly all of their task reach one goal."""
    told = np.array([-1 if e.task is None else e.task for e in episodes.items])
    usual: dict[int, tuple[int, float]] = {}
    for task in np.unique(told[told >= 0]):
        count = np.bincount(goals.of[(told == task) & arrived & (goals.of >= 0)], minlength=len(goals.places))
        if count.sum() > 2:
            # Laplace's rule: the chance that one of this task goes elsewhere, after so many that did not.
            usual[int(task)] = int(np.argmax(count)), float((count.max() + 1) / (count.sum() + 2))
    homes = {goal: task for task, (goal, _) in usual.items()}
    for k in np.flatnonzero((told >= 0) & arrived):
        goal, share = usual.get(int(told[k]), (-1, 0.0))
        mine = int(goals.of[k])
        if goal >= 0 and mine >= 0 and mine != goal and share >= 0.75 and homes.get(mine, told[k]) != told[k]:
            said = (
                f"Reaches goal {mine}, where task {_task(episodes, homes[mine])} goes, and not goal {goal} of its own task "
                f"{_task(episodes, int(told[k]))}. Correct its task, or leave it out."
            )
            out[k].append(fault("other-goal", said, 1.0, 0.5, share))


def _task(episodes: Episodes, task: int) -> str:
    said = episodes.tasks.get(task)
    return str(task) if said is None else f"{task} ({said[:60]})"


def pace(episodes: Episodes, rested: list[Rests], group: IntArray, out: Faults) -> None:
    """Episodes that take much longer, or shorter, than their like, and move as much slower or faster."""
    ways, times = _way_and_time(episodes, rested)
    tiny = np.finfo(float).tiny
    moving = (ways > 0) & np.array([r.middle != (0, len(e)) for e, r in zip(episodes.items, rested, strict=True)])
    log_time = np.where(moving, np.log(np.maximum(times, tiny)), 0.0)
    log_speed = np.where(moving, np.log(np.maximum(ways, tiny) / np.maximum(times, tiny)), 0.0)
    log_time, log_speed = _about_like(log_time, group), _about_like(log_speed, group)
    for name, sign, word in (("slow", 1.0, "slower"), ("fast", -1.0, "faster")):
        by_time = judged(sign * log_time, float(np.log(PACE)), spread)
        found = by_time.also(judged(-sign * log_speed, float(np.log(PACE)), spread))
        for k in np.flatnonzero(found.bad & moving):
            if not {f.name for f in out[k]} & {"too-short", "cut-off", "time-gap", "jump", "frozen"}:
                said = (
                    f"{np.exp(abs(log_time[k])):.1f} times {word} than the others. Leave it out, or change its times."
                )
                # Rests of a slow episode are long because it is slow.
                out[k] = [f for f in out[k] if name == "fast" or not f.name.startswith("idle")]
                out[k].append(found.fault(int(k), name, said))


def _about_like(values: FloatArray, group: IntArray) -> FloatArray:
    """Values less the median of those with the same goal, where these are enough to have one; else of all."""
    out = values - np.median(values)
    for q in np.unique(group[group >= 0]):
        mine = group == q
        if mine.sum() >= FEWEST:
            out[mine] = values[mine] - np.median(values[mine])
    return np.asarray(out)


def ways(points: FloatArray, group: IntArray, size: float, compare: BoolArray, out: Faults) -> None:
    """Ways (n, POINTS, d) that leave those of the others to the same goal between a start and an end that are like theirs."""
    n = len(points)
    value = np.zeros(n)
    for q in np.unique(group[group >= 0]):
        mine = np.flatnonzero((group == q) & compare)
        if len(mine) < 3:
            continue
        value[mine] = _excess(points[mine]) / size
    found = judged(value, DETOUR, excess)
    for k in np.flatnonzero(found.bad & compare):
        said = (
            f"Goes a way of its own: {100 * value[k]:.0f} % of the usual size farther from the others to its goal than its "
            "start and end are. Look at it; leave it out unless this way is meant."
        )
        out[k].append(found.fault(int(k), "unlike", said))


def _excess(points: FloatArray) -> FloatArray:
    """How much farther each way is from all others somewhere between than at its start or its end."""
    n, m, d = points.shape
    tree = cKDTree(points.reshape(-1, d))
    away, index = tree.query(points.reshape(-1, d), k=min(m + 1, n * m))
    own = index // m == np.repeat(np.arange(n), m)[:, None]
    nearest = np.where(own, np.inf, away).min(axis=1).reshape(n, m)
    return np.asarray(nearest.max(axis=1) - np.maximum(nearest[:, 0], nearest[:, -1]))


def repeats(episodes: Episodes, points: FloatArray, size: float, out: Faults) -> None:
    """Episodes that are copies of an earlier one: the same way to within what rounding leaves, in as many samples."""
    flat = points.reshape(len(points), -1) / (size * np.sqrt(points.shape[1]))
    pairs = cKDTree(flat).query_pairs(COPY, output_type="ndarray")
    for a, b in sorted(map(tuple, pairs.tolist())):
        if not any(f.name == "repeated" for f in out[b]):
            other = episodes.items[a]
            called = f"{other.number} ({other.name})" if other.name else str(other.number)
            out[b].append(fault("repeated", f"Repeats episode {called}. Leave one of them out.", 1.0, 0.5))


def along(x: FloatArray, rest: Rests) -> FloatArray:
    """(POINTS, d) places along the way under way, at equal shares of its length."""
    inner = x[max(rest.start - 1, 0) : max(rest.stop, rest.start) + 1]
    lag = max(1, len(inner) // 100)
    some = np.vstack([inner[::lag], inner[-1:]])
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(some, axis=0), axis=1))])
    if gone[-1] <= 0:
        return np.repeat(some[:1], POINTS, axis=0)
    at = np.linspace(0, gone[-1], POINTS)
    return np.column_stack([np.interp(at, gone, c) for c in some.T])
