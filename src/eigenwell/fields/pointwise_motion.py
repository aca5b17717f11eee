"""One planar motion, one state at a time, fast: the law of `motion` in a controller's inner loop.

As in `pointwise`: three lifted coordinates are Python floats, one passes and two move in a layer, and a layer is four small
array calls.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, sqrt, tanh

import numpy as np

from .flows import LOG_SCALE_BOUND, derivative_weights, split
from .pointwise_warps import planar_world
from .stable import BRAKE_POWER, TINY, StableModel, goals

Triple = tuple[float, float, float]
Law = Callable[[Triple, Triple, float, float], Triple]


def planar_motion(model: StableModel) -> Law | None:
    """law(z, heading, gain, width) -> zdot in unit coordinates, or None where the shape is another.

    The same numbers as `motion.motion_velocity` to rounding, for fields of (x1, x2, phase) that do not wind.
    """
    moves = model.world is not None and model.world.later
    if model.flow.dimension != 3 or np.any(model.swirls) or moves:
        return None
    count = model.flow.frequencies.shape[1]
    layers = []
    for layer, (frequencies, weights) in enumerate(zip(model.flow.frequencies, model.flow.weights, strict=True)):
        slopes = derivative_weights(frequencies, weights)[:, :, 0].T
        rows = np.ascontiguousarray(np.concatenate([weights, slopes]) * count**-0.5)
        (passing,), (first, second) = split(3, layer)
        layers.append((passing, first, second, frequencies[:, 0].copy(), rows))
    squared = float(model.flow.window) ** 2
    quartic = squared * squared
    origin = goals(model)[0].tolist()
    softening = float(model.softening[0])
    offset, speed_window = float(model.speed.offset), float(model.speed.window) ** 2 / 3
    speed_count = model.speed.frequencies.shape[0]
    speed_frequencies = np.ascontiguousarray(model.speed.frequencies)
    speed_rows = model.speed.weights * speed_count**-0.5
    brake = model.brake.tolist()
    bound = LOG_SCALE_BOUND
    through = planar_world(model.world)

    def law(z: Triple, heading: Triple, gain: float, width: float) -> Triple:
        carry = None
        if through is not None:
            a, b, carry = through(z[0], z[1])
            z = (a, b, z[2])
        angle = speed_frequencies @ np.array(z)
        wiggle = float(speed_rows[:speed_count] @ np.cos(angle) + speed_rows[speed_count:] @ np.sin(angle))
        total = z[0] * z[0] + z[1] * z[1] + z[2] * z[2]
        s = exp(offset + wiggle / (1.0 + (speed_window * total) ** 2))
        y = list(z)
        phi = np.empty(2 * count)
        cosines, sines = phi[:count], phi[count:]
        trail = []
        for passing, first, second, frequencies, rows in layers:
            p = y[passing]
            angle = frequencies * p
            np.cos(angle, out=cosines)
            np.sin(angle, out=sines)
            sigma_a, sigma_b, tau_a, tau_b, sigma_a1, sigma_b1, tau_a1, tau_b1 = (rows @ phi).tolist()
            within = 1.0 / (1.0 + quartic * p**4)
            fall = -4.0 * quartic * within * within * p**3
            scales = []
            for i, sigma, tau, sigma1, tau1 in (
                (first, sigma_a, tau_a, sigma_a1, tau_a1),
                (second, sigma_b, tau_b, sigma_b1, tau_b1),
            ):
                q = y[i]
                fade = 1.0 / sqrt(1.0 + squared * q * q)
                squashed = tanh(sigma / bound)
                stretch_log = within * bound * squashed
                stretch = exp(stretch_log * fade)
                stretched = q * stretch
                slope = within * (1.0 - squashed * squashed) * sigma1 + bound * squashed * fall
                scales.append(stretch * (1.0 - stretch_log * fade * (1.0 - fade * fade)))
                scales.append(stretched * fade * slope + within * tau1 + tau * fall)
                y[i] = stretched + within * tau
            trail.append((passing, first, second, scales))
        y0, y1, y2 = y[0] - origin[0], y[1] - origin[1], y[2] - origin[2]
        r = sqrt(y0 * y0 + y1 * y1 + y2 * y2 + TINY)
        along = (heading[0] * y0 + heading[1] * y1 + heading[2] * y2) / r
        tau = [r * heading[0] - along * y0, r * heading[1] - along * y1, r * heading[2] - along * y2]
        off = (tau[0] * tau[0] + tau[1] * tau[1] + tau[2] * tau[2]) / (width * width)
        rate = -s / ((1.0 + off) * (r + softening))
        w = [rate * y0 + gain * tau[0], rate * y1 + gain * tau[1], rate * y2 + gain * tau[2]]
        for passing, first, second, (scale_a, shear_a, scale_b, shear_b) in reversed(trail):
            p = w[passing]
            w[first] = (w[first] - shear_a * p) / scale_a
            w[second] = (w[second] - shear_b * p) / scale_b
        if carry is not None:
            w[0], w[1], clock = carry(w[0], w[1])
            w[2] *= clock
        b = sqrt((brake[0] * w[0]) ** 2 + (brake[1] * w[1]) ** 2 + (brake[2] * w[2]) ** 2 + TINY)
        top = max(b, 1.0)
        m = 1.0 / (top * (1.0 + (b / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER))
        return m * w[0], m * w[1], m * w[2]

    return law
