"""A field as plain numbers, which pages evaluate by themselves (studio/page/model.js): all of it, in double precision."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import Field, StableField
from ..fields.warps import World
from ..learning import Growing

MOST_SAMPLES = 1500
"""Training samples that go along, evenly thinned; paths keep their starts. They say what is far, and where motions begin."""
DIGITS = 5
"""Of places of saddles, in world units: finer than a pixel."""


def of_field(field: Field, *, short: bool = False) -> dict[str, Any]:
    """The map, and where motions follow the samples better than it the motions and the field towards each goal; and the samples.

    `short`: in single precision, in half the bytes, for pages that are files.
    """
    return {
        "map": of_stable(field.map, short),
        "goals": [of_stable(field.toward(q), short) for q in range(field.n_attractors)] if field.by_motion else [],
        "lifted": [of_stable(one, short) for one in field.lifted] if field.by_motion else [],
        "samples": _samples(field.samples, field.labels, field.phases, short),
        # Where regions meet; their borders the page finds by itself, from the same function that colours them.
        "saddles": np.round(field.saddles, DIGITS).tolist() if field.n_attractors > 1 and not field.by_motion else [],
    }


def of_growing(part: Growing) -> dict[str, Any]:
    """The same of a part that is still in training: the map alone, or the motions alone."""
    return {
        "map": of_stable(part.fields[0]) if part.name == "map" else None,
        "goals": [],
        "lifted": [of_stable(one) for one in part.fields] if part.name == "lifted" else [],
        "samples": _samples(part.samples, part.labels, part.phases),
    }


def of_stable(one: StableField, short: bool = False) -> dict[str, Any]:
    """The symbols of `fields.stable` and `fields.flows`; arrays as base64 of little-endian doubles, row by row."""
    model = one.model
    return {
        "dimension": one.dimension,
        "layers": len(model.flow.frequencies),
        "frequencies": _packed(model.flow.frequencies, short),
        "weights": _packed(model.flow.weights, short),
        "window": float(model.flow.window),
        "speed": {
            "frequencies": _packed(model.speed.frequencies, short),
            "weights": _packed(model.speed.weights, short),
            "offset": float(model.speed.offset),
            "window": float(model.speed.window),
        },
        "attractors": model.attractors.tolist(),
        "log_weights": model.log_weights.tolist(),
        "swirls": model.swirls.tolist(),
        "softening": model.softening.tolist(),
        "brake": model.brake.tolist(),
        "centre": one.centre.tolist(),
        "scale": one.scale.tolist(),
        "pace": float(one.pace),
        "world": _world(model.world),
    }


def _world(world: World | None) -> dict[str, Any] | None:
    """What the field is seen through; a wall that is not there is null."""
    if world is None or len(world.scale) != 2:
        return None
    warps = [
        {"kind": type(one).__name__.lower(), **{name: _plain(value) for name, value in one._asdict().items()}}
        for one in world.warps
    ]
    return {"warps": warps, "places": world.places.tolist()}


def _plain(value: Any) -> Any:
    found = np.asarray(value, dtype=object)
    found[~np.isfinite(found.astype(np.float64))] = None
    return found.tolist()


def _samples(x: Any, labels: Any, phases: Any, short: bool = False) -> dict[str, Any]:
    every = max(1, -(-len(x) // MOST_SAMPLES))
    kept = np.unique(np.concatenate([np.arange(0, len(x), every), np.flatnonzero(phases == 1.0)]))
    return {"x": _packed(x[kept], short), "labels": labels[kept].tolist(), "phases": np.round(phases[kept], 6).tolist()}


def _packed(array: Any, short: bool = False) -> str:
    """Doubles; "4:" is before those of single precision."""
    packed = base64.b64encode(np.ascontiguousarray(array, dtype="<f4" if short else "<f8").tobytes()).decode("ascii")
    return f"4:{packed}" if short else packed


# --- in other units -----------------------------------------------------------------------------------


def in_view(numbers: dict[str, Any], middle: FloatArray, half: FloatArray) -> dict[str, Any]:
    """The same field of y = (x - middle) / half: what a canvas shows well is about [-1, 1], whatever the data's units."""

    def place(x: Any) -> Any:
        return ((np.asarray(x, dtype=np.float64) - middle) / half).tolist()

    def field(one: dict[str, Any] | None) -> dict[str, Any] | None:
        if one is None:
            return None
        rest = [np.zeros(one["dimension"] - 2), np.ones(one["dimension"] - 2)]  # a phase stays as it is
        centre = (np.asarray(one["centre"]) - np.append(middle, rest[0])) / np.append(half, rest[1])
        world = one["world"] and {
            "warps": [_warp(warp, middle, half) for warp in one["world"]["warps"]],
            "places": place(one["world"]["places"]),
        }
        scale = (np.asarray(one["scale"]) / np.append(half, rest[1])).tolist()
        return one | {"centre": centre.tolist(), "scale": scale, "world": world}

    samples = np.frombuffer(base64.b64decode(numbers["samples"]["x"])).reshape(-1, 2)
    return numbers | {
        "map": field(numbers["map"]),
        "goals": [field(one) for one in numbers["goals"]],
        "lifted": [field(one) for one in numbers["lifted"]],
        "samples": numbers["samples"] | {"x": _packed(place(samples))},
        "saddles": place(numbers["saddles"]) if numbers["saddles"] else [],
    }


def _warp(warp: dict[str, Any], middle: FloatArray, half: FloatArray) -> dict[str, Any]:
    """One warp of the world in the units of the view."""

    def place(x: Any) -> Any:
        return [None if c is None else (c - m) / h for c, m, h in zip(x, middle, half, strict=True)]

    if warp["kind"] in ("stretch", "within"):
        margin = (np.asarray(warp["margin"], dtype=np.float64) / half).tolist()
        return warp | {"low": place(warp["low"]), "high": place(warp["high"]), "margin": margin}
    if warp["kind"] == "around":
        shapes = (np.asarray(warp["shapes"], dtype=np.float64) * half).tolist()
        return warp | {
            "centre": place(warp["centre"]),
            "centres": [place(c) for c in warp["centres"]],
            "shapes": shapes,
        }
    matrix, shift = (np.asarray(warp[name], dtype=np.float64) for name in ("matrix", "shift"))
    length = np.asarray(warp["length"], dtype=np.float64)
    path, force = (
        np.reshape(np.asarray(warp[name], float), (-1, *np.shape(warp["old"]))) for name in ("path", "force")
    )
    return warp | {
        "matrix": (matrix / half[:, None] * half).tolist(),
        "shift": ((matrix @ middle + shift - middle) / half).tolist(),
        "path": ((path - middle) / half).tolist(),
        "force": (force / half).tolist(),
        "length": (length / half).tolist(),
    }
