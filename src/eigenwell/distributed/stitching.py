"""The reducer: pieces of all cells become chains, and chains are linked across gaps, from their ends alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._types import IntArray
from ..paths.chains import Chains, open_loops
from ..paths.fragments import link_fragments
from ..paths.kinematics import Kinematics, estimate, is_common, steady, strongest_claims
from ..paths.settings import DEFAULT
from .records import Records, bounds_of, column, spread
from .store import Products, fetch, fetch_all, own


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
    if dt is not None and not is_common(linked, n):
        return Products(summary={"common": False})
    laid = Chains.of(open_loops(follows, pieces["tail"], pieces["head"]), np.zeros((len(pieces), 1)))
    # Chains are numbered by the id of their first sample, as on a single machine.
    laid = _rearranged(laid, np.argsort(pieces["first"][laid.heads]), np.ones(laid.n_chains, dtype=np.intp))
    length = column(pieces, "length")
    start, lengths = _placed(laid, length)
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
        return np.concatenate(parts), np.repeat(which, count), spread(start[which] + skip, count)

    stride = -(-n // DEFAULT.measured)
    some = np.arange(0, len(pieces), stride)
    seen, piece, place = rows(some, 0 * some, length[some])
    scales = _scales(seen, laid.chain_of[piece] if stride == 1 else piece, place, dt, spread2)
    # The first and the last samples of every chain, as many as a fit takes.
    left = lengths[laid.chain_of] - start - length
    first = np.clip(DEFAULT.fit - start, 0, length)
    last = np.clip(DEFAULT.fit - left, 0, length - first)
    which = np.arange(len(pieces))
    ends, piece, place = rows(np.append(which, which), np.append(0 * which, length - last), np.append(first, last))
    laid = _linked(laid, ends, laid.chain_of[piece], place, scales)
    arrays = {"chain": laid.chain_of, "start": _placed(laid, length)[0], "length": length, "bounds": bounds}
    dt = float(np.median([s["dt"] for s in told if s["samples"]]))
    return Products(arrays, summary={"common": True, "scales": scales, "dt": dt})


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


def _rearranged(chains: Chains, order: IntArray, groups: IntArray) -> Chains:
    """The chains in this order, so many of them put behind one another in every new one."""
    length = chains.lengths[order]
    return Chains(chains.order[spread(chains.offsets[order], length)], bounds_of(length)[bounds_of(groups)])


def _placed(laid: Chains, length: IntArray) -> tuple[IntArray, IntArray]:
    """At which sample of its chain every piece of this length begins, and the samples of every chain."""
    before, start = bounds_of(length[laid.order]), np.empty(len(length), dtype=np.intp)
    start[laid.order] = before[:-1] - before[laid.offsets[laid.chain_at]]
    return start, np.diff(before[laid.offsets])


def _linked(laid: Chains, rows: Records, chain: IntArray, place: IntArray, scales: Sequence[float]) -> Chains:
    """Chains linked to longer ones by what a single machine does, on their first and last samples alone: these `rows`."""
    # In order of ids, so that chains are numbered as on a single machine.
    by_id = np.argsort(rows["id"])
    rows, chain, place = rows[by_id], chain[by_id], place[by_id]
    skeleton = Chains(np.lexsort((place, chain)), bounds_of(np.bincount(chain)))
    x, v, dt = (column(rows, name) for name in ("x", "v", "dt"))
    joined, _ = link_fragments(x, v, skeleton, Kinematics(dt, dt[:, None] * v, *scales))
    groups = np.bincount(joined.chain_of[skeleton.heads], minlength=joined.n_chains)
    return _rearranged(laid, np.argsort(joined.position_of[skeleton.heads]), groups)


def layout(folder: Path, *, per_bucket: int) -> Products:
    """Which chains are assembled in one task: those that end near each other."""
    bounds, chain, start, length = own(folder, "stitch", "bounds", "chain", "start", "length")
    samples, by_chain = np.bincount(chain, weights=length), np.lexsort((start, chain))
    tails = by_chain[np.append(np.diff(chain[by_chain]) != 0, True)]
    order = np.argsort(np.searchsorted(bounds, tails, side="right"), kind="stable")
    bucket = np.empty(len(order), dtype=np.intp)
    bucket[order] = np.maximum(np.cumsum(samples[order]) - 1, 0) // per_bucket
    bucket = np.unique(bucket, return_inverse=True)[1].reshape(-1)
    return Products(arrays={"bucket": bucket}, summary={"buckets": int(bucket.max()) + 1})
