"""The formulas of `fields` that are printed as C and JavaScript, by the names they have there, with the shapes of what they are
given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..fields import Field
from ..fields.around import Around, aside, gauge, joined
from ..fields.curves import advance, clocked, decisions, softened, turning
from ..fields.flows import window
from ..fields.motion import credited, law, shortened
from ..fields.moved import Affine, Nudge
from ..fields.single import braked, kernels, layer_moved, layer_pulled
from ..fields.stable import Wells, Winding, latent_velocity, potential_at, wound
from ..fields.warps import Stretch, Within, returning

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
        "affine": (lambda x, *given: (Affine(given[0], None, given[1]).forward(x),), x, square, (n,)),
        "nudged": (_nudged, x, (n,), (n,), (n,), x, square),
        "product": (lambda one, other: (one @ other,), square, square),
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

    carried = {name: (of_row(made[name][0]), w, (int(ends[-1]),)) for name in ("carry", "brake") if name in made}
    return {"through": (row, *given), **carried}


def _rounded(away: Any, tau: Any, slope: Any, centre: Any, reach: Any) -> Any:
    return Around(centre, None, None, reach).rounded(away, tau, slope)


def _nudged(y: Any, path: Any, force: Any, length: Any, to: Any, slope: Any) -> tuple[Any, Any]:
    """What one landmark of a step adds to where y goes, and to the step's Jacobian."""
    there, own = Nudge(path[None], force[None], length).linearise(y)
    return to + (there - y), slope + (own.matrix[:, :, 0] - np.eye(len(length)))


def model_kernels(d: int, passes: int) -> Kernels:
    """Of a stable field in d dimensions, of which every layer passes some."""
    moves = d - passes
    return {
        "moved": (
            lambda k, y, out, slope: layer_moved(passes)(k, y, np.concatenate([out, slope.T.reshape(-1, 1)])),
            *((1,), (d, 1), (2 * moves, 1), (passes, 2 * moves)),
        ),
        "pulled": (layer_pulled(passes), (moves, 1), (moves, passes, 1), (d, 1)),
        "within": (lambda k, z: (window(k, z),), (1,), (d, 1)),
        "braked": (braked, (d,), (d, 1), (d, 1)),
    }


def heading_kernel(d: int, winds: bool) -> Kernels:
    """u of one attractor alone."""
    return {"alone": (of_one(latent_velocity, winds), (d,), (1,), (1,), (d, d), (d, 1))}


def of_one(function: Callable[..., Any], winds: bool) -> Callable[..., Any]:
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
        "softened": (lambda y: (softened(wells, y),), y),
        "height": (lambda y: (potential_at(wells, y),), y),
        "height_alone": (
            lambda goal, y: of_one(potential_at, False)(goal, np.zeros(1), np.zeros(1), np.eye(d), y),
            (d,),
            y,
        ),
        "advanced": (lambda y, step: (advance(wells, y, step),), y, one),
        "clocked": (clocked, *[one] * 7),
    }
    if field.n_attractors > 1:
        functions["decisions"] = (lambda y: decisions(wells, y, turn), y)
    if field.lifted:
        n, winds = d + 1, any(one.wells.winds for one in field.lifted)
        z, square = (n, 1), (n, n)
        functions |= {
            "law": (of_one(law, winds), (n,), one, one, square, z, one, z, one),
            "credited": (lambda *given: (credited(*given),), y, y),
            "shortened": (lambda *given: (shortened(*given),), z, z),
            "wound": (lambda *a: (wound(Winding(*a[:3]), *a[3:]),), (n,), square, square, z, one, one, one),
        }
    return functions
