"""A field as plain numbers, which the page evaluates by itself (page/model.js): all of it, in double precision."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import Field, StableField
from ..fields.surface import borders
from ..fields.warps import World
from ..learning import Growing

MOST_SAMPLES = 1500
"""Training samples that go along, evenly thinned; paths keep their starts. They say what is far, and where motions begin."""
REACH = 3.0
"""Boxes around the strokes in which borders are traced."""
DIGITS = 5
"""Of places of borders, in world units: finer than a pixel."""


def of_field(field: Field) -> dict[str, Any]:
    """The map, the field towards each goal, the motions, and the samples they were learned from."""
    return {
        "map": of_stable(field.map),
        "goals": [of_stable(field.toward(q)) for q in range(field.n_attractors)] if field.by_motion else [],
        "lifted": [of_stable(one) for one in field.lifted],
        "samples": _samples(field.samples, field.labels, field.phases),
        **_borders(field),
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


def _borders(field: Field) -> dict[str, Any]:
    """Saddles and separatrices of the map, three boxes around the strokes: the page draws what of them is in view."""
    if field.by_motion or field.n_attractors == 1:
        return {"saddles": [], "separatrices": []}
    low, high = field.samples.min(axis=0), field.samples.max(axis=0)
    around = REACH * np.maximum(high - low, 0.1).max()
    return {
        "saddles": np.round(field.saddles, DIGITS).tolist(),
        "separatrices": [_thinned(curve) for curve in borders(field.map, low - around, high + around)],
    }


def _thinned(curve: FloatArray) -> list[list[float]]:
    """A border for the screen: nodes that a straight line would miss by less than it is wide are left out."""
    kept = [0]
    for i in range(1, len(curve) - 1):
        a, b, c = curve[kept[-1]], curve[i], curve[i + 1]
        along = c - a
        off = abs(along[0] * (b - a)[1] - along[1] * (b - a)[0]) / max(float(np.linalg.norm(along)), 1e-12)
        if off > 1e-3 or np.linalg.norm(b - a) > 0.05:
            kept.append(i)
    rows: list[list[float]] = np.round(curve[[*kept, len(curve) - 1]], DIGITS).tolist()
    return rows


def _samples(x: Any, labels: Any, phases: Any) -> dict[str, Any]:
    every = max(1, -(-len(x) // MOST_SAMPLES))
    kept = np.unique(np.concatenate([np.arange(0, len(x), every), np.flatnonzero(phases == 1.0)]))
    return {"x": _packed(x[kept]), "labels": labels[kept].tolist(), "phases": np.round(phases[kept], 6).tolist()}


def _packed(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode("ascii")
