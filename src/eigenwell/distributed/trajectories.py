"""Known trajectories: sorted by trajectory instead of by place; each is a path as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import BoolArray, FloatArray, IntArray
from ..checks import check_jumps, check_velocity, spread_stamps, time_stamps
from ..demonstrations import SHORTEST_PATH, Caution, DataError
from ..files.columns import Columns
from ..files.time_units import seconds
from ..paths.builders import moving_steps
from ..paths.hashing import sample_hash
from ..velocities import smoothed
from .assemble import PathRows, finish
from .cells import by_cell
from .inputs import Part, read_part
from .records import column, packed, samples
from .store import Products, fetch


def name_hash(names: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits for every name of a trajectory, whole numbers or text, the same in every partition."""
    if names.dtype.kind in "iub":
        return np.asarray(sample_hash(names.astype(np.float64)[:, None], np.empty((len(names), 0))))
    from pandas.util import hash_array

    return np.asarray(hash_array(names.astype(str).astype(object), categorize=True), dtype=np.uint64)


def sort(folder: Path, *, part: Part, columns: Columns, buckets: int) -> Products:
    """Samples with the hash of their trajectory and their time, sorted by bucket; without velocities these are zero."""
    rows = read_part(part, columns)
    assert rows.trajectory is not None
    hashes = name_hash(rows.trajectory)
    order, bounds = by_cell((hashes % np.uint64(buckets)).astype(np.intp), buckets)
    v = 0.0 if rows.v is None else rows.v
    arrays = {
        "rows": packed(samples(rows.x.shape[1]), id=part.offset + np.arange(part.rows), x=rows.x, v=v)[order],
        "names": hashes[order],
        "bounds": bounds,
    }
    if rows.time is not None:
        time = rows.time.astype("datetime64[ns]").astype(np.int64) if rows.time.dtype.kind == "M" else rows.time
        arrays["time"] = time[order]
    return Products(arrays=arrays, summary={"dates": rows.time is not None and rows.time.dtype.kind == "M"})


def assemble(folder: Path, *, bucket: int, names: Sequence[str], offsets: Sequence[int], columns: Columns) -> Products:
    """The trajectories of one bucket, each called by its first row in the input."""

    def gathered(what: str) -> NDArray[Any]:
        parts = []
        for name in names:
            bounds = fetch(folder, "sort", name, "bounds")
            parts.append(fetch(folder, "sort", name, what)[int(bounds[bucket]) : int(bounds[bucket + 1])])
        return np.concatenate(parts)

    rows, hashes = gathered("rows"), gathered("names")
    if len(rows) == 0:
        return Products(summary={"paths": 0, "cautions": [], "short": 0, "repeats": 0})
    time = gathered("time") if columns.time else None
    ids = column(rows, "id")
    _, first, owner = np.unique(hashes, return_index=True, return_inverse=True)
    called = ids[first][owner.reshape(-1)]  # rows are in the order of their ids
    order = np.lexsort((ids, ids if time is None else time, called))
    called, ids, x = called[order], ids[order], column(rows[order], "x")
    given = column(rows[order], "v") if columns.velocity else None
    stamps = None if time is None else time[order]
    fresh = _fresh(called, stamps, x, given)
    clean, v, told = _states(columns, called[fresh], x[fresh], given if given is None else given[fresh], stamps, fresh)
    x = clean[np.cumsum(fresh) - 1]
    lengths = np.diff(np.append(np.flatnonzero(np.diff(called[fresh], prepend=-1)), fresh.sum()))
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    # A repeat stands right behind the row it repeats.
    assembled = PathRows(called, ids, ids, np.zeros(len(ids)), x, v[np.cumsum(fresh) - 1])
    products = finish(assembled, lengths >= SHORTEST_PATH, offsets)
    short = int((lengths < SHORTEST_PATH).sum())
    return Products(
        products.arrays | {"steps": moving_steps(x[fresh], v, bounds, offsets[-1])},
        summary=products.summary
        | {"cautions": [[c.name, c.message] for c in told], "short": short, "repeats": int((~fresh).sum())},
    )


def _fresh(called: IntArray, time: NDArray[Any] | None, x: FloatArray, v: FloatArray | None) -> BoolArray:
    """False for rows that repeat the one before in all they say, as a partition given twice does."""
    out = np.ones(len(x), dtype=bool)
    if time is not None:
        same = (np.diff(called) == 0) & (time[1:] == time[:-1]) & (x[1:] == x[:-1]).all(axis=1)
        if v is not None:
            same &= (v[1:] == v[:-1]).all(axis=1)
        out[1:] = ~same
    return out


def _states(
    columns: Columns, called: IntArray, x: FloatArray, v: FloatArray | None, time: NDArray[Any] | None, fresh: BoolArray
) -> tuple[FloatArray, FloatArray, list[Caution]]:
    """Positions, freed of noise where velocities are estimated; velocities; what is doubtful about the trajectories."""
    cuts = np.flatnonzero(np.diff(called)) + 1
    xs = np.split(x, cuts)
    told = list(check_jumps(xs))
    stamps = None
    if time is not None:
        clock, converted = seconds(time[fresh], columns.time or "", x, v, called)
        told += converted
        stamps, repeated = spread_stamps(time_stamps(xs, np.split(clock, cuts), None) or [])
        told += repeated
    if v is not None:
        return x, v, told + list(check_velocity(xs, np.split(v, cuts), stamps))
    if stamps is None:
        raise DataError(
            "Expected velocities or time beside the trajectories, got positions alone. Say velocity=... or time=..."
        )
    estimated = [smoothed(a, t) for a, t in zip(xs, stamps, strict=True)]
    said = "Velocities were estimated from positions and time, and noise was smoothed away; pass v if you have them."
    clean, v = (np.concatenate(parts) for parts in ([e.x for e in estimated], [e.v for e in estimated]))
    return clean, v, [*told, Caution("velocities-estimated", said)]


def typical_step(folder: Path, *, names: Sequence[str]) -> Products:
    steps: FloatArray = np.concatenate([fetch(folder, "assemble", name, "steps") for name in names])
    return Products(summary={"step": float(np.median(steps)) if len(steps) else 0.0})


def cautions(told: Sequence[dict[str, Any]]) -> tuple[Caution, ...]:
    """One caution of each name."""
    kept: dict[str, Caution] = {}
    for name, message in (c for t in told for c in t["cautions"]):
        kept.setdefault(name, Caution(name, message))
    short, total = sum(t["short"] for t in told), sum(t["paths"] for t in told)
    if short == total:
        raise DataError(f"Expected trajectories of at least {SHORTEST_PATH} samples, got {total} shorter ones.")
    if short:
        said = (
            f"{short} of {total} trajectories have fewer than {SHORTEST_PATH} samples; their samples stay unassigned."
        )
        kept["short-trajectory"] = Caution("short-trajectory", said)
    return tuple(kept.values())
