"""Scan every part once: how many samples, where, and those from which the time step is measured.

Which samples these are is decided by a hash of their values (`paths.hashing`), so that every partitioning takes the
same ones as a single machine does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..checks import check_samples, check_tall
from ..demonstrations import Caution, DataError
from ..files.columns import Columns
from ..flow import Evidence
from ..flow.data_kind import NEIGHBOURS, regularity
from ..paths.builders import check_places
from ..paths.hashing import sample_hash, share, smallest
from ..paths.meeting import common_time_step
from ..paths.settings import DEFAULT
from .cells import Cells
from .inputs import Part, read_part
from .moments import Moments
from .store import Products, fetch

# Samples that draw a cell's borders: shares come out even to five percent.
PER_CELL = 400
FEWEST = 20_000
# Data with fewer distinct positions than this are looked at more closely.
PLACES = 64


def scan(folder: Path, *, part: Part, columns: Columns, drawn: float) -> Products:
    """Counts, bounds and moments of a part; the samples with the smallest hashes; a share of the positions."""
    rows = read_part(part, columns)
    x, v = rows.x, rows.v if rows.v is not None else np.ones_like(rows.x)
    hashes = sample_hash(x, v)
    few = _distinct(hashes, smallest(hashes, 2 * DEFAULT.asked))[: DEFAULT.asked]
    if len(few) < min(DEFAULT.asked, len(x)):  # many repeats: take all in order
        few = _distinct(hashes, np.argsort(hashes, kind="stable"))[: DEFAULT.asked]
    chosen = share(hashes, drawn)
    return Products(
        arrays={"asked": np.hstack([x[few], v[few]]), "drawn": x[chosen]},
        summary={
            "low": x.min(axis=0).tolist() if len(x) else None,
            "high": x.max(axis=0).tolist() if len(x) else None,
            "moments": Moments.of(x).plain(),
            "moves": bool(v.any()),
            "places": places(x),
        },
    )


def _distinct(hashes: Any, order: IntArray) -> IntArray:
    kept = np.concatenate([[True], np.diff(hashes[order].view(np.int64)) != 0]) if len(order) else np.empty(0, bool)
    return np.asarray(order[kept])


def places(x: FloatArray) -> int:
    """Number of distinct positions, PLACES where there are more."""
    for rows in (x[:1000], x):
        count = len(np.unique(sample_hash(rows, rows[:, :0])))
        if count >= PLACES or len(rows) == len(x):
            break
    return min(count, PLACES)


def plan(folder: Path, *, names: Sequence[str], count: int) -> Products:
    """The samples asked among all parts, and the cells."""
    asked = np.concatenate([fetch(folder, "scan", name, "asked") for name in names])
    d = asked.shape[1] // 2
    hashes = sample_hash(asked[:, :d], asked[:, d:])
    asked = asked[_distinct(hashes, np.argsort(hashes, kind="stable"))[: DEFAULT.asked]]
    drawn = np.concatenate([fetch(folder, "scan", name, "drawn") for name in names])
    cells = Cells.of(drawn[np.lexsort(drawn.T)], count)
    return Products(arrays={"asked": asked} | cells_as_arrays(cells))


def cells_as_arrays(cells: Cells) -> dict[str, Any]:
    return {"axis": cells.axis, "value": cells.value, "low": cells.low, "high": cells.high}


def load_cells(folder: Path) -> Cells:
    return Cells(*(np.array(fetch(folder, "plan", "plan", name)) for name in ("axis", "value", "low", "high")))


def neighbours(folder: Path, *, part: Part, columns: Columns) -> Products:
    """Of every sample asked the nearest distinct samples in this part."""
    asked = np.array(fetch(folder, "plan", "plan", "asked"))
    rows = read_part(part, columns)
    assert rows.v is not None
    d = rows.x.shape[1]
    state = np.hstack([rows.x, rows.v])
    if len(state) == 0:
        return Products(arrays={"near": np.full((len(asked), 1, 2 * d), np.nan)})
    # A tree for a few queries need not be balanced.
    tree = cKDTree(rows.x, balanced_tree=False, compact_nodes=False)
    k = min(NEIGHBOURS + 1, len(state))
    while True:
        near = state[tree.query(asked[:, :d], k=k)[1].reshape(len(asked), k)]
        repeated = _repeated(asked, near)
        if k == len(state) or ((~repeated).sum(axis=1) > NEIGHBOURS).all():
            break
        k = min(2 * k, len(state))
    near[repeated] = np.nan
    return Products(arrays={"near": near})


def _distance(asked: FloatArray, near: FloatArray) -> FloatArray:
    d = asked.shape[1] // 2
    gap = np.linalg.norm(near[:, :, :d] - asked[:, None, :d], axis=2)
    return np.where(np.isfinite(gap), gap, np.inf)


def _repeated(asked: FloatArray, near: FloatArray) -> BoolArray:
    """True for neighbours that repeat an earlier one of their row."""
    m, k, width = near.shape
    flat = near.reshape(-1, width)
    d = width // 2
    hashes = sample_hash(flat[:, :d], flat[:, d:])
    row = np.repeat(np.arange(m), k)
    order = np.lexsort((hashes, row))
    same = (np.diff(row[order]) == 0) & (hashes[order][1:] == hashes[order][:-1])
    out = np.zeros(m * k, dtype=bool)
    out[order[1:][same]] = True
    return out.reshape(m, k)


def nearest_of_all(
    folder: Path, names: Sequence[str], count: int = DEFAULT.neighbours
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The samples asked, the nearest distinct samples in all parts (m, count + 1, 2 d; first themselves), and the distances."""
    asked = np.array(fetch(folder, "plan", "plan", "asked"))
    best = np.full((len(asked), 0, asked.shape[1]), np.nan)
    for name in names:
        both = np.concatenate([best, fetch(folder, "neighbours", name, "near")], axis=1)
        distance = np.where(_repeated(asked, both), np.inf, _distance(asked, both))
        nearest = np.argsort(distance, axis=1, kind="stable")[:, : count + 1]
        best = np.take_along_axis(both, nearest[:, :, None], axis=1)
        best[~np.isfinite(np.take_along_axis(distance, nearest, axis=1))] = np.nan
    best = best[:, np.isfinite(best).all(axis=(0, 2))]  # columns that every sample asked has filled
    return asked, best, _distance(asked, best)


def time_step(folder: Path, *, names: Sequence[str]) -> Products:
    """The common time step as a single machine finds it; None where there is none."""
    asked, near, distance = nearest_of_all(folder, names)
    d = asked.shape[1] // 2
    dt = common_time_step(asked[:, :d], asked[:, d:], near[:, :, :d], near[:, :, d:], distance)
    return Products(summary={"dt": dt})


def kind(folder: Path, *, names: Sequence[str]) -> Products:
    """How regular the faster half of the samples asked are in time."""
    asked, near, distance = nearest_of_all(folder, names, NEIGHBOURS)
    d = asked.shape[1] // 2
    speed = np.linalg.norm(asked[:, d:], axis=1)
    fast = speed >= np.median(speed)
    other = distance[fast] > 0  # every sample is its own nearest
    near = np.where(other[:, :, None], near[fast], np.nan)
    regular = regularity(asked[fast, :d], asked[fast, d:], near[:, :, :d], near[:, :, d:])
    return Products(summary={"regular": regular, "asked": int(fast.sum())})


def refuse_snapshots(told: dict[str, Any]) -> None:
    evidence = Evidence(told["regular"], told["asked"])
    if evidence.snapshots:
        raise DataError(
            f"Expected samples along trajectories, got velocities at scattered places ({evidence}). These are not spread over "
            "a cluster: one machine estimates their field from a part of them. Pass some 100,000 samples, drawn at random, "
            "to eigenwell.identify; or say which samples belong together with trajectory=..."
        )


def nothing_more(folder: Path) -> Products:
    """Leaves a record of the task and nothing else."""
    return Products()


def check(summaries: Sequence[dict[str, Any]], dimension: int, velocities: bool) -> tuple[Caution, ...]:
    """What `Demonstrations` checks on a single machine, from the summaries of the scan; repeats are counted later."""
    filled = [s for s in summaries if s["low"] is not None]
    total = sum(s["moments"]["count"] for s in filled)
    check_tall((total, dimension))
    low, high = np.min([s["low"] for s in filled], axis=0), np.max([s["high"] for s in filled], axis=0)
    moves = any(s["moves"] for s in filled) or not velocities
    return check_samples(np.stack([low, high]), np.full((2, dimension), float(moves)))


def check_spread(summaries: Sequence[dict[str, Any]], total: int, dimension: int) -> None:
    """What `SuccessorGraph` refuses as well: samples at a handful of places."""
    count = max(s["places"] for s in summaries)
    check_places(count, total, dimension, f"about {count} in every partition")
