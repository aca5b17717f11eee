"""One cell: who comes next for all samples that ask here, and the pieces of chains that are at home here.

Links between samples at home and beyond doubt are settled here. What other cells have a say in becomes a claim for
the reducer (`stitching`): a link that comes in from another cell, a sample that asks in several cells, and every other
claim on a successor such a sample may win.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..paths.chains import Chains
from ..paths.hashing import Hash, sample_hash, share
from ..paths.kinematics import measures
from ..paths.meeting import meeting, strongest_claims
from ..paths.settings import DEFAULT
from .moments import Moments
from .records import CLAIMS, FAR, LINKS, PACES, PIECES, REPEATS, Records, end_samples, packed, samples
from .splitting import ASKS, AT_HOME, MEETING_REACH, NOWHERE_ELSE, read_cell
from .store import Products


def match(
    folder: Path, *, cell: int, names: Sequence[str], dt: float, measured: float, cuts: Sequence[int]
) -> Products:
    """Pieces and claims of a cell. `cuts` are samples whose link to the next one is to be left out (`stitching`)."""
    ids, role, x, v = read_cell(folder, names, cell)
    hashes = sample_hash(x, v)
    original, repeat_of = distinct(hashes)
    repeats = np.flatnonzero(~original)
    ids_of_repeats, first_of_repeats = ids[repeats], ids[repeat_of[repeats]]
    if len(repeats):
        ids, role, x, v, hashes = ids[original], role[original], x[original], v[original], hashes[original]
    home = np.flatnonzero(role & AT_HOME)
    own_ids, own_x, own_v = ids[home], x[home], v[home]
    n = len(home)
    at_home = np.full(len(ids), -1, dtype=np.intp)
    at_home[home] = np.arange(n)
    asking = np.flatnonzero(role & ASKS)
    step = dt * np.linalg.norm(v[asking], axis=1)
    distance, partner = _nearest_two(own_x - dt / 2 * own_v, x[asking] + dt / 2 * v[asking], at_home[asking])
    alone = (role[asking] & NOWHERE_ELSE) > 0
    sure, exact = meeting(distance, step)
    # Samples that ask here alone have their answer.
    mine = np.flatnonzero(alone & sure)
    i, j, miss = asking[mine], partner[mine, 0], distance[mine, 0]
    unsettled = np.flatnonzero(~alone & (distance[:, 0] < MEETING_REACH * step))
    contested = np.zeros(n, dtype=bool)
    contested[partner[unsettled, 0]] = True
    plain = ~contested[j]
    claimed = strongest_claims(i[plain], j[plain], miss[plain], n)
    own = (claimed >= 0) & (at_home[np.maximum(claimed, 0)] >= 0)
    came_in = np.flatnonzero((claimed >= 0) & ~own)
    successor = np.full(n, -1, dtype=np.intp)
    successor[at_home[claimed[own]]] = np.flatnonzero(own)
    if len(cuts):
        successor[np.isin(own_ids, cuts)] = -1
    chains = Chains.of(successor, own_x)
    nothing = np.zeros(len(came_in))
    claims = np.concatenate(
        [
            _claims(ids, x, home, claimed[came_in], came_in, nothing),
            _claims(ids, x, home, i[~plain], j[~plain], miss[~plain]),
            _claims(
                ids, x, home, asking[unsettled], partner[unsettled, 0], distance[unsettled, 0],
                distance[unsettled, 1], step[unsettled],
            ),
        ]
    )  # fmt: skip
    return Products(
        arrays={
            "rows": packed(samples(own_x.shape[1]), id=own_ids, x=own_x, v=own_v)[chains.order],
            "claims": claims,
            "repeats": placed_repeats(ids_of_repeats, first_of_repeats, own_ids[chains.order]),
        }
        | pieces(own_ids, own_x, own_v, chains, np.full(n, dt))
        | measured_links(own_x, own_v, hashes[home], chains, dt, measured),
        summary={
            "samples": n,
            "linked": int((claimed >= 0).sum()) - len(came_in),
            "exact": int((exact & alone).sum()),
            "moments": Moments.of(own_x).plain(),
            "fastest": float(np.linalg.norm(own_v, axis=1).max()) if n else 0.0,
        },
    )


def distinct(hashes: Hash) -> tuple[BoolArray, IntArray]:
    """True for the first of equal rows; and for every row the first one that equals it."""
    order = np.argsort(hashes, kind="stable")
    fresh = np.concatenate([[True], np.diff(hashes[order].view(np.int64)) != 0]) if len(order) else np.empty(0, bool)
    first = np.empty(len(hashes), dtype=np.intp)
    first[order] = order[fresh][np.cumsum(fresh) - 1]
    return first == np.arange(len(hashes)), first


def _nearest_two(points: FloatArray, places: FloatArray, near: IntArray) -> tuple[FloatArray, IntArray]:
    """Distances to and indices of the two nearest points, infinite where there are fewer.

    `near` is a point not far from each place, -1 where none is known: places are asked in the order of the tree, so that
    its nodes are found in the cache.
    """
    if len(points) == 0 or len(places) == 0:
        return np.full((len(places), 2), np.inf), np.zeros((len(places), 2), dtype=np.intp)
    tree = cKDTree(points)
    place_at = np.full(len(points), -1, dtype=np.intp)
    known = np.flatnonzero(near >= 0)
    place_at[near[known]] = known
    order = place_at[tree.indices]
    order = np.concatenate([order[order >= 0], np.flatnonzero(near < 0)])
    distance, index = np.empty((len(places), 2)), np.zeros((len(places), 2), dtype=np.intp)
    distance[order], index[order] = tree.query(places[order], k=2)
    return distance, np.minimum(index, len(points) - 1)


def _claims(
    ids: IntArray, x: FloatArray, home: IntArray, i: IntArray, j: IntArray, miss: FloatArray,
    second: FloatArray | float = np.inf, step: FloatArray | float = np.inf,
) -> Records:  # fmt: skip
    """Claims of some samples i on samples j at home."""
    length = np.linalg.norm(x[home[j]] - x[i], axis=1)
    return packed(CLAIMS, source=ids[i], target=ids[home[j]], miss=miss, second=second, length=length, step=step)


def placed_repeats(repeats: IntArray, first: IntArray, chained: IntArray) -> Records:
    """The repeats whose first one is at home, with its row in chain order."""
    order = np.argsort(chained)
    at = np.minimum(np.searchsorted(chained[order], first), max(len(chained) - 1, 0))
    here = chained[order[at]] == first if len(chained) else np.zeros(len(first), dtype=bool)
    return packed(REPEATS, id=repeats[here], row=order[at[here]]) if len(chained) else np.empty(0, REPEATS)


def pieces(ids: IntArray, x: FloatArray, v: FloatArray, chains: Chains, dt: FloatArray) -> dict[str, Records]:
    """Every piece, and the samples at its ends, the first and the last few, with the time step of each."""
    order, at = chains.order, chains.chain_at
    link = np.zeros(len(order))
    if len(order) > 1:
        inside = at[1:] == at[:-1]
        link[:-1][inside] = np.linalg.norm(np.diff(x[order], axis=0)[inside], axis=1)
    longest = source = np.empty(0)
    if len(order):
        longest = np.maximum.reduceat(link, chains.offsets[:-1])
        # Of equally long links the one of the smallest id.
        candidate = np.where(link == longest[at], ids[order], np.iinfo(np.intp).max)
        source = np.minimum.reduceat(candidate, chains.offsets[:-1])
    table = packed(
        PIECES,
        first=ids[chains.heads],
        last=ids[chains.tails],
        length=chains.lengths,
        longest=longest,
        longest_from=source,
    )
    position = np.arange(len(order)) - chains.offsets[at]
    shown = np.flatnonzero((position < DEFAULT.fit) | (position >= chains.lengths[at] - DEFAULT.fit))
    at_end = order[shown]
    ends = packed(
        end_samples(x.shape[1]),
        piece=at[shown],
        position=position[shown],
        id=ids[at_end],
        x=x[at_end],
        v=v[at_end],
        dt=dt[at_end],
    )
    return {"pieces": table, "ends": ends}


def measured_links(
    x: FloatArray, v: FloatArray, hashes: Hash, chains: Chains, dt: float, measured: float
) -> dict[str, Records]:
    """What `paths.kinematics.steady` measures, for a share of the samples of this cell, each with its hash."""
    chosen = share(hashes, measured)
    (a, b), (far_a, far_b) = ((a[chosen[a]], b[chosen[a]]) for a, b in (chains.lagged(1), chains.lagged(DEFAULT.lag)))
    length, residual, change = measures(x[b] - x[a], dt * v[a], dt * v[b])
    return {
        "links": packed(LINKS, hash=hashes[a], length=length, residual=residual, change=change),
        "far": packed(FAR, hash=hashes[far_a], change=((dt * v[far_b] - dt * v[far_a]) ** 2).sum(1)),
        "paces": packed(PACES, hash=hashes[chosen], pace=np.linalg.norm(dt * v[chosen], axis=1)),
    }
