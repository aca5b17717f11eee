"""A particle dropped on the learned field: its way to rest, as `simulate` has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fields import Field
from ..fields.surface import to_rest

FRAMES = 300
LONGEST = 60.0
"""Seconds that are shown; who creeps in more slowly is watched no longer."""


def path(field: Field, start: tuple[float, float], goal: int | None = None) -> dict[str, Any]:
    """The answer to the page: the way of one particle, at even times.

    With a goal it follows the field towards that goal alone. Without, it follows the map; or where the field has memory,
    its motion, which carries its phase and keeps its goal.
    """
    at = np.array(start)
    if goal is not None:
        one, begin, box = field.toward(goal), at, field.box
    elif field.has_memory:
        motion = field.motion(at)
        one, begin, box, goal = motion.lifted, np.append(at, motion.phase), np.append(field.box, 1.0), motion.goal
    else:
        one, begin, box = field.map, at, field.box
    t, states, arrived = to_rest(one, begin[None], box, FRAMES, LONGEST)[0]
    x = states[:, :2]
    x[0] = at
    away = np.linalg.norm((field.attractors - x[-1]) / field.box, axis=1)
    q = int(away.argmin()) if goal is None else goal
    if np.abs((x - field.attractors[q]) / field.box).max() < 1e-9:  # it lies there already; a way has two ends
        t, x = t[[0, -1]], x[[0, -1]]
    if arrived:  # and does not stop a hair beside it
        x[-1] = field.attractors[q]
    return {"t": np.round(t, 4).tolist(), "x": np.round(x, 5).tolist(), "attractor": q, "arrived": arrived}
