"""Merge short chains that lie on a longer one into it. The neighbours of their samples alone tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import IntArray
from ..paths.kinematics import Kinematics
from ..paths.merging import hosts, short_chains, within_reach
from ..paths.settings import DEFAULT
from ..paths.zipping import tolerance
from .records import NEAR, Records, chain_samples, column, packed
from .scan import load_cells
from .store import Products, fetch


def rows_of_cell(folder: Path, name: str, cell: int) -> tuple[IntArray, Records]:
    """The chain of every row that the cell's match left, and the rows."""
    bounds = fetch(folder, "stitch", "stitch", "bounds")
    here = slice(int(bounds[cell]), int(bounds[cell + 1]))
    chain, length = (np.array(fetch(folder, "stitch", "stitch", a)[here]) for a in ("chain", "length"))
    return np.repeat(chain, length), fetch(folder, "match", name, "rows")


def sweep_up(folder: Path, *, name: str, cell: int) -> Products:
    """The samples of this cell that lie in short chains."""
    small = short_chains(np.array(fetch(folder, "stitch", "stitch", "lengths")))
    chain, rows = rows_of_cell(folder, name, cell)
    mine = np.flatnonzero(small[chain])
    kept = np.array(rows[mine])
    kind = chain_samples(kept["x"].shape[1])
    return Products(arrays={"rows": packed(kind, chain=chain[mine], id=kept["id"], x=kept["x"], v=kept["v"])})


def look_around(
    folder: Path, *, name: str, cell: int, names: Sequence[str], dt: float, scales: Sequence[float]
) -> Products:
    """For every short chain's sample that this cell is near to, the samples of this cell within its tolerance."""
    short = np.concatenate([fetch(folder, "sweep", one, "rows") for one in names])
    x, u = column(short, "x"), dt * short["v"]
    reach = tolerance(Kinematics(np.full(len(x), dt), u, *scales), np.arange(len(x)))
    row, near = load_cells(folder).reached(x, reach)
    mine = row[near == cell]
    chain, rows = rows_of_cell(folder, name, cell)
    if len(mine) == 0 or len(rows) == 0:
        return Products(arrays={"near": np.empty(0, NEAR)})
    place, sample, distance = within_reach(cKDTree(column(rows, "x")), x[mine], reach[mine])
    return Products(arrays={"near": packed(NEAR, row=mine[place], chain=chain[sample], distance=distance)})


def merge(folder: Path, *, names: Sequence[str]) -> Products:
    """The chain that each chain is merged into, itself where there is none."""
    short = np.concatenate([fetch(folder, "sweep", name, "rows") for name in names])
    near = np.concatenate([fetch(folder, "around", name, "near") for name in names])
    near = near[np.lexsort((near["distance"], near["row"]))]
    fresh = np.concatenate([[True], np.diff(near["row"]) != 0]) if len(near) else np.empty(0, bool)
    rank = np.arange(len(near)) - np.flatnonzero(fresh)[np.cumsum(fresh) - 1] if len(near) else np.empty(0)
    near = near[rank < DEFAULT.around]
    lengths = np.array(fetch(folder, "stitch", "stitch", "lengths"))
    of = short[near["row"]]
    host = hosts(lengths, of["chain"], of["id"], near["chain"])
    return Products(arrays={"host": host})
