"""What a reader hands on: the rows of one file, before they become Demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, Demonstrations
from .thinning import Thinner

Names = Sequence[str] | str
MOST_COLUMNS = 4096
"""No robot has more joints; a file with more columns is a file of something else."""


@dataclass(frozen=True)
class Wanted:
    """What the user said about the file: names of columns, a time step, how many rows to skip, the order of quaternions."""

    position: tuple[str, ...] | None = None
    velocity: tuple[str, ...] | None = None
    time: str | None = None
    trajectory: str | None = None
    dt: float | None = None
    every: int = 1
    task: str | None = None
    quaternion: str | None = None

    @classmethod
    def of(cls, position: Names | None = None, velocity: Names | None = None, **more: Any) -> Wanted:
        """With names as a list, or as text with commas."""
        return cls(_names(position), _names(velocity), **more)

    @property
    def names(self) -> tuple[str, ...]:
        single = tuple(name for name in (self.time, self.trajectory, self.task) if name)
        return (self.position or ()) + (self.velocity or ()) + single


@dataclass(frozen=True, eq=False)
class Recording:
    """Rows of one file. `trajectory` numbers the rows' trajectories; None where the file does not tell them apart.

    `time` keeps the type it has in the file, because whole nanoseconds since 1970 do not fit a float; `time_name` may
    name its unit. `orientation` holds unit quaternions x, y, z, w, signs as they come. `angles` are the positions that wrap,
    each with its turn. `task` numbers what each row was meant for, where the user named its column. `ids` are the numbers that
    the file gives its trajectories, where they are whole numbers. `about` says what was read as what, `name` where it came from.
    """

    x: FloatArray
    v: FloatArray | None = None
    time: NDArray[Any] | None = None
    trajectory: IntArray | None = None
    time_name: str = ""
    warnings: tuple[Caution, ...] = ()
    orientation: FloatArray | None = None
    angles: tuple[tuple[int, float], ...] = ()
    about: str = ""
    name: str = ""
    task: IntArray | None = None
    ids: tuple[int, ...] = ()

    def thinned(self, every: int) -> Recording:
        """Each `every`-th row of every trajectory, and its last, which is where it arrived."""
        if every == 1 or len(self.x) == 0:
            return self
        rows = {f.name: a for f in fields(self) if isinstance(a := getattr(self, f.name), np.ndarray)}
        thinner = Thinner(every)
        thinner.add(rows, self.trajectory)
        kept: dict[str, Any] = thinner.result()
        return replace(self, **kept)


@dataclass(frozen=True)
class Format:
    """A file format: what names end in, what errors call it, and how it is read, and written where eigenwell does."""

    suffixes: tuple[str, ...]
    kind: str
    read: Callable[[Path, Wanted], Recording]
    write: Callable[[Path, Demonstrations], None] | None = None


def _names(names: Names | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else tuple(map(str, names))


def numbered(ids: NDArray[Any]) -> IntArray:
    """Trajectory numbers 0.. in order of first appearance, from ids of any kind."""
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)])
