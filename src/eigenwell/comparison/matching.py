"""Which attractor of one condition is which of another.

Two are the same where each lies in the other's basin, or where they are nearer to each other than half the way to the
next; among these the pairs with the least sum of squared distances, which a shift of all together does not change. What
has no partner is new or gone; where one lies between two on opposite sides, it has split, or the two have merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..results import Result

# Half the way to the next attractor, and as much more as an estimate of either may be off.
HALF_WAY = 0.55
# Samples next to a place that say in whose basin it lies.
NEXT_TO = 5
# Samples asked; a basin is seen with fewer.
ASKED = 20_000


@dataclass(frozen=True, eq=False)
class Basins:
    """Attractors of one condition and whose basin a place lies in, in coordinates of unit spread."""

    places: FloatArray
    labels: IntArray
    tree: cKDTree = field(repr=False)

    @classmethod
    def of(cls, found: Result, scale: FloatArray) -> Basins:
        x, labels = found.in_memory().demos.x, found.in_memory().labels
        step = max(1, -(-len(x) // ASKED))
        places = np.reshape(found.attractors, (-1, len(scale))) / scale
        return cls(places, np.asarray(labels)[::step], cKDTree(x[::step] / scale))

    def fate(self, places: FloatArray) -> IntArray:
        """The attractor that most samples next to each place go to, -1 for none."""
        if len(places) == 0:
            return np.empty(0, dtype=np.intp)
        near = self.tree.query(places, k=min(NEXT_TO, self.tree.n))[1].reshape(len(places), -1)
        votes = [np.bincount(self.labels[row] + 1, minlength=len(self.places) + 1) for row in near]
        return np.array([int(v.argmax()) - 1 for v in votes], dtype=np.intp)


@dataclass(frozen=True)
class Seen:
    """A state as it was last seen: attractor `number` of a condition."""

    basins: Basins
    number: int

    @property
    def place(self) -> FloatArray:
        return np.asarray(self.basins.places[self.number])


def match(states: Sequence[Seen], new: Basins) -> IntArray:
    """For every attractor of `new` the state it is, -1 for none."""
    q = len(new.places)
    owner = np.full(q, -1, dtype=np.intp)
    if not states or q == 0:
        return owner
    before = np.array([s.place for s in states])
    gap = np.linalg.norm(before[:, None] - new.places, axis=2)
    here = new.fate(before)
    # Whether each lies in the basin of the state, where that was last seen.
    there = np.array([s.basins.fate(new.places) == s.number for s in states])
    mutual = (here[:, None] == np.arange(q)) & there
    near = gap < HALF_WAY * np.maximum(_next(before)[:, None], _next(new.places))
    # A point that becomes a cycle about it, or shrinks from one, is one state: kinds do not matter.
    allowed = mutual | near
    worst = 1.0 + float((gap**2).max()) * max(len(states), q)
    rows, columns = linear_sum_assignment(np.where(allowed, gap**2, worst))
    kept = allowed[rows, columns]
    owner[columns[kept]] = rows[kept]
    return owner


def _next(places: FloatArray) -> FloatArray:
    """The distance of each to the next; zero where there is only one: its basin decides."""
    if len(places) < 2:
        return np.zeros(len(places))
    gap = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(len(places), np.inf))
    return np.asarray(gap.min(axis=1))


def between(place: FloatArray, one: FloatArray, other: FloatArray) -> bool:
    """Whether a place lies between two: they are on opposite sides of it, neither more than four times as far as the other."""
    a, b = one - place, other - place
    near, far = sorted((float(np.linalg.norm(a)), float(np.linalg.norm(b))))
    return bool(a @ b < 0 and far <= 4 * near)
