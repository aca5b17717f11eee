"""Assemble whole paths, each in one task and in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..paths.arrival import Block, boxes, end_pace
from ..paths.builders import beside_one, cut_on_return, stands
from ..paths.fragments import along
from .records import REPEATS, Records, bounds_of, column, packed, paths, samples, spread
from .scan import Frame, load_cells
from .store import Products, fetch

MOST_PARTS = 20
"""Bits for the number of a part of a path that was cut: as many samples as a bucket has."""


def assemble(
    folder: Path,
    *,
    bucket: int,
    names: Sequence[str],
    dt: float,
    reach: float,
    extent: float,
    frame: Frame,
) -> Products:
    """The paths of one bucket, cut where they rest on the way there and back."""
    chain, start, length, bounds = (
        fetch(folder, "stitch", "stitch", a) for a in ("chain", "start", "length", "bounds")
    )
    path_of, merged, bucket_of = (np.array(fetch(folder, "layout", "layout", a)) for a in ("path", "merged", "bucket"))
    pieces = np.flatnonzero(bucket_of[path_of[chain]] == bucket)
    chain, start, count = chain[pieces], start[pieces], length[pieces]
    order = np.lexsort((start, chain, merged[chain], path_of[chain]))
    to = np.empty(len(pieces), dtype=np.intp)
    to[order] = bounds_of(count[order])[:-1]
    rows, repeats = _gathered(folder, names, bounds, length, pieces, to)
    by_row = np.repeat(order, count[order])
    path, key = path_of[chain[by_row]], spread(start[order], count[order]).astype(np.float64)
    is_merged = merged[chain[by_row]]
    x, v = column(rows, "x"), column(rows, "v")
    for p in np.unique(path[is_merged]):
        mine = np.flatnonzero(path == p)
        members, others = mine[~is_merged[mine]], mine[is_merged[mine]]
        key[others] = along(x, dt * v[members], others, members)[0]
    laid = np.lexsort((rows["id"], key, path))
    rows, path, x, v = rows[laid], path[laid], x[laid], v[laid]
    moved = np.empty(len(laid), dtype=np.intp)
    moved[laid] = np.arange(len(laid))
    repeats["row"] = moved[repeats["row"]]
    begin = np.append(np.flatnonzero(np.diff(path, prepend=-1)), len(path))
    cut = cut_on_return(x, v, begin, extent, partial(_rested, folder, names, reach))
    distinct = np.diff(cut)
    part = np.arange(len(distinct)) - np.searchsorted(cut, begin)[np.searchsorted(begin, cut[:-1], side="right") - 1]
    path = np.repeat((path[cut[:-1]] << MOST_PARTS) + part, distinct)
    # Every repeat right behind the sample it repeats.
    again = np.lexsort((np.append(rows["id"], repeats["id"]), np.append(np.arange(len(rows)), repeats["row"])))
    source = np.append(np.arange(len(rows)), repeats["row"])[again]
    ids = np.append(rows["id"], repeats["id"])[again]
    unit = np.array(frame.unit)
    return finish(path[source], ids, x[source] * unit, v[source] * unit, distinct)


def _gathered(
    folder: Path, names: Sequence[str], bounds: IntArray, length: IntArray, pieces: IntArray, to: IntArray
) -> tuple[Records, Records]:
    """The samples of these pieces, each piece from row `to` on; and the samples that repeat one of them."""
    cell = np.searchsorted(bounds, pieces, side="right") - 1
    rows: Records = np.empty(0, REPEATS)
    again = [rows]
    for c in np.unique(cell).tolist():
        here = np.flatnonzero(cell == c)
        first = bounds_of(length[int(bounds[c]) : int(bounds[c + 1])])[pieces[here] - int(bounds[c])]
        count = length[pieces[here]]
        source, target = spread(first, count), spread(to[here], count)
        matched = fetch(folder, "match", names[c], "rows")
        if not len(rows):
            rows = np.empty(int(length[pieces].sum()), dtype=matched.dtype)
        rows[target] = matched[source]
        moved = np.full(len(matched), -1, dtype=np.intp)
        moved[source] = target
        repeats = np.array(fetch(folder, "match", names[c], "repeats"))
        repeats["row"] = moved[repeats["row"]]
        again.append(repeats[repeats["row"] >= 0])
    return rows, np.concatenate(again)


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


def finish(
    path: IntArray,
    ids: IntArray,
    x: FloatArray,
    v: FloatArray,
    distinct: IntArray,
    usable: BoolArray | bool = True,
) -> Products:
    """Samples path after path, and a record of every path; `distinct`, the samples that repeat no other, and `usable` have an
    entry for each."""
    begin = np.flatnonzero(np.diff(path, prepend=-1))
    end = np.append(begin[1:], len(path))
    pace = [end_pace(v[a:b]) for a, b in zip(begin, end, strict=True)]
    low, high, noise = boxes(Block(x, v, np.append(begin, len(path)), np.arange(len(begin))))
    table = packed(
        paths(x.shape[1]),
        path=path[begin],
        samples=end - begin,
        distinct=distinct,
        first=ids[begin],
        pace=pace,
        usable=usable,
        start=x[begin],
        end=x[end - 1],
        low=np.minimum.reduceat(x, begin),
        high=np.maximum.reduceat(x, begin),
        box_low=low,
        box_high=high,
        noise=noise,
    )
    return Products({"rows": packed(samples(x.shape[1]), id=ids, x=x, v=v), "paths": table})
