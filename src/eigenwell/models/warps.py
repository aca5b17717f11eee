"""Warps in a model's file: their kinds in the configuration, their numbers as tensors, all of them checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..fields import StableField
from ..fields.around import Around
from ..fields.moved import Moved
from ..fields.warps import Stretch, Within, World
from .schema import AGAIN, Tensors

KINDS = {"within": Within, "around": Around, "moved": Moved}
SHAPES = {
    "within": {"low": "d", "high": "d", "margin": "2d", "braking": ""},
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
    warps = () if world is None else world.outer.warps
    if world is None or not warps:
        return (), {}
    kinds = tuple(next(kind for kind, warp in KINDS.items() if isinstance(one, warp)) for one in warps)
    tensors = {
        f"warps.{i}.{name}": np.array(value, dtype=np.float64, order="C")
        for i, one in enumerate(warps)
        for name, value in one._asdict().items()
    }
    return kinds, tensors | {"warps.places": np.array(world.places, dtype=np.float64, order="C")}


def home_of(one: StableField) -> Stretch | None:
    """What keeps a field home, its innermost warp."""
    world = one.model.world
    return next((warp for warp in (() if world is None else world.warps) if isinstance(warp, Stretch)), None)


def home_tensors(prefix: str, one: StableField) -> Tensors:
    """Of one stable field."""
    home = home_of(one)
    if home is None:
        return {}
    return {f"{prefix}.home.{k}": np.array(v, dtype=np.float64, order="C") for k, v in home._asdict().items()}


def check_home(tensors: Mapping[str, NDArray[Any]], prefix: str, where: str) -> int:
    """Of one stable field; how many tensors they are."""
    if f"{prefix}.home.low" not in tensors:
        return 0
    parts = {name: _tensor(tensors, f"{prefix}.home.{name}", where) for name in Stretch._fields}
    n = parts["low"].shape
    fits = [parts["high"].shape == n, parts["margin"].shape == (2, *n), parts["knee"].shape == (), len(n) == 1]
    if not all(fits) or np.isnan(np.concatenate([value.ravel() for value in parts.values()])).any():
        raise ModelError(f"Expected walls of {prefix}.home in {where}, got others. {AGAIN}")
    _check_values(Stretch(**parts), f"{prefix}.home of {where}")
    return len(parts)


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
        fine = fine and (one.braking > 0 if isinstance(one, Within) else 0 <= one.knee < 1)
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
    one: StableField, tensors: Mapping[str, NDArray[Any]], kinds: tuple[str, ...], prefix: str, goal: int | None
) -> StableField:
    """A stable field of a file through its warps; `goal` where it is of one attractor alone."""
    inner: tuple[Stretch, ...] = ()
    if f"{prefix}.home.low" in tensors:
        inner = (Stretch(*(tensors[f"{prefix}.home.{name}"] for name in Stretch._fields)),)
    if not kinds and not inner:
        return one
    n = tensors["warps.places"].shape[1] if kinds else len(inner[0].low)
    places = tensors["warps.places"] if kinds else one.attractors[:, :n]
    warps = tuple(warp_of(tensors, i, kind) for i, kind in enumerate(kinds))
    own = places if goal is None or not kinds else places[goal : goal + 1]
    return replace(one, model=one.model._replace(world=World(one.centre[:n], one.scale[:n], (*warps, *inner), own)))
