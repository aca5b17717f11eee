"""The stable field in unit coordinates, as numbers: a flow, an attractor and a speed.

    xdot = m s(x) J_psi(x)^-1 u(x),    u = -(I + Omega) y / (|y| + epsilon),    y = psi(x) - psi(x*),

with m, s > 0 and Omega skew. V = |y|^2 / 2 falls along every solution, Vdot = -m s |y|^2 / (|y| + epsilon) < 0
for y != 0, whatever psi, s and Omega are: stability is by construction and not by training.

Departures from the paper's xdot = J^-1 (psi(x*) - psi(x)), all of which leave V a Lyapunov function: s restores
the speed of the data, the softened norm makes solutions arrive instead of creeping in, Omega (zero unless the
data spiral) turns straight lines into spirals, which no smooth psi can do at a focus, and m is a brake: J^-1 may be large
where nothing was learned, and no state may move faster than a limit.

As in `flows`, arrays may be NumPy or JAX.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .flows import (
    Array,
    Flow,
    Step,
    forward,
    fourier_features,
    linearise,
    linearise_inverse,
    namespace,
    pull,
    push_gradient,
)


class Speed(NamedTuple):
    """log s(x) = offset + weights . phi(x), phi the features of `flows`; |phi| = 1, so |log s - offset| <= |weights|."""

    frequencies: Array
    """(F, d), fixed."""
    weights: Array
    """(2 F,), learned."""
    offset: Array


class StableModel(NamedTuple):
    """Everything a stable field is made of, in unit coordinates."""

    flow: Flow
    speed: Speed
    attractor: Array
    """x*, (d,)."""
    swirl: Array
    """Omega, (d, d), skew."""
    softening: Array
    """epsilon > 0, in latent units."""
    brake: Array
    """(d,): |brake * xdot| <= 1 is the limit of speed; zero for none."""


BRAKE_POWER = 8
"""How late the brake sets in: at half the limit it takes 0.05 % of the speed, at two thirds 0.5 %."""


def log_speed(speed: Speed, x: Array) -> Array:
    """log s at points (n, d)."""
    return fourier_features(speed.frequencies, x) @ speed.weights + speed.offset


def latent(model: StableModel, x: Array) -> Array:
    """y = psi(x) - psi(x*)."""
    return forward(model.flow, x) - forward(model.flow, model.attractor[None])


def direction(model: StableModel, x: Array) -> tuple[Array, Array, list[Step]]:
    """J^-1 u, y and the Jacobian's factors at points (n, d): the field before its speed."""
    y, steps = linearise(model.flow, x)
    y = y - forward(model.flow, model.attractor[None])
    return pull(steps, latent_velocity(model, y)), y, steps


def latent_velocity(model: StableModel, y: Array) -> Array:
    """u = -(I + Omega) y / (|y| + epsilon)."""
    xp = namespace(y)
    # The tiny constant keeps the derivative of |y| finite at the attractor; it is far below float32's resolution.
    norm = xp.sqrt((y * y).sum(-1, keepdims=True) + 1e-30)
    return -(y + y @ model.swirl.T) / (norm + model.softening)


def velocity(model: StableModel, x: Array) -> Array:
    """xdot at points (n, d)."""
    xp = namespace(x)
    free = xp.exp(log_speed(model.speed, x))[:, None] * direction(model, x)[0]
    return free * braking(model, free)[:, None]


def braking(model: StableModel, free: Array) -> Array:
    """m = (1 + r^8)^(-1/8), r = |brake * free|: nearly 1 below the limit, and m r < 1 whatever r is.

    Written in min(r, 1/r), which no power takes out of range.
    """
    xp = namespace(free)
    r = xp.sqrt(((model.brake * free) ** 2).sum(-1) + 1e-30)
    top = xp.maximum(r, 1.0)
    return 1.0 / (top * (1.0 + (r / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER))


def clock_speed(model: StableModel, y: Array, origin: Array) -> Array:
    """m s, with which the latent clock runs, at latent points y = psi(x) - origin, origin = psi(x*)."""
    xp = namespace(y)
    x, steps = linearise_inverse(model.flow, y + origin)
    s = xp.exp(log_speed(model.speed, x))
    return s * braking(model, s[:, None] * pull(steps, latent_velocity(model, y)))


def potential(model: StableModel, x: Array) -> Array:
    """V = |psi(x) - psi(x*)|^2 / 2."""
    return 0.5 * (latent(model, x) ** 2).sum(-1)


def potential_gradient(model: StableModel, x: Array) -> Array:
    """grad V = J^T (psi(x) - psi(x*))."""
    y, steps = linearise(model.flow, x)
    return push_gradient(steps, y - forward(model.flow, model.attractor[None]))


def wound(swirl: Array, heading: Array, log_ratio: Array) -> Array:
    """exp(Omega ln(rho / rho_0)) applied to headings (m, d), for m values of ln(rho / rho_0): where a solution points.

    i Omega is Hermitian, so the exponential of the skew matrix is a change of phase in its eigenbasis. NumPy only.
    """
    if not np.any(swirl):
        return heading
    values, vectors = np.linalg.eigh(1j * swirl)
    phase = np.exp(-1j * log_ratio[:, None] * values)
    return (((heading @ vectors.conj()) * phase) @ vectors.T).real


def as_numpy(model: StableModel, dtype: Any = np.float64) -> StableModel:
    """The same numbers as NumPy arrays of one dtype."""

    def cast(a: Array) -> Array:
        return np.array(a, dtype=dtype, order="C")

    return StableModel(
        Flow(*map(cast, model.flow)),
        Speed(*map(cast, model.speed)),
        cast(model.attractor),
        cast(model.swirl),
        cast(model.softening),
        cast(model.brake),
    )
