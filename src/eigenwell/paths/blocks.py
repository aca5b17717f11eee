"""Rows in blocks that fit the cache, shared out among the processors, and a number for every row by which some are chosen: it
depends on the values alone, so the choice is the same in any order, on any machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray

Result = TypeVar("Result")
Index = NDArray[np.int32]
Hash = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

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
    return np.concatenate([np.empty((0, k), dtype=np.int32), *found])


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def sample_hash(x: FloatArray, v: FloatArray) -> Hash:
    """64 well-mixed bits per row of (x, v); equal rows have equal hashes (splitmix64, column after column)."""
    out = np.full(len(x), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in (*x.T, *v.T):
        out ^= (column + 0.0).view(np.uint64)  # + 0.0 turns -0.0, which equals 0.0, into it
        out *= np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(30)
        out *= np.uint64(0xBF58476D1CE4E5B9)
        out ^= out >> np.uint64(27)
        out *= np.uint64(0x94D049BB133111EB)
        out ^= out >> np.uint64(31)
    return out


def smallest(hashes: Hash, count: int) -> IntArray:
    """Indices of the `count` smallest hashes, smallest first."""
    if count < len(hashes):
        few = np.argpartition(hashes, count)[:count]
        return np.asarray(few[np.argsort(hashes[few], kind="stable")], dtype=np.intp)
    return np.argsort(hashes, kind="stable")


def share(hashes: Hash, part: float) -> BoolArray:
    """True for about this part of the samples."""
    if part >= 1:
        return np.ones(len(hashes), dtype=bool)
    return np.asarray(hashes < np.uint64(int(part * 2.0**64)), dtype=bool)
