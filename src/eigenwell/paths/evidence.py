"""How well a partition of ends into goals explains them: log p(ends, partition), up to a constant.

Ends of goal q scatter around its centre with a spread of its own; the spreads are alike, inverse gamma around a common
sigma_0^2 with two degrees of freedom: they differ by a factor of two, and integrated over them ends follow Student's t.
Either the scatter is round, Sigma_q = sigma_q^2 I, or, in a third of the goals, it has a shape (ends along a line),
Sigma_q inverse Wishart with d + 1 degrees of freedom. Both integrate out in closed form. With m ends, scatter matrix S,
nu = d + 1, psi = 2 ln 2 sigma_0^2 and f = d (m - 1)/2,

    round    log Gamma(1 + f) + log(psi/2) - (1 + f) log((psi + tr S)/2) - f log 2
    shaped   log Gamma_d((nu + m - 1)/2) - log Gamma_d(nu/2) + nu d/2 log psi - (nu + m - 1)/2 log|psi I + S|

each less f log pi + d/2 log m. One end of a goal may be a stray: any distance from the others up to a tenth of the extent.

Goals lie on several scales: bins on a shelf, shelves in a room. A centre is uniform over the extent, or its distance to
the next one is log-uniform. A goal that a single path reached may be anywhere, but has no claim to a place
beside another: a stray explains it. Ends that scatter over much of the extent, or lie exactly in a row, are not those of one
goal. sigma_0 is a few percent of the extent and never below what steps and noise can
resolve; it is summed over. Of Q goals p(Q) ~ 1/Q, and all sizes are as likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp, multigammaln

from .._types import FloatArray, IntArray
from .spanning import gaps

# Hands and robots end within a few hundredths of the extent from their goal: median and width of log sigma_0.
USUAL_SPREAD, SPREAD_WIDTH = 0.04, 1.2
# Spreads sigma_0 that are summed over, a third of that width apart.
SPREADS = 24
# Prior shares: goals whose ends have a shape, ends that are strays, centres placed beside another one.
SHAPED, STRAY, BESIDE = 1 / 3, 0.05, 0.5
# A shape is no slimmer than this: ends that lie exactly in a row are a row of goals.
SLIMMEST = 0.05
# The spread of one goal stays well within this share of the extent.
SPREAD_REACH = 0.2
# Strays stay within this share of the extent; with fewer ends than this nothing says which one strays.
STRAY_REACH, STRAY_AMONG = 0.1, 4
# Two centres nearer than two spreads are not two.
APART = 2.0


@dataclass(frozen=True)
class EndsModel:
    """The model for K ends in d dimensions: the spreads `sigma` (G,) that are summed over, with log prior weights."""

    n_ends: int
    dimension: int
    extent: float
    sigma: FloatArray
    log_prior: FloatArray

    @classmethod
    def of(cls, n_ends: int, dimension: int, floor: float, extent: float) -> EndsModel:
        """`floor` is the smallest spread that can be resolved, `extent` the size of the data."""
        z = np.linspace(-4.0, 4.0, SPREADS)
        sigma = np.hypot(USUAL_SPREAD * extent * np.exp(SPREAD_WIDTH * z), floor)
        return cls(n_ends, dimension, extent, sigma, -(z**2) / 2 - logsumexp(-(z**2) / 2))

    @property
    def log_volume(self) -> FloatArray:
        """log V (G,) of the places a centre may have; a box thinner than the scatter has nothing to tell centres apart by."""
        return np.asarray(self.dimension * np.log(np.maximum(self.extent, np.sqrt(2 * np.pi) * self.sigma)))

    def groups(self, size: IntArray, scatter: FloatArray, farthest: FloatArray) -> FloatArray:
        """log p (n, G) of n groups: `size` (n,), `scatter` (n, d, d), `farthest` (n, d) end, from the mean of its group.

        The centre counts as uniform here; `partition` adds what its place beside others is worth.
        """
        log_p = self._without_stray(size, scatter)
        many = np.flatnonzero(size >= STRAY_AMONG)
        m = size[many]
        share = (m / (m - 1))[:, None]
        offset = farthest[many]
        without = scatter[many] - share[:, :, None] * offset[:, :, None] * offset[:, None, :]
        distance = np.linalg.norm(share * offset, axis=1)
        stray = self._beside(distance) - ((distance / (STRAY_REACH * self.extent)) ** 2)[:, None]
        stray += self._without_stray(m - 1, without) + np.log(STRAY * m)[:, None]
        log_p[many] = np.logaddexp(log_p[many], stray)
        return log_p

    def partition(self, log_p: FloatArray, size: IntArray, centres: FloatArray) -> float:
        """log p of a partition, from `log_p` (Q, G), `size` (Q,) and `centres` (Q, d) of its groups."""
        k, q = self.n_ends, len(size)
        # 1/Q for the number, one over C(K - 1, Q - 1) for the sizes, Q! prod m_q! / K! for who is in which.
        sizes = -np.log(q) + gammaln(q) + gammaln(k - q + 1) - gammaln(k)
        which = gammaln(q + 1) + gammaln(size + 1).sum() - gammaln(k + 1)
        given_sigma = log_p.sum(axis=0) + self._layout(centres[size > 1])
        return float(sizes + which + logsumexp(self.log_prior + given_sigma))

    def _without_stray(self, size: IntArray, scatter: FloatArray) -> FloatArray:
        d, nu = self.dimension, self.dimension + 1
        m, psi = size[:, None].astype(np.float64), 2 * np.log(2) * self.sigma**2
        along = np.maximum(np.linalg.eigvalsh(scatter), 0)
        free = d * (m - 1) / 2
        even = gammaln(1 + free) + np.log(psi / 2) - (1 + free) * np.log((psi + along.sum(axis=1)[:, None]) / 2)
        even -= free * np.log(2)
        # One direction after the other: (n, G, d) at once would be large for many ends.
        wide = np.maximum(along, SLIMMEST**2 * along[:, -1:])
        log_det = sum(np.log(psi + wide[:, j, None]) for j in range(d))
        shaped = multigammaln((nu + m - 1) / 2, d) - multigammaln(nu / 2, d)
        shaped = shaped + nu * d / 2 * np.log(psi) - (nu + m - 1) / 2 * log_det
        either = np.logaddexp(np.log(1 - SHAPED) + even, np.log(SHAPED) + shaped)
        # Ends that scatter over a good part of the extent are not those of one goal.
        longest = along[:, -1:] / np.maximum(m - 1, 1) / (SPREAD_REACH * self.extent) ** 2
        return np.asarray(either - free * np.log(np.pi) - d / 2 * np.log(m) - longest - self.log_volume)

    def _beside(self, distance: FloatArray) -> FloatArray:
        """Log density (n, G) of a place at `distance` (n,) from another when the distance is log-uniform.

        1 / (A_d r^d log(extent/sigma)), A_d the area of the unit sphere.
        """
        d = self.dimension
        area = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)
        range_ = np.log(np.maximum(np.log(self.extent / self.sigma), 1))
        return np.asarray(-area - d / 2 * np.log(distance[:, None] ** 2 + (APART * self.sigma) ** 2) - range_)

    def _layout(self, centres: FloatArray) -> FloatArray:
        """What it is worth (G,) that centres lie beside each other: along the tree of nearest ones, place for place."""
        if len(centres) < 2:
            return np.zeros(len(self.sigma))
        beside = self._beside(gaps(centres)) + self.log_volume
        return np.asarray(np.logaddexp(np.log(1 - BESIDE), np.log(BESIDE) + beside).sum(axis=0))
