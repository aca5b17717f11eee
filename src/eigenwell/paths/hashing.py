"""A number for every sample that depends on its values alone: the same choice of samples in any order, on any machine."""

from __future__ import annotations

import numpy as np

from .._types import BoolArray, FloatArray, IntArray

Hash = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


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
