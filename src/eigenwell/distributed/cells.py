"""Cells: axis-parallel boxes that share the samples out evenly, whatever partition they lie in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import FloatArray, IntArray


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
        axis: list[int] = []
        value: list[float] = []
        low: list[int] = []
        high: list[int] = []
        made = 0

        def divide(points: FloatArray, count: int) -> int:
            nonlocal made
            if count == 1:
                made += 1
                return ~(made - 1)
            here, half = len(axis), count // 2
            along = int(points.var(axis=0).argmax()) if len(points) else 0
            line = np.sort(points[:, along])
            at = round(len(line) * half / count)
            cut = float((line[max(at - 1, 0)] + line[min(at, len(line) - 1)]) / 2) if len(line) else 0.0
            axis.append(along)
            value.append(cut)
            low.append(0)
            high.append(0)
            below = points[:, along] < cut
            low[here] = divide(points[below], half)
            high[here] = divide(points[~below], count - half)
            return here

        divide(points, count)
        return cls(np.array(axis, np.intp), np.array(value), np.array(low, np.intp), np.array(high, np.intp))

    @property
    def count(self) -> int:
        return len(self.axis) + 1

    def home(self, points: FloatArray) -> IntArray:
        """The cell of every point."""
        node = np.zeros(len(points), dtype=np.intp) if len(self.axis) else np.full(len(points), ~0, dtype=np.intp)
        rows = np.arange(len(points)) if len(self.axis) else np.empty(0, np.intp)
        while len(rows):
            here = node[rows]
            below = points[rows, self.axis[here]] < self.value[here]
            node[rows] = np.where(below, self.low[here], self.high[here])
            rows = rows[node[rows] >= 0]
        return ~node

    def reached(self, points: FloatArray, radius: FloatArray) -> tuple[IntArray, IntArray]:
        """(row, cell) for every cell that comes within `radius` of the point in that row, and perhaps some more."""
        if not len(self.axis) or not len(points):
            return np.arange(len(points)), np.zeros(len(points), dtype=np.intp)
        rows, node = np.arange(len(points)), np.zeros(len(points), dtype=np.intp)
        found_rows, found_cells = [], []
        while len(rows):
            gap = points[rows, self.axis[node]] - self.value[node]
            low, high = gap < radius[rows], gap >= -radius[rows]
            rows, node = (
                np.concatenate([rows[low], rows[high]]),
                np.concatenate([self.low[node[low]], self.high[node[high]]]),
            )
            leaf = node < 0
            found_rows.append(rows[leaf])
            found_cells.append(~node[leaf])
            rows, node = rows[~leaf], node[~leaf]
        return np.concatenate(found_rows), np.concatenate(found_cells)


def by_cell(cell: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Order that sorts by cell and keeps the order within each, and where each cell begins and ends in it."""
    small = cell.astype(np.int16) if count < 1 << 15 else cell  # sixteen bits sort in linear time
    return np.argsort(small, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=count))])
