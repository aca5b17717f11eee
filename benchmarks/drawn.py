"""Motions as hands and robots make them: eights, loops, letters, a trefoil, pick and place. Several repetitions of each.

Every repetition has its own shape, place of the start, duration and tremor. Hands slow down where the curve bends (the
two-thirds power law) and start and end at rest; robots move from stop to stop with minimum jerk.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline

from eigenwell import datasets
from eigenwell.velocities import estimate_velocities

Repetitions = list[tuple[np.ndarray, np.ndarray]]
FREQUENCY = 60.0
TREMOR, WOBBLE = 0.001, 0.012
"""Of the extent: how a hand trembles, and how its repetitions differ."""

# On a unit tablet, in the order they are drawn.
LETTERS = {
    "a": [(0.8, 0.75), (0.45, 0.95), (0.1, 0.5), (0.4, 0.1), (0.75, 0.45), (0.82, 0.9), (0.8, 0.3), (1.0, 0.05)],
    "e": [(0.1, 0.5), (0.55, 0.55), (0.85, 0.75), (0.5, 1.0), (0.1, 0.55), (0.45, 0.05), (0.95, 0.25)],
    "f": [(0.15, 0.35), (0.6, 0.75), (0.65, 1.0), (0.45, 0.95), (0.4, 0.4), (0.3, 0.0), (0.2, 0.15), (0.85, 0.5)],
    "k": [(0.1, 0.3), (0.4, 0.95), (0.2, 1.0), (0.2, 0.05), (0.45, 0.5), (0.65, 0.6), (0.4, 0.4), (0.9, 0.05)],
    "s": [(0.05, 0.1), (0.55, 0.95), (0.5, 0.65), (0.75, 0.3), (0.4, 0.0), (0.2, 0.2), (0.95, 0.25)],
}


def _hand(rng: np.random.Generator, knots: np.ndarray, seconds: float) -> np.ndarray:
    """Positions along a smooth curve through the knots, at the speed of a hand: slow where it bends."""
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    curve = CubicSpline(along / along[-1], knots)
    s = np.linspace(0, 1, 3000)
    first, second = curve(s, 1), curve(s, 2)
    rate = np.linalg.norm(first, axis=1)
    square = (first**2).sum(1) * (second**2).sum(1) - (first * second).sum(1) ** 2
    bend = np.sqrt(np.maximum(square, 0)) / (rate**3 + 1e-9)
    length = np.concatenate([[0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(s))])
    share = length / length[-1]
    rise = np.clip(share / 0.15, 0.02, 1) * np.clip((1 - share) / 0.15, 0.02, 1)
    speed = rise / (1 + length[-1] * bend / 6) ** (1 / 3)
    clock = np.concatenate([[0], np.cumsum(np.diff(length) * 2 / (speed[1:] + speed[:-1]))])
    t = np.arange(0, seconds, 1 / FREQUENCY)
    x = curve(np.interp(t * clock[-1] / seconds, clock, s))
    phase, pace = rng.uniform(0, 2 * np.pi, (2, knots.shape[1]))
    tremble = np.sin(2 * np.pi * (8 + 4 * pace / (2 * np.pi)) * t[:, None] + phase)
    return np.asarray(x + TREMOR * np.ptp(knots, axis=0).max() * tremble)


def _robot(rng: np.random.Generator, stops: np.ndarray, seconds: float) -> np.ndarray:
    """Straight from stop to stop with minimum jerk, time shared out by the root of the distance."""
    legs = np.sqrt(np.linalg.norm(np.diff(stops, axis=0), axis=1))
    ends = np.concatenate([[0], np.cumsum(legs)]) * seconds / legs.sum()
    t = np.arange(0, seconds, 1 / FREQUENCY)
    leg = np.clip(np.searchsorted(ends, t, side="right") - 1, 0, len(legs) - 1)
    s = ((t - ends[leg]) / (ends[leg + 1] - ends[leg]))[:, None]
    x = stops[leg] + (10 * s**3 - 15 * s**4 + 6 * s**5) * (stops[leg + 1] - stops[leg])
    return np.asarray(x + 2e-4 * np.ptp(stops, axis=0).max() * rng.standard_normal(x.shape))


def _repeated(
    rng: np.random.Generator, knots: np.ndarray, count: int, move: Callable[..., np.ndarray] = _hand
) -> Repetitions:
    """`count` repetitions with their estimated velocities; all end within a fifth of the wobble of one goal."""
    extent, made = np.ptp(knots, axis=0).max(), []
    for _ in range(count):
        wobble = WOBBLE * extent * rng.standard_normal(knots.shape)
        wobble[-1] /= 5
        x = move(rng, knots + wobble, rng.uniform(2.5, 3.5))
        made.append((x, estimate_velocities(x, np.arange(len(x)) / FREQUENCY)))
    return made


def figure_eight(seed: int, count: int) -> Repetitions:
    """Starts beside where it crosses, and ends there."""
    rng = np.random.default_rng([seed, 8])
    s = np.linspace(-0.4, 2 * np.pi - 0.4, 15)
    knots = np.column_stack([np.sin(s), rng.uniform(0.4, 0.8) * np.sin(2 * s)])
    return _repeated(rng, _turned(rng, knots), count)


def loop(seed: int, count: int) -> Repetitions:
    """A way with one to two loops on it, as a pen makes them between letters."""
    rng = np.random.default_rng([seed, 9])
    turns = rng.uniform(1.0, 2.2)
    s = np.linspace(0, 1, int(9 * turns) + 5)
    angle = 2 * np.pi * turns * s - np.pi / 2
    knots = np.column_stack([1.2 * s + 0.45 * np.cos(angle), 0.45 * np.sin(angle)])
    return _repeated(rng, _turned(rng, knots), count)


def letter(name: str, seed: int, count: int) -> Repetitions:
    return _repeated(np.random.default_rng([seed, ord(name)]), np.array(LETTERS[name]), count)


def trefoil(seed: int, count: int) -> Repetitions:
    """The knot, from a start to just before it: in 3-D it nearly meets itself three times."""
    rng = np.random.default_rng([seed, 3])
    s = np.linspace(0.1, 2 * np.pi - 0.25, 25)
    knots = np.column_stack([np.sin(s) + 2 * np.sin(2 * s), np.cos(s) - 2 * np.cos(2 * s), -0.4 * np.sin(3 * s)])
    return _repeated(rng, knots, count)


def pick_and_place(seed: int, count: int) -> Repetitions:
    """Down to the object and up the same way, across, down to the place, and up the same way again."""
    rng = np.random.default_rng([seed, 4])
    pick, place = rng.uniform(-0.4, 0.0, 2), rng.uniform(0.3, 0.7, 2)
    high, low = rng.uniform(0.3, 0.5), 0.02
    home = np.array([-0.3, 0.5, 0.6])
    over_pick, over_place = np.append(pick, high), np.append(place, high)
    stops = [home, over_pick, np.append(pick, low), over_pick, over_place, np.append(place, low), over_place]
    return _repeated(rng, np.array(stops), count, _retreating)


def _retreating(rng: np.random.Generator, stops: np.ndarray, seconds: float) -> np.ndarray:
    """The way back is the way there: stops that were one place stay one."""
    stops = stops.copy()
    stops[3], stops[4] = stops[1], stops[6]
    return _robot(rng, stops, 2 * seconds)


def strokes(seed: int, goals: int, count: int) -> tuple[list[Repetitions], np.ndarray]:
    """Pen strokes to some goals, each with `count` repetitions; a goal is the mean of the ends."""
    demos = datasets.pen_strokes(seed, n_attractors=goals, n_strokes=count)
    paths = list(demos.trajectories())
    bundles = [paths[q * count : (q + 1) * count] for q in range(goals)]
    return bundles, np.array([np.mean([x[-1] for x, _ in bundle], axis=0) for bundle in bundles])


def _turned(rng: np.random.Generator, knots: np.ndarray) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi)
    c, s = np.cos(angle), np.sin(angle)
    return knots @ np.array([[c, s], [-s, c]])
