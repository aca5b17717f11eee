"""The one training loop: many stable models at once, in one compiled program, on CPU or GPU alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._types import FloatArray
from ..fields.flows import Array, fourier_features, identity_flow
from ..fields.stable import Speed, StableModel, as_numpy, direction, latent, log_speed
from .recipes import Recipe
from .targets import Bundle, Target, arc_to_go

MOVING = 0.02
"""Samples slower than this share of the fastest have no direction worth learning."""
KNEE = 0.3
"""Where the pseudo-Huber loss turns from square to straight, in units of the root mean square speed."""
CHUNKS = 10

Progress = Callable[[int, int, FloatArray], None]
"""Called as progress(step, steps, losses), one loss per model."""


def double_precision(wanted: bool) -> Any:
    """A context in which JAX computes in float64; older versions keep it under `experimental`."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(wanted)
    return jax.experimental.enable_x64(wanted)  # type: ignore[attr-defined]


class TrainingSet(NamedTuple):
    """One sub-dynamics resampled to n points, with what the loss needs at each."""

    x: Array
    v: Array
    target: Array
    width: Array
    """w, half-width of the tube."""
    rate: Array
    """dw/dt."""
    spread: Array
    """Half-width of the tube's image in the latent space."""
    moving: Array
    """1 where the direction of v counts."""
    attractor: Array
    swirl: Array
    softening: Array


class Trainable(NamedTuple):
    weights: Array
    speed_weights: Array
    speed_offset: Array


@dataclass(frozen=True, eq=False)
class Trained:
    """A model and how its training went."""

    model: StableModel
    losses: FloatArray
    """Mean loss of every tenth of the steps."""
    steps: int


def training_set(bundle: Bundle, target: Target, recipe: Recipe) -> TrainingSet:
    """Sample `recipe.nodes` points along the paths, the same number on each, by linear interpolation."""
    widths, rates = recipe.tube.around(bundle)
    placed, swirl = target.place(bundle), target.swirl(bundle)
    softening = np.asarray(recipe.focus_softening if swirl.any() else recipe.softening)
    position = np.linspace(0, len(bundle.x), recipe.nodes, endpoint=False)
    fastest = max(float(np.linalg.norm(v, axis=1).max()) for v in bundle.v)
    parts = []
    for k, (x, v) in enumerate(zip(bundle.x, bundle.v, strict=True)):
        rest = arc_to_go(x, bundle.attractor)
        moving = (np.linalg.norm(v, axis=1) > MOVING * fastest).astype(float)
        columns = (x, v, placed[k], widths[k], rates[k], recipe.tube.width * rest / rest[0], moving)
        share = (position[(position >= k) & (position < k + 1)] - k) * (len(x) - 1)
        parts.append([_interpolate(column, share) for column in columns])
    x, v, aim, width, rate, spread, moving = (np.concatenate(column) for column in zip(*parts, strict=True))
    return TrainingSet(x, v, aim, width, rate, spread, moving, bundle.attractor, swirl, softening)


def _interpolate(values: FloatArray, position: FloatArray) -> FloatArray:
    low = np.minimum(position.astype(int), len(values) - 2)
    part = (position - low).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((1 - part) * values[low] + part * values[low + 1])


def train(
    sets: Sequence[TrainingSet],
    recipe: Recipe,
    *,
    seed: int = 0,
    dtype: Any = np.float32,
    progress: Progress | None = None,
) -> list[Trained]:
    """Train one stable model per set; all sets share a dimension and run side by side."""
    dimension = sets[0].x.shape[1]
    flow = identity_flow(dimension, layers=recipe.layers, features=recipe.features, length=recipe.length, seed=seed)
    draw = np.random.default_rng([seed, 1]).standard_normal((recipe.speed_features, dimension))
    start = StableModel(
        flow,
        Speed(draw / (recipe.speed_length * np.sqrt(dimension / 2)), np.zeros(2 * recipe.speed_features), np.zeros(())),
        np.zeros(dimension),
        np.zeros((dimension, dimension)),
        np.asarray(recipe.softening),
        np.zeros(dimension),
    )
    # Accelerators shorten float32 products to ten bits unless told not to; the run time would not agree.
    with double_precision(np.dtype(dtype) == np.float64), jax.default_matmul_precision("highest"):
        data = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves), dtype=dtype), *sets)
        start = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype=dtype), start)
        keys = jax.random.split(jax.random.key(seed), len(sets))
        params, history, steps = _descend(start, data, keys, recipe, progress)
        params = jax.tree.map(np.asarray, params)
    return [_trained(start, sets[i], params, i, history[:, i], steps, recipe) for i in range(len(sets))]


def _descend(
    start: StableModel, data: TrainingSet, keys: Array, recipe: Recipe, progress: Progress | None
) -> tuple[Trainable, FloatArray, int]:
    models = len(keys)
    params = Trainable(
        *(
            jnp.broadcast_to(a, (models, *a.shape))
            for a in (start.flow.weights, start.speed.weights, start.speed.offset)
        )
    )
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, zeros)
    size = -(-recipe.steps // CHUNKS)
    history: list[FloatArray] = []
    stale, done = 0, 0
    while done < recipe.steps and stale < recipe.patience:
        state, losses = _advance(state, start, data, keys, jnp.asarray(done), recipe, size)
        done += size
        history.append(np.asarray(losses))
        if progress is not None:
            progress(min(done, recipe.steps), recipe.steps, history[-1])
        if len(history) > 1:
            gain = 1 - history[-1] / np.maximum(history[-2], 1e-12)
            stale = 0 if np.nanmax(gain) > 1e-4 else stale + 1
    return state[0], np.array(history), done


@partial(jax.jit, static_argnames=("recipe", "size"))
def _advance(
    state: Any, start: StableModel, data: TrainingSet, keys: Array, done: Array, recipe: Recipe, size: int
) -> tuple[Any, Array]:
    """`size` steps of Adam on every model."""

    def one(state: Any, data: TrainingSet, key: Array) -> tuple[Any, Array]:
        def step(state: Any, i: Array) -> tuple[Any, Array]:
            model = start._replace(attractor=data.attractor, swirl=data.swirl, softening=data.softening)
            part = jax.random.fold_in(key, i)
            loss, slope = jax.value_and_grad(_loss)(state[0], model, data, part, i, recipe)
            return _adam(state, slope, i, recipe), loss

        state, losses = jax.lax.scan(step, state, done + jnp.arange(size))
        return state, jnp.nanmean(losses)

    return jax.vmap(one)(state, data, keys)


def _adam(state: Any, slope: Trainable, i: Array, recipe: Recipe) -> Any:
    """Adam with cosine decay; a step whose gradient is not finite is left out."""
    params, first, second = state
    norm = jnp.sqrt(sum((g**2).sum() for g in slope))
    sound = jnp.isfinite(norm)
    share = jnp.where(sound, jnp.minimum(1.0, recipe.clip / (norm + 1e-12)), 0.0)
    slope = jax.tree.map(lambda g: jnp.where(sound, g, 0.0) * share, slope)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
    second = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g**2, second, slope)
    t = i + 1.0
    rate = recipe.rate * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(i / recipe.steps, 1.0))) * jnp.minimum(1.0, t / 30)
    rate = jnp.where(sound, rate, 0.0)
    params = jax.tree.map(
        lambda p, m, s: p - (rate * (m / (1 - 0.9**t)) / (jnp.sqrt(s / (1 - 0.99**t)) + 1e-8)).astype(p.dtype),
        params,
        first,
        second,
    )
    return params, first, second


def _with(model: StableModel, params: Trainable) -> StableModel:
    flow = model.flow._replace(weights=params.weights)
    speed = model.speed._replace(weights=params.speed_weights, offset=params.speed_offset)
    return model._replace(flow=flow, speed=speed)


def _loss(params: Trainable, model: StableModel, data: TrainingSet, key: Array, i: Array, recipe: Recipe) -> Array:
    misfit = _misfit(_with(model, params), *_drawn(data, key, recipe), i, recipe)
    return misfit + recipe.decay * (params.weights**2).sum() + recipe.speed_decay * (params.speed_weights**2).sum()


def _drawn(data: TrainingSet, key: Array, recipe: Recipe) -> tuple[Array, Array, Array, Array, Array]:
    """A batch: position, velocity, target, weight, weight of the direction. Samples first, then tube neighbours."""
    place, noise = jax.random.split(key)
    count = recipe.batch + (recipe.neighbour_batch if recipe.neighbours > 0 else 0)
    rank = np.concatenate([np.arange(recipe.batch), np.arange(count - recipe.batch)])
    jitter = jax.random.uniform(place, (count,), dtype=data.x.dtype)
    stretch = np.repeat([recipe.batch, max(count - recipe.batch, 1)], [recipe.batch, count - recipe.batch])
    index = ((rank + jitter) / stretch * data.x.shape[0]).astype(jnp.int32)
    xi = jax.random.normal(noise, (count, data.x.shape[1]), dtype=data.x.dtype)
    xi = jnp.where(np.arange(count)[:, None] < recipe.batch, 0.0, xi)
    weight = np.repeat([1.0, recipe.neighbours], [recipe.batch, count - recipe.batch]) / stretch

    def column(a: Array) -> Array:
        return a[index][:, None]

    x = data.x[index] + xi * column(data.width)
    v = data.v[index] + xi * column(data.rate)
    target = data.target[index] + xi * column(data.spread)
    return x, v, target, jnp.asarray(weight, dtype=data.x.dtype), data.moving[index]


def _misfit(
    model: StableModel, x: Array, v: Array, target: Array, weight: Array, moving: Array, i: Array, recipe: Recipe
) -> Array:
    if not recipe.uses_velocity:
        return recipe.position * ((latent(model, x) - target) ** 2).sum(-1) @ weight
    way, y, _ = direction(model, x)
    f = jnp.exp(log_speed(model.speed, x))[:, None] * way
    error = 3 * KNEE**2 * (jnp.sqrt(1 + ((f - v) ** 2).sum(-1) / KNEE**2) - 1)
    lengths = jnp.sqrt((f**2).sum(-1) + 1e-8) * jnp.sqrt((v**2).sum(-1) + 1e-8)
    turn = (1 - (f * v).sum(-1) / lengths) * moving
    fade = jnp.minimum(1.0, i / (recipe.warm_start * recipe.steps)) if recipe.warm_start > 0 else 1.0
    place = ((y - target) ** 2).sum(-1)
    return (fade * (recipe.velocity * error + recipe.direction * turn) + recipe.position * place) @ weight


def _trained(
    start: StableModel, data: TrainingSet, params: Trainable, i: int, losses: FloatArray, steps: int, recipe: Recipe
) -> Trained:
    model = _with(start, Trainable(*(a[i] for a in params)))._replace(attractor=data.attractor, swirl=data.swirl)
    model = as_numpy(model._replace(softening=data.softening))
    if not recipe.uses_velocity:
        model = model._replace(speed=fitted_speed(model, data, ridge=recipe.speed_decay))
    haste = 1.0 if np.any(data.swirl) else recipe.haste
    offset = np.asarray(model.speed.offset + np.log(haste))
    return Trained(model._replace(speed=model.speed._replace(offset=offset)), losses, steps)


def fitted_speed(model: StableModel, data: TrainingSet, ridge: float) -> Speed:
    """log s by ridge regression on log(|v| / |J^-1 u|), in closed form: for recipes that do not see velocities."""
    way, *_ = direction(model, np.asarray(data.x, dtype=np.float64))
    speed = np.linalg.norm(data.v, axis=1)
    log_ratio = np.log(np.maximum(speed, MOVING * speed.max()) / np.maximum(np.linalg.norm(way, axis=1), 1e-12))
    offset = log_ratio.mean()
    phi = fourier_features(model.speed.frequencies, np.asarray(data.x, dtype=np.float64))
    gram = phi.T @ phi / len(phi) + ridge * np.eye(phi.shape[1])
    weights = np.linalg.solve(gram, phi.T @ (log_ratio - offset) / len(phi))
    return Speed(model.speed.frequencies, weights, np.asarray(offset))


def bundles_to_models(bundles: Sequence[Bundle], target: Target, recipe: Recipe, **options: Any) -> list[Trained]:
    """Training sets from bundles, then `train`."""
    return train([training_set(bundle, target, recipe) for bundle in bundles], recipe, **options)
