"""What stages write for each other, row by row, with a name for every column: NumPy's structured arrays.

    rows = packed(samples(d), id=ids, x=x, v=v)
    rows["id"], rows["x"]

A file of them is memory-mapped like any other array; `column` copies a column out of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import IntArray

Records = NDArray[np.void]


def samples(d: int, *more: tuple[str, str]) -> np.dtype[Any]:
    """A sample: its id, its row in the whole input, with position and velocity, and `more` columns."""
    return np.dtype([("id", "i8"), ("x", "f8", (d,)), ("v", "f8", (d,)), *more])


def pieces(d: int) -> np.dtype[Any]:
    """A piece of a chain: ids and places of its first and last sample, number of samples, and whether the next piece of its
    cell goes on from it."""
    places = [("head", "f8", (d,)), ("tail", "f8", (d,))]
    return np.dtype([("first", "i8"), ("last", "i8"), ("length", "i8"), ("goes_on", "?"), *places])


def paths(d: int) -> np.dtype[Any]:
    """A path: its key, how many samples and without repeats, the id of the first, pace at its end, whether it is long enough,
    where it starts and ends, its box, and that of medians of three samples."""
    ends = [(name, "f8", (d,)) for name in ("start", "end", "low", "high", "box_low", "box_high", "noise")]
    return np.dtype(
        [("path", "i8"), ("samples", "i8"), ("distinct", "i8"), ("first", "i8"), ("pace", "f8"), ("usable", "?"), *ends]
    )


CLAIMS = np.dtype([("source", "i8"), ("target", "i8"), ("miss", "f8")])
"""A link source -> target into another cell, and by how much it misses the trapezoid rule."""
REPEATS = np.dtype([("id", "i8"), ("row", "i8")])
"""A sample that repeats another one, and the row of that one."""
TOLD = np.dtype([("id", "i8"), ("label", "i4"), ("confidence", "f4"), ("path", "i4"), ("position", "i8")])
"""What is found of a sample of the input: its label, how sure, its path, and the position in it."""
NEAR = np.dtype([("row", "i8"), ("chain", "i8"), ("distance", "f8")])
"""A chain within reach of the sample in a row of all short chains."""


def packed(kind: np.dtype[Any], **columns: Any) -> Records:
    """Records from columns of one length; single numbers stand for a whole column."""
    assert set(columns) == set(kind.names or ()), f"{sorted(columns)} for {kind.names}"
    lengths = [len(column) for column in columns.values() if np.ndim(column)]
    out = np.empty(lengths[0], dtype=kind)
    for name, column in columns.items():
        out[name] = column
    return out


def column(rows: Records, name: str) -> Any:
    """A column as an array of its own, contiguous."""
    return np.ascontiguousarray(rows[name])


def bounds_of(lengths: Any) -> IntArray:
    """Where parts of these lengths begin and end, one after the other."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


def spread(begin: IntArray, count: IntArray) -> IntArray:
    """begin[0], begin[0] + 1, ..., count[0] of them, then those of begin[1], ..."""
    return np.repeat(begin - bounds_of(count)[:-1], count) + np.arange(int(count.sum()))
