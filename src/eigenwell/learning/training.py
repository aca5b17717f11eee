"""The one training loop: many stable models at once, in one compiled program, on CPU or GPU alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from .._types import FloatArray
from ..fields.flows import Array, fourier_features, identity_flow, spread_normal, window
from ..fields.stable import Speed, StableModel, as_numpy, direction, log_speed, wells
from . import layers
from .crossing import comes_back
from .guide import Guide, Home, way_home
from .programs import kept_programs
from .recipes import Recipe
from .targets import BESIDE, FINE, Bundle, Target, arc_to_go
from .tube import tube

KNEE = 0.3
"""Where the pseudo-Huber loss turns from square to straight, in units of the root mean square speed."""
CHUNKS = 10
WARM_UP = 30
"""Steps until Adam has seen enough gradients to be let go."""


def double_precision(wanted: bool) -> Any:
    """A context in which JAX computes in float64; older versions keep it under `experimental`."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(wanted)
    return jax.experimental.enable_x64(wanted)  # type: ignore[attr-defined]


class Known(NamedTuple):
    """What a model has that is not learned."""

    attractors: Array
    swirls: Array
    winding: Array
    """1 where Omega_q may move."""
    softening: Array
    window: Array


class TrainingSet(NamedTuple):
    """The motions of one model resampled to n points, with what the loss needs at each."""

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
    placed: Array
    """Of the latent position: 1 for one motion, whose paths are straight, more where no path can be; of several only the field
    is known."""
    between: Guide
    home: Home
    known: Known


class Trainable(NamedTuple):
    weights: Array
    speed_weights: Array
    speed_offset: Array
    log_weights: Array
    swirls: Array


def training_set(
    bundles: Sequence[Bundle], target: Target, recipe: Recipe, between: Guide, *, count: int, seed: int = 0
) -> TrainingSet:
    """Sample points along the paths of one model, the same number on each, by linear interpolation.

    `between`: what is known between the paths; `count`: of the points, as many for all models trained side by side.
    """
    swirls = [target.swirl(bundle) for bundle in bundles]
    winding = [float(between.smooth or swirl.any()) for swirl in swirls]
    paths = sum(len(bundle.x) for bundle in bundles)
    position = np.linspace(0, paths, count, endpoint=False)
    fastest = max(float(np.linalg.norm(v, axis=1).max()) for bundle in bundles for v in bundle.v)
    # To make a way straight that crosses itself psi would tear one place apart. Space is left as it is, to a tube's width.
    torn = recipe.velocity and len(bundles) == 1 and comes_back(bundles[0])
    parts, k = [], 0
    for q, bundle in enumerate(bundles):
        beside = tube(bundle, recipe.tube, [*bundles[:q], *bundles[q + 1 :]])
        places = [x - bundle.attractor for x in bundle.x] if torn else target.place(bundle)
        for x, v, place, (width, rate) in zip(bundle.x, bundle.v, places, beside, strict=True):
            rest = arc_to_go(x, bundle.attractor)
            moving = (np.linalg.norm(v, axis=1) > FINE * fastest).astype(float)
            placed = np.full(len(x), BESIDE**-2 if torn else float(len(bundles) == 1))
            columns = (x, v, place, width, rate, recipe.tube * rest / rest[0], moving, placed)
            share = (position[(position >= k) & (position < k + 1)] - k) * (len(x) - 1)
            parts.append([_interpolate(column, share) for column in columns])
            k += 1
    known = Known(
        attractors=np.stack([bundle.attractor for bundle in bundles]),
        swirls=np.stack(swirls),
        winding=np.array(winding),
        softening=np.array([recipe.focus_softening if one else FINE for one in winding]),
        window=np.asarray(recipe.window / bundles[0].frame.reach),
    )
    rows = [np.concatenate(column) for column in zip(*parts, strict=True)]
    home = way_home(bundles, outside=between.smooth, seed=seed)
    return TrainingSet._make([*rows, between, home, known])


def _interpolate(values: FloatArray, position: FloatArray) -> FloatArray:
    low = np.minimum(position.astype(int), len(values) - 2)
    part = (position - low).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((1 - part) * values[low] + part * values[low + 1])


class Grown(NamedTuple):
    """Models as they are after so many steps, and the mean loss of each since the last time, NaN before the first step."""

    step: int
    models: list[StableModel]
    losses: FloatArray


def train(sets: Sequence[TrainingSet], recipe: Recipe, *, seed: int = 0, dtype: Any = np.float32) -> Iterator[Grown]:
    """One stable model per set, all with as many attractors, trained side by side: before the first step and after every tenth.

    Before the first they are stable at their attractors already, with straight ways to them.
    """
    dimension = sets[0].x.shape[1]
    flow = identity_flow(dimension, layers=recipe.layers, features=recipe.features, length=recipe.length, seed=seed)
    count = 2 * recipe.features
    spread = spread_normal(count, dimension, seed=seed)
    frequencies = spread / (recipe.wide * np.sqrt(dimension / 2))
    speed = Speed(frequencies, np.zeros(2 * count), np.zeros(()), np.zeros(()))

    def stacked(rows: Sequence[Any]) -> Any:
        return jax.tree.map(lambda *leaves: np.stack(leaves).astype(dtype), *rows)

    def models(params: Trainable) -> list[StableModel]:
        mine = zip(*map(np.asarray, params), strict=True)
        each = zip(sets, map(Trainable._make, mine), strict=True)
        found = [(as_numpy(_model((flow, speed), one.known, params)), one) for one, params in each]
        return [model if recipe.velocity else _timed(model, one) for model, one in found]

    weights = np.zeros(len(sets[0].known.attractors))
    params = stacked([Trainable(flow.weights, speed.weights, speed.offset, weights, one.known.swirls) for one in sets])
    known = stacked([one.known for one in sets])
    fixed = jax.tree.map(lambda leaf: np.asarray(leaf, dtype=dtype), (flow, speed))
    size = -(-recipe.steps // CHUNKS)
    rates = _rates(recipe, CHUNKS * size)
    yield Grown(0, models(params), np.full(len(sets), np.nan))
    with _programs(dtype):
        state = (params, _begun(params, recipe))
    for done in range(0, recipe.steps, size):
        # Drawn beforehand, the same numbers for all models: inside the compiled program it would take as long to compile again.
        drawn = stacked([_drawn(one, np.random.default_rng([seed, 3, done]), size, recipe) for one in sets])
        with _programs(dtype):
            state, losses = _advance(state, fixed, known, drawn, rates[done : done + size].astype(dtype), recipe)
        yield Grown(min(done + size, recipe.steps), models(state[0]), np.asarray(losses))


@contextmanager
def _programs(dtype: Any) -> Iterator[None]:
    # Accelerators shorten float32 products to ten bits unless told not to; the run time would not agree.
    with kept_programs(), double_precision(np.dtype(dtype) == np.float64), jax.default_matmul_precision("highest"):
        yield


def _optimiser(recipe: Recipe) -> optax.GradientTransformation:
    """Adam; a step whose gradient is not finite is left out."""
    return optax.apply_if_finite(
        optax.chain(optax.clip_by_global_norm(recipe.clip), optax.scale_by_adam(b2=0.99)),
        max_consecutive_errors=recipe.steps,
    )


def _rates(recipe: Recipe, count: int) -> FloatArray:
    """Of so many steps: a short warm-up, then half a cosine down to nothing."""
    step = np.arange(count)
    falling = 0.5 + 0.5 * np.cos(np.pi * np.minimum(step / recipe.steps, 1.0))
    return np.asarray(recipe.rate * np.minimum((1 + step) / WARM_UP, falling))


@partial(jax.jit, static_argnames=("recipe",))
def _begun(params: Trainable, recipe: Recipe) -> Any:
    return jax.vmap(lambda one: _optimiser(recipe).init(ravel_pytree(one)[0]))(params)


@partial(jax.jit, static_argnames=("recipe",))
def _advance(state: Any, fixed: Any, known: Known, drawn: Batch, rates: Array, recipe: Recipe) -> tuple[Any, Array]:
    """A step on every model for every batch."""
    optimiser = _optimiser(recipe)

    def one(state: Any, known: Known, drawn: Batch) -> tuple[Any, Array]:
        start, unravel = ravel_pytree(state[0])

        def loss_of(theta: Array, batch: Batch) -> Array:
            return _loss(unravel(theta), fixed, known, batch, recipe)

        def step(state: Any, now: tuple[Batch, Array]) -> tuple[Any, Array]:
            (theta, memory), (batch, rate) = state, now
            loss, slope = jax.value_and_grad(loss_of)(theta, batch)
            update, memory = optimiser.update(slope, memory, theta)
            return (theta - rate * update, memory), loss

        (theta, memory), losses = jax.lax.scan(step, (start, state[1]), (drawn, rates))
        return (unravel(theta), memory), jnp.nanmean(losses)

    # A processor is faster at one model after another: products of stacked matrices are slow on it, and leave its cache.
    if jax.default_backend() == "cpu":
        return jax.lax.map(lambda each: one(*each), (state, known, drawn))  # type: ignore[no-any-return]
    return jax.vmap(one)(state, known, drawn)


def _model(fixed: Any, known: Known, params: Trainable) -> StableModel:
    """The model of some parameters. An Omega that may not move is zero: data that do not wind are not made to."""
    flow, speed = fixed
    xp = jnp if isinstance(params.swirls, jax.Array) else np
    swirls = 0.5 * (params.swirls - xp.swapaxes(params.swirls, -1, -2)) * known.winding[:, None, None]
    return StableModel(
        flow._replace(weights=params.weights, window=known.window),
        speed._replace(weights=params.speed_weights, offset=params.speed_offset, window=known.window),
        known.attractors,
        params.log_weights,
        swirls,
        known.softening,
        xp.zeros_like(known.attractors[0]),
    )


def _loss(params: Trainable, fixed: Any, known: Known, batch: Batch, recipe: Recipe) -> Array:
    misfit = _misfit(_model(fixed, known, params), batch, recipe)
    return misfit + recipe.decay * ((params.weights**2).sum() + (params.speed_weights**2).sum())


class Batch(NamedTuple):
    """Rows of one step, or of many: states, velocities and latent targets, with the weight of the error in each."""

    x: Array
    v: Array
    target: Array
    velocity: Array
    direction: Array
    position: Array


def _drawn(data: TrainingSet, rng: np.random.Generator, steps: int, recipe: Recipe) -> Batch:
    """For every step samples, neighbours in the tube, states between the paths, states on their way home."""
    kinds = [_samples(data, rng, (steps, recipe.batch), None)]
    if recipe.tube > 0:
        noise = rng.standard_normal((steps, 3 * recipe.batch // 4, data.x.shape[1]))
        kinds.append(_samples(data, rng, noise.shape[:2], noise))
    if recipe.guide > 0:
        pick = rng.integers(len(data.between.x), size=(steps, 3 * recipe.batch // 2))
        x, weight = data.between.x[pick], recipe.guide / pick.shape[1] * data.between.weight[pick]
        kinds.append(Batch(x, data.between.v[pick], 0 * x, weight, weight, 0 * weight))
    if recipe.home > 0:
        pick = rng.integers(len(data.home.x), size=(steps, recipe.home))
        # All places first, then those behind them.
        x, way = (np.concatenate([rows[pick, 0], rows[pick, 1]], axis=1) for rows in (data.home.x, data.home.v))
        weight = np.full(x.shape[:2], 1 / x.shape[1])
        kinds.append(Batch(x, way, 0 * x, 0 * weight, weight, 0 * weight))
    return Batch(*(np.concatenate(rows, axis=1) for rows in zip(*kinds, strict=True)))


def _samples(data: TrainingSet, rng: np.random.Generator, shape: tuple[int, int], noise: FloatArray | None) -> Batch:
    """One sample from each of as many equal parts of the data, moved about in the tube where `noise` is given."""
    index = ((np.arange(shape[1]) + rng.random(shape)) * (len(data.x) / shape[1])).astype(int)
    x, v, target = data.x[index], data.v[index], data.target[index]
    if noise is not None:
        x = x + noise * data.width[index][..., None]
        v = v + noise * data.rate[index][..., None]
        target = target + noise * data.spread[index][..., None]
    weight = np.full(shape, 1 / shape[1])
    return Batch(x, v, target, weight, weight * data.moving[index], weight * data.placed[index])


def _misfit(model: StableModel, batch: Batch, recipe: Recipe) -> Array:
    x, v = batch.x.T, batch.v.T
    way, y, goals = layers.direction(model, x)
    place = ((y - goals[0][:, None] - batch.target.T) ** 2).sum(0) @ batch.position
    if not recipe.velocity:
        return recipe.position * place
    f = jnp.exp(log_speed(model.speed, x, layers.features)) * way
    error = 3 * KNEE**2 * (jnp.sqrt(1 + ((f - v) ** 2).sum(0) / KNEE**2) - 1)
    heading = _unit(f)
    turn = 1 - (heading * _unit(v)).sum(0)
    moving = error @ batch.velocity + 2 * (turn @ batch.direction)
    if recipe.home > 0 and recipe.bending > 0:  # the last rows are places on their way home, and those behind them
        here, behind = heading[:, -2 * recipe.home : -recipe.home], heading[:, -recipe.home :]
        moving = moving + recipe.bending * (1 - (here * behind).sum(0)).mean() / BESIDE**2
    return moving + recipe.position * place


def _unit(v: Array) -> Array:
    return v / jnp.sqrt((v**2).sum(0) + 1e-8)


def _timed(model: StableModel, data: TrainingSet) -> StableModel:
    """With log s by ridge regression on log(|v| / |J^-1 u|), in closed form: for recipes that do not see velocities."""
    x = np.asarray(data.x, dtype=np.float64).T
    way = direction(model, wells(model), x)
    speed = np.linalg.norm(data.v, axis=1)
    log_ratio = np.log(np.maximum(speed, FINE * speed.max()) / np.maximum(np.linalg.norm(way, axis=0), 1e-12))
    offset = log_ratio.mean()
    phi = window(model.speed.window, x) * fourier_features(model.speed.frequencies, x)
    gram = phi @ phi.T / x.shape[1] + FINE * np.eye(len(phi))
    weights = np.linalg.solve(gram, phi @ (log_ratio - offset) / x.shape[1])
    return model._replace(speed=model.speed._replace(weights=weights, offset=np.asarray(offset)))
