"""The field's direction for a compiler: loops over layers, and features without XLA's cosine.

Written out, ten layers and their derivatives are thousands of operations, which XLA takes a quarter of a minute to compile. As
two scans, psi forwards and J^-1 backwards, they are those of one layer. The layers take turns in what they pass; a
permutation brings every layer's own order of coordinates to the front, as a small matrix, whose derivative is its
transpose.
"""

from __future__ import annotations

from math import factorial

import jax
import jax.numpy as jnp
import numpy as np

from ..fields.flows import Array, moved, pulled, split, with_slopes
from ..fields.stable import StableModel, Wells, latent_velocity

COARSE = round(2 * np.pi * 32) / 32
"""2 pi to eight bits: its products with whole turns are exact in float32, and the rest of 2 pi is taken off after it."""
TERMS = next(n for n in range(20) if (np.pi / 2) ** (2 * n) / factorial(2 * n) < np.finfo(np.float32).eps)
"""Of the series at up to half pi, where the next is below float32's resolution."""


def direction(model: StableModel, x: Array) -> tuple[Array, Array, Array]:
    """J^-1 u at points (d, n), y = psi(x), and y_q = psi(x*_q), (Q, d): what `fields.stable.direction` computes."""
    count, passing = x.shape[1], model.flow.frequencies.shape[-1]
    orders = jnp.asarray(_orders(model.flow.dimension, model.flow.frequencies.shape[0]), dtype=x.dtype)

    def forwards(x: Array, layer: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        frequencies, weights, order = layer
        turned = order @ x
        p, q = turned[:passing], turned[passing:]
        q, scale, shear = _moved(model.flow.window, p, q, told(frequencies, weights, p))
        return order.T @ jnp.concatenate([p, q]), (scale[..., :count], shear[..., :count])

    def backwards(w: Array, layer: tuple[Array, Array, Array]) -> tuple[Array, None]:
        scale, shear, order = layer
        turned = order @ w
        p, q = turned[:passing], turned[passing:]
        return order.T @ jnp.concatenate([p, _pulled(scale, shear, p, q)]), None

    layers = (model.flow.frequencies, model.flow.weights, orders)
    latent, (scale, shear) = jax.lax.scan(forwards, jnp.concatenate([x, model.attractors.T], axis=1), layers)
    y, goals = latent[:, :count], latent[:, count:].T
    u = latent_velocity(Wells(goals, model.log_weights, model.swirls, model.softening, model.flow.window), y)
    way, _ = jax.lax.scan(backwards, u, (scale, shear, orders), reverse=True)
    return way, y, goals


# Worked out again on the way back: keeping every number in between would take most of the time, and of the compiler's.
_moved = jax.checkpoint(moved, prevent_cse=False)
_pulled = jax.checkpoint(pulled, prevent_cse=False)


def _orders(dimension: int, layers: int) -> np.ndarray:
    """For every layer the matrix that puts its passing coordinates first and its moving ones last, (L, d, d)."""
    return np.stack([np.eye(dimension)[np.concatenate(split(dimension, layer))] for layer in range(layers)])


# --- features -----------------------------------------------------------------------------------------


@jax.custom_vjp
def told(frequencies: Array, weights: Array, p: Array) -> Array:
    """sigma, tau and all their derivatives at p, as `flows.Flow.told`; the frequencies are fixed.

    Backwards, the features' slopes are the features themselves: nothing but phi is kept, and where one coordinate passes,
    what moves it is the next derivative of sigma and tau, one more product in place of a slope for every feature.
    """
    return with_slopes(frequencies, weights) @ features(frequencies, p)


def _told(frequencies: Array, weights: Array, p: Array) -> tuple[Array, tuple[Array, ...]]:
    phi = features(frequencies, p)
    return with_slopes(frequencies, weights) @ phi, (frequencies, weights, phi)


def _told_back(kept: tuple[Array, ...], slope: Array) -> tuple[None, Array, Array]:
    frequencies, weights, phi = kept
    count = frequencies.shape[0]
    once, transposed = jax.vjp(lambda one: with_slopes(frequencies, one), weights)
    if frequencies.shape[1] == 1:
        along = (slope * (with_slopes(frequencies, once)[len(once) :] @ phi)).sum(0, keepdims=True)
    else:
        back = once.T @ slope
        along = frequencies.T @ (phi[:count] * back[count:] - phi[count:] * back[:count])
    return None, transposed(slope @ phi.T)[0], along


told.defvjp(_told, _told_back)


def features(frequencies: Array, p: Array) -> Array:
    """phi(p), as `flows.fourier_features`: XLA's cosine is scalar code on CPUs, and would take two thirds of a step."""
    angle = p.T * frequencies[:, 0] if frequencies.shape[1] == 1 else p.T @ frequencies.T
    return jnp.concatenate(cosine_and_sine(angle), axis=1).T * (frequencies.shape[0] ** -0.5)


@jax.custom_jvp
def cosine_and_sine(angle: Array) -> tuple[Array, Array]:
    """cos and sin by the series of the half angle: products and sums, which become vector code."""
    if angle.dtype != np.float32:
        return jnp.cos(angle), jnp.sin(angle)
    turns = jnp.round(angle * (0.5 / np.pi))
    half = 0.5 * ((angle - turns * COARSE) - turns * (2 * np.pi - COARSE))
    z = half * half
    cosine, sine = _series(z, 0), half * _series(z, 1)
    return cosine * cosine - sine * sine, 2 * sine * cosine


@cosine_and_sine.defjvp
def _slopes(primals: tuple[Array], tangents: tuple[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    cosine, sine = cosine_and_sine(primals[0])
    return (cosine, sine), (-sine * tangents[0], cosine * tangents[0])


def _series(z: Array, odd: int) -> Array:
    """sum_n (-z)^n / (2 n + odd)!."""
    total = jnp.zeros_like(z)
    for n in reversed(range(TERMS)):
        total = (-1) ** n / factorial(2 * n + odd) + z * total
    return total
