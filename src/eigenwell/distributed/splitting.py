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
from .inputs import Part
from .records import column, packed, samples
from .scan import Frame, load_cells
from .store import Products, fetch

HALO = 40.0
"""Width of the wide halo in typical steps."""
TOGETHER = 1e-8
"""Samples that repeat each other to rounding (`paths.builders.distinct`) are seen together, also where cells meet."""


def split(
    folder: Path, *, part: Part, columns: Columns, frame: Frame, dt: float | None = None, halo: float = TOGETHER
) -> Products:
    """Samples sorted by cell, each in all cells that come within its reach; `bounds` says where each cell begins."""
    x, v = frame.read(part, columns)
    cells = load_cells(folder)
    steps = 0.0 if dt is None else (DEFAULT.half_fit + 1) * dt
    row, cell = cells.reached(x, np.maximum(steps * np.linalg.norm(v, axis=1), halo))
    order = np.argsort(row, kind="stable")  # by row within a cell, so that ids ascend
    sorted_, bounds = by_cell(cell[order], cells.count)
    row, cell = row[order[sorted_]], cell[order[sorted_]]
    at_home = cells.home(x)[row] == cell
    out = packed(samples(x.shape[1], ("home", "?")), id=part.offset + row, x=x[row], v=v[row], home=at_home)
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
    """(k, 3): the id of a row, that of the sample it repeats, and 1 where it does so exactly."""


def read_cell(folder: Path, names: Sequence[str], cell: int, frame: Frame) -> CellSamples:
    """All samples that have to do with a cell, from all parts."""
    slices = []
    for name in names:
        bounds = fetch(folder, "split", name, "bounds")
        slices.append(fetch(folder, "split", name, "rows")[int(bounds[cell]) : int(bounds[cell + 1])])
    rows = np.concatenate(slices)
    ids, home, x, v = (column(rows, name) for name in ("id", "home", "x", "v"))
    hashes = sample_hash(x, v)
    _, first, inverse = np.unique(frame.names(x, v), return_index=True, return_inverse=True)
    one = first[inverse.reshape(-1)]
    fresh = one == np.arange(len(rows))
    again, of = np.flatnonzero(~fresh), one[~fresh]
    repeats = np.column_stack([ids[again], ids[of], hashes[again] == hashes[of]])
    return CellSamples(ids[fresh], home[fresh], x[fresh], v[fresh], hashes[fresh], repeats)
