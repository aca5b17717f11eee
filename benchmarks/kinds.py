"""Unordered samples of both kinds, as different as could be thought of: along trajectories, and at scattered places.

Noise is the standard deviation in every coordinate, as a share of the median step (places) and of the median speed (velocities).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import qmc

from eigenwell import datasets, systems
from eigenwell.demonstrations import Demonstrations
from eigenwell.systems import integrate

Samples = tuple[str, np.ndarray, np.ndarray]
"""Name, places, velocities."""
DESIGNS = (systems.uniform, systems.clustered, systems.front)
COMPOSITES: tuple[dict[str, float], ...] = (
    {"drop": 0.1},
    {"every": 2, "noise": 0.1},
    {"every": 5, "noise": 0.3},
    {"drop": 0.1, "noise": 0.2},
    {"drop": 0.2, "noise": 0.3},
)


def noisy(
    demos: Demonstrations, rng: np.random.Generator, places: float, velocities: float, drop: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Samples of trajectories with noise on both, some of them left out, in no order."""
    steps = [np.linalg.norm(np.diff(x, axis=0), axis=1) for x, _ in demos.trajectories()]
    step, speed = np.median(np.concatenate(steps)), np.median(np.linalg.norm(demos.v, axis=1))
    x = demos.x + places * step * rng.standard_normal(demos.x.shape)
    v = demos.v + velocities * speed * rng.standard_normal(demos.v.shape)
    kept = rng.permutation(len(x))[: round((1 - drop) * len(x))]
    return x[kept], v[kept]


def three_rates(demos: Demonstrations, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Every, every second or every third sample of a trajectory, in turn."""
    parts = [(x[:: 1 + k % 3], v[:: 1 + k % 3]) for k, (x, v) in enumerate(demos.trajectories())]
    x, v = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    order = rng.permutation(len(x))
    return x[order], v[order]


def moving(seed: int, noise: float) -> Iterator[Samples]:
    """Trajectories in 2-D to 10-D, two to hundreds of them."""
    rng = np.random.default_rng([seed, round(100 * noise)])
    recordings = {system.name: system.sample(seed=seed) for system in systems.all_systems}
    recordings |= {f"{s.name}, 20 a well": s.sample(seed=seed, n_per_attractor=20) for s in systems.all_systems}
    recordings |= {f"joints {d}-D": datasets.joint_recordings(seed, dimension=d) for d in (3, 7)}
    recordings["pen strokes"] = datasets.pen_strokes(seed)
    for name, demos in recordings.items():
        yield name, *noisy(demos, rng, noise, noise)
        if noise:
            yield f"{name}, places alone", *noisy(demos, rng, noise, 0.0)
            yield f"{name}, velocities alone", *noisy(demos, rng, 0.0, noise)
        else:
            yield f"{name}, 30 % dropped", *noisy(demos, rng, 0.0, 0.0, drop=0.3)
            yield f"{name}, three rates", *three_rates(demos, rng)
    demos = datasets.composite(seed, noise=noise)
    yield "composite", demos.x, demos.v
    for options in COMPOSITES:
        if options.get("noise", 0.0) == noise:
            demos = datasets.composite(seed, **options)
            yield f"composite {options}", demos.x, demos.v


def hard(seed: int, noise: float) -> Iterator[Samples]:
    """Trajectories that look scattered: starts evenly on a ring and steps as long as tracks are apart; motion that never ends."""
    rng = np.random.default_rng([seed, 2, round(100 * noise)])
    for system in (systems.four_wells, systems.duffing, systems.toggle_switch, systems.saddle):
        low, high = system.domain.T
        for starts in (12, 24, 48):
            angle = 2 * np.pi * (np.arange(starts) + rng.uniform()) / starts
            ring = (low + high) / 2 + 0.45 * (high - low) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            for steps in (20, 100):
                x = integrate(system.field, ring, system.settling / 4 / steps, steps).transpose(1, 0, 2)
                demos = Demonstrations.from_trajectories([(t, system.field(t)) for t in x])
                yield f"{system.name}, ring of {starts}, {steps} steps", *noisy(demos, rng, noise, noise)
    for system in (systems.van_der_pol, systems.well_in_a_cycle):
        yield f"{system.name}, round and round", *noisy(system.sample(seed=seed), rng, noise, noise)


def scattered(seed: int) -> Iterator[Samples]:
    """One sample at a place: at random, in clusters, on fronts and along lines, keeping their distance, on grids."""
    for system in systems.snapshot_systems:
        for design in DESIGNS:
            for n in (300, 3000):
                for noise in (0.0, 0.3):
                    demos = system.snapshots(n, seed, noise=noise, design=design)
                    yield f"{system.name} {design.__name__} {n} {noise}", demos.x, demos.v
    rng = np.random.default_rng([seed, 1])
    yield from _apart(seed, rng)
    yield from _lines(rng)
    for d in (2, 3, 5, 10):
        for n in (300, 3000):
            x = rng.uniform(-1, 1, (n, d))
            yield f"to the middle {d}-D {n}", x, -x + 0.05 * rng.standard_normal(x.shape)
            yield f"all one way {d}-D {n}", x, np.eye(d)[0] + 0.05 * rng.standard_normal(x.shape)
    demos = systems.duffing.snapshots(2000, seed, noise=0.1)
    yield "rounded", np.round(demos.x, 1), demos.v


def _apart(seed: int, rng: np.random.Generator) -> Iterator[Samples]:
    """Places that keep their distance from each other."""
    field = systems.four_wells.field
    angle = rng.uniform(0, np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    axis = np.linspace(-2, 2, 40)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    moved = (axis[1] - axis[0]) * rng.uniform(-1, 1, grid.shape)
    places = {"grid, turned": grid @ turn.T, "grid, turned and masked": grid[(grid**2).sum(axis=1) < 3] @ turn.T}
    places |= {f"grid, jittered by {share}": grid + share * moved for share in (0.05, 0.1, 0.2, 0.4)}
    rows = np.arange(len(grid)) // 40 % 2
    places["hexagons"] = (grid + np.stack([rows * (axis[1] - axis[0]) / 2, 0 * rows], axis=1)) * (1, 0.75**0.5) @ turn.T
    places["Halton"] = 4 * qmc.Halton(2, seed=seed).random(1000) - 2
    places["Sobol"] = 4 * qmc.Sobol(2, seed=seed).random(1024) - 2
    places["Poisson discs"] = 4 * qmc.PoissonDisk(2, radius=0.03, seed=seed).random(1500) - 2
    for name, x in places.items():
        yield name, x, field(x)
    one_way = turn[:, 0] + 0.05 * rng.standard_normal(grid.shape)
    yield "grid along the flow", grid @ turn.T, one_way
    yield "flat grid along the flow", grid * (1, 0.5) @ turn.T, one_way


def _lines(rng: np.random.Generator) -> Iterator[Samples]:
    """Individuals along the way that all take, each seen once."""
    for n in (300, 2000):
        for width in (0.0, 0.003, 0.03):
            s = rng.uniform(0, 1, (n, 1))
            x = np.hstack([s, np.sin(3 * s), s**2]) + width * rng.standard_normal((n, 3))
            v = np.hstack([1 + 0 * s, 3 * np.cos(3 * s), 2 * s]) * (0.2 + s) + 0.1 * rng.standard_normal((n, 3))
            yield f"line in space {n} {width}", x, v
        branch = 2 * np.pi * rng.integers(0, 3, n) / 3
        s, way = rng.beta(2, 2, (n, 1)), np.stack([np.cos(branch), np.sin(branch)], axis=1)
        x = s * way + 0.01 * rng.standard_normal((n, 2))
        yield f"three branches {n}", x, (1 - s) * way + 0.05 * rng.standard_normal((n, 2))
    y = np.repeat(np.arange(20.0), 50) / 20
    v = np.stack([np.ones(1000), 0.02 * rng.standard_normal(1000)], axis=1)
    yield "streaks along the flow", np.stack([rng.uniform(0, 1, 1000), y], axis=1), v
