"""The learned field through a change of coordinates: walls, and what all warps have in common.

Let S be a diffeomorphism from the world as it is now to the world that was learned. Then

    f'(x) = c(x) DS(x)^-1 f(S(x)),      V'(x) = V(S(x)),      c > 0

has the same phase portrait: z = S(x) moves with c f(z), so V' falls along f' exactly where V falls along f, and sinks, saddles,
basins and separatrices are the images under S^-1 of the learned ones, as many and of the same kind. c only changes the
clock. S is a composition of small ones, applied from the world inwards; each is a tuple of arrays with S, DS and S^-1. As in
`flows`, points are columns, (d, n), and arrays may be of any library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._types import FloatArray
from .flows import TINY, Array, namespace

KNEE = 0.999
"""Share of a wall's margin from which the stretch goes back to none: at the wall itself the learned world is more than a
thousand margins away, and states that were pushed beyond still have a place in it."""
BACK = 0.1
"""A state this share of a margin or of a ball's size on the wrong side is taken straight back, at the speed it would have."""


def length(v: Array) -> Array:
    """|v|, (n,)."""
    return namespace(v).sqrt((v * v).sum(0))


class Slope:
    """DS at n points: products with it, and what it makes of a velocity."""

    keeps_speed: ClassVar[bool] = True
    """Whether a velocity is carried at the speed it has in the learned world; else a way that is longer takes as long."""

    def push(self, w: Array) -> Array:
        """DS w."""
        raise NotImplementedError

    def pull(self, w: Array) -> Array:
        """DS^-1 w: velocities of the learned world become velocities of this one."""
        raise NotImplementedError

    def push_gradient(self, w: Array) -> Array:
        """DS^T w: gradients in the learned world become gradients in this one."""
        raise NotImplementedError

    def carry(self, v: Array) -> tuple[Array, Array]:
        """c DS^-1 v, and c > 0, (n,)."""
        w = self.pull(v)
        if not self.keeps_speed:
            return w, namespace(v).ones_like(v[0])
        c = (length(v) + TINY) / (length(w) + TINY)
        return w * c, c

    def brake(self, w: Array) -> tuple[Array, Array] | None:
        """A share of the speed, (n,), with which w does not run into what must not be touched; and for states on its wrong
        side the way straight back, at the speed |w|, (d, n). None where nothing is to be touched."""
        return None


class World(NamedTuple):
    """What a stable field is seen through, in its unit coordinates: the first n of them are warped, others (a phase) pass."""

    centre: Array
    scale: Array
    """(n,): x = centre + scale * x_unit."""
    warps: tuple[Any, ...]
    """From the world inwards, in the data's units."""
    places: Array
    """(Q, n), where the attractors are in the world."""
    later: tuple[Any, ...] = ()
    """The warps after `moment`, for goals that move; none: everything stands still."""
    moment: float = 1.0

    @property
    def outer(self) -> World:
        """Without the innermost, which keeps every field home: the change that was asked for."""
        return self._replace(warps=tuple(one for one in self.warps if not isinstance(one, Stretch)), later=())

    def room(self) -> tuple[FloatArray, FloatArray] | None:
        """Between which coordinates nothing is moved, where there is nothing but what keeps a field home."""
        if len(self.warps) != 1 or not isinstance(self.warps[0], Stretch):
            return None
        one = self.warps[0]
        return one.low + one.margin[0], one.high - one.margin[1]

    def still(self, u: Array) -> bool:
        """Whether S(x) = x for all of some points."""
        room = self.room()
        if room is None:
            return not self.warps
        low, high = (((edge - self.centre) / self.scale)[:, None] for edge in room)
        head = u[: len(self.centre)]
        return bool((head >= low).all() and (head <= high).all())

    def forward(self, u: Array) -> Array:
        """S(x)."""
        return self._outward(_through(self.warps, self._inward(u)), u)

    def inverse(self, u: Array) -> Array:
        """S^-1(z)."""
        z = self._inward(u)
        for warp in reversed(parts(self.warps)):
            z = warp.inverse(z)
        return self._outward(z, u)

    def linearise(self, u: Array) -> tuple[Array, Seen]:
        """S(x) and DS(x)."""
        x = start = self._inward(u)
        slopes = []
        for warp in parts(self.warps):
            x, slope = warp.linearise(x)
            slopes.append(slope)
        # z = S(x, t) moves with f(z) only when dS/dt, what the world does by itself, is taken off.
        drift = (_through(self.later, start) - x) / self.moment if self.later else None
        return self._outward(x, u), Seen(self.scale[:, None], slopes, drift)

    def _inward(self, u: Array) -> Array:
        return u[: len(self.centre)] * self.scale[:, None] + self.centre[:, None]

    def _outward(self, x: Array, u: Array) -> Array:
        head = (x - self.centre[:, None]) / self.scale[:, None]
        return namespace(u).concatenate([head, u[len(self.centre) :]], axis=0)


def parts(warps: tuple[Any, ...]) -> list[Any]:
    """Warps one by one, those that are made of several steps step by step."""
    return [part for warp in warps for part in getattr(warp, "parts", [warp])]


def _through(warps: tuple[Any, ...], x: Array) -> Array:
    for warp in parts(warps):
        x = warp.forward(x)
    return x


class Seen(NamedTuple):
    """DS of a World at n points."""

    scale: Array
    slopes: list[Slope]
    drift: Array | None

    def carry(self, v: Array) -> tuple[Array, Array]:
        """c DS^-1 v and c, in unit coordinates."""
        xp, n = namespace(v), len(self.scale)
        w, clock = v[:n] * self.scale, xp.ones_like(v[0])
        for slope in reversed(self.slopes):
            w, c = slope.carry(w)
            clock = clock * c
        # The brakes see where the state really goes, after all warps.
        slow, back = xp.ones_like(clock), xp.zeros_like(w)
        for slope in self.slopes:
            found = slope.brake(w)
            if found is not None:
                slow, back = xp.minimum(slow, found[0]), back + found[1]
        return xp.concatenate([(w * slow + back) / self.scale, clock * slow * v[n:]], axis=0), clock * slow

    def push_gradient(self, w: Array) -> Array:
        """DS^T w."""
        n = len(self.scale)
        head = w[:n] / self.scale
        for slope in reversed(self.slopes):
            head = slope.push_gradient(head)
        return namespace(w).concatenate([head * self.scale, w[n:]], axis=0)

    def following(self, w: Array) -> Array:
        """w - DS^-1 dS/dt: what a state must do beside, so as to stay with goals that move; pace is the caller's."""
        if self.drift is None:
            return w
        n, head = len(self.scale), self.drift
        for slope in reversed(self.slopes):
            head = slope.pull(head)
        return namespace(w).concatenate([w[:n] - head / self.scale, w[n:]], axis=0)


# --- walls --------------------------------------------------------------------------------------------


class Stretch(NamedTuple):
    """Per coordinate the identity up to a margin m from the wall, then stretched, and beyond a knee less and less.

    With u the share of the margin that is used, S = edge + m g(u), g = u / (1 - u) up to the knee k; from there on, with
    h = 1 - k, g' = 1 + (h^-2 - 1) (h / (h + u - k))^2, which falls back to 1: what is far outside is moved away and not
    stretched. g' >= 1, so S is a diffeomorphism of R^d for any k < 1.
    """

    low: Array
    high: Array
    """(d,), -inf and inf where open."""
    margin: Array
    """(2, d) > 0, below and above."""
    knee: Array

    def forward(self, x: Array) -> Array:
        """S(x)."""
        below, above = self.used(x)
        return x - self.margin[0][:, None] * self._excess(below) + self.margin[1][:, None] * self._excess(above)

    def linearise(self, x: Array) -> tuple[Array, Diagonal]:
        """S(x) and DS(x), diagonal."""
        return self.forward(x), Diagonal(self._slope(*self.used(x)))

    def inverse(self, z: Array) -> Array:
        """S^-1(z): u = w / (1 + w) up to the knee, a quadratic beyond."""
        xp = namespace(z)
        below, above = self.used(z)
        knee, h = self.knee, 1.0 - self.knee
        top, steep = knee / h, h**-2

        def lost(w: Array) -> Array:
            over = xp.maximum(w - top, 0.0) / h
            less = steep - over
            root = xp.sqrt(less * less + 4.0 * over)
            # The positive root, written without the difference of near numbers.
            v = xp.where(less > 0, 2.0 * over / xp.where(less > 0, less + root, 1.0), 0.5 * (root - less))
            return w - xp.where(w < top, w / (1.0 + w), knee + h * v)

        return z + self.margin[0][:, None] * lost(below) - self.margin[1][:, None] * lost(above)

    def used(self, x: Array) -> tuple[Array, Array]:
        """u >= 0 of the lower and of the upper wall, (d, n)."""
        xp, (below, above) = namespace(x), self.margin
        under = ((self.low + below)[:, None] - x) / below[:, None]
        over = (x - (self.high - above)[:, None]) / above[:, None]
        return xp.maximum(under, 0.0), xp.maximum(over, 0.0)

    def _excess(self, u: Array) -> Array:
        """g(u) - u."""
        inner, h = namespace(u).minimum(u, self.knee), 1.0 - self.knee
        rest = u - inner
        return inner / (1.0 - inner) - inner + (1.0 / (h * h) - 1.0) * rest * h / (h + rest)

    def _slope(self, below: Array, above: Array) -> Array:
        """g'(u) of whichever wall is nearer."""
        xp, h = namespace(below), 1.0 - self.knee
        u = xp.maximum(below, above)
        inner = xp.minimum(u, self.knee)
        left, fall = 1.0 - inner, h / (h + u - inner)
        return 1.0 + (1.0 / (left * left) - 1.0) * fall * fall


@dataclass(frozen=True)
class Diagonal(Slope):
    """DS = diag(scale)."""

    scale: Array

    def push(self, w: Array) -> Array:
        return w * self.scale

    def pull(self, w: Array) -> Array:
        return w / self.scale

    def push_gradient(self, w: Array) -> Array:
        return w * self.scale


class Within(NamedTuple):
    """Walls that no state passes: a Stretch whose knee is at the wall, so that the wall is a thousand margins away.

    Speed is that of the learned field, but what heads for a wall is slowed in proportion to the way left, at most |v| (1 - u):
    a step never reaches it that is shorter than the margin.
    """

    low: Array
    high: Array
    margin: Array

    @property
    def stretch(self) -> Stretch:
        return Stretch(*self, np.float64(KNEE))

    def forward(self, x: Array) -> Array:
        """S(x)."""
        return self.stretch.forward(x)

    def linearise(self, x: Array) -> tuple[Array, Walled]:
        """S(x) and DS(x)."""
        z, diagonal = self.stretch.linearise(x)
        return z, Walled(diagonal.scale, *self.stretch.used(x))

    def inverse(self, z: Array) -> Array:
        """S^-1(z)."""
        return self.stretch.inverse(z)


@dataclass(frozen=True)
class Walled(Diagonal):
    """DS of Within, and how near each wall is."""

    below: Array
    above: Array

    def brake(self, w: Array) -> tuple[Array, Array]:
        xp, speed = namespace(w), length(w)
        left = xp.maximum(1.0 - xp.where(w > 0, self.above, self.below), 1.0 - KNEE)
        share = xp.minimum((left * speed / (xp.abs(w) + TINY)).min(0), 1.0)
        over = xp.maximum(self.below - 1.0, 0.0) - xp.maximum(self.above - 1.0, 0.0)
        return share, speed * xp.maximum(xp.minimum(over / BACK, 1.0), -1.0)
