"""Euclideanizing Flows (Rana et al., 2020) as a baseline, in our own code at the published settings.

    xdot = exp(m(x)) J^-1 (-y / |y|),    y = psi(x) - psi(x*),

psi a RealNVP of 10 layers whose log-scales and translations each have 200 random Fourier features of a Gaussian
kernel of length 0.45, m a network with one hidden layer of 100 units; smooth L1 loss on the velocities, Adam at 1e-4,
3000 epochs over all samples at once. Positions are scaled to [-.5, .5]. Where the original inverts the Jacobian
numerically we substitute through its triangular factors, which favours the baseline's speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from eigenwell._types import FloatArray
from eigenwell.fields.flows import Array, Step, pull, split
from eigenwell.learning.targets import Bundle


@dataclass(frozen=True)
class PublishedSettings:
    """The settings of the publication."""

    layers: int = 10
    features: int = 200
    length: float = 0.45
    hidden: int = 100
    rate: float = 1e-4
    epochs: int = 3000
    decay: float = 1e-6
    samples: int = 600


class Network(NamedTuple):
    """Learned and fixed numbers; index 0 of the second axis is the log-scale, 1 the translation."""

    frequencies: Array
    phases: Array
    weights: Array
    inner: Array
    inner_bias: Array
    outer: Array
    outer_bias: Array


def _initial(dimension: int, settings: PublishedSettings, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    passing, moving = split(dimension, 0)
    shape = (settings.layers, 2, settings.features)
    return Network(
        rng.standard_normal((*shape, len(passing))) / settings.length,
        rng.uniform(0, 2 * np.pi, shape),
        np.zeros((*shape, len(moving))),
        rng.standard_normal((dimension, settings.hidden)) / np.sqrt(dimension),
        rng.uniform(-1, 1, settings.hidden),
        np.zeros(settings.hidden),
        np.zeros(()),
    )


def _linearise(net: Network, x: Array) -> tuple[Array, list[Step]]:
    dimension = x.shape[1]
    steps = []
    for layer in range(net.weights.shape[0]):
        passing, moving = split(dimension, layer)
        p, q = x[:, passing], x[:, moving]
        out, slope = [], []
        for part in range(2):
            frequencies, weights = net.frequencies[layer, part], net.weights[layer, part]
            angle = p @ frequencies.T + net.phases[layer, part]
            size = np.sqrt(2 / frequencies.shape[0])
            out.append(size * jnp.cos(angle) @ weights)
            slope.append(-size * jnp.einsum("nf,fq,fp->nqp", jnp.sin(angle), weights, frequencies))
        scale = jnp.exp(out[0])
        shear = (q * scale)[:, :, None] * slope[0] + slope[1]
        steps.append(Step(passing, moving, scale.T, jnp.moveaxis(shear, 0, -1)))
        x = x.at[:, moving].set(q * scale + out[1])
    return x, steps


def _velocity(net: Network, attractor: Array, x: Array) -> Array:
    y, steps = _linearise(net, x)
    y = y - _linearise(net, attractor[None])[0]
    unit = -y / jnp.sqrt((y**2).sum(-1, keepdims=True) + 1e-12)
    log_speed = jnp.tanh(x @ net.inner + net.inner_bias) @ net.outer + net.outer_bias
    return jnp.exp(log_speed)[:, None] * pull(steps, unit.T).T


@partial(jax.jit, static_argnames=("settings", "epochs"))
def _train(
    net: Network, x: Array, v: Array, attractor: Array, settings: PublishedSettings, epochs: int
) -> tuple[Network, Array]:
    def loss(net: Network, x: Array, v: Array, attractor: Array) -> Array:
        error = jnp.abs(_velocity(net, attractor, x) - v)
        return jnp.where(error < 1, 0.5 * error**2, error - 0.5).mean()

    def one(x: Array, v: Array, attractor: Array) -> tuple[Network, Array]:
        zeros = jax.tree.map(jnp.zeros_like, net)

        def step(state: Any, i: Array) -> tuple[Any, Array]:
            params, first, second = state
            value, slope = jax.value_and_grad(loss)(params, x, v, attractor)
            # Frequencies and phases are drawn once and not trained.
            fixed = slope._replace(frequencies=zeros.frequencies, phases=zeros.phases)
            slope = jax.tree.map(
                lambda g, p: jnp.nan_to_num(g) + settings.decay * p,
                fixed,
                params._replace(frequencies=zeros.frequencies, phases=zeros.phases),
            )
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
            second = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, second, slope)
            t = i + 1.0
            params = jax.tree.map(
                lambda p, m, s: p - settings.rate * (m / (1 - 0.9**t)) / (jnp.sqrt(s / (1 - 0.999**t)) + 1e-8),
                params,
                first,
                second,
            )
            return (params, first, second), value

        (params, *_), values = jax.lax.scan(step, (net, zeros, zeros), jnp.arange(epochs))
        return params, values

    return jax.vmap(one)(x, v, attractor)


_fast_velocity = jax.jit(_velocity)


@jax.jit
def _roll(net: Network, attractor: Array, x: Array, dt: Array) -> Array:
    """Classical Runge-Kutta, two steps an interval: (intervals, m, d)."""

    def advance(x: Array, dt: Array) -> tuple[Array, Array]:
        h = dt / 2
        for _ in range(2):
            a = _velocity(net, attractor, x)
            b = _velocity(net, attractor, x + h / 2 * a)
            c = _velocity(net, attractor, x + h / 2 * b)
            d = _velocity(net, attractor, x + h * c)
            x = x + h / 6 * (a + 2 * b + 2 * c + d)
        return x, x

    return jax.lax.scan(advance, x, dt)[1]


@dataclass(frozen=True, eq=False)
class EuclideanizingFlow:
    """A trained baseline, in the data's units."""

    net: Network
    bundle: Bundle

    def predict(self, x: FloatArray) -> FloatArray:
        frame = self.bundle.frame
        unit = jnp.asarray((x - frame.centre) / frame.scale, dtype=jnp.float32)
        out = _fast_velocity(self.net, jnp.asarray(self.bundle.attractor, dtype=jnp.float32), unit)
        return np.asarray(out, dtype=np.float64) * frame.scale

    def simulate(self, x0: FloatArray, *, t: FloatArray) -> FloatArray:
        """States at times t, (len(t), d)."""
        frame = self.bundle.frame
        start = jnp.asarray(((x0 - frame.centre) / frame.scale)[None], dtype=jnp.float32)
        goal = jnp.asarray(self.bundle.attractor, dtype=jnp.float32)
        rolled = _roll(self.net, goal, start, jnp.asarray(np.diff(t), dtype=jnp.float32))
        states = np.concatenate([np.asarray(start)[None], np.asarray(rolled)])[:, 0]
        return np.asarray(states, dtype=np.float64) * frame.scale + frame.centre


def euclideanizing_flows(
    bundles: Sequence[Bundle], settings: PublishedSettings | None = None, *, epochs: int | None = None, seed: int = 0
) -> list[EuclideanizingFlow]:
    """Train one baseline per bundle, side by side; `epochs` shortens the training, for timing."""
    settings = PublishedSettings() if settings is None else settings
    net = jax.tree.map(lambda a: jnp.asarray(a, dtype=jnp.float32), _initial(bundles[0].dimension, settings, seed))
    x, v = zip(*(_samples(bundle, settings.samples) for bundle in bundles), strict=True)
    cast = partial(jnp.asarray, dtype=jnp.float32)
    attractors = cast(np.stack([b.attractor for b in bundles]))
    nets, _ = _train(net, cast(np.stack(x)), cast(np.stack(v)), attractors, settings, epochs or settings.epochs)
    nets = jax.tree.map(np.asarray, nets)
    return [EuclideanizingFlow(jax.tree.map(lambda a, i=i: a[i], nets), b) for i, b in enumerate(bundles)]


def _samples(bundle: Bundle, count: int) -> tuple[FloatArray, FloatArray]:
    x, v = np.concatenate(bundle.x), np.concatenate(bundle.v) * bundle.frame.pace
    index = np.linspace(0, len(x) - 1, count).round().astype(int)
    return x[index], v[index]
