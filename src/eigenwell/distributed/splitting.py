"""The repartition: every part writes its samples sorted by cell, once where they are at home and once where they ask.

A sample is at home in the cell of its backward halfway point x - dt v/2, and asks in every cell that comes within half a step
of its forward one, x + dt v/2. A successor is met within a quarter of a step, and what lies beyond half a step has
no say in it, so this halo, each sample's own, is as wide as is needed and no wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._types import FloatArray, IntArray
from ..files.columns import Columns
from ..paths.settings import DEFAULT
from .cells import by_cell
from .inputs import Part, read_part
from .records import cell_samples, column, packed
from .scan import load_cells
from .store import Products, fetch

# What a row of a split file is to its cell.
AT_HOME, ASKS, NOWHERE_ELSE = 1, 2, 4
MEETING_REACH = 2 * DEFAULT.meeting
"""In steps: beyond this from its forward point, nothing matters to a sample."""


def split(folder: Path, *, part: Part, columns: Columns, dt: float) -> Products:
    """Samples with their roles, sorted by cell; `bounds` says where each cell begins."""
    rows = read_part(part, columns)
    assert rows.v is not None
    x, v = rows.x, rows.v
    cells = load_cells(folder)
    home = cells.home(x - dt / 2 * v)
    row, cell = cells.reached(x + dt / 2 * v, MEETING_REACH * dt * np.linalg.norm(v, axis=1))
    alone = np.bincount(row, minlength=len(x)) == 1
    role = np.where(alone[row], ASKS | NOWHERE_ELSE, ASKS)
    here = home[row] == cell
    role[here] |= AT_HOME
    settled = np.zeros(len(x), dtype=bool)
    settled[row[here]] = True
    away = np.flatnonzero(~settled)
    row, cell = np.concatenate([row, away]), np.concatenate([cell, home[away]])
    role = np.concatenate([role, np.full(len(away), AT_HOME)])
    # By row within a cell, so that ids ascend.
    order = np.argsort(row, kind="stable")
    order = order[by_cell(cell[order], cells.count)[0]]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells.count))])
    row = row[order]
    out = packed(cell_samples(x.shape[1]), id=part.offset + row, role=role[order], x=x[row], v=v[row])
    return Products(arrays={"rows": out, "bounds": bounds}, summary={"copies": len(out) - len(x)})


def read_cell(
    folder: Path, names: Sequence[str], cell: int, stage: str = "split"
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """ids (ascending), roles, x and v of all samples that have to do with a cell, from all parts."""
    slices = []
    for name in names:
        bounds = fetch(folder, stage, name, "bounds")
        a, b = int(bounds[cell]), int(bounds[cell + 1])
        if a < b:
            slices.append(np.array(fetch(folder, stage, name, "rows")[a:b]))
    if not slices:
        slices = [np.empty(0, fetch(folder, stage, names[0], "rows").dtype)]
    rows = np.concatenate(slices)
    return column(rows, "id"), column(rows, "role"), column(rows, "x"), column(rows, "v")
