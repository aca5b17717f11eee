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

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..files.columns import Columns
from ..paths.chains import Chains
from ..paths.fragments import likely_paths
from ..paths.hashing import sample_hash
from ..paths.kinematics import Agree, Measured, Scales
from ..paths.settings import DEFAULT
from .allocator import freed_memory_kept
from .cells import by_cell
from .inputs import Part, read_part
from .matching import distinct, pieces, placed_repeats
from .moments import Moments
from .records import CLAIMS, PIECES, REPEATS, cell_samples, end_samples, packed, samples
from .scan import load_cells, nearest_of_all
from .splitting import AT_HOME, read_cell
from .store import Products, fetch

PILOT_LINKS, FEWEST_PILOTS = 4, 2
"""Samples of the pilot cells together, in units of the links that scales are read off; and how many cells at least."""
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
    """Samples with their roles, sorted by cell, each in all cells that come within the halo of it."""
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
    kind = cell_samples(rows.x.shape[1])
    out = packed(kind, id=part.offset + row, role=role, x=rows.x[row], v=rows.v[row])
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
    with freed_memory_kept():
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
    length = np.linalg.norm(x[j] - x[i], axis=1)
    claims = packed(CLAIMS, source=ids[i], target=ids[j], miss=miss, second=np.inf, length=length, step=np.inf)
    parts = pieces(ids[home], x[home], v[home], laid, kin.dt[home])
    return Products(
        arrays={
            "rows": packed(samples(x.shape[1]), id=ids[home], x=x[home], v=v[home])[laid.order],
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


def pilot(folder: Path, *, cell: int, names: Sequence[str], spread2: float) -> Products:
    """What the samples at home in one cell measure in every round; the last round is what it ends with."""
    _, role, x, v = read_cell(folder, names, cell, "wide")
    original, _ = distinct(sample_hash(x, v))
    x, v, at_home = x[original], v[original], (role[original] & AT_HOME) > 0
    heard: list[Measured] = []

    def listen(measured: Measured) -> Scales:
        tables = (measured.links, measured.far, measured.paces)
        heard.append(Measured(*(table[at_home[table[:, 0].astype(np.intp)]] for table in tables)))
        return measured.scales(x.shape[1], spread2)

    if at_home.any():
        with freed_memory_kept():
            likely_paths(x, v, cKDTree(x), agree=listen)
    arrays: dict[str, FloatArray] = {}
    for k, one in enumerate(heard):
        arrays |= {f"links-{k}": one.links, f"far-{k}": one.far, f"paces-{k}": one.paces}
    return Products(arrays=arrays, summary={"rounds": len(heard), "dimension": x.shape[1]})


def pilots(cells: int, total: int) -> list[int]:
    """Cells that measure for all, spread over the whole: all of them where the data are small."""
    enough = max(FEWEST_PILOTS, -(-PILOT_LINKS * DEFAULT.measured * cells // total))
    return sorted({round(k) for k in np.linspace(0, cells - 1, min(enough, cells)).tolist()})


def agreed(scales: Sequence[Sequence[float]]) -> Agree:
    """Round after round what was agreed on, and after the last round what stood at its end."""
    rounds = iter([Scales(*one) for one in scales])
    last = Scales(*scales[-1])
    return lambda _: next(rounds, last)


def agree_on(folder: Path, *, names: Sequence[str], told: Sequence[dict[str, int]], spread2: float) -> Products:
    """Scales of every round that all pilot cells went through, and of their ends, read off the links of all of them."""
    heard = [(name, one["rounds"]) for name, one in zip(names, told, strict=True) if one["rounds"]]
    common = min(rounds for _, rounds in heard)
    out = []
    for k in range(common):
        at = [(name, k if k < common - 1 else rounds - 1) for name, rounds in heard]
        tables = [
            np.concatenate([fetch(folder, "pilot", name, f"{what}-{r}") for name, r in at])
            for what in ("links", "far", "paces")
        ]
        out.append(list(Measured(*tables).scales(told[0]["dimension"], spread2)))
    return Products(summary={"scales": out})


def _nothing(d: int) -> Products:
    kinds = {"rows": samples(d), "claims": CLAIMS, "repeats": REPEATS, "pieces": PIECES, "ends": end_samples(d)}
    summary = {"samples": 0, "scales": None, "dt": 0.0, "moments": Moments.of(np.empty((0, d))).plain(), "fastest": 0.0}
    return Products(arrays={name: np.empty(0, kind) for name, kind in kinds.items()}, summary=summary)


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
