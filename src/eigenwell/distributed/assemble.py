"""Assemble whole paths, each in one task and in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..paths.arrival import Block, boxes, end_pace
from ..paths.builders import beside_one, cut_on_return, stands
from .records import column, packed, spread
from .scan import Whole, load_cells
from .store import Products, fetch, own

MOST_PARTS = 20
"""Bits for the number of a part of a path that was cut: as many samples as a bucket has."""


def finish(
    path: IntArray, ids: IntArray, x: FloatArray, v: FloatArray, distinct: IntArray, usable: BoolArray | bool = True
) -> dict[str, NDArray[Any]]:
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
    return {"rows": packed(id=ids, x=x, v=v), "paths": table}


def assemble(folder: Path, *, bucket: int, names: Sequence[str], reach: float, extent: float, whole: Whole) -> Products:
    """The paths of one bucket, cut where they rest on the way there and back."""
    chain, start, length, cell, first, home = own(
        folder, "stitch", "chain", "start", "length", "cell", "begin", "bucket"
    )
    pieces = np.flatnonzero(home == bucket)
    pieces = pieces[np.argsort(cell[pieces], kind="stable")]
    found, again, count = [], [], 0
    for c in np.unique(cell[pieces]).tolist():
        here = pieces[cell[pieces] == c]
        samples, repeats = (fetch(folder, "match", names[c], name) for name in ("rows", "repeats"))
        source = spread(first[here], length[here])
        moved = np.full(len(samples), -1, dtype=np.intp)
        moved[source] = np.arange(count, count + len(source))
        found.append(samples[source])
        again.append(packed(id=repeats["id"], row=moved[repeats["row"]]))
        count += len(source)
    rows, repeats = np.concatenate(found), np.concatenate(again)
    repeats = repeats[repeats["row"] >= 0]
    path, place = np.repeat(chain[pieces], length[pieces]), spread(start[pieces], length[pieces])
    laid = np.lexsort((place, path))
    rows, path = rows[laid], path[laid]
    x, v = column(rows, "x"), column(rows, "v")
    begin = np.append(np.flatnonzero(np.diff(path, prepend=-1)), len(path))
    cut = cut_on_return(x, v, begin, extent, partial(_rested, folder, names, reach))
    distinct = np.diff(cut)
    part = np.arange(len(distinct)) - np.searchsorted(cut, begin)[np.searchsorted(begin, cut[:-1], side="right") - 1]
    path = np.repeat((path[cut[:-1]] << MOST_PARTS) + part, distinct)
    # Every repeat right behind the sample it repeats.
    source = np.append(np.arange(len(rows)), np.argsort(laid)[repeats["row"]])
    ids = np.append(rows["id"], repeats["id"])
    order = np.lexsort((ids, source))
    source, ids, unit = source[order], ids[order], whole.unit
    return Products(finish(path[source], ids, x[source] * unit, v[source] * unit, distinct))


def _rested(folder: Path, names: Sequence[str], reach: float, place: FloatArray) -> BoolArray:
    """Whether a sample of any cell stands still within reach of each place."""
    (asked,), found = own(folder, "plan", "asked"), np.zeros(len(place), dtype=bool)
    row, cell = load_cells(folder).reached(place, np.full(len(place), reach))
    for c in np.unique(cell).tolist():
        rows, mine = fetch(folder, "match", names[c], "rows"), row[cell == c]
        still = column(rows, "x")[stands(column(rows, "v"), asked[:, asked.shape[1] // 2 :])]
        found[mine] |= beside_one(cKDTree(still) if len(still) else None, place[mine], reach)
    return found
