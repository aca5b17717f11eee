"""The user's own loop on a field, x += dt * predict(x), and what it does; for one field as for a patchwork."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from eigenwell.fields import Field, StableField
from eigenwell.learning import learn_bundles
from eigenwell.learning.recipes import Recipe
from eigenwell.learning.targets import Bundle

CLOSE = 0.01
"""Arrived within this share of the box of an attractor."""
RATE = 100.0
"""Hz: the slowest rate at which robots are controlled, and the hardest for explicit Euler."""
PATIENCE = 5.0
"""Loops are given this many times the longest demonstration: room for starts near a saddle."""
Velocity = Callable[[np.ndarray], np.ndarray]
Paths = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Box:
    """The box of the data."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, field: Field) -> Box:
        middle = (field.samples.min(0) + field.samples.max(0)) / 2
        return cls(middle - field.box / 2, middle + field.box / 2)

    @property
    def size(self) -> np.ndarray:
        return self.high - self.low

    def uniform(self, rng: np.random.Generator, count: int, times: float = 1.0) -> np.ndarray:
        middle = (self.low + self.high) / 2
        return middle + times * self.size / 2 * rng.uniform(-1, 1, (count, len(middle)))

    def surface(self, rng: np.random.Generator, count: int, times: float) -> np.ndarray:
        """Starts on the surface of `times` the box."""
        unit = rng.uniform(-1, 1, (count, len(self.low)))
        face = rng.integers(len(self.low), size=count)
        unit[np.arange(count), face] = rng.choice([-1.0, 1.0], size=count)
        return (self.low + self.high) / 2 + times * self.size / 2 * unit

    def beyond(self, x: np.ndarray) -> np.ndarray:
        """How far outside, in boxes; at most 0 inside."""
        return np.maximum((self.low - x) / self.size, (x - self.high) / self.size).max(axis=-1)


@dataclass(frozen=True, eq=False)
class Driven:
    """Where loops came: -1 for what did not arrive in time; and how far beyond the box they went, in boxes."""

    ends: np.ndarray
    outside: np.ndarray

    @property
    def arrived(self) -> float:
        return float((self.ends >= 0).mean())


def drive(predict: Velocity, starts: np.ndarray, attractors: np.ndarray, box: Box, seconds: float) -> Driven:
    """Explicit Euler at 100 Hz from all starts at once, until each has arrived or its time is up."""
    dt, x = 1 / RATE, starts.copy()
    ends, outside = np.full(len(x), -1), np.zeros(len(x))
    going = np.arange(len(x))
    for _ in range(int(seconds * RATE)):
        x[going] += dt * predict(x[going])
        outside[going] = np.maximum(outside[going], box.beyond(x[going]))
        away = np.linalg.norm((x[going][:, None] - attractors) / box.size, axis=2)
        close = away.min(1) < CLOSE
        ends[going[close]] = away.argmin(1)[close]
        going = going[~close]
        if len(going) == 0:
            break
    return Driven(ends, outside)


def jump(predict: Velocity, box: Box, apart: Sequence[float], lines: int = 50, seed: int = 0) -> list[float]:
    """Largest change of velocity over some distances, in boxes, as a share of the largest speed met.

    Bisection along random lines in three times the box, each time into the half with the larger change, as
    `Certificate.jump`: a field without a jump shrinks with the distance, a jump stays.
    """
    rng = np.random.default_rng(seed)
    a, b = box.uniform(rng, lines, 3.0), box.uniform(rng, lines, 3.0)
    fa, fb = predict(a), predict(b)
    top = float(np.linalg.norm(predict(box.uniform(rng, 1000)), axis=1).max())
    found = []
    for distance in apart:
        while np.linalg.norm((a - b) / box.size, axis=1).max() > distance:
            middle = (a + b) / 2
            fm = predict(middle)
            first = (np.linalg.norm(fm - fa, axis=1) >= np.linalg.norm(fb - fm, axis=1))[:, None]
            a, fa, b, fb = (
                np.where(first, a, middle),
                np.where(first, fa, fm),
                np.where(first, middle, b),
                np.where(first, fm, fb),
            )
        found.append(float(np.linalg.norm(fb - fa, axis=1).max()) / top)
    return found


class Patchwork:
    """Version 0.1: a field for each attractor alone, and at every call the nearest sample's label decides which."""

    def __init__(self, motions: Sequence[Paths], attractors: np.ndarray, recipe: Recipe | None = None) -> None:
        recipe = Recipe().for_motions() if recipe is None else recipe
        bundles = [Bundle.of(paths, place) for paths, place in zip(motions, attractors, strict=True)]
        self.fields: tuple[StableField, ...] = learn_bundles(bundles, recipe=recipe)[0]
        samples = np.concatenate([x for paths in motions for x, _ in paths])
        self.labels = np.concatenate([np.full(len(x), q) for q, paths in enumerate(motions) for x, _ in paths])
        extent = np.ptp(samples, axis=0)
        self.box = np.maximum(extent, 0.02 * extent.max())
        self._tree = cKDTree(samples / self.box)

    def basin(self, x: np.ndarray) -> np.ndarray:
        return self.labels[self._tree.query(x / self.box)[1]]

    def predict(self, x: np.ndarray) -> np.ndarray:
        velocity, basin = np.empty_like(x), self.basin(x)
        for q in np.unique(basin):
            velocity[basin == q] = self.fields[q].predict(x[basin == q])
        return velocity


def home(field: StableField, starts: np.ndarray, box: Box, points: int = 400) -> dict[str, np.ndarray]:
    """Latent roll-outs from far away: whether they arrive, and their length over the straight distance.

    Time is doubled until all have arrived, ten thousand times what the box takes at the speed limit at most.
    """
    count = len(starts)
    way, entry, arrived = np.full(count, np.nan), np.full(count, np.nan), np.zeros(count, dtype=bool)
    unit = float(np.linalg.norm(box.size)) / field.speed_limit
    for doubling in range(14):
        left = np.flatnonzero(~arrived)
        if len(left) == 0:
            break
        path = field.simulate(starts[left], t=np.linspace(0, unit * 2**doubling, points))
        away = np.linalg.norm((path[:, :, None] - field.attractors) / box.size, axis=3).min(2)
        steps = np.linalg.norm(np.diff(path, axis=1) / box.size, axis=2)
        length = np.concatenate([np.zeros((len(left), 1)), np.cumsum(steps, axis=1)], axis=1)
        for k in np.flatnonzero((away < CLOSE).any(1)):
            way[left[k]] = _ratio(path[k], length[k], _first(away[k] < CLOSE), box)
            entry[left[k]] = _ratio(path[k], length[k], _first(box.beyond(path[k]) <= 0), box)
            arrived[left[k]] = True
    return {"arrived": arrived, "whole": way, "entry": entry}


def _first(flags: np.ndarray) -> int:
    return max(1, int(flags.argmax()))


def _ratio(path: np.ndarray, length: np.ndarray, at: int, box: Box) -> float:
    """Length of the path up to one of its points over the straight distance to it."""
    return float(length[at] / max(np.linalg.norm((path[at] - path[0]) / box.size), 1e-12))
