"""What is measured of one episode by itself: rests, jumps, gaps, frozen readings, velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from .episodes import Episode

# A rest stays within this share of the extent of an episode, or within four standard deviations of the noise.
STILL, SIGMAS = 1e-3, 4.0
# Rests are looked for with windows of this share of an episode: a hundredth of it is no rest anybody would cut.
WINDOW = 0.02
# Samples on either side that say how large a step is usual here.
AROUND = 4


@dataclass(frozen=True)
class Rests:
    """Where an episode stands still, in rows: before `start`, from `stop` on, and the longest rest between, [a, b)."""

    start: int
    stop: int
    middle: tuple[int, int]
    still: BoolArray

    def spans(self, t: FloatArray) -> tuple[float, float, float, float]:
        """Time at rest at the start, in the middle and at the end, and the time under way."""
        a, b = self.middle
        if (a, b) == (0, len(t)):  # never moves: not idle, but too short
            return 0.0, 0.0, 0.0, float(t[-1] - t[0])
        start, stop = float(t[max(self.start - 1, 0)] - t[0]), float(t[-1] - t[min(self.stop, len(t) - 1)])
        middle = float(t[b - 1] - t[a]) if b > a else 0.0
        return start, middle, stop, float(t[-1] - t[0]) - start - stop - middle


def rests(episode: Episode, size: float) -> Rests:
    """Rests of an episode in a set whose episodes are of this size: where the means of windows side by side agree.

    Slow motion under noise looks like rest in a short window; the halves of a true rest agree as well. A rest whose halves do
    not is looked at again with windows twice as long.
    """
    x, n = episode.x, len(episode)
    sums = np.cumsum(np.vstack([np.zeros(x.shape[1]), x]), axis=0)

    def mean(a: IntArray, b: IntArray) -> FloatArray:
        return np.asarray((sums[b] - sums[a]) / (b - a)[:, None])

    def agree(a: IntArray, c: IntArray) -> BoolArray:
        """Whether the means of [a, b) and [b, c), b in the middle, differ by no more than noise does."""
        b = (a + c) // 2
        reach = np.maximum(STILL * size, SIGMAS * episode.noise * np.sqrt(2 * x.shape[1] / (b - a)))
        return np.asarray(np.linalg.norm(mean(a, b) - mean(b, c), axis=1) <= reach)

    w = max(2, round(WINDOW * n))
    still, doubtful = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    while 3 * w <= n and doubtful.any():
        first = np.arange(n - 2 * w + 1)
        inside = np.concatenate([agree(first, first + 2 * w), np.zeros(2 * w - 1, dtype=bool)])
        runs = run_ends((np.convolve(inside, np.ones(2 * w))[:n] > 0.5) & doubtful)
        runs = runs[runs[:, 1] - runs[:, 0] > 1]
        doubtful = np.zeros(n, dtype=bool)
        for (a, b), good in zip(runs, agree(runs[:, 0], runs[:, 1]), strict=True):
            (still if good else doubtful)[a:b] = True
        w *= 2
    runs = run_ends(still)
    start = int(runs[0, 1]) if len(runs) and runs[0, 0] == 0 else 0
    stop = int(runs[-1, 0]) if len(runs) and runs[-1, 1] == n else n
    if start >= stop:  # it never moves
        return Rests(0, n, (0, n), still)
    inner = runs[(runs[:, 0] > start) & (runs[:, 1] < stop)]
    longest = inner[np.argmax(inner[:, 1] - inner[:, 0])] if len(inner) else (0, 0)
    return Rests(start, stop, (int(longest[0]), int(longest[1])), still)


def run_ends(flags: BoolArray) -> IntArray:
    """(m, 2) where runs of True begin and end (the first row after them)."""
    return np.flatnonzero(np.diff(flags, prepend=False, append=False)).reshape(-1, 2)


def steps(episode: Episode) -> tuple[FloatArray, FloatArray]:
    """How far it moves in each step, at the usual time between samples, and by how much that is more than steps around it."""
    dt = np.maximum(np.diff(episode.t), 0.5 * episode.step)
    length = np.linalg.norm(np.diff(episode.x, axis=0), axis=1) * episode.step / np.maximum(dt, np.finfo(float).tiny)
    if len(length) < 2 * AROUND + 1:
        return length, np.ones(len(length))
    padded = np.pad(length, AROUND, mode="reflect")
    local = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1), axis=1)
    moving = length[length > 0]
    usual = np.maximum(local, np.median(moving) if len(moving) else 0.0)
    # Steps within the noise are no jumps, however still the episode is.
    usual = np.maximum(usual, SIGMAS * episode.noise * np.sqrt(2 * episode.x.shape[1]))
    return length, np.asarray(length / np.maximum(usual, np.finfo(float).tiny))


def frozen(episode: Episode, size: float) -> tuple[float, int, int, int]:
    """The largest share of an episode over which a reading repeats itself to the last bit while the thing moves.

    It moves when the reading catches up with a jump, when the recorded velocity says so, or when a column stands for a quarter
    of the episode in which the others travel. Returns the share, the rows [a, b] and the column (-1: all of them).
    """
    x, n = episode.x, len(episode)
    if n < 2 * AROUND + 1:
        return 0.0, 0, 0, -1
    same = x[1:] == x[:-1]
    best = (0.0, 0, 0, -1)
    moving = np.flatnonzero(episode.extent > STILL * size)
    for j in (-1, *(moving if len(moving) > 1 else ())):
        some = slice(None) if j < 0 else slice(int(j), int(j) + 1)
        length = np.linalg.norm(np.diff(x[:, some], axis=0), axis=1)
        speed = None if episode.v is None else np.linalg.norm(episode.v[:, some], axis=1)
        for a, b in run_ends(same[:, some].all(axis=1)):
            share = float(b - a) / n
            if b - a < AROUND or share <= best[0]:
                continue
            after = length[b + 1 : b + 1 + 2 * AROUND]
            caught = b < n - 1 and length[b] > max(
                10 * STILL * size, AROUND * float(np.median(after)) if len(after) else 0.0
            )
            driven = speed is not None and np.median(speed[a : b + 1]) > 0.2 * np.quantile(speed, 0.9) > 0
            stands = j >= 0 and share > 0.25 and float(np.linalg.norm(x[b] - x[a])) > 0.25 * size
            if caught or driven or stands:
                best = (share, int(a), int(b), int(j))
    return best


@dataclass(frozen=True, eq=False)
class Slopes:
    """How velocities fit the steps: dx = slope v dt, in every column and as a whole, and the cosine between the two."""

    whole: float
    columns: FloatArray
    cosine: float
    cosines: FloatArray


def slopes(episode: Episode) -> Slopes | None:
    """Least-squares slopes of what an episode moves by on what its velocities say; None where there are none."""
    if episode.v is None or len(episode) < 2 * AROUND:
        return None
    lag = max(1, len(episode) // 50)
    dt = np.diff(episode.t)[:, None]
    dt = np.where(dt > AROUND * episode.step, 0.0, dt)  # what happened in a gap nobody knows
    travelled = np.cumsum(np.vstack([np.zeros(episode.x.shape[1]), (episode.v[1:] + episode.v[:-1]) / 2 * dt]), axis=0)
    moved = np.cumsum(np.vstack([np.zeros(episode.x.shape[1]), np.diff(episode.x, axis=0) * (dt > 0)]), axis=0)
    told, dx = travelled[lag:] - travelled[:-lag], moved[lag:] - moved[:-lag]
    tiny = np.finfo(float).tiny
    both, ours, theirs = (dx * told).sum(axis=0), (told**2).sum(axis=0), (dx**2).sum(axis=0)
    return Slopes(
        float(both.sum() / (ours.sum() + tiny)),
        both / (ours + tiny),
        float(both.sum() / (np.sqrt(ours.sum() * theirs.sum()) + tiny)),
        both / (np.sqrt(ours * theirs) + tiny),
    )


def flips(episode: Episode, quaternions: tuple[int, ...]) -> int:
    """How often a quaternion changes its sign from one sample to the next: the same rotation, far away as numbers."""
    count = 0
    for j in quaternions:
        q = episode.x[:, j : j + 4]
        count += int((np.einsum("ij,ij->i", q[1:], q[:-1]) < -0.5).sum())
    return count


def unflipped(episode: Episode, quaternions: tuple[int, ...], towards: FloatArray) -> FloatArray:
    """Positions with every quaternion on the side of the one before it, the first on the side of `towards` (d,)."""
    if not quaternions:
        return episode.x
    x = episode.x.copy()
    for j in quaternions:
        q = x[:, j : j + 4]
        sign = np.where(np.einsum("ij,ij->i", q[1:], q[:-1]) < 0, -1.0, 1.0)
        first = -1.0 if q[0] @ towards[j : j + 4] < 0 else 1.0
        q *= first * np.concatenate([[1.0], np.cumprod(sign)])[:, None]
    return x
