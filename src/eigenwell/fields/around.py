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

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .flows import TINY, Array, namespace
from .warps import BACK, SKIN, Slope, length

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

    def gauge(self, away: Array) -> tuple[Array, Array]:
        """tau, (n,), and its gradient, (d, n), at places x = c + away.

        tau_i solves |y / tau + b| = 1, y = A_i (x - c), b = A_i (c - c_i): k tau^2 - 2 (b . y) tau - |y|^2 = 0, k = 1 - |b|^2.
        """
        xp = namespace(away)
        taus, slopes = [], []
        for centre, shape in zip(self.centres, self.shapes, strict=True):
            y, b = shape @ away, (shape @ (self.centre - centre)[:, None])
            k = 1.0 - (b * b).sum(0)
            along = (b * y).sum(0)
            root = xp.sqrt(along * along + k * (y * y).sum(0) + TINY)
            tau = (along + root) / k
            taus.append(tau)
            slopes.append(shape.T @ ((tau * b + y) / root))
        if len(taus) == 1:
            return taus[0], slopes[0]
        each = xp.stack(taus, axis=0)
        least = each.min(0)
        tau = least * ((least / each) ** UNION).sum(0) ** (-1 / UNION)
        return tau, sum((tau / own) ** (UNION + 1) * slope for own, slope in zip(taus, slopes, strict=True))

    def forward(self, x: Array) -> Array:
        """S(x)."""
        return self.linearise(x)[0]

    def linearise(self, x: Array) -> tuple[Array, Radial]:
        """S(x) and DS(x) = phi I + phi' (x - c) (grad tau)^T, phi = sigma / tau."""
        xp, kappa = namespace(x), self.reach
        centre = self.centre[:, None]
        away = x - centre
        aside = CENTRE * np.eye(len(self.centre))[:, :1]
        away = xp.where((away * away).sum(0) > 0, away, aside)
        tau, slope = self.gauge(away)
        inside = tau / (1.0 + SKIN)
        # Inside, the place on the skin; the gradient of a gauge is the same all along a ray.
        outer = xp.maximum(tau, 1.0 + SKIN)
        away = away * (outer / tau)
        t = xp.minimum((outer - 1.0) / (kappa - 1.0), 1.0)
        sigma = xp.where(t < 1.0, t * (kappa + 1.0 - t), outer)
        rise = xp.where(t < 1.0, (kappa + 1.0 - 2.0 * t) / (kappa - 1.0), 1.0)
        phi = sigma / outer
        return centre + phi * away, Radial(away, slope, outer, phi, rise, inside)

    def inverse(self, z: Array) -> Array:
        """S^-1(z): t (kappa + 1 - t) = tau(z), a quadratic."""
        xp, kappa = namespace(z), self.reach
        away = z - self.centre[:, None]
        sigma = self.gauge(away)[0]
        half = (kappa + 1.0) / 2.0
        inner = xp.minimum(sigma, kappa)
        # The smaller root, written without the difference of near numbers.
        t = inner / (half + xp.sqrt(half * half - inner))
        tau = xp.where(sigma < kappa, 1.0 + (kappa - 1.0) * t, sigma)
        return self.centre[:, None] + tau / (sigma + TINY) * away


@dataclass(frozen=True)
class Radial(Slope):
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

    def pull(self, w: Array) -> Array:
        return (w - self.bend / self.rise * (self.slope * w).sum(0) * self.away) / self.phi

    def push_gradient(self, w: Array) -> Array:
        return self.phi * w + self.bend * (self.away * w).sum(0) * self.slope

    def brake(self, w: Array) -> tuple[Array, Array]:
        """What heads for the surface does so with at most |w| (tau - 1) / (SLOW - 1), however thin the layer is."""
        xp, speed = namespace(w), length(w)
        towards = xp.maximum(-(self.slope * w).sum(0), 0.0)
        limit = speed * length(self.slope) * (self.tau - 1.0) / (SLOW - 1.0)
        out = xp.maximum(xp.minimum((1.0 - self.inside) / BACK, 1.0), 0.0)
        return xp.minimum(limit / (towards + TINY), 1.0), speed / length(self.away) * out * self.away
