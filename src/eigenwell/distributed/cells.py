"""Cells: axis-parallel boxes that share the samples out evenly, whatever partition they lie in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import FloatArray, IntArray
from .records import bounds_of


@dataclass(frozen=True)
class Cells:
    """A tree of cuts. Node k sends what lies below `value[k]` on `axis[k]` to `low[k]`, the rest to `high[k]`.

    Children are nodes, or ~c for cell c. Without cuts there is one cell, all of space.
    """

    axis: IntArray
    value: FloatArray
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, points: FloatArray, count: int) -> Cells:
        """`count` cells with equal shares of the points, cut across the direction they spread most in."""
        cuts: list[list[float]] = []
        made = iter(range(count))

        def divide(points: FloatArray, count: int) -> int:
            if count == 1:
                return ~next(made)
            here, half = len(cuts), count // 2
            axis = int(points.var(axis=0).argmax()) if len(points) else 0
            line = np.sort(points[:, axis])
            at = round(len(line) * half / count)
            value = float((line[max(at - 1, 0)] + line[min(at, len(line) - 1)]) / 2) if len(line) else 0.0
            below = points[:, axis] < value
            cuts.append([axis, value, 0, 0])
            cuts[here][2:] = divide(points[below], half), divide(points[~below], count - half)
            return here

        divide(points, count)
        axis, value, low, high = np.array(cuts).reshape(-1, 4).T
        return cls(axis.astype(np.intp), value, low.astype(np.intp), high.astype(np.intp))

    @property
    def count(self) -> int:
        return len(self.axis) + 1

    def home(self, points: FloatArray) -> IntArray:
        """The cell of every point."""
        cell = np.zeros(len(points), dtype=np.intp)
        row, reached = self.reached(points, np.zeros(len(points)))  # exactly one, where the radius is zero
        cell[row] = reached
        return cell

    def reached(self, points: FloatArray, radius: FloatArray) -> tuple[IntArray, IntArray]:
        """(row, cell) for every cell that comes within `radius` of the point in that row, and perhaps some more."""
        rows, node = np.arange(len(points)), np.zeros(len(points), dtype=np.intp)
        if not len(self.axis):
            return rows, node
        found_rows, found_cells = [], []
        while len(rows):
            gap = points[rows, self.axis[node]] - self.value[node]
            low, high = gap < radius[rows], gap >= -radius[rows]
            node = np.concatenate([self.low[node[low]], self.high[node[high]]])
            rows = np.concatenate([rows[low], rows[high]])
            leaf = node < 0
            found_rows.append(rows[leaf])
            found_cells.append(~node[leaf])
            rows, node = rows[~leaf], node[~leaf]
        return np.concatenate([rows, *found_rows]), np.concatenate([node, *found_cells])


def by_cell(cell: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Order that sorts by cell and keeps the order within each, and where each cell begins and ends in it."""
    small = cell.astype(np.int16) if count < 1 << 15 else cell  # sixteen bits sort in linear time
    return np.argsort(small, kind="stable"), bounds_of(np.bincount(cell, minlength=count))
