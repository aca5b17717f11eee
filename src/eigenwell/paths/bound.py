"""Where paths are bound for: the rest of the linear field that their last samples show."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._types import FloatArray, IntArray
from .blocks import in_blocks
from .settings import DEFAULT

# The rest that a path is bound for is missed by .2 to 3 times what its last samples let expect, over thirteen textbook systems.
CAREFUL = 3.0
# A saddle is passed when more than this share of the gap to it grows; noise lets a little of any gap grow.
GROWING = 0.1


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
