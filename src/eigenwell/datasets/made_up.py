"""Made-up recordings: pen strokes of a hand, joint angles of an arm."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Demonstrations


def apart(rng: np.random.Generator, n: int, side: float, distance: float) -> FloatArray:
    while True:
        points = rng.uniform(-side / 2, side / 2, size=(n, 2))
        gaps = np.linalg.norm(points[:, None] - points, axis=2)[np.triu_indices(n, 1)]
        if (gaps >= distance).all():
            return points


def pen_strokes(
    seed: int = 0,
    *,
    n_attractors: int = 2,
    n_strokes: int = 3,
    tremor: float = 0.002,
    spread: float = 0.01,
    frequency: float = 60.0,
) -> Demonstrations:
    """Scripted strokes of a hand on a unit tablet, in place of recordings nobody may pass on.

    Each bundle follows a smooth random curve to its attractor; the pen starts and ends at rest, slows down where the
    curve bends (the two-thirds power law of hand motion), trembles at 8 to 12 Hz with amplitude `tremor`, and stops
    within `spread` of the attractor. Velocities are estimated from the positions, as from a real tablet.

    Parameters
    ----------
    seed : int
        Of curves and tremor.
    n_attractors : int
        Places that strokes end in.
    n_strokes : int
        To each.
    tremor : float
        Its amplitude.
    spread : float
        How near the attractors are met.
    frequency : float
        Samples per second.

    Returns
    -------
    Demonstrations
        Trajectories with `truth`.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.datasets.pen_strokes(0).n_trajectories
    6
    """
    rng = np.random.default_rng(seed)
    attractors = apart(rng, n_attractors, side=1.0, distance=0.35)
    xs, labels = [], []
    for q in range(n_attractors):
        knots = np.vstack([rng.uniform(-0.9, 0.9, size=(3, 2)), attractors[q]])
        for _ in range(n_strokes):
            wobble = 0.05 * rng.standard_normal(knots.shape)
            wobble[-1] = spread * rng.standard_normal(2)
            xs.append(_stroke(rng, knots + wobble, tremor, frequency))
            labels.append(np.full(len(xs[-1]), q, dtype=np.intp))
    demos = Demonstrations.from_trajectories(xs, dt=1 / frequency)
    return demos.with_truth(np.concatenate(labels), attractors)


def _spline(at: FloatArray, knots: FloatArray) -> Any:
    from scipy.interpolate import CubicSpline  # slow to import, and only made-up data need it

    return CubicSpline(at, knots)


def _stroke(rng: np.random.Generator, knots: FloatArray, tremor: float, frequency: float) -> FloatArray:
    s = np.linspace(0, 1, 2000)
    curve = _spline(np.linspace(0, 1, len(knots)), knots)
    d1, d2 = curve(s, 1), curve(s, 2)
    rate = np.linalg.norm(d1, axis=1)
    bend = np.abs(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]) / (rate**3 + 1e-9)
    length = np.concatenate([[0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(s))])
    rise = np.clip(length / (0.15 * length[-1]), 0.02, 1) * np.clip(
        (length[-1] - length) / (0.15 * length[-1]), 0.02, 1
    )
    speed = rise / (1 + bend) ** (1 / 3)
    clock = np.concatenate([[0], np.cumsum(np.diff(length) * 2 / (speed[1:] + speed[:-1]))])
    clock *= rng.uniform(2.0, 3.5) / clock[-1]
    t = np.arange(0, clock[-1], 1 / frequency)
    x = curve(np.interp(t, clock, s))
    phase, pace = rng.uniform(0, 2 * np.pi, 2), rng.uniform(8, 12, 2)
    return np.asarray(x + tremor * np.sin(2 * np.pi * pace * t[:, None] + phase), dtype=np.float64)


def joint_recordings(
    seed: int = 0,
    *,
    dimension: int = 7,
    n_attractors: int = 3,
    n_per_attractor: int = 4,
    noise: float = 5e-4,
    spread: float = 0.01,
    dwell: float = 0.5,
    frequency: float = 50.0,
) -> Demonstrations:
    """A stand-in for kinesthetic teaching: joint angles of an arm led to one of several postures.

    Motions go from scattered starts over a via posture shared by the bundle to the goal, with minimum-jerk timing,
    durations of 2 to 4 s, encoder noise, goals met within `spread`, and `dwell` seconds of standing still at the end.
    Velocities are estimated from the angles, as they would be.

    Parameters
    ----------
    seed : int
        Of postures, starts and noise.
    dimension : int
        Joints.
    n_attractors : int
        Postures that motions end in.
    n_per_attractor : int
        Motions to each.
    noise : float
        Standard deviation of the encoders, in radians.
    spread : float
        How near the goals are met, in radians.
    dwell : float
        Seconds of standing still at the end.
    frequency : float
        Samples per second.

    Returns
    -------
    Demonstrations
        Trajectories with `truth`.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.datasets.joint_recordings(0, n_attractors=2, n_per_attractor=2).dimension
    7
    """
    rng = np.random.default_rng(seed)
    goals = rng.uniform(-1.5, 1.5, size=(n_attractors, dimension))
    vias = rng.uniform(-1.5, 1.5, size=(n_attractors, dimension))
    starts = rng.uniform(-1.5, 1.5, size=(n_attractors, dimension))
    xs, labels = [], []
    for q in range(n_attractors):
        for _ in range(n_per_attractor):
            start = starts[q] + 0.2 * rng.standard_normal(dimension)
            via = vias[q] + 0.1 * rng.standard_normal(dimension)
            goal = goals[q] + spread * rng.standard_normal(dimension)
            duration = rng.uniform(2.0, 4.0)
            s = np.clip(np.arange(0, duration + dwell, 1 / frequency) / duration, 0, 1)
            rise = s**3 * (10 - 15 * s + 6 * s**2)
            path = _spline(np.array([0.0, 0.5, 1.0]), np.array([start, via, goal]))(rise)
            xs.append(path + noise * rng.standard_normal(path.shape))
            labels.append(np.full(len(path), q, dtype=np.intp))
    demos = Demonstrations.from_trajectories(xs, dt=1 / frequency)
    return demos.with_truth(np.concatenate(labels), goals)
