"""From chains to whole paths: linking across gaps and corners, zipping overlaps, absorbing crumbs.

The same steps as in multi-object tracking. *Link*: the tail of one chain continues in the head of another, judged by
states fitted to several samples. *Zip*: two chains that took alternate samples of one stretch become one. *Absorb*:
what is left over within the noise of a path (a pen at rest scatters samples that have no order) joins that path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .chains import Chains, best_links, open_loops, unique_pairs
from .kinematics import FIT, HALF_FIT, TRIM, Kinematics, estimate, fit_states
from .links import IN_MOTION, link_score

# Gaps, in steps, that are tried; between them the likelihood is smooth.
GAPS = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0])
# Short gaps are closed first, with every chain down to single samples; long ones only between real chains.
FIRST_GAPS, LATER_GAPS, LAST_GAP = (1.0, 2.0, 4.0, 8.0), (4.0, 8.0, 16.0), 32.0
REAL_CHAIN = 4
# Heads examined for each tail, and samples examined around an end or a crumb.
HEADS, AROUND = 10, 30
# An overlap or a crumb counts when this share of its samples lies on the other chain.
ON_PATH = 0.8
# Two chains move alike when their tracks turn by less than this (30 degrees), whatever their velocities say.
SAME_WAY = 0.87
# A link is doubtful when it misses by more than three times what is usual.
DOUBT = 9.0


@dataclass(frozen=True)
class Fragments:
    """Paths after all linking: path p is `nodes[offsets[p]:offsets[p + 1]]`, in order of time; every sample is in one."""

    nodes: IntArray
    offsets: IntArray


def join_fragments(x: FloatArray, v: FloatArray, chains: Chains, kin: Kinematics, *, beyond_doubt: bool) -> Fragments:
    """All samples in paths: whole ones, and the remainders nothing could be done with."""
    if not beyond_doubt:
        chains = cut_doubtful(x, chains, kin)
    return _absorb(x, *link_fragments(x, v, chains, kin, beyond_doubt=beyond_doubt))


def link_fragments(
    x: FloatArray, v: FloatArray, chains: Chains, kin: Kinematics, *, beyond_doubt: bool
) -> tuple[Chains, Kinematics]:
    """Chains linked, and zipped where they skip samples; links beyond doubt skip none and teach the kinematics nothing.

    Beyond doubt, only the first and last FIT samples of every chain are looked at.
    """

    def learned(chains: Chains) -> Kinematics:
        return kin if beyond_doubt else estimate(x, v, chains)

    for gap in FIRST_GAPS:
        for _ in range(2):
            linked = _link(x, chains, kin, gap, shortest=1)
            if linked is None:
                break
            chains, kin = linked, learned(linked)
    for _ in range(4):  # each round resolves what the last one uncovered; more than two are rare
        before = chains.n_chains
        zipped = None if beyond_doubt else _zip(x, chains, kin)
        if zipped is not None:
            chains, kin = zipped, learned(zipped)
        for gap in LATER_GAPS:
            linked = _link(x, chains, kin, gap, shortest=REAL_CHAIN)
            if linked is not None:
                chains, kin = linked, learned(linked)
        if chains.n_chains == before:
            break
    linked = _link(x, chains, kin, LAST_GAP, shortest=REAL_CHAIN)
    if linked is not None:
        chains, kin = linked, learned(linked)
    return chains, kin


def end_states(x: FloatArray, chains: Chains, kin: Kinematics, tails: bool) -> tuple[FloatArray, FloatArray]:
    """Fitted states at all tails, or at all heads."""
    k = np.arange(1 - FIT, 1) if tails else np.arange(FIT)
    where = (chains.offsets[1:] - 1 if tails else chains.offsets[:-1])[:, None] + k
    used = (where >= chains.offsets[:-1, None]) & (where < chains.offsets[1:, None])
    clipped = np.clip(where, chains.offsets[:-1, None], chains.offsets[1:, None] - 1)
    return fit_states(x, kin, chains.order[clipped], used, FIT - 1 if tails else 0)


def _link(x: FloatArray, chains: Chains, kin: Kinematics, longest: float, shortest: int) -> Chains | None:
    """Most likely continuations over at most `longest` steps among chains of at least `shortest` samples."""
    d = x.shape[1]
    real = np.flatnonzero(chains.lengths >= shortest)
    n = len(real)
    if n < 2:
        return None
    tail, tail_cov = (a[real] for a in end_states(x, chains, kin, tails=True))
    head, head_cov = (a[real] for a in end_states(x, chains, kin, tails=False))
    tails, heads = chains.tails[real], chains.heads[real]
    tree = cKDTree(x[heads])
    k = min(HEADS, n)
    near = tree.query(x[tails], k=k)[1].reshape(n, k)
    ahead = tree.query(x[tails] + tail[:, 1] * (1 + longest) / 2, k=k)[1].reshape(n, k)
    f, g = unique_pairs(np.repeat(np.arange(n), 2 * k), np.concatenate([near, ahead], axis=1).ravel(), n)
    share = np.sqrt(kin.dt[heads[g]] / kin.dt[tails[f]])[:, None]
    p_a, u_a, w_a = tail[f, 0], tail[f, 1] * share, tail[f, 2] * share**2
    p_b, u_b, w_b = head[g, 0], head[g, 1] / share, head[g, 2] / share**2
    m = GAPS[longest >= GAPS]
    gap, variance = _mismatch((p_a, u_a, w_a), (p_b, u_b, w_b), tail_cov[f] + head_cov[g], m, kin.bend)
    # Both sides must be in motion: a path at rest may end, and one that sets off at once may begin.
    # Velocities of a pen's last events may be wild; what the samples moved by has a say as well.
    tail_moved, head_moved = (moved[real] for moved in _end_steps(x, chains))
    slower = np.minimum(np.linalg.norm(u_a, axis=1), np.linalg.norm(u_b, axis=1))
    slower = np.minimum(slower, np.minimum(tail_moved[f], head_moved[g]))
    motion = 2 * np.minimum(1, slower / kin.typical)
    score = link_score(gap, variance, kin.spread2, d, m - 1)
    follows = best_links(f, g, score.min(axis=1) - IN_MOTION * motion, n)
    # What was linked before stays: a loop is opened at one of the new links.
    follows = open_loops(follows, x[tails], x[heads])
    linked = np.flatnonzero(follows >= 0)
    if len(linked) == 0:
        return None
    successor = chains.successor.copy()
    successor[tails[linked]] = heads[follows[linked]]
    return Chains.of(successor, x)


def _end_steps(x: FloatArray, chains: Chains) -> tuple[FloatArray, FloatArray]:
    """Mean step over the last and the first samples of every chain, by their positions; infinite for a single sample."""
    back = np.minimum(chains.lengths, FIT) - 1
    last, first = chains.offsets[1:] - 1, chains.offsets[:-1]
    many = np.maximum(back, 1)
    tail = np.linalg.norm(x[chains.tails] - x[chains.order[last - back]], axis=1) / many
    head = np.linalg.norm(x[chains.heads] - x[chains.order[first + back]], axis=1) / many
    return np.where(back > 0, tail, np.inf), np.where(back > 0, head, np.inf)


State = tuple[FloatArray, FloatArray, FloatArray]


def _mismatch(
    a: State, b: State, covariance: FloatArray, m: FloatArray, bend: float
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Squared misses in position and displacement over gaps m, and the variance of one coordinate of each.

    The cubic that has both states (p, u, w) at its ends satisfies
    p_b - p_a = m (u_a + u_b)/2 + m^2 (w_a - w_b)/12 and u_b - u_a = m (w_a + w_b)/2.
    """
    (p_a, u_a, w_a), (p_b, u_b, w_b) = a, b
    miss2, change2 = np.empty((len(p_a), len(m))), np.empty((len(p_a), len(m)))
    for c, gap in enumerate(m):
        miss2[:, c] = ((p_b - p_a - gap * (u_a + u_b) / 2 - gap**2 * (w_a - w_b) / 12) ** 2).sum(1)
        change2[:, c] = ((u_b - u_a - gap * (w_a + w_b) / 2) ** 2).sum(1)
    cov_p, cov_u = covariance[:, 0, 0][:, None], covariance[:, 1, 1][:, None]
    variance_p = cov_p + m**2 / 4 * cov_u + (m**2 * bend) ** 2 / 12
    return (miss2, change2), (variance_p, cov_u + (m * bend) ** 2)


def cut_doubtful(x: FloatArray, chains: Chains, kin: Kinematics) -> Chains:
    """Chains without the links that the samples before and after them contradict.

    Where two paths cross at a small angle, single samples are easily swapped; fits to eight samples on either side
    see it. Whatever is cut is offered to `_link` again, so a good link cut in a sharp corner comes back.
    """
    position = np.arange(len(x) - 1)[chains.chain_at[1:] == chains.chain_at[:-1]]
    start, stop = chains.offsets[chains.chain_at[position]], chains.offsets[chains.chain_at[position] + 1]
    sides = []
    for k, at, first in ((np.arange(1 - FIT, 1), FIT - 1, position), (np.arange(FIT), 0, position + 1)):
        where = first[:, None] + k
        used = (where >= start[:, None]) & (where < stop[:, None])
        sides.append(fit_states(x, kin, chains.order[np.clip(where, start[:, None], stop[:, None] - 1)], used, at))
    (a, cov_a), (b, cov_b) = sides
    spans = np.array([1.0, 2.0, 3.0])
    states = ((a[:, 0], a[:, 1], a[:, 2]), (b[:, 0], b[:, 1], b[:, 2]))
    gap, variance = _mismatch(*states, cov_a + cov_b, spans, kin.bend)
    chi2 = (gap[0] / variance[0] + gap[1] / variance[1]).min(axis=1)
    if len(chi2) == 0:
        return chains
    # Noise and bending differ along real paths; nine links in ten are good, so their own spread sets the measure.
    usual = max(float(np.quantile(chi2, TRIM)), 2.0 * x.shape[1])
    successor = chains.successor.copy()
    successor[chains.order[position[chi2 > DOUBT * usual]]] = -1
    return Chains.of(successor, x)


def tolerance(kin: Kinematics) -> FloatArray:
    """How far from a path a sample of it may lie: four standard deviations of noise and two local steps.

    Where velocities are noisy, a slow sample may belong to a fast stretch: then no step is taken to be shorter than usual.
    """
    shortest = max(2 * kin.noise_u, kin.step) if kin.noisy else 2 * kin.noise_u
    step = np.maximum(np.linalg.norm(kin.u, axis=1), shortest)
    return np.asarray(4 * np.sqrt(2) * kin.noise_x + 2 * step, dtype=np.float64)


def _beside(
    x: FloatArray, chains: Chains, kin: Kinematics, samples: IntArray, tree: cKDTree
) -> tuple[IntArray, IntArray, FloatArray]:
    """(row of `samples`, neighbour in another chain that moves alike, distance over tolerance) for all neighbours."""
    k = min(AROUND, len(x))
    distance, near = tree.query(x[samples], k=k)
    distance, near = distance.reshape(-1, k), near.reshape(-1, k)
    reach = tolerance(kin)[samples][:, None]
    change = np.linalg.norm(kin.u[near] - kin.u[samples][:, None], axis=2)
    alike = change <= 4 * np.sqrt(2) * kin.noise_u + 0.5 * np.linalg.norm(kin.u[samples], axis=1)[:, None]
    way = _headings(x, chains)
    alike |= (way[near] * way[samples][:, None]).sum(axis=2) > SAME_WAY
    ok = (distance <= reach) & alike & (chains.chain_of[near] != chains.chain_of[samples][:, None])
    row, column = np.nonzero(ok)
    return row, near[row, column], (distance / reach)[row, column]


def _headings(x: FloatArray, chains: Chains) -> FloatArray:
    """Direction of the track at every sample, from four samples before it to four behind."""
    position, chain = chains.position_of, chains.chain_of
    before = np.maximum(position - HALF_FIT, chains.offsets[chain])
    behind = np.minimum(position + HALF_FIT, chains.offsets[chain + 1] - 1)
    way = x[chains.order[behind]] - x[chains.order[before]]
    return np.asarray(way / (np.linalg.norm(way, axis=1, keepdims=True) + np.finfo(np.float64).tiny))


def _zip(x: FloatArray, chains: Chains, kin: Kinematics) -> Chains | None:
    """Merge pairs of chains where the tail of A lies on B and the head of B on A, in time order."""
    real = np.flatnonzero(chains.lengths >= REAL_CHAIN)
    tree = cKDTree(x)
    row, on_b, miss = _beside(x, chains, kin, chains.tails[real], tree)
    leave = _closest(real[row], chains.chain_of[on_b], on_b, miss)
    row, on_a, miss = _beside(x, chains, kin, chains.heads[real], tree)
    enter = _closest(chains.chain_of[on_a], real[row], on_a, miss)
    overlaps = []
    for a, b in leave.keys() & enter.keys():
        first, last = chains.position_of[enter[a, b][0]], chains.position_of[leave[a, b][0]]
        shared = int(chains.offsets[a + 1] - first + last - chains.offsets[b])
        overlaps.append((-shared, leave[a, b][1] + enter[a, b][1], (a, b), (int(first), int(last))))
    successor, used = chains.successor.copy(), set[int]()
    # The longest overlap first: a crumb beside a path must not take the place of the path's other half.
    for _, _, (a, b), (first, last) in sorted(overlaps):
        if a in used or b in used:
            continue
        in_a = chains.order[first : chains.offsets[a + 1]]
        in_b = chains.order[chains.offsets[b] : last + 1]
        # The end of one and the beginning of the other; trajectories that run together all the way stay two.
        if 2 * len(in_a) > chains.lengths[a] or 2 * len(in_b) > chains.lengths[b]:
            continue
        a_on_b, b_on_a = _lies_on(x, kin, in_a, in_b), _lies_on(x, kin, in_b, in_a)
        if max(a_on_b[1], b_on_a[1]) < ON_PATH:
            continue
        used |= {a, b}
        # The one with fewer holes is the ruler along which the other is laid.
        keys = (a_on_b[0], np.arange(len(in_b))) if a_on_b[1] >= b_on_a[1] else (np.arange(len(in_a)), b_on_a[0])
        merged = np.concatenate([in_a, in_b])[np.argsort(np.concatenate(keys), kind="stable")]
        before, after = chains.order[chains.offsets[a] : first], chains.order[last + 1 : chains.offsets[b + 1]]
        whole = np.concatenate([before, merged, after])
        successor[whole[:-1]], successor[whole[-1]] = whole[1:], -1
    return Chains.of(successor, x) if used else None


def _lies_on(x: FloatArray, kin: Kinematics, samples: IntArray, path: IntArray) -> tuple[FloatArray, float]:
    """Places of `samples` along a path, and the share of them that lie on it."""
    key, distance = along(x, kin.u[path], samples, path)
    return key, float((distance <= tolerance(kin)[samples]).mean())


def _closest(a: IntArray, b: IntArray, sample: IntArray, miss: FloatArray) -> dict[tuple[int, int], tuple[int, float]]:
    best: dict[tuple[int, int], tuple[int, float]] = {}
    for k in np.argsort(-miss, kind="stable"):
        best[int(a[k]), int(b[k])] = (int(sample[k]), float(miss[k]))
    return best


def along(x: FloatArray, u: FloatArray, samples: IntArray, path: IntArray) -> tuple[FloatArray, FloatArray]:
    """Place of `samples` along the ordered samples of a path, as a real-valued position, and their distance to its line.

    `u` are the steps of the path's samples.
    """
    tiny = np.finfo(np.float64).tiny
    distance, nearest = cKDTree(x[path]).query(x[samples])
    step, away = u[nearest], x[samples] - x[path[nearest]]
    ahead = np.clip((away * step).sum(1) / ((step**2).sum(1) + tiny), -0.49, 0.49)
    for beside in (np.maximum(nearest - 1, 0), np.minimum(nearest + 1, len(path) - 1)):
        edge = x[path[beside]] - x[path[nearest]]
        part = np.clip((away * edge).sum(1) / ((edge**2).sum(1) + tiny), 0, 1)
        distance = np.minimum(distance, np.linalg.norm(away - part[:, None] * edge, axis=1))
    return nearest + ahead, np.asarray(distance, dtype=np.float64)


def typical_length(lengths: IntArray) -> int:
    """Length of the chain that the median sample lies in; remainders, however many, hardly move it."""
    by_length = np.sort(lengths)[::-1]
    return int(by_length[np.searchsorted(np.cumsum(by_length), lengths.sum() / 2)])


def _absorb(x: FloatArray, chains: Chains, kin: Kinematics) -> Fragments:
    """Give every crumb that lies on a path at least twice as long to that path, at its place in it."""
    lengths = chains.lengths
    small = crumbs(lengths)
    samples = np.flatnonzero(small[chains.chain_of])
    row, near, _ = within_reach(x, x[samples], tolerance(kin)[samples])
    crumb = samples[row]
    host = hosts(lengths, chains.chain_of[crumb], crumb, chains.chain_of[near])
    key = np.empty(len(x))
    key[chains.order] = np.arange(len(x)) - chains.offsets[chains.chain_at]
    for c in np.unique(host[host != np.arange(chains.n_chains)]):
        guests = np.concatenate(
            [chains.members(int(g)) for g in np.flatnonzero((host == c) & (np.arange(len(host)) != c))]
        )
        members = chains.members(int(c))
        key[guests] = along(x, kin.u[members], guests, members)[0]
    owner = host[chains.chain_of]
    nodes = np.lexsort((key, owner)).astype(np.intp)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(owner[nodes]) != 0]))
    return Fragments(nodes, np.append(starts, len(x)).astype(np.intp))


def crumbs(lengths: IntArray) -> BoolArray:
    """Chains short enough to be a crumb of another one."""
    return np.asarray(2 * lengths <= typical_length(lengths))


def within_reach(x: FloatArray, places: FloatArray, reach: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """(row of `places`, sample of x, distance) for the nearest samples, AROUND at most, within reach."""
    if len(places) == 0:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    k = min(AROUND, len(x))
    distance, near = (a.reshape(-1, k) for a in cKDTree(x).query(places, k=k))
    row, column = np.nonzero(distance <= reach[:, None])
    return row, near[row, column], distance[row, column]


def hosts(lengths: IntArray, crumb: IntArray, sample: IntArray, other: IntArray) -> IntArray:
    """For every chain the one that takes it up, itself where none does.

    The arrays say that `sample` of the chain `crumb` has the chain `other` within its tolerance. Shortest crumbs first,
    each to the chain that most of its samples lie on.
    """
    host = np.arange(len(lengths))
    order = np.argsort(crumb, kind="stable")
    found, start = np.unique(crumb[order], return_index=True)
    parts = dict(zip(found.tolist(), np.split(order, start[1:]), strict=True)) if len(found) else {}
    for c in found[np.argsort(lengths[found], kind="stable")].tolist():
        samples, others = sample[parts[c]], host[other[parts[c]]]
        fit = (others != c) & (lengths[others] >= 2 * lengths[c])
        pairs = np.unique(np.stack([others[fit], samples[fit]]), axis=1)
        chain, hits = np.unique(pairs[0], return_counts=True)
        if len(chain) and hits.max() >= ON_PATH * lengths[c]:
            host[host == c] = chain[hits.argmax()]
    return host
