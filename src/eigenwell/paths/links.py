"""Who may follow whom, and how likely one state continues another: the one score of every link, from single samples to fragments.

Two states a and b, m steps apart, miss each other by r in position and by c in displacement per step (`states.mismatch`).
The log-odds that they are *not* one motion are

    s = (p + 1)/2 log(q),  q = (s_r^2/S^2)^(d/(p + 1)) exp(2 n/(p + 1)) (1 + (|r|^2/s_r^2 + |c|^2/s_c^2)/p),  p = 2 d:

a heavy tail (Student's t), the alternative that b lies there by chance, anywhere in the data (variance S^2 of a coordinate),
and n nats for the samples that are missing between them. A link is worth making below zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .blocks import Index, in_blocks
from .kinematics import Kinematics
from .settings import DEFAULT, PathSettings

Links = tuple[IntArray, IntArray, FloatArray]
"""Candidates tail -> head, each once, with their scores."""


def unlikeliness(
    gap: tuple[FloatArray, FloatArray],
    variance: tuple[FloatArray, FloatArray],
    spread2: float,
    d: int,
    missing: FloatArray | float,
    s: PathSettings = DEFAULT,
) -> FloatArray:
    """q: least where the score is least. gap = |r|^2 and |c|^2, variance of one coordinate of each.

    Real recordings have glitches that no Gaussian would survive: near chi2/2 for an ordinary link, the score is logarithmic far
    out.
    """
    p = 2 * d
    alone = (variance[0] / spread2) ** (d / (p + 1)) * np.exp(2 * s.missing * missing / (p + 1))
    return np.asarray(alone * (1 + (gap[0] / variance[0] + gap[1] / variance[1]) / p))


def link_score(q: FloatArray, d: int) -> FloatArray:
    """Log-odds that two states are not one motion, from q."""
    return np.asarray((2 * d + 1) / 2 * np.log(q))


def variances(
    of_x: FloatArray | float, of_u: FloatArray | float, m: FloatArray | float, bend: float
) -> tuple[FloatArray, FloatArray]:
    """Variances of the two misses over m steps, of states known to `of_x` and `of_u` (both together) and bending by `bend`."""
    m2 = np.square(m)
    return np.asarray(of_x + m2 * of_u / 4 + (m2 * bend) ** 2 / 4), np.asarray(of_u + m2 * bend**2)


def likely_links(
    x: FloatArray, kin: Kinematics, u: FloatArray, tree: cKDTree, near: Index, spans: FloatArray, s: PathSettings
) -> Links:
    """The best few links out of every sample; `u` are displacements per step, `tree` holds x.

    A sample has no bending of its own, so of pairs |dx|^2, dx.u, |u|^2 and |du|^2 (u the mean displacement, du its change) are
    enough for all spans. Besides whole ones, the span at which the two come closest is tried, in case their time step is wrong.
    """
    n, d = x.shape
    reach = min(s.half, n)
    products = _products(x, u, kin.dt)

    def block(rows: slice) -> tuple[Index, Index, FloatArray]:
        own = np.arange(rows.start, rows.stop, dtype=np.int32)[:, None]
        ahead = tree.query(x[rows] + u[rows], k=reach)[1].reshape(-1, reach).astype(np.int32)
        other = np.concatenate([near[rows], ahead], axis=1)
        dead = other == own
        dead[:, near.shape[1] :] |= (ahead[:, :, None] == near[rows][:, None, :]).any(axis=2)
        a, b, c, e = products(rows, other)

        def at(m: FloatArray | float, missing: float) -> FloatArray:
            miss2 = np.maximum(a - 2 * m * b + m * m * c, 0.0)
            of_x, of_u = 2 * kin.noise_x**2, 2 * kin.noise_u**2
            return unlikeliness((miss2, e), variances(of_x, of_u, m, kin.bend), kin.spread2, d, missing, s)

        most = s.most_missing
        q = at(np.clip(b / (c + np.finfo(np.float64).tiny), 1 / most, most), most)
        for m in spans.tolist():
            np.minimum(q, at(m, abs(m - 1)), out=q)
        q[dead] = np.inf
        few = min(s.half, q.shape[1])
        row, column = np.nonzero((q <= np.partition(q, few - 1, axis=1)[:, few - 1 : few]) & (q < 1))
        return own[row, 0], other[row, column], q[row, column]

    parts = in_blocks(block, n)
    tail, head, q = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return tail, head, link_score(q, d)


Products = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _products(x: FloatArray, u: FloatArray, dt: FloatArray) -> Callable[[slice, Index], Products]:
    """A function of rows i and of samples j for each of them: |dx|^2, dx.u, |u|^2 and |du|^2 of the pairs.

    Both ends of a pair share one time step, the geometric mean of what they believe: u_i sqrt(dt_j/dt_i), and for j
    the other way round. With w = u / sqrt(dt) that is w_i sqrt(dt_j) and w_j sqrt(dt_i).
    """
    root = np.sqrt(dt)
    columns = [np.ascontiguousarray(column) for column in x.T]
    paces = [np.ascontiguousarray(column) / root for column in u.T]

    def of(rows: slice, other: Index) -> Products:
        a, b, c, e = (np.zeros(other.shape) for _ in range(4))
        root_i, root_j = root[rows][:, None], root.take(other)
        for position, pace in zip(columns, paces, strict=True):
            dx = position.take(other) - position[rows][:, None]
            u_i, u_j = pace[rows][:, None] * root_j, pace.take(other) * root_i
            mean, change = (u_i + u_j) / 2, u_j - u_i
            a += dx * dx
            b += dx * mean
            c += mean * mean
            e += change * change
        return a, b, c, e

    return of


def first_guess(x: FloatArray, v: FloatArray, near: Index, s: PathSettings) -> IntArray:
    """Nearest in time among the neighbours ahead, whatever the time step: each sample's and each successor's best."""
    products = _products(x, v, np.ones(len(x)))
    tiny = np.finfo(np.float64).tiny

    def block(rows: slice) -> tuple[Index, Index, FloatArray]:
        own = np.arange(rows.start, rows.stop, dtype=np.int32)[:, None]
        other = near[rows]
        a, b, c, e = products(rows, other)
        # Travel time, sideways miss relative to the way and change relative to the speed; b < 0: the other way round.
        time = np.abs(b) / (c + tiny)
        miss2 = np.maximum(a - b * b / (c + tiny), 0.0) / (a + tiny)
        change2 = e / (c + tiny)
        cost = time * (1 + (miss2 + change2) / (s.alike / 2) ** 2)  # half as much as is alike counts as twice the time
        fits: BoolArray = (b != 0) & (miss2 < s.alike**2) & (change2 < s.alike**2) & (other != own)
        row, column = np.nonzero(fits)
        this, that, onward = own[row, 0], other[row, column], b[row, column] > 0
        return np.where(onward, this, that), np.where(onward, that, this), cost[row, column]

    parts = in_blocks(block, len(x))
    i, j, cost = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return dominant(i, j, cost, len(x))


def dominant(i: IntArray, j: IntArray, cost: FloatArray, n: int) -> IntArray:
    """Greedy matching: links that are the cheapest both for i and for j, again and again; a pair may come twice."""
    successor, taken = np.full(n, -1, dtype=np.intp), np.zeros(n, dtype=bool)
    by_cost = np.argsort(cost, kind="stable")
    i, j = i[by_cost], j[by_cost]
    first_i, first_j = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    while len(i):
        k = np.arange(len(i))
        first_i[i[::-1]], first_j[j[::-1]] = k[::-1], k[::-1]
        mutual = i[first_j[j]] == i
        mutual &= j[first_i[i]] == j
        successor[i[mutual]], taken[j[mutual]] = j[mutual], True
        open_ = (successor[i] < 0) & ~taken[j]
        i, j = i[open_], j[open_]
    return successor
