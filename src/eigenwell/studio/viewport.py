"""Data from files and presets on the canvas: thinned, shifted and scaled into view, with a note on what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from .protocol import SAMPLES, STROKES

SIDE = 0.9
"""Data that do not fit are brought into [-0.9, 0.9], a little inside the canvas."""
WIDEST, SMALLEST = 2.5, 0.2
"""A wide screen shows this far to the side; data smaller than a fifth of the canvas would be a speck."""
FLATTEST = 4.0
"""Beyond this ratio of sides the axes are scaled one by one: a flat picture shows nothing."""
STROKE_SAMPLES = 200
"""Kept of every trajectory: as many as a hand makes in two or three seconds."""
LONGEST = 20.0
"""Seconds. Slower motions are sped up, so that one can watch a particle arrive."""


Lines = Sequence[FloatArray]


def fit_to_view(xs: Lines, ts: Lines, longest: float = LONGEST, widest: float = WIDEST) -> dict[str, Any]:
    """Strokes for the page from trajectories and their times, with a note on what was changed.

    `longest` is the most seconds a stroke may take, `widest` how far to the side the data may reach as they are.
    """
    notes = []
    if len(xs) > STROKES:
        notes.append(f"the first {STROKES} of {len(xs)} trajectories were kept")
        xs, ts = xs[:STROKES], ts[:STROKES]
    count = min(STROKE_SAMPLES, SAMPLES // len(xs))
    if max(map(len, xs)) > count:
        notes.append(f"trajectories were thinned to {count} samples")
    rows = [_thinned(x, t, count) for x, t in zip(xs, ts, strict=True)]
    xs, ts = [x[r] for x, r in zip(xs, rows, strict=True)], [t[r] - t[0] for t, r in zip(ts, rows, strict=True)]
    middle, scale = _scaling(np.concatenate(xs), widest)
    if scale[0] != scale[1]:
        notes.append(f"axes were scaled by {scale[0]:.3g} and {scale[1]:.3g} to fit")
    elif scale[0] != 1 or middle.any():
        notes.append(f"positions were moved and scaled by {scale[0]:.3g} to fit")
    pace = max(1.0, max(float(t[-1]) for t in ts) / longest)
    if pace > 1:
        notes.append(f"time runs {pace:.3g} times faster")
    strokes = [
        {"id": f"p{k}", "t": np.round(t / pace, 4).tolist(), "x": np.round((x - middle) * scale, 5).tolist()}
        for k, (x, t) in enumerate(zip(xs, ts, strict=True), start=1)
    ]
    note = "; ".join(notes)
    return {"strokes": strokes, "scale": {"note": f"{note[:1].upper()}{note[1:]}." if note else ""}}


def _thinned(x: FloatArray, t: FloatArray, count: int) -> IntArray:
    """At most `count` samples, half of them spread over the time and half over the way: slow ends and fast turns alike."""
    if len(x) <= count:
        return np.arange(len(x))
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    share = (t - t[0]) / max(float(t[-1] - t[0]), 1e-300) + way / max(float(way[-1]), 1e-300)
    rows = np.searchsorted(share, np.linspace(0.0, share[-1], count))
    return np.unique(np.append(np.minimum(rows, len(x) - 1)[:-1], len(x) - 1))


def _scaling(x: FloatArray, widest: float) -> tuple[FloatArray, FloatArray]:
    """Middle and factors such that (x - middle) * factors is in view; 0 and 1 where it already is."""
    low, high = x.min(axis=0), x.max(axis=0)
    sides = high - low
    reach = np.sort(np.maximum(np.abs(low), np.abs(high)))
    if reach[0] <= 1 and reach[1] <= widest and sides.max() >= SMALLEST:
        return np.zeros(2), np.ones(2)
    if sides.max() < 1e-9 * max(1.0, float(reach[1])):  # a point, to all digits: it has no size to fit
        return (low + high) / 2, np.ones(2)
    sides = np.maximum(sides, 1e-3 * sides.max())
    factors = 2 * SIDE / sides
    if sides.max() <= FLATTEST * sides.min():
        factors = np.full(2, factors.min())
    return (low + high) / 2, factors
