"""One cell: which sample comes next, by what a single machine does, for the samples at home in it and those around.

What the samples at home say counts: their links to each other become pieces of chains, links that lead out of the cell
are claims for the reducer (`stitching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..paths.chains import Chains
from ..paths.fragments import likely_paths
from ..paths.kinematics import halfway_links
from .allocator import freed_memory_kept
from .records import CLAIMS, REPEATS, Records, packed, pieces, samples
from .scan import Frame
from .splitting import CellSamples, read_cell
from .store import Products


def match(folder: Path, *, cell: int, names: Sequence[str], frame: Frame, dt: float | None = None) -> Products:
    """Pieces and claims of a cell: by halfway meeting with the time step of all, or without one by likelihood."""
    mine = read_cell(folder, names, cell, frame)
    home = np.flatnonzero(mine.home)
    successor, exact, step = np.full(len(mine.x), -1), 0, np.full(len(mine.x), dt or 0.0)
    if dt is not None and len(home):
        order = cKDTree(mine.x, balanced_tree=False, compact_nodes=False).indices
        successor, met = halfway_links(mine.x, mine.v, dt, order)
        exact = int(met[home].sum())
    elif len(home):
        with freed_memory_kept():
            fragments, kin = likely_paths(mine.x, mine.v, cKDTree(mine.x))
        successor, step = Chains(fragments.nodes, fragments.offsets).successor, kin.dt
    follows = successor[home]
    inside = (follows >= 0) & mine.home[follows]
    local = np.full(len(mine.x), -1, dtype=np.intp)
    local[home] = np.arange(len(home))
    chains = Chains.of(np.where(inside, local[follows], -1), mine.x[home])
    kind = samples(mine.x.shape[1], ("dt", "f8"))
    rows = packed(kind, id=mine.ids[home], x=mine.x[home], v=mine.v[home], dt=step[home])[chains.order]
    claims = _claims(mine, home[(follows >= 0) & ~inside], successor, step)
    repeats, exactly = _placed(mine.repeats, rows["id"])
    return Products(
        arrays={"rows": rows, "claims": claims, "pieces": _pieces(rows, chains, claims), "repeats": repeats},
        summary={
            "samples": len(home),
            "linked": int(inside.sum()),
            "exact": exact,
            "repeats": exactly,
            "dt": float(np.median(step[home])) if len(home) else None,
        },
    )


def _claims(mine: CellSamples, i: IntArray, successor: IntArray, step: FloatArray) -> Records:
    """Links of samples at home to samples at home elsewhere, and by how much they miss the trapezoid rule."""
    j, u = successor[i], step[:, None] * mine.v
    miss = np.linalg.norm(mine.x[j] - mine.x[i] - (u[i] + u[j]) / 2, axis=1)
    return packed(CLAIMS, source=mine.ids[i], target=mine.ids[j], miss=miss)


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
    return packed(
        pieces(rows["x"].shape[1]),
        first=first["id"],
        last=last["id"],
        length=np.diff(offsets),
        goes_on=np.isin(offsets[1:], cuts),
        head=first["x"],
        tail=last["x"],
    )


def _placed(repeats: IntArray, chained: IntArray) -> tuple[Records, int]:
    """The repeats of samples at home, with the row of what they repeat; and how many repeat it exactly."""
    here = repeats[np.isin(repeats[:, 1], chained)]
    order = np.argsort(chained)
    row = order[np.searchsorted(chained, here[:, 1], sorter=order)]
    return packed(REPEATS, id=here[:, 0], row=row), int(here[:, 2].sum())
