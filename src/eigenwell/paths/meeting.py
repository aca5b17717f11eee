"""One time step for all and no noise: x_i + dt v_i/2 and x_j - dt v_j/2 are the same point for consecutive samples.

One nearest-neighbour query of these halfway points finds every successor.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .chains import Chains
from .hashing import sample_hash, smallest
from .settings import DEFAULT, PathSettings


def halfway_meeting(
    x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT
) -> tuple[Chains, float] | None:
    """Chains and the time step when one serves all samples and noise is small; None otherwise."""
    n = len(x)
    asked = smallest(sample_hash(x, v), s.asked)
    distance, near = tree.query(x[asked], k=min(s.neighbours + 1, n))
    dt = common_time_step(x[asked], v[asked], x[near], v[near], distance, s)
    if dt is None:
        return None
    successor, exact = halfway_links(x, v, dt, tree.indices, s)
    if not is_common(int((successor >= 0).sum()), int(exact.sum()), n, s):
        return None
    return Chains.of(successor, x), dt


def halfway_links(
    x: FloatArray, v: FloatArray, dt: float, order: IntArray, s: PathSettings = DEFAULT
) -> tuple[IntArray, BoolArray]:
    """The successor of every sample, -1 where none is beyond doubt, and whether its halfway point meets one exactly.

    `order` is that of a tree of x: points near each other in memory halve the time of the queries.
    """
    n = len(x)
    forward, backward = (x + dt / 2 * v)[order], (x - dt / 2 * v)[order]
    distance, partner = cKDTree(backward).query(forward, k=2, workers=-1)
    sure, met = meeting(distance, dt * np.linalg.norm(v[order], axis=1), s)
    sure &= partner[:, 0] != np.arange(n)
    claimed = strongest_claims(order[sure], partner[sure, 0], distance[sure, 0], n)
    taken = np.flatnonzero(claimed >= 0)
    successor, exact = np.full(n, -1, dtype=np.intp), np.empty(n, dtype=bool)
    successor[claimed[taken]], exact[order] = order[taken], met
    return successor, exact


def meeting(distance: FloatArray, step: FloatArray, s: PathSettings = DEFAULT) -> tuple[BoolArray, BoolArray]:
    """Whether halfway points meet beyond doubt, and whether exactly, from the distances to the two nearest ones.

    Only points within half a step have a say in either.
    """
    sure = (distance[:, 0] < s.meeting * step) & (distance[:, 0] < s.decisive * distance[:, 1])
    return sure, distance[:, 0] < s.exact * step


def strongest_claims(i: IntArray, j: IntArray, miss: FloatArray, n: int) -> IntArray:
    """For every j < n the i that claims it as its successor with the least miss, of equals the first; -1 for none."""
    least = np.full(n, np.inf)
    np.minimum.at(least, j, miss)
    best = miss == least[j]
    none = np.iinfo(np.intp).max
    claimed = np.full(n, none, dtype=np.intp)
    np.minimum.at(claimed, j[best], i[best])
    return np.where(claimed == none, -1, claimed)


def is_common(linked: int, exact: int, n: int, s: PathSettings = DEFAULT) -> bool:
    """Whether so many of n samples found a successor, and met it exactly, that one time step serves them all."""
    return linked >= s.common * n and exact >= s.common * n


def common_time_step(
    x: FloatArray,
    v: FloatArray,
    x_near: FloatArray,
    v_near: FloatArray,
    distance: FloatArray,
    s: PathSettings = DEFAULT,
) -> float | None:
    """The most frequent travel time to the next sample, if the samples asked agree on it.

    `x_near` and `v_near` (m, k, d) are the nearest neighbours of the samples asked, one more than are looked at: what is
    as far as the last one is left out, so that of equally distant ones none is preferred.
    """
    used = distance < distance[:, -1:] if distance.shape[1] > s.neighbours else np.ones(distance.shape, dtype=bool)
    k, d = distance.shape[1], x.shape[1]
    i = np.repeat(np.arange(len(x)), k)
    time, miss, change = _travel(x_near.reshape(-1, d) - x[i], v[i], v_near.reshape(-1, d))
    ahead = used.ravel() & (time > 0) & (miss < 0.1) & (change < s.first_change)
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
