"""Rows in blocks that fit the cache, shared out among the processors."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .._types import FloatArray

Result = TypeVar("Result")
Index = NDArray[np.int32]

ROWS = 4096
"""Rows of a block: its dozen arrays of twenty columns stay in the cache of a processor, and starting it costs nothing."""


def in_blocks(function: Callable[[slice], Result], n: int, rows: int = ROWS) -> list[Result]:
    """function(rows) for all blocks of n rows, in their order. NumPy and SciPy let threads run side by side."""
    blocks = [slice(a, min(a + rows, n)) for a in range(0, n, rows)]
    threads = min(len(blocks), _processors())
    if threads <= 1:
        return [function(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, blocks))


def neighbours(tree: cKDTree, places: FloatArray, k: int) -> Index:
    """Indices (n, k) of the nearest points; all of them where there are fewer."""
    k = min(k, tree.n)
    found = in_blocks(lambda rows: tree.query(places[rows], k=k)[1].reshape(-1, k).astype(np.int32), len(places))
    return np.concatenate(found)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
