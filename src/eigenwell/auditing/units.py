"""Columns in another unit than in the other episodes."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray, IntArray
from .looked import Looked
from .tails import Judged, judged, spread

_PAIRS = (
    (1000.0, "mm", "m"), (100.0, "cm", "m"), (10.0, "mm", "cm"), (180 / np.pi, "degrees", "radians"), (25.4, "mm", "inches"),
)  # fmt: skip
FACTORS = {
    factor: f"{one} where the others are in {other}"
    for f, a, b in _PAIRS
    for factor, one, other in ((f, a, b), (1 / f, b, a))
}
"""Factors between units that people mix up, and what a column is in that is so much larger than the others'."""
MATTERS = float(np.log(5.0))
"""Half of the smallest factor between units, 10, on the scale of factors: nearer to 10 than to 1."""


def units(looked: Looked) -> IntArray:
    """Which episodes are in other units: far larger or smaller than the others, and like them after a known factor."""
    low, high = (np.array([f(e.x, axis=0) for e in looked.items]) for f in (np.min, np.max))
    extent = high - low
    usual = np.median(extent, axis=0)
    moving = np.flatnonzero(usual > 0)
    if not len(moving):
        return np.empty(0, dtype=np.intp)
    tiny = np.finfo(float).tiny
    whole = np.log(np.maximum(np.linalg.norm(extent[:, moving] / usual[moving], axis=1), tiny))
    single = np.log(np.maximum(extent[:, moving] / usual[moving], tiny))
    box = np.quantile(low, 0.25, axis=0), np.quantile(high, 0.75, axis=0)
    bad: list[int] = []

    def accuse(k: int, columns: IntArray, what: str, found: Judged) -> None:
        factor = _factor(low[k, columns], high[k, columns], box[0][columns], box[1][columns], usual[columns])
        if factor is not None and k not in bad:
            looked.accuse(k, "units", found, what=what, factor=FACTORS[factor], by=factor)
            bad.append(k)

    for sign in (1.0, -1.0):
        centre = np.median(whole)
        found = judged(sign * (whole - centre), MATTERS, spread)
        for k in np.flatnonzero(found.bad):
            accuse(int(k), moving, "All columns look", found)
    for i, j in enumerate(moving):
        found = judged(single[:, i] - np.median(single[:, i]), MATTERS, spread)
        for k in np.flatnonzero(found.bad):
            accuse(int(k), np.array([j]), f"Column {j} looks", found)
    return np.unique(np.array(bad, dtype=np.intp))


def _factor(
    low: FloatArray, high: FloatArray, box_low: FloatArray, box_high: FloatArray, usual: FloatArray
) -> float | None:
    """The factor that brings [low, high] into the box of the others with the usual extent; None where none does."""
    width = box_high - box_low
    best: tuple[float, float] | None = None
    for factor in FACTORS:
        a, b = low / factor, high / factor
        inside = (a >= box_low - width / 2).all() and (b <= box_high + width / 2).all()
        away = abs(float(np.log(max(np.linalg.norm((b - a) / usual) / np.sqrt(len(usual)), 1e-300))))
        if inside and away < np.log(3.0) and (best is None or away < best[0]):
            best = (away, factor)
    return None if best is None else best[1]
