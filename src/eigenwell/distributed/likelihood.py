"""Cells where one time step does not serve all: each is matched by likelihood, with a wide halo around it.

A cell runs what a single machine runs, on its own samples and on those around it, and keeps the links that start from
its own. Where two cells disagree about a sample, the cell it is at home in has the last word. Far from the borders the
answer is that of a single machine; at the borders it need not be (docs/distributed.md has measurements).

Noise, bending and the usual step are not a cell's own affair: pilot cells go through all rounds first and tell what they
measured in each, and the pooled numbers are what every cell goes by.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..files.columns import Columns
from ..paths.chains import Chains
from ..paths.fragments import likely_paths
from ..paths.hashing import sample_hash
from ..paths.kinematics import Agree, Scales
from ..paths.settings import DEFAULT
from .cells import by_cell
from .inputs import Part, read_part
from .matching import distinct, pieces, placed_repeats
from .moments import Moments
from .scan import load_cells, nearest_of_all
from .splitting import AT_HOME, read_cell
from .store import Products

PILOTS = 4
"""Links, in units of those that scales are read off, that the pilot cells have between them; and at least so many cells."""
HALO = 40.0
"""Width of the halo in typical steps: fits look at eight samples on either side, time steps at a hundred."""


def typical_step(folder: Path, *, names: Sequence[str]) -> Products:
    """Median distance that the samples asked move until they are nearest to another one ahead."""
    asked, near, distance = nearest_of_all(folder, names)
    d = asked.shape[1] // 2
    ahead = ((near[:, :, :d] - asked[:, None, :d]) * asked[:, None, d:]).sum(axis=2) > 0
    nearest = np.where(ahead & (distance > 0), distance, np.inf).min(axis=1)
    return Products(summary={"step": float(np.median(np.minimum(nearest, distance.max(axis=1))))})


def split_wide(folder: Path, *, part: Part, columns: Columns, halo: float) -> Products:
    """Rows [id, role, x, v] sorted by cell, each in all cells that come within the halo of it."""
    rows = read_part(part, columns)
    assert rows.v is not None
    cells = load_cells(folder)
    home = cells.home(rows.x)
    row, cell = cells.reached(rows.x, np.full(len(rows.x), halo))
    order = np.argsort(row, kind="stable")
    order = order[by_cell(cell[order], cells.count)[0]]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells.count))])
    row, cell = row[order], cell[order]
    role = np.where(home[row] == cell, AT_HOME, 0)
    out = np.column_stack([part.offset + row, role, rows.x[row], rows.v[row]])
    return Products(arrays={"rows": out, "bounds": bounds}, summary={"copies": len(out) - len(rows.x)})


def match_likely(folder: Path, *, cell: int, names: Sequence[str], scales: Sequence[Sequence[float]]) -> Products:
    """Pieces of the samples at home here, and claims on samples at home elsewhere. `scales` are those agreed on, by round."""
    ids, role, x, v = read_cell(folder, names, cell, "wide")
    original, repeat_of = distinct(sample_hash(x, v))
    repeats = np.flatnonzero(~original)
    of = ids[repeat_of[repeats]]
    repeat_ids = ids[repeats]
    ids, role, x, v = ids[original], role[original], x[original], v[original]
    at_home = (role & AT_HOME) > 0
    if not at_home.any():
        return _nothing(x.shape[1])
    fragments, kin = likely_paths(x, v, cKDTree(x), agree=agreed(scales))
    successor = np.full(len(x), -1, dtype=np.intp)
    inside = np.ones(len(x) - 1, dtype=bool)
    inside[fragments.offsets[1:-1] - 1] = False
    successor[fragments.nodes[:-1][inside]] = fragments.nodes[1:][inside]
    home = np.flatnonzero(at_home)
    local = np.full(len(x), -1, dtype=np.intp)
    local[home] = np.arange(len(home))
    follows = successor[home]
    leaving = np.flatnonzero((follows >= 0) & ~at_home[np.maximum(follows, 0)])
    own = np.where((follows >= 0) & at_home[np.maximum(follows, 0)], local[np.maximum(follows, 0)], -1)
    laid = Chains.of(own, x[home])
    i, j = home[leaving], follows[leaving]
    miss = np.linalg.norm(x[j] - x[i] - (kin.u[i] + kin.u[j]) / 2, axis=1)
    claims = np.column_stack(
        [ids[i], ids[j], miss, np.full(len(i), np.inf), np.linalg.norm(x[j] - x[i], axis=1), np.full(len(i), np.inf)]
    )
    parts = pieces(ids[home], x[home], v[home], laid)
    strip_rows = np.searchsorted(ids[home], parts["strips"][:, 2])
    parts["strips"] = np.column_stack([parts["strips"], kin.dt[home][strip_rows]])
    return Products(
        arrays={
            "rows": np.column_stack([ids[home], x[home], v[home]])[laid.order],
            "claims": claims,
            "repeats": placed_repeats(repeat_ids, of, ids[home][laid.order]),
        }
        | parts,
        summary={
            "samples": len(home),
            "scales": [kin.step, kin.noise_x, kin.noise_u, kin.bend, kin.typical],
            "dt": float(np.median(kin.dt[home])),
            "moments": Moments.of(x[home]).plain(),
            "fastest": float(np.linalg.norm(v[home], axis=1).max()),
        },
    )


def pilot(folder: Path, *, cell: int, names: Sequence[str]) -> Products:
    """What one cell measures in every round; the last is what it ends with."""
    _, role, x, v = read_cell(folder, names, cell, "wide")
    original, _ = distinct(sample_hash(x, v))
    x, v, role = x[original], v[original], role[original]
    at_home = int((role & AT_HOME > 0).sum())
    heard: list[Scales] = []

    def listen(measured: Scales) -> Scales:
        heard.append(measured)
        return measured

    if at_home:
        likely_paths(x, v, cKDTree(x), agree=listen)
    return Products(summary={"samples": at_home, "heard": [list(one) for one in heard]})


def pilots(cells: int, total: int) -> list[int]:
    """Cells that measure for all, spread over the whole: all of them where the data are small."""
    enough = max(PILOTS, -(-PILOTS * DEFAULT.measured * cells // total))
    return sorted({round(k) for k in np.linspace(0, cells - 1, min(enough, cells)).tolist()})


def agreed(scales: Sequence[Sequence[float]]) -> Agree:
    """Round after round what was agreed on, and after the last round what stood at its end."""
    rounds = iter([Scales(*one) for one in scales])
    last = Scales(*scales[-1])
    return lambda _: next(rounds, last)


def in_agreement(told: Sequence[dict[str, Any]], spread2: float) -> list[list[float]]:
    """Scales of every round from those of the pilot cells: means, of squares for what are deviations,
    each cell by its number of samples."""
    told = [one for one in told if one["heard"]]
    rounds = min(len(one["heard"]) for one in told)
    weight = np.array([one["samples"] for one in told], dtype=np.float64)
    out = []
    for k in range(rounds):
        # What a cell measured after its last common round is told as its end.
        table = np.array([one["heard"][k if k < rounds - 1 else -1] for one in told])
        step, typical = (np.average(table[:, c], weights=weight) for c in (0, 4))
        noise_x, noise_u, bend = np.sqrt(np.average(table[:, 1:4] ** 2, axis=0, weights=weight))
        out.append([float(one) for one in (step, noise_x, noise_u, bend, typical, spread2)])
    return out


def _nothing(d: int) -> Products:
    empty = {"rows": 1 + 2 * d, "claims": 6, "repeats": 2, "pieces": 5, "strips": 4 + 2 * d}
    summary = {"samples": 0, "scales": None, "dt": 0.0, "moments": Moments.of(np.empty((0, d))).plain(), "fastest": 0.0}
    return Products(arrays={name: np.empty((0, width)) for name, width in empty.items()}, summary=summary)


def pooled(summaries: Sequence[dict[str, object]]) -> tuple[list[float], float]:
    """Scales and time step of the median sample."""
    filled = [s for s in summaries if s["samples"]]
    weight = np.array([s["samples"] for s in filled], dtype=np.float64)

    def median(values: FloatArray) -> float:
        order: IntArray = np.argsort(values, kind="stable")
        return float(values[order][np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)])

    table = np.array([s["scales"] for s in filled], dtype=np.float64)
    spread2 = float(Moments.pooled(Moments.read(s["moments"]) for s in filled).variance.mean())  # type: ignore[arg-type]
    scales = [median(column) for column in table.T] + [spread2]
    return scales, median(np.array([s["dt"] for s in filled], dtype=np.float64))
