"""Faults that show only beside the others: where an episode ends, how it goes there, how fast, and whether it is a copy."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .faults import TRIM
from .goals import Goals
from .looked import Looked, travelled
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
TOLD = {"breaks off": "cut-off", "runs backwards": "backwards", "ends alone": "no-goal"}
"""What identification calls odd, and the fault that it is."""
POINTS = 24
"""Places along a way at which it is compared with others."""


def ends_of(looked: Looked) -> tuple[FloatArray, FloatArray]:
    """Where each episode ends (n, d), and how fast it still is there, in shares of its mean speed under way."""
    ends, speeds, tiny = [], [], np.finfo(float).tiny
    for e, rest, time in zip(looked.items, looked.rested, looked.times, strict=True):
        lag = max(1, min(len(e) // 50, len(e) - 1))
        ends.append(e.x[-lag:].mean(axis=0) if rest.stop < len(e) else e.x[-1])
        if len(e) < 3:
            speeds.append(0.0)
            continue
        last = np.linalg.norm(e.x[-1] - e.x[-1 - lag]) / max(e.t[-1] - e.t[-1 - lag], tiny)
        speeds.append(float(last / max(travelled(e.x, lag) / time, tiny)))
    return np.array(ends), np.array(speeds)


def short(looked: Looked) -> BoolArray:
    """Episodes that are over before they began: a fraction of the way and of the time of the others."""
    ways, times, tiny, matters = looked.ways, looked.times, np.finfo(float).tiny, float(np.log(SHORT))
    by_way = judged(-np.log(np.maximum(ways / max(np.median(ways), tiny), tiny)), matters, spread)
    found = judged(-np.log(np.maximum(times / max(np.median(times), tiny), 1e-9)), matters, spread).also(by_way)
    count = np.array([len(e) for e in looked.items])
    bad = found.bad | (count < 3)
    for k in np.flatnonzero(bad):
        way, sure = 100 * ways[k] / max(np.median(ways), tiny), 1.0 if count[k] < 3 else found.confidence[k]
        looked.blame(k, "too-short", found.value[k], matters, sure, count=count[k], way=way)
    return np.asarray(bad)


def arrivals(looked: Looked, goals: Goals, speeds: FloatArray, healthy: BoolArray) -> None:
    """Episodes that break off in motion, and those that come to rest where no other does."""
    if goals.cyclic or not len(goals.places):
        return
    distance = judged(goals.distance / looked.size, AWAY, excess)
    fast = judged(speeds, MOVING, excess)
    lonely = distance.bad & ~fast.bad
    share = (lonely[healthy].sum() + 1) / (healthy.sum() + 2)
    for k in np.flatnonzero(distance.bad & healthy):
        away = 100 * goals.distance[k] / looked.size
        if fast.bad[k]:
            looked.accuse(k, "cut-off", distance.also(fast), speed=100 * speeds[k], away=away)
        elif share <= FEW:
            back = np.linalg.norm(goals.places - looked.items[k].x[0], axis=1).min() <= AWAY * looked.size
            sure = float(min(distance.confidence[k], 1 - share))
            name = "backwards" if back else "no-goal"
            looked.blame(k, name, distance.value[k], distance.threshold, sure, away=away)


def taken_over(looked: Looked, goals: Goals, speeds: FloatArray) -> None:
    """What identification found odd of episodes that nothing else is said of but rests: no surer than the goals are."""
    for k, odd in goals.odd:
        if odd.kind not in TOLD or any(f.action != TRIM for f in looked.out[k]):
            continue
        alike = sum(o.kind == odd.kind for _, o in goals.odd)
        # Laplace's rule: the chance that one of this set is so and meant so, after as many that are.
        sure = min(goals.confidence, 1 - (alike + 1) / (len(looked.out) + 2))
        name, what = TOLD[odd.kind], odd.what[0].upper() + odd.what[1:]
        value = (speeds[k], MOVING) if name == "cut-off" else (goals.distance[k] / looked.size, AWAY)
        looked.blame(k, f"{name} as identified", *value, sure, what=what)


def tasks(looked: Looked, goals: Goals, arrived: BoolArray) -> None:
    """Episodes that reach a goal which is that of another task, where nearly all of their task reach one goal."""
    told = np.array([-1 if e.task is None else e.task for e in looked.items])
    usual: dict[int, tuple[int, float]] = {}
    for task in np.unique(told[told >= 0]):
        count = np.bincount(goals.of[(told == task) & arrived & (goals.of >= 0)], minlength=len(goals.places))
        if count.sum() > 2:
            # Laplace's rule: the chance that one of this task goes elsewhere, after so many that did not.
            usual[int(task)] = int(np.argmax(count)), float((count.max() + 1) / (count.sum() + 2))
    homes = {goal: task for task, (goal, _) in usual.items()}

    def called(task: int) -> str:
        said = looked.episodes.tasks.get(task)
        return str(task) if said is None else f"{task} ({said[:60]})"

    for k in np.flatnonzero((told >= 0) & arrived):
        goal, share = usual.get(int(told[k]), (-1, 0.0))
        mine = int(goals.of[k])
        if goal >= 0 and mine >= 0 and mine != goal and share >= 0.75 and homes.get(mine, told[k]) != told[k]:
            there, task = called(homes[mine]), called(int(told[k]))
            looked.blame(k, "other-goal", confidence=share, goal=mine, there=there, usual=goal, task=task)


def pace(looked: Looked, group: IntArray) -> None:
    """Episodes that take much longer, or shorter, than their like, and move as much slower or faster."""
    ways, times, tiny, matters = looked.ways, looked.times, np.finfo(float).tiny, float(np.log(PACE))
    moving = (ways > 0) & looked.moves
    log_time = np.where(moving, np.log(np.maximum(times, tiny)), 0.0)
    log_speed = np.where(moving, np.log(np.maximum(ways, tiny) / np.maximum(times, tiny)), 0.0)
    log_time, log_speed = _about_like(log_time, group), _about_like(log_speed, group)
    for name, sign in (("slow", 1.0), ("fast", -1.0)):
        found = judged(sign * log_time, matters, spread).also(judged(-sign * log_speed, matters, spread))
        others = looked.of("too-short", "cut-off", "time-gap", "jump", "frozen")
        for k in np.flatnonzero(found.bad & moving & ~others):
            # Rests of a slow episode are long because it is slow.
            looked.out[k][:] = [f for f in looked.out[k] if name == "fast" or not f.name.startswith("idle")]
            looked.accuse(k, name, found, times=np.exp(abs(log_time[k])))


def _about_like(values: FloatArray, group: IntArray) -> FloatArray:
    """Values less the median of those with the same goal, where these are enough to have one; else of all."""
    out = values - np.median(values)
    for q in np.unique(group[group >= 0]):
        mine = group == q
        if mine.sum() >= FEWEST:
            out[mine] = values[mine] - np.median(values[mine])
    return np.asarray(out)


def ways(looked: Looked, points: FloatArray, group: IntArray, compare: BoolArray) -> None:
    """Ways (n, POINTS, d) that leave those of the others to the same goal between a start and an end that are like theirs."""
    value = np.zeros(len(points))
    for q in np.unique(group[group >= 0]):
        mine = np.flatnonzero((group == q) & compare)
        if len(mine) >= 3:
            value[mine] = _excess(points[mine]) / looked.size
    found = judged(value, DETOUR, excess)
    for k in np.flatnonzero(found.bad & compare):
        looked.accuse(k, "unlike", found, away=100 * value[k])


def _excess(points: FloatArray) -> FloatArray:
    """How much farther each way is from all others somewhere between than at its start or its end."""
    n, m, d = points.shape
    tree = cKDTree(points.reshape(-1, d))
    away, index = tree.query(points.reshape(-1, d), k=min(m + 1, n * m))
    own = index // m == np.repeat(np.arange(n), m)[:, None]
    nearest = np.where(own, np.inf, away).min(axis=1).reshape(n, m)
    return np.asarray(nearest.max(axis=1) - np.maximum(nearest[:, 0], nearest[:, -1]))


def repeats(looked: Looked, points: FloatArray) -> None:
    """Episodes that are copies of an earlier one: the same way to within what rounding leaves, in as many samples."""
    flat = points.reshape(len(points), -1) / (looked.size * np.sqrt(points.shape[1]))
    pairs = cKDTree(flat).query_pairs(COPY, output_type="ndarray")
    for a, b in sorted(map(tuple, pairs.tolist())):
        if not any(f.name == "repeated" for f in looked.out[b]):
            other = looked.items[a]
            looked.blame(b, "repeated", other=f"{other.number} ({other.name})" if other.name else str(other.number))


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
