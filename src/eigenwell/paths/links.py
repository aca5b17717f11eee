"""Who may follow whom, and how likely one state continues another: the score of every link, from single samples to fragments.

For a pair at span m (in steps) the two mismatches are |dx - m u|^2 and |du|^2, with u the mean displacement per step
and du its change; in terms of a = |dx|^2, b = dx.u, c = |u|^2 and e = |du|^2 the score of `link_score` is

    s = (p + 1)/2 log(q),  q = min_m k_m (1 + ((a - 2 m b + m^2 c)/s_x^2(m) + e/s_u^2(m))/p),  p = 2 d,

k_m collecting what depends on the span alone. Turning the pair round only changes the sign of b: both directions cost
little more than one, q for whole spans is linear in (a, b, c, e), and one logarithm is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .blocks import Index, in_blocks
from .kinematics import Kinematics
from .settings import DEFAULT, PathSettings


def heavy(chi2: FloatArray, p: int) -> FloatArray:
    """Negative log-likelihood (up to a constant) of a squared Mahalanobis distance with p degrees of freedom.

    Student's t of one degree of freedom scaled to p: near chi2/2 for an ordinary link, logarithmic far out, because
    real recordings have glitches that no Gaussian would survive.
    """
    return np.asarray((p + 1) / 2 * np.log1p(chi2 / p), dtype=np.float64)


def link_score(
    gap: tuple[FloatArray, FloatArray],
    variance: tuple[FloatArray, FloatArray],
    spread2: float,
    d: int,
    missing: FloatArray,
    s: PathSettings = DEFAULT,
) -> FloatArray:
    """Log-odds that two states are *not* one motion; a link is worth making below zero.

    gap = |r|^2 and |q|^2, the mismatch in position and in displacement after the best straight or bent continuation;
    variance of one coordinate of each. The alternative is that the second state lies there by chance, anywhere in the
    data (variance spread2): log-odds gain (d/2) log(spread2 / variance_r).
    """
    chi2 = gap[0] / variance[0] + gap[1] / variance[1]
    return heavy(chi2, 2 * d) + d / 2 * np.log(variance[0] / spread2) + s.missing * missing


@dataclass(frozen=True)
class Links:
    """Candidates tail -> head, each once, with their scores: log-odds that they are *not* consecutive."""

    tail: IntArray
    head: IntArray
    score: FloatArray


def likely_links(
    x: FloatArray, kin: Kinematics, u: FloatArray, tree: cKDTree, near: Index, spans: FloatArray, s: PathSettings
) -> Links:
    """The best few links into and out of every sample; `u` are displacements per step, `tree` holds x."""
    n, d = x.shape
    reach = min(max(1, s.neighbours // 2), n)
    law = SpanLaw(kin, d, s)
    products = _products(x, u, kin.dt)

    def block(rows: slice) -> tuple[Index, Index, FloatArray, Index, Index, FloatArray]:
        own = np.arange(rows.start, rows.stop, dtype=np.int32)[:, None]
        ahead = tree.query(x[rows] + u[rows], k=reach)[1].reshape(-1, reach).astype(np.int32)
        known = (ahead[:, :, None] == near[rows][:, None, :]).any(axis=2)
        other = np.concatenate([near[rows], ahead], axis=1)
        dead = other == own
        dead[:, near.shape[1] :] |= known
        after, before = law.unlikeliness(*products(rows, other), spans)
        after[dead], before[dead] = np.inf, np.inf
        return *_few(after, other, own, s.choices), *_few(before, other, own, s.choices)

    parts = in_blocks(block, n)
    tail, head, q, head_in, tail_in, q_in = (np.concatenate([part[k] for part in parts]) for k in range(6))
    # A link may be among the best of both its ends: then it came twice.
    best_into = np.full((n, s.choices), -1, dtype=np.int32)
    start = np.searchsorted(head_in, np.arange(n))
    best_into[head_in, np.arange(len(head_in)) - start[head_in]] = tail_in
    twice = np.zeros(len(tail), dtype=bool)
    for column in best_into.T:
        twice |= column[head] == tail
    tail, head = np.concatenate([tail_in, tail[~twice]]), np.concatenate([head_in, head[~twice]])
    return Links(tail, head, law.score(np.concatenate([q_in, q[~twice]])))


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


def _few(q: FloatArray, other: Index, own: Index, choices: int) -> tuple[Index, Index, FloatArray]:
    """(own, other, q) of the few best of every row that are worth anything at all."""
    few = min(choices, q.shape[1])
    limit = np.partition(q, few - 1, axis=1)[:, few - 1 : few]
    row, column = np.nonzero((q <= limit) & (q < 1))
    fresh = np.searchsorted(row, np.arange(len(q)))
    kept = np.arange(len(row)) - fresh[row] < few  # of equals the first
    row, column = row[kept], column[kept]
    return own[row, 0], other[row, column], q[row, column]


@dataclass(frozen=True)
class SpanLaw:
    """Variances of a link as polynomials of its span, and what a span costs by itself.

    A path that bends by `bend` per step^2 leaves the chord by m^2 bend/2 when velocities are forward differences, as in
    many recordings, and by m^2 bend/12 when they are exact; the first covers both.
    """

    kin: Kinematics
    d: int
    s: PathSettings

    @property
    def weight(self) -> float:
        """(p + 1)/2."""
        return (2 * self.d + 1) / 2

    def variances(self, m: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        m2, noise_u2, bend2 = np.square(m), self.kin.noise_u**2, self.kin.bend**2
        of_x = 2 * self.kin.noise_x**2 + m2 * noise_u2 / 2 + m2**2 * bend2 / 4
        return np.asarray(of_x), np.asarray(2 * noise_u2 + m2 * bend2)

    def alone(self, variance_x: FloatArray, missing: float) -> FloatArray:
        """k_m = exp(what the score gains whatever the mismatch, over the weight)."""
        power = self.d / (2 * self.weight)
        k = (variance_x / self.kin.spread2) ** power * np.exp(self.s.missing * missing / self.weight)
        return np.asarray(k)

    def at(self, m: float, missing: float, a: FloatArray, b: FloatArray, c: FloatArray, e: FloatArray) -> FloatArray:
        """q at one span for all pairs: linear."""
        of_x, of_u = (float(variance) for variance in self.variances(m))
        k = float(self.alone(np.asarray(of_x), missing))
        p = 2 * self.d
        q = (a + m * m * c) * (k / (p * of_x))
        q -= b * (2 * m * k / (p * of_x))
        q += e * (k / (p * of_u))
        q += k
        return q

    def unlikeliness(
        self, a: FloatArray, b: FloatArray, c: FloatArray, e: FloatArray, spans: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """q of i -> j and of j -> i. Besides whole spans, the one at which the two come closest is tried, in case their
        time step is wrong; against the motion that is the shortest span allowed."""
        most = off = self.s.most_missing
        size = np.abs(b)
        m = np.clip(size / (c + np.finfo(np.float64).tiny), 1 / most, most)
        of_x, of_u = self.variances(m)
        p = 2 * self.d
        miss2 = np.maximum(a - 2 * m * size + m * m * c, 0.0)
        along = self.alone(of_x, off) * (1 + (miss2 / of_x + e / of_u) / p)
        against = self.at(1 / most, off, a, -size, c, e)
        onward = b > 0
        after, before = np.where(onward, along, against), np.where(onward, against, along)
        for span in spans:
            here = float(abs(span - 1))
            np.minimum(after, self.at(float(span), here, a, b, c, e), out=after)
            np.minimum(before, self.at(float(span), here, a, -b, c, e), out=before)
        return after, before

    def score(self, q: FloatArray) -> FloatArray:
        # Rounding may leave q of an exact meeting a hair below what its span alone costs, never near zero.
        return np.asarray(self.weight * np.log(q))


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
