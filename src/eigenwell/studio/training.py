"""From strokes to a field: trained as by `learn`, drawn as particles follow it, put to the test."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import DataError
from ..fields import Field, StableField
from ..fields.surface import borders, motions_from
from ..graphs import Graph
from ..learning import Bundle, Recipe, learn, learn_bundles, learn_motions
from ..learning.lifting import lifted_bundle
from . import messages

if TYPE_CHECKING:
    from .finding import DrawnResult

STEPS = 600
"""Of training. Half of the usual: somebody is waiting."""
RECIPE = Recipe(steps=STEPS)
CERTIFIED, RATES = 20, (100.0,)
"""Starts put to the test for the certificate, at the rate of a usual controller: a second, or a few."""
LONGER_SIDE = 90
"""Nodes of the grid along the longer side of the view."""
MARGIN, FARTHEST_VIEW = 0.1, 3.0
"""The grid covers the data and a tenth around them, and the view up to three times the data's box."""

MOTIONS, MOTION_NODES = 70, 90
"""Ways that are drawn of a field with memory, and points on each."""
GOLDEN = np.array([0.7548776662466927, 0.5698402909980532])
"""Multiples of these fill a square evenly, without a pattern (the plastic number's, as the golden ratio's fill a line)."""
DIGITS = 4

Tell = Callable[[int, int, float], None]
View = tuple[float, float, float, float] | None


class Cancelled(Exception):
    """Newer strokes came, or the page is gone."""


def warm_up() -> None:
    """Compile training programs ahead of the first use: seconds that nobody then waits for.

    Shapes depend on the number of attractors. One and two are the first that people draw, and motions that cross come third;
    the programs of others are kept on disk once they were compiled.
    """
    t = np.linspace(0.0, 1.0, 40)[:, None]
    corners = ((1, 1), (1, -1), (-1, 1))
    goals = np.array([[0.0, 0.0], [3.0, 0.0]])
    lines = [
        [(place + (1 - t) * np.array(c), np.hstack([-c[0] + 0 * t, -c[1] + 0 * t])) for c in corners] for place in goals
    ]

    def stop(step: int, steps: int, losses: FloatArray) -> None:
        raise Cancelled

    for count in (2, 1):
        with suppress(Cancelled):
            learn_motions(lines[:count], goals[:count], recipe=RECIPE, progress=stop)
    with suppress(Cancelled):
        lifted = lifted_bundle(Bundle.of(lines[0], goals[0]), RECIPE.lift)
        learn_bundles([[lifted]], recipe=RECIPE.for_motions(), progress=stop)


def train(result: DrawnResult, tell: Tell) -> Field:
    """What `eigenwell.learn` does, in half the steps. `tell` may raise to stop it."""
    found = result.found
    if isinstance(found.graph, Graph):
        raise DataError(
            "Expected paths to learn from, got a kernel graph, which has none. Switch the graph to paths first."
        )
    tell(0, STEPS, float("nan"))

    def report(step: int, steps: int, losses: FloatArray) -> None:
        tell(step, steps, float(losses.mean()))

    return learn(found, recipe=RECIPE, progress=report)


def drawn_field(field: Field, view: View) -> dict[str, Any]:
    """What the page draws, all of it what particles do.

    grid      the map, where it is all there is to follow
    layers    where strokes cross: the field towards each goal alone
    motions   and beside them the motions themselves, from places all over the strokes
    """
    low, high = _box(field.samples, view)
    if not field.has_memory:
        return {"grid": _grid(field, field.map, low, high, LONGER_SIDE)}
    side = round(LONGER_SIDE * min(1.0, (4 / field.n_attractors) ** 0.5))
    return {
        "grid": None,
        "layers": [_grid(field, field.toward(q), low, high, side, only=q) for q in range(field.n_attractors)],
        "motions": _motions(field),
    }


def _grid(
    field: Field, one: StableField, low: FloatArray, high: FloatArray, longer: int, only: int | None = None
) -> dict[str, Any]:
    """Velocities, potential, basins and what is far from the data over a grid; rows of equal y, y ascending.

    Saddles and separatrices lie between the basins; the field of one goal, `only`, has none.
    """
    sides = high - low
    nx, ny = (max(2, round(longer * float(side / sides.max()))) for side in sides)
    gx, gy = np.linspace(low[0], high[0], nx), np.linspace(low[1], high[1], ny)
    states = np.column_stack([a.ravel() for a in np.meshgrid(gx, gy)])
    # Far outside numbers may overflow, and JSON has no word for that.
    v, potential = np.nan_to_num(one.predict(states)), np.nan_to_num(one.potential(states))
    basin = one.basin(states) if only is None else np.full(len(states), only)
    return {
        "box": [round(float(c), DIGITS) for c in (*low, *high)],
        "nx": nx,
        "ny": ny,
        "vx": np.round(v[:, 0], DIGITS).tolist(),
        "vy": np.round(v[:, 1], DIGITS).tolist(),
        "potential": _significant(potential).tolist(),
        "basin": basin.tolist(),
        "far": field.far(states).astype(int).tolist(),
        "saddles": [] if only is not None else np.round(one.saddles, DIGITS).tolist(),
        "separatrices": [] if only is not None else [_thinned(curve) for curve in borders(one, low, high)],
    }


def _thinned(curve: FloatArray) -> list[list[float]]:
    """A border for the screen: nodes that a straight line would miss by less than it is wide are left out."""
    kept = [0]
    for i in range(1, len(curve) - 1):
        a, b, c = curve[kept[-1]], curve[i], curve[i + 1]
        along = c - a
        off = abs(along[0] * (b - a)[1] - along[1] * (b - a)[0]) / max(float(np.linalg.norm(along)), 1e-12)
        if off > 1e-3 or np.linalg.norm(b - a) > 0.05:
            kept.append(i)
    rows: list[list[float]] = np.round(curve[[*kept, len(curve) - 1]], DIGITS).tolist()
    return rows


def _motions(field: Field) -> list[dict[str, Any]]:
    """Ways of particles that are dropped near the strokes, evenly; and the strokes' own starts."""
    low, high = field.samples.min(axis=0), field.samples.max(axis=0)
    places = low + (high - low) * (np.arange(1, 8 * MOTIONS)[:, None] * GOLDEN % 1.0)
    places = places[~field.far(places)][:MOTIONS]
    starts = field.samples[field.phases == 1.0][:MOTIONS]
    begun = [field.motion(place) for place in (*starts, *places)]
    lifted = np.array([[*place, motion.phase] for place, motion in zip((*starts, *places), begun, strict=True)])
    goals = np.array([motion.goal for motion in begun])
    return [
        {"q": one.goal, "t": np.round(one.time, 3).tolist(), "x": np.round(one.states[:, :2], 4).tolist()}
        for one in motions_from(field, goals, lifted, MOTION_NODES)
    ]


def _box(samples: FloatArray, view: View) -> tuple[FloatArray, FloatArray]:
    low, high = samples.min(axis=0), samples.max(axis=0)
    sides = np.maximum(high - low, 0.1)
    centre = (low + high) / 2
    around = (centre - (0.5 + MARGIN) * sides, centre + (0.5 + MARGIN) * sides)
    if view is None:
        return around
    reach = FARTHEST_VIEW / 2 * sides.max()
    corner, opposite = np.array(view[:2]), np.array(view[2:])
    return (
        np.minimum(around[0], np.maximum(corner, centre - reach)),
        np.maximum(around[1], np.minimum(opposite, centre + reach)),
    )


def _significant(values: FloatArray, digits: int = 4) -> FloatArray:
    size = np.maximum(np.abs(values), 1e-12)
    place = 10.0 ** (digits - 1 - np.floor(np.log10(size)))
    return np.asarray(np.round(values * place) / place)


def learned(result: DrawnResult, view: View, tell: Tell) -> tuple[dict[str, Any], Field]:
    """The answer to the page, and the field itself."""
    began = time.perf_counter()
    done = (0, STEPS)

    def counted(step: int, steps: int, loss: float) -> None:
        nonlocal done
        done = (step, steps)
        tell(step, steps, loss)

    field = train(result, counted)
    certificate = field.certificate(samples=CERTIFIED, rates=RATES)
    tell(*done, float("nan"))  # a chance to stop
    names = _strokes_of(result)
    answer = {
        **drawn_field(field, view),
        "memory": messages.REMEMBERS if field.has_memory else None,
        "certificate": {"holds": certificate.holds, "words": messages.certified(certificate)},
        "fit": messages.followed(field, names) | {"worst": names[_worst(field)][0] if names else None},
        # That strokes cross is no doubt where particles remember their way.
        "warnings": messages.doubts([c for c in field.warnings if not (field.has_memory and c.name == "crossing")]),
        "seconds": round(time.perf_counter() - began, 2),
    }
    return answer, field


def _worst(field: Field) -> int:
    """Number of the worst demonstration, in the order in which they were learned."""
    assert field.fit is not None
    return field.fit.demonstrations.index(field.fit.worst)


def _strokes_of(result: DrawnResult) -> list[tuple[str, int]]:
    """Id and number, from 1, of the stroke that each demonstration was drawn as, in the order in which they are learned."""
    found, drawn = result.found, result.drawing
    assert drawn.demos.offsets is not None
    owner = np.searchsorted(drawn.demos.offsets, np.arange(drawn.demos.n_samples), side="right") - 1
    paths = [path for q in range(found.n_attractors) for path in found.paths(q)]
    strokes = [int(np.bincount(owner[path]).argmax()) for path in paths]
    return [(drawn.ids[k], k + 1) for k in strokes]
