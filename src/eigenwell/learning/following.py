"""Roll-outs from the starts of the demonstrations, compared with them: what `field.fit` holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._types import FloatArray
from ..fields import Field
from ..fields.fit import Fit, Followed
from ..metrics import cosine_error, dtw_rms
from .doubts import Motions
from .targets import travel_times

POINTS = 100
"""A path and its roll-out are compared at this many points each."""
PATIENCE = 5.0
"""A roll-out that has not arrived after this many times the demonstration's duration ends elsewhere."""
TOGETHER = 8
"""Demonstrations rolled out in one sweep, each at the times of all: more of them cost more states than they save steps."""

Shown = tuple[int, Any, Any]
"""Goal, positions and velocities of one demonstration."""


def followed(field: Field, motions: Motions, *, memory: bool) -> Fit:
    """How the field follows each demonstration: by its motion, or by the map."""
    extent = float(np.linalg.norm(np.ptp(np.concatenate([x for paths in motions for x, _ in paths]), axis=0)))
    rows: list[Followed] = []
    # A motion has a field for each goal, the map has one for all: those are rolled out together.
    each = [[(q, *path) for path in paths] for q, paths in enumerate(motions)]
    for mine in each if memory else [list(chain.from_iterable(each))]:
        for some in (mine[k : k + TOGETHER] for k in range(0, len(mine), TOGETHER)):
            for (q, x, v), asked, rolled in zip(some, *_rolled(field, memory, some), strict=True):
                name = f"demonstration {len(rows)} (to attractor {q})"
                rows.append(_one(field, np.asarray(x, float), np.asarray(v, float), asked, rolled, q, name, extent))
    return Fit(tuple(rows), "motion" if memory else "map")


def _rolled(field: Field, memory: bool, some: Sequence[Shown]) -> tuple[list[FloatArray], list[FloatArray]]:
    """Times asked of each demonstration, and its roll-out at these: all in one sweep over the times of all."""
    asked = []
    for _, x, v in some:
        end = travel_times(np.asarray(x, float), np.asarray(v, float))[-1]
        asked.append(np.append(np.linspace(0, end, POINTS), PATIENCE * end))
    times = np.unique(np.concatenate(asked))
    starts = np.array([x[0] for _, x, _ in some], dtype=np.float64)
    if memory:
        starts = np.column_stack([starts, np.ones(len(starts))])
        rolled = field.lifted[some[0][0]].simulate(starts, t=times)[:, :, :-1]
    else:
        rolled = field.map.simulate(starts, t=times)
    return asked, [one[np.searchsorted(times, mine)] for one, mine in zip(rolled, asked, strict=True)]


def _one(
    field: Field, x: FloatArray, v: FloatArray, asked: FloatArray, rolled: FloatArray, q: int, name: str, extent: float
) -> Followed:
    time = travel_times(x, v)
    shown = np.column_stack([np.interp(asked[:-1], time, column) for column in x.T])
    ends = np.linalg.norm(field.attractors - rolled[-1], axis=1)
    return Followed(
        name=name,
        goal=q,
        distance=dtw_rms(rolled[:-1], shown) / extent,
        end_error=float(np.linalg.norm(rolled[-2] - field.attractors[q])) / extent,
        cosine_error=cosine_error(field.predict(x), v),
        arrives=bool(ends.argmin() == q),
    )
