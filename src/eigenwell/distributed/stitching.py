"""The reducer: pieces of all cells become chains, and chains are linked across gaps, from their ends alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import IntArray
from ..paths.chains import Chains, open_loops
from ..paths.fragments import hosts, link_fragments, short_chains, tolerance, within_reach
from ..paths.kinematics import Kinematics, estimate, is_common, steady, strongest_claims
from ..paths.settings import DEFAULT
from .records import NEAR, Records, bounds_of, column, packed, spread
from .scan import load_cells
from .store import Products, fetch, fetch_all


@dataclass(frozen=True)
class Strung:
    """Pieces strung together: the chain of every piece, and the position in it at which the piece begins.

    Chains are numbered by the id of their first sample, as `Chains.of` does; `lengths` has the samples of each.
    """

    chain: IntArray
    start: IntArray
    lengths: IntArray


def stitch(
    folder: Path,
    *,
    names: Sequence[str],
    told: Sequence[dict[str, Any]],
    spread2: float,
    dt: float | None = None,
) -> Products:
    """Chains of pieces, and the chains that these are linked to; `common` says whether one time step served all."""
    n = sum(s["samples"] for s in told)
    tables = [fetch(folder, "match", name, "pieces") for name in names]
    pieces, bounds = np.concatenate(tables), bounds_of([len(table) for table in tables])
    follows, linked = _follows(pieces, fetch_all(folder, "match", names, "claims"))
    linked += sum(s["linked"] for s in told)
    if dt is not None and not is_common(linked, sum(s["exact"] for s in told), n):
        return Products(summary={"common": False})
    strung, length = _strung(pieces, open_loops(follows, pieces["tail"], pieces["head"])), column(pieces, "length")
    cell = np.repeat(np.arange(len(names)), np.diff(bounds))
    begin = bounds_of(length)[:-1] - bounds_of(length)[bounds[cell]]

    def rows(which: IntArray, skip: IntArray, count: IntArray) -> tuple[Records, IntArray, IntArray]:
        """Of these pieces the rows after the first few, so many of each; the piece of every row, and its place in the chain."""
        parts, order = [], np.argsort(cell[which], kind="stable")
        which, skip, count = which[order], skip[order], count[order]
        for c in np.unique(cell[which]):
            mine = cell[which] == c
            at = spread(begin[which[mine]] + skip[mine], count[mine])
            parts.append(np.array(fetch(folder, "match", names[c], "rows")[at]))
        return np.concatenate(parts), np.repeat(which, count), spread(strung.start[which] + skip, count)

    stride = -(-n // DEFAULT.measured)
    some = np.arange(0, len(pieces), stride)
    seen, piece, place = rows(some, 0 * some, length[some])
    scales = _scales(seen, strung.chain[piece] if stride == 1 else piece, place, dt, spread2)
    # The first and the last samples of every chain, as many as a fit takes.
    left = strung.lengths[strung.chain] - strung.start - length
    first = np.clip(DEFAULT.fit - strung.start, 0, length)
    last = np.clip(DEFAULT.fit - left, 0, length - first)
    which = np.arange(len(pieces))
    ends, piece, place = rows(np.append(which, which), np.append(0 * which, length - last), np.append(first, last))
    strung = _linked(strung, ends, strung.chain[piece], place, scales)
    short = np.flatnonzero(short_chains(strung.lengths)[strung.chain])
    crumbs, piece, _ = rows(short, 0 * short, length[short]) if len(short) else (ends[:0], short, short)
    return Products(
        arrays={
            "chain": strung.chain,
            "start": strung.start,
            "length": length,
            "bounds": bounds,
            "lengths": strung.lengths,
            "short": crumbs,
            "short_chain": strung.chain[piece],
        },
        summary={
            "common": True,
            "scales": list(scales),
            "dt": float(np.median([s["dt"] for s in told if s["samples"]])),
            "short": len(crumbs),
        },
    )


def _scales(rows: Records, chain: IntArray, place: IntArray, dt: float | None, spread2: float) -> list[float]:
    """Step, noise and bending as a single machine measures them, on all samples, or on some pieces where there are very many."""
    number = np.unique(chain, return_inverse=True)[1].reshape(-1)
    chains = Chains(np.lexsort((place, number)), bounds_of(np.bincount(number)))
    x, v = column(rows, "x"), column(rows, "v")
    kin = estimate(x, v, chains) if dt is None else steady(x, v, chains, dt)
    return [kin.step, kin.noise_x, kin.noise_u, kin.bend, kin.typical, spread2]


def _follows(pieces: Records, claims: Records) -> tuple[IntArray, int]:
    """The piece that follows each one, -1 for none: of several claims on a piece the one that misses least wins; and how many
    are won. A claim on a sample that its own cell has put behind another one is void."""
    follows = np.where(pieces["goes_on"], np.arange(1, len(pieces) + 1), -1)
    free = np.setdiff1d(np.arange(len(pieces)), follows)
    claims = claims[np.isin(claims["target"], pieces["first"][free])]
    by_last, by_first = np.argsort(pieces["last"]), free[np.argsort(pieces["first"][free])]
    tail = by_last[np.searchsorted(pieces["last"], claims["source"], sorter=by_last)]
    head = by_first[np.searchsorted(pieces["first"][by_first], claims["target"])]
    claimed = strongest_claims(tail, head, claims["miss"], len(pieces))
    won = np.flatnonzero(claimed >= 0)
    follows[claimed[won]] = won
    return follows, len(won)


def _strung(pieces: Records, follows: IntArray) -> Strung:
    laid = Chains.of(follows, np.zeros((len(follows), 1)))
    rank = np.argsort(np.argsort(pieces["first"][laid.heads]))
    length = pieces["length"][laid.order]
    before = np.cumsum(length) - length
    start, chain = np.empty(len(follows), dtype=np.intp), np.empty(len(follows), dtype=np.intp)
    start[laid.order] = before - before[laid.offsets[:-1]][laid.chain_at]
    chain[laid.order] = rank[laid.chain_at]
    return Strung(chain, start, np.bincount(chain, weights=pieces["length"]).astype(np.intp))


def _linked(strung: Strung, rows: Records, chain: IntArray, place: IntArray, scales: Sequence[float]) -> Strung:
    """Chains linked to longer ones by what a single machine does, on their first and last samples alone: these `rows`."""
    # In order of ids, so that chains are numbered as on a single machine.
    by_id = np.argsort(rows["id"])
    rows, chain, place = rows[by_id], chain[by_id], place[by_id]
    skeleton = Chains(np.lexsort((place, chain)), bounds_of(np.bincount(chain)))
    x, v, dt = (column(rows, name) for name in ("x", "v", "dt"))
    joined, _ = link_fragments(x, v, skeleton, Kinematics(dt, dt[:, None] * v, *scales))
    new = joined.chain_of[skeleton.heads]
    laid = np.argsort(joined.position_of[skeleton.heads])
    before = np.cumsum(strung.lengths[laid]) - strung.lengths[laid]
    fresh = np.diff(new[laid], prepend=-1) != 0
    start = np.empty(len(new), dtype=np.intp)
    start[laid] = before - before[fresh][np.cumsum(fresh) - 1]
    lengths = np.bincount(new, weights=strung.lengths).astype(np.intp)
    return Strung(new[strung.chain], start[strung.chain] + strung.start, lengths)


def look_around(folder: Path, *, name: str, cell: int, dt: float, scales: Sequence[float]) -> Products:
    """For every short chain's sample that this cell is near to, the samples of this cell within its tolerance."""
    short = fetch(folder, "stitch", "stitch", "short")
    x, u = column(short, "x"), dt * short["v"]
    reach = tolerance(Kinematics(np.full(len(x), dt), u, *scales), np.arange(len(x)))
    row, near = load_cells(folder).reached(x, reach)
    mine = row[near == cell]
    rows = fetch(folder, "match", name, "rows")
    if len(mine) == 0 or len(rows) == 0:
        return Products(arrays={"near": np.empty(0, NEAR)})
    bounds, chain, length = (fetch(folder, "stitch", "stitch", a) for a in ("bounds", "chain", "length"))
    here = slice(int(bounds[cell]), int(bounds[cell + 1]))
    place, sample, distance = within_reach(cKDTree(column(rows, "x")), x[mine], reach[mine])
    chain = np.repeat(chain[here], length[here])[sample]
    return Products(arrays={"near": packed(NEAR, row=mine[place], chain=chain, distance=distance)})


def layout(folder: Path, *, names: Sequence[str], merged: bool, per_bucket: int) -> Products:
    """Which chains make up which path, and which paths are assembled in one task: those that end near each other.

    Paths are numbered as on a single machine, by the chain that the others were merged into.
    """
    bounds, chain, start, lengths = (
        np.array(fetch(folder, "stitch", "stitch", a)) for a in ("bounds", "chain", "start", "lengths")
    )
    host = np.arange(len(lengths))
    if merged:
        short, of = (fetch(folder, "stitch", "stitch", a) for a in ("short", "short_chain"))
        near = fetch_all(folder, "around", names, "near")
        near = near[np.lexsort((near["distance"], near["row"]))]
        rank = np.arange(len(near)) - np.searchsorted(near["row"], near["row"])
        near = near[rank < 2 * DEFAULT.neighbours]
        host = hosts(lengths, of[near["row"]], short["id"][near["row"]], near["chain"])
    owners, path = np.unique(host, return_inverse=True)
    path = path.reshape(-1)
    counts = np.bincount(path, weights=lengths).astype(np.intp)
    order = np.argsort(_tail_cells(bounds, chain, start)[owners], kind="stable")
    bucket = np.empty(len(owners), dtype=np.intp)
    bucket[order] = np.maximum(np.cumsum(counts[order]) - 1, 0) // per_bucket
    bucket = np.unique(bucket, return_inverse=True)[1].reshape(-1)
    arrays = {"path": path, "merged": host != np.arange(len(lengths)), "bucket": bucket}
    return Products(arrays=arrays, summary={"buckets": int(bucket.max()) + 1})


def _tail_cells(bounds: IntArray, chain: IntArray, start: IntArray) -> IntArray:
    """The cell in which every chain ends."""
    cell = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((start, chain))
    return np.asarray(cell[order[np.append(np.diff(chain[order]) != 0, True)]])
