"""Known trajectories: sorted by their names instead of by place; each is a path as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..arguments import moving_columns
from ..checks import time_stamps
from ..demonstrations import SHORTEST_PATH, Caution, DataError
from ..files.columns import Columns
from ..files.time_units import seconds
from ..paths.blocks import Hash, sample_hash
from ..paths.builders import moving_steps
from .assemble import finish
from .inputs import Part, Rows, read_part
from .records import Records, bounds_of, column, packed
from .scan import by_cell
from .store import Products, fetch_all


def name_hash(names: NDArray[Any]) -> Hash:
    """64 bits for every name of a trajectory, whole numbers or text, the same in every partition."""
    if names.dtype.kind in "iub":
        return sample_hash(names.astype(np.float64)[:, None], np.empty((len(names), 0)))
    from pandas.util import hash_array

    return np.asarray(hash_array(names.astype(str).astype(object), categorize=True), dtype=np.uint64)


def stamps(rows: Rows) -> NDArray[Any]:
    """Numbers that sort as the time of the rows does; the order of the rows where they have none."""
    if rows.time is None:
        return np.zeros(len(rows.x))
    return rows.time.astype("datetime64[ns]").astype(np.int64) if rows.time.dtype.kind == "M" else rows.time


def in_order(
    columns: Columns, ids: IntArray, names: Hash, x: FloatArray, v: FloatArray | None, time: NDArray[Any]
) -> tuple[Records, dict[str, Any]]:
    """Samples given in the order of their ids, trajectory after trajectory in order of time; and what `cautions` goes by.

    A trajectory is `called` by its first row in the input. Velocities are estimated where there are none. `fresh` is False for
    rows that repeat the one before in all they say, as a partition given twice does.
    """
    _, first, owner = np.unique(names, return_index=True, return_inverse=True)
    called = ids[first][owner.reshape(-1)]
    order = np.lexsort((ids, time, called))
    called, ids, x, time = called[order], ids[order], x[order], time[order]
    v = None if v is None else v[order]
    fresh = np.ones(len(x), dtype=bool)
    if columns.time:
        state = x if v is None else np.hstack([x, v])
        fresh[1:] = (np.diff(called) != 0) | (time[1:] != time[:-1]) | (state[1:] != state[:-1]).any(axis=1)
    cuts, clocks = np.flatnonzero(np.diff(called[fresh])) + 1, None
    told: tuple[Caution, ...] = ()
    xs, vs = np.split(x[fresh], cuts), None if v is None else np.split(v[fresh], cuts)
    if columns.time:
        clock, told = seconds(time[fresh], columns.time, x[fresh], None if v is None else v[fresh], called[fresh])
        clocks = time_stamps(xs, np.split(clock, cuts), None)
    found = moving_columns(xs, vs, clocks)
    same = np.cumsum(fresh) - 1  # a repeat stands right behind the row it repeats
    short = sum(len(one) < SHORTEST_PATH for one in xs)
    said = [[c.name, c.message] for c in told + found["warnings"]]
    summary = {"cautions": said, "paths": len(xs), "short": short, "repeats": int((~fresh).sum())}
    return packed(called=called, id=ids, x=found["x"][same], v=found["v"][same], fresh=fresh), summary


def sort(folder: Path, *, part: Part, columns: Columns, buckets: int) -> Products:
    """Samples with the hash of their trajectory and their time, sorted by bucket; without velocities these are zero."""
    rows = read_part(part, columns)
    assert rows.trajectory is not None
    hashes = name_hash(rows.trajectory)
    order, bounds = by_cell((hashes % np.uint64(buckets)).astype(np.intp), buckets)
    v, ids = 0.0 if rows.v is None else rows.v, part.offset + np.arange(part.rows)
    kept = packed(id=ids, x=rows.x, v=v, name=hashes, time=stamps(rows))
    return Products({"rows": kept[order], "bounds": bounds})


def assemble(folder: Path, *, bucket: int, names: Sequence[str], columns: Columns, total: int) -> Products:
    """The trajectories of one bucket."""
    rows = fetch_all(folder, "sort", names, "rows", bucket)
    if len(rows) == 0:
        return Products(summary={"cautions": [], "paths": 0, "short": 0, "repeats": 0})
    ids, x, v, called, time = (column(rows, name) for name in ("id", "x", "v", "name", "time"))
    found, summary = in_order(columns, ids, called, x, v if columns.velocity else None, time)
    called, ids, x, v = (column(found, name) for name in ("called", "id", "x", "v"))
    lengths = np.unique(called[found["fresh"]], return_counts=True)[1]
    arrays = finish(called, ids, x, v, lengths, lengths >= SHORTEST_PATH)
    steps = moving_steps(x[found["fresh"]], v[found["fresh"]], bounds_of(lengths), total)
    return Products(arrays | {"steps": steps}, summary=summary)


def cautions(told: Sequence[dict[str, Any]]) -> tuple[Caution, ...]:
    """One caution of each name."""
    kept: dict[str, Caution] = {}
    for name, message in (c for t in told for c in t["cautions"]):
        kept.setdefault(name, Caution(name, message))
    short, total = sum(t["short"] for t in told), sum(t["paths"] for t in told)
    if short == total:
        raise DataError(f"Expected trajectories of at least {SHORTEST_PATH} samples, got {total} shorter ones.")
    if short:
        said = f"{short} of {total} trajectories have fewer than {SHORTEST_PATH} samples"
        kept["short-trajectory"] = Caution("short-trajectory", f"{said}; their samples stay unassigned.")
    return tuple(kept.values())
