"""Is the information there at all? How hard a field must be pushed before its number of attractors changes.

A constant velocity added to the field, weak or strong, removes a sink or makes one where the motion was slow. Samples with
noise sigma cannot tell the field from the pushed one where the push is less than about two standard errors of the mean
velocity near that place, sigma / sqrt(samples within half a standard deviation of the data): whatever the method, its
number there is a guess. Sinks and slow places only; a cycle has no such margin here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from eigenwell.systems import System

# Directions pushed in, pushes tried in units of the median speed, and starts of the search for slow places.
DIRECTIONS, PUSHES, STARTS = 24, np.linspace(0.01, 0.5, 50), 60
# Near: so many standard deviations of the data. Told apart: so many standard errors.
NEAR, TOLD = 0.5, 2.0


@dataclass(frozen=True)
class Margin:
    """At `place` a `push` (in units of the median speed) makes or removes a sink."""

    place: np.ndarray
    push: float


def _jacobian(system: System, x: np.ndarray) -> np.ndarray:
    h = 1e-5 * np.ptp(system.domain, axis=1).max()
    steps = h * np.eye(len(x))
    return np.asarray((system.field(x + steps) - system.field(x - steps)).T / (2 * h))


def _stable(system: System, x: np.ndarray) -> bool:
    values = np.linalg.eigvals(_jacobian(system, x)).real
    return bool(values.max() < 1e-3 * np.abs(values).max())


def margins(system: System) -> list[Margin]:
    """Of all sinks and slow places of a system."""
    rng = np.random.default_rng(0)
    x = rng.uniform(*system.domain.T, size=(4000, system.dimension))
    speed = float(np.median(np.linalg.norm(system.field(x), axis=1)))
    directions = rng.standard_normal((DIRECTIONS, system.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = [Margin(p, min(_removed(system, p, speed * u) for u in directions)) for p in system.attractors]
    low, high = system.domain.T
    for start in x[:STARTS]:
        slow = scipy.optimize.minimize(lambda s: float((system.field(s[None])[0] ** 2).sum()) / speed**2, start)
        push = float(np.sqrt(slow.fun))
        new = all(np.linalg.norm(slow.x - m.place) > 0.02 * (high - low).max() for m in found)
        if new and push > 1e-3 and (slow.x > low).all() and (slow.x < high).all() and _stable(system, slow.x):
            found.append(Margin(slow.x, push))
    return found


def _removed(system: System, place: np.ndarray, direction: np.ndarray) -> float:
    """The weakest push along a direction under which the sink, followed from its place, is none any more."""
    x = np.array(place)
    for push in PUSHES:
        for _ in range(20):
            f = system.field(x[None])[0] + push * direction
            step = np.linalg.solve(_jacobian(system, x) + 1e-12 * np.eye(len(x)), f)
            x = x - step
            if np.linalg.norm(step) > 0.2 * np.ptp(system.domain, axis=1).max():
                return float(push)
            if np.linalg.norm(step) < 1e-8:
                break
        if np.linalg.norm(step) > 1e-6 or not _stable(system, x):
            return float(push)
    return float(PUSHES[-1])


def told(found: list[Margin], x: np.ndarray, noise: float) -> float:
    """The smallest margin of some samples with noise (of the median speed), in standard errors; infinite without noise."""
    if noise == 0 or not found:
        return float("inf")
    root = np.linalg.inv(np.linalg.cholesky(np.cov(x.T)))
    near = [(np.linalg.norm((x - m.place) @ root.T, axis=1) < NEAR).sum() for m in found]
    return float(min(m.push * np.sqrt(n) / noise for m, n in zip(found, near, strict=True)))
