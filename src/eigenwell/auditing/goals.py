"""Where episodes go: the goals of a set, and which episode reaches which."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import DataError, Demonstrations
from ..identification import identify
from ..paths import Odd
from ..results import Identification
from ..wording import SURE, plural
from .episodes import Episode

MOST = 100
"""Samples of an episode that goals are found from: where it comes to rest is told by its end, and not by how densely it is."""
NEAR = 2.0
"""An end belongs to a goal when it is no farther from it than twice the farthest end that was given to it and rests."""


@dataclass(frozen=True, eq=False)
class Goals:
    """Places (Q, d), the goal of every episode (n,), -1 for none, the distance of its end to the nearest goal of others, and
    what identification found odd, by episode."""

    places: FloatArray
    of: IntArray
    distance: FloatArray
    confidence: float
    cyclic: bool
    doubt: str = ""
    odd: tuple[tuple[int, Odd], ...] = ()

    @classmethod
    def none(cls, ends: FloatArray, doubt: str = "") -> Goals:
        """No goals of episodes that end at `ends` (n, d), and why."""
        n, d = ends.shape
        return cls(np.empty((0, d)), np.full(n, -1), np.zeros(n), 0.0, False, doubt)


def find(items: tuple[Episode, ...], healthy: BoolArray, ends: FloatArray, at_rest: BoolArray) -> Goals:
    """Goals of the healthy episodes, by `identify`; a place that one episode alone reaches is not a goal of others."""
    chosen = [e for e, good in zip(items, healthy, strict=True) if good]
    try:
        found = identify(_thinned(chosen))
    except DataError as error:
        return Goals.none(ends, f"No goals were found: {error}")
    if any(kind != "point" for kind in found.kinds):
        return replace(
            Goals.none(ends), places=found.attractors, confidence=found.confidence, cyclic=True, doubt=_doubt(found)
        )
    offsets = found.demos.offsets
    assert offsets is not None
    label = np.full(len(items), -1)
    label[healthy] = found.labels[offsets[1:] - 1]
    among = np.flatnonzero(healthy)
    # How far an end is from the others of its goal is measured here, for all episodes alike.
    odd = tuple((int(among[o.number]), o) for o in found.odd if not o.what.startswith("ends well away"))
    return replace(grouped(label, found.attractors, ends, at_rest, found.confidence), odd=odd, doubt=_doubt(found))


def _doubt(found: Identification) -> str:
    """How sure the goals are, where they are not."""
    if not found.confidence < SURE:
        return ""
    others = ", or ".join(f"{a.n_attractors} ({a.confidence:.2f})" for a in found.alternatives[:2])
    return (
        f"Where the episodes end is in doubt: at {plural(found.n_attractors, 'place')} with confidence {found.confidence:.2f}"
        f"{f', or {others}' if others else ''}; what is said of goals is no surer. Record more episodes for each."
    )


def grouped(label: IntArray, places: FloatArray, ends: FloatArray, at_rest: BoolArray, confidence: float) -> Goals:
    """Goals that at least two episodes reach, and how far every end is from the nearest that others reach."""
    kept = []
    for q in range(len(places)):
        mine = np.flatnonzero((label == q) & at_rest)
        mine = mine if len(mine) else np.flatnonzero(label == q)
        if len(mine):
            # The median of the ends: an end that was given to this goal and is not there does not move it.
            kept.append((q, np.median(ends[mine], axis=0), len(mine)))
    several = [item for item in kept if item[2] > 1] or kept
    centres = np.array([centre for _, centre, _ in several]).reshape(-1, ends.shape[1])
    away = np.linalg.norm(ends[:, None] - centres[None], axis=2)
    nearest = np.argmin(away, axis=1)
    order = np.lexsort(centres.T[::-1])
    return Goals(centres[order], np.argsort(order)[nearest], away.min(axis=1), confidence, False)


def _thinned(items: list[Episode]) -> Demonstrations:
    rows = [np.unique(np.linspace(0, len(e) - 1, min(len(e), MOST)).round().astype(np.intp)) for e in items]
    xs = [e.x[r] for e, r in zip(items, rows, strict=True)]
    ts = [e.t[r] for e, r in zip(items, rows, strict=True)]
    return Demonstrations.from_trajectories(xs, time=ts)
