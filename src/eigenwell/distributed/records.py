"""What stages write for each other, row by row, with a name for every column: NumPy's structured arrays.

    rows = packed(id=ids, x=x, v=v)
    rows["id"], rows["x"]

A file of them is memory-mapped like any other array; `column` copies a column out of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import IntArray

Records = NDArray[np.void]


def packed(**columns: Any) -> Records:
    """Records from columns (n,) or (n, d); single numbers stand for a whole column."""
    count = next(len(column) for column in columns.values() if np.ndim(column))
    whole = {name: np.asarray(c) if np.ndim(c) else np.full(count, c) for name, c in columns.items()}
    out = np.empty(count, dtype=[(name, c.dtype, c.shape[1:]) for name, c in whole.items()])
    for name, c in whole.items():
        out[name] = c
    return out


def column(rows: Records, name: str) -> Any:
    """A column as an array of its own, contiguous."""
    return np.ascontiguousarray(rows[name])


def bounds_of(lengths: Any) -> IntArray:
    """Where parts of these lengths begin and end, one after the other."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


def spread(begin: Any, count: IntArray) -> IntArray:
    """begin[0], begin[0] + 1, ..., count[0] of them, then those of begin[1], ...; a single `begin` is that of all."""
    return np.repeat(begin - bounds_of(count)[:-1], count) + np.arange(int(count.sum()))
