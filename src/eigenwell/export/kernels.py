"""The formulas of `fields` that are printed as C and JavaScript, by the names they have there, with the shapes of what they are
given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..demonstrations import Chart
from ..fields import Field
from ..fields import symbols as xp
from ..fields.around import Around, aside, gauge, joined
from ..fields.curves import advance, clocked, decisions, softened, to_go, turning
from ..fields.flows import TINY, window
from ..fields.motion import credited, eased, law, shortened
from ..fields.moved import Affine, Nudge
from ..fields.single import braked, kernels, layer_moved, layer_pulled
from ..fields.stable import Wells, Winding, latent_velocity, length, potential_at, wound
from ..fields.warps import Stretch, Within, returning
from ..poses import angular_velocity, logarithm

Kernels = dict[str, tuple[Any, ...]]
"""By name a function of arrays, and their shapes."""


def world_kernels(n: int) -> Kernels:
    """Of warps of n coordinates; `seen` are all numbers of DS in one row."""
    x, walls, square = (n, 1), ((n,), (n,), (2, n), (1,)), (n, n)
    warps = {
        "within": _packed(lambda x, *given: Within(*given).linearise(x), n, x, *walls),
        "stretch": _packed(lambda x, *given: Stretch(*given).linearise(x), n, x, *walls),
        "around": _packed(_rounded, n, x, (1,), x, (n,), (1,)),
    }
    named = {f"{kind}_{name}": one for kind, made in warps.items() for name, one in made.items()}
    return named | {
        "gauge_of": (gauge, (n,), (n,), square, x),
        "joined": (joined, (1,), x, (1,), x),
        "aside": (lambda away: (aside(away),), x),
        "affine": (lambda x, *given: (Affine(given[0], None, given[1]).forward(x), given[0]), x, square, (n,)),
        "nudged": (_nudged, x, (n,), (n,), (n,), x, square),
        "returning": (returning, x, (1,), x),
    }


def wall_inverses(n: int) -> Kernels:
    """S^-1 of walls, and of what keeps a field home."""
    walls = ((n, 1), (n,), (n,), (2, n), (1,))
    return {
        "within_inverse": (lambda z, *given: (Within(*given).inverse(z),), *walls),
        "stretch_inverse": (lambda z, *given: (Stretch(*given).inverse(z),), *walls),
    }


def _packed(through: Callable[..., Any], n: int, *shapes: tuple[int, ...]) -> Kernels:
    """`single.kernels` but for `pull`, with the numbers of DS in one row."""
    made = kernels(through, n, *shapes)
    (run, *given), (_, w, *its) = made["through"], made["carry"]
    ends = np.cumsum([math.prod(shape) for shape in its])

    def row(*given: Any) -> tuple[Any, Any]:
        z, *slope = run(*given)
        return z, np.concatenate([np.ravel(one) for one in slope])

    def of_row(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda w, seen: function(
            w, *(one.reshape(shape) for one, shape in zip(np.split(seen, ends[:-1]), its, strict=True))
        )

    carried: Kernels = {
        name: (of_row(made[name][0]), w, (int(ends[-1]),)) for name in ("carry", "brake") if name in made
    }
    return {"through": (row, *given), **carried}


def _rounded(away: Any, tau: Any, slope: Any, centre: Any, reach: Any) -> Any:
    return Around(centre, None, None, reach).rounded(away, tau, slope)


def _nudged(y: Any, path: Any, force: Any, length: Any, to: Any, slope: Any) -> tuple[Any, Any]:
    """What one landmark of a step adds to where y goes, and to the step's Jacobian."""
    there, own = Nudge(path[None], force[None], length).linearise(y)
    return to + (there - y), slope + (own.matrix[:, :, 0] - np.eye(len(length)))


def ready_kernels(n: int, goals: int) -> Kernels:
    """What it takes to make a world ready, as `moved` has it: the affine map for goals that are elsewhere by some delta, and the
    flow that carries what is left. Products of matrices are no formulas but loops: in many dimensions they would be endless."""
    x, square, each, eye = (n,), (n, n), (goals, n), np.eye(n)

    def homeward(back: Any, box: Any, middle: Any, drift: Any) -> tuple[Any, Any]:
        matrix = back * box[:, None] / box
        return matrix, middle - matrix @ (middle + drift)

    def near(one: Any, other: Any, length: Any) -> tuple[Any]:
        away = (one - other) / length
        return (xp.exp(-0.5 * (away * away).sum(0)),)

    return {
        "led": (lambda delta, share, slope: (delta.T @ slope, share @ delta), each, (goals,), each),
        "unbent": (lambda bend, box: ((eye + bend) * box / box[:, None], eye), square, x),
        "strength": (lambda back: (xp.sqrt(((back - eye) * (back - eye)).sum()),), square),
        "homeward": (homeward, square, x, x, x),
        "near": (near, x, x, x),
        "steep": (lambda force, size: (length(force / size) * np.exp(-0.5),), x, x),
    }


def model_kernels(d: int, winds: bool) -> Kernels:
    """Of a stable field in d dimensions, of which every layer passes half; `alone` is u of one attractor."""
    passes, one, z = d // 2, (1,), (d, 1)
    moves = d - passes
    return {
        "moved": (
            lambda k, y, out, slope: layer_moved(passes)(k, y, np.concatenate([out, slope.T.reshape(-1, 1)])),
            *(one, z, (2 * moves, 1), (passes, 2 * moves)),
        ),
        "pulled": (layer_pulled(passes), (moves, 1), (moves, passes, 1), z),
        "within": (lambda k, z: (window(k, z),), one, z),
        "braked": (braked, (d,), z, z),
        "alone": (_of_one(latent_velocity, winds), (d,), one, one, (d, d), z),
    }


def _of_one(function: Callable[..., Any], winds: bool) -> Callable[..., Any]:
    """function(wells, ...) of one attractor alone, as one of its goal (d,), softening (1,), window (1,) and swirl (d, d)."""

    def alone(goal: Any, softening: Any, window: Any, swirl: Any, *rest: Any) -> tuple[Any]:
        swirls = swirl[None] if winds else np.zeros((1, *swirl.shape))
        return (function(Wells(goal[None], np.zeros(1), swirls, softening, window), *rest),)

    return alone


def field_kernels(field: Field) -> Kernels:
    """Where the map's solutions run, and the law of its motions."""
    wells, d = field.map.wells, field.dimension
    turn, one, y = 1 + turning(wells), (1,), (d, 1)
    functions: Kernels = {
        "drawn": (lambda y: (latent_velocity(wells, y),), y),
        "softened": (lambda y: (softened(wells, y), to_go(wells, y)), y),
        "height": (lambda y: (potential_at(wells, y),), y),
        "height_alone": (_height_alone, (d,), y),
        "advanced": (lambda y, step: (advance(wells, y, step),), y, one),
        "clocked": (clocked, *[one] * 7),
    }
    if field.n_attractors > 1:
        functions["decisions"] = (lambda y: decisions(wells, y, turn), y)
    return functions | (_motion_kernels(d, any(one.wells.winds for one in field.lifted)) if field.lifted else {})


def _height_alone(goal: Any, y: Any) -> Any:
    d = len(goal)
    return _of_one(potential_at, False)(goal, np.zeros(1), np.zeros(1), np.eye(d), y)


def _motion_kernels(d: int, winds: bool) -> Kernels:
    """Of a motion of (x, phase), whose velocities and ways come in the data's units."""
    n, one, z, square = d + 1, (1,), (d + 1, 1), (d + 1, d + 1)

    def headed(goal: Any, y: Any) -> tuple[Any, Any]:
        away = y - goal[:, None]
        return away / length(away), length(away)

    def asked(wells: Wells, y: Any, s: Any, heading: Any, radius: Any, clock: Any, *known: Any) -> Any:
        if winds:
            r = length(y - wells.goals.T)
            heading = wound(Winding(*known), heading, wells.window, r, xp.maximum(radius, TINY))
        return law(wells, y, s, heading, eased(clock))

    return {
        "headed": (headed, (n,), z),
        "law": (_of_one(asked, winds), (n,), one, one, square, z, one, z, one, one, (n,), square, square),
        "credited": (lambda w, dt, seen, size: (credited(dt * w / size, seen / size),), (d, 1), one, (d, 1), (d, 1)),
        "shortened": (lambda w, dt, left, size: (w * shortened(dt * w / size, left / size),), z, one, z, z),
    }


def pose_kernels(chart: Chart) -> Kernels:
    """The coordinates of an orientation and how far it is from the reference; angular velocities of coordinates that move."""

    def turned(q: Any) -> tuple[Any, Any]:
        w = logarithm(q / length(q.T), chart.reference, xp)
        return chart.scale * w, length(w.T)

    return {
        "turned": (turned, (1, 4)),
        "angular_of": (lambda w, rate: (angular_velocity(w, rate, chart, xp),), (1, 3), (1, 3)),
    }
