"""What one path says of its own end: where it is, whether the path was at rest there, how far it still had to go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from .bound import bound_for, last_places

# An end is at rest below a fifth of the path's own top speed, in full motion above a half.
AT_REST, IN_FULL_MOTION = 0.2, 0.5
# Nothing is more at rest than this: what noise leaves of a recording's velocity.
STILL = 0.02
# Two recordings are one when no sample differs by more than this share of the extent: what rounding in files leaves.
SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Block:
    """Whole paths one after the other: path `number[k]` is rows offsets[k] to offsets[k + 1] of x and v."""

    x: FloatArray
    v: FloatArray
    offsets: IntArray
    number: IntArray

    @property
    def path(self) -> IntArray:
        """The number of the path of every row."""
        return np.repeat(self.number, np.diff(self.offsets))

    def paths(self) -> list[tuple[FloatArray, FloatArray]]:
        return [(self.x[a:b], self.v[a:b]) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def scaled(self, unit: FloatArray | float) -> Block:
        return Block(self.x / unit, self.v / unit, self.offsets, self.number)


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


def boxes(block: Block) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest (K, d) of every path: of medians of three samples, which one wrong row does not move; infinite where a
    path has fewer."""
    inner = np.ones(len(block.x), dtype=bool)
    inner[block.offsets[:-1]] = inner[block.offsets[1:] - 1] = False
    at = np.flatnonzero(inner)
    low, high = np.full_like(block.x, np.inf), np.full_like(block.x, -np.inf)
    low[at] = high[at] = np.median(np.stack([block.x[at - 1], block.x[at], block.x[at + 1]]), axis=0)
    return np.minimum.reduceat(low, block.offsets[:-1]), np.maximum.reduceat(high, block.offsets[:-1])


def extent_of(low: FloatArray, high: FloatArray, usable: BoolArray) -> FloatArray:
    """(d,) size of the box of the usable paths, of all where these are too short to have one; 1 where it is flat."""
    some = usable if np.isfinite(low[usable]).any() else np.ones(len(usable), dtype=bool)
    size = high[some].max(axis=0) - low[some].min(axis=0)
    return np.where(np.isfinite(size) & (size > 0), size, 1.0)


def grain(block: Block, extent: FloatArray) -> FloatArray:
    """The least that places change by (K, d) from one sample of a path to the next, if they do: of places that were rounded, what
    they were rounded to, of others next to nothing; infinite where a column never changes."""
    step = np.abs(np.diff(block.x, axis=0, prepend=block.x[:1]))
    step[block.offsets[:-1]] = 0.0
    return np.minimum.reduceat(np.where(step > SAME * extent, step, np.inf), block.offsets[:-1])


def path_ends(block: Block, usable: BoolArray, extent: FloatArray, *, pauses: bool = True) -> PathEnds:
    """All that is asked of the paths of a block; `extent` (d,) is the box of all data, `pauses` matter where ends are trusted."""
    scaled = block.scaled(extent)
    paths = [(x, v, full_speed(v)) for x, v in block.paths()]
    ahead, error = bound_for(scaled.x, scaled.v, block.offsets)
    return PathEnds(
        place=last_places(block.x, block.offsets),
        pace=np.array([end_pace(v, full) for _, v, full in paths]),
        way=np.array([way_left(x, v) for x, v in scaled.paths()]),
        orbit=np.array([is_orbit(x, v, full) for x, v, full in paths]),
        length=np.diff(block.offsets),
        usable=usable[block.number],
        ahead=ahead,
        error=error,
        grain=grain(block, extent),
        start=block.x[block.offsets[:-1]],
        pauses=np.array([has_pause(v, full) for _, v, full in paths]) if pauses else None,
        full=np.array([full for *_, full in paths]),
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


def end_pace(v: FloatArray, full: float | None = None) -> float:
    """Speed at the end of a path, relative to its `full_speed`.

    The end is the slowest of the last three samples or the mean velocity of the last twentieth, whichever is less: noise of
    a pen at rest averages out.
    """
    mean = np.linalg.norm(v[-max(3, len(v) // 20) :].mean(axis=0))
    return float(min(np.linalg.norm(v[-3:], axis=1).min(), mean) / (full or full_speed(v)))


def has_pause(v: FloatArray, full: float | None = None) -> bool:
    """Whether a path comes to rest on the way: nearly as much as at its end.

    A system that passes a saddle slows down too, but not to the rest it comes to later.
    """
    full = full or full_speed(v)
    return len(rests(v, min(AT_REST, max(STILL, 2 * end_pace(v, full))), full)) > 0


def rests(v: FloatArray, still: float = STILL, full: float | None = None) -> IntArray:
    """Where a path comes to rest and sets out again: its slowest samples between two times in full motion."""
    speed = np.linalg.norm(v, axis=1)
    # Between two samples that move against each other it stood still, whichever of them is slower.
    between = np.linalg.norm(v + np.concatenate([v[1:], v[-1:]]), axis=1) / 2
    pace, slow = np.stack([speed, np.minimum(speed, between)]) / (full or full_speed(v))
    moving = np.flatnonzero(pace > IN_FULL_MOTION)
    gaps = zip(moving[:-1], moving[1:], strict=True)
    slowest = [a + int(np.argmin(slow[a:b])) for a, b in gaps if b > a + 1]
    return np.array([k for k in slowest if slow[k] <= still], dtype=np.intp)


def is_orbit(x: FloatArray, v: FloatArray, full: float | None = None) -> bool:
    """Whether the end of a path lies on its own earlier track, moving along it.

    On it: within two steps of an earlier sample at least ten samples back, a quarter of a step sideways, with nearly the
    same velocity. A spiral that still converges misses its last turn by more, and a path no longer than ten steps
    across has no track to speak of.
    """
    # Mean velocity of the last samples: the noise of a pen at rest is not motion.
    if len(x) < 20 or np.linalg.norm(v[-5:].mean(axis=0)) < IN_FULL_MOTION * (full or full_speed(v)):
        return False
    if not v[-1].any():  # stopped dead
        return False
    # Several turns interleave into one with short and long steps; the long ones are what a turn leaves open.
    step = np.quantile(np.linalg.norm(np.diff(x, axis=0), axis=1), 0.95)
    gap = x[:-10] - x[-1]
    along = gap @ v[-1] / (v[-1] @ v[-1])
    sideways = np.linalg.norm(gap - along[:, None] * v[-1], axis=1)
    alike = np.linalg.norm(v[:-10] - v[-1], axis=1) < 0.2 * np.linalg.norm(v[-1])
    on_track = alike & (sideways < step / 4) & (np.linalg.norm(gap, axis=1) < 2 * step)
    return bool(on_track.any() and np.ptp(x, axis=0).max() > 10 * step)
