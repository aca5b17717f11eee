"""From pointer events to demonstrations: repaired clocks, one sampling rate, a pen that stops where it is lifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError, Demonstrations
from ..velocities import estimate_velocities

DOT = 0.01
"""A mark smaller than this, in world units (a hundredth of the shorter side's half), is a tap and not a motion."""
SHORTEST_STEP = 1 / 120
"""Seconds. Faster pointers report the same hand: more samples would only carry the pixels' rounding into velocities."""
USUAL_STEP = 1 / 60
"""Seconds between events where a stroke's clock says nothing."""
MOST_SAMPLES = 3000
"""Of all strokes together after resampling: what identifies in a fraction of the half second a reader waits."""
FEWEST_SAMPLES = 12
"""Of one stroke: a quick flick has few events, and velocities are fitted to seven samples at a time."""
DWELL = 0.1
"""Seconds of standing still that are kept at either end: rest is rest, however long the pen lay there."""
STILL = 0.004
"""World units; a pointer within this distance of its end has arrived. A pixel or two on a usual screen."""
BRAKING = 0.1
"""Seconds before the lift in which a pen that is lifted at speed is slowed down to rest."""
AT_SPEED = 0.2
"""Share of a stroke's usual speed above which its end counts as lifted at speed, as in `paths.arrival`."""

TURNS = 1.5
"""A stroke that turns more often than this about its own middle goes round: a loop on the way, an eight or a letter turns
less, or turns back."""
SHRUNK = 0.7
"""Its last turn over its first, at most, for a spiral that is on its way to rest: a hand's own turns differ by less."""
HOLE = 0.25
"""Of the ring: what comes nearer to the middle than this does not go round it."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """One stroke as the page sends it: seconds (n,) and world coordinates (n, 2).

    With velocities v (n, 2) it is no motion but samples from a brush, in no order; t then says nothing.
    """

    id: str
    t: FloatArray
    x: FloatArray
    v: FloatArray | None = None

    def same_as(self, other: Stroke) -> bool:
        if self.id != other.id or (self.v is None) != (other.v is None):
            return False
        mine, theirs = ([one.t, one.x] + ([] if one.v is None else [one.v]) for one in (self, other))
        return all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))


@dataclass(frozen=True, eq=False)
class Drawing:
    """Strokes as demonstrations, and how to get back to the strokes.

    ids       strokes that became samples, in order; those of stroke ids[k] are rows offsets[k] to offsets[k + 1]
    nearest   for each of them, the sample of `demos` that stands for every event of the stroke
    step      seconds between samples
    cautions  strokes that were left out, in words
    rounds    strokes that go round and round, left out until somebody says where they should stop
    """

    demos: Demonstrations
    ids: tuple[str, ...]
    offsets: IntArray
    nearest: tuple[IntArray, ...]
    step: float
    cautions: tuple[Caution, ...]
    rounds: tuple[str, ...] = ()

    @property
    def scattered(self) -> bool:
        """Whether a brush was used: then all samples are without order."""
        return self.demos.offsets is None


def drawing(strokes: Sequence[Stroke]) -> Drawing:
    """All strokes on one clock, with velocities; DataError where no stroke is a motion.

    Samples from a brush keep their places and velocities. Beside them strokes are samples, too: there is one reading of all.
    """
    sprays = [(stroke, stroke.v) for stroke in strokes if stroke.v is not None]
    lines = [stroke for stroke in strokes if stroke.v is None]
    if not sprays:
        return _motions(lines)
    x, v = np.concatenate([stroke.x for stroke, _ in sprays]), np.concatenate([v for _, v in sprays])
    ids, bounds = tuple(stroke.id for stroke, _ in sprays), np.cumsum([0, *(len(v) for _, v in sprays)])
    nearest = tuple(np.split(np.arange(len(x)), bounds[1:-1]))
    if not lines:
        return Drawing(Demonstrations.from_samples(x, v), ids, bounds, nearest, USUAL_STEP, ())
    base = _motions(lines)
    n = base.demos.n_samples
    return replace(
        base,
        demos=Demonstrations.from_samples(np.concatenate([base.demos.x, x]), np.concatenate([base.demos.v, v])),
        ids=base.ids + ids,
        offsets=np.concatenate([base.offsets, n + bounds[1:]]),
        nearest=(*base.nearest, *(n + rows for rows in nearest)),
    )


class NeverRests(DataError):
    """All strokes go round and round: there is a question to ask before there is an answer."""

    def __init__(self, rounds: tuple[str, ...]) -> None:
        super().__init__("Expected a stroke that rests, got those that go round and round. Say where they stop.")
        self.rounds = rounds


def _motions(strokes: Sequence[Stroke]) -> Drawing:
    ids, clocks, marks, dots, rounds = [], [], [], [], []
    for number, stroke in enumerate(strokes, start=1):
        if len(stroke.x) < 2 or np.ptp(stroke.x, axis=0).max() < DOT:
            dots.append(number)
            continue
        if goes_round(stroke.x):
            rounds.append(stroke.id)
            continue
        ids.append(stroke.id)
        clocks.append(_trimmed(increasing(stroke.t), stroke.x))
        marks.append(stroke.x)
    if not ids and rounds:
        raise NeverRests(tuple(rounds))
    if not ids:
        raise DataError("Expected a stroke that moves, got dots alone. Press, drag to where the motion ends, and lift.")
    # The median time between events, not so short that samples become too many.
    median = float(np.median(np.concatenate([np.diff(t) for t in clocks])))
    step = max(median, SHORTEST_STEP, sum(float(t[-1]) for t in clocks) / MOST_SAMPLES)
    xs, vs, ts, nearest, first = [], [], [], [], 0
    for t, x in zip(clocks, marks, strict=True):
        brake = Brake.of(t, x)
        whole = float(t[-1]) + brake.span
        count = max(FEWEST_SAMPLES, round(whole / step) + 1)
        even = np.linspace(0.0, whole, count)
        drawn_at = brake.drawn_at(even)
        xs.append(np.column_stack([np.interp(drawn_at, t, x[:, i]) for i in (0, 1)]))
        vs.append(estimate_velocities(xs[-1], even))
        ts.append(even)
        nearest.append(first + np.rint(brake.passed_at(t) / whole * (count - 1)).astype(np.intp))
        first += count
    demos = Demonstrations.from_trajectories(xs, vs, time=ts)
    assert demos.offsets is not None
    which = f"Stroke {dots[0]} is a dot" if len(dots) == 1 else f"{len(dots)} strokes are dots"
    dotted = f"{which} and says nothing about motion; draw to where the motion ends, or delete it."
    cautions = (Caution("dots", dotted),) if dots else ()
    return Drawing(demos, tuple(ids), demos.offsets, tuple(nearest), step, cautions, tuple(rounds))


def increasing(t: FloatArray) -> FloatArray:
    """Strictly increasing times from 0. Stamps that run backwards stand still; events that share a stamp share the time
    until the next one, as browsers with coarse clocks mean it."""
    t = np.maximum.accumulate(t - t[0])
    stamps, first, count = np.unique(t, return_index=True, return_counts=True)
    usual = float(np.median(np.diff(stamps))) if len(stamps) > 1 else USUAL_STEP * len(t)
    room = np.append(np.diff(stamps), usual)
    share = (np.arange(len(t)) - np.repeat(first, count)) / np.repeat(count, count)
    return np.asarray(t + share * np.repeat(room, count))


def _trimmed(t: FloatArray, x: FloatArray) -> FloatArray:
    """Times with long rests at the ends cut short: events during them move together, none is lost."""
    away = np.flatnonzero(np.linalg.norm(x - x[0], axis=1) > STILL)
    begin = t[max(away[0] - 1, 0)] - DWELL
    away = np.flatnonzero(np.linalg.norm(x - x[-1], axis=1) > STILL)
    end = t[min(away[-1] + 1, len(t) - 1)] + DWELL
    cut = np.clip(t, begin, end)
    # A trace of the true order, so that times still increase.
    return np.asarray(cut - cut[0] + 1e-6 * (t - t[0]) / (t[-1] - t[0]))


@dataclass(frozen=True)
class Brake:
    """A pen that comes to rest where it is lifted: the same marks, the last of them passed more slowly.

    Lifting at speed is a habit of the hand; the drawn goal is where the stroke ends. An even motion that has s = end - t
    seconds to go is braked evenly over its last `span` seconds, and then has 2 sqrt(span s) to go: it arrives `span`
    later. A span of zero leaves the motion alone.
    """

    end: float
    span: float

    @classmethod
    def of(cls, t: FloatArray, x: FloatArray) -> Brake:
        end = float(t[-1])
        span = min(BRAKING, end / 4)
        ahead = np.array([np.interp(end - span, t, x[:, i]) for i in (0, 1)])
        pace = float(np.linalg.norm(x[-1] - ahead)) / span
        usual = float(np.linalg.norm(np.diff(x, axis=0), axis=1).sum()) / end
        return cls(end, span if pace > AT_SPEED * usual else 0.0)

    def passed_at(self, t: FloatArray) -> FloatArray:
        """When the braked motion passes what was drawn at t."""
        late = self.end + self.span - 2 * np.sqrt(self.span * np.maximum(self.end - t, 0.0))
        return np.where(t > self.end - self.span, late, t)

    def drawn_at(self, t: FloatArray) -> FloatArray:
        """The inverse of `passed_at`."""
        if self.span == 0:
            return t
        left = np.maximum(self.end + self.span - t, 0.0)
        return np.where(t > self.end - self.span, self.end - left**2 / (4 * self.span), t)


def goes_round(x: FloatArray) -> bool:
    """Whether a line (n, 2) turns round its own middle again and again without coming nearer to it."""
    last = np.asarray(x, dtype=np.float64)
    for _ in range(5):
        # The last turn, back from the end, in units of its own half axes; its middle is where the next look is from.
        low, high = last.min(axis=0), last.max(axis=0)
        around = (x - (low + high) / 2) / np.maximum((high - low) / 2, 1e-9)
        turned = _turned(around)
        last = x[int(np.argmax(np.abs(turned[-1] - turned) <= 1)) :]
    first = np.abs(turned - turned[0]) <= 1
    away = np.linalg.norm(around, axis=1)
    rings = away[first].mean(), away[-len(last) :].mean()
    return bool(abs(turned[-1] - turned[0]) > TURNS and rings[1] > SHRUNK * rings[0] and away.min() > HOLE * rings[1])


def _turned(around: FloatArray) -> FloatArray:
    """The angle of places about the origin, in turns, without jumps."""
    return np.asarray(np.unwrap(np.arctan2(around[:, 1], around[:, 0])) / (2 * np.pi))
