"""Stable fields of one size, side by side: their numbers stacked, as C and ONNX want them.

Fields with fewer layers or features than others are padded with zero weights, which are identities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._types import FloatArray
from ..fields import StableField
from ..fields.flows import Flow
from ..fields.stable import Speed, Wells


@dataclass(frozen=True, eq=False)
class Tables:
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
    flows, speeds = [one.model.flow for one in fields], [one.model.speed for one in fields]
    worlds = [one.model.world for one in fields]
    layers, features = (max(flow.frequencies.shape[axis] for flow in flows) for axis in (0, 1))
    count = max(len(one.frequencies) for one in speeds)
    flow = [
        Flow(
            _padded(one.frequencies, layers, features),
            _with_features(_padded(one.weights, layers), features),
            one.window,
        )
        for one in flows
    ]
    speed = [
        one._replace(frequencies=_padded(one.frequencies, count), weights=_with_features(one.weights, count))
        for one in speeds
    ]
    return Tables(
        attractors=np.stack([one.attractors for one in fields]),
        centre=np.stack([one.centre for one in fields]),
        scale=np.stack([one.scale for one in fields]),
        gain=np.stack([one.scale * one.pace for one in fields]),
        pace=np.array([one.pace for one in fields]),
        brake=np.stack([one.model.brake for one in fields]),
        knee=np.array(
            [float(world.home.knee) if world is not None and world.home is not None else 0.0 for world in worlds]
        ),
        flow=Flow(*map(np.stack, zip(*flow, strict=True))),
        speed=Speed(*map(np.stack, zip(*speed, strict=True))),
        wells=Wells(*map(np.stack, zip(*(one.wells for one in fields), strict=True))),
    )


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
