"""The reducer: pieces of all cells become chains, and chains are linked across gaps, from their ends alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._types import IntArray
from ..paths.chains import Chains, loop_nodes
from ..paths.fragments import link_fragments
from ..paths.kinematics import Kinematics
from ..paths.meeting import is_common, strongest_claims
from ..paths.merging import short_chains
from ..paths.settings import DEFAULT
from .moments import Moments
from .records import Records, column
from .scales import gathered
from .store import Products, fetch


@dataclass(frozen=True)
class Pieces:
    """All pieces, cell after cell: ids of first and last sample, and length; `bounds` is where each cell begins."""

    first: IntArray
    last: IntArray
    length: IntArray
    bounds: IntArray

    @classmethod
    def read(cls, folder: Path, names: Sequence[str]) -> Pieces:
        tables = [fetch(folder, "match", name, "pieces") for name in names]
        columns = {name: column(np.concatenate(tables), name) for name in ("first", "last", "length")}
        return cls(**columns, bounds=np.concatenate([[0], np.cumsum([len(t) for t in tables])]))

    def rows(self, folder: Path, names: Sequence[str], which: IntArray) -> list[Records]:
        """The samples of these pieces."""
        cell = np.searchsorted(self.bounds, which, side="right") - 1
        begin = np.cumsum(self.length) - self.length
        out = []
        for p, c in zip(which.tolist(), cell.tolist(), strict=True):
            a = int(begin[p] - begin[self.bounds[c]])
            out.append(fetch(folder, "match", names[c], "rows")[a : a + int(self.length[p])])
        return out

    def cut(self, piece: int, at: int, last: int, first: int) -> Pieces:
        """With a piece cut in two after `at` samples, between the ids `last` and `first`."""
        ends, starts = np.insert(self.last, piece, last), np.insert(self.first, piece + 1, first)
        lengths = np.insert(self.length, piece, at)
        lengths[piece + 1] -= at
        return Pieces(starts, ends, lengths, self.bounds + (self.bounds > piece))


@dataclass(frozen=True)
class Strung:
    """Pieces strung together: the chain of every piece, and the position in it at which the piece begins.

    Chains are numbered by the id of their first sample, as `Chains.of` does; `length` has the samples of each.
    """

    chain: IntArray
    start: IntArray
    length: IntArray


def stitch(
    folder: Path,
    *,
    names: Sequence[str],
    summaries: Sequence[dict[str, Any]],
    dt: float | None = None,
    scales: Sequence[float] = (),
) -> Products:
    """Chains of pieces, and the chains that these are linked to; `common` says whether one time step served all."""
    n = sum(s["samples"] for s in summaries)
    pieces = Pieces.read(folder, names)
    claims = np.concatenate([fetch(folder, "match", name, "claims") for name in names])
    # A claim on a sample that its own cell has put behind another one is void.
    follows = _follows(pieces, claims[np.isin(claims["target"], pieces.first)])
    linked, exact = sum(s["linked"] for s in summaries) + int((follows >= 0).sum()), sum(s["exact"] for s in summaries)
    if dt is not None:
        if not is_common(linked, exact, n):
            return Products(summary={"common": False})
        moments = Moments.pooled(Moments.read(s["moments"]) for s in summaries)
        filled = [(name, 0) for name, s in zip(names, summaries, strict=True) if s["samples"]]
        measured = gathered(folder, "match", filled, DEFAULT.measured / n)
        scales = measured.scales(len(moments.mean), float(moments.variance.mean()))
    pieces, follows = _without_loops(folder, names, pieces, follows)
    strung = string(pieces, follows)
    chain, start, lengths = link(_ends(folder, names, pieces, strung), strung.length, scales)
    chain, start = chain[strung.chain], start[strung.chain] + strung.start
    return Products(
        arrays={
            "chain": chain,
            "start": start,
            "length": pieces.length,
            "bounds": pieces.bounds,
            "lengths": lengths,
            "tail_cell": _tail_cell(pieces, chain, start, len(lengths)),
        },
        summary={
            "common": True,
            "samples": n,
            "scales": list(scales),
            "dt": float(np.median([s["dt"] for s in summaries if s["samples"]])),
            "short_chains": bool(short_chains(lengths).any()),
        },
    )


def _follows(pieces: Pieces, claims: Records) -> IntArray:
    """The piece that follows each one, -1 for none: of several claims on a piece the one that misses least wins."""
    by_last, by_first = np.argsort(pieces.last), np.argsort(pieces.first)
    tail = by_last[np.searchsorted(pieces.last[by_last], claims["source"])]
    head = by_first[np.searchsorted(pieces.first[by_first], claims["target"])]
    claimed = strongest_claims(tail, head, claims["miss"], len(pieces.first))
    follows = np.full(len(pieces.first), -1, dtype=np.intp)
    follows[claimed[claimed >= 0]] = np.flatnonzero(claimed >= 0)
    return follows


def _without_loops(folder: Path, names: Sequence[str], pieces: Pieces, follows: IntArray) -> tuple[Pieces, IntArray]:
    """Closed loops opened where a single machine opens them, at the longest link, if need be inside a piece."""
    closed = loop_nodes(follows)
    if len(closed) == 0:
        return pieces, follows
    rows = np.concatenate(pieces.rows(folder, names, closed))
    ids, end = column(rows, "id"), np.cumsum(pieces.length[closed])
    begin = end - pieces.length[closed]
    successor = np.arange(1, len(rows) + 1)
    successor[end - 1] = begin[np.searchsorted(closed, follows[closed])]
    by_id = np.argsort(ids)
    rank = np.empty(len(rows), dtype=np.intp)
    rank[by_id] = np.arange(len(rows))
    heads = by_id[Chains.of(rank[successor[by_id]], column(rows, "x")[by_id]).heads]
    place = np.searchsorted(begin, heads, side="right") - 1
    for k in np.argsort(-heads):  # the last ones first, so that pieces before keep their numbers
        piece, at = int(closed[place[k]]), int(heads[k] - begin[place[k]])
        if at == 0:
            follows = np.where(follows == piece, -1, follows)
            continue
        follows = np.insert(follows + (follows > piece), piece, -1)
        pieces = pieces.cut(piece, at, int(ids[heads[k] - 1]), int(ids[heads[k]]))
    return pieces, follows


def string(pieces: Pieces, follows: IntArray) -> Strung:
    order = Chains.of(follows, np.zeros((len(follows), 1)))
    head = pieces.first[order.order[order.offsets[:-1]]]
    rank = np.empty(len(head), dtype=np.intp)
    rank[np.argsort(head)] = np.arange(len(head))
    laid = pieces.length[order.order]
    before = np.cumsum(laid) - laid
    start, chain = np.empty(len(follows), dtype=np.intp), np.empty(len(follows), dtype=np.intp)
    start[order.order] = before - before[order.offsets[:-1]][order.chain_at]
    chain[order.order] = rank[order.chain_at]
    lengths = np.bincount(chain, weights=pieces.length, minlength=len(head)).astype(np.intp)
    return Strung(chain, start, lengths)


@dataclass(frozen=True, eq=False)
class Ends:
    """The first and last samples of every chain, as many as a fit takes: their chain, place in it, and rows."""

    chain: IntArray
    place: IntArray
    rows: Records


def _ends(folder: Path, names: Sequence[str], pieces: Pieces, strung: Strung) -> Ends:
    parts = []
    for c, name in enumerate(names):
        mine = slice(int(pieces.bounds[c]), int(pieces.bounds[c + 1]))
        count = pieces.length[mine]
        chain = np.repeat(strung.chain[mine], count)
        place = spread(strung.start[mine], count)
        at_end = np.flatnonzero((place < DEFAULT.fit) | (place >= strung.length[chain] - DEFAULT.fit))
        parts.append((chain[at_end], place[at_end], np.array(fetch(folder, "match", name, "rows")[at_end])))
    return Ends(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def spread(begin: IntArray, count: IntArray) -> IntArray:
    """begin[0], begin[0] + 1, ..., count[0] of them, then those of begin[1], ..."""
    return np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))


def link(ends: Ends, length: IntArray, scales: Sequence[float]) -> tuple[IntArray, IntArray, IntArray]:
    """Chains linked to longer ones by what a single machine does, on their first and last samples alone.

    Gives the new chain of every chain, the position in it at which it begins, and the lengths of the new ones.
    """
    # In order of ids, so that chains are numbered as on a single machine.
    by_id = np.argsort(ends.rows["id"])
    rows, chain = ends.rows[by_id], ends.chain[by_id]
    order = np.lexsort((ends.place[by_id], chain))
    skeleton = Chains(order, np.concatenate([[0], np.cumsum(np.bincount(chain))]).astype(np.intp))
    x, v, dt = (column(rows, name) for name in ("x", "v", "dt"))
    joined, _ = link_fragments(x, v, skeleton, Kinematics(dt, dt[:, None] * v, *scales))
    new = joined.chain_of[skeleton.heads]
    laid = np.argsort(joined.position_of[skeleton.heads])
    before = np.cumsum(length[laid]) - length[laid]
    fresh = np.concatenate([[True], np.diff(new[laid]) != 0])
    start = np.empty(len(new), dtype=np.intp)
    start[laid] = before - before[fresh][np.cumsum(fresh) - 1]
    return new, start, np.bincount(new, weights=length).astype(np.intp)


def _tail_cell(pieces: Pieces, chain: IntArray, start: IntArray, count: int) -> IntArray:
    """The cell in which every chain ends."""
    cell = np.repeat(np.arange(len(pieces.bounds) - 1), np.diff(pieces.bounds))
    order = np.lexsort((start, chain))
    out = np.zeros(count, dtype=np.intp)
    out[chain[order]] = cell[order]  # the last write is the last piece
    return out
