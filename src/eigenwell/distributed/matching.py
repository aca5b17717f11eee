"""Every part writes its samples sorted by cell, and every cell says which sample comes next, by what a single machine does.

With one time step for all, a sample is known as far around as a lag of links leads (`paths.kinematics`): whatever has a say
in its links lies within five of its own steps. Without one, cells share a wide halo: fits look at eight samples on either
side, time steps at a hundred. What the samples at home say counts: their links to each other become pieces of chains, links
that lead out of the cell are claims for the reducer (`stitching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from ..files.columns import Columns
from ..paths.blocks import sample_hash
from ..paths.chains import Chains
from ..paths.fragments import likely_paths
from ..paths.kinematics import halfway_links
from ..paths.settings import DEFAULT
from .inputs import Part
from .records import Records, column, packed
from .scan import Whole, by_cell, load_cells
from .store import Products, fetch_all

HALO = 40.0
"""Width of the wide halo in typical steps."""
TOGETHER = 1e-8
"""Samples that repeat each other to rounding (`paths.builders.distinct`) are seen together, also where cells meet."""


def split(
    folder: Path, *, part: Part, columns: Columns, whole: Whole, dt: float | None = None, halo: float = TOGETHER
) -> Products:
    """Samples sorted by cell, each in all cells that come within its reach; `bounds` says where each cell begins."""
    x, v = whole.read(part, columns)
    cells = load_cells(folder)
    steps = 0.0 if dt is None else (DEFAULT.half_fit + 1) * dt
    row, cell = cells.reached(x, np.maximum(steps * np.linalg.norm(v, axis=1), halo))
    order = np.argsort(row, kind="stable")  # by row within a cell, so that ids ascend
    sorted_, bounds = by_cell(cell[order], cells.count)
    row, cell = row[order[sorted_]], cell[order[sorted_]]
    rows = packed(id=part.offset + row, x=x[row], v=v[row], home=cells.home(x)[row] == cell)
    return Products(arrays={"rows": rows, "bounds": bounds}, summary={"copies": len(rows) - len(x)})


def match(folder: Path, *, cell: int, names: Sequence[str], whole: Whole, dt: float | None = None) -> Products:
    """Pieces and claims of a cell: by halfway meeting with the time step of all, or without one by likelihood."""
    mine = fetch_all(folder, "split", names, "rows", cell)
    x, v = column(mine, "x"), column(mine, "v")
    _, first, inverse = np.unique(whole.names(x, v), return_index=True, return_inverse=True)
    one = first[inverse.reshape(-1)]
    fresh = one == np.arange(len(mine))
    again, of = np.flatnonzero(~fresh), one[~fresh]
    hashes, ids = sample_hash(x, v), mine["id"]
    repeats = packed(id=ids[again], of=ids[of], exact=hashes[again] == hashes[of])
    mine, x, v = mine[fresh], x[fresh], v[fresh]
    home, at_home = np.flatnonzero(mine["home"]), mine["home"]
    successor, step = np.full(len(mine), -1), np.full(len(mine), dt or 0.0)
    if dt is not None and len(home):
        order = cKDTree(x, balanced_tree=False, compact_nodes=False).indices
        successor = halfway_links(x, v, dt, order)
    elif len(home):
        paths, kin = likely_paths(x, v, cKDTree(x))
        successor, step = paths.successor, kin.dt
    i = np.flatnonzero(successor >= 0)
    j = successor[i]
    inside, across = at_home[i] & at_home[j], at_home[i] != at_home[j]
    local = np.cumsum(at_home) - 1
    follows = np.full(len(home), -1)
    follows[local[i[inside]]] = local[j[inside]]
    chains = Chains.of(follows, x[home])
    rows = packed(id=mine["id"][home], x=x[home], v=v[home], dt=step[home])[chains.order]
    claims = packed(source=mine["id"][i[across]], target=mine["id"][j[across]])
    here = repeats[np.isin(repeats["of"], rows["id"])]
    by_id = np.argsort(rows["id"])
    at = by_id[np.searchsorted(rows["id"], here["of"], sorter=by_id)]
    summary = {"samples": len(home), "linked": int(inside.sum()), "repeats": int(here["exact"].sum())}
    return Products(
        arrays={
            "rows": rows,
            "claims": claims,
            "pieces": _pieces(rows, chains, claims),
            "repeats": packed(id=here["id"], row=at),
        },
        summary=summary | {"dt": float(np.median(step[home])) if len(home) else None},
    )


def _pieces(rows: Records, chains: Chains, claims: Records) -> Records:
    """Chains, in two pieces where they lead out of the cell: a loop that closes through several cells is opened at its longest
    link, so that the longest link of every chain in it must lie between two pieces."""
    step = np.linalg.norm(np.diff(rows["x"], axis=0), axis=1)
    cuts = []
    for c in np.flatnonzero(np.isin(rows["id"][chains.offsets[1:] - 1], claims["source"]) & (chains.lengths > 1)):
        a, b = chains.offsets[c], chains.offsets[c + 1] - 1
        longest = a + np.flatnonzero(step[a:b] == step[a:b].max())
        cuts.append(longest[np.argmin(rows["id"][longest])] + 1)
    offsets = np.sort(np.concatenate([chains.offsets, cuts]).astype(np.intp))
    first, last = rows[offsets[:-1]], rows[offsets[1:] - 1]
    length, goes_on = np.diff(offsets), np.isin(offsets[1:], cuts)
    return packed(first=first["id"], last=last["id"], length=length, goes_on=goes_on, head=first["x"], tail=last["x"])
