"""Where the field is zero, of which kind, and around each sink a region that no solution leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from .._types import BoolArray, FloatArray
from .field import FlowField
from .integration import STEPS
from .relevance import PRECISION

# A Newton step this short, in standard deviations, is an arrival: rounding error of the field allows no less.
CONVERGED = 1e-7
# Directions per dimension and radii at which a trapping region is tested, and the part of the tested radius that is used.
DIRECTIONS, RADII, MARGIN = 24, np.geomspace(0.005, 2.0, 24), 0.8


@dataclass(frozen=True, eq=False)
class Sink:
    """A stable zero. V(x) = (x - place)^T P (x - place) falls along every solution from V < radius^2."""

    place: FloatArray
    jacobian: FloatArray
    lyapunov: FloatArray
    radius: float
    error: FloatArray  # (r, r) posterior covariance of the place

    def holds(self, x: FloatArray) -> BoolArray:
        e = x - self.place
        return np.asarray(((e @ self.lyapunov) * e).sum(axis=1) < self.radius**2)


def newton(field: FlowField, starts: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Where Newton's method leads from every start (n, r), and whether the field is zero there.

    Steps are cut to half a standard deviation of the data, so that a start finds a zero near it or none; farther than the starts
    are apart from each other, or a few steps from a single one, nothing is looked for.
    """
    # Seldom more than ten steps are needed; a start that has not arrived by then belongs to no zero near.
    x = np.array(starts)
    r = x.shape[1]
    low, high = x.min(axis=0, initial=-1.0), x.max(axis=0, initial=1.0)
    far = low - (high - low), high + (high - low)
    moving = np.arange(len(x))
    done = np.zeros(len(x), dtype=bool)
    for _ in range(STEPS):
        if len(moving) == 0 or field.work.over:
            break
        f, jacobian = field.jacobian(x[moving])
        step = -np.linalg.solve(jacobian + 1e-12 * np.eye(r), f[..., None])[..., 0]
        size = np.linalg.norm(step, axis=1)
        x[moving] += step * np.minimum(1.0, 0.5 / np.maximum(size, 1e-300))[:, None]
        done[moving[size < CONVERGED]] = True
        lost = ((x[moving] < far[0]) | (x[moving] > far[1])).any(axis=1)
        moving = moving[(size >= CONVERGED) & ~lost]
    return x, done


def zeros(field: FlowField, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct zeros (k, r) that Newton's method reaches from the starts, with their Jacobians (k, r, r)."""
    x, done = newton(field, starts)
    found = x[done]
    kept: list[int] = []
    for i in range(len(found)):
        if all(np.linalg.norm(found[i] - found[k]) > PRECISION for k in kept):
            kept.append(i)
    places = found[kept].reshape(-1, x.shape[1])
    return places, field.jacobian(places)[1] if kept else np.empty((0, x.shape[1], x.shape[1]))


def sinks(field: FlowField, starts: FloatArray) -> list[Sink]:
    """Stable zeros near the starts, each with its trapping region."""
    places, jacobians = zeros(field, starts)
    return [
        without(trapping(field, place, jacobian), places)
        for place, jacobian in zip(places, jacobians, strict=True)
        if np.linalg.eigvals(jacobian).real.max() < 0
    ]


def without(sink: Sink, places: FloatArray) -> Sink:
    """The sink with a region that ends before any of these other zeros: V cannot fall at rest, whatever the shells missed."""
    e = places - sink.place
    distance = np.sqrt(((e @ sink.lyapunov) * e).sum(axis=1))
    other = distance[np.linalg.norm(e, axis=1) > PRECISION]
    return replace(sink, radius=min(sink.radius, MARGIN * float(other.min(initial=np.inf))))


def trapping(field: FlowField, place: FloatArray, jacobian: FloatArray) -> Sink:
    """The largest tested ellipsoid of J^T P + P J = -I on which V falls: V' = 2 (x - place)^T P f(x) < 0."""
    p = scipy.linalg.solve_continuous_lyapunov(jacobian.T, -np.eye(len(place)))
    p = (p + p.T) / 2
    p /= np.linalg.eigvalsh(p)[-1]
    directions = np.random.default_rng(0).standard_normal((DIRECTIONS * len(place), len(place)))
    directions /= np.sqrt(((directions @ p) * directions).sum(axis=1))[:, None]
    shells = RADII[:, None, None] * directions
    f = field((place + shells).reshape(-1, len(place))).reshape(shells.shape)
    falls = (((shells @ p) * f).sum(axis=2) < 0).all(axis=1)
    count = len(RADII) if falls.all() else int(np.argmin(falls))
    inverse = np.linalg.inv(jacobian)
    error = inverse @ field.covariance(place[None])[0] @ inverse.T
    return Sink(place, jacobian, p, MARGIN * float(RADII[count - 1]) if count else 0.5 * float(RADII[0]), error)
