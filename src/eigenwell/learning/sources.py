"""What a field is learned from: the identification asked for, and the paths of its sub-dynamics, found or carried along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import runge_kutta
from .._types import FloatArray, IntArray
from ..demonstrations import DataError, Demonstrations
from ..fields import SecondOrderField
from ..fields.second_order import fit_second_order
from ..flow.field import spread_out
from ..velocities import estimate_velocities
from .doubts import Motions
from .targets import FINE

if TYPE_CHECKING:
    from ..identification import Identification

PATHS = 10
"""A path for every tenth part of the samples of an attractor, the farthest first: together they cover its basin."""
STEPS = 600
STEP = FINE / 2
"""Of the extent, at the root mean square speed: a path has some hundred samples."""


def identified(data: Any, v: Any, found: Any, dt: float | None, time: Any) -> Identification:
    """The identification that was given, or that of the data that were; both are checked to belong together."""
    from ..identification import Identification, identify

    # Results in files have their samples read into memory.
    data, v, found = (one.in_memory() if hasattr(one, "in_memory") else one for one in (data, v, found))
    if isinstance(v, Identification):
        v, found = None, v
    if isinstance(data, Identification):
        if v is not None or found is not None or dt is not None or time is not None:
            raise DataError(
                "Expected an identification alone, got it with v, found, dt or time. It holds its data: learn(found)."
            )
        return data
    demos = Demonstrations.of(data, v, dt=dt, time=time)
    if found is None:
        return identify(demos)
    if not isinstance(found, Identification):
        raise DataError(
            f"Expected found as an Identification, got {type(found).__name__}. Pass what identify returned."
        )
    same = found.demos is demos or (np.array_equal(found.demos.x, demos.x) and np.array_equal(found.demos.v, demos.v))
    if not same:
        raise DataError(
            f"Expected the {demos.n_samples} samples that were identified, in the same order, got other ones (found has "
            f"{found.demos.n_samples}). Call learn(found), which takes its own data."
        )
    return found


def check_inside(x: FloatArray, low: Any, high: Any) -> None:
    """Walls of a domain have the data between them."""
    for name, wall, sign in (("low", low, 1.0), ("high", high, -1.0)):
        if wall is None:
            continue
        beyond = sign * (x - np.array([np.nan if one is None else one for one in np.ravel(wall)], dtype=float)) <= 0
        if beyond.any():
            row = int(beyond.any(axis=1).argmax())
            raise DataError(
                f"Expected all samples within {name}={wall!r}, got sample {row} at {x[row].tolist()} on or beyond it. Move the "
                "wall, or leave that sample out."
            )


def motions_of(found: Identification, points: list[int]) -> Motions:
    """The paths of some sub-dynamics: those found, where they move; or, of snapshots, carried along the estimated field."""
    if found.kind == "snapshots":
        return carried_motions(found, points)
    demos = found.demos
    return [[(demos.x[path], demos.v[path]) for path in _moving(found, q)] for q in points]


def _moving(found: Identification, q: int) -> list[IntArray]:
    """Paths without the rests at their ends, which say where the attractor is but not how to get there."""
    moving = found.demos.moving
    return [path if moving[path].sum() < 3 else path[moving[path]] for path in found.paths(q)]


def embeddings_of(found: Identification, points: list[int]) -> list[list[FloatArray]]:
    """The embedding of every path of some sub-dynamics."""
    rows = []
    for q in points:
        embedding = found.embeddings[q]
        at = np.zeros((found.demos.n_samples, embedding.shape[1]))
        at[found.members(q)] = embedding
        rows.append([at[path] for path in _moving(found, q)])
    return rows


# --- snapshots: samples that lie on no path, carried along the field that was estimated from them --------


def carried_motions(found: Identification, which: list[int]) -> Motions:
    """For each attractor paths (x, v) of the estimated field from samples that end there."""
    assert found.flow is not None
    x, v = found.demos.x, found.demos.v
    extent = float(np.ptp(x, axis=0).max())
    dt = STEP * extent / max(float(np.sqrt((v**2).sum(1).mean())), np.finfo(float).tiny)
    motions = []
    for q in which:
        mine = np.flatnonzero(found.labels == q)
        starts = x[mine[spread_out(x[mine], PATHS)]]
        motions.append(_carried(found, starts, found.attractors[q], dt, 1e-3 * extent))
    return motions


def _carried(
    found: Identification, starts: FloatArray, attractor: FloatArray, dt: float, close: float
) -> list[tuple[FloatArray, FloatArray]]:
    """Solutions from the starts until they are close to the attractor; those that do not come close are left out."""
    assert found.flow is not None
    states = [starts]
    for _ in range(STEPS):
        if (np.linalg.norm(states[-1] - attractor, axis=1) < close).all():
            break
        states.append(runge_kutta.step(found.flow, states[-1], dt))
    path = np.stack(states, axis=1)
    near = np.linalg.norm(path - attractor, axis=2)
    paths = []
    for one, distance in zip(path, near, strict=True):
        arrived = np.flatnonzero(distance < close)
        stop = int(arrived[0]) + 1 if len(arrived) else len(one)
        if stop > 2 and distance[stop - 1] < 0.5 * distance[0]:
            paths.append((one[:stop], found.flow(one[:stop])))
    return paths


# --- recordings of q alone: a passive field of (q, qdot), one least-squares fit, no JAX -------------------


def learn_second_order(found: Identification, points: list[int]) -> SecondOrderField:
    """The field of the sub-dynamics `points` of recordings; qddot is estimated as the velocity is, from what was smoothed."""
    demos = found.demos
    if demos.time is None or not demos.ordered:
        raise DataError(
            "Expected recordings with time for order=2, which needs accelerations, got "
            f"{'trajectories without' if demos.ordered else 'unordered samples'}. Pass dt=... or time=[...]."
        )
    if demos.chart is not None:
        raise DataError(
            "Expected plain coordinates for order=2, got poses. Give the positions alone, or leave order out."
        )
    motions: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    longest = 0.0
    for q in points:
        for path in found.paths(q):
            t, v = demos.time[path], demos.v[path]
            motions.append((demos.x[path], v, estimate_velocities(v, t)))
            longest = max(longest, float(np.ptp(t)))
    return fit_second_order(motions, found.attractors[points], longest)
