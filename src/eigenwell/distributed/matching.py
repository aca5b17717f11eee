"""One cell: which sample comes next, by what a single machine does, for the samples at home in it and those around.

What the samples at home say counts: their links to each other become pieces of chains, links that lead out of the cell
are claims for the reducer (`stitching`).

Noise, bending and the usual step are not a cell's own affair: what cells measure is pooled, and all go by it. With one time
step for all, the matched cells tell what they saw. By likelihood every round of matching needs the scales of the last one:
pilot cells go through all rounds first, and tell what they measured in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..paths.chains import Chains
from ..paths.fragments import likely_paths
from ..paths.kinematics import Agree, Measured, Scales, measures
from ..paths.meeting import halfway_links
from ..paths.settings import DEFAULT
from .allocator import freed_memory_kept
from .records import CLAIMS, REPEATS, Records, packed, pieces, samples
from .scan import Frame
from .splitting import CellSamples, read_cell
from .store import Products, fetch_all

PILOT_LINKS, FEWEST_PILOTS = 4, 2
"""Samples of the pilot cells together, in units of the links that scales are read off; and how many cells at least."""
TABLES = ("links", "far", "paces")


def match(
    folder: Path,
    *,
    cell: int,
    names: Sequence[str],
    frame: Frame,
    dt: float | None = None,
    measured: float = 0.0,
    scales: Sequence[Sequence[float]] = (),
) -> Products:
    """Pieces and claims of a cell: by halfway meeting with the time step of all, of which a share of the links is
    measured; or by likelihood, with the `scales` that were agreed on, by round."""
    mine = read_cell(folder, names, cell, frame)
    home = np.flatnonzero(mine.home)
    successor, exact, step = np.full(len(mine.x), -1), 0, np.full(len(mine.x), dt or 0.0)
    arrays: dict[str, FloatArray] = {}
    if dt is not None and len(home):
        order = cKDTree(mine.x, balanced_tree=False, compact_nodes=False).indices
        successor, met = halfway_links(mine.x, mine.v, dt, order)
        exact = int(met[home].sum())
        arrays = _saved(_measured(mine, successor, dt, measured), 0)
    elif len(home):
        with freed_memory_kept():
            fragments, kin = likely_paths(mine.x, mine.v, cKDTree(mine.x), agree=agreed(scales))
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
        arrays={"rows": rows, "claims": claims, "pieces": _pieces(rows, chains, claims), "repeats": repeats} | arrays,
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


# --- what cells agree on ------------------------------------------------------------------------------


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


def _saved(measured: Measured, number: int) -> dict[str, FloatArray]:
    """What was measured in a round, as arrays to keep."""
    return {f"{table}-{number}": getattr(measured, table) for table in TABLES}


def gathered(folder: Path, stage: str, rounds: dict[str, int], part: float = np.inf) -> Measured:
    """What cells measured, each in its round, of this share of the samples (`paths.hashing`)."""
    tables = [
        np.concatenate([fetch_all(folder, stage, [name], f"{table}-{k}") for name, k in rounds.items()])
        for table in TABLES
    ]
    return Measured(*(table[table[:, 0] < part] for table in tables))


def pilots(cells: int, total: int) -> list[int]:
    """Cells that measure for all, spread over the whole: all of them where the data are small."""
    enough = max(FEWEST_PILOTS, -(-PILOT_LINKS * DEFAULT.measured * cells // total))
    return sorted({round(k) for k in np.linspace(0, cells - 1, min(enough, cells)).tolist()})


def pilot(folder: Path, *, cell: int, names: Sequence[str], frame: Frame, spread2: float) -> Products:
    """What the samples at home in one cell measure in every round; the last round is what it ends with."""
    mine = read_cell(folder, names, cell, frame)
    arrays: dict[str, FloatArray] = {}
    rounds = 0

    def listen(measured: Measured) -> Scales:
        nonlocal arrays, rounds
        tables = (getattr(measured, table) for table in TABLES)
        at_home = Measured(*(table[mine.home[table[:, 0].astype(np.intp)]] for table in tables))
        arrays, rounds = arrays | _saved(at_home, rounds), rounds + 1
        return measured.scales(mine.x.shape[1], spread2)

    if mine.home.any():
        with freed_memory_kept():
            likely_paths(mine.x, mine.v, cKDTree(mine.x), agree=listen)
    return Products(arrays=arrays, summary={"rounds": rounds})


def agree_on(folder: Path, *, rounds: dict[str, int], spread2: float, dimension: int) -> Products:
    """Scales of every round that all pilot cells went through, and of their ends, read off the links of all of them."""
    common = min(rounds.values())
    at = [{name: k if k < common - 1 else last - 1 for name, last in rounds.items()} for k in range(common)]
    return Products(summary={"scales": [gathered(folder, "pilot", one).scales(dimension, spread2) for one in at]})


def agreed(scales: Sequence[Sequence[float]]) -> Agree:
    """Round after round what was agreed on, and after the last round what stood at its end."""
    rounds = iter([Scales(*one) for one in scales])
    return lambda _: next(rounds, Scales(*scales[-1]))
