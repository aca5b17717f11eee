"""One state at a time, fast, in any dimension: the field and its motions in a controller's inner loop.

What `flows`, `stable` and `warps` say of arrays is here a chain of small functions of plain numbers, written by the same formulas
(`symbols`). Only the features are sums of many terms, and stay with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from math import exp
from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from . import curves, flows, stable
from .flows import Flow, split, with_slopes
from .stable import Speed, StableModel, Wells
from .symbols import compiled, written
from .warps import Slope, World, parts, returning

NEAR, NEWTON = float(np.finfo(float).eps) ** 0.5, 8
"""A place is found once its latent one is so near: one more step squares what is left. And the steps that it may take."""
BESIDE = curves.ON_TIME * curves.STEP
"""So near to the way, in latent boxes, its clock is asked: one that changes by as much as itself over STEP is on time."""

Numbers = Sequence[float]
Way = Callable[[Numbers], Numbers]
Finish = Callable[[Numbers], tuple[Numbers, float]]


class Place(NamedTuple):
    """A state and what the field makes of it."""

    x: Numbers
    speed: float
    """s."""
    y: Numbers
    """psi(S(x))."""
    finish: Finish
    """Takes a latent velocity w to the world, where it is braked: m c DS^-1 J^-1 w; and m c."""
    pull: Way
    """DS^-1 J^-1 w."""
    clock: Callable[[Numbers], float]
    """c of a latent velocity."""
    warped: bool
    """Whether DS is not 1 here."""
    outside: Callable[[], bool]
    """Whether it is beyond a wall or inside a body, which S takes for its skin."""

    def towards(self, y: Numbers, begin: Place | None = None) -> list[float]:
        """Where y is in the world, to first order; to second where this place is half of the way from `begin`."""
        start = begin or self
        step = self.pull([a - b for a, b in zip(y, start.y, strict=True)])
        return [a + b for a, b in zip(start.x, step, strict=True)]


class Passage:
    """The way of a state, in the data's units, into the latent space and back, in plain numbers."""

    def __init__(self, model: StableModel, wells: Wells, centre: FloatArray, scale: FloatArray, pace: float) -> None:
        self.wells = wells
        self.at = _places(model, centre, scale, pace)
        self._model, self._frame = model, (centre, scale)
        self._kernels: dict[Any, Callable[..., Numbers]] = {}

    def kernel(self, function: Callable[..., Any], *more: tuple[int, ...]) -> Callable[..., Numbers]:
        """function(wells, y, ...) of one latent state, and of arrays of some more shapes."""
        if function not in self._kernels:
            wells = self.wells
            run = _of_wells(function, *wells.goals.shape, wells.winds, more)
            turns = [wells.window, wells.swirls] if wells.winds else []
            known = [wells.goals, wells.log_weights, wells.softening, *turns]
            numbers = [np.ravel(one).tolist() for one in known]
            self._kernels[function] = lambda *given: run(*numbers, *given)[0]
        return self._kernels[function]

    def drawn(self, here: Place) -> list[float]:
        """s u: the latent velocity of the field."""
        return [here.speed * c for c in self.kernel(stable.latent_velocity)(here.y)]

    def after(self, x: Numbers, dt: float) -> Numbers:
        """A state after some unit time, as `curves.after`: places along the solution are found from one to the next."""
        wells, longest, left = self.wells, curves.longest_step(self.wells), dt
        softened, to_go = self.kernel(curves.softened), self.kernel(curves.to_go)
        move = self._wound if len(wells.goals) == 1 and wells.winds else self.kernel(curves.advance, (1,))

        def asked(y: Numbers, guess: Numbers) -> tuple[Place, float]:
            """The place of y, and dt/dsigma there."""
            there = self.found(self.at(guess), y, BESIDE)
            return there, rate(there)

        def rate(there: Place) -> float:
            return softened(there.y)[0] / (there.finish(self.drawn(there))[1] * there.speed)

        here = self.begin(x)
        y, begin = here.y, rate(here)
        for _ in range(curves.MOST_STEPS):
            if left <= curves.ON_TIME * dt or to_go(y)[0] < curves.AT_REST:
                break
            half = min(longest, left / begin) / 2
            ahead = move(y, [half])
            between, middle = asked(ahead, here.towards(ahead))
            last = min(longest, left / middle)
            ahead = move(y, [last])
            here, end = asked(ahead, between.towards(ahead, here))
            (step,), (left,) = _clocked([begin], [middle], [end], [half], [last], [left], [longest])
            y, begin = move(y, [step]), end
        return self.found(here, y).towards(y)

    def begin(self, x: Numbers) -> Place:
        """Of a state; from outside that on the skin."""
        here = self.at(x)
        return self._placed(here.y) if here.outside() else here

    def _wound(self, y: Numbers, step: Numbers) -> Numbers:
        return curves.advance(self.wells, np.array(y)[:, None], step[0])[:, 0].tolist()  # type: ignore[no-any-return]

    def found(self, near: Place, y: Numbers, close: float = NEAR) -> Place:
        """The state whose latent place is y, from one nearby: by Newton's method, or the inverse where that does not settle."""
        for _ in range(NEWTON):
            if max(abs(a - b) for a, b in zip(y, near.y, strict=True)) < close:
                return near
            near = self.at(near.towards(y))
        return self._placed(y)

    def _placed(self, y: Numbers) -> Place:
        centre, scale = self._frame
        return self.at((stable.from_latent(self._model, np.array(y)[:, None])[:, 0] * scale + centre).tolist())


def _places(model: StableModel, centre: FloatArray, scale: FloatArray, pace: float) -> Callable[[Numbers], Place]:
    enter, psi, speed = _entrance(model.world), _flow(model.flow), _speed(model.speed)
    limit, frame = (model.brake / scale).tolist(), list(zip(centre.tolist(), scale.tolist(), strict=True))
    slowed = kernel(braked, (len(limit),), (1,), (len(limit), 1))

    def at(x: Numbers) -> Place:
        there, leave, stop, home, drift, outside = enter(x)
        z = [(c - middle) / size for c, (middle, size) in zip(there, frame, strict=True)]
        y, back = psi(z)

        def learned(w: Numbers) -> Numbers:
            return [c * size for c, (_, size) in zip(back(w), frame, strict=True)]

        def finish(w: Numbers) -> tuple[Numbers, float]:
            free, clock = leave(learned(w))
            velocity, (m,) = slowed(limit, [pace], free)
            stopped, share = stop(velocity)
            if drift is not None:
                stopped = [a - pace * b for a, b in zip(stopped, home(drift), strict=True)]
            return stopped, m * clock * share

        def pull(w: Numbers) -> Numbers:
            return home(learned(w))

        return Place(x, speed(z), y, finish, pull, lambda w: leave(learned(w))[1], leave is not _as_it_is, outside)

    return at


@cache
def _of_wells(
    function: Callable[..., Any], count: int, d: int, winds: bool, more: tuple[tuple[int, ...], ...]
) -> Callable[..., Any]:
    shapes = [(count, d), (count,), (count,), *([(1,), (count, d, d)] if winds else [])]
    still = (np.zeros(1), np.zeros((count, d, d)))

    def latent(goals: Any, log_weights: Any, softening: Any, *rest: Any) -> tuple[Any]:
        (window, swirls), rest = (rest[:2], rest[2:]) if winds else (still, rest)
        return (function(Wells(goals, log_weights, swirls, softening, window), *rest),)

    return compiled(latent, *shapes, (d, 1), *more)


kernel = lru_cache(maxsize=None)(compiled)
_clocked = compiled(curves.clocked, *[(1,)] * 7)


def braked(brake: Any, pace: Any, free: Any) -> tuple[Any, Any]:
    m = stable.braking(brake, free)
    return pace * m * free, m


# --- psi and the speed --------------------------------------------------------------------------------


def _waves(frequencies: Any, rows: Any) -> Way:
    """rows phi(p), phi as in `flows.fourier_features`; a cosine is a sine a quarter turn on."""
    count = len(frequencies)
    twice, shift = np.concatenate([frequencies, frequencies]), np.repeat([np.pi / 2, 0.0], count)
    rows = np.ascontiguousarray(rows * count**-0.5)
    if twice.shape[1] == 1:
        along = twice[:, 0].copy()
        return lambda p: rows.dot(np.sin(along * p[0] + shift)).tolist()
    return lambda p: rows.dot(np.sin(twice.dot(p) + shift)).tolist()


def _flow(flow: Flow) -> Callable[[Numbers], tuple[Numbers, Way]]:
    """psi(z), and J^-1 there. Coordinates are kept in the order of the layer at work, a turn on from the last one's."""
    d, passes = flow.dimension, flow.frequencies.shape[2]
    tables = with_slopes(flow.frequencies, flow.weights)
    moved, pulled = _layer(d, passes)
    k = [float(flow.window)]
    firsts = [int(split(d, layer)[0][0]) for layer in range(len(tables))]
    turns = [(first - before) % d for first, before in zip(firsts, [0, *firsts], strict=False)]
    layers = [(turn, _waves(*two)) for turn, *two in zip(turns, flow.frequencies, tables, strict=True)]
    home = d - firsts[-1]

    def psi(z: Numbers) -> tuple[Numbers, Way]:
        y, trail = (*z,), []
        for turn, waves in layers:
            y = y[turn:] + y[:turn]
            y, scale, shear = moved(k, y, waves(y[:passes]))
            trail.append((d - turn, scale, shear))

        def back(w: Numbers) -> Numbers:
            w = (*w[-home:], *w[:-home])
            for turn, scale, shear in reversed(trail):
                (w,) = pulled(scale, shear, w)
                w = (*w[turn:], *w[:turn])
            return w

        return y[home:] + y[:home], back

    return psi


def layer_moved(passes: int) -> Callable[..., tuple[Any, Any, Any]]:
    """`flows.moved` of all coordinates, passing ones first."""

    def moved(k: Any, y: Any, out: Any) -> tuple[Any, Any, Any]:
        q, scale, shear = flows.moved(k, y[:passes], y[passes:], out)
        return np.concatenate([y[:passes], q]), scale, shear

    return moved


def layer_pulled(passes: int) -> Callable[..., tuple[Any]]:
    """`flows.pulled` of all coordinates, passing ones first."""
    return lambda scale, shear, w: (np.concatenate([w[:passes], flows.pulled(scale, shear, w[:passes], w[passes:])]),)


@cache
def _layer(d: int, passes: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    moves = d - passes
    return (
        compiled(layer_moved(passes), (1,), (d, 1), (2 * moves * (1 + passes), 1)),
        compiled(layer_pulled(passes), (moves, 1), (moves, passes, 1), (d, 1)),
    )


def _speed(speed: Speed) -> Callable[[Numbers], float]:
    waves, k, offset = _waves(speed.frequencies, speed.weights[None]), [float(speed.window)], float(speed.offset)
    window = kernel(_window, (1,), (speed.frequencies.shape[1], 1))
    return lambda z: exp(window(k, z)[0][0] * waves(z)[0] + offset)


def _window(k: Any, p: Any) -> tuple[Any]:
    return (flows.window(k, p),)


# --- warps --------------------------------------------------------------------------------------------


Entered = tuple[Numbers, Finish, Finish, Way, Numbers | None, Callable[[], bool]]
"""S of a state; what takes a velocity from there back, with its clock, and what brakes it (`Seen`); DS^-1; dS/dt where goals
move; and whether it is outside."""


def _entrance(world: World | None) -> Callable[[Numbers], Entered]:
    if world is None:
        return lambda x: (x, _as_it_is, _as_it_is, _same, None, bool)
    n, room, moment = len(world.scale), world.room(), world.moment
    chain, later = ([_numbered(one, n) for one in parts(warps)] for warps in (world.warps, world.later))
    steps = [step for step, _ in chain]
    edges = [edge.tolist() for edge in room or ()]
    back_in = kernel(returning, (n, 1), (1,), (n, 1))

    def enter(x: Numbers) -> Entered:
        if edges and all(low <= c <= high for c, low, high in zip(x, *edges, strict=False)):
            return x, _as_it_is, _as_it_is, _same, None, bool
        place, slopes = x[:n], []
        for (through, *_), known in chain:
            place, *slope = through(place, *known)
            slopes.append(slope)
        after, drift = x[:n], None
        for (through, *_), known in later:
            after = through(after, *known)[0]
        if later:
            drift = [*((b - a) / moment for a, b in zip(place, after, strict=True)), *[0.0] * len(x[n:])]

        def leave(v: Numbers) -> tuple[Numbers, float]:
            w, clock = v[:n], 1.0
            for (_, _, carry, _), slope in zip(reversed(steps), reversed(slopes), strict=True):
                w, (c,) = carry(w, *slope)
                clock *= c
            return [*w, *(clock * c for c in v[n:])], clock

        def stop(v: Numbers) -> tuple[Numbers, float]:
            w, slow, away = v[:n], 1.0, [0.0] * n
            for (*_, brake), slope in zip(steps, slopes, strict=True):
                if brake:
                    (share,), back = brake(w, *slope)
                    slow, away = min(slow, share), [a + b for a, b in zip(away, back, strict=True)]
            w, (slow,) = back_in(w, [slow], away)
            return [*w, *(slow * c for c in v[n:])], slow

        def home(v: Numbers) -> Numbers:
            w = v[:n]
            for (_, pull, _, _), slope in zip(reversed(steps), reversed(slopes), strict=True):
                (w,) = pull(w, *slope)
            return [*w, *v[n:]]

        def outside() -> bool:
            brakes = ((brake, slope) for (*_, brake), slope in zip(steps, slopes, strict=True) if brake)
            return any(any(brake([1.0] * n, *slope)[1]) for brake, slope in brakes)

        return [*place, *x[n:]], leave, stop, home, drift, outside

    return enter


def _numbered(one: Any, n: int) -> tuple[tuple[Any, ...], list[list[float]]]:
    """The functions of a warp, and its numbers."""
    kind: Any = type(one)
    return _warp(kind, n, *(np.shape(value) or (1,) for value in one)), [np.ravel(value).tolist() for value in one]


def _same(v: Numbers) -> Numbers:
    return v


def _as_it_is(v: Numbers) -> tuple[Numbers, float]:
    return v, 1.0


@cache
def _warp(kind: Any, n: int, *shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """Of one kind of warp: S and the numbers of DS, `pull`, `carry`, and `brake` where there is one."""
    made = kernels(lambda x, *numbers: kind(*numbers).linearise(x), n, (n, 1), *shapes)
    return tuple(name in made and compiled(*made[name]) for name in ("through", "pull", "carry", "brake"))


def kernels(through: Callable[..., tuple[Any, Any]], n: int, *shapes: tuple[int, ...]) -> dict[str, tuple[Any, ...]]:
    """Of what gives S(x) and DS, as functions of arrays, each with the shapes of what it is given: `through` itself, with the
    numbers of DS; and of a velocity and these `pull`, `carry`, and `brake` where there is one."""
    made: list[Any] = []

    def numbers(*given: Any) -> tuple[Any, ...]:
        z, slope = through(*given)
        made.append(slope)
        return z, *(getattr(slope, one.name) for one in fields(slope))

    written(numbers, *shapes)
    slope: Any = type(made[0])
    its = [np.shape(getattr(made[0], one.name)) for one in fields(slope)]
    found: dict[str, tuple[Any, ...]] = {
        "through": (numbers, *shapes),
        "pull": (lambda w, *given: (slope(*given).pull(w),), (n, 1), *its),
        "carry": (lambda w, *given: slope(*given).carry(w), (n, 1), *its),
    }
    if slope.brake is not Slope.brake:
        found["brake"] = (lambda w, *given: slope(*given).brake(w), (n, 1), *its)
    return found
