"""Merge crumbs, short chains that lie on a longer one, into it. The neighbours of their samples alone tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..paths.absorbing import crumbs, hosts, within_reach
from ..paths.kinematics import Kinematics
from ..paths.settings import DEFAULT
from ..paths.zipping import tolerance
from .scan import load_cells
from .store import Products, fetch


def rows_of_cell(folder: Path, name: str, cell: int) -> tuple[IntArray, FloatArray]:
    """The chain of every row that the cell's match left, and the rows [id, x, v]."""
    bounds = fetch(folder, "stitch", "stitch", "bounds")
    here = slice(int(bounds[cell]), int(bounds[cell + 1]))
    chain, length = (np.array(fetch(folder, "stitch", "stitch", a)[here]) for a in ("chain", "length"))
    return np.repeat(chain, length), fetch(folder, "match", name, "rows")


def sweep_up(folder: Path, *, name: str, cell: int) -> Products:
    """The samples of this cell that lie in crumbs: rows [chain, id, x, v]."""
    small = crumbs(np.array(fetch(folder, "stitch", "stitch", "lengths")))
    chain, rows = rows_of_cell(folder, name, cell)
    mine = np.flatnonzero(small[chain])
    return Products(arrays={"rows": np.column_stack([chain[mine], rows[mine]])})


def look_around(
    folder: Path, *, name: str, cell: int, names: Sequence[str], dt: float, scales: Sequence[float], fastest: float
) -> Products:
    """For every crumb's sample that this cell is near to, the samples of this cell within its tolerance.

    Rows [row among all crumbs, chain, distance].
    """
    crumb = np.concatenate([fetch(folder, "sweep", one, "rows") for one in names])
    d = crumb.shape[1] // 2 - 1
    x, u = np.ascontiguousarray(crumb[:, 2 : 2 + d]), dt * crumb[:, 2 + d :]
    reach = tolerance(Kinematics(np.full(len(x), dt), u, *scales), np.arange(len(x)))
    # A sample is at home at x - dt v/2: half of the longest step beside where it is.
    row, near = load_cells(folder).reached(x, reach + dt * fastest / 2)
    mine = row[near == cell]
    chain, rows = rows_of_cell(folder, name, cell)
    if len(mine) == 0 or len(rows) == 0:
        return Products(arrays={"near": np.empty((0, 3))})
    place, sample, distance = within_reach(cKDTree(np.array(rows[:, 1 : 1 + d])), x[mine], reach[mine])
    return Products(arrays={"near": np.column_stack([mine[place], chain[sample], distance])})


def merge(folder: Path, *, names: Sequence[str]) -> Products:
    """The chain that each chain is merged into, itself where there is none."""
    crumb = np.concatenate([fetch(folder, "sweep", name, "rows") for name in names])
    near = np.concatenate([fetch(folder, "around", name, "near") for name in names])
    near = near[np.lexsort((near[:, 2], near[:, 0]))]
    fresh = np.concatenate([[True], np.diff(near[:, 0]) != 0]) if len(near) else np.empty(0, bool)
    rank = np.arange(len(near)) - np.flatnonzero(fresh)[np.cumsum(fresh) - 1] if len(near) else np.empty(0)
    near = near[rank < DEFAULT.around]
    row, other = near[:, 0].astype(np.intp), near[:, 1].astype(np.intp)
    lengths = np.array(fetch(folder, "stitch", "stitch", "lengths"))
    host = hosts(lengths, crumb[row, 0].astype(np.intp), crumb[row, 1].astype(np.intp), other)
    return Products(arrays={"host": host})
