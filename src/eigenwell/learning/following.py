"""Roll-outs from the starts of the demonstrations, compared with them: what `field.fit` holds."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import Field, StableField
from ..fields.fit import Fit, Followed
from ..metrics import cosine_error, dtw_rms
from .doubts import Motions
from .targets import travel_times

POINTS = 100
"""A path and its roll-out are compared at this many points each."""
PATIENCE = 5.0
"""A roll-out that has not arrived after this many times the demonstration's duration ends elsewhere."""
RESTING = 1e-6
"""A step of less than this share of the way is none."""
TOGETHER = 8
"""Demonstrations rolled out in one sweep, each at the times of all: more of them cost more states than they save steps."""


def followed(field: Field, motions: Motions, *, memory: bool) -> Fit:
    """How the field follows each demonstration: by its motion, or by the map."""
    extent = float(np.linalg.norm(np.ptp(np.concatenate([x for paths in motions for x, _ in paths]), axis=0)))
    rows: list[Followed] = []
    # A motion has a field for each goal, the map has one for all: those are rolled out together.
    each = [[(q, np.asarray(x, float), np.asarray(v, float)) for x, v in paths] for q, paths in enumerate(motions)]
    for mine in each if memory else [list(chain.from_iterable(each))]:
        for some in (mine[k : k + TOGETHER] for k in range(0, len(mine), TOGETHER)):
            starts = np.array([x[0] for _, x, _ in some])
            if memory:
                starts = np.column_stack([starts, np.ones(len(starts))])
            stable = field.lifted[some[0][0]] if memory else field.map
            ways = rolled(stable, starts, [travel_times(x, v)[-1] for _, x, v in some])
            for (q, x, v), asked, way in zip(some, *ways, strict=True):
                name = f"demonstration {len(rows)} (to attractor {q})"
                rows.append(_one(field, x, v, asked, way[:, : field.dimension], q, name, extent))
    return Fit(tuple(rows), "motion" if memory else "map")


def rolled(field: StableField, starts: FloatArray, ends: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    """Times for each start, and its roll-out at these: all in one sweep over the times of all.

    As fine until its demonstration ended as a path needs, POINTS, and on until at rest.
    """
    asked = [end * np.concatenate([np.linspace(0, 1, POINTS), np.linspace(1, PATIENCE, POINTS)[1:]]) for end in ends]
    times = np.unique(np.concatenate(asked))
    states = field.simulate(starts, t=times)
    return asked, [one[np.searchsorted(times, mine)] for one, mine in zip(states, asked, strict=True)]


def _one(
    field: Field, x: FloatArray, v: FloatArray, asked: FloatArray, way: FloatArray, q: int, name: str, extent: float
) -> Followed:
    time = travel_times(x, v)
    ends = np.linalg.norm(field.attractors - way[-1], axis=1)
    mine, mine_at = even(way, asked, POINTS)
    shown, shown_at = even(x, time, POINTS)
    return Followed(
        name=name,
        goal=q,
        distance=dtw_rms(mine, shown) / extent,
        end_error=float(np.linalg.norm(way[POINTS - 1] - field.attractors[q])) / extent,
        cosine_error=cosine_error(field.predict(x), v),
        arrives=bool(ends.argmin() == q),
        timing=float(np.abs(mine_at - shown_at).mean() / time[-1]),
    )


def even(x: FloatArray, time: FloatArray, count: int, share: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Places at even lengths along a path, or a share of it, and when it was there."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    # A path at rest has arrived: its clock is that of its arrival.
    moved = np.concatenate([[True], np.diff(length) > RESTING * length[-1]])
    length, x, time = length[moved], x[moved], time[moved]
    at = np.linspace(0, share * length[-1], count)
    return np.column_stack([np.interp(at, length, column) for column in x.T]), np.interp(at, length, time)
