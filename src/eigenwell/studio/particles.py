"""A particle dropped on the learned field: its way to rest, in one stroke of arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import LatentPath, MultiAttractorField, StableField
from ..fields.certificates import ARRIVED

NODES = 800
"""Of the quadrature along the way; a winding motion makes a dozen turns, sixty nodes each."""
REST = 1e-9
"""Latent radius, in boxes, at which the way ends; psi stretches by less than 10^5."""
FRAMES = 300
LONGEST = 60.0
"""Seconds that are shown; who creeps in more slowly is watched no longer."""


def to_rest(field: StableField, start: FloatArray) -> tuple[FloatArray, FloatArray, bool]:
    """Times (n,), states (n, 2) and whether the particle arrives.

    In the latent space the way is known (`fields.simulation`); with h = rho + epsilon ln rho its timing is
    t = integral dh / (m s)(x(h)), so that all states are computed at once and the times are one cumulative sum. The stepper
    of `simulate` does the same a step at a time, which takes a hundred milliseconds; this takes two.
    """
    path = LatentPath.through(field.model, field.to_unit(start[None]))
    if path.start[0] <= REST:
        return np.zeros(1), start[None], True
    ends = path.clock(np.array([path.start[0], REST]))
    h = np.linspace(ends[0], ends[1], NODES)
    rho = path.radius(h)
    rho[0] = path.start[0]
    many = path.repeated(NODES)
    unit = many.at(rho)
    slowness = 1.0 / many.speed(h)
    t = np.concatenate([[0.0], np.cumsum(-np.diff(h) * (slowness[1:] + slowness[:-1]) / 2)]) / field.pace
    x = field.from_unit(unit)
    x[0] = start
    far = np.flatnonzero(np.linalg.norm(unit - field.model.attractor, axis=1) >= ARRIVED)
    last = int(far[-1]) + 2 if len(far) else 2
    return t[:last], x[:last], last <= NODES


def path(field: MultiAttractorField, start: tuple[float, float]) -> dict[str, Any]:
    """The answer to the page: the way of one particle, at even times."""
    at = np.array(start)
    q = int(field.basin(at))
    t, x, arrived = to_rest(field.fields[q], at)
    arrived = arrived and bool(t[-1] <= LONGEST)
    even = np.linspace(
        0.0, min(float(t[-1]), LONGEST), max(2, min(FRAMES, len(t)))
    )  # two, also for one that lies there
    states = np.column_stack([np.interp(even, t, x[:, i]) for i in (0, 1)])
    if arrived:  # and does not stop a hair beside it
        states[-1] = field.fields[q].attractor
    return {
        "t": np.round(even, 4).tolist(),
        "x": np.round(states, 5).tolist(),
        "attractor": q,
        "arrived": arrived,
    }
