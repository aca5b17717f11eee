"""Assemble whole paths, each in one task and in order of time, with what the grouping of their ends needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..paths.builders import RETURN, beside_one, cut_on_return, stands
from ..paths.grading import end_pace, has_pause, is_orbit
from ..paths.zipping import along
from .records import PLACED, REPEATS, Records, column, packed, paths, samples
from .scan import load_cells
from .stitching import spread
from .store import Products, fetch

MOST_PARTS = 20
"""Bits for the number of a part of a path that was cut: as many samples as a bucket has."""


def layout(folder: Path, *, merged: bool, per_bucket: int) -> Products:
    """Which chains make up which path, and which paths are assembled in one task: those that end near each other.

    Paths are numbered as on a single machine, by the chain that the others were merged into.
    """
    lengths = np.array(fetch(folder, "stitch", "stitch", "lengths"))
    host = np.array(fetch(folder, "merge", "merge", "host")) if merged else np.arange(len(lengths))
    owners, path = np.unique(host, return_inverse=True)
    path = path.reshape(-1)
    counts = np.bincount(path, weights=lengths).astype(np.intp)
    order = np.argsort(fetch(folder, "stitch", "stitch", "tail_cell")[owners], kind="stable")
    bucket = np.empty(len(owners), dtype=np.intp)
    bucket[order] = np.maximum(np.cumsum(counts[order]) - 1, 0) // per_bucket
    bucket = np.unique(bucket, return_inverse=True)[1].reshape(-1)
    return Products(
        arrays={
            "path": path,
            "merged": host != np.arange(len(lengths)),
            "bucket": bucket,
        },
        summary={"buckets": int(bucket.max()) + 1},
    )


@dataclass(frozen=True, eq=False)
class PathRows:
    """Samples path after path: id, the id of the sample each repeats (or its own), place along the path, x and v."""

    path: IntArray
    ids: IntArray
    first: IntArray
    key: FloatArray
    x: FloatArray
    v: FloatArray

    def take(self, order: IntArray) -> PathRows:
        return PathRows(*(getattr(self, name)[order] for name in ("path", "ids", "first", "key", "x", "v")))


def assemble(
    folder: Path, *, bucket: int, names: Sequence[str], dt: float, offsets: Sequence[int], reach: float, extent: float
) -> Products:
    """The paths of one bucket, cut where they rest on the way there and back."""
    chain, start, length, bounds = (
        fetch(folder, "stitch", "stitch", a) for a in ("chain", "start", "length", "bounds")
    )
    path_of, merged, bucket_of = (np.array(fetch(folder, "layout", "layout", a)) for a in ("path", "merged", "bucket"))
    pieces = np.flatnonzero(bucket_of[path_of[chain]] == bucket)
    chain, start, piece_length = chain[pieces], start[pieces], length[pieces]
    path, is_merged = path_of[chain], merged[chain]
    order = np.lexsort((start, chain, is_merged, path))
    to = np.empty(len(pieces), dtype=np.intp)
    to[order] = np.cumsum(piece_length[order]) - piece_length[order]
    cell = np.searchsorted(bounds, pieces, side="right") - 1
    total = int(piece_length.sum())
    rows: Records | None = None
    again: list[Records] = []
    for c in np.unique(cell).tolist():
        here = np.flatnonzero(cell == c)
        in_cell = np.array(length[int(bounds[c]) : int(bounds[c + 1])])
        begin = (np.cumsum(in_cell) - in_cell)[pieces[here] - int(bounds[c])]
        source, target = spread(begin, piece_length[here]), spread(to[here], piece_length[here])
        matched = fetch(folder, "match", names[c], "rows")
        if rows is None:
            rows = np.empty(total, dtype=matched.dtype)
        rows[target] = matched[source]
        repeats = np.array(fetch(folder, "match", names[c], "repeats"))
        if len(repeats):
            moved = np.full(len(matched), -1, dtype=np.intp)
            moved[source] = target
            repeats["row"] = moved[repeats["row"]]
            again.append(repeats[repeats["row"] >= 0])
    assert rows is not None
    by_row = np.repeat(order, piece_length[order])
    key = (spread(start[order], piece_length[order])).astype(np.float64)
    ids = column(rows, "id")
    assembled = PathRows(path[by_row], ids, ids, key, rows["x"], rows["v"])
    extra = np.concatenate(again) if again else np.empty(0, REPEATS)
    if is_merged.any():
        _place_merged(assembled, is_merged[by_row], dt)
        laid = np.lexsort((assembled.ids, assembled.key, assembled.path))
        moved = np.empty(total, dtype=np.intp)
        moved[laid] = np.arange(total)
        assembled, extra["row"] = assembled.take(laid), moved[extra["row"]]
    x, v = np.ascontiguousarray(assembled.x), np.ascontiguousarray(assembled.v)
    begin = np.append(np.flatnonzero(np.diff(assembled.path, prepend=-1)), total)
    cut = cut_on_return(x, v, begin, RETURN * extent, partial(_rested, folder, names, reach))
    counts = np.diff(cut)
    part = np.arange(len(counts)) - np.searchsorted(cut, begin)[np.searchsorted(begin, cut[:-1], side="right") - 1]
    numbers = (assembled.path[cut[:-1]] << MOST_PARTS) + part
    assembled = replace(assembled, path=np.repeat(numbers, counts))
    if len(extra):
        assembled = _with_repeats(assembled, extra)
    return finish(assembled, np.ones(len(counts), dtype=bool), offsets, counts)


def _rested(folder: Path, names: Sequence[str], reach: float, place: FloatArray) -> BoolArray:
    """Whether a sample of any cell stands still within reach of each place."""
    asked = np.array(fetch(folder, "plan", "plan", "asked"))
    found = np.zeros(len(place), dtype=bool)
    row, cell = load_cells(folder).reached(place, np.full(len(place), reach))
    for c in np.unique(cell).tolist():
        rows, mine = fetch(folder, "match", names[c], "rows"), row[cell == c]
        still = column(rows, "x")[stands(column(rows, "v"), asked[:, asked.shape[1] // 2 :])]
        found[mine] |= beside_one(cKDTree(still) if len(still) else None, place[mine], reach)
    return found


def _place_merged(assembled: PathRows, merged: BoolArray, dt: float) -> None:
    for path in np.unique(assembled.path[merged]):
        mine = np.flatnonzero(assembled.path == path)
        members, others = mine[~merged[mine]], mine[merged[mine]]
        assembled.key[others] = along(assembled.x, dt * assembled.v[members], others, members)[0]


def _with_repeats(assembled: PathRows, extra: Records) -> PathRows:
    """Every repeat right behind the sample it repeats."""
    more = assembled.take(extra["row"])
    both = PathRows(
        np.concatenate([assembled.path, more.path]),
        np.concatenate([assembled.ids, extra["id"]]),
        np.concatenate([assembled.first, more.ids]),
        np.concatenate([assembled.key, more.key]),
        np.concatenate([assembled.x, more.x]),
        np.concatenate([assembled.v, more.v]),
    )
    return both.take(np.lexsort((both.ids, both.first, both.key, both.path)))


def finish(
    assembled: PathRows, usable: BoolArray, offsets: Sequence[int], distinct: IntArray | None = None
) -> Products:
    """Samples in order; a record of every path; where each sample is, in the order of the input, with `bounds` of its
    partitions. `usable` and `distinct`, the samples that repeat no other, have an entry for every path."""
    path, ids, x, v = (
        assembled.path,
        assembled.ids,
        np.ascontiguousarray(assembled.x),
        np.ascontiguousarray(assembled.v),
    )
    begin = np.flatnonzero(np.concatenate([[True], np.diff(path) != 0]))
    end = np.append(begin[1:], len(path))
    spans = list(zip(begin.tolist(), end.tolist(), strict=True))
    d = x.shape[1]
    table = packed(
        paths(d),
        path=path[begin],
        samples=end - begin,
        first=ids[begin],
        pace=[end_pace(v[a:b]) for a, b in spans],
        orbit=[is_orbit(x[a:b], v[a:b]) for a, b in spans],
        usable=usable,
        distinct=end - begin if distinct is None else distinct,
        pause=[has_pause(v[a:b]) for a, b in spans],
        start=x[begin],
        end=x[end - 1],
    )
    position = np.arange(len(path)) - np.repeat(begin, end - begin)
    back = np.argsort(ids)
    return Products(
        arrays={
            "rows": packed(samples(d), id=ids, x=x, v=v),
            "paths": table,
            "back": packed(PLACED, id=ids, path=path, position=position)[back],
            "bounds": np.searchsorted(ids[back], offsets),
        },
        summary={"paths": len(table), "samples": len(path), "repeats": int((assembled.ids != assembled.first).sum())},
    )
