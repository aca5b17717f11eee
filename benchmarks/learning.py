"""The parts of the learning benchmark that are not LASA's metrics: certificates, latency, systems, dimensions.

python -m benchmarks.learning [NAME ...]

prints how long `learn` takes and how well it fits: map alone and with motions, compiled anew and again, seconds of the
processor.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

import eigenwell as ew
from benchmarks.table import Row
from eigenwell import datasets, metrics, systems
from eigenwell.fields import StableField
from eigenwell.fields.certificates import BOX
from eigenwell.fields.simulation import ARRIVED
from eigenwell.learning import learn, learn_bundles
from eigenwell.learning.recipes import Recipe
from eigenwell.learning.targets import Bundle, travel_times
from eigenwell_paper.baselines.euclideanizing import euclideanizing_flows

Paths = list[tuple[np.ndarray, np.ndarray]]
NODES = 65
"""States of a roll-out along which V must fall."""


def side_by_side(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """One process a core; fresh ones, since JAX does not survive a fork."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return list(pool.map(function, items))


def _to_rest(task: tuple[int, StableField, int]) -> tuple[float, float]:
    """Shares of latent roll-outs that arrive, and along which V falls from each state to the next until they do."""
    seed, field, rollouts = task
    starts = field.from_unit(np.random.default_rng(seed).uniform(-BOX / 2, BOX / 2, (rollouts, field.dimension)))
    arrived, fell = np.zeros(rollouts, dtype=bool), np.zeros(rollouts, dtype=bool)
    duration = 1 / field.pace
    for _ in range(16):  # doubled until all have arrived; what takes longer than 65,000 boxes' time does not
        left = np.flatnonzero(~arrived)
        if len(left) == 0:
            break
        path = field.simulate(starts[left], t=np.linspace(0, duration, NODES))
        away = np.linalg.norm((path[:, :, None] - field.attractors) / field.scale, axis=3).min(2)
        value = field.potential(path.reshape(-1, field.dimension)).reshape(away.shape)
        before = np.minimum.accumulate(away, axis=1)[:, :-1] >= ARRIVED
        arrived[left] = (away < ARRIVED).any(1)
        fell[left] = ((np.diff(value, axis=1) < 0) | ~before).all(1)
        duration *= 2
    return float(arrived.mean()), float(fell.mean())


def certificates(fields: Sequence[StableField], rollouts: int) -> Row:
    """Roll-outs from three times the data box: share that converged, share along which V fell at every step."""
    shares = side_by_side(_to_rest, [(seed, field, rollouts) for seed, field in enumerate(fields)])
    converged, fell = (min(column) for column in zip(*shares, strict=True))
    return Row(
        f"{len(fields)} fields, {rollouts} roll-outs each from 3 x the box, worst: converged / V fell at every step",
        "100 % / 100 %",
        f"{converged:.2%} / {fell:.2%}",
        "",
        converged == fell == 1.0,
    )


def latency(field: StableField, states: int = 100_000) -> Row:
    """One state at a time and a large batch, NumPy."""
    rng = np.random.default_rng(0)
    times = []
    for x in field.from_unit(rng.uniform(-0.5, 0.5, (2000, field.dimension))):
        start = time.perf_counter()
        field.predict(x)
        times.append(time.perf_counter() - start)
    many = field.from_unit(rng.uniform(-0.5, 0.5, (states, field.dimension)))
    field.predict(many[:5000])
    start = time.perf_counter()
    field.predict(many)
    rate, one = states / (time.perf_counter() - start), float(np.median(times) * 1e6)
    return Row(
        "predict: one 2-D state, median / batch of 100,000",
        "150 us / 100,000 states/s",
        f"{one:.0f} us / {rate:,.0f} states/s",
        "",
        one <= 150 and rate >= 100_000,
    )


def reaching(quick: bool) -> Row:
    """Identify shuffled samples, learn, roll out from every training start: share that reach their own attractor."""
    known = (systems.heart, systems.pendulum, systems.duffing, systems.four_wells)
    sets = {system.name: system.sample(seed=0).shuffled(0) for system in known}
    sets |= {f"composite_{seed}": datasets.composite(seed, every=5) for seed in range(2 if quick else 20)}
    shares, cosines = {}, {}
    for name, demos in sets.items():
        found = ew.identify(demos)
        field = learn(found)
        hits = []
        for q in range(found.n_attractors):
            for path in found.paths(q):
                needed = travel_times(demos.x[path], demos.v[path])[-1]
                last = field.simulate(demos.x[path[0]], t=np.linspace(0, 10 * needed, 50))[-1]
                hits.append(np.abs((last - field.attractors[q]) / field.box).max() < ARRIVED)
        shares[name], cosines[name] = float(np.mean(hits)), metrics.cosine_error(field.predict(demos.x), demos.v)
    worst = min(shares, key=lambda name: shares[name])
    return Row(
        f"{len(sets)} sets (heart, pendulum, Duffing, four wells, composites): roll-outs that reach their own attractor",
        "100 %",
        f"{min(shares.values()):.2%} (worst: {worst})",
        "cosine error " + ", ".join(f"{name} {cosines[name]:.4f}" for name in list(sets)[:4]),
        min(shares.values()) == 1.0,
    )


def curved_reaches(dimension: int, seed: int = 0, demonstrations: int = 4, samples: int = 200) -> Paths:
    """Curved point-to-point motions in d dimensions with bell-shaped speed, all ending in the origin.

    x = r start + sin(pi r) a + sin(2 pi r) b / 2, r from 1 to 0; a and b are shared, starts differ.
    """
    rng = np.random.default_rng([seed, dimension])
    base, bend = rng.uniform(-1, 1, dimension), rng.normal(0, 0.4, (2, dimension))
    paths = []
    for _ in range(demonstrations):
        start = base + rng.normal(0, 0.15, dimension)
        t = np.linspace(0, 2.0, samples)
        phase = t / 2.0
        rest = 1 - (10 * phase**3 - 15 * phase**4 + 6 * phase**5)
        curve = sum(np.sin(np.pi * (k + 1) * rest)[:, None] * bend[k] / (k + 1) for k in range(2))
        x = rest[:, None] * start + curve
        paths.append((x, np.gradient(x, t, axis=0, edge_order=2)))
    return paths


def dimensions(epochs: int, quick: bool) -> list[Row]:
    """3, 7 and 10 dimensions beside the baseline: three demonstrations to train, a fourth to test."""
    rows = []
    for dimension in (3,) if quick else (3, 7, 10):
        drawn = [curved_reaches(dimension, seed) for seed in range(2 if quick else 5)]
        bundles = [Bundle.of(paths[:-1], np.zeros(dimension)) for paths in drawn]
        ours, _ = learn_bundles(bundles, recipe=Recipe().for_motions())
        theirs = euclideanizing_flows(bundles, epochs=epochs)
        errors = [
            np.mean([_errors(field, b, p[-1]) for field, b, p in zip(fields, bundles, drawn, strict=True)], axis=0)
            for fields in (ours, theirs)
        ]
        rows.append(
            Row(
                f"{dimension}-D, {len(drawn)} synthetic sets, held-out demonstration: DTWD / step-scaled error",
                "better than EF",
                f"{errors[0][0]:.4f} / {errors[0][1]:.3f}",
                f"EF, {epochs} epochs: {errors[1][0]:.4f} / {errors[1][1]:.3f}",
                bool((errors[0] < errors[1]).all()),
            )
        )
    return rows


def _errors(field: object, bundle: Bundle, held: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Roll-out DTWD in boxes, and mean |f(x) - v| over mean |v|."""
    (x, v), frame = held, bundle.frame
    rolled = field.simulate(x[0], t=np.linspace(0, 2.0, len(x)))
    dtwd = metrics.dtwd((rolled - frame.centre) / frame.scale, (x - frame.centre) / frame.scale)
    return dtwd, float(np.linalg.norm(field.predict(x) - v, axis=1).mean() / np.linalg.norm(v, axis=1).mean())


def training_sets() -> dict[str, Callable[[], Any]]:
    """Data sets by name whose training is timed."""

    def reaches() -> Any:
        x, v = zip(*curved_reaches(7), strict=True)
        return ew.Demonstrations.of(list(x), list(v))

    return {
        "duffing": lambda: systems.duffing.sample(seed=0),
        "heart": lambda: systems.heart.sample(seed=0),
        "strokes": lambda: datasets.pen_strokes(0),
        "four wells": lambda: systems.four_wells.sample(seed=0),
        "7-D reaches": reaches,
    }


def trainings(names: Sequence[str] = ()) -> None:
    """Seconds of training and fit, printed set by set."""
    import jax

    jax.config.update("jax_enable_compilation_cache", False)
    for name, made in training_sets().items():
        if names and name not in names:
            continue
        found = ew.identify(made())
        for memory in (False, True):
            jax.clear_caches()
            seconds = []
            for _ in range(2):
                start = time.process_time()
                field = learn(found, memory=memory)
                seconds.append(time.process_time() - start)
            fit = field.fit if memory else field.map_fit
            print(
                f"{name}, {'with motions' if memory else 'map'}: {seconds[0]:.1f} s, again {seconds[1]:.1f} s; {fit.by} "
                f"{fit.distance:.2%}, worst {fit.worst.distance:.2%}, {fit.arrives:.0%} arrive; "
                f"{', '.join(one.name for one in field.warnings) or 'no doubts'}",
                flush=True,
            )


if __name__ == "__main__":
    trainings(sys.argv[1:])
