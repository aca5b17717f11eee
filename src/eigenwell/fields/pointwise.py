"""One planar state at a time, fast: the field of a controller's inner loop.

The batch code pays about a microsecond per NumPy call and makes some twenty per layer. Here, in two dimensions,
p and q are Python floats, constants are fused once, and a layer is four small array calls.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, hypot, tanh

import numpy as np

from .flows import LOG_SCALE_BOUND, derivative_weights, forward, split
from .stable import BRAKE_POWER, StableModel

Planar = Callable[[float, float], tuple[float, float]]


def planar_velocity(model: StableModel) -> Planar:
    """xdot of one state (a, b), in unit coordinates; the same numbers as `stable.velocity` to rounding."""
    if model.flow.dimension != 2:
        raise ValueError(f"Expected a model in 2 dimensions, got {model.flow.dimension}. Use stable.velocity.")
    count = model.flow.frequencies.shape[1]
    share = count**-0.5
    layers = []
    for layer, (frequencies, weights) in enumerate(zip(*model.flow, strict=True)):
        slopes = derivative_weights(frequencies, weights)[:, :, 0].T
        rows = np.ascontiguousarray(np.concatenate([weights, slopes]) * share)
        layers.append((int(split(2, layer)[0][0]) == 0, frequencies[:, 0].copy(), rows))
    goal_a, goal_b = (float(c) for c in forward(model.flow, model.attractor[None])[0])
    turn = float(model.swirl[1, 0])
    softening, offset = float(model.softening), float(model.speed.offset)
    speed_count = model.speed.frequencies.shape[0]
    speed_a, speed_b = (model.speed.frequencies[:, i].copy() for i in (0, 1))
    speed_rows = model.speed.weights * speed_count**-0.5
    brake_a, brake_b = (float(c) for c in model.brake)
    bound = LOG_SCALE_BOUND

    def field(a: float, b: float) -> tuple[float, float]:
        angle = speed_a * a + speed_b * b
        log_speed = offset + float(speed_rows[:speed_count] @ np.cos(angle) + speed_rows[speed_count:] @ np.sin(angle))
        phi = np.empty(2 * count)
        cos, sin = phi[:count], phi[count:]
        trail = []
        for first, frequencies, rows in layers:
            p, q = (a, b) if first else (b, a)
            angle = frequencies * p
            np.cos(angle, out=cos)
            np.sin(angle, out=sin)
            sigma, shift, sigma_slope, shift_slope = (rows @ phi).tolist()
            squashed = tanh(sigma / bound)
            scale = exp(bound * squashed)
            stretched = q * scale
            trail.append((first, scale, stretched * (1.0 - squashed * squashed) * sigma_slope + shift_slope))
            q = stretched + shift
            a, b = (p, q) if first else (q, p)
        a, b = a - goal_a, b - goal_b
        gain = -exp(log_speed) / (hypot(a, b) + softening)
        a, b = gain * (a - turn * b), gain * (b + turn * a)
        for first, scale, shear in reversed(trail):
            if first:
                b = (b - shear * a) / scale
            else:
                a = (a - shear * b) / scale
        r = hypot(brake_a * a, brake_b * b)
        top = max(r, 1.0)
        gain = 1.0 / (top * (1.0 + (r / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER))
        return gain * a, gain * b

    return field
