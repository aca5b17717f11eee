"""What a field is seen through, as C: the struct of a world, and how the exported one is filled in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import Field
from ..fields.around import REACH, THINNEST, Around
from ..fields.moved import LENGTH, MOST_STEPS, NOTHING, STEEPEST, STRONGEST, Moved
from ..fields.warping import MARGIN, of_kind
from ..fields.warps import Stretch, Within

BODIES = 8
"""Room for so many, or for as many as the exported field has."""


def _ways(field: Field) -> int:
    """The map, and each goal alone where there are several and fields that have no other."""
    return 1 + field.n_attractors if field.n_attractors > 1 and (field.goals or field.lifted) else 1


def _moves(field: Field) -> list[Moved]:
    """Of every way; none where nothing is moved."""
    alone = field.lifted or field.goals
    worlds = [one.model.world for one in (field.map, *alone[: _ways(field) - 1])]
    return [warp for world in worlds if world is not None for warp in world.warps if isinstance(warp, Moved)]


def marks(field: Field) -> tuple[FloatArray, FloatArray]:
    """Landmarks in the learned world and in this one: goals first, then what is passed."""
    found = of_kind(field, Moved)
    return (found[0].old, found[0].new) if found else (field._home, field.places)


def world_tables(field: Field) -> dict[str, FloatArray]:
    """What a world is made with at run time, and the soft walls that were learned."""
    old, new = marks(field)
    leads = field._leads[: _ways(field)]
    soft = of_kind(field, Stretch)
    named = {
        "mark_old": old,
        "mark_new": new,
        "lead_middle": np.stack([one.middle for one in leads]),
        "lead_share": np.stack([one.share for one in leads]),
        "lead_slope": np.stack([one.slope for one in leads]),
    }
    if soft:
        named |= {"soft_low": soft[0].low, "soft_high": soft[0].high, "soft_margin": soft[0].margin}
    return named


def world_words(field: Field, braces: Any) -> dict[str, Any]:
    """The words of world.h; `braces` writes arrays as C reads them."""
    bodies = sum(len(one.centres) for one in of_kind(field, Around))
    return {
        "MARGIN": MARGIN,
        "REACH": REACH,
        "THINNEST": THINNEST,
        "STRONGEST": STRONGEST,
        "STEEPEST": STEEPEST,
        "LENGTH": LENGTH,
        "NOTHING": NOTHING,
        "GOLDEN": (5**0.5 - 1) / 2,
        "N": field.places.shape[1],
        "PASSED": len(marks(field)[0]) - field.n_attractors,
        "WAYS": _ways(field),
        "STEPS": _most_steps(field),
        "BODIES": max(BODIES, bodies),
        "SOFT": int(bool(of_kind(field, Stretch))),
        "HOME": _home(field, braces),
    }


def _most_steps(field: Field) -> int:
    return max([MOST_STEPS, *(len(one.path) for one in _moves(field))])


def _home(field: Field, braces: Any) -> str:
    """The initialiser of the world as it was exported."""
    n = field.places.shape[1]
    groups, walls, moved = of_kind(field, Around), of_kind(field, Within), _moves(field)
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
        steps, ways = _most_steps(field), []
        path, force = (np.zeros((steps * sum(len(one.old) for one in moved), n)) for _ in range(2))
        first = 0
        for one in moved:
            used = slice(first, first + one.path.shape[0] * one.path.shape[1])
            path[used], force[used] = one.path.reshape(-1, n), one.force.reshape(-1, n)
            arrays = ", ".join(braces(value) for value in (one.matrix, one.shift, one.length))
            ways.append(f"{{{arrays}, {len(one.old)}, {len(one.path)}, {first}}}")
            first += steps * len(one.old)
        said |= {"moved": 1, "way": f"{{{', '.join(ways)}}}"}
        last = int(np.flatnonzero(force.any(1))[-1]) + 1 if force.any() else 0
        if last:
            said |= {"path": path[:last], "force": force[:last]}
    parts = [f".{name} = {braces(value) if isinstance(value, np.ndarray) else value}" for name, value in said.items()]
    return "{" + ",\n    ".join(parts) + "}"
