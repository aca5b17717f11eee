"""Stable fields of one size, side by side: their numbers stacked, as C and ONNX want them.

Fields with fewer layers or features than others are padded with zero weights, which are identities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from ..fields import StableField
from ..fields.flows import Flow
from ..fields.stable import Speed, Wells


class Tables(NamedTuple):
    """N fields of Q attractors in d dimensions; every array has a first axis of N."""

    attractors: FloatArray
    """x*, (N, Q, d), in the data's units."""
    centre: FloatArray
    scale: FloatArray
    """(N, d): x_unit = (x - centre) / scale."""
    gain: FloatArray
    """(N, d): xdot = gain * f_unit."""
    pace: FloatArray
    """(N,): unit time per the data's."""
    brake: FloatArray
    """(N, d): |brake * f_unit| <= 1."""
    knee: FloatArray
    """(N,): of the innermost warp, which keeps a field home; 0 where there is none."""
    flow: Flow
    speed: Speed
    wells: Wells

    @property
    def dimension(self) -> int:
        return int(self.attractors.shape[2])


def tables(fields: Sequence[StableField]) -> Tables:
    """Of fields with the same number of attractors, in the same space."""
    layers, features = (max(one.model.flow.frequencies.shape[axis] for one in fields) for axis in (0, 1))
    count = max(len(one.model.speed.frequencies) for one in fields)

    def own(one: StableField) -> Tables:
        flow, speed, world = one.model.flow, one.model.speed, one.model.world
        weights = _with_features(_padded(flow.weights, layers), features)
        return Tables(
            attractors=one.attractors,
            centre=one.centre,
            scale=one.scale,
            gain=one.scale * one.pace,
            pace=np.asarray(one.pace),
            brake=one.model.brake,
            knee=np.asarray(0.0 if world is None or world.home is None else world.home.knee),
            flow=Flow(_padded(flow.frequencies, layers, features), weights, flow.window),
            speed=Speed(
                _padded(speed.frequencies, count), _with_features(speed.weights, count), speed.offset, speed.window
            ),
            wells=one.wells,
        )

    return _stacked([own(one) for one in fields])  # type: ignore[no-any-return]


def _stacked(parts: Sequence[Any]) -> Any:
    """Arrays, or tuples of them, side by side."""
    first = parts[0]
    return type(first)(*map(_stacked, zip(*parts, strict=True))) if isinstance(first, tuple) else np.stack(parts)


def _padded(values: FloatArray, *sizes: int) -> FloatArray:
    """With zeros behind, up to some sizes of the first axes."""
    wide = np.zeros((*sizes, *values.shape[len(sizes) :]))
    wide[tuple(map(slice, values.shape))] = values
    return wide


def _with_features(weights: FloatArray, features: int) -> FloatArray:
    """Weights (..., 2 F) of more features, which are divided by the root of their number."""
    own = weights.shape[-1] // 2
    wide = np.zeros((*weights.shape[:-1], 2, features))
    wide[..., :own] = weights.reshape(*weights.shape[:-1], 2, own) * (features / own) ** 0.5
    return wide.reshape(*weights.shape[:-1], 2 * features)
