"""Which paths share an attractor, asked of blocks of whole paths: one machine has one block, many have one in every task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from .beside import Tails, lying_on, nearest_path, running_on, tails
from .bound import bound_for, last_places
from .grading import Graded, PathEnds, end_pace, full_speed, grade_paths, has_pause, is_orbit, way_left
from .told import NOTHING, Told

# Changes of less than this share of the box are rounding of sums, and none.
SAME_PLACE = 1e-9


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


def grade_blocks(
    blocks: Callable[[], Iterable[Block]],
    ends: PathEnds,
    extent: FloatArray,
    resolution: float,
    *,
    trusted_ends: bool,
    unit: FloatArray | float = 1.0,
    twin: IntArray | None = None,
    told: Told = NOTHING,
) -> Graded:
    """Sub-dynamics of paths whose samples come in `blocks`, which may be asked for several times.

    `ends` and `extent` are those of `path_ends` and `extent_of`. `resolution` is in units of the columns, `unit` (d,); blocks
    are in the user's.
    """

    def units() -> Iterable[Block]:
        return (block.scaled(unit) for block in blocks())

    def beside(which: IntArray) -> IntArray:
        """Which path runs on where these end, of all blocks the one that misses least."""
        parts = [tails(b.x, b.v, b.offsets, np.flatnonzero(np.isin(b.number, which)), b.number) for b in units()]
        lost = joined(Tails, parts)
        found, least = np.full(len(which), -1, dtype=np.intp), np.full(len(which), np.inf)
        row = np.searchsorted(which, lost.path)
        for block in units():
            heir, miss = running_on(lost, block.x, block.v, block.offsets, block.number, resolution)
            better = miss < least[row]
            found[row[better]], least[row[better]] = heir[better], miss[better]
        return found

    def on_paths(scraps: IntArray, paths: IntArray) -> list[IntArray]:
        """On which paths each scrap lies, of all blocks the nearest."""
        parts = [(b.x[mine], b.path[mine]) for b in units() for mine in [np.isin(b.path, scraps)]]
        samples, owner = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        order = np.argsort(owner, kind="stable")
        samples = samples[order]
        least, nearest = np.full(len(samples), np.inf), np.full(len(samples), -1, dtype=np.intp)
        for block in units():
            whole = np.isin(block.path, paths)
            distance, near = nearest_path(samples, block.x[whole], block.path[whole])
            nearest = np.where(distance < least, near, nearest)
            least = np.minimum(distance, least)
        offsets = np.searchsorted(owner[order], np.append(scraps, scraps[-1] + 1))
        return lying_on(samples, offsets, least, nearest, resolution)

    return grade_paths(
        replace(ends, twin=twin, pauses=ends.pauses if trusted_ends else None),
        extent=extent,
        trusted_ends=trusted_ends,
        told=told,
        running_on=None if trusted_ends else beside,
        lying_on=None if trusted_ends else on_paths,
    )


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
    return np.minimum.reduceat(np.where(step > SAME_PLACE * extent, step, np.inf), block.offsets[:-1])


def path_ends(block: Block, usable: BoolArray, extent: FloatArray, *, pauses: bool = True) -> PathEnds:
    """All that is asked of the paths of a block; `extent` (d,) is the box of all data, `pauses` matter where ends are trusted."""
    paths = block.paths()
    scaled = block.scaled(extent)
    ahead, error = bound_for(scaled.x, scaled.v, block.offsets)
    return PathEnds(
        place=last_places(block.x, block.offsets),
        pace=np.array([end_pace(v) for _, v in paths]),
        way=np.array([way_left(x, v) for x, v in scaled.paths()]),
        orbit=np.array([is_orbit(x, v) for x, v in paths]),
        length=np.diff(block.offsets),
        usable=usable[block.number],
        ahead=ahead,
        error=error,
        grain=grain(block, extent),
        start=block.x[block.offsets[:-1]],
        pauses=np.array([has_pause(v) for _, v in paths]) if pauses else None,
        full=np.array([full_speed(v) for _, v in paths]),
    )


def joined(kind: Any, parts: list[Any], order: IntArray | slice = slice(None)) -> Any:
    """Columns of all parts one below the other, in this order; None where a column is."""
    columns = [[getattr(part, f.name) for part in parts] for f in fields(kind)]
    return kind(*(None if column[0] is None else np.concatenate(column)[order] for column in columns))
