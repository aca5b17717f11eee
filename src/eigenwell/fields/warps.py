"""The learned field through a change of coordinates: walls, and what all warps have in common.

Let S be a diffeomorphism from the world as it is now to the world that was learned. Then

    f'(x) = c(x) DS(x)^-1 f(S(x)),      V'(x) = V(S(x)),      c > 0

has the same phase portrait: z = S(x) moves with c f(z), so V' falls along f' exactly where V falls along f, and sinks, saddles,
basins and separatrices are the images under S^-1 of the learned ones, as many and of the same kind. c only changes the
clock. S is a composition of small ones, applied from the world inwards; each is a tuple of arrays with S, DS and S^-1. As in
`flows`, points are columns, (d, n), and arrays may be of any library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._types import FloatArray
from .flows import TINY, Array, namespace

SKIN = 1e-6
"""A state nearer to a wall than this share of its margin, or to a body than this share of its size, or beyond, is taken to
be so near: it has a place in the learned world too."""
BACK = 0.1
"""A state this share of a margin or of a ball's size on the wrong side is taken straight back, at the speed it would have."""


def length(v: Array) -> Array:
    """|v|, (n,)."""
    return namespace(v).sqrt((v * v).sum(0))


class Slope:
    """DS at n points: products with it, and what it makes of a velocity."""

    keeps_speed: ClassVar[bool] = True
    """Whether a velocity is carried at the speed it has in the learned world; else a way that is longer takes as long."""

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

    @property
    def home(self) -> Stretch | None:
        """The innermost, where there is one."""
        return next((warp for warp in self.warps if isinstance(warp, Stretch)), None)

    def room(self) -> tuple[FloatArray, FloatArray] | None:
        """Between which coordinates nothing is moved, where there is nothing but what keeps a field home."""
        if self.later or len(self.warps) != 1 or not isinstance(self.warps[0], Stretch):
            return None
        one = self.warps[0]
        return one.low + one.margin[0], one.high - one.margin[1]

    def still(self, u: Array) -> bool:
        """Whether S(x) = x for all of some points."""
        room = self.room()
        if room is None:
            return not (self.warps or self.later)
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
        return xp.concatenate([w / self.scale, clock * v[n:]], axis=0), clock

    def braked(self, v: Array) -> tuple[Array, Array]:
        """A velocity of the world, no faster than the limit, so that it does not run into walls and bodies, and its clock."""
        xp, n = namespace(v), len(self.scale)
        w = v[:n] * self.scale
        slow, back = xp.ones_like(v[0]), xp.zeros_like(w)
        for slope in self.slopes:
            found = slope.brake(w)
            if found is not None:
                slow, back = xp.minimum(slow, found[0]), back + found[1]
        w, slow = returning(w, slow, back)
        return xp.concatenate([w / self.scale, slow * v[n:]], axis=0), slow

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
        return w - self.pull(namespace(w).concatenate([self.drift / self.scale, 0.0 * w[len(self.scale) :]], axis=0))

    def pull(self, v: Array) -> Array:
        """DS^-1 v."""
        n = len(self.scale)
        head = v[:n] * self.scale
        for slope in reversed(self.slopes):
            head = slope.pull(head)
        return namespace(v).concatenate([head / self.scale, v[n:]], axis=0)


def returning(w: Array, slow: Array, back: Array) -> tuple[Array, Array]:
    """Velocities (d, n) slowed and taken `back` from the wrong side, no faster than they were; and the share that is kept."""
    xp = namespace(w)
    straight = length(back) / (length(w) + TINY)
    slow = slow * xp.maximum(1.0 - straight, 0.0)
    return slow * w + back / xp.maximum(straight, 1.0), slow


# --- walls --------------------------------------------------------------------------------------------


def used(walls: Stretch | Within, x: Array) -> tuple[Array, Array]:
    """u >= 0, which share of the margin of the lower and of the upper wall is used, (d, n)."""
    xp, (below, above) = namespace(x), walls.margin
    under = ((walls.low + below)[:, None] - x) / below[:, None]
    over = (x - (walls.high - above)[:, None]) / above[:, None]
    return xp.maximum(under, 0.0), xp.maximum(over, 0.0)


def shifted(walls: Stretch | Within, x: Array, by: Callable[[Array], Array]) -> Array:
    """x with every coordinate taken outwards by margins times `by` of the share that is used."""
    below, above = used(walls, x)
    return x - walls.margin[0][:, None] * by(below) + walls.margin[1][:, None] * by(above)


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
        return shifted(self, x, self._excess)

    def linearise(self, x: Array) -> tuple[Array, Diagonal]:
        """S(x) and DS(x), diagonal."""
        return self.forward(x), Diagonal(self._slope(*used(self, x)))

    def inverse(self, z: Array) -> Array:
        """S^-1(z): u = w / (1 + w) up to the knee, a quadratic beyond."""
        xp, knee, h = namespace(z), self.knee, 1.0 - self.knee
        top, steep = knee / h, h**-2

        def back(w: Array) -> Array:
            over = xp.maximum(w - top, 0.0) / h
            less = steep - over
            root = xp.sqrt(less * less + 4.0 * over)
            # The positive root, written without the difference of near numbers.
            v = xp.where(less > 0, 2.0 * over / xp.where(less > 0, less + root, 1.0), 0.5 * (root - less))
            return xp.where(w < top, w / (1.0 + w), knee + h * v) - w

        return shifted(self, z, back)

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

    def pull(self, w: Array) -> Array:
        return w / self.scale

    def push_gradient(self, w: Array) -> Array:
        return w * self.scale


class Within(NamedTuple):
    """Walls that no state passes: per coordinate the identity up to a margin m from the wall, which is stretched to infinity.

    With u the share of the margin that is used, S = edge - m ln(1 - u), so that what heads for the wall with v in the learned
    world does so with (1 - u) v. Where a goal is near a wall its margin is thin; what heads there is slowed from farther
    away, and never faster than |v| times the way left over `braking`: a step that is shorter than that does not reach the wall.
    """

    low: Array
    high: Array
    """(d,), -inf and inf where open."""
    margin: Array
    """(2, d) > 0, below and above."""
    braking: Array
    """> 0, the same for all coordinates, as the limit of speed is: of a box that is flat, a tenth of its longest side."""

    def forward(self, x: Array) -> Array:
        """S(x)."""
        xp = namespace(x)
        return shifted(self, x, lambda u: -xp.log(1.0 - xp.minimum(u, 1.0 - SKIN)) - u)

    def linearise(self, x: Array) -> tuple[Array, Walled]:
        """S(x) and DS(x), diagonal."""
        xp, (below, above) = namespace(x), used(self, x)
        slope = 1.0 / (1.0 - xp.minimum(xp.maximum(below, above), 1.0 - SKIN))
        ways = x - self.low[:, None], self.high[:, None] - x
        under, over = (
            xp.maximum(xp.minimum(way, self.braking), SKIN * margin[:, None]) / self.braking
            for way, margin in zip(ways, self.margin, strict=True)
        )
        beyond = (xp.maximum(u + SKIN, 1.0) - 1.0 for u in (below, above))
        out, back = (xp.minimum(one / BACK, 1.0) for one in beyond)
        return self.forward(x), Walled(slope, under, over, out - back)

    def inverse(self, z: Array) -> Array:
        """S^-1(z), at the skin of a wall for what is farther than any state of the world."""
        xp = namespace(z)
        return shifted(self, z, lambda w: 1.0 - xp.exp(xp.maximum(-w, np.log(SKIN))) - w)


@dataclass(frozen=True)
class Walled(Diagonal):
    """DS of Within, and how near each wall is."""

    under: Array
    over: Array
    """The way left to the lower and to the upper wall, as a share of that of braking, at most 1."""
    back: Array
    """-1 to 1: which way is back, for a state beyond a wall."""

    def brake(self, w: Array) -> tuple[Array, Array]:
        xp, speed = namespace(w), length(w)
        left = xp.where(w > 0, self.over, self.under)
        return xp.minimum((left * speed / (xp.abs(w) + TINY)).min(0), 1.0), speed * self.back
