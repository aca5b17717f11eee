"""One planar state at a time, fast: the field of a controller's inner loop.

The batch code pays about a microsecond per NumPy call and makes some twenty per layer. Here, in two dimensions,
p and q are Python floats, constants are fused once, and a layer is four small array calls.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, hypot, sqrt, tanh

import numpy as np

from .flows import LOG_SCALE_BOUND, derivative_weights, split
from .pointwise_warps import planar_world
from .stable import BRAKE_POWER, TINY, StableModel, goals

Planar = Callable[[float, float], tuple[float, float]]


def planar_velocity(model: StableModel) -> Planar:
    """xdot of one state (a, b), in unit coordinates; the same numbers as `stable.velocity` to rounding."""
    if model.flow.dimension != 2:
        raise ValueError(f"Expected a model in 2 dimensions, got {model.flow.dimension}. Use stable.velocity.")
    count = model.flow.frequencies.shape[1]
    share = count**-0.5
    layers = []
    for layer, (frequencies, weights) in enumerate(zip(model.flow.frequencies, model.flow.weights, strict=True)):
        slopes = derivative_weights(frequencies, weights)[:, :, 0].T
        rows = np.ascontiguousarray(np.concatenate([weights, slopes]) * share)
        layers.append((int(split(2, layer)[0][0]) == 0, frequencies[:, 0].copy(), rows))
    squared = float(model.flow.window) ** 2
    quartic = squared * squared
    places = goals(model).tolist()
    weights_of = np.exp(model.log_weights - model.log_weights.max()).tolist()
    turns = model.swirls[:, 1, 0].tolist()
    softenings = model.softening.tolist()
    wells = list(zip(places, weights_of, turns, softenings, strict=True))
    (only_a, only_b), _, only_turn, only_softening = wells[0]
    offset, speed_window = float(model.speed.offset), float(model.speed.window) ** 2 / 2
    speed_count = model.speed.frequencies.shape[0]
    speed_a, speed_b = (model.speed.frequencies[:, i].copy() for i in (0, 1))
    speed_rows = model.speed.weights * speed_count**-0.5
    brake_a, brake_b = (float(c) for c in model.brake)
    bound = LOG_SCALE_BOUND
    through = planar_world(model.world)

    def pull(a: float, b: float) -> tuple[float, float, float, float]:
        """e, turn and softening at a latent state: the inverse-square mean of the wells."""
        if len(wells) == 1:
            return a - only_a, b - only_b, only_turn, only_softening
        total = e_a = e_b = turn = softening = 0.0
        for (goal_a, goal_b), weight, own_turn, own_softening in wells:
            away_a, away_b = a - goal_a, b - goal_b
            part = weight / (away_a * away_a + away_b * away_b + TINY)
            total += part
            e_a += part * away_a
            e_b += part * away_b
            turn += part * own_turn
            softening += part * own_softening
        return e_a / total, e_b / total, turn / total, softening / total

    def field(a: float, b: float) -> tuple[float, float]:
        carry = None
        if through is not None:
            a, b, carry = through(a, b)
        angle = speed_a * a + speed_b * b
        wiggle = float(speed_rows[:speed_count] @ np.cos(angle) + speed_rows[speed_count:] @ np.sin(angle))
        log_speed = offset + wiggle / (1.0 + (speed_window * (a * a + b * b)) ** 2)
        phi = np.empty(2 * count)
        cos, sin = phi[:count], phi[count:]
        trail = []
        for first, frequencies, rows in layers:
            p, q = (a, b) if first else (b, a)
            angle = frequencies * p
            np.cos(angle, out=cos)
            np.sin(angle, out=sin)
            sigma, tau, sigma_slope, tau_slope = (rows @ phi).tolist()
            within = 1.0 / (1.0 + quartic * p**4)
            fall = -4.0 * quartic * within * within * p**3
            fade = 1.0 / sqrt(1.0 + squared * q * q)
            squashed = tanh(sigma / bound)
            s = within * bound * squashed
            s_slope = within * (1.0 - squashed * squashed) * sigma_slope + bound * squashed * fall
            stretch = exp(s * fade)
            stretched = q * stretch
            scale = stretch * (1.0 - s * fade * (1.0 - fade * fade))
            trail.append((first, scale, stretched * fade * s_slope + within * tau_slope + tau * fall))
            q = stretched + within * tau
            a, b = (p, q) if first else (q, p)
        a, b, turn, softening = pull(a, b)
        gain = -exp(log_speed) / (hypot(a, b) + softening)
        a, b = gain * (a - turn * b), gain * (b + turn * a)
        for first, scale, shear in reversed(trail):
            if first:
                b = (b - shear * a) / scale
            else:
                a = (a - shear * b) / scale
        if carry is not None:
            a, b, _ = carry(a, b)
        r = hypot(brake_a * a, brake_b * b)
        top = max(r, 1.0)
        gain = 1.0 / (top * (1.0 + (r / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER))
        return gain * a, gain * b

    return field
