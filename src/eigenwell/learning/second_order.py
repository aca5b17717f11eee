"""Learning of second order: from recordings of q alone to a passive field of (q, qdot). One least-squares fit, no JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._types import FloatArray
from ..demonstrations import DataError
from ..fields import SecondOrderField
from ..fields.second_order import fit_second_order
from ..velocities import estimate_velocities

if TYPE_CHECKING:
    from ..identification import Identification


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
