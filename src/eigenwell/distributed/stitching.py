"""The reducer: pieces of all cells become chains, and chains are linked across gaps, from their ends alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._types import FloatArray, IntArray
from ..paths.chains import Chains
from ..paths.fragments import link_fragments
from ..paths.hashing import sample_hash, share
from ..paths.kinematics import Kinematics, measures, scales
from ..paths.meeting import is_common, meeting, strongest_claims
from ..paths.merging import short_chains
from ..paths.settings import DEFAULT
from .likelihood import pooled
from .moments import Moments
from .records import Records, column
from .store import Products, fetch


@dataclass(frozen=True)
class Pieces:
    """All pieces, cell after cell: ids of first and last sample, length, longest link and the id it starts from.

    `ends` are the samples near the ends of the pieces.
    """

    first: IntArray
    last: IntArray
    length: IntArray
    longest: FloatArray
    longest_from: IntArray
    ends: Records
    bounds: IntArray
    """Where the pieces of each cell begin."""

    @classmethod
    def read(cls, folder: Path, names: Sequence[str]) -> Pieces:
        tables = [fetch(folder, "match", name, "pieces") for name in names]
        start = np.concatenate([[0], np.cumsum([len(t) for t in tables])])
        ends = []
        for name, a in zip(names, start[:-1], strict=True):
            here = np.array(fetch(folder, "match", name, "ends"))
            here["piece"] += a
            ends.append(here)
        table = np.concatenate(tables)
        columns = {name: column(table, name) for name in ("first", "last", "length", "longest", "longest_from")}
        return cls(**columns, ends=np.concatenate(ends), bounds=start)


@dataclass(frozen=True)
class Strung:
    """Pieces strung together: the chain of every piece, and the position in it at which the piece begins.

    Chains are numbered by the id of their first sample, as `Chains.of` does.
    """

    chain: IntArray
    start: IntArray
    length: IntArray
    """Samples of every chain."""


def stitch(
    folder: Path, *, names: Sequence[str], summaries: Sequence[dict[str, Any]], dt: float, cuts: int
) -> Products:
    """Chains of pieces, their kinematics, and the chains that these are linked to; or the links to cut in closed loops."""
    n = sum(s["samples"] for s in summaries)
    i, j, length, exact = settled(np.concatenate([fetch(folder, "match", name, "claims") for name in names]))
    linked = sum(s["linked"] for s in summaries) + len(i)
    if not is_common(linked, sum(s["exact"] for s in summaries) + exact, n):
        return Products(summary={"common": False})
    pieces = Pieces.read(folder, names)
    follows, crossing = _follows(pieces, i, j, length)
    cut, opened = _loops(pieces, follows, crossing)
    if len(cut):
        cells = np.searchsorted(pieces.bounds, cut, side="right") - 1
        sources = pieces.longest_from[cut]
        return Products(summary={"common": True, "cuts": np.column_stack([cells, sources]).tolist()})
    follows[opened] = -1
    strung = string(pieces, follows)
    moments = Moments.pooled(Moments.read(s["moments"]) for s in summaries)
    measured = _measured(folder, names, pieces, strung, dt, n, moments)
    return _linked(pieces, strung, measured, {"common": True, "cuts": [], "samples": n, "scales": measured}, dt)


def stitch_likely(folder: Path, *, names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> Products:
    """The same for cells that were matched by likelihood: what they measured is pooled, doubts were settled there."""
    measured, dt = pooled(summaries)
    pieces = Pieces.read(folder, names)
    claims = np.concatenate([fetch(folder, "match", name, "claims") for name in names])
    # A claim on a sample that its own cell has put behind another one is void.
    i, j, length, _ = settled(claims[np.isin(claims["target"], pieces.first)])
    follows, crossing = _follows(pieces, i, j, length)
    # Cutting inside a piece would take another round; the link between two pieces is as good a place.
    _, opened = _loops(replace(pieces, longest=np.zeros(len(pieces.first))), follows, crossing)
    follows[opened] = -1
    summary = {"samples": sum(s["samples"] for s in summaries), "scales": measured, "dt": dt}
    return _linked(pieces, string(pieces, follows), measured, summary, None)


def _linked(
    pieces: Pieces, strung: Strung, measured: Sequence[float], summary: dict[str, Any], dt: float | None
) -> Products:
    linked_chain, linked_start, lengths = link(pieces, strung, measured, dt)
    chain, start = linked_chain[strung.chain], linked_start[strung.chain] + strung.start
    return Products(
        arrays={
            "chain": chain,
            "start": start,
            "length": pieces.length,
            "bounds": pieces.bounds,
            "lengths": lengths,
            "tail_cell": _tail_cell(pieces, chain, start, len(lengths)),
        },
        summary=summary | {"short_chains": bool(short_chains(lengths).any())},
    )


def settled(claims: Records) -> tuple[IntArray, IntArray, FloatArray, int]:
    """Links i -> j from the claims of all cells, with their lengths; and how many open samples met theirs exactly.

    A sample that asked in several cells has its two nearest among what they answered.
    """
    is_open = np.isfinite(claims["step"])
    sure_ones, open_ones = claims[~is_open], claims[is_open]
    order = np.lexsort((open_ones["target"], open_ones["miss"], open_ones["source"]))
    open_ones = open_ones[order]
    fresh = np.concatenate([[True], np.diff(open_ones["source"]) != 0]) if len(open_ones) else np.empty(0, bool)
    group = np.cumsum(fresh) - 1
    nearest = open_ones[fresh]
    second = np.full(len(nearest), np.inf)
    np.minimum.at(second, group[~fresh], open_ones["miss"][~fresh])
    np.minimum.at(second, group, open_ones["second"])
    sure, exact = meeting(np.column_stack([nearest["miss"], second]), nearest["step"])
    every = np.concatenate([sure_ones, nearest[sure]])
    places, j = np.unique(every["target"], return_inverse=True)
    claimed = strongest_claims(every["source"], j.reshape(-1), every["miss"], len(places))
    won = claimed[j.reshape(-1)] == every["source"]
    links = every[won]
    return column(links, "source"), column(links, "target"), column(links, "length"), int(exact.sum())


def _follows(pieces: Pieces, i: IntArray, j: IntArray, length: FloatArray) -> tuple[IntArray, FloatArray]:
    """The piece that follows each one, -1 for none, and the length of the link to it."""
    by_last, by_first = np.argsort(pieces.last), np.argsort(pieces.first)
    a = by_last[np.searchsorted(pieces.last[by_last], i)]
    b = by_first[np.searchsorted(pieces.first[by_first], j)]
    # A link that was cut inside a piece leaves a head that nothing claims, and the other way round.
    assert (pieces.last[a] == i).all() and (pieces.first[b] == j).all()
    follows, crossing = np.full(len(pieces.first), -1, dtype=np.intp), np.zeros(len(pieces.first))
    follows[a], crossing[a] = b, length
    return follows, crossing


def _loops(pieces: Pieces, follows: IntArray, crossing: FloatArray) -> tuple[IntArray, IntArray]:
    """Closed loops are opened at their longest link: pieces to cut inside, and pieces whose follower is let go."""
    count = len(follows)
    linked = np.flatnonzero(follows >= 0)
    graph = sp.csr_array((np.ones(len(linked)), (linked, follows[linked])), shape=(count, count))
    number, component = connected_components(graph, directed=False)
    closed = np.bincount(component, minlength=number) == np.bincount(component[linked], minlength=number)
    inside = np.flatnonzero(closed[component])
    if len(inside) == 0:
        return inside, inside
    of_piece = np.concatenate([inside, inside])
    size = np.concatenate([pieces.longest[inside], crossing[inside]])
    source = np.concatenate([pieces.longest_from[inside], pieces.last[inside]])
    order = np.lexsort((source, -size, component[of_piece]))
    first = order[np.concatenate([[True], np.diff(component[of_piece[order]]) != 0])]
    within = first < len(inside)
    return of_piece[first[within]], of_piece[first[~within]]


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


def _measured(
    folder: Path, names: Sequence[str], pieces: Pieces, strung: Strung, dt: float, n: int, moments: Moments
) -> list[float]:
    """`paths.kinematics.steady` from what the cells measured, and the links between pieces, which no cell saw."""
    part = DEFAULT.measured / n

    def gathered(name: str) -> Records:
        rows = np.concatenate([fetch(folder, "match", cell, name) for cell in names])
        return rows[share(rows["hash"], part)]

    piece, position = pieces.ends["piece"], pieces.ends["position"]
    x, v = column(pieces.ends, "x"), column(pieces.ends, "v")
    place = strung.start[piece] + position
    chain = strung.chain[piece]
    order = np.lexsort((place, chain))
    key = chain[order] * (strung.length.max() + DEFAULT.lag + 1) + place[order]
    chosen = share(sample_hash(x, v), part)
    across = []
    for lag in (1, DEFAULT.lag):
        wanted = chain * (strung.length.max() + DEFAULT.lag + 1) + place + lag
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        a = np.flatnonzero((key[at] == wanted) & chosen)
        b = order[at[a]]
        other = piece[a] != piece[b]
        across.append((a[other], b[other]))
    (a, b), (far_a, far_b) = across
    links, u = gathered("links"), dt * v
    between = measures(x[b] - x[a], u[a], u[b])
    names_of = ("length", "residual", "change")
    lengths, residual, change = (np.concatenate([links[n], b]) for n, b in zip(names_of, between, strict=True))
    far = np.concatenate([gathered("far")["change"], ((u[far_b] - u[far_a]) ** 2).sum(1)])
    typical = float(np.median(gathered("paces")["pace"]))
    return [*scales((lengths, residual, change), far, x.shape[1]), typical, float(moments.variance.mean())]


def link(
    pieces: Pieces, strung: Strung, measured: Sequence[float], dt: float | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Chains linked to longer ones by what a single machine does, on their first and last samples alone.

    Without a common time step, every sample has its own. Gives the new chain of every
    chain, the position in it at which it begins, and the lengths of the new ones.
    """
    piece, position = pieces.ends["piece"], pieces.ends["position"]
    x, v = column(pieces.ends, "x"), column(pieces.ends, "v")
    chain, place = strung.chain[piece], strung.start[piece] + position
    at_end = np.flatnonzero((place < DEFAULT.fit) | (place >= strung.length[chain] - DEFAULT.fit))
    # In order of ids, so that chains are numbered as on a single machine.
    rows = at_end[np.argsort(pieces.ends["id"][at_end])]
    order = np.lexsort((place[rows], chain[rows]))
    skeleton = Chains(order, np.concatenate([[0], np.cumsum(np.bincount(chain[rows]))]).astype(np.intp))
    steps = np.full(len(rows), dt) if dt is not None else pieces.ends["dt"][rows]
    kin = Kinematics(steps, steps[:, None] * v[rows], *measured)
    joined, _ = link_fragments(x[rows], v[rows], skeleton, kin)
    new = joined.chain_of[skeleton.heads]
    laid = np.argsort(joined.position_of[skeleton.heads])
    before = np.cumsum(strung.length[laid]) - strung.length[laid]
    fresh = np.concatenate([[True], np.diff(new[laid]) != 0])
    start = np.empty(len(new), dtype=np.intp)
    start[laid] = before - before[fresh][np.cumsum(fresh) - 1]
    return new, start, np.bincount(new, weights=strung.length).astype(np.intp)


def _tail_cell(pieces: Pieces, chain: IntArray, start: IntArray, count: int) -> IntArray:
    """The cell in which every chain ends."""
    cell = np.repeat(np.arange(len(pieces.bounds) - 1), np.diff(pieces.bounds))
    order = np.lexsort((start, chain))
    out = np.zeros(count, dtype=np.intp)
    out[chain[order]] = cell[order]  # the last write is the last piece
    return out
