"""A field written around its attractor, so that rounding is relative to the distance from it.

y = psi(x) - psi(x*) is a difference of like numbers near the attractor, and u = y / (|y| + epsilon) divides what
rounding leaves of it by epsilon. So the export carries differences from the attractor's own path through the layers:
dp, dq for p - p*, q - q*. With a = W p = W p* + delta, delta = W dp, the angle of the attractor goes into the weights,

    theta_c cos a + theta_s sin a = R_c cos delta + R_s sin delta,
    R_c = theta_c cos(W p*) + theta_s sin(W p*),    R_s = theta_s cos(W p*) - theta_c sin(W p*),

and what changes is a sum of small terms:

    d sigma, dt = R_c (cos delta - 1) + R_s sin delta,                  (cos delta - 1 = -2 sin^2(delta / 2))
    dT = D (1 - T*^2) / (1 + D T*),    D = tanh(d sigma / c),    T = tanh(sigma / c),    s = c T,
    dq' = dq e^s + q* e^s* (e^(c dT) - 1) + dt.

All of it vanishes at dp = dq = 0: the exported field is zero at the attractor without a test. The sums are done in
double once, here. Fields with fewer layers or features than others are padded with zero weights, which are identities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from ..fields import MultiAttractorField, StableField
from ..fields.flows import LOG_SCALE_BOUND, split


@dataclass(frozen=True, eq=False)
class Centred:
    """Tables of Q fields in d dimensions: L layers of F frequencies that pass P and move M coordinates."""

    attractors: FloatArray
    """x*, (Q, d), in the data's units."""
    centre: FloatArray
    offset: FloatArray
    """(Q, d): x* = centre + offset, before rounding."""
    scale: FloatArray
    """(Q, d): dx_unit = (x - x*) / scale."""
    gain: FloatArray
    """(Q, d): xdot = gain * f_unit."""
    frequencies: FloatArray
    """W, (Q, L, F, P)."""
    cosines: FloatArray
    """R_c / sqrt(F), (Q, L, F, 2 M)."""
    sines: FloatArray
    """R_s / sqrt(F), (Q, L, F, 2 M)."""
    squash: FloatArray
    """T*, (Q, L, M)."""
    home: FloatArray
    """q*, (Q, L, M)."""
    swirl: FloatArray
    """Omega, (Q, d, d)."""
    softening: FloatArray
    """epsilon, (Q,)."""
    brake: FloatArray
    """(Q, d): |brake * f_unit| <= 1."""
    speed_frequencies: FloatArray
    """(Q, G, d)."""
    speed_cosines: FloatArray
    speed_sines: FloatArray
    """(Q, G), as R_c and R_s."""
    speed_at_rest: FloatArray
    """log s(x*), (Q,)."""

    def rest(self, rounded: NDArray[Any]) -> FloatArray:
        """What rounding took from the attractors. Theirs may be far from the origin: then it is much."""
        return np.asarray((self.centre - rounded) + self.offset)

    @property
    def dimension(self) -> int:
        return int(self.attractors.shape[1])

    @property
    def splits(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Passing and moving coordinates of every layer."""
        return [split(self.dimension, layer) for layer in range(self.frequencies.shape[1])]


def centred(field: MultiAttractorField) -> Centred:
    """The tables of every field of `field`."""
    layers = max(one.model.flow.frequencies.shape[0] for one in field.fields)
    features = max(one.model.flow.frequencies.shape[1] for one in field.fields)
    speed_features = max(one.model.speed.frequencies.shape[0] for one in field.fields)
    flows = zip(*(_flow(one, layers, features) for one in field.fields), strict=True)
    speeds = zip(*(_speed(one, speed_features) for one in field.fields), strict=True)
    frequencies, cosines, sines, squash, home = map(np.stack, flows)
    speed_frequencies, speed_cosines, speed_sines, speed_at_rest = map(np.stack, speeds)
    return Centred(
        attractors=field.attractors,
        centre=np.stack([one.centre for one in field.fields]),
        offset=np.stack([one.scale * one.model.attractor for one in field.fields]),
        scale=np.stack([one.scale for one in field.fields]),
        gain=np.stack([one.scale * one.pace for one in field.fields]),
        frequencies=frequencies,
        cosines=cosines,
        sines=sines,
        squash=squash,
        home=home,
        swirl=np.stack([np.asarray(one.model.swirl, dtype=np.float64) for one in field.fields]),
        softening=np.array([float(one.model.softening) for one in field.fields]),
        brake=np.stack([np.asarray(one.model.brake, dtype=np.float64) for one in field.fields]),
        speed_frequencies=speed_frequencies,
        speed_cosines=speed_cosines,
        speed_sines=speed_sines,
        speed_at_rest=speed_at_rest,
    )


def _rotated(angle: FloatArray, cos: FloatArray, sin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R_c, R_s: weights of the features of delta = a - angle, from those of a."""
    return cos * np.cos(angle) + sin * np.sin(angle), sin * np.cos(angle) - cos * np.sin(angle)


def _flow(field: StableField, layers: int, features: int) -> tuple[FloatArray, ...]:
    flow = field.model.flow
    own_layers, count, passes = flow.frequencies.shape
    moves = field.dimension - passes
    frequencies = np.zeros((layers, features, passes))
    cosines, sines = np.zeros((2, layers, features, 2 * moves))
    squash, home = np.zeros((2, layers, moves))
    x = np.array(field.model.attractor, dtype=np.float64)
    for layer in range(layers):
        passing, moving = map(list, split(field.dimension, layer))
        home[layer] = x[moving]
        if layer >= own_layers:
            continue
        frequencies[layer, :count] = flow.frequencies[layer]
        weights = np.asarray(flow.weights[layer], dtype=np.float64).T * count**-0.5
        angle = (frequencies[layer, :count] @ x[passing])[:, None]
        cosines[layer, :count], sines[layer, :count] = _rotated(angle, weights[:count], weights[count:])
        at_rest = cosines[layer].sum(0)
        squash[layer] = np.tanh(at_rest[:moves] / LOG_SCALE_BOUND)
        x[moving] = x[moving] * np.exp(LOG_SCALE_BOUND * squash[layer]) + at_rest[moves:]
    return frequencies, cosines, sines, squash, home


def _speed(field: StableField, features: int) -> tuple[FloatArray, ...]:
    speed = field.model.speed
    count = speed.frequencies.shape[0]
    frequencies = np.zeros((features, field.dimension))
    cosines, sines = np.zeros((2, features))
    frequencies[:count] = speed.frequencies
    weights = np.asarray(speed.weights, dtype=np.float64) * count**-0.5
    angle = frequencies[:count] @ np.asarray(field.model.attractor, dtype=np.float64)
    cosines[:count], sines[:count] = _rotated(angle, weights[:count], weights[count:])
    return frequencies, cosines, sines, np.asarray(cosines.sum() + float(speed.offset))
