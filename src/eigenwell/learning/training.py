"""The one training loop: many stable models at once, in one compiled program, on CPU or GPU alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from .._types import FloatArray
from ..fields.flows import Array, fourier_features, identity_flow, spread_normal, window
from ..fields.stable import Speed, StableModel, as_numpy, direction, log_speed, wells
from . import layers
from .guide import BEHIND, MOVING, Guide, way_home
from .programs import kept_programs
from .recipes import Recipe
from .targets import Bundle, Target, arc_to_go

KNEE = 0.3
"""Where the pseudo-Huber loss turns from square to straight, in units of the root mean square speed."""
CHUNKS = 10
HASTE_POWER = 3
"""Haste grows as this power of the share of the path that is done: little while timing matters, most at the end."""
ABSENT = -1e9
"""ln w of an attractor that only fills up the array of a model with fewer of them."""

Report = Callable[[int, int, FloatArray], None]
"""Called after every tenth of the steps as report(step, steps, losses), one loss per model."""
Watch = Callable[[list[StableModel], FloatArray], None]
"""Called with the models as they are so far and their losses: before the first step, with NaN, and after every tenth of them."""


def double_precision(wanted: bool) -> Any:
    """A context in which JAX computes in float64; older versions keep it under `experimental`."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(wanted)
    return jax.experimental.enable_x64(wanted)  # type: ignore[attr-defined]


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
    """1 where the latent position is known: for one motion, whose paths are straight; of several only the field is."""
    guide_x: Array
    guide_v: Array
    guide_weight: Array
    home_x: Array
    home_way: Array
    attractors: Array
    log_weights: Array
    swirls: Array
    winding: Array
    """1 where Omega_q may move."""
    softening: Array
    window: Array


class Trainable(NamedTuple):
    weights: Array
    speed_weights: Array
    speed_offset: Array
    log_weights: Array
    swirls: Array


@dataclass(frozen=True, eq=False)
class Trained:
    """A model and how its training went."""

    model: StableModel
    losses: FloatArray
    """Mean loss of every tenth of the steps."""
    steps: int


def training_set(
    bundles: Sequence[Bundle], target: Target, recipe: Recipe, between: Guide, *, attractors: int = 1, seed: int = 0
) -> TrainingSet:
    """Sample `recipe.nodes` points along the paths of one model, the same number on each, by linear interpolation.

    `between`: what is known between the paths. `attractors`: how many the arrays have room for.
    """
    swirls = [target.swirl(bundle) for bundle in bundles]
    winding = [float(between.smooth or swirl.any()) for swirl in swirls]
    paths = sum(len(bundle.x) for bundle in bundles)
    position = np.linspace(0, paths, recipe.nodes, endpoint=False)
    fastest = max(float(np.linalg.norm(v, axis=1).max()) for bundle in bundles for v in bundle.v)
    parts, k = [], 0
    for q, bundle in enumerate(bundles):
        widths, rates = recipe.tube.around(bundle, [*bundles[:q], *bundles[q + 1 :]])
        places = target.place(bundle)
        for x, v, place, width, rate in zip(bundle.x, bundle.v, places, widths, rates, strict=True):
            rest = arc_to_go(x, bundle.attractor)
            moving = (np.linalg.norm(v, axis=1) > MOVING * fastest).astype(float)
            known = np.full(len(x), float(len(bundles) == 1))
            if not winding[q]:
                v = v * (1 + recipe.haste * (1 - rest / rest[0]) ** HASTE_POWER)[:, None]
            columns = (x, v, place, width, rate, recipe.tube.width * rest / rest[0], moving, known)
            share = (position[(position >= k) & (position < k + 1)] - k) * (len(x) - 1)
            parts.append([_interpolate(column, share) for column in columns])
            k += 1
    home = way_home(bundles, outside=between.smooth, seed=seed)
    missing = range(len(bundles), attractors)
    first = bundles[0].attractor
    rows = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return TrainingSet(
        **dict(zip(TrainingSet._fields, rows, strict=False)),
        guide_x=between.x,
        guide_v=between.v,
        guide_weight=between.weight,
        home_x=home.x,
        home_way=home.v,
        # Far away, so that what is not there is never the nearest.
        attractors=np.stack([bundle.attractor for bundle in bundles] + [first + 1e3 for _ in missing]),
        log_weights=np.array([0.0] * len(bundles) + [ABSENT for _ in missing]),
        swirls=np.stack(swirls + [np.zeros_like(swirls[0]) for _ in missing]),
        winding=np.array(winding + [0.0 for _ in missing]),
        softening=np.array(
            [recipe.focus_softening if one else recipe.softening for one in winding] + [1.0 for _ in missing]
        ),
        window=np.asarray(1.0 / (recipe.window * bundles[0].frame.reach)),
    )


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
    report: Report | None = None,
    watch: Watch | None = None,
) -> list[Trained]:
    """Train one stable model per set; all sets share their shapes and run side by side."""
    dimension = sets[0].x.shape[1]
    flow = identity_flow(dimension, layers=recipe.layers, features=recipe.features, length=recipe.length, seed=seed)
    spread = spread_normal(recipe.speed_features, dimension, seed=seed)
    speed = Speed(
        spread / (recipe.speed_length * np.sqrt(dimension / 2)),
        np.zeros(2 * recipe.speed_features),
        np.zeros(()),
        np.zeros(()),
    )
    # Accelerators shorten float32 products to ten bits unless told not to; the run time would not agree.
    with kept_programs(), double_precision(np.dtype(dtype) == np.float64), jax.default_matmul_precision("highest"):
        data = jax.tree.map(lambda *leaves: np.stack(leaves).astype(dtype), *sets)
        fixed = jax.tree.map(lambda leaf: np.asarray(leaf, dtype=dtype), (flow, speed))

        def model(params: Trainable, i: int) -> StableModel:
            return _model((flow, speed), sets[i], Trainable(*(np.asarray(a[i]) for a in params)))

        def look(params: Trainable, losses: FloatArray) -> None:
            if watch is not None:
                watch([_present(model(params, i), one) for i, one in enumerate(sets)], losses)

        params, history, steps = _descend(fixed, data, recipe, seed, report, look)
        params = jax.tree.map(np.asarray, params)
    return [_trained(model(params, i), one, history[:, i], steps, recipe) for i, one in enumerate(sets)]


def _optimiser(recipe: Recipe) -> optax.GradientTransformation:
    """Adam after a short warm-up, with cosine decay; a step whose gradient is not finite is left out."""
    rate = optax.warmup_cosine_decay_schedule(recipe.rate / 30, recipe.rate, 30, max(recipe.steps, 31))
    return optax.apply_if_finite(
        optax.chain(optax.clip_by_global_norm(recipe.clip), optax.adam(rate, b2=0.99)),
        max_consecutive_errors=recipe.steps,
    )


def _descend(
    fixed: Any,
    data: TrainingSet,
    recipe: Recipe,
    seed: int,
    report: Report | None,
    look: Callable[[Trainable, FloatArray], None],
) -> tuple[Trainable, FloatArray, int]:
    models, _, dimension = data.x.shape
    flow, speed = fixed
    rng = np.random.default_rng([seed, 3])

    def repeated(a: Array) -> Array:
        return np.broadcast_to(a, (models, *a.shape))

    params = Trainable(
        repeated(flow.weights), repeated(speed.weights), repeated(speed.offset), data.log_weights, data.swirls
    )
    state = (params, jax.jit(jax.vmap(_optimiser(recipe).init))(params))
    size = -(-recipe.steps // CHUNKS)
    history: list[FloatArray] = []
    stale, done = 0, 0
    # Already stable at the attractors, with straight ways to them: something to look at while the first steps are made.
    look(params, np.full(models, np.nan))
    while done < recipe.steps and stale < recipe.patience:
        draws = jax.tree.map(lambda a: a.astype(data.x.dtype), Draws.of(rng, size, dimension, recipe))
        state, losses = _advance(state, fixed, data, draws, recipe)
        done += size
        history.append(np.asarray(losses))
        # Who looks on has seen the losses when told how far it is.
        look(state[0], history[-1])
        if report is not None:
            report(min(done, recipe.steps), recipe.steps, history[-1])
        if len(history) > 1:
            gain = 1 - history[-1] / np.maximum(history[-2], 1e-12)
            stale = 0 if np.nanmax(gain) > 1e-4 else stale + 1
    return state[0], np.array(history), done


@partial(jax.jit, static_argnames=("recipe",))
def _advance(state: Any, fixed: Any, data: TrainingSet, draws: Draws, recipe: Recipe) -> tuple[Any, Array]:
    """A step on every model for every row of the draws."""
    optimiser = _optimiser(recipe)

    def one(state: Any, data: TrainingSet) -> tuple[Any, Array]:
        def step(state: Any, now: Draws) -> tuple[Any, Array]:
            params, memory = state
            loss, slope = jax.value_and_grad(_loss)(params, fixed, data, now, recipe)
            update, memory = optimiser.update(slope, memory, params)
            return (optax.apply_updates(params, update), memory), loss

        state, losses = jax.lax.scan(step, state, draws)
        return state, jnp.nanmean(losses)

    # A processor is faster at one model after another: products of stacked matrices are slow on it, and leave its cache.
    if jax.default_backend() == "cpu":
        return jax.lax.map(lambda both: one(*both), (state, data))  # type: ignore[no-any-return]
    return jax.vmap(one)(state, data)


def _model(fixed: Any, data: TrainingSet, params: Trainable) -> StableModel:
    """The model of some parameters. An Omega that may not move is zero: data that do not wind are not made to."""
    flow, speed = fixed
    xp = jnp if isinstance(params.swirls, jax.Array) else np
    swirls = 0.5 * (params.swirls - xp.swapaxes(params.swirls, -1, -2)) * data.winding[:, None, None]
    return StableModel(
        flow._replace(weights=params.weights, window=data.window),
        speed._replace(weights=params.speed_weights, offset=params.speed_offset, window=data.window),
        data.attractors,
        xp.where(data.log_weights > ABSENT, params.log_weights, ABSENT),
        swirls,
        data.softening,
        xp.zeros_like(data.attractors[0]),
    )


def _loss(params: Trainable, fixed: Any, data: TrainingSet, draws: Draws, recipe: Recipe) -> Array:
    misfit = _misfit(_model(fixed, data, params), _drawn(data, draws, recipe), recipe)
    return misfit + recipe.decay * (params.weights**2).sum() + recipe.speed_decay * (params.speed_weights**2).sum()


class Batch(NamedTuple):
    """Rows of one step: states, velocities and latent targets, with the weight of the error in each."""

    x: Array
    v: Array
    target: Array
    velocity: Array
    direction: Array
    position: Array


class Draws(NamedTuple):
    """Numbers from 0 to 1 that pick the rows of every step, and normal ones that move neighbours in the tube.

    Drawn beforehand and shared by all models: a generator inside the compiled program takes longer to compile than the
    rest of it.
    """

    sample: Array
    neighbour: Array
    noise: Array
    guide: Array
    home: Array

    @classmethod
    def of(cls, rng: np.random.Generator, steps: int, dimension: int, recipe: Recipe) -> Draws:
        counts = (recipe.batch, recipe.neighbour_batch, recipe.guide_batch, recipe.home_batch)
        sample, neighbour, between, home = (rng.random((steps, count)) for count in counts)
        return cls(sample, neighbour, rng.standard_normal((*neighbour.shape, dimension)), between, home)


def _drawn(data: TrainingSet, draws: Draws, recipe: Recipe) -> Batch:
    """Samples, neighbours in the tube, states between the paths, states on their way home."""
    kinds = [_samples(data, draws.sample, None)]
    if recipe.neighbours > 0:
        kinds.append(_weighted(_samples(data, draws.neighbour, draws.noise), recipe.neighbours))
    if recipe.guide > 0:
        pick = _row(draws.guide, data.guide_x)
        x, weight = data.guide_x[pick], data.guide_weight[pick] / recipe.guide_batch
        between = Batch(x, data.guide_v[pick], jnp.zeros_like(x), weight, weight, 0 * weight)
        kinds.append(_weighted(between, recipe.guide))
    if recipe.home > 0:
        pick = _row(draws.home, data.home_x)
        x, way = (rows[pick].swapaxes(0, 1).reshape(-1, data.x.shape[1]) for rows in (data.home_x, data.home_way))
        weight = jnp.full(len(x), recipe.home / len(x), dtype=x.dtype)
        kinds.append(Batch(x, way, jnp.zeros_like(x), 0 * weight, weight, 0 * weight))
    return Batch(*(jnp.concatenate(rows) for rows in zip(*kinds, strict=True)))


def _row(share: Array, rows: Array) -> Array:
    """Which row each share of all of them falls on; float32 may round a share up to 1."""
    return jnp.minimum((share * rows.shape[0]).astype(jnp.int32), rows.shape[0] - 1)


def _samples(data: TrainingSet, jitter: Array, noise: Array | None) -> Batch:
    """One sample from each of as many equal parts of the data, moved about in the tube where `noise` is given."""
    count = len(jitter)
    index = _row((np.arange(count) + jitter) / count, data.x)
    x, v, target = data.x[index], data.v[index], data.target[index]
    if noise is not None:
        x = x + noise * data.width[index][:, None]
        v = v + noise * data.rate[index][:, None]
        target = target + noise * data.spread[index][:, None]
    weight = jnp.full(count, 1 / count, dtype=x.dtype)
    return Batch(x, v, target, weight, weight * data.moving[index], weight * data.placed[index])


def _weighted(batch: Batch, weight: float) -> Batch:
    return Batch(*batch[:3], *(weight * one for one in batch[3:]))


def _misfit(model: StableModel, batch: Batch, recipe: Recipe) -> Array:
    x, v = batch.x.T, batch.v.T
    way, y, goals = layers.direction(model, x)
    place = ((y - goals[0][:, None] - batch.target.T) ** 2).sum(0) @ batch.position
    if not recipe.uses_velocity:
        return recipe.position * place
    f = jnp.exp(log_speed(model.speed, x, layers.features)) * way
    error = 3 * KNEE**2 * (jnp.sqrt(1 + ((f - v) ** 2).sum(0) / KNEE**2) - 1)
    heading = _unit(f)
    turn = 1 - (heading * _unit(v)).sum(0)
    moving = recipe.velocity * (error @ batch.velocity) + recipe.direction * (turn @ batch.direction)
    if recipe.home > 0 and recipe.bending > 0:  # the last rows are places on their way home, and those behind them
        here, behind = heading[:, -2 * recipe.home_batch : -recipe.home_batch], heading[:, -recipe.home_batch :]
        moving = moving + recipe.bending * (1 - (here * behind).sum(0)).mean() / BEHIND**2
    return moving + recipe.position * place


def _unit(v: Array) -> Array:
    return v / jnp.sqrt((v**2).sum(0) + 1e-8)


def _trained(model: StableModel, data: TrainingSet, losses: FloatArray, steps: int, recipe: Recipe) -> Trained:
    model = _present(model, data)
    if not recipe.uses_velocity:
        model = model._replace(speed=fitted_speed(model, data, ridge=recipe.speed_decay))
    return Trained(model, losses, steps)


def _present(model: StableModel, data: TrainingSet) -> StableModel:
    """Without the attractors that only fill up the arrays."""
    present = np.asarray(data.log_weights) > ABSENT
    return as_numpy(model._replace(**{name: getattr(model, name)[present] for name in PER_ATTRACTOR}))


PER_ATTRACTOR = ("attractors", "log_weights", "swirls", "softening")


def fitted_speed(model: StableModel, data: TrainingSet, ridge: float) -> Speed:
    """log s by ridge regression on log(|v| / |J^-1 u|), in closed form: for recipes that do not see velocities."""
    x = np.asarray(data.x, dtype=np.float64).T
    way = direction(model, wells(model), x)
    speed = np.linalg.norm(data.v, axis=1)
    log_ratio = np.log(np.maximum(speed, MOVING * speed.max()) / np.maximum(np.linalg.norm(way, axis=0), 1e-12))
    offset = log_ratio.mean()
    phi = window(model.speed.window, x) * fourier_features(model.speed.frequencies, x)
    gram = phi @ phi.T / x.shape[1] + ridge * np.eye(len(phi))
    weights = np.linalg.solve(gram, phi @ (log_ratio - offset) / x.shape[1])
    return model.speed._replace(weights=weights, offset=np.asarray(offset))
