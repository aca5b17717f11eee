"""How well a partition of ends into goals explains them: log p(ends, partition), up to a constant.

An end is a measurement of its goal with an error of its own. Ends stop on their way, some earlier than others, and hands
scatter, so in every coordinate j, measured in units of the data's box,

    e_k ~ N(c_q, sigma_qj^2 + way_k^2),

with way_k the way that path k still had to go by its own slowing down (`arrival.way_left`; beyond the plane its square is
shared by the coordinates), and sigma_qj the scatter at goal q. Pens are also lifted in motion, right at the goal: the ends of
a goal may all be nearer than a twentieth of their ways. Or paths slow down as a smooth field lets them, and e_k is not where
one ends but the rest that it is bound for, with the error of that in place of the way (`arrival.bound_for`). Scatters of the
goals are alike: sigma_qj = sigma_0 rho_j {1/2, 1, 2, 4}, and not less than rounding leaves of places in whole pixels; sigma_0 is
log-normal around a few percent of the box and summed over, rho_j, the same for all goals, is read off the ends: units of a
column do not matter. The coordinates are those of the data or, as likely, the principal directions of the ends around their
goals: ends along a line are one goal whatever its direction. Everything is Gaussian with known
variances: with w_k = 1/s_k^2 and W = sum w_k

    log p = -1/2 sum log(2 pi s_k^2) - 1/2 (sum w_k e_k^2 - (sum w_k e_k)^2 / W)
            + 1/2 log(2 pi / W) - log max(1, sqrt(2 pi / W))

for a group in one coordinate, the centre uniform over the box; its sums add up along a tree of groups.

An end may also be no arrival at all (broken off, cut in a pause, turned round, gone astray): `odds` has that for each. A
lost end may be anywhere, or near a goal; of ends that no other shares some are goals and some are lost, and both are
counted. Goals lie on several scales, bins on a shelf, shelves in a room: a centre is uniform over the box, or its distance to
the next one is log-uniform, or some of its coordinates are those of the next one. And a coordinate may have nothing to do with
goals, or be the same for all (bins in a row, a tool kept upright): all ends are then from one distribution there. Of Q goals
p(Q) ~ 1/Q, and all sizes are as likely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import gammaln

from .._types import FloatArray, IntArray
from .spanning import edges

# Hands and robots end within a few hundredths of the box from their goal: median and width of log sigma_0, on a grid of octaves.
USUAL_SPREAD, SPREAD_WIDTH = 0.04, 1.2
OCTAVES = np.arange(-12, -1)
# sigma_q / sigma_0 in octaves, with weights: heavy tails.
MULTIPLES, WEIGHTS = np.array([-1, 0, 1, 2]), np.array([0.25, 0.45, 0.22, 0.08])
# Spreads of the coordinates differ by some octaves: width of rho_j. In one set of five by more, exponentially: half an octave.
UNEQUAL, WILD = 0.6, 0.2
# An end in motion is at its goal all the same when it is nearer than this share of the way it seems to have left.
LIFTED = 0.05
# An end says nothing about goals farther away than this share of the box.
REACH = 0.1
# Half of the lost ends lie around a goal, within this share of the box.
ASTRAY = 0.2
# Half of the centres are placed beside another one; two nearer than five spreads are hardly ever two.
BESIDE, APART = 0.5, 5.0


class Cut(NamedTuple):
    """A partition into Q groups, those of one end last: `log_p` (Q, 3, S, d) and `moments` (Q, 3, S, ...) of the groups, their
    `size` (Q,), `centres` (Q, d) and the `blur` (Q,) of these, and of the L of one end the log `odds` (L,) of being lost."""

    log_p: FloatArray
    moments: FloatArray
    size: IntArray
    centres: FloatArray
    blur: FloatArray
    odds: FloatArray


@dataclass(frozen=True)
class EndsModel:
    """The model of K ends in d coordinates of the unit box.

    `place` (K, d), `way` (K,) still to go, `odds` (K,) of being lost to being none, `ahead` (K, d) where they are bound for and
    the `error` (K,) of that; `rounding` (d,), the standard deviation that rounding leaves in each coordinate: no spread is less.
    """

    place: FloatArray
    way: FloatArray
    odds: FloatArray
    ahead: FloatArray
    error: FloatArray
    rounding: FloatArray

    @property
    def dimension(self) -> int:
        return int(self.place.shape[1])

    @property
    def rest(self) -> FloatArray:
        """Where paths are bound for (K, d), or where they end if that says more."""
        return np.asarray(self.place + np.where((self.error < self.way)[:, None], self.ahead, 0.0))

    @property
    def measured(self) -> FloatArray:
        """(K, 2, d + 1): where a path ends and the square of its way, the rest it is bound for and the square of its error."""
        end, rest = np.column_stack([self.place, self.way**2]), np.column_stack([self.rest, self._error**2])
        return np.stack([end, rest], axis=1)

    @property
    def _finest(self) -> IntArray:
        """The least spread (d,) that places which were rounded can have, by its place among the octaves."""
        with np.errstate(divide="ignore"):
            octave = np.round(np.log2(self.rounding)) - (OCTAVES[0] + MULTIPLES[0])
        return np.asarray(np.clip(octave, 0, len(OCTAVES) + len(MULTIPLES) - 2), dtype=np.intp)

    @property
    def _error(self) -> FloatArray:
        return np.minimum(self.error, self.way)

    def moments(self) -> FloatArray:
        """(K, 3, S, 3 + d + d (d + 1) / 2): what adds up over the ends of a group, for every sigma: W, sum log, ends in motion,
        W e, and W e_i e_j, the squares first.

        With the way that is left, as lifted right at the goal, and at the rest that a path is bound for.
        """
        octaves = np.arange(OCTAVES[0] + MULTIPLES[0], OCTAVES[-1] + MULTIPLES[-1] + 1)
        sigma2, shared = 4.0 ** octaves.astype(np.float64), min(1.0, 2 / self.dimension)
        way2, error2 = (shared * a[:, None] ** 2 for a in (self.way, self._error))
        variance = sigma2 + np.stack([way2, 0 * way2, error2], axis=1)
        moving = np.zeros(variance.shape)
        moving[:, 1] = way2 > sigma2
        w, e = 1 / variance[..., None], np.stack([self.place, self.place, self.rest], axis=1)[:, :, None, :]
        i, j = _pairs(self.dimension)
        products = e[..., i] * e[..., j]
        parts = [w, np.log(2 * np.pi * variance)[..., None], moving[..., None], w * e, w * products]
        return np.concatenate(parts, axis=-1)

    def groups(self, moments: FloatArray) -> FloatArray:
        """log p (n, 3, S, d) of groups with these moments (n, 3, S, ...), for every sigma and coordinate."""
        d = self.dimension
        total, logs, moving = (moments[..., j : j + 1] for j in range(3))
        first, second = moments[..., 3 : 3 + d], moments[..., 3 + d : 3 + 2 * d]
        blur = np.log(2 * np.pi / total) / 2
        log_p = -logs / 2 - (second - first**2 / total) / 2 + blur - np.maximum(blur, 0.0)
        return np.asarray(log_p + np.log(LIFTED) * np.maximum(moving - 1, 0))

    def given_spread(self, log_p: FloatArray, free: IntArray, unequal: IntArray | int = 0) -> FloatArray:
        """log p (n, G) of groups in the `free` coordinates for every sigma_0, from `log_p` (n, 3, S, d), with rho = 2^unequal."""
        rows = np.arange(len(OCTAVES))[:, None] + (MULTIPLES - MULTIPLES[0])
        at = np.clip(rows[:, :, None] + unequal, self._finest[free], log_p.shape[2] - 1)
        each = log_p[:, :, at, free].sum(axis=4)
        each = np.moveaxis(each + np.log(WEIGHTS / 3), 1, 2)
        return log_sum(each.reshape(*each.shape[:2], -1))

    def readings(self, cut: Cut) -> FloatArray:
        """log p (L + 1,) of a partition with 0, 1, ... L of its singles lost: with goals that may differ in all coordinates, and
        with goals that share some.

        In a shared coordinate all ends are at one place, with a spread of its own: goals in a row or on a table, columns that
        hardly move. These spreads are alike, and like those of goals, with heavy tails (`_own_scale`). Goals share none
        as likely as some; then all numbers n of them are as likely, and all C(d, n) sets of so many: the one that the ends want
        most stands for all.
        """
        log_p, moments, size, centres, _, odds = cut
        d, one, several = self.dimension, len(size) == 1, size > 1
        possible = np.arange(log_p.shape[2])[:, None] >= self._finest
        apart = self._apart(log_p[several])
        # Goals that were reached once each show no spread, but what they share.
        total = moments[several if several.any() else slice(None)].sum(axis=0)
        together = np.where(possible, self.groups(total[None])[0], -np.inf)
        common = log_sum(np.moveaxis(together, 2, 0).reshape(d, -1)) - np.log(3 * len(apart))
        at = self._at(together, total, moments[len(size) - len(odds) :]) * several.any()
        # One goal is the same with any of its coordinates shared. What is less likely than rounding is not asked.
        gain = common + np.maximum(at, 0.0).sum(axis=0) - apart.max(axis=0)
        order = np.argsort(-np.round(gain, 9), kind="stable")
        gain = np.concatenate([[0.0], np.cumsum(gain[order])])[: d + one]
        out = []
        for n in np.flatnonzero(gain > gain.max() + np.log(np.finfo(np.float64).eps)):
            free, there = np.sort(order[n:]), at[:, order[:n]].sum(axis=1)
            given = self._spreads(log_p, apart, free) + common[order[:n]].sum() + there.sum()
            given -= np.log(2 * max(d + one - 1, 1) if n else 2)
            seen = apart[:, free] if several.any() else apart[:, :0]
            given -= (0.0 if one else np.log(comb(d, n))) + _own_scale(together[:, :, order[:n]], seen)
            out.append(self.partition(given, cut, centres[:, free], there))
        return np.asarray(log_sum(np.moveaxis(np.array(out), 0, -1)))

    def in_principal(self, cut: Cut) -> FloatArray:
        """The same with no coordinate shared, and with spreads along the principal directions of ends around their goals.

        Of n ends more than goals, with variances a and b along two axes, the angle is known to t = sqrt(a b / n) / |a - b|, of
        the quarter of a turn after which axes are the same: by Laplace the integral over all angles is the best times
        sqrt(2 pi) t / (pi / 2), for every pair of axes.
        """
        log_p, moments, size, centres, _, odds = cut
        d, n = self.dimension, int((size - 1).sum())
        every, none = np.arange(d), np.zeros(len(odds))
        if n < 2 or d == 1:
            return self.partition(self.given_spread(log_p, every).sum(axis=0), cut, centres, none)
        several = size > 1
        likely = log_p[several].sum(axis=(0, 3))
        total = moments[several][:, *np.unravel_index(likely.argmax(), likely.shape)]
        i, j = _pairs(d)
        off = total[:, 3 + d :] - total[:, 3 + i] * total[:, 3 + j] / total[:, :1]
        scatter = np.zeros((d, d))
        scatter[i, j] = scatter[j, i] = off.sum(axis=0) / n
        variance, turn = np.linalg.eigh(scatter)
        a, b = (np.maximum(variance, np.finfo(np.float32).eps)[side] for side in np.triu_indices(d, 1))
        with np.errstate(divide="ignore"):
            share = np.minimum(np.log(np.sqrt(8 * a * b / (np.pi * n)) / np.abs(a - b)), 0.0).sum()
        products = turn[i] * turn[j] * np.where(i == j, 1, 2)[:, None]
        turned = replace(self, rounding=np.sqrt(self.rounding**2 @ turn**2))
        log_p = turned.groups(
            np.concatenate(
                [moments[..., :3], moments[..., 3 : 3 + d] @ turn, moments[..., 3 + d :] @ products], axis=-1
            )
        )
        apart = turned._apart(log_p[several])
        given = turned._spreads(log_p, apart, every) + share
        return turned.partition(given, cut, centres @ turn, none)

    def _apart(self, log_p: FloatArray) -> FloatArray:
        """log p (S, d) of groups, each measured in the way that suits it, for all spreads that are possible."""
        possible = np.arange(log_p.shape[2])[:, None] >= self._finest
        return np.where(possible, log_p.max(axis=1).sum(axis=0), -np.inf)

    def _at(self, log_p: FloatArray, total: FloatArray, lone: FloatArray) -> FloatArray:
        """Log density (L, d) of single ends, by their moments, where ends (`total`) are that share a coordinate."""
        d = self.dimension
        kind, s = np.unravel_index(log_p.reshape(-1, d).argmax(axis=0), log_p.shape[:2])
        each = np.arange(d)
        middle = total[kind, s, 3 + each] / total[kind, s, 0]
        weight = lone[:, kind, s, 0]
        off = lone[:, kind, s, 3 + each] / weight - middle
        lifted = np.log(LIFTED) * lone[:, kind, s, 2]
        return np.asarray((np.log(weight / (2 * np.pi)) - weight * off**2) / 2 + lifted)

    def _spreads(self, log_p: FloatArray, apart: FloatArray, free: IntArray) -> FloatArray:
        """log p (G,) of the groups of a partition in the `free` coordinates for every sigma_0, from `log_p` (Q, 3, S, d): with
        equal spreads, and with those of their own that the coordinates of `apart` (S, d) show."""
        if len(free) == 0:
            return np.zeros(len(OCTAVES))
        equal, unequal = self.given_spread(log_p, free).sum(axis=0), _octaves(apart[:, free].argmax(axis=0))
        if not unequal.any():
            return np.asarray(equal)
        return np.asarray(np.logaddexp(equal, self.given_spread(log_p, free, unequal).sum(axis=0) + _price(unequal)))

    def partition(self, given: FloatArray, cut: Cut, centres: FloatArray, there: FloatArray) -> FloatArray:
        """log p (L + 1,) of a partition with 0, 1, ... L of its singles lost.

        From what its groups have for every sigma_0, `given` (G,), their `centres` (Q, f) in the free coordinates, and the log
        density `there` (L,) with which singles are at the place that is shared in the other coordinates.
        """
        size, blur, odds = cut.size, cut.blur, cut.odds
        shared = int((size > 1).sum())
        spread = np.maximum(2.0**OCTAVES, self.rounding.min())
        if shared:  # they show it; some goals have half or a quarter of the usual one
            spread = np.maximum(spread, spread[(given + LOG_PRIOR).argmax()])
        worth = self._layout(centres, size, spread, float(blur[:shared].max(initial=0.0)))
        lone = worth[len(size) - len(odds) :]
        near = self._near(centres[len(size) - len(odds) :], there, centres[:shared], size[:shared], spread)
        # Sums over all choices of l lost ones: elementary symmetric polynomials of their odds, in logarithms.
        chosen = np.full((len(odds) + 1, len(spread)), -np.inf)
        chosen[0] = 0.0
        for one in odds[:, None] + near - lone:
            chosen[1:] = np.logaddexp(chosen[1:], one + chosen[:-1])
        k, q = int(size.sum()) - np.arange(len(chosen)), len(size) - np.arange(len(chosen))
        allowed = q >= 1
        # 1/Q for the number, one over C(K - 1, Q - 1) for the sizes, Q! prod m_q! / K! for who is in which.
        k, q = np.maximum(k, 1), np.maximum(q, 1)
        sizes = -np.log(q) + gammaln(q) + gammaln(k - q + 1) - gammaln(k)
        which = gammaln(q + 1) + gammaln(size + 1).sum() - gammaln(k + 1)
        either = log_sum(chosen + given + LOG_PRIOR + worth.sum(axis=0))
        return np.asarray(np.where(allowed, sizes + which + either, -np.inf))

    def _near(
        self, lone: FloatArray, there: FloatArray, centres: FloatArray, size: IntArray, spread: FloatArray
    ) -> FloatArray:
        """Log density (L, G) of lost ends at these places, beside that of ends `there`: half of them anywhere, half around the
        goals, by their number of ends, at a distance that is log-uniform from where ends of a goal are, spread sqrt(d), up to
        `ASTRAY`."""
        if len(centres) == 0 or len(lone) == 0:
            return np.zeros((len(lone), len(spread)))
        d = lone.shape[1]
        finest = np.minimum(spread * np.sqrt(d), ASTRAY / 2)
        away = np.linalg.norm(lone[:, None] - centres, axis=2)[..., None]
        density = np.where(away < ASTRAY, np.maximum(away, finest), np.inf) ** -d / np.log(ASTRAY / finest)
        with np.errstate(divide="ignore"):
            around = np.log(np.einsum("lqg,q->lg", density, size / size.sum())) - _log_area(d)
        return np.asarray(np.logaddexp(-there[:, None], around) - np.log(2))

    def _layout(self, centres: FloatArray, size: IntArray, spread: FloatArray, blur: float) -> FloatArray:
        """What it is worth (Q, G) that each centre lies beside another one, along the tree of nearest ones, place for place;
        goals of one end beside the nearest of the others, as any of them may be lost.

        A log-uniform distance has the density 1 / (A_d r^d log(1/sigma)), A_d the area of the unit sphere; what is nearer than
        ends are known, by `blur`, is not known to be near. Or each coordinate is that of the other one, or not: bins on a shelf.
        """
        worth = np.zeros((len(size), len(spread)))
        if len(centres) < 2:
            return worth
        d = centres.shape[1]
        shared = int((size > 1).sum())
        pairs, gap = edges(centres[: shared or None])
        if 0 < shared < len(size):
            away, near = cKDTree(centres[:shared]).query(centres[shared:])
            pairs = np.concatenate([pairs, np.stack([near, np.arange(shared, len(size))], axis=1)])
            gap = np.append(gap, away)
        gap = np.maximum(gap[:, None], spread)
        near = -_log_area(d) - d * np.log(np.maximum(gap, blur)) - np.log(np.maximum(-np.log(spread), 1.0))
        variance = (np.maximum(spread, blur) ** 2 * (1 / size[pairs]).sum(axis=1)[:, None])[:, None]
        off = np.diff(centres[pairs], axis=1)[:, 0] ** 2
        alike = np.log((1 + np.exp(-off[..., None] / variance / 2) / np.sqrt(2 * np.pi * variance)) / 2).sum(axis=1)
        # How near goals lie is seen of those that were reached more than once; of one end beside these, not even what they share.
        near = near if shared else 0 * near
        beside = np.logaddexp(np.log(1 - BESIDE), np.logaddexp(near, alike) + np.log(BESIDE / 2))
        if shared:
            beside[shared - 1 :] = 0.0
        worth[pairs[:, 1]] = beside - np.log1p((APART * spread / gap) ** 8)
        return worth


def _pairs(d: int) -> tuple[IntArray, IntArray]:
    """Pairs i <= j of coordinates, those with i = j first."""
    i, j = np.triu_indices(d, 1)
    return np.append(np.arange(d), i), np.append(np.arange(d), j)


def _octaves(scale: FloatArray) -> IntArray:
    """How far each of these is from the usual one, in whole octaves."""
    return np.asarray(np.round(scale - np.median(scale)), dtype=np.intp)


def _price(unequal: IntArray) -> float:
    """Log prior of spreads of the coordinates that are so many octaves beyond the usual one."""
    usual, wild = np.log(1 - WILD) - (unequal / UNEQUAL) ** 2 / 2, np.log(WILD) - 2 * np.abs(unequal)
    return float(np.logaddexp(usual, wild).sum())


def _own_scale(shared: FloatArray, free: FloatArray) -> float:
    """What it costs that shared coordinates, by log p (3, S, n), are on another scale than the free ones, (S, f), and each on one
    of its own: Cauchy's density of octaves, in units of how unequal coordinates usually are."""
    own = shared.max(axis=0).argmax(axis=0)
    if len(own) == 0:
        return 0.0
    middle = float(np.median(own))
    usual = float(np.median(free.argmax(axis=0))) if free.shape[1] else middle
    return float(np.log1p((np.append(own, usual) - middle) ** 2 / UNEQUAL**2).sum())


def _log_area(d: int) -> float:
    """log A_d, of the unit sphere."""
    return float(np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2))


def log_sum(terms: FloatArray) -> FloatArray:
    """log sum exp over the last axis. SciPy's takes a hundred times as long for a dozen terms."""
    most = terms.max(axis=-1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - most).sum(axis=-1)) + most[..., 0])


def _log_prior() -> FloatArray:
    """Log prior weights (G,) of sigma_0 on its octaves."""
    z = (OCTAVES * np.log(2) - np.log(USUAL_SPREAD)) / SPREAD_WIDTH
    return np.asarray(-(z**2) / 2 - log_sum(-(z**2) / 2))


LOG_PRIOR = _log_prior()
