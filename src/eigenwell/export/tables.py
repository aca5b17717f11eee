"""Stable fields as plain tables, as C and ONNX want them: several fields of one size, side by side.

Fields with fewer layers or features than others are padded with zero weights, which are identities. The sums that do not
depend on the state are done in double once, here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._types import FloatArray
from ..fields import StableField
from ..fields.curves import longest_step
from ..fields.flows import split
from ..fields.stable import goals
from ..models.warps import home_of


@dataclass(frozen=True, eq=False)
class Tables:
    """N fields of K attractors in d dimensions: L layers of F frequencies that pass P and move M coordinates."""

    attractors: FloatArray
    """x*, (N, K, d), in the data's units."""
    centre: FloatArray
    scale: FloatArray
    """(N, d): x_unit = (x - centre) / scale."""
    gain: FloatArray
    """(N, d): xdot = gain * f_unit."""
    frequencies: FloatArray
    """W, (N, L, F, P)."""
    cosines: FloatArray
    sines: FloatArray
    """theta / sqrt(F), (N, L, F, 2 M)."""
    window: FloatArray
    """k, (N,)."""
    wells: FloatArray
    """psi(x*), (N, K, d)."""
    weights: FloatArray
    """w, (N, K), the largest 1."""
    swirls: FloatArray
    """Omega, (N, K, d, d)."""
    softening: FloatArray
    """epsilon, (N, K)."""
    brake: FloatArray
    """(N, d): |brake * f_unit| <= 1."""
    speed_frequencies: FloatArray
    """(N, G, d)."""
    speed_cosines: FloatArray
    speed_sines: FloatArray
    """(N, G), over sqrt(G)."""
    speed_offset: FloatArray
    speed_window: FloatArray
    """(N,)."""
    knee: FloatArray
    """(N,): of the innermost warp, which keeps a field home; 0 where there is none."""
    longest: FloatArray
    """(N,): the step of sigma with which a state is followed to its end."""
    turn: FloatArray
    """(N,): 1 + |Omega|, see `curves.fate`."""

    @property
    def dimension(self) -> int:
        return int(self.attractors.shape[2])

    @property
    def splits(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Passing and moving coordinates of every layer."""
        return [split(self.dimension, layer) for layer in range(self.frequencies.shape[1])]


def tables(fields: Sequence[StableField]) -> Tables:
    """The tables of fields with the same number of attractors, in the same space."""
    models = [one.model for one in fields]
    flows = [model.flow for model in models]
    layers, features = (max(flow.frequencies.shape[axis] for flow in flows) for axis in (0, 1))
    couplings = zip(*(_flow(one, layers, features) for one in fields), strict=True)
    frequencies, cosines, sines = map(np.stack, couplings)
    speed_features = max(len(model.speed.frequencies) for model in models)
    speed_frequencies, speed_cosines, speed_sines = map(
        np.stack, zip(*(_speed(one, speed_features) for one in fields), strict=True)
    )
    swirls = np.stack([np.asarray(model.swirls, dtype=np.float64) for model in models])
    return Tables(
        attractors=np.stack([one.attractors for one in fields]),
        centre=np.stack([one.centre for one in fields]),
        scale=np.stack([one.scale for one in fields]),
        gain=np.stack([one.scale * one.pace for one in fields]),
        frequencies=frequencies,
        cosines=cosines,
        sines=sines,
        window=np.array([float(flow.window) for flow in flows]),
        wells=np.stack([goals(model) for model in models]),
        weights=np.stack([np.exp(model.log_weights - model.log_weights.max()) for model in models]),
        swirls=swirls,
        softening=np.stack([np.asarray(model.softening, dtype=np.float64) for model in models]),
        brake=np.stack([np.asarray(model.brake, dtype=np.float64) for model in models]),
        speed_frequencies=speed_frequencies,
        speed_cosines=speed_cosines,
        speed_sines=speed_sines,
        speed_offset=np.array([float(model.speed.offset) for model in models]),
        speed_window=np.array([float(model.speed.window) for model in models]),
        knee=np.array([0.0 if home is None else float(home.knee) for home in map(home_of, fields)]),
        longest=np.array([longest_step(model) for model in models]),
        turn=1 + np.linalg.norm(swirls, ord=2, axis=(2, 3)).max(axis=1),
    )


def _flow(field: StableField, layers: int, features: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    flow = field.model.flow
    own_layers, count, passes = flow.frequencies.shape
    frequencies = np.zeros((layers, features, passes))
    cosines, sines = np.zeros((2, layers, features, flow.weights.shape[1]))
    frequencies[:own_layers, :count] = flow.frequencies
    weights = np.asarray(flow.weights, dtype=np.float64).transpose(0, 2, 1) * count**-0.5
    cosines[:own_layers, :count], sines[:own_layers, :count] = weights[:, :count], weights[:, count:]
    return frequencies, cosines, sines


def _speed(field: StableField, features: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    speed = field.model.speed
    count = len(speed.frequencies)
    frequencies = np.zeros((features, field.dimension))
    cosines, sines = np.zeros((2, features))
    frequencies[:count] = speed.frequencies
    weights = np.asarray(speed.weights, dtype=np.float64) * count**-0.5
    cosines[:count], sines[:count] = weights[:count], weights[count:]
    return frequencies, cosines, sines
