"""What a field is learned from: the identification asked for, and the paths of its sub-dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import DataError, Demonstrations
from .doubts import Motions

if TYPE_CHECKING:
    from ..identification import Identification


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
        from .snapshots import carried_motions

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
