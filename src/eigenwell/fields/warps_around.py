"""Around a ball, an ellipsoid, or several that overlap: the world without them is the learned world without one point.

With the gauge tau of the body about its centre c (1 on its surface, growing in proportion along every ray; |x - c| / r for a
ball) and the reach kappa > 1, t = (tau - 1) / (kappa - 1),

    S(x) = c + (sigma / tau) (x - c),      sigma = t (kappa + 1 - t)      for 1 < tau < kappa,      S(x) = x beyond.

sigma rises from 0 to kappa with slope 1 at the end, so S is a diffeomorphism of the world without the body onto the
learned world without c, det DS = (sigma / tau)^(d-1) sigma' > 0, and DS is a number and a product of two vectors. All but the one
solution that the learned field takes through c go round the body; none touches it; no sink appears.

For overlapping bodies with a common point c the gauge of the union is smoothed, tau = (sum_i tau_i^-p)^(-1/p).
"""

from __future__ import annotations

from typing import NamedTuple

from .flows import Array, namespace
from .warps import BACK, TINY, length

SKIN = 1e-6
"""Where a state touches or is inside, its place in the learned world is that of one this share of the size outside."""
SLOW = 2.0
"""Sizes from the centre within which a state that heads for the surface is slowed."""
CENTRE = 1e-9
"""A state in the very middle is taken to be so far off it, along the first axis."""
UNION = 4
"""p: two bodies meet in a round, which fills the crease between them, and bulges by at most 2^(1/4) = 19 % there."""


class Around(NamedTuple):
    """Bodies |A_i (x - c_i)| <= 1 with a common inner point."""

    centre: Array
    """c, (d,), inside all of them."""
    centres: Array
    """c_i, (m, d)."""
    shapes: Array
    """A_i, (m, d, d); 1 / r for a ball."""
    reach: Array
    """kappa: nothing changes beyond so many sizes."""

    def gauge(self, x: Array) -> tuple[Array, Array]:
        """tau, (n,), and its gradient, (n, d).

        tau_i solves |y / tau + b| = 1, y = A_i (x - c), b = A_i (c - c_i): k tau^2 - 2 (b . y) tau - |y|^2 = 0, k = 1 - |b|^2.
        """
        xp = namespace(x)
        y = xp.einsum("mij,nj->mni", self.shapes, x - self.centre)
        b = xp.einsum("mij,mj->mi", self.shapes, self.centre - self.centres)[:, None]
        k = 1.0 - (b * b).sum(-1)
        along = (b * y).sum(-1)
        root = xp.sqrt(along * along + k * (y * y).sum(-1) + TINY)
        taus = (along + root) / k
        slopes = xp.einsum("mij,mni->mnj", self.shapes, (taus[:, :, None] * b + y) / root[:, :, None])
        if len(self.centres) == 1:
            return taus[0], slopes[0]
        least = taus.min(0)
        tau = least * ((least / taus) ** UNION).sum(0) ** (-1 / UNION)
        return tau, (((tau / taus) ** (UNION + 1))[:, :, None] * slopes).sum(0)

    def forward(self, x: Array) -> Array:
        """S(x)."""
        return self.linearise(x)[0]

    def linearise(self, x: Array) -> tuple[Array, Radial]:
        """S(x) and DS(x) = phi I + phi' (x - c) (grad tau)^T, phi = sigma / tau."""
        xp = namespace(x)
        kappa = self.reach
        away = x - self.centre
        away = xp.where((away * away).sum(-1, keepdims=True) > 0, away, xp.eye(1, away.shape[1]) * CENTRE)
        tau, slope = self.gauge(self.centre + away)
        inside = tau / (1.0 + SKIN)
        # Inside, the place on the skin; the gradient of a gauge is the same all along a ray.
        outer = xp.maximum(tau, 1.0 + SKIN)
        away = away * (outer / tau)[:, None]
        t = xp.minimum((outer - 1.0) / (kappa - 1.0), 1.0)
        sigma = xp.where(t < 1.0, t * (kappa + 1.0 - t), outer)
        rise = xp.where(t < 1.0, (kappa + 1.0 - 2.0 * t) / (kappa - 1.0), 1.0)
        phi = sigma / outer
        return self.centre + phi[:, None] * away, Radial(away, slope, outer, phi, rise, inside)

    def inverse(self, z: Array) -> Array:
        """S^-1(z): t (kappa + 1 - t) = tau(z), a quadratic."""
        xp = namespace(z)
        kappa = self.reach
        sigma = self.gauge(z)[0]
        half = (kappa + 1.0) / 2.0
        inner = xp.minimum(sigma, kappa)
        # The smaller root, written without the difference of near numbers.
        t = inner / (half + xp.sqrt(half * half - inner))
        tau = xp.where(sigma < kappa, 1.0 + (kappa - 1.0) * t, sigma)
        return self.centre + (tau / (sigma + TINY))[:, None] * (z - self.centre)


class Radial(NamedTuple):
    """DS = phi I + phi' a g^T, with g . a = tau and phi + phi' tau = sigma'."""

    away: Array
    slope: Array
    tau: Array
    phi: Array
    rise: Array
    inside: Array
    """tau of the state itself; below 1 it is inside."""

    @property
    def bend(self) -> Array:
        """phi'."""
        return (self.rise - self.phi) / self.tau

    def push(self, w: Array) -> Array:
        along = (self.slope * w).sum(-1)
        return self.phi[:, None] * w + (self.bend * along)[:, None] * self.away

    def pull(self, w: Array) -> Array:
        along = (self.slope * w).sum(-1)
        return (w - (self.bend / self.rise * along)[:, None] * self.away) / self.phi[:, None]

    def push_gradient(self, w: Array) -> Array:
        along = (self.away * w).sum(-1)
        return self.phi[:, None] * w + (self.bend * along)[:, None] * self.slope

    def carry(self, v: Array) -> tuple[Array, Array]:
        """At the speed of the learned field."""
        w = self.pull(v)
        c = (length(v) + TINY) / (length(w) + TINY)
        return w * c[:, None], c

    def slower(self, w: Array) -> Array:
        """What heads for the surface does so with at most |w| (tau - 1) / (SLOW - 1), however thin the layer is."""
        xp = namespace(w)
        towards = xp.maximum(-(self.slope * w).sum(-1), 0.0)
        limit = length(w) * length(self.slope) * (self.tau - 1.0) / (SLOW - 1.0)
        return xp.minimum(limit / (towards + TINY), 1.0)

    def back(self, w: Array) -> Array:
        """From inside straight out."""
        out = namespace(w).clip((1.0 - self.inside) / BACK, 0.0, 1.0)
        return (length(w) / length(self.away) * out)[:, None] * self.away
