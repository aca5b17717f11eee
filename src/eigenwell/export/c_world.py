"""What a field is seen through, as C: the struct of a world, and how the exported one is filled in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import Field
from ..fields.around import CENTRE, SLOW, UNION, Around
from ..fields.bodies import REACH, THINNEST
from ..fields.moved import LENGTH, MOST_STEPS, NOTHING, SOFT, STEEPEST, STRONGEST, Moved
from ..fields.warping import MARGIN, of_kind
from ..fields.warps import BACK, SKIN, Stretch, Within

BODIES = 8
"""Room for so many, or for as many as the exported field has."""


def marks(field: Field) -> tuple[FloatArray, FloatArray]:
    """Landmarks in the learned world and in this one: goals first, then what is passed."""
    found = of_kind(field, Moved)
    return (found[0].old, found[0].new) if found else (field._home, field.places)


def world_tables(field: Field) -> dict[str, FloatArray]:
    """What a world is made with at run time, and the soft walls that were learned."""
    old, new = marks(field)
    starts = field._begins
    soft = of_kind(field, Stretch)
    named = {
        "mark_old": old,
        "mark_new": new,
        "start": old[0] if starts is None else starts.mean,
        "scatter": np.zeros((old.shape[1],) * 2) if starts is None else starts.spread,
    }
    if soft:
        named |= {"soft_low": soft[0].low, "soft_high": soft[0].high, "soft_margin": soft[0].margin}
    return named


def world_words(field: Field, number: Any, braces: Any) -> dict[str, Any]:
    """The words of world.h; `number` and `braces` write numbers and arrays as C reads them."""
    bodies = sum(len(one.centres) for one in of_kind(field, Around))
    steps = max([MOST_STEPS, *(len(one.path) for one in of_kind(field, Moved))])
    constants = {
        "SKIN": SKIN,
        "SLOW": SLOW,
        "SMALL": CENTRE,
        "BACK": BACK,
        "MARGIN": MARGIN,
        "REACH": REACH,
        "THINNEST": THINNEST,
        "SOFTEN": (SOFT / 2) ** 2,
        "STRONGEST": STRONGEST,
        "STEEPEST": STEEPEST,
        "LENGTH": LENGTH,
        "NOTHING": NOTHING,
        "GOLDEN": (5**0.5 - 1) / 2,
    }
    return {name: number(value) for name, value in constants.items()} | {
        "N": field.places.shape[1],
        "MARKS": len(marks(field)[0]),
        "STEPS": steps,
        "BODIES": max(BODIES, bodies),
        "STARTED": number(0.0 if field._begins is None else 0.5),
        "UNION": UNION,
        "SOFT": int(bool(of_kind(field, Stretch))),
        "HOME": _home(field, braces),
    }


def _home(field: Field, braces: Any) -> str:
    """The initialiser of the world as it was exported."""
    n = field.places.shape[1]
    groups, walls, moved = (of_kind(field, kind) for kind in (Around, Within, Moved))
    counts = [len(one.centres) for one in groups]
    said: dict[str, Any] = {"goal": field.places, "bodies": sum(counts)}
    open_ = np.full(n, np.inf)
    low, high, margin, braking = walls[0] if walls else (-open_, open_, np.ones((2, n)), 1.0)
    said |= {
        "low": low,
        "high": high,
        "margin": margin,
        "braking": float(braking),
        "walls": len(walls),
        "groups": len(groups),
    }
    if groups:
        ends = np.cumsum(counts)
        said |= {
            "centre": np.concatenate([one.centres for one in groups]),
            "shape": np.concatenate([one.shapes for one in groups]),
            "first": "{" + ", ".join(map(str, ends - counts)) + "}",
            "last": "{" + ", ".join(map(str, ends)) + "}",
            "middle": np.stack([one.centre for one in groups]),
            "reach": np.array([float(one.reach) for one in groups]),
        }
    if moved:
        one = moved[0]
        said |= {"moved": 1, "marks": len(one.old), "steps": len(one.path)}
        said |= {"matrix": one.matrix, "shift": one.shift, "length": one.length}
        if len(one.path):
            said |= {"path": one.path, "force": one.force}
    parts = [f".{name} = {braces(value) if isinstance(value, np.ndarray) else value}" for name, value in said.items()]
    return "{" + ",\n    ".join(parts) + "}"
