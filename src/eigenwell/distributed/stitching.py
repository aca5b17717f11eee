"""The reducer: pieces of all cells become chains, and chains are linked across gaps, from their ends alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._types import IntArray
from ..paths.chains import Chains, open_loops
from ..paths.fragments import link_fragments
from ..paths.kinematics import Kinematics, estimate, is_common, steady
from ..paths.settings import DEFAULT
from .records import Records, bounds_of, column, spread
from .store import Products, fetch, fetch_all


def stitch(
    folder: Path,
    *,
    names: Sequence[str],
    told: Sequence[dict[str, Any]],
    spread2: float,
    per_bucket: int,
    dt: float | None = None,
) -> Products:
    """Chains of pieces, and the chains that these are linked to; `common` says whether one time step served all.

    Pieces are numbered by the id of their first sample, so that chains are numbered as on a single machine; of each it leaves
    the cell, the row there at which it begins, the chain and the place in it, and the bucket in which that is assembled.
    """
    n = sum(s["samples"] for s in told)
    tables = [fetch(folder, "match", name, "pieces") for name in names]
    pieces, count = np.concatenate(tables), [len(table) for table in tables]
    cell, edge = np.repeat(np.arange(len(names)), count), bounds_of(pieces["length"])
    by_first = np.argsort(pieces["first"])
    # A chain that was cut in two goes on in the piece behind it.
    behind = np.where(pieces["goes_on"], np.append(np.argsort(by_first)[1:], -1), -1)[by_first]
    begin, pieces, cell = (edge[:-1] - edge[bounds_of(count)[cell]])[by_first], pieces[by_first], cell[by_first]
    follows, linked = _claimed(pieces, behind, fetch_all(folder, "match", names, "claims"))
    linked += sum(s["linked"] for s in told)
    if dt is not None and not is_common(linked, n):
        return Products(summary={"common": False})
    laid, length = Chains.of(open_loops(follows, pieces["tail"], pieces["head"]), np.empty((0, 1))), pieces["length"]
    start, samples = _placed(laid, length)

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
    left = samples[laid.chain_of] - start - length
    first = np.clip(DEFAULT.fit - start, 0, length)
    last = np.clip(DEFAULT.fit - left, 0, length - first)
    which = np.arange(len(pieces))
    ends, piece, place = rows(np.append(which, which), np.append(0 * which, length - last), np.append(first, last))
    laid = laid.joined(_linked(ends, laid.chain_of[piece], place, scales))
    start, samples = _placed(laid, length)
    # Chains that end near each other are assembled together.
    order = np.argsort(cell[laid.tails], kind="stable")
    bucket = np.empty(len(order), dtype=np.intp)
    bucket[order] = np.maximum(np.cumsum(samples[order]) - 1, 0) // per_bucket
    bucket = np.unique(bucket, return_inverse=True)[1].reshape(-1)
    placed = {"chain": laid.chain_of, "start": start, "length": length, "cell": cell, "begin": begin}
    dt = float(np.median([s["dt"] for s in told if s["samples"]]))
    summary = {"common": True, "scales": scales, "dt": dt, "buckets": int(bucket.max()) + 1}
    return Products(placed | {"bucket": bucket[laid.chain_of]}, summary=summary)


def _claimed(pieces: Records, behind: IntArray, claims: Records) -> tuple[IntArray, int]:
    """The piece that follows each one, -1 for none, of which `behind` are known, and how many links between cells there are:
    those that both cells have found, each from its own side."""
    links, found = np.unique(claims, return_counts=True)
    links = links[found == 2]
    by_last, follows = np.argsort(pieces["last"]), behind.copy()
    tail = by_last[np.searchsorted(pieces["last"], links["source"], sorter=by_last)]
    follows[tail] = np.searchsorted(pieces["first"], links["target"])
    return follows, len(links)


def _placed(laid: Chains, length: IntArray) -> tuple[IntArray, IntArray]:
    """At which sample of its chain every piece of this length begins, and the samples of every chain."""
    before, start = bounds_of(length[laid.order]), np.empty(len(length), dtype=np.intp)
    start[laid.order] = before[:-1] - before[laid.offsets[laid.chain_at]]
    return start, np.diff(before[laid.offsets])


def _scales(rows: Records, chain: IntArray, place: IntArray, dt: float | None, spread2: float) -> list[float]:
    """Step, noise and bending as a single machine measures them, on all samples, or on some pieces where there are very many."""
    number = np.unique(chain, return_inverse=True)[1].reshape(-1)
    x, v, chains = column(rows, "x"), column(rows, "v"), _chains(number, place)
    kin = estimate(x, v, chains) if dt is None else steady(x, v, chains, dt)
    return [kin.step, kin.noise_x, kin.noise_u, kin.bend, kin.typical, spread2]


def _linked(rows: Records, chain: IntArray, place: IntArray, scales: Sequence[float]) -> IntArray:
    """The chain that follows each one, -1 for none, by what a single machine does with the `rows` of their ends alone."""
    by_id = np.argsort(rows["id"])  # ties are broken by this order
    rows, ends = rows[by_id], _chains(chain[by_id], place[by_id])
    x, v, dt = (column(rows, name) for name in ("x", "v", "dt"))
    after = link_fragments(x, v, ends, Kinematics(dt, dt[:, None] * v, *scales))[0].successor[ends.tails]
    return np.where(after < 0, -1, ends.chain_of[after])


def _chains(number: IntArray, place: IntArray) -> Chains:
    """Of samples with these places in chains with these numbers."""
    return Chains(np.lexsort((place, number)), bounds_of(np.bincount(number)))
