"""Drawings to begin with: known systems, scripted pens, and what is hard about hands; and how data come into view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .. import datasets, systems
from .._types import FloatArray, IntArray
from ..demonstrations import DataError, Demonstrations
from .protocol import SAMPLES
from .protocol import STROKES as MOST

STROKES = 3
"""For each goal of a known system: what is learned from them in the studio's few steps is followed."""
SECONDS = 6.0
"""Of the longest stroke; the pendulum takes a minute in truth, and nobody waits that long for a particle."""
EVENTS = 120
"""Of a scripted stroke."""

Paths = tuple[list[FloatArray], list[FloatArray]]


PICTURED, POINTS = 6, 14
"""Strokes in the small picture of a preset, and points of each: as many as can be told apart in it."""


def listed() -> list[dict[str, str]]:
    """Names, titles and groups, as far as the data are installed."""
    return [{"name": name, "title": one.title, "group": one.group} for name, one in _known().items()]


def names() -> list[str]:
    """Those that are written here come first."""
    return list(_known())


@lru_cache(maxsize=64)
def picture(name: str) -> list[list[int]]:
    """Some strokes of a preset as x, y, x, y in a square of 100, y downwards."""
    xs = _known()[name].make()[0]
    every = np.concatenate(xs)
    low, side = every.min(axis=0), float(np.ptp(every, axis=0).max())
    aside = (side - np.ptp(every, axis=0)) / 2
    chosen = [xs[k] for k in np.unique(np.linspace(0, len(xs) - 1, PICTURED).astype(int))]
    lines = []
    for x in chosen:
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        even = np.linspace(0.0, way[-1], POINTS)
        places = np.column_stack([np.interp(even, way, c) for c in x.T])
        shares = (places - low + aside) / side * [100, -100] + [0, 100]
        lines.append(np.rint(shares).astype(int).ravel().tolist())
    return lines


@lru_cache(maxsize=64)
def strokes_of(name: str) -> dict[str, Any]:
    """The strokes of a preset, in view; ValueError where there is none of that name."""
    known = _known()
    if name not in known:
        raise ValueError(f"Expected the name of a preset, got {name!r}. There are {', '.join(known)}.")
    fitted = fit_to_view(*known[name].make(), longest=SECONDS, widest=1.0)
    return {"name": known[name].title, "strokes": fitted["strokes"]}


@dataclass(frozen=True)
class Preset:
    title: str
    group: str
    make: Callable[[], Paths]


@lru_cache(maxsize=1)
def _known() -> dict[str, Preset]:
    known = {
        **{name: Preset(title, "Drawn", partial(written, name)) for name, (title, _) in WRITTEN.items()},
        "crossing": Preset("Two bundles that cross", "Drawn", crossing),
        "corner": Preset("A hard corner", "Drawn", corner),
        # A seed whose bundles do not run against themselves: what is learned from them can be followed.
        "pen": Preset(
            "Pen strokes, three goals", "Drawn", lambda: _paths(datasets.pen_strokes(42, n_attractors=3, n_strokes=4))
        ),
        # Not Duffing's oscillator: played in seconds it turns faster than a controller's hundred steps a second can follow.
        "heart": Preset("Heart", "Known systems", partial(_system, systems.heart)),
        "pendulum": Preset("Pendulum", "Known systems", partial(_system, systems.pendulum)),
        "four_wells": Preset("Four wells", "Known systems", partial(_system, systems.four_wells, 3)),
    }
    try:
        shapes = datasets.lasa_shapes()
    except DataError:
        shapes = []
    return known | {f"lasa-{shape}": Preset(shape, "LASA handwriting", partial(_lasa, shape)) for shape in shapes}


def _system(system: systems.System, longer: float = 1) -> Paths:
    """A few motions to each goal; `longer` than usual where they would else be cut off before they rest."""
    return _paths(system.sample(seed=0, n_per_attractor=STROKES, duration=longer * system.duration))


def _lasa(shape: str) -> Paths:
    return _paths(datasets.lasa(shape))


def _paths(demos: Demonstrations) -> Paths:
    assert demos.offsets is not None and demos.time is not None
    bounds = list(zip(demos.offsets[:-1], demos.offsets[1:], strict=True))
    return [demos.x[a:b] for a, b in bounds], [demos.time[a:b] for a, b in bounds]


WRITTEN = {
    "letter": (
        "Letter R",
        "-0.42 -0.78, -0.44 -0.30, -0.45 0.20, -0.40 0.66, -0.05 0.80, 0.32 0.66, 0.36 0.32, 0.06 0.08, "
        "-0.30 0.02, 0.00 -0.28, 0.26 -0.56, 0.50 -0.76",
    ),
    "ess": (
        "Letter S",
        "0.46 0.62, 0.20 0.82, -0.20 0.80, -0.42 0.52, -0.28 0.22, 0.08 0.02, 0.38 -0.22, 0.40 -0.56, "
        "0.10 -0.80, -0.30 -0.78, -0.50 -0.54",
    ),
    "eight": (
        "An eight",
        "0.49 0.62, 0.00 0.84, -0.49 0.60, -0.35 0.26, 0.08 0.02, 0.51 -0.28, 0.49 -0.64, 0.00 -0.84, "
        "-0.51 -0.62, -0.49 -0.26, -0.05 0.04, 0.41 0.30",
    ),
    "loop": (
        "A loop on the way",
        "-0.95 -0.30, -0.55 -0.44, -0.08 -0.46, 0.34 -0.22, 0.48 0.18, 0.28 0.56, -0.10 0.66, -0.42 0.44, "
        "-0.46 0.06, -0.22 -0.28, 0.24 -0.52, 0.95 -0.66",
    ),
}
"""One line each, by its knots: title, and where the pen passes."""
REPEATS, SCATTER = 3, 0.025
"""How often a hand draws such a line, and by how much it is off at a knot, in world units; at the goal a tenth of it."""


def written(name: str) -> Paths:
    """A line as a hand draws it a few times: never quite the same, and to the same place."""
    rng = np.random.default_rng(5)
    knots = np.array([place.split() for place in WRITTEN[name][1].split(", ")], dtype=np.float64)
    share = np.append(np.ones(len(knots) - 1), 0.1)[:, None]
    return _drawn([knots + SCATTER * share * rng.normal(size=knots.shape) for _ in range(REPEATS)])


def crossing() -> Paths:
    """Two bundles from the left to the right that change sides: an X, one goal at each right end."""
    starts = np.linspace(-0.15, 0.15, 4)
    up = [np.array([[-0.8, -0.55 + s], [-0.2, -0.2 + 0.6 * s], [0.3, 0.25 + 0.3 * s], [0.8, 0.55]]) for s in starts]
    return _drawn([*up, *(knots * [1, -1] for knots in up)])


def corner() -> Paths:
    """Strokes that turn by a right angle on the spot, as in a printed L, from the left and mirrored from the right."""
    rows = np.linspace(-0.15, 0.15, 4)
    left = [np.array([[-0.65 + r, 0.75], [-0.65 + r, -0.45 + r], [0.0, -0.45 + r / 8]]) for r in rows]
    # Hands do not end at the same pixel twice: those from the right somewhat higher, each by another bit.
    right = [knots * [-1, 1] + [[0, 0], [0, 0], [0.004 * k, 0.006]] for k, knots in enumerate(left)]
    return _drawn([*left, *right], sharp=True)


def _drawn(lines: Sequence[FloatArray], sharp: bool = False) -> Paths:
    """A hand along knots in two seconds: at rest at both ends, and nearly so in a sharp corner."""
    from scipy.interpolate import CubicSpline

    share = np.linspace(0.0, 1.0, EVENTS)
    smooth = share**3 * (10 - 15 * share + 6 * share**2)
    xs = []
    for knots in lines:
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
        if not sharp:
            xs.append(np.asarray(CubicSpline(length / length[-1], knots)(smooth)))
            continue
        # One reach per leg, the clock shared out by their lengths.
        leg = np.minimum(np.searchsorted(length / length[-1], share, side="right") - 1, len(knots) - 2)
        a, b = length[leg] / length[-1], length[leg + 1] / length[-1]
        part = (share - a) / (b - a)
        part = part**2 * (3 - 2 * part)
        xs.append(knots[leg] + part[:, None] * (knots[leg + 1] - knots[leg]))
    return xs, [2.0 * share] * len(xs)


# --- in view ------------------------------------------------------------------------------------------

SIDE = 0.9
"""Data that do not fit are brought into [-0.9, 0.9], a little inside the canvas."""
WIDEST, SMALLEST = 2.5, 0.2
"""A wide screen shows this far to the side; data smaller than a fifth of the canvas would be a speck."""
FLATTEST = 4.0
"""Beyond this ratio of sides the axes are scaled one by one: a flat picture shows nothing."""
KEPT = 200
"""Kept of every trajectory: as many as a hand makes in two or three seconds."""
LONGEST = 20.0
"""Seconds. Slower motions are sped up, so that one can watch a particle arrive."""

Lines = Sequence[FloatArray]


def fit_to_view(xs: Lines, ts: Lines, longest: float = LONGEST, widest: float = WIDEST) -> dict[str, Any]:
    """Strokes for the page from trajectories and their times, with a note on what was changed.

    `longest` is the most seconds a stroke may take, `widest` how far to the side the data may reach as they are.
    """
    notes = []
    if len(xs) > MOST:
        notes.append(f"the first {MOST} of {len(xs)} trajectories were kept")
        xs, ts = xs[:MOST], ts[:MOST]
    count = min(KEPT, SAMPLES // len(xs))
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
