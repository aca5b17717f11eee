"""Warps in a model's file: their kinds in the configuration, their numbers as tensors, all of them checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..fields import StableField
from ..fields.warps import Stretch, Within, World
from ..fields.warps_around import Around
from ..fields.warps_moved import Moved
from .schema import AGAIN, Tensors

KINDS = {"within": Within, "stretch": Stretch, "around": Around, "moved": Moved}
SHAPES = {
    "within": {"low": "d", "high": "d", "margin": "2d"},
    "stretch": {"low": "d", "high": "d", "margin": "2d", "knee": ""},
    "around": {"centre": "d", "centres": "md", "shapes": "mdd", "reach": ""},
    "moved": {
        **{"matrix": "dd", "shift": "d", "path": "nmd", "force": "nmd", "length": "d"},
        **{"old": "md", "new": "md", "goals": "m"},
    },
}
"""One letter for each axis: d is the space's, 2 itself, others are free but the same throughout a warp."""
WALLS = ("low", "high")


def named(world: World | None) -> tuple[tuple[str, ...], Tensors]:
    """Kinds and tensors of what a field is seen through; where goals were moving to is of the moment, and not kept."""
    if world is None:
        return (), {}
    kinds = tuple(next(kind for kind, warp in KINDS.items() if isinstance(one, warp)) for one in world.warps)
    tensors = {
        f"warps.{i}.{name}": np.array(value, dtype=np.float64, order="C")
        for i, one in enumerate(world.warps)
        for name, value in one._asdict().items()
    }
    return kinds, tensors | {"warps.places": np.array(world.places, dtype=np.float64, order="C")}


def check_warps(tensors: Mapping[str, NDArray[Any]], kinds: tuple[str, ...], attractors: int, where: str) -> int:
    """Names, shapes and values; how many tensors they are."""
    if not kinds:
        return 0
    places = _tensor(tensors, "warps.places", where)
    if places.ndim != 2 or len(places) != attractors or not np.isfinite(places).all():
        raise ModelError(f"Expected places of {attractors} attractors in {where}, got shape {places.shape}. {AGAIN}")
    count = 1
    for i, kind in enumerate(kinds):
        sizes = {"d": places.shape[1], "2": 2}
        for name, axes in SHAPES[kind].items():
            tensor = _tensor(tensors, f"warps.{i}.{name}", where)
            fits = tensor.ndim == len(axes) and all(
                sizes.setdefault(axis, size) == size for axis, size in zip(axes, tensor.shape, strict=True)
            )
            if not fits or np.isnan(tensor).any() or (name not in WALLS and np.isinf(tensor).any()):
                raise ModelError(
                    f"Expected tensor warps.{i}.{name} of {where} as finite numbers, an axis for each of {axes!r}, got shape "
                    f"{tensor.shape}. {AGAIN}"
                )
            count += 1
        _check_values(warp_of(tensors, i, kind), f"warps.{i} of {where}")
    return count


def _check_values(one: Any, what: str) -> None:
    """What makes each a diffeomorphism."""
    if isinstance(one, Within | Stretch):
        fine = (one.margin > 0).all() and (one.low + one.margin[0] <= one.high - one.margin[1]).all()
        fine = fine and (isinstance(one, Within) or 0 <= one.knee < 1)
    elif isinstance(one, Around):
        inner = np.linalg.norm(np.einsum("mij,mj->mi", one.shapes, one.centre - one.centres), axis=1)
        fine = one.reach > 1 and (inner < 1).all() and (np.linalg.det(one.shapes) != 0).all()
    else:
        steep = np.linalg.norm(one.force / one.length, axis=2).sum(1) * np.exp(-0.5)
        fine = (one.length > 0).all() and np.linalg.det(one.matrix) > 0 and bool((steep < 1).all())
    if not fine:
        raise ModelError(f"Expected a warp that does not fold in {what}, got another. {AGAIN}")


def _tensor(tensors: Mapping[str, NDArray[Any]], name: str, where: str) -> NDArray[Any]:
    tensor = tensors.get(name)
    if tensor is None or tensor.dtype != np.float64:
        raise ModelError(f"Expected tensor {name} of numbers in {where}, got none. {AGAIN}")
    return tensor


def warp_of(tensors: Mapping[str, NDArray[Any]], i: int, kind: str) -> Any:
    """One warp."""
    parts = {name: tensors[f"warps.{i}.{name}"] for name in SHAPES[kind]}
    if kind == "moved":
        parts["goals"] = parts["goals"].astype(np.intp)
    return KINDS[kind](**parts)


def seen(
    one: StableField, tensors: Mapping[str, NDArray[Any]], kinds: tuple[str, ...], goal: int | None
) -> StableField:
    """A stable field of a file through its warps; `goal` where it is of one attractor alone."""
    if not kinds:
        return one
    places = tensors["warps.places"]
    n = places.shape[1]
    warps = tuple(warp_of(tensors, i, kind) for i, kind in enumerate(kinds))
    world = World(one.centre[:n], one.scale[:n], warps, places if goal is None else places[goal : goal + 1])
    return replace(one, model=one.model._replace(world=world))
