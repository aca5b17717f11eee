"""The field's direction as loops over its layers: what `fields.stable.direction` computes, for a compiler.

Written out, ten layers and their derivatives are thousands of operations, which XLA takes a quarter of a minute to compile. As
two scans, psi forwards and J^-1 backwards, they are those of one layer. The layers take turns in what they pass; a
permutation brings every layer's own order of coordinates to the front, as a small matrix, whose derivative is its
transpose.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..fields.flows import Array, Flow, layer_jacobian, layer_slopes, split
from ..fields.stable import StableModel, latent_velocity
from .waves import features


def direction(model: StableModel, x: Array) -> tuple[Array, Array, Array]:
    """J^-1 u at points (n, d), y = psi(x), and y_q = psi(x*_q), (Q, d)."""
    count, passing = len(x), model.flow.frequencies.shape[-1]
    orders = jnp.asarray(_orders(model.flow.dimension, model.flow.frequencies.shape[0]), dtype=x.dtype)

    def forwards(x: Array, layer: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        frequencies, weights, order = layer
        one = Flow(frequencies[None], weights[None], model.flow.window)
        turned = x @ order
        p, q = turned[:, :passing], turned[:, passing:]
        s, t, slope_s, slope_t = layer_slopes(one, 0, p, features)
        moved, step = layer_jacobian(one, 0, q, s, slope_s, slope_t)
        return jnp.concatenate([p, moved + t], axis=-1) @ order.T, (step.scale[:count], step.shear[:count])

    def backwards(w: Array, layer: tuple[Array, Array, Array]) -> tuple[Array, None]:
        scale, shear, order = layer
        turned = w @ order
        p, q = turned[:, :passing], turned[:, passing:]
        q = (q - (shear * p[:, None, :]).sum(-1)) / scale
        return jnp.concatenate([p, q], axis=-1) @ order.T, None

    layers = (model.flow.frequencies, model.flow.weights, orders)
    latent, (scale, shear) = jax.lax.scan(forwards, jnp.concatenate([x, model.attractors]), layers)
    y, goal = latent[:count], latent[count:]
    way, _ = jax.lax.scan(backwards, latent_velocity(model, y, goal), (scale, shear, orders), reverse=True)
    return way, y, goal


def _orders(dimension: int, layers: int) -> np.ndarray:
    """For every layer the matrix that puts its passing coordinates first and its moving ones last, (L, d, d)."""
    return np.stack([np.eye(dimension)[:, sum(split(dimension, layer), ())] for layer in range(layers)])
