"""Fitted states: position, displacement per step and bending, from several consecutive samples at once.

One score (`links`) says how likely one state continues another: the tail of a chain in the head of the next, what lies before
a crossing in what lies behind it, a chain in a single sample. In noise the samples of a crossing are easily mixed up, one by
one, and both chains leave it on the wrong track, with a bend that neither has. Fits to the samples before and after, leaving
out those in the middle, see it: the ends are exchanged where

    s(B_i, A_i) + s(B_j, A_j) - s(B_i, A_j) - s(B_j, A_i) > margin,

s the score of the state A after continuing the state B before.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .assignment import best_links
from .blocks import in_blocks, neighbours
from .chains import Chains, open_loops, unique_pairs
from .kinematics import Kinematics
from .links import link_score, unlikeliness, variances
from .settings import DEFAULT, PathSettings

States = tuple[FloatArray, FloatArray]
"""(m, 3, d): position, displacement per step and bending; (m, 3, 3): their covariance, the same for every coordinate."""


def fit_states(
    x: FloatArray, kin: Kinematics, samples: IntArray, used: BoolArray, at: int, s: PathSettings = DEFAULT
) -> States:
    """States at column `at` of rows of consecutive samples, of which only the `used` ones count.

    x(k) = p + k u + k^2 w/2 and u(k) = u + k w, weighted by their noise, with the prior w ~ N(0, bend^2).
    """
    weight_x, weight_u = 1 / kin.noise_x**2, 1 / kin.noise_u**2
    prior = np.diag([0, 0, 1 / kin.bend**2])

    def block(rows: slice) -> States:
        which, ok = samples[rows], used[rows]
        places, steps = x[which], kin.u[which]
        k = _time(places, steps, ok, at, kin.noise_u, s.most_missing)
        one, none = np.ones_like(k), np.zeros_like(k)
        of_x = np.stack([one, k, k**2 / 2], axis=1) * ok[:, None]
        of_u = np.stack([none, one, k], axis=1) * ok[:, None]
        normal = weight_x * of_x @ _turned(of_x) + weight_u * of_u @ _turned(of_u) + prior
        covariance = np.asarray(np.linalg.inv(normal), dtype=np.float64)
        here = places[:, at : at + 1]  # differences keep their digits wherever the origin is
        state = covariance @ (weight_x * of_x @ (places - here) + weight_u * of_u @ steps)
        state[:, :1] += here
        return state, covariance

    parts = in_blocks(block, len(samples))
    if not parts:
        return np.empty((0, 3, x.shape[1])), np.empty((0, 3, 3))
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def alone(x: FloatArray, kin: Kinematics, samples: IntArray) -> States:
    """The states of single samples, which know nothing of their bending."""
    state = np.stack([x[samples], kin.u[samples], np.zeros_like(x[samples])], axis=1)
    return state, np.broadcast_to(np.diag(np.square([kin.noise_x, kin.noise_u, kin.bend])), (len(samples), 3, 3))


def _turned(matrices: FloatArray) -> FloatArray:
    return np.swapaxes(matrices, 1, 2)


def _time(
    places: FloatArray, steps: FloatArray, used: BoolArray, at: int, noise_u: float, most_missing: int
) -> FloatArray:
    """Time of every sample in steps, 0 at column `at`: a link spans 1, 2 or 3 steps."""
    mean = (steps[:, 1:] + steps[:, :-1]) / 2
    speed2, along = (mean**2).sum(axis=2), (np.diff(places, axis=1) * mean).sum(axis=2)
    # At rest the displacement says nothing about how many steps a link spans; one is the honest guess.
    moving = speed2 > (4 * noise_u) ** 2
    ratio = np.divide(along, speed2, out=np.ones_like(speed2), where=moving)
    k = np.zeros(used.shape)
    np.cumsum(np.clip(np.round(ratio), 1, most_missing) * (used[:, 1:] & used[:, :-1]), axis=1, out=k[:, 1:])
    return k - k[:, at : at + 1]


def smooth(x: FloatArray, kin: Kinematics, chains: Chains, s: PathSettings = DEFAULT) -> tuple[FloatArray, FloatArray]:
    """x and u with noise averaged out along the chains, by a local quadratic of four samples on either side."""
    around = np.arange(-s.half_fit, s.half_fit + 1)

    def block(rows: slice) -> FloatArray:
        position = np.arange(rows.start, rows.stop)
        samples, inside = window(chains, position, around, chains.chain_at[rows])
        return fit_states(x, kin, samples, inside, s.half_fit, s)[0][:, :2]

    still = np.concatenate(in_blocks(block, len(x)))[chains.position_of]
    return still[:, 0], still[:, 1]


def states_beside(
    x: FloatArray, chains: Chains, kin: Kinematics, last: IntArray, first: IntArray, s: PathSettings = DEFAULT
) -> tuple[States, States]:
    """States at the positions `last`, of the samples of the chain up to there, and at `first`, of those from there on."""
    up_to, inside = window(chains, last, np.arange(1 - s.fit, 1), chains.chain_at[last])
    before = fit_states(x, kin, up_to, inside, s.fit - 1, s)
    onward, inside = window(chains, first, np.arange(s.fit), chains.chain_at[first])
    return before, fit_states(x, kin, onward, inside, 0, s)


def window(chains: Chains, position: IntArray, k: IntArray, chain: IntArray) -> tuple[IntArray, BoolArray]:
    """Samples k places from each position, and whether they are still in the chain; the position's own where not."""
    where = position[:, None] + k
    inside = (where >= chains.offsets[chain][:, None]) & (where < chains.offsets[chain + 1][:, None])
    return chains.order[np.where(inside, where, position[:, None])], inside


GAPS = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0])
"""Gaps between chains, in steps, that are tried; between them the likelihood is smooth."""


def link(x: FloatArray, chains: Chains, kin: Kinematics, s: PathSettings = DEFAULT) -> Chains | None:
    """Chains with their most likely continuations; None where none is worth making."""
    n = chains.n_chains
    if n < 2:
        return None
    tail, head = states_beside(x, chains, kin, chains.offsets[1:] - 1, chains.offsets[:-1], s)
    tails, heads = chains.tails, chains.heads
    tree = cKDTree(x[heads])
    ahead = x[tails] + tail[0][:, 1] * GAPS[-1] / 2
    near = np.concatenate([neighbours(tree, place, s.neighbours) for place in (x[tails], ahead)], axis=1)
    f, g = unique_pairs(np.repeat(np.arange(n), near.shape[1]), near.ravel().astype(np.intp), n)
    share = np.sqrt(kin.dt[heads[g]] / kin.dt[tails[f]])[:, None]
    score = continued((tail[0][f], tail[1][f]), (head[0][g], head[1][g]), share, GAPS, GAPS - 1, kin, s)
    # Both sides must be in motion: a path at rest may end, and one that sets off at once may begin.
    slower = np.minimum(np.linalg.norm(tail[0][f, 1] * share, axis=1), np.linalg.norm(head[0][g, 1] / share, axis=1))
    motion = 2 * np.minimum(1, slower / kin.typical)
    follows = best_links(f, g, score - s.in_motion * motion, n, s.floor)
    # What was linked before stays: a loop is opened at one of the new links.
    follows = open_loops(follows, x[tails], x[heads])
    return chains.joined(follows) if (follows >= 0).any() else None


def loosened(x: FloatArray, chains: Chains, kin: Kinematics, s: PathSettings = DEFAULT) -> Chains:
    """Chains without the links, made sample by sample, that fits to several samples on either side doubt.

    Where paths cross, single samples are easily mixed up. Of the worst tenth of the links those are offered to `link` again that
    are not likelier than chance by more than a path that breaks off is less likely.
    """
    i = np.flatnonzero(chains.chain_at[1:] == chains.chain_at[:-1])
    if len(i) == 0:
        return chains
    before, after = states_beside(x, chains, kin, i, i + 1, s)
    dt, gaps = kin.dt[chains.order], np.arange(1.0, s.most_missing + 1)
    score = continued(before, after, np.sqrt(dt[i + 1] / dt[i])[:, None], gaps, gaps - 1, kin, s)
    successor = chains.successor.copy()
    doubtful = score > max(-s.in_motion, np.quantile(score, 1 - s.remainder))
    successor[chains.order[i[doubtful]]] = -1
    return Chains.of(successor, x)


def continued(
    a: States,
    b: States,
    share: FloatArray,
    m: FloatArray,
    missing: FloatArray | float,
    kin: Kinematics,
    s: PathSettings,
) -> FloatArray:
    """The score of the states b continuing the states a, row by row, over the best of the gaps m, (k,) or (n, k)."""

    def block(rows: slice) -> FloatArray:
        gaps = np.broadcast_to(m, (len(a[0]), m.shape[-1]))[rows]
        covariance = a[1][rows] + b[1][rows]
        gap = mismatch(a[0][rows], b[0][rows], gaps, share[rows])
        of_both = variances(covariance[:, :1, 0], covariance[:, 1, 1:2], gaps, kin.bend)
        d = a[0].shape[2]
        return link_score(unlikeliness(gap, of_both, kin.spread2, d, missing, s).min(axis=1), d)

    return np.concatenate(in_blocks(block, len(a[0])) or [np.empty(0)])


def mismatch(
    a: FloatArray, b: FloatArray, m: FloatArray, share: FloatArray | float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Squared misses (n, k) in position and displacement over gaps m (n, k).

    The cubic that has both states (p, u, w) at its ends satisfies
    p_b - p_a = m (u_a + u_b)/2 + m^2 (w_a - w_b)/12 and u_b - u_a = m (w_a + w_b)/2. A step of both is the geometric mean of
    the two; `share` (n, 1) is that over the step of a.
    """
    (p_a, u_a, w_a), (p_b, u_b, w_b) = (np.moveaxis(state, 1, 0) for state in (a, b))
    u_a, w_a, u_b, w_b = u_a * share, w_a * share**2, u_b / share, w_b / share**2
    miss2, change2 = np.zeros(m.shape), np.zeros(m.shape)
    for c in range(p_a.shape[1]):  # coordinate by coordinate: arrays of all gaps fit the cache
        x, mean, turn, change, bend = (
            column[:, c : c + 1]
            for column in (p_b - p_a, (u_a + u_b) / 2, (w_a - w_b) / 12, u_b - u_a, (w_a + w_b) / 2)
        )
        miss2 += (x - m * mean - m**2 * turn) ** 2
        change2 += (change - m * bend) ** 2
    return miss2, change2


# --- crossings ----------------------------------------------------------------------------------------

# Samples left out on either side of the link, those of the crossing itself: as many as lie in a quarter of a fit.
MIDDLE = DEFAULT.fit // 4
# Steps from the last sample before to the first one after: five by count; fewer or more, if some were mixed up, count as missing.
ACROSS = np.arange(1.0 + MIDDLE, 2.0 + 3 * MIDDLE)


def untangled(x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT) -> Chains:
    """Chains that cross as they should, with every sample in the one it fits; `tree` holds x.

    An exchange leaves samples of the crossing in the wrong chain. They return before more ends are exchanged: a fit to
    samples of both tracks says nothing.
    """
    return returned(x, uncross(x, chains, kin, tree, s), kin, tree, s)


def uncross(x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT) -> Chains:
    """Chains with exchanged ends wherever this is more likely, by more than a missing sample counts; `tree` holds x."""
    margin = s.fit + MIDDLE
    position, at = np.arange(len(x)), chains.chain_at
    inside = (position - chains.offsets[at] >= margin - 1) & (chains.offsets[at + 1] - position > margin)
    asked = np.flatnonzero(inside)
    if len(asked) == 0:
        return chains
    around = asked - MIDDLE, asked + 1 + MIDDLE
    (before, before_cov), (after, after_cov) = states_beside(x, chains, kin, *around, s)
    row, dt = np.cumsum(inside) - 1, kin.dt[chains.order]
    missing = np.abs(ACROSS - ACROSS[MIDDLE])

    def cost(i: IntArray, j: IntArray) -> FloatArray:
        """s(B_i, A_j) of the links that begin at positions i and j."""
        b, a = row[i], row[j]
        share = np.sqrt(dt[j] / dt[i])[:, None]
        return continued((before[b], before_cov[b]), (after[a], after_cov[a]), share, ACROSS, missing, kin, s)

    own = cost(asked, asked)
    bent = asked[own > np.quantile(own, 1 - s.remainder)]
    i, j = _beside(x, chains, bent, inside, tree, s)
    gain = cost(i, i) + cost(j, j) - cost(i, j) - cost(j, i)
    best = np.argsort(-gain, kind="stable")
    successor, taken = chains.successor.copy(), np.zeros(len(x), dtype=bool)
    for k in best[gain[best] > s.missing]:
        near_both = np.concatenate([np.arange(p - margin + 1, p + margin + 1) for p in (i[k], j[k])])
        if taken[near_both].any():
            continue
        taken[near_both] = True
        a, b = chains.order[i[k]], chains.order[j[k]]
        successor[a], successor[b] = successor[b], successor[a]
    return Chains.of(successor, x) if taken.any() else chains


def returned(x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT) -> Chains:
    """Chains whose samples lie in the chain they fit best; `tree` holds x.

    A sample that its chain, fitted without it, explains badly is put into one that explains it better, by more than what the
    sample that is then missing counts. The time at which it fits best is free, so that both are asked the same.
    """
    long = chains.lengths[chains.chain_at] > s.fit
    position, half = np.flatnonzero(long), s.half_fit
    if len(position) == 0:
        return chains
    own = np.full(len(x), -np.inf)
    others = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
    own[long], _ = _misfit(x, chains, kin, chains.order[position], position, others, half - 1, (0.0, 2.0), s)
    odd = position[own[long] > np.quantile(own[long], 1 - s.remainder)]
    i, j = _beside(x, chains, odd, long, tree, s)
    other, time = _misfit(x, chains, kin, chains.order[i], j, np.arange(-half, half + 1), half, (-1.0, 1.0), s)
    gain = own[i] - other
    best = np.lexsort((-gain, i))
    best = best[np.diff(i[best], prepend=-1) > 0]
    best = best[gain[best] > s.missing]
    return _moved(chains, i[best], j[best], time[best]) if len(best) else chains


def _beside(
    x: FloatArray, chains: Chains, position: IntArray, allowed: BoolArray, tree: cKDTree, s: PathSettings
) -> tuple[IntArray, IntArray]:
    """Pairs of these positions and of allowed ones in other chains whose samples are neighbours."""
    near = chains.position_of[neighbours(tree, x[chains.order[position]], s.neighbours + 1)]
    i, j = np.repeat(position, near.shape[1]), near.ravel().astype(np.intp)
    apart = allowed[j] & (chains.chain_at[i] != chains.chain_at[j])
    return i[apart], j[apart]


def _moved(chains: Chains, position: IntArray, beside: IntArray, time: FloatArray) -> Chains:
    """Chains with the samples at these positions put beside others, behind them where time is positive."""
    place = np.arange(len(chains.order), dtype=np.float64)
    chain = chains.chain_at.copy()
    place[position], chain[position] = beside + time / 2, chains.chain_at[beside]
    order = np.lexsort((place, chain))
    counts = np.bincount(chain, minlength=chains.n_chains)
    return Chains(chains.order[order], np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.intp))


def _misfit(
    x: FloatArray,
    chains: Chains,
    kin: Kinematics,
    sample: IntArray,
    position: IntArray,
    around: IntArray,
    at: int,
    times: tuple[float, float],
    s: PathSettings,
) -> tuple[FloatArray, FloatArray]:
    """The score of samples in the chains around these positions, and the time from column `at` at which they fit best."""
    samples, inside = window(chains, position, around, chains.chain_at[position])
    state, covariance = fit_states(x, kin, samples, inside, at, s)
    off, u = x[sample] - state[:, 0], state[:, 1]
    time = np.clip((off * u).sum(axis=1) / ((u**2).sum(axis=1) + np.finfo(np.float64).tiny), *times)
    share = np.sqrt(kin.dt[sample] / kin.dt[chains.order[position]])[:, None]
    return continued((state, covariance), alone(x, kin, sample), share, time[:, None], 0.0, kin, s), time
