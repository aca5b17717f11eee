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
from .records import Records, bounds_of, column, packed, spread
from .scan import Frame, load_cells
from .store import Products, fetch, own

MOST_PARTS = 20
"""Bits for the number of a part of a path that was cut: as many samples as a bucket has."""


def assemble(folder: Path, *, bucket: int, names: Sequence[str], reach: float, extent: float, frame: Frame) -> Products:
    """The paths of one bucket, cut where they rest on the way there and back."""
    chain, start, length, bounds = own(folder, "stitch", "chain", "start", "length", "bounds")
    (bucket_of,) = own(folder, "layout", "bucket")
    pieces = np.flatnonzero(bucket_of[chain] == bucket)
    rows, repeats, piece = _gathered(folder, names, bounds, length, pieces)
    laid = np.lexsort((spread(start[pieces], length[pieces]), chain[pieces][piece]))
    rows, path = rows[laid], chain[pieces][piece][laid]
    x, v = column(rows, "x"), column(rows, "v")
    begin = np.append(np.flatnonzero(np.diff(path, prepend=-1)), len(path))
    cut = cut_on_return(x, v, begin, extent, partial(_rested, folder, names, reach))
    distinct = np.diff(cut)
    part = np.arange(len(distinct)) - np.searchsorted(cut, begin)[np.searchsorted(begin, cut[:-1], side="right") - 1]
    path = np.repeat((path[cut[:-1]] << MOST_PARTS) + part, distinct)
    # Every repeat right behind the sample it repeats.
    source = np.append(np.arange(len(rows)), np.argsort(laid)[repeats["row"]])
    ids = np.append(rows["id"], repeats["id"])
    again = np.lexsort((ids, source))
    source, ids, unit = source[again], ids[again], np.array(frame.unit)
    return finish(path[source], ids, x[source] * unit, v[source] * unit, distinct)


def _gathered(
    folder: Path, names: Sequence[str], bounds: IntArray, length: IntArray, pieces: IntArray
) -> tuple[Records, Records, IntArray]:
    """The samples of these pieces, and which piece each is of; and the samples that repeat one of them."""
    cell, begin = np.searchsorted(bounds, pieces, side="right") - 1, bounds_of(length)
    found, again, count = [], [], 0
    for c in np.unique(cell).tolist():
        here = pieces[cell == c]
        source = spread(begin[here] - begin[bounds[c]], length[here])
        found.append(fetch(folder, "match", names[c], "rows")[source])
        repeats = fetch(folder, "match", names[c], "repeats")
        moved = np.full(int(begin[bounds[c + 1]] - begin[bounds[c]]), -1, dtype=np.intp)
        moved[source] = np.arange(count, count + len(source))
        again.append(packed(id=repeats["id"], row=moved[repeats["row"]]))
        count += len(source)
    doubles = np.concatenate(again)
    return np.concatenate(found), doubles[doubles["row"] >= 0], np.repeat(np.arange(len(pieces)), length[pieces])


def _rested(folder: Path, names: Sequence[str], reach: float, place: FloatArray) -> BoolArray:
    """Whether a sample of any cell stands still within reach of each place."""
    (asked,), found = own(folder, "plan", "asked"), np.zeros(len(place), dtype=bool)
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
    bounds = np.append(begin, len(path))
    low, high, noise = boxes(Block(x, v, bounds, np.arange(len(begin))))
    table = packed(
        path=path[begin],
        samples=np.diff(bounds),
        distinct=distinct,
        first=ids[begin],
        pace=[end_pace(v[a:b]) for a, b in zip(begin, bounds[1:], strict=True)],
        usable=usable,
        start=x[begin],
        end=x[bounds[1:] - 1],
        low=np.minimum.reduceat(x, begin),
        high=np.maximum.reduceat(x, begin),
        box_low=low,
        box_high=high,
        noise=noise,
    )
    return Products({"rows": packed(id=ids, x=x, v=v), "paths": table})
