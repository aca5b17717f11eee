"""The repartition: every part writes its samples sorted by cell, where they are at home and in the cells around.

With one time step for all, a sample is known as far around as a lag of links leads (`paths.kinematics`): whatever has a
say in its links lies within two steps. Without one, cells share a wide halo: fits look at eight samples on either side,
time steps at a hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..files.columns import Columns
from ..paths.hashing import Hash, sample_hash
from ..paths.settings import DEFAULT
from .cells import by_cell
from .inputs import Part, read_part
from .records import Records, cell_samples, column, packed
from .scan import load_cells
from .store import Products, fetch

HALO = 40.0
"""Width of the wide halo in typical steps."""


def split(folder: Path, *, part: Part, columns: Columns, dt: float | None = None, halo: float = 0.0) -> Products:
    """Samples sorted by cell, each in all cells that come within its reach; `bounds` says where each cell begins."""
    rows = read_part(part, columns)
    assert rows.v is not None
    x, v = rows.x, rows.v
    cells = load_cells(folder)
    steps = 0.0 if dt is None else (DEFAULT.lag + 1) * dt
    row, cell = cells.reached(x, np.maximum(steps * np.linalg.norm(v, axis=1), halo))
    order = np.argsort(row, kind="stable")  # by row within a cell, so that ids ascend
    order = order[by_cell(cell[order], cells.count)[0]]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells.count))])
    row, cell = row[order], cell[order]
    at_home = cells.home(x)[row] == cell
    out = packed(cell_samples(x.shape[1]), id=part.offset + row, home=at_home, x=x[row], v=v[row])
    return Products(arrays={"rows": out, "bounds": bounds}, summary={"copies": len(out) - len(x)})


@dataclass(frozen=True, eq=False)
class CellSamples:
    """The distinct samples in and around a cell by ascending id, and the rows that repeat one of them."""

    ids: IntArray
    home: BoolArray
    x: FloatArray
    v: FloatArray
    hashes: Hash
    repeats: IntArray
    """(k, 2): the id of a row, and of the sample it repeats."""


def read_cell(folder: Path, names: Sequence[str], cell: int) -> CellSamples:
    """All samples that have to do with a cell, from all parts."""
    slices: list[Records] = []
    for name in names:
        bounds = fetch(folder, "split", name, "bounds")
        slices.append(np.array(fetch(folder, "split", name, "rows")[int(bounds[cell]) : int(bounds[cell + 1])]))
    rows = np.concatenate(slices)
    ids, home, x, v = (column(rows, name) for name in ("id", "home", "x", "v"))
    hashes = sample_hash(x, v)
    original, first = distinct(hashes)
    repeats = np.column_stack([ids[~original], ids[first[~original]]])
    return CellSamples(ids[original], home[original], x[original], v[original], hashes[original], repeats)


def distinct(hashes: Hash) -> tuple[BoolArray, IntArray]:
    """True for the first of equal rows; and for every row the first one that equals it."""
    order = np.argsort(hashes, kind="stable")
    fresh = np.concatenate([[True], np.diff(hashes[order].view(np.int64)) != 0]) if len(order) else np.empty(0, bool)
    first = np.empty(len(hashes), dtype=np.intp)
    first[order] = order[fresh][np.cumsum(fresh) - 1]
    return first == np.arange(len(hashes)), first
