"""Strokes that go round and round: no goal can stand for them until somebody says where they should stop."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray

TURNS = 1.5
"""A stroke that turns more often than this about its own middle goes round: a loop on the way, an eight or a letter turns
less, or turns back."""
SHRUNK = 0.7
"""Its last turn over its first, at most, for a spiral that is on its way to rest: a hand's own turns differ by less."""
HOLE = 0.25
"""Of the ring: what comes nearer to the middle than this does not go round it."""


def goes_round(x: FloatArray) -> bool:
    """Whether a line (n, 2) turns round its own middle again and again without coming nearer to it."""
    last = np.asarray(x, dtype=np.float64)
    for _ in range(5):
        # The last turn, back from the end, in units of its own half axes; its middle is where the next look is from.
        low, high = last.min(axis=0), last.max(axis=0)
        around = (x - (low + high) / 2) / np.maximum((high - low) / 2, 1e-9)
        turned = _turned(around)
        last = x[int(np.argmax(np.abs(turned[-1] - turned) <= 1)) :]
    first = np.abs(turned - turned[0]) <= 1
    away = np.linalg.norm(around, axis=1)
    rings = away[first].mean(), away[-len(last) :].mean()
    return bool(abs(turned[-1] - turned[0]) > TURNS and rings[1] > SHRUNK * rings[0] and away.min() > HOLE * rings[1])


def _turned(around: FloatArray) -> FloatArray:
    """The angle of places about the origin, in turns, without jumps."""
    return np.asarray(np.unwrap(np.arctan2(around[:, 1], around[:, 0])) / (2 * np.pi))
