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
from ..paths.kinematics import Measured, measures
from ..paths.meeting import halfway_links
from ..paths.settings import DEFAULT
from .allocator import freed_memory_kept
from .moments import Moments
from .records import CLAIMS, PIECES, REPEATS, Records, matched_samples, packed
from .scales import agreed, saved
from .splitting import CellSamples, read_cell
from .store import Products


def match(
    folder: Path,
    *,
    cell: int,
    names: Sequence[str],
    dt: float | None = None,
    measured: float = 0.0,
    scales: Sequence[Sequence[float]] = (),
) -> Products:
    """Pieces and claims of a cell: by halfway meeting with the time step of all, of which a share of the links is
    measured; or by likelihood, with the `scales` that were agreed on, by round."""
    mine = read_cell(folder, names, cell)
    home = np.flatnonzero(mine.home)
    successor, exact, step = np.full(len(mine.x), -1), 0, np.full(len(mine.x), dt or 0.0)
    arrays: dict[str, FloatArray] = {}
    if dt is not None and len(home):
        order = cKDTree(mine.x, balanced_tree=False, compact_nodes=False).indices
        successor, met = halfway_links(mine.x, mine.v, dt, order)
        exact = int(met[home].sum())
        arrays = saved(_measured(mine, successor, dt, measured), 0)
    elif len(home):
        with freed_memory_kept():
            fragments, kin = likely_paths(mine.x, mine.v, cKDTree(mine.x), agree=agreed(scales))
        successor, step = Chains(fragments.nodes, fragments.offsets).successor, kin.dt
    follows = successor[home]
    inside = (follows >= 0) & mine.home[follows]
    local = np.full(len(mine.x), -1, dtype=np.intp)
    local[home] = np.arange(len(home))
    chains = Chains.of(np.where(inside, local[follows], -1), mine.x[home])
    rows = packed(matched_samples(mine.x.shape[1]), id=mine.ids[home], x=mine.x[home], v=mine.v[home], dt=step[home])[
        chains.order
    ]
    return Products(
        arrays={
            "rows": rows,
            "claims": _claims(mine, home[(follows >= 0) & ~inside], successor, step),
            "pieces": packed(
                PIECES, first=mine.ids[home][chains.heads], last=mine.ids[home][chains.tails], length=chains.lengths
            ),
            "repeats": _placed(mine.repeats, rows["id"]),
        }
        | arrays,
        summary={
            "samples": len(home),
            "linked": int(inside.sum()),
            "exact": exact,
            "dt": float(np.median(step[home])) if len(home) else None,
            "moments": Moments.of(mine.x[home]).plain(),
        },
    )


def _claims(mine: CellSamples, i: IntArray, successor: IntArray, step: FloatArray) -> Records:
    """Links of samples at home to samples at home elsewhere, and by how much they miss the trapezoid rule."""
    j, u = successor[i], step[:, None] * mine.v
    miss = np.linalg.norm(mine.x[j] - mine.x[i] - (u[i] + u[j]) / 2, axis=1)
    return packed(CLAIMS, source=mine.ids[i], target=mine.ids[j], miss=miss)


def _placed(repeats: IntArray, chained: IntArray) -> Records:
    """The repeats of samples at home, with the row of what they repeat."""
    order = np.argsort(chained)
    at = np.searchsorted(chained[order], repeats[:, 1])
    row = order[np.minimum(at, len(order) - 1)] if len(order) else at
    here = chained[row] == repeats[:, 1] if len(order) else np.zeros(len(repeats), dtype=bool)
    return packed(REPEATS, id=repeats[here, 0], row=row[here])


def _measured(mine: CellSamples, successor: IntArray, dt: float, part: float) -> Measured:
    """What `paths.kinematics.steady` measures, of samples at home, each named by its hash as a number from 0 to 1."""
    name = mine.hashes.astype(np.float64) / 2.0**64
    chosen = np.flatnonzero(mine.home & (name < part))
    u = dt * mine.v

    def after(lag: int) -> tuple[IntArray, IntArray]:
        a = b = chosen
        for _ in range(lag):
            goes_on = successor[b] >= 0
            a, b = a[goes_on], successor[b[goes_on]]
        return a, b

    (a, b), (far_a, far_b) = after(1), after(DEFAULT.lag)
    return Measured(
        np.column_stack([name[a], *measures(mine.x[b] - mine.x[a], u[a], u[b])]),
        np.column_stack([name[far_a], ((u[far_b] - u[far_a]) ** 2).sum(1)]),
        np.column_stack([name[chosen], np.linalg.norm(u[chosen], axis=1)]),
    )
