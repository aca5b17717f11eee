"""Roll-outs until they have arrived, and a field as pictures want it: over a grid, with its borders and its motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from . import curves
from .queries import SAMPLES

if TYPE_CHECKING:
    from .field import StableField

ARRIVED = 1e-2
"""Within this share of the data's box of an attractor a solution, a loop or a motion has arrived."""
NODES, DOUBLINGS = 65, 24
"""Of a part of a roll-out in which it is looked for; and how often that is doubled."""
BORDER = 4000
"""Of one border: it may wind round all attractors many times before it leaves the picture."""


def arrivals(
    field: StableField, starts: FloatArray, box: FloatArray, longest: float = np.inf
) -> tuple[FloatArray, BoolArray]:
    """When the roll-outs of some starts (m, d) have arrived, lengths in boxes, and whether they have; a start near a border may
    creep, and is left alone after many times what a crossing takes."""
    limit = field.speed_limit
    if not np.isfinite(limit):
        limit = max(float(np.linalg.norm(field.predict(starts), axis=1).max()), np.finfo(float).tiny)
    needed = np.full(len(starts), np.inf)
    x, elapsed, duration = starts.copy(), 0.0, 2 * float(np.linalg.norm(box)) / limit
    for _ in range(DOUBLINGS):
        missing = np.flatnonzero(~np.isfinite(needed))
        if len(missing) == 0 or elapsed >= longest:
            break
        times = np.linspace(0.0, duration, NODES)
        path = field.simulate(x[missing], t=times)
        there = np.linalg.norm((path[:, :, None] - field.attractors) / box, axis=3).min(2) < ARRIVED
        needed[missing] = np.where(there.any(1), elapsed + times[there.argmax(1)], np.inf)
        # As long again as all so far.
        x[missing], elapsed = path[:, -1], elapsed + duration
        duration = elapsed
    return np.where(np.isfinite(needed), needed, min(elapsed, longest)), np.isfinite(needed)


class Surface(NamedTuple):
    """A planar field over a grid, row by row: rows of equal y."""

    velocity: FloatArray
    """(len(gy), len(gx), 2)."""
    height: FloatArray
    """sqrt(V) as a share of its largest, (len(gy), len(gx)): V is half a squared distance, its root makes even rings."""
    basin: IntArray
    """Attractor in which each node ends, (len(gy), len(gx)); -1 on a border, up to rounding."""


class Rolled(NamedTuple):
    """A motion from the start of a demonstration to its goal."""

    goal: int
    time: FloatArray
    states: FloatArray
    """(n, d + 1): positions, and the phase from 1 to 0 in the last column."""


def over_grid(field: Any, gx: FloatArray, gy: FloatArray) -> Surface:
    """The map of a field, or any planar field with one potential, over a grid."""
    states = np.column_stack([a.ravel() for a in np.meshgrid(gx, gy)])
    shape = (len(gy), len(gx))
    height = np.sqrt(field.potential(states))
    height /= max(float(height.max()), np.finfo(np.float64).tiny)
    return Surface(field.predict(states).reshape(*shape, 2), height.reshape(shape), field.basin(states).reshape(shape))


def borders(field: Any, low: FloatArray, high: FloatArray) -> list[FloatArray]:
    """The separatrices of the map inside a picture: smooth curves (n, 2), cut where they leave it."""
    one = getattr(field, "map", field)
    if one.n_attractors == 1:
        return []
    size = float(np.linalg.norm((high - low) / one.scale))
    inside = []
    for latent in curves.separatrices(one.wells, size, BORDER):
        curve = one._from_latent(latent)
        # A node beyond the edge on either side is kept, so that the line reaches it.
        seen = ((curve >= low) & (curve <= high)).all(axis=1)
        seen = seen | np.append(seen[1:], False) | np.append(False, seen[:-1])
        cuts = np.flatnonzero(np.diff(seen.astype(np.int8))) + 1
        inside += [part for part, kept in zip(np.split(curve, cuts), np.split(seen, cuts), strict=True) if kept[0]]
    return inside


def drawn_motions(field: Any, most: int = 100) -> list[Rolled]:
    """The motions of a field with memory from the starts of its demonstrations, some of them where there are very many."""
    starts = np.flatnonzero(field.phases == 1.0)
    starts = starts[:: max(1, -(-len(starts) // most))]
    box, rolled = np.append(field.box, 1.0), dict[int, Rolled]()
    for q in np.unique(field.labels[starts]):
        mine = starts[field.labels[starts] == q]
        ways = to_rest(field.lifted[q], np.column_stack([field.samples[mine], field.phases[mine]]), box)
        rolled |= {int(k): Rolled(int(q), time, states) for k, (time, states, _) in zip(mine, ways, strict=True)}
    return [rolled[int(k)] for k in starts]


def to_rest(
    field: StableField, starts: FloatArray, box: FloatArray, points: int = SAMPLES, longest: float = np.inf
) -> list[tuple[FloatArray, FloatArray, bool]]:
    """Times (n,), states (n, d) and whether it arrives, for the roll-out of each start until it has, or its time is up."""
    rolled = []
    for start, end, arrived in zip(starts, *arrivals(field, starts, box, longest), strict=True):
        times = np.linspace(0.0, end, points)
        rolled.append((times, field.simulate(start, t=times), bool(arrived)))
    return rolled
