"""Evenly spaced streamlines of a field on a grid, for pages that have no matplotlib to draw them."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray

CELLS = 26
"""A cell of this many by this many holds at most one streamline: that spaces them evenly."""
STEP = 0.15
"""Of a cell, so that none is jumped over."""
SHORTEST = 3
"""Cells; shorter streamlines are clutter."""


def streamlines(gx: FloatArray, gy: FloatArray, velocity: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lines (n, 2) with gaps between them, places of arrow heads (m, 2) and their bearings in degrees, up being 0.

    `velocity` is (len(gy), len(gx), 2), row by row. Lines start in free cells, from the middle of the picture
    outwards, follow the flow both ways and stop where another line is or the picture ends.
    """
    low, span = np.array([gx[0], gy[0]]), np.array([gx[-1] - gx[0], gy[-1] - gy[0]])
    # Directions in picture units, so that the step is the same along both axes.
    direction = velocity / span
    norm = np.linalg.norm(direction, axis=2, keepdims=True)
    direction = np.where(norm > 0, direction / np.maximum(norm, 1e-300), 0.0)
    taken = np.zeros((CELLS, CELLS), dtype=bool)
    centres = (np.indices((CELLS, CELLS)).reshape(2, -1).T + 0.5) / CELLS
    order = np.argsort(-np.linalg.norm(centres - 0.5, axis=1), kind="stable")
    lines, heads, bearings = [], [], []
    for start in centres[order]:
        if taken[_cell(start)]:
            continue
        path = np.array(_follow(start, direction, taken, -1.0)[:0:-1] + _follow(start, direction, taken, 1.0))
        if len(path) * STEP < SHORTEST:
            continue
        for point in path:
            taken[_cell(point)] = True
        real = low + path * span
        lines += [real[::2], real[-1:], np.full((1, 2), np.nan)]
        middle = len(path) // 2
        heads.append(real[middle])
        dx, dy = path[middle] - path[middle - 1]
        bearings.append(float(np.degrees(np.arctan2(dx, dy))))
    if not lines:
        return np.full((1, 2), np.nan), np.empty((0, 2)), np.empty(0)
    return np.concatenate(lines), np.array(heads), np.array(bearings)


def _cell(point: FloatArray) -> tuple[int, int]:
    return min(int(point[0] * CELLS), CELLS - 1), min(int(point[1] * CELLS), CELLS - 1)


def _follow(start: FloatArray, direction: FloatArray, taken: np.ndarray, sign: float) -> list[FloatArray]:
    """Points of one line, in picture units, by the midpoint rule."""
    own = {_cell(start)}
    point, path = start, [start]
    h = sign * STEP / CELLS
    for _ in range(int(4 * CELLS / STEP)):
        middle = point + 0.5 * h * _sampled(direction, point)
        step = h * _sampled(direction, middle)
        point = point + step
        if not ((point >= 0) & (point < 1)).all() or np.abs(step).sum() < 0.2 * abs(h):
            break
        cell = _cell(point)
        if cell not in own:
            if taken[cell]:
                break
            own.add(cell)
        elif len(path) > 60 and np.abs(path[-40] - point).sum() < 4 * abs(h):
            break  # circling round an attractor
        path.append(point)
    return path


def _sampled(direction: FloatArray, point: FloatArray) -> FloatArray:
    """Bilinear interpolation on the unit square."""
    rows, columns = direction.shape[:2]
    a = min(max(point[0], 0.0), 1.0) * (columns - 1)
    b = min(max(point[1], 0.0), 1.0) * (rows - 1)
    i, j = min(int(a), columns - 2), min(int(b), rows - 2)
    s, t = a - i, b - j
    bottom = (1 - s) * direction[j, i] + s * direction[j, i + 1]
    top = (1 - s) * direction[j + 1, i] + s * direction[j + 1, i + 1]
    return np.asarray((1 - t) * bottom + t * top)
