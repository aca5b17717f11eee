"""Fields of second order as named arrays: what a saved one must hold, and the checks its stability rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..fields import SecondOrderField
from ..fields.second_order import PULLS
from .schema import AGAIN, SECOND_ORDER, Config, Tensors, check

POSITIVE = ("scale", "pulls", "width", "least")
"""Pulls and least damping above zero are what makes it come to rest in the attractors alone."""


def parts(field: SecondOrderField) -> tuple[Config, Tensors]:
    """Configuration and tensors."""
    config = Config(SECOND_ORDER, field.dimension, field.n_attractors, 0, 0, None, None, field.warnings)
    return config, {name: np.array(getattr(field, name), dtype=np.float64, order="C") for name in _shapes(1, 1, 1)}


def check_tensors(tensors: Mapping[str, NDArray[Any]], config: Config, where: str) -> None:
    """Names, shapes and signs."""
    centres = tensors.get("centres")
    bumps = len(centres) if centres is not None and centres.ndim == 2 else 0
    shapes = _shapes(config.dimension // 2, config.n_attractors, bumps)
    if config.dimension % 2 or bumps < 1 or set(tensors) != set(shapes):
        raise ModelError(
            f"Expected the tensors of a field of (q, qdot) in {where}, which are {', '.join(shapes)}, got others. {AGAIN}"
        )
    for name, shape in shapes.items():
        check(tensors, name, shape, where)
    for name in POSITIVE:
        if not (tensors[name] > 0).all():
            raise ModelError(f"Expected {name} > 0 in {where}, got others: not stable. {AGAIN}")
    for name in ("damping", "misfit"):
        if not (tensors[name] >= 0).all():
            raise ModelError(f"Expected {name} >= 0 in {where}, got others. {AGAIN}")
    if len(np.unique(tensors["places"], axis=0)) < config.n_attractors:
        raise ModelError(f"Expected attractors at different places in {where}, got two at the same one. {AGAIN}")


def field_of(tensors: Mapping[str, NDArray[Any]]) -> SecondOrderField:
    """The field; its tensors were checked."""
    numbers: dict[str, Any] = {name: float(t) if t.ndim == 0 else t for name, t in tensors.items()}
    return SecondOrderField(**numbers)


def _shapes(d: int, attractors: int, bumps: int) -> dict[str, tuple[int, ...]]:
    return {
        "places": (attractors, d),
        "centre": (d,),
        "scale": (),
        "pulls": (len(PULLS),),
        "centres": (bumps, d),
        "width": (),
        "damping": (bumps,),
        "turning": (bumps, d * (d - 1) // 2),
        "least": (),
        "misfit": (),
    }
