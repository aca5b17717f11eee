"""From unordered samples to chains: which sample comes next.

Consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = dt (v_i + v_j)/2 with a relative residual
O(dt^2); unrelated pairs miss it by about 100 %. Two ways use this. *Halfway meeting*: with one time step for all and
no noise, x_i + dt v_i/2 and x_j - dt v_j/2 are the same point, so one nearest-neighbour query finds every successor.
*Likelihood*: with noise, gaps or different rates, the most likely set of links is a sparse assignment problem, solved
exactly, with time step and noise re-estimated between rounds.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .chains import Chains, best_links, unique_pairs
from .hashing import sample_hash, smallest
from .kinematics import MOST_MISSING, Kinematics, estimate, smooth, steady
from .links import link_score

# Candidates for a successor: neighbours of a sample and of the place it moves to. A dozen covers the samples of
# several trajectories that cross or run side by side.
NEIGHBOURS = 12
AHEAD = 6
# The first guess takes pairs within 30 degrees of the motion whose velocities differ by less than themselves.
FIRST_ANGLE, FIRST_CHANGE = 0.5, 1.0
# Halfway points that meet within a quarter of a step, twice as close as any other, are beyond doubt.
MEETING, DECISIVE = 0.25, 0.5
# Samples asked for the common time step; the share that must find a partner, and within this part of a step, for it
# to count as common. Two recorders that differ by more than that in rate are not one.
EXACT = 0.05
ASKED, COMMON = 500, 0.95
# A link whose time step fits neither end counts as much as one that misses this many samples.
OFF_BEAT = 3.0
# Rounds of matching; the second sees time steps and noise from the first, and chains no longer change after it.
ROUNDS = 2


def match_successors(x: FloatArray, v: FloatArray) -> tuple[Chains, Kinematics, bool]:
    """Chains of consecutive samples, the kinematics they reveal, and whether every link is beyond doubt.

    Samples must be distinct.
    """
    tree = cKDTree(x)
    met = _halfway_meeting(x, v, tree)
    if met is None:
        return *_most_likely(x, v, tree), False
    chains, dt = met
    return chains, steady(x, v, chains, dt), True


def _halfway_meeting(x: FloatArray, v: FloatArray, tree: cKDTree) -> tuple[Chains, float] | None:
    """Chains and the time step when one serves all samples and noise is small; None otherwise."""
    n = len(x)
    asked = smallest(sample_hash(x, v), ASKED)
    distance, near = tree.query(x[asked], k=min(NEIGHBOURS + 1, n))
    dt = common_time_step(x[asked], v[asked], x[near], v[near], distance)
    if dt is None:
        return None
    # Points in the tree's own order lie near each other in memory, which halves the time of the queries.
    order = tree.indices
    forward, backward = (x + dt / 2 * v)[order], (x - dt / 2 * v)[order]
    distance, partner = cKDTree(backward).query(forward, k=2, workers=-1)
    sure, exact = meeting(distance, dt * np.linalg.norm(v[order], axis=1))
    sure &= partner[:, 0] != np.arange(n)
    claimed = strongest_claims(order[sure], partner[sure, 0], distance[sure, 0], n)
    taken = np.flatnonzero(claimed >= 0)
    if not is_common(len(taken), int(exact.sum()), n):
        return None
    successor = np.full(n, -1, dtype=np.intp)
    successor[claimed[taken]] = order[taken]
    return Chains.of(successor, x), dt


def meeting(distance: FloatArray, step: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Whether halfway points meet beyond doubt, and whether exactly, from the distances to the two nearest ones.

    Only points within half a step have a say in either.
    """
    sure = (distance[:, 0] < MEETING * step) & (distance[:, 0] < DECISIVE * distance[:, 1])
    return sure, distance[:, 0] < EXACT * step


def strongest_claims(i: IntArray, j: IntArray, miss: FloatArray, n: int) -> IntArray:
    """For every j < n the i that claims it as its successor with the least miss, of equals the first; -1 for none."""
    least = np.full(n, np.inf)
    np.minimum.at(least, j, miss)
    best = miss == least[j]
    none = np.iinfo(np.intp).max
    claimed = np.full(n, none, dtype=np.intp)
    np.minimum.at(claimed, j[best], i[best])
    return np.where(claimed == none, -1, claimed)


def is_common(linked: int, exact: int, n: int) -> bool:
    """Whether so many of n samples found a successor, and met it exactly, that one time step serves them all."""
    return linked >= COMMON * n and exact >= COMMON * n


def common_time_step(
    x: FloatArray, v: FloatArray, x_near: FloatArray, v_near: FloatArray, distance: FloatArray
) -> float | None:
    """The most frequent travel time to the next sample, if the samples asked agree on it.

    `x_near` and `v_near` (m, k, d) are the nearest neighbours of the samples asked, one more than are looked at: what is
    as far as the last one is left out, so that of equally distant ones none is preferred.
    """
    used = distance < distance[:, -1:] if distance.shape[1] > NEIGHBOURS else np.ones(distance.shape, dtype=bool)
    k, d = distance.shape[1], x.shape[1]
    i = np.repeat(np.arange(len(x)), k)
    time, miss, change = _travel(x_near.reshape(-1, d) - x[i], v[i], v_near.reshape(-1, d))
    ahead = used.ravel() & (time > 0) & (miss < 0.1) & (change < FIRST_CHANGE)
    soonest = np.where(ahead, time, np.inf).reshape(distance.shape).min(axis=1)
    log_time = np.sort(np.log(soonest[np.isfinite(soonest)]))
    if len(log_time) < len(x) / 2:
        return None
    # Mode: the narrowest window that holds a tenth of the travel times.
    width = max(2, len(log_time) // 10)
    spans = log_time[width:] - log_time[:-width]
    if len(spans) == 0:
        return None
    start = int(spans.argmin())
    return float(np.exp(np.median(log_time[start : start + width])))


def _travel(dx: FloatArray, v_i: FloatArray, v_j: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Time over dx along the mean velocity; miss and velocity change, relative to distance and speed."""
    mean_v = (v_i + v_j) / 2
    tiny = np.finfo(np.float64).tiny
    speed2 = (mean_v**2).sum(1) + tiny
    time = (dx * mean_v).sum(1) / speed2
    miss = np.linalg.norm(dx - time[:, None] * mean_v, axis=1) / (np.linalg.norm(dx, axis=1) + tiny)
    change = np.linalg.norm(v_j - v_i, axis=1) / np.sqrt(speed2)
    return time, miss, change


def _most_likely(x: FloatArray, v: FloatArray, tree: cKDTree) -> tuple[Chains, Kinematics]:
    near = tree.query(x, k=min(NEIGHBOURS + 1, len(x)), workers=-1)[1]
    chains = Chains.of(_first_guess(x, v, near), x)
    for spans in ((0.5, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0))[:ROUNDS]:
        # Half a step is offered once: a chain that took every second sample finds the ones it skipped.
        kin = estimate(x, v, chains)
        chains = Chains.of(_match(x, kin, kin.u, tree, near, np.array(spans)), x)
    for _ in range(ROUNDS):
        kin = estimate(x, v, chains)
        if not kin.noisy:
            break
        still_x, still_u = smooth(x, kin, chains)
        with np.errstate(divide="ignore", invalid="ignore"):
            sharp = estimate(still_x, np.nan_to_num(still_u / kin.dt[:, None]), chains)
        chains = Chains.of(_match(still_x, sharp, still_u, cKDTree(still_x), near, np.arange(1.0, MOST_MISSING + 1)), x)
    return chains, estimate(x, v, chains)


def _first_guess(x: FloatArray, v: FloatArray, near: IntArray) -> IntArray:
    """Nearest in time among the neighbours ahead, whatever the time step: each sample's and each successor's best."""
    n = len(x)
    i, j = unique_pairs(np.repeat(np.arange(n), near.shape[1]), near.ravel(), n)
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    time, miss, change = _travel(x[j] - x[i], v[i], v[j])
    ahead = (time > 0) & (miss < FIRST_ANGLE) & (change < FIRST_CHANGE)
    i, j = i[ahead], j[ahead]
    # Effective time: a sideways miss of 0.15 or a velocity change of 0.3 counts as much as doubling the time.
    cost = time[ahead] * (1 + (miss[ahead] / 0.15) ** 2 + (change[ahead] / 0.3) ** 2)
    return _dominant(i, j, cost, n)


def _dominant(i: IntArray, j: IntArray, cost: FloatArray, n: int) -> IntArray:
    """Greedy matching: links that are the cheapest both for i and for j, again and again."""
    by_cost = np.argsort(cost, kind="stable")
    i, j = i[by_cost], j[by_cost]
    successor, taken = np.full(n, -1, dtype=np.intp), np.zeros(n, dtype=bool)
    first_i, first_j = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    while len(i):
        k = np.arange(len(i))
        first_i[i[::-1]], first_j[j[::-1]] = k[::-1], k[::-1]
        mutual = (first_i[i] == k) & (first_j[j] == k)
        successor[i[mutual]], taken[j[mutual]] = j[mutual], True
        open_ = (successor[i] < 0) & ~taken[j]
        i, j = i[open_], j[open_]
    return successor


def _match(x: FloatArray, kin: Kinematics, u: FloatArray, tree: cKDTree, near: IntArray, spans: FloatArray) -> IntArray:
    """The most likely successors, each sample a state of its own."""
    n, d = x.shape
    ahead = tree.query(x + u, k=min(AHEAD, n), workers=-1)[1].reshape(n, -1)
    partners = np.concatenate([near, ahead], axis=1)
    i = np.repeat(np.arange(n), partners.shape[1])
    i, j = np.concatenate([i, partners.ravel()]), np.concatenate([partners.ravel(), i])
    i, j = unique_pairs(i, j, n)
    # Both ends share one time step: the geometric mean of what they believe.
    share = np.sqrt(kin.dt[j] / kin.dt[i])[:, None]
    u_i, u_j = u[i] * share, u[j] / share
    dx, mean_u = x[j] - x[i], (u_i + u_j) / 2
    # Besides whole steps, the span at which the two come closest is tried, in case their time step is wrong.
    speed2 = (mean_u**2).sum(-1) + np.finfo(np.float64).tiny
    free = np.clip((dx * mean_u).sum(-1) / speed2, 1 / MOST_MISSING, MOST_MISSING)[:, None]
    m = np.concatenate([np.broadcast_to(spans, (len(i), len(spans))), free], axis=1)
    unlikely = np.concatenate(
        [np.abs(np.broadcast_to(spans, (len(i), len(spans))) - 1), np.full((len(i), 1), OFF_BEAT)], axis=1
    )
    miss2 = ((dx[:, None] - m[:, :, None] * mean_u[:, None]) ** 2).sum(-1)
    change2 = ((u_j - u_i) ** 2).sum(-1)[:, None]
    # A path that bends by `bend` per step^2 leaves the chord by m^2 bend/2 when velocities are forward differences,
    # as in many recordings, and by m^2 bend/12 when they are exact; the first covers both.
    variance_x = 2 * kin.noise_x**2 + (m * kin.noise_u) ** 2 / 2 + (m**2 * kin.bend) ** 2 / 4
    variance_u = 2 * kin.noise_u**2 + (m * kin.bend) ** 2
    score = link_score((miss2, change2), (variance_x, variance_u), float(x.var(0).mean()), d, unlikely)
    return best_links(i, j, score.min(axis=1), n)
