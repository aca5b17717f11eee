"""Roll-outs from the starts of the demonstrations, compared with them: what `field.fit` holds."""

from __future__ import annotations

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


def followed(field: Field, motions: Motions, *, memory: bool) -> Fit:
    """How the field follows each demonstration: by its motion, or by the map."""
    extent = float(np.linalg.norm(np.ptp(np.concatenate([x for paths in motions for x, _ in paths]), axis=0)))
    rows, number = [], 0
    for q, paths in enumerate(motions):
        for x, v in paths:
            x, v = np.asarray(x, dtype=np.float64), np.asarray(v, dtype=np.float64)
            rows.append(_one(field, memory, x, v, q, f"demonstration {number} (to attractor {q})", extent))
            number += 1
    return Fit(tuple(rows), "motion" if memory else "map")


def _one(field: Field, memory: bool, x: FloatArray, v: FloatArray, q: int, name: str, extent: float) -> Followed:
    time = travel_times(x, v)
    asked = np.append(np.linspace(0, time[-1], POINTS), PATIENCE * time[-1])
    if memory:
        start = np.append(x[0], 1.0)
        rolled = field.lifted[q].simulate(start, t=asked)[:, :-1]
    else:
        rolled = field.map.simulate(x[0], t=asked)
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
