"""One state at a time, fast, in any dimension: the field and its motions in a controller's inner loop.

What `flows`, `stable` and `warps` say of arrays is here a chain of small functions of plain numbers, written by the same formulas
(`symbols`). Only the features are sums of many terms, and stay with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from math import exp
from typing import Any

import numpy as np

from .._types import FloatArray
from . import flows, stable
from .flows import Flow, split, with_slopes
from .stable import Speed, StableModel, Wells
from .symbols import compiled
from .warps import Slope, World, parts

MOST = 12
"""Dimensions: in more of them arrays are as fast, and a layer would be thousands of lines."""

Numbers = Sequence[float]
Way = Callable[[Numbers], Numbers]
Passage = Callable[[Numbers], tuple[float, Numbers, Way]]
"""Of a state: its speed s, y = psi(S(x)), and what takes a latent velocity to the world, where it is braked."""


def passage(model: StableModel, centre: FloatArray, scale: FloatArray, pace: float) -> Passage:
    """The way of a state, in the data's units, into the latent space and back."""
    enter, psi, speed = _entrance(model.world), _flow(model.flow), _speed(model.speed)
    limit, frame = (model.brake / scale).tolist(), list(zip(centre.tolist(), scale.tolist(), strict=True))
    braked = _kernel(_braked, (len(limit),), (1,), (len(limit), 1))

    def through(x: Numbers) -> tuple[float, Numbers, Way]:
        there, leave = enter(x)
        z = [(c - middle) / size for c, (middle, size) in zip(there, frame, strict=True)]
        y, back = psi(z)

        def finish(w: Numbers) -> Numbers:
            free = [c * size for c, (_, size) in zip(back(w), frame, strict=True)]
            return braked(limit, [pace], free if leave is None else leave(free))[0]

        return speed(z), y, finish

    return through


def of_wells(function: Callable[..., Any], wells: Wells, *more: tuple[int, ...]) -> Callable[..., Numbers]:
    """function(wells, y, ...) of one latent state, and of arrays of some more shapes."""
    count, d = wells.goals.shape
    kernel = _of_wells(function, count, d, wells.winds, more)
    known = [wells.goals, wells.log_weights, wells.softening, *([wells.swirls] if wells.winds else [])]
    numbers = [np.ravel(one).tolist() for one in known]
    return lambda *given: kernel(*numbers, *given)[0]


@cache
def _of_wells(
    function: Callable[..., Any], count: int, d: int, winds: bool, more: tuple[tuple[int, ...], ...]
) -> Callable[..., Any]:
    shapes = [(count, d), (count,), (count,), *([(count, d, d)] if winds else [])]
    still = np.zeros((count, d, d))

    def latent(goals: Any, log_weights: Any, softening: Any, *rest: Any) -> tuple[Any]:
        swirls, rest = (rest[0], rest[1:]) if winds else (still, rest)
        return (function(Wells(goals, log_weights, swirls, softening), *rest),)

    return compiled(latent, *shapes, (d, 1), *more)


_kernel = lru_cache(maxsize=None)(compiled)


def _braked(brake: Any, pace: Any, free: Any) -> tuple[Any]:
    return (pace * stable.braking(brake, free) * free,)


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


@cache
def _layer(d: int, passes: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`flows.moved` and `flows.pulled` of all coordinates, passing ones first."""
    moves = d - passes

    def moved(k: Any, y: Any, out: Any) -> tuple[Any, Any, Any]:
        q, scale, shear = flows.moved(k, y[:passes], y[passes:], out)
        return np.concatenate([y[:passes], q]), scale, shear

    def pulled(scale: Any, shear: Any, w: Any) -> tuple[Any]:
        return (np.concatenate([w[:passes], flows.pulled(scale, shear, w[:passes], w[passes:])]),)

    return (
        compiled(moved, (1,), (d, 1), (2 * moves * (1 + passes), 1)),
        compiled(pulled, (moves, 1), (moves, passes, 1), (d, 1)),
    )


def _speed(speed: Speed) -> Callable[[Numbers], float]:
    waves, k, offset = _waves(speed.frequencies, speed.weights[None]), [float(speed.window)], float(speed.offset)
    window = _kernel(_window, (1,), (speed.frequencies.shape[1], 1))
    return lambda z: exp(window(k, z)[0][0] * waves(z)[0] + offset)


def _window(k: Any, p: Any) -> tuple[Any]:
    return (flows.window(k, p),)


# --- warps --------------------------------------------------------------------------------------------


def _entrance(world: World | None) -> Callable[[Numbers], tuple[Numbers, Way | None]]:
    """S of a state, and what takes a velocity from there back: `World.linearise`, `Seen.carry`; None where S(x) = x."""
    if world is None:
        return lambda x: (x, None)
    n, room = len(world.scale), [edge.tolist() for edge in world.room() or ()]
    kinds: Any = [type(one) for one in parts(world.warps)]
    shapes = [[np.shape(value) or (1,) for value in one] for one in parts(world.warps)]
    steps = [_warp(kind, n, *its) for kind, its in zip(kinds, shapes, strict=True)]
    numbers = [[np.ravel(value).tolist() for value in one] for one in parts(world.warps)]

    def enter(x: Numbers) -> tuple[Numbers, Way | None]:
        if room and all(low <= c <= high for c, low, high in zip(x, *room, strict=False)):
            return x, None
        place, slopes = x[:n], []
        for (through, _, _), known in zip(steps, numbers, strict=True):
            place, *slope = through(place, *known)
            slopes.append(slope)

        def leave(v: Numbers) -> Numbers:
            w, clock, slow, away = v[:n], 1.0, 1.0, [0.0] * n
            for (_, carry, _), slope in zip(reversed(steps), reversed(slopes), strict=True):
                w, (c,) = carry(w, *slope)
                clock *= c
            for (_, _, brake), slope in zip(steps, slopes, strict=True):
                if brake is not None:
                    (share,), back = brake(w, *slope)
                    slow, away = min(slow, share), [a + b for a, b in zip(away, back, strict=True)]
            return [*(c * slow + b for c, b in zip(w, away, strict=True)), *(clock * slow * c for c in v[n:])]

        return [*place, *x[n:]], leave

    return enter


@cache
def _warp(kind: Any, n: int, *shapes: tuple[int, ...]) -> tuple[Callable[..., Any], Callable[..., Any], Any]:
    """Of one kind of warp: S and the numbers of DS, `carry`, and `brake` where there is one."""
    found: list[Any] = []

    def through(x: Any, *numbers: Any) -> tuple[Any, ...]:
        z, slope = kind(*numbers).linearise(x)
        found.append(slope)
        return z, *(getattr(slope, one.name) for one in fields(slope))

    run = compiled(through, (n, 1), *shapes)
    slope: Any = type(found[0])
    its = [np.shape(getattr(found[0], one.name)) for one in fields(slope)]
    carry = compiled(lambda w, *numbers: slope(*numbers).carry(w), (n, 1), *its)
    if slope.brake is Slope.brake:
        return run, carry, None
    return run, carry, compiled(lambda w, *numbers: slope(*numbers).brake(w), (n, 1), *its)
