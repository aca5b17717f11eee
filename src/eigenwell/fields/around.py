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
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from ..errors import DataError
from .flows import TINY, Array, namespace
from .warps import BACK, SKIN, Slope, length

CENTRE = 1e-9
"""A state in the very middle is taken to be so far off it, along the first axis."""
UNION = 4
"""p: two bodies meet in a round, which fills the crease between them, and bulges by at most 2^(1/4) = 19 % there."""
REACH = 2.0
"""The layer around a body in which ways bend ends at twice its size, or before a goal, a wall or another body's; what heads for
the surface is slowed from there on, however thin the layer is."""
THINNEST = 1.02
"""A layer thinner than a fiftieth of the body's size is no room: bodies so near count as touching."""


def gauge(centre: Array, own: Array, shape: Array, away: Array) -> tuple[Array, Array]:
    """tau, (n,), of one body |A (x - c_i)| <= 1 at places x = c + away, and its gradient, (d, n).

    tau solves |y / tau + b| = 1, y = A (x - c), b = A (c - c_i): k tau^2 - 2 (b . y) tau - |y|^2 = 0, k = 1 - |b|^2.
    """
    y, b = shape @ away, (shape @ (centre - own)[:, None])
    k = 1.0 - (b * b).sum(0)
    along = (b * y).sum(0)
    root = namespace(away).sqrt(along * along + k * (y * y).sum(0)) + TINY
    tau = (along + root) / k
    return tau, shape.T @ ((tau * b + y) / root)


def joined(tau: Array, slope: Array, other: Array, its: Array) -> tuple[Array, Array]:
    """(tau^-p + other^-p)^(-1/p) and its gradient, of two gauges and theirs; of several, one after the other."""
    least = namespace(tau).minimum(tau, other)
    both = least * ((least / tau) ** UNION + (least / other) ** UNION) ** (-1 / UNION)
    return both, (both / tau) ** (UNION + 1) * slope + (both / other) ** (UNION + 1) * its


def aside(away: Array) -> Array:
    """Off the very middle, from which no way out is the shortest."""
    return namespace(away).where((away * away).sum(0) > 0, away, CENTRE * np.eye(len(away))[:, :1])


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
        """tau, (n,), and its gradient, (d, n), at places x = c + away."""
        each = (gauge(self.centre, *body, away) for body in zip(self.centres, self.shapes, strict=True))
        return reduce(lambda one, other: joined(*one, *other), each)

    def forward(self, x: Array) -> Array:
        """S(x)."""
        return self.linearise(x)[0]

    def linearise(self, x: Array) -> tuple[Array, Radial]:
        """S(x) and DS(x) = phi I + phi' (x - c) (grad tau)^T, phi = sigma / tau."""
        away = aside(x - self.centre[:, None])
        return self.rounded(away, *self.gauge(away))

    def rounded(self, away: Array, tau: Array, slope: Array) -> tuple[Array, Radial]:
        """The same at c + away, where the gauge and its gradient are known."""
        xp, kappa = namespace(away), self.reach
        inside = tau / (1.0 + SKIN)
        # Inside, the place on the skin; the gradient of a gauge is the same all along a ray.
        outer = xp.maximum(tau, 1.0 + SKIN)
        away = away * (outer / tau)
        t = xp.minimum((outer - 1.0) / (kappa - 1.0), 1.0)
        sigma = xp.where(t < 1.0, t * (kappa + 1.0 - t), outer)
        rise = xp.where(t < 1.0, (kappa + 1.0 - 2.0 * t) / (kappa - 1.0), 1.0)
        phi = sigma / outer
        return self.centre[:, None] + phi * away, Radial(away, slope, outer, phi, rise, inside)

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
        """What heads for the surface does so with at most |w| (tau - 1) / (REACH - 1), however thin the layer is."""
        xp, speed = namespace(w), length(w)
        towards = xp.maximum(-(self.slope * w).sum(0), 0.0)
        limit = speed * length(self.slope) * (self.tau - 1.0) / (REACH - 1.0)
        out = xp.maximum(xp.minimum((1.0 - self.inside) / BACK, 1.0), 0.0)
        return xp.minimum(limit / (towards + TINY), 1.0), speed / length(self.away) * out * self.away


# --- which of them overlap, and how far the layer around each may reach ----------------------------------


class Bodies(NamedTuple):
    """|A_i (x - c_i)| <= 1."""

    centres: FloatArray
    """(m, d)."""
    shapes: FloatArray
    """A_i, (m, d, d)."""

    def joined(self, others: Bodies) -> Bodies:
        return Bodies(*(np.concatenate([mine, theirs]) for mine, theirs in zip(self, others, strict=True)))


def as_numbers(value: Any, what: str) -> FloatArray:
    """An array of what a user gave."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"Expected {what}, got {type(value).__name__}.") from error


def check_bodies(centre: Any, radius: Any, axes: Any, d: int) -> Bodies:
    """Balls or ellipsoids as a user gives them, one or several."""
    centres = np.atleast_2d(as_numbers(centre, f"a centre as {d} numbers, or several"))
    if centres.ndim != 2 or centres.shape[1] != d or not np.isfinite(centres).all():
        raise DataError(f"Expected centres as {d} finite numbers each, got shape {np.shape(centre)}.")
    if (radius is None) == (axes is None):
        raise DataError("Expected either radius=... of a ball or axes=... of an ellipsoid, got both or none.")
    m = len(centres)
    if axes is None:
        radii = np.asarray(radius, dtype=np.float64)
        if radii.shape not in ((), (m,)) or not (np.isfinite(radii) & (radii > 0)).all():
            raise DataError(f"Expected a finite radius > 0, one or {m}, got {radius!r}. Nothing was changed.")
        return Bodies(centres, np.eye(d) / np.broadcast_to(radii, m)[:, None, None])
    half = np.asarray(axes, dtype=np.float64)
    if half.shape not in ((d, d), (m, d, d)) or not np.isfinite(half).all() or (np.linalg.det(half) == 0).any():
        raise DataError(f"Expected axes as {d} half axes in rows, none of them zero, got shape {half.shape}.")
    return Bodies(centres, np.broadcast_to(np.linalg.inv(np.swapaxes(np.atleast_3d(half.T).T, -1, -2)), (m, d, d)))


def arranged(
    bodies: Bodies, goals: FloatArray, low: FloatArray, high: FloatArray, margin: FloatArray
) -> tuple[list[Around], FloatArray]:
    """A warp for every group of bodies that overlap, layers apart from each other, goals and walls; and the walls' margins."""
    if len(bodies.centres) == 0:
        return [], margin
    groups = [_star(bodies, members) for members in _groups(bodies)]
    half = [_half_widths(one) for one in groups]
    reach = np.full(len(groups), REACH)
    for i, one in enumerate(groups):
        near = one.gauge((goals - one.centre).T)[0]
        reach[i] = min(reach[i], near.min())
        if reach[i] < THINNEST:
            q = int(near.argmin())
            raise DataError(
                f"Expected no goal inside what is gone round, or touching it, got goal {q} at {goals[q].tolist()} and a body "
                f"at {one.centre.tolist()}. Move the goal or the body; nothing was changed."
            )
        gap = np.array([one.centre - half[i][0] - low, high - one.centre - half[i][1]])
        if not (gap > 0).all():
            raise DataError(
                f"Expected what is gone round to lie within the walls, got a body at {one.centre.tolist()} that reaches one: "
                "there is no way between them. Take the body out and draw the wall in before it; nothing was changed."
            )
        margin = np.minimum(margin, gap / 2)
        reach[i] = min(reach[i], 1 + float((gap / 2 / np.array(half[i])).min()))
        for j in range(i):
            apart = _apart(groups[i], groups[j])
            reach[[i, j]] = np.minimum(reach[[i, j]], apart)
    return [one._replace(reach=np.float64(kappa)) for one, kappa in zip(groups, reach, strict=True)], margin


def _groups(bodies: Bodies) -> list[list[int]]:
    """Which bodies overlap or touch, in one piece."""
    m = len(bodies.centres)
    group = list(range(m))
    for i in range(m):
        for j in range(i):
            near = _contact(bodies.centres[i] - bodies.centres[j], bodies.shapes[i], bodies.shapes[j])[0]
            if near < THINNEST and group[i] != group[j]:
                group = [group[j] if g == group[i] else g for g in group]
    return [[i for i in range(m) if group[i] == g] for g in dict.fromkeys(group)]


def _contact(between: FloatArray, first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """By how much two ellipsoids can grow until they touch, below 1 where they overlap (Perram and Wertheim), and the share.

    kappa^2 = max over 0 < s < 1 of s (1 - s) b^T ((1 - s) P_1 + s P_2)^-1 b, P = (A^T A)^-1; concave, so by golden section.
    """
    p, q = (np.linalg.inv(a.T @ a) for a in (first, second))

    def height(s: float) -> float:
        return float(s * (1 - s) * between @ np.linalg.solve((1 - s) * p + s * q, between))

    low, high, golden = 0.0, 1.0, (5**0.5 - 1) / 2
    if np.allclose(p, p[0, 0] * np.eye(len(p))) and np.allclose(q, q[0, 0] * np.eye(len(q))):
        low = high = p[0, 0] ** 0.5 / (p[0, 0] ** 0.5 + q[0, 0] ** 0.5)
    while high - low > 1e-6:
        a, b = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, b) if height(a) > height(b) else (a, high)
    s = (low + high) / 2
    return height(s) ** 0.5, s


def _star(bodies: Bodies, members: list[int]) -> Around:
    """Bodies in one piece as one, about a point that lies in all of them."""
    centres, shapes = bodies.centres[members], bodies.shapes[members]
    # Bodies that only touch are made to overlap.
    shapes = shapes / (1.0 if len(members) == 1 else THINNEST**2)
    centre = centres.mean(0)
    for k in range(200 if len(members) > 1 else 0):
        depth = np.linalg.norm(np.einsum("mij,mj->mi", shapes, centre - centres), axis=1)
        worst = int(depth.argmax())
        centre = centre + (centres[worst] - centre) / (k + 2)
    depth = np.linalg.norm(np.einsum("mij,mj->mi", shapes, centre - centres), axis=1)
    if depth.max() >= 1 / THINNEST:
        raise DataError(
            f"Expected overlapping bodies with a point that lies in all of them, got {len(members)} in a chain or ring, "
            "which may leave no way. Put one larger ball or ellipsoid in their place, or leave a gap; nothing was changed."
        )
    return Around(centre, centres, shapes, np.float64(REACH))


def _half_widths(one: Around) -> tuple[FloatArray, FloatArray]:
    """How far a body reaches below and above its centre along every axis."""
    half = np.sqrt(np.einsum("mii->mi", np.linalg.inv(np.einsum("mji,mjk->mik", one.shapes, one.shapes))))
    # The round where several meet bulges.
    bulge = len(one.centres) ** (1 / UNION)
    offset = one.centres - one.centre
    return bulge * (half - offset).max(0), bulge * (half + offset).max(0)


def _apart(first: Around, second: Around) -> float:
    """By how much both can grow about their centres before they touch."""
    if len(first.centres) == len(second.centres) == 1:
        return _contact(first.centre - second.centre, first.shapes[0], second.shapes[0])[0]
    size = [float(np.linalg.norm(np.maximum(*_half_widths(one)))) for one in (first, second)]
    apart = float(np.linalg.norm(first.centre - second.centre)) / sum(size)
    if apart < THINNEST:
        raise DataError(
            f"Expected room between bodies, got {len(first.centres)} that overlap at {first.centre.tolist()} close to others at "
            f"{second.centre.tolist()}. Put one larger body in their place; nothing was changed."
        )
    return apart
