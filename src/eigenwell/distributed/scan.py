"""Scan every part once for its size, once for the samples that are asked, once for the neighbours of these.

Which samples are asked is decided by a hash of their values (`paths.blocks`), so that every partitioning takes the same ones
as a single machine does. They tell whether the samples lie on trajectories, and the time step that all share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from ..checks import check_samples, check_tall
from ..demonstrations import Caution, DataError
from ..files.columns import Columns
from ..flow import Evidence
from ..flow.data_kind import NEIGHBOURS, in_motion, regularity
from ..paths.blocks import Hash, sample_hash, share, smallest
from ..paths.builders import check_places, distinct, units
from ..paths.kinematics import common_time_step
from ..paths.settings import DEFAULT
from .cells import Cells
from .inputs import Part, read_part
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
    """What a single machine knows of all samples when it begins: mean and variance of x and v, and their boxes (2, d)."""

    count: int
    mean: FloatArray
    variance: FloatArray
    box: FloatArray

    @classmethod
    def of(cls, told: Sequence[dict[str, Any]]) -> Whole:
        """From the scans of all parts, to rounding."""
        means, squares, low, high = np.array([one["moments"] for one in told]).swapaxes(0, 1)
        count = np.array([one["rows"] for one in told])[:, None]
        mean = (count * means).sum(axis=0) / count.sum()
        variance = (squares + count * (means - mean) ** 2).sum(axis=0) / count.sum()
        return cls(int(count.sum()), mean, variance, np.stack([low.min(axis=0), high.max(axis=0)]))

    @property
    def dimension(self) -> int:
        return len(self.mean) // 2

    def check(self) -> tuple[Caution, ...]:
        """What `Demonstrations` checks; repeats are counted later."""
        check_tall((self.count, self.dimension))
        return check_samples(*np.split(self.box, 2, axis=1))

    @property
    def frame(self) -> Frame:
        x, v = np.split(np.sqrt(self.variance), 2)
        unit = units(np.stack([-x, x]), np.stack([-v, v]))  # two samples that spread as all do
        pace = float(np.abs(self.box[:, self.dimension :] / unit).max()) or 1.0
        return Frame(unit.tolist(), (self.mean[: self.dimension] / unit).tolist(), pace)


@dataclass(frozen=True)
class Frame:
    """The unit of every column, and centre and top speed in these: what samples are compared in, as on a single machine."""

    unit: list[float]
    centre: list[float]
    pace: float

    def read(self, part: Part, columns: Columns) -> tuple[FloatArray, FloatArray]:
        rows = read_part(part, columns)
        assert rows.v is not None
        return rows.x / self.unit, rows.v / self.unit

    def names(self, x: FloatArray, v: FloatArray) -> Hash:
        """Equal for samples that repeat each other."""
        return sample_hash(*distinct(x, v, np.array(self.centre), self.pace))

    def distinct(self, states: FloatArray) -> FloatArray:
        """States (n, 2 d) of which none repeats an earlier one."""
        return states[np.sort(np.unique(self.names(*np.split(states, 2, axis=1)), return_index=True)[1])]

    def asked(self, states: FloatArray) -> FloatArray:
        """The distinct states with the smallest hashes."""
        states = self.distinct(states)
        return states[smallest(sample_hash(*np.split(states, 2, axis=1)), DEFAULT.asked)]


def ask(folder: Path, *, part: Part, columns: Columns, frame: Frame) -> Products:
    """The samples of a part that are asked where it is the only one."""
    return Products(arrays={"asked": frame.asked(np.hstack(frame.read(part, columns)))})


def plan(folder: Path, *, names: Sequence[str], count: int, frame: Frame, total: int) -> Products:
    """The samples asked among all parts, and the cells."""
    asked, d = frame.asked(fetch_all(folder, "ask", names, "asked")), len(frame.unit)
    places = len(np.unique(asked[:, :d], axis=0))
    check_places(places, total, d, str(places))
    drawn = fetch_all(folder, "scan", names, "drawn") / frame.unit
    return Products(arrays={"asked": asked} | asdict(Cells.of(drawn[np.lexsort(drawn.T)], count)))


def load_cells(folder: Path) -> Cells:
    return Cells(*own(folder, "plan", "axis", "value", "low", "high"))


def neighbours(folder: Path, *, part: Part, columns: Columns, frame: Frame) -> Products:
    """Of every sample asked the nearest distinct samples in this part."""
    d, (asked,) = len(frame.unit), own(folder, "plan", "asked")
    states = frame.distinct(np.hstack(frame.read(part, columns)))
    # A tree for a few queries need not be balanced.
    tree = cKDTree(states[:, :d], balanced_tree=False, compact_nodes=False)
    k = min(NEIGHBOURS + 1, len(states))
    return Products(arrays={"near": states[tree.query(asked[:, :d], k=k)[1].reshape(len(asked), k)]})


def look(folder: Path, *, names: Sequence[str], frame: Frame) -> Products:
    """How regular in time the faster samples asked are; the time step that all share, None where there is none; and the
    median distance that they move until they are nearest to another one ahead."""
    asked, near = _nearest_of_all(folder, names, frame)
    (x, v), (near_x, near_v) = np.split(asked, 2, axis=1), np.split(near, 2, axis=2)
    fast = in_motion(np.linalg.norm(v, axis=1))
    regular = regularity(x[fast], v[fast], near_x[fast, 1:], near_v[fast, 1:])  # every sample is its own nearest
    few = slice(DEFAULT.neighbours + 1)
    near_x, near_v = near_x[:, few], near_v[:, few]
    distance = np.linalg.norm(near_x - x[:, None], axis=2)
    dt = common_time_step(x, v, near_x, near_v, distance)
    ahead = ((near_x - x[:, None]) * v[:, None]).sum(axis=2) > 0
    nearest = np.where(ahead & (distance > 0), distance, np.inf).min(axis=1)
    step = float(np.median(np.minimum(nearest, distance.max(axis=1))))
    return Products(summary={"regular": regular, "asked": int(fast.sum()), "dt": dt, "step": step})


def _nearest_of_all(folder: Path, names: Sequence[str], frame: Frame) -> tuple[FloatArray, FloatArray]:
    """The samples asked (m, 2 d), and their nearest distinct samples in all parts (m, k, 2 d), the first of them themselves."""
    d, (asked,) = len(frame.unit), own(folder, "plan", "asked")
    near, best = np.concatenate([fetch(folder, "neighbours", name, "near") for name in names], axis=1), []
    for one, states in zip(asked, near, strict=True):
        states = frame.distinct(states)
        gap = np.linalg.norm(states[:, :d] - one[:d], axis=1)
        best.append(states[np.argsort(gap, kind="stable")[: NEIGHBOURS + 1]])
    k = min(len(states) for states in best)
    return asked, np.array([states[:k] for states in best])


def refuse_snapshots(told: dict[str, Any]) -> None:
    evidence = Evidence(told["regular"], told["asked"])
    if evidence.snapshots:
        raise DataError(
            f"Expected samples along trajectories, got velocities at scattered places ({evidence}). These are not spread over "
            "several tasks: one estimates their field from a part of them. Pass some 100,000 samples, drawn at random; or say "
            "which samples belong together with trajectory=..."
        )
