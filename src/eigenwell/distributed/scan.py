"""Scan every part once for its size, once for the samples that are asked, once for the neighbours of these; and the cells.

Which samples are asked is decided by a hash of their values (`paths.blocks`), so that every partitioning takes the same ones
as a single machine does. They tell whether the samples lie on trajectories, and the time step that all share. Cells are
axis-parallel boxes that share the samples out evenly, whatever partition they lie in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..checks import check_samples, check_tall
from ..demonstrations import Caution, DataError
from ..files.columns import Columns
from ..flow import Evidence
from ..flow.data_kind import NEIGHBOURS, in_motion, regularity
from ..paths.blocks import Hash, sample_hash, share, smallest
from ..paths.builders import check_places, distinct, units
from ..paths.kinematics import common_time_step
from ..paths.settings import DEFAULT
from .inputs import Part, read_part
from .records import bounds_of
from .store import Products, fetch, fetch_all, own

# Samples that draw a cell's borders: shares come out even to five percent.
PER_CELL = 400
FEWEST = 20_000


def scan(folder: Path, *, part: Part, columns: Columns, drawn: float) -> Products:
    """What there is to know of the size of a part, and a share of its positions."""
    rows = read_part(part, columns)
    v = rows.v if rows.v is not None else np.ones_like(rows.x)
    chosen = share(sample_hash(rows.x, v), drawn)
    return Products(arrays={"drawn": rows.x[chosen]}, summary=moments(np.hstack([rows.x, v])))


def moments(state: FloatArray) -> dict[str, Any]:
    """Mean, sum of squared deviations, lowest and highest of every column."""
    mean = state.mean(axis=0)
    found = [mean, ((state - mean) ** 2).sum(axis=0), state.min(axis=0), state.max(axis=0)]
    return {"rows": len(state), "moments": [one.tolist() for one in found]}


@dataclass(frozen=True)
class Whole:
    """What a single machine knows of all samples when it begins: mean and variance of x and v, and their box, lowest and highest;
    and what it compares samples in: the unit of every column, and centre and top speed in these."""

    count: int
    mean: list[float]
    variance: list[float]
    box: tuple[list[float], list[float]]

    @classmethod
    def of(cls, told: Sequence[dict[str, Any]]) -> Whole:
        """From the scans of all parts, to rounding."""
        means, squares, low, high = np.array([one["moments"] for one in told]).swapaxes(0, 1)
        count = np.array([one["rows"] for one in told])[:, None]
        mean = (count * means).sum(axis=0) / count.sum()
        variance = (squares + count * (means - mean) ** 2).sum(axis=0) / count.sum()
        box = low.min(axis=0).tolist(), high.max(axis=0).tolist()
        return cls(int(count.sum()), mean.tolist(), variance.tolist(), box)

    @property
    def dimension(self) -> int:
        return len(self.mean) // 2

    @property
    def places(self) -> FloatArray:
        """(2, d) box of the positions."""
        return np.array(self.box)[:, : self.dimension]

    @cached_property
    def unit(self) -> FloatArray:
        x, v = np.split(np.sqrt(self.variance), 2)
        return units(np.stack([-x, x]), np.stack([-v, v]))  # two samples that spread as all do

    def check(self) -> tuple[Caution, ...]:
        """What `Demonstrations` checks; repeats are counted later."""
        check_tall((self.count, self.dimension))
        return check_samples(*np.split(np.array(self.box), 2, axis=1))

    def read(self, part: Part, columns: Columns) -> tuple[FloatArray, FloatArray]:
        rows = read_part(part, columns)
        assert rows.v is not None
        return rows.x / self.unit, rows.v / self.unit

    def names(self, x: FloatArray, v: FloatArray) -> Hash:
        """Equal for samples that repeat each other."""
        centre = np.array(self.mean[: self.dimension]) / self.unit
        pace = float(np.abs(np.array(self.box)[:, self.dimension :] / self.unit).max()) or 1.0
        return sample_hash(*distinct(x, v, centre, pace))

    def distinct(self, states: FloatArray) -> FloatArray:
        """States (n, 2 d) of which none repeats an earlier one."""
        return states[np.sort(np.unique(self.names(*np.split(states, 2, axis=1)), return_index=True)[1])]

    def asked(self, states: FloatArray) -> FloatArray:
        """The distinct states with the smallest hashes."""
        states = self.distinct(states)
        return states[smallest(sample_hash(*np.split(states, 2, axis=1)), DEFAULT.asked)]


# --- cells --------------------------------------------------------------------------------------------


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


def load_cells(folder: Path) -> Cells:
    return Cells(*own(folder, "plan", "axis", "value", "low", "high"))


# --- the samples that are asked -----------------------------------------------------------------------


def ask(folder: Path, *, part: Part, columns: Columns, whole: Whole) -> Products:
    """The samples of a part that are asked where it is the only one."""
    return Products(arrays={"asked": whole.asked(np.hstack(whole.read(part, columns)))})


def plan(folder: Path, *, names: Sequence[str], count: int, whole: Whole, total: int) -> Products:
    """The samples asked among all parts, and the cells."""
    asked, d = whole.asked(fetch_all(folder, "ask", names, "asked")), len(whole.unit)
    places = len(np.unique(asked[:, :d], axis=0))
    check_places(places, total, d, str(places))
    drawn = fetch_all(folder, "scan", names, "drawn") / whole.unit
    return Products(arrays={"asked": asked} | asdict(Cells.of(drawn[np.lexsort(drawn.T)], count)))


def neighbours(folder: Path, *, part: Part, columns: Columns, whole: Whole) -> Products:
    """Of every sample asked the nearest distinct samples in this part."""
    (asked,) = own(folder, "plan", "asked")
    return Products(arrays={"near": _nearest(asked, whole.distinct(np.hstack(whole.read(part, columns))))})


def look(folder: Path, *, names: Sequence[str], whole: Whole) -> Products:
    """How regular in time the faster samples asked are; the time step that all share, None where there is none; and the
    median distance that they move until they are nearest to another one ahead."""
    (asked,), near = own(folder, "plan", "asked"), [fetch(folder, "neighbours", name, "near") for name in names]
    of_all = zip(asked, np.concatenate(near, axis=1), strict=True)
    nearest = [_nearest(one[None], whole.distinct(states))[0] for one, states in of_all]
    k = min(map(len, nearest))
    (x, v), (near_x, near_v) = np.split(asked, 2, axis=1), np.split(np.array([s[:k] for s in nearest]), 2, axis=2)
    fast = in_motion(np.linalg.norm(v, axis=1))
    regular = regularity(x[fast], v[fast], near_x[fast, 1:], near_v[fast, 1:])  # every sample is its own nearest
    few = slice(DEFAULT.neighbours + 1)
    near_x, near_v = near_x[:, few], near_v[:, few]
    distance = np.linalg.norm(near_x - x[:, None], axis=2)
    dt = common_time_step(x, v, near_x, near_v, distance)
    ahead = ((near_x - x[:, None]) * v[:, None]).sum(axis=2) > 0
    first = np.where(ahead & (distance > 0), distance, np.inf).min(axis=1)
    step = float(np.median(np.minimum(first, distance.max(axis=1))))
    return Products(summary={"regular": regular, "asked": int(fast.sum()), "dt": dt, "step": step})


def _nearest(asked: FloatArray, states: FloatArray) -> FloatArray:
    """Of each sample asked (m, 2 d) the states (n, 2 d) that are nearest in place (m, k, 2 d), as many as there are."""
    d, k = states.shape[1] // 2, min(NEIGHBOURS + 1, len(states))
    # A tree for a few queries need not be balanced.
    tree = cKDTree(states[:, :d], balanced_tree=False, compact_nodes=False)
    return np.asarray(states[tree.query(asked[:, :d], k=k)[1].reshape(len(asked), k)])


def refuse_snapshots(told: dict[str, Any]) -> None:
    evidence = Evidence(told["regular"], told["asked"])
    if evidence.snapshots:
        raise DataError(
            f"Expected samples along trajectories, got velocities at scattered places ({evidence}). These are not spread over "
            "several tasks: one estimates their field from a part of them. Pass some 100,000 samples, drawn at random; or say "
            "which samples belong together with trajectory=..."
        )
