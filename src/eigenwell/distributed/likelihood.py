"""Cells where one time step does not serve all: each is matched by likelihood, with a wide halo around it.

A cell runs what a single machine runs, on its own samples and on those around it, and keeps the links that start from
its own. Where two cells disagree about a sample, the cell it is at home in has the last word. Far from the borders the
answer is that of a single machine; at the borders it need not be (docs/distributed.md has measurements).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._types import FloatArray, IntArray
from ..files.columns import Columns
from ..paths.chains import Chains
from ..paths.fragments import join_fragments
from ..paths.hashing import sample_hash
from ..paths.successors import match_successors
from .cells import by_cell
from .inputs import Part, read_part
from .matching import distinct, pieces, placed_repeats
from .moments import Moments
from .scan import load_cells, nearest_of_all
from .splitting import AT_HOME, read_cell
from .store import Products

LARGEST_CELL = 100_000
"""Samples matched by likelihood in one cell of several: the time for one grows almost with the square of their number."""
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


def match_likely(folder: Path, *, cell: int, names: Sequence[str]) -> Products:
    """Pieces of the samples at home here, and claims on samples at home elsewhere."""
    ids, role, x, v = read_cell(folder, names, cell, "wide")
    original, repeat_of = distinct(sample_hash(x, v))
    repeats = np.flatnonzero(~original)
    of = ids[repeat_of[repeats]]
    repeat_ids = ids[repeats]
    ids, role, x, v = ids[original], role[original], x[original], v[original]
    at_home = (role & AT_HOME) > 0
    if not at_home.any():
        return _nothing(x.shape[1])
    chains, kin, sure = match_successors(x, v)
    fragments = join_fragments(x, v, chains, kin, beyond_doubt=sure)
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
