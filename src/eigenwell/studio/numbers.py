"""A field as plain numbers, which the page evaluates by itself (page/model.js): all of it, in double precision."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..fields import Field, StableField
from ..fields.warps import World
from ..learning import Growing

MOST_SAMPLES = 1500
"""Training samples that go along, evenly thinned; paths keep their starts. They say what is far, and where motions begin."""
DIGITS = 5
"""Of places of saddles, in world units: finer than a pixel."""


def of_field(field: Field) -> dict[str, Any]:
    """The map, the field towards each goal, the motions, and the samples they were learned from."""
    return {
        "map": of_stable(field.map),
        "goals": [of_stable(field.toward(q)) for q in range(field.n_attractors)] if field.by_motion else [],
        "lifted": [of_stable(one) for one in field.lifted],
        "samples": _samples(field.samples, field.labels, field.phases),
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


def of_stable(one: StableField) -> dict[str, Any]:
    """The symbols of `fields.stable` and `fields.flows`; arrays as base64 of little-endian doubles, row by row."""
    model = one.model
    return {
        "dimension": one.dimension,
        "layers": len(model.flow.frequencies),
        "frequencies": _packed(model.flow.frequencies),
        "weights": _packed(model.flow.weights),
        "window": float(model.flow.window),
        "speed": {
            "frequencies": _packed(model.speed.frequencies),
            "weights": _packed(model.speed.weights),
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


def _samples(x: Any, labels: Any, phases: Any) -> dict[str, Any]:
    every = max(1, -(-len(x) // MOST_SAMPLES))
    kept = np.unique(np.concatenate([np.arange(0, len(x), every), np.flatnonzero(phases == 1.0)]))
    return {"x": _packed(x[kept]), "labels": labels[kept].tolist(), "phases": np.round(phases[kept], 6).tolist()}


def _packed(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode("ascii")
