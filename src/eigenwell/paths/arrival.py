"""What one path says of its own end: where it is, whether it was at rest there, how far it still had to go, and whereto."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..runge_kutta import CLOSED, radius
from .blocks import in_blocks
from .evidence import USUAL_SPREAD
from .settings import DEFAULT

# An end is at rest below a fifth of the path's own top speed, in full motion above a half.
AT_REST, IN_FULL_MOTION = 0.2, 0.5
# Nothing is more at rest than this: what noise leaves of a recording's velocity.
STILL = 0.02
# The rest that a path is bound for is missed by .2 to 3 times what its last samples let expect, over thirteen textbook systems.
CAREFUL = 3.0
# A saddle is passed when more than this share of the gap to it grows; noise lets a little of any gap grow.
GROWING = 0.1
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
    whole enough to count, how far `ahead` (K, d) they are `arrival.bound_for`, in the same units, with an `error` (K,), and what
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


def boxes(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lowest and highest (K, d) of every path: of medians of three samples, which one wrong row does not move; infinite where a
    path has fewer. And how far its samples tremble (K, d): how far one is, usually, from the mean of its neighbours."""
    inner = np.ones(len(block.x), dtype=bool)
    inner[block.offsets[:-1]] = inner[block.offsets[1:] - 1] = False
    at = np.flatnonzero(inner)
    low, high, off = np.full_like(block.x, np.inf), np.full_like(block.x, -np.inf), np.zeros_like(block.x)
    low[at] = high[at] = np.median(np.stack([block.x[at - 1], block.x[at], block.x[at + 1]]), axis=0)
    off[at] = (block.x[at] - (block.x[at - 1] + block.x[at + 1]) / 2) ** 2
    first, count = block.offsets[:-1], np.maximum(np.diff(block.offsets) - 2, 1)[:, None]
    noise = np.sqrt(np.add.reduceat(off, first) / count / 1.5)
    return np.minimum.reduceat(low, first), np.maximum.reduceat(high, first), noise


def extent_of(low: FloatArray, high: FloatArray, noise: FloatArray, usable: BoolArray) -> FloatArray:
    """(d,) size of the box of the usable paths, of all where these are too short to have one; 1 where it is flat.

    A column that does little but tremble is not blown up: its noise counts as ends usually scatter, unless all columns tremble
    so much. A column that no path moves in is one that recordings differ in: it says nothing of where they are bound for.
    """
    some = usable if np.isfinite(low[usable]).any() else np.ones(len(usable), dtype=bool)
    size = high[some].max(axis=0) - low[some].min(axis=0)
    flat = ~(np.isfinite(size) & (size > 0))
    size = np.where(flat, 1.0, size)
    trembling = np.maximum(np.median(noise[some], axis=0) / (USUAL_SPREAD * size), 1.0)
    still = (high[some] - low[some]).max(axis=0) <= SAME * size
    trembling /= trembling[~(flat | still)].min(initial=trembling.max())
    return np.asarray(np.where(still & ~flat, size / SAME, np.maximum(trembling, 1.0) * size))


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
    met = np.flatnonzero(on_track(x[:-10] - x[-1], v[:-10], v[-1:], step))
    if len(met) == 0 or np.ptp(x, axis=0).max() <= 10 * step:
        return False
    # Turns may lie closer to each other than a step can tell; their sizes tell.
    last = int(met[-1])
    before = max(2 * last + 1 - len(x), 0)
    return radius(x[last:]) > (1 - CLOSED) * radius(x[before : last + 1])


def on_track(gap: FloatArray, v: FloatArray, last: FloatArray, step: float) -> BoolArray:
    """Whether states move along one track, apart by a gap (n, d): with nearly the `last` velocity, within two steps."""
    along = (gap * last).sum(axis=1) / (last**2).sum(axis=1)
    sideways = np.linalg.norm(gap - along[:, None] * last, axis=1)
    alike = np.linalg.norm(v - last, axis=1) < 0.2 * np.linalg.norm(last, axis=1)
    return np.asarray(alike & (sideways < step / 4) & (np.linalg.norm(gap, axis=1) < 2 * step))


def bound_for(x: FloatArray, v: FloatArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """How far ahead (K, d) of their last places the rests lie that paths are bound for, and how wrong that may be (K,).

    Near a rest c a smooth field is linear, v = A (x - c), so that x = c + B v: a regression of last places on their velocities
    has the rest as its value at v = 0, be it a node, seen along one direction alone, or a spiral, whose speed says little. Of the
    last 1, 1/2, 1/4, ... of the path those count that miss least: by what is left of places, carried to v = 0, and by
    how far half of them would put it elsewhere. The rest must come nearer, and what is left must decay: a saddle is passed.
    x and v lie path after path.
    """
    d, paths, length = x.shape[1], np.arange(len(offsets) - 1), np.diff(offsets)
    best, error = np.zeros((len(paths), d)), np.full(len(paths), np.inf)
    rest, miss = best.copy(), error.copy()
    last = last_places(x, offsets)
    while len(paths := paths[length[paths] >= 2 * d + 4]):
        paths = paths[np.argsort(-length[paths], kind="stable")]
        rows = max(1, DEFAULT.measured // int(length[paths[0]]))
        asked = partial(_rest, x, v, offsets[1:][paths], length[paths], last[paths])
        found = in_blocks(asked, len(paths), rows)
        half, its_miss = (np.concatenate([part[k] for part in found]) for k in (0, 1))
        total = CAREFUL * (miss[paths] + np.linalg.norm(rest[paths] - half, axis=1))
        better = paths[total < error[paths]]
        best[better], error[better] = rest[better], total[total < error[paths]]
        rest[paths], miss[paths] = half, its_miss
        length = length // 2
    return best, error


def _rest(
    x: FloatArray, v: FloatArray, stops: IntArray, lengths: IntArray, lasts: FloatArray, at: slice
) -> tuple[FloatArray, FloatArray]:
    """Rests (m, d) by the last so many samples of some paths, the longest first, and what is missed there (m,)."""
    stop, length, last = stops[at][:, None], lengths[at], lasts[at][:, None]
    back = np.arange(length[0], 0, -1)
    used = back <= length[:, None]
    row = stop - np.where(used, back, 1)
    near_x, near_v = x[row] - last, v[row]
    mean_x, mean_v = ((a * used[:, :, None]).sum(axis=1) / length[:, None] for a in (near_x, near_v))
    dx, dv = ((a - m[:, None]) * used[:, :, None] for a, m in ((near_x, mean_x), (near_v, mean_v)))
    left, size, right = np.linalg.svd(dv, full_matrices=False)
    slope = _turned(right) @ (_inverse(size, 1e-9)[:, :, None] * (_turned(left) @ dx))
    rest = mean_x - (mean_v[:, None] @ slope)[:, 0]
    # Squared distance of v = 0 from the velocities, in units of their spread.
    off = length * (((right @ mean_v[:, :, None])[:, :, 0] * _inverse(size, 1e-6)) ** 2).sum(axis=1)
    gap = np.linalg.norm(near_x - rest[:, None], axis=2)
    third = (length // 3)[:, None]
    late, early = back <= third, used & (back > length[:, None] - third)
    nearer = ((gap * late).sum(axis=1) < (gap * early).sum(axis=1)) & (_growing(_turned(slope), rest) < GROWING)
    miss = np.sqrt(((dx - dv @ slope) ** 2).sum(axis=(1, 2)) / length * (1 + off))
    return rest, np.where(nearer, miss, np.inf)


def _turned(matrix: FloatArray) -> FloatArray:
    return np.swapaxes(matrix, 1, 2)


def _inverse(size: FloatArray, least: float) -> FloatArray:
    """One over singular values, largest first, 0 for those below a share of the largest."""
    return np.divide(1.0, size, out=np.zeros_like(size), where=size > least * size[:, :1])


def _growing(inverse: FloatArray, gap: FloatArray) -> FloatArray:
    """Share (m,) of gaps (m, d) that grows under v = A (x - c), given the inverses of A."""
    value, vector = np.linalg.eig(inverse)
    share = np.linalg.pinv(vector, rcond=np.finfo(np.float64).eps * gap.shape[1]) @ gap.astype(complex)[:, :, None]
    grown = vector @ (share * (value.real > 0)[:, :, None])
    size = np.linalg.norm(gap, axis=1) + np.finfo(np.float64).tiny
    return np.asarray(np.linalg.norm(grown[:, :, 0], axis=1) / size)


def last_places(x: FloatArray, offsets: IntArray) -> FloatArray:
    """Where paths end (K, d): the median of their last three samples, so that one wrong row of a logger is not a goal."""
    at = offsets[1:, None] - np.minimum([3, 2, 1], np.maximum(np.diff(offsets), 1)[:, None])
    return np.asarray(np.median(x[at], axis=1))
