"""The features of `flows`, for training: XLA's cosine is scalar code on CPUs, and takes two thirds of a step."""

from __future__ import annotations

from math import factorial

import jax
import jax.numpy as jnp
import numpy as np

from ..fields.flows import Array

COARSE = 6.28125
"""2 pi to eight bits: its products with whole turns are exact in float32, and the rest of 2 pi is taken off after it."""
TERMS = 7
"""Of the series at up to half pi, where the next is below float32's resolution."""


def features(frequencies: Array, p: Array) -> Array:
    """phi(p), as `flows.fourier_features`."""
    angle = p * frequencies[:, 0] if frequencies.shape[1] == 1 else p @ frequencies.T
    return jnp.concatenate(cosine_and_sine(angle), axis=-1) * (frequencies.shape[0] ** -0.5)


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
