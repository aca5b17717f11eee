"""Episodes: recordings one by one, as they came, before anything is joined, smoothed or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import DataError, Demonstrations

# Four columns are a quaternion when their length is 1 to within what files round to, in nearly all rows.
UNIT, NEARLY_ALL = 1e-3, 0.99


@dataclass(frozen=True, eq=False)
class Episode:
    """One recording: positions (T, d), times (T,), velocities where they were recorded, and what it was meant for."""

    number: int
    x: FloatArray
    t: FloatArray
    v: FloatArray | None = None
    task: int | None = None
    name: str = ""

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def extent(self) -> FloatArray:
        """(d,) how far it goes in every coordinate."""
        return np.asarray(np.ptp(self.x, axis=0))

    @cached_property
    def step(self) -> float:
        """The usual time between samples."""
        return float(np.median(np.diff(self.t))) if len(self.t) > 1 else 1.0

    @cached_property
    def noise(self) -> float:
        """Standard deviation of the noise in a coordinate: third differences of what moves smoothly are small."""
        if len(self.x) < 8:
            return 0.0
        third = np.abs(np.diff(self.x, n=3, axis=0))
        # The variance of a third difference of noise is 1 + 9 + 9 + 1 times its own.
        return float(np.median(np.median(third, axis=0)) / 0.6745 / np.sqrt(20.0))


@dataclass(frozen=True, eq=False)
class Episodes:
    """A set of episodes of one dimension, and what was left out on the way in: (name, why)."""

    items: tuple[Episode, ...]
    timed: bool = True
    skipped: tuple[tuple[str, str], ...] = ()
    tasks: dict[int, str] = field(default_factory=dict, repr=False)

    @property
    def dimension(self) -> int:
        return int(self.items[0].x.shape[1])

    @cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Columns at which four begin that are a unit quaternion in every episode."""
        out: list[int] = []
        # A few rows of every episode: a length of 1 that holds in all of them is no chance.
        some = np.concatenate([e.x[:: max(1, len(e) // 20)] for e in self.items])
        for j in range(self.dimension - 3):
            length = np.linalg.norm(some[:, j : j + 4], axis=1)
            if np.mean(np.abs(length - 1) < UNIT) >= NEARLY_ALL and not (out and j < out[-1] + 4):
                out.append(j)
        return tuple(out)


def of_demonstrations(demos: Demonstrations) -> Episodes:
    """The trajectories of Demonstrations, positions as they came; velocities only where they were not estimated."""
    if demos.offsets is None:
        raise DataError(
            "Expected recordings one by one, got unordered samples: without order there are no episodes to look at. Pass "
            "trajectories, or name the column that tells them apart (trajectory=...)."
        )
    estimated = demos.noise is not None
    items = []
    for k, (a, b) in enumerate(pairwise(demos.offsets)):
        x = (demos.x if demos.raw is None else demos.raw)[a:b]
        t = np.arange(b - a, dtype=np.float64) if demos.time is None else demos.time[a:b]
        task = None if demos.task is None else most_common(demos.task[a:b])
        name = demos.names[k] if demos.names else ""
        items.append(Episode(k, x, t, None if estimated else demos.v[a:b], task, name))
    return Episodes(tuple(items), demos.time is not None)


def of_arrays(
    xs: Sequence[FloatArray],
    vs: Sequence[FloatArray] | None,
    ts: Sequence[FloatArray] | None,
    tasks: Sequence[FloatArray] | None,
    names: Sequence[str],
) -> Episodes:
    """Episodes of the dimension that most have; those of another, and those that are not numbers, are skipped with a word."""
    common = most_common(np.array([x.shape[1] for x in xs]))
    items: list[Episode] = []
    skipped: list[tuple[str, str]] = []
    for k, x in enumerate(xs):
        t = np.arange(len(x), dtype=np.float64) if ts is None else np.asarray(ts[k], dtype=np.float64)
        v = None if vs is None else vs[k]
        why = _unusable(x, v, t, common)
        if why:
            skipped.append((names[k] or f"episode {k}", why))
            continue
        task = None if tasks is None or not len(tasks[k]) else most_common(np.asarray(tasks[k], dtype=np.intp))
        items.append(Episode(k, x, t, v, task, names[k]))
    if not items:
        raise DataError(f"Expected episodes of numbers, got none that can be used: {skipped[0][0]}: {skipped[0][1]}")
    return Episodes(tuple(items), ts is not None, tuple(skipped))


def _unusable(x: FloatArray, v: FloatArray | None, t: FloatArray, common: int) -> str:
    if x.shape[1] != common:
        return f"it has {x.shape[1]} coordinates where most have {common}."
    if not len(x):
        return "it has no samples."
    if not (np.isfinite(x).all() and np.isfinite(t).all() and (v is None or np.isfinite(v).all())):
        return "it has NaN or infinite entries."
    if (np.diff(t) < 0).any():
        return f"its time runs backwards at sample {int(np.argmax(np.diff(t) < 0)) + 1}."
    if v is not None and v.shape != x.shape:
        return f"its velocities have the shape {v.shape}, its positions {x.shape}."
    return ""


def most_common(values: IntArray) -> int:
    found, count = np.unique(values, return_counts=True)
    return int(found[np.argmax(count)])
