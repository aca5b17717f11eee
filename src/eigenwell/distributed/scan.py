"""Scan every part once for its size, once for the samples that are asked, once for the neighbours of these.

Which samples are asked is decided by a hash of their values (`paths.hashing`), so that every partitioning takes the same ones
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
from ..paths.builders import check_places, distinct, units
from ..paths.hashing import Hash, sample_hash, share, smallest
from ..paths.kinematics import common_time_step
from ..paths.settings import DEFAULT
from .cells import Cells
from .inputs import Part, read_part
from .moments import Moments
from .store import Products, fetch, fetch_all

# Samples that draw a cell's borders: shares come out even to five percent.
PER_CELL = 400
FEWEST = 20_000


def scan(folder: Path, *, part: Part, columns: Columns, drawn: float) -> Products:
    """Box and moments of a part, and a share of its positions."""
    rows = read_part(part, columns)
    v = rows.v if rows.v is not None else np.ones_like(rows.x)
    chosen = share(sample_hash(rows.x, v), drawn)
    summary = {"x": Moments.of(rows.x).plain(), "v": Moments.of(v).plain()}
    return Products(arrays={"drawn": rows.x[chosen]}, summary=summary)


@dataclass(frozen=True)
class Whole:
    """What a single machine knows of all samples when it begins, from the scan of all parts."""

    x: Moments
    v: Moments

    @classmethod
    def of(cls, told: Sequence[dict[str, Any]]) -> Whole:
        return cls(*(Moments.pooled(Moments.read(one[name]) for one in told) for name in ("x", "v")))

    def check(self) -> tuple[Caution, ...]:
        """What `Demonstrations` checks; repeats are counted later."""
        check_tall((self.x.count, len(self.x.mean)))
        return check_samples(self.x.box, self.v.box)

    @property
    def frame(self) -> Frame:
        x, v = np.sqrt(self.x.variance), np.sqrt(self.v.variance)
        unit = units(np.stack([-x, x]), np.stack([-v, v]))  # two samples that spread as all do
        pace = float(np.abs(self.v.box / unit).max()) or 1.0
        return Frame(unit.tolist(), (self.x.mean / unit).tolist(), pace)


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
        d = len(self.unit)
        return states[np.sort(np.unique(self.names(states[:, :d], states[:, d:]), return_index=True)[1])]


def ask(folder: Path, *, part: Part, columns: Columns, frame: Frame) -> Products:
    """The distinct samples of a part with the smallest hashes."""
    x, v = frame.read(part, columns)
    return Products(arrays={"asked": _first_few(np.hstack([x, v]), frame)})


def _first_few(states: FloatArray, frame: Frame) -> FloatArray:
    d, states = len(frame.unit), frame.distinct(states)
    return states[smallest(sample_hash(states[:, :d], states[:, d:]), DEFAULT.asked)]


def plan(folder: Path, *, names: Sequence[str], count: int, frame: Frame, total: int) -> Products:
    """The samples asked among all parts, and the cells."""
    asked = _first_few(fetch_all(folder, "ask", names, "asked"), frame)
    d = asked.shape[1] // 2
    places = len(np.unique(asked[:, :d], axis=0))
    check_places(places, total, d, str(places))
    drawn = fetch_all(folder, "scan", names, "drawn") / frame.unit
    return Products(arrays={"asked": asked} | asdict(Cells.of(drawn[np.lexsort(drawn.T)], count)))


def load_cells(folder: Path) -> Cells:
    return Cells(*(np.array(fetch(folder, "plan", "plan", name)) for name in ("axis", "value", "low", "high")))


def neighbours(folder: Path, *, part: Part, columns: Columns, frame: Frame) -> Products:
    """Of every sample asked the nearest distinct samples in this part."""
    asked = fetch(folder, "plan", "plan", "asked")
    x, v = frame.read(part, columns)
    d, states = x.shape[1], frame.distinct(np.hstack([x, v]))
    # A tree for a few queries need not be balanced.
    tree = cKDTree(states[:, :d], balanced_tree=False, compact_nodes=False)
    k = min(NEIGHBOURS + 1, len(states))
    return Products(arrays={"near": states[tree.query(asked[:, :d], k=k)[1].reshape(len(asked), k)]})


def look(folder: Path, *, names: Sequence[str], frame: Frame) -> Products:
    """How regular in time the faster samples asked are; the time step that all share, None where there is none; and the
    median distance that they move until they are nearest to another one ahead."""
    asked, near = _nearest_of_all(folder, names, frame)
    d = asked.shape[1] // 2
    x, v, near_x, near_v = asked[:, :d], asked[:, d:], near[:, :, :d], near[:, :, d:]
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
    asked = np.array(fetch(folder, "plan", "plan", "asked"))
    d, best = asked.shape[1] // 2, []
    near = np.concatenate([fetch(folder, "neighbours", name, "near") for name in names], axis=1)
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
