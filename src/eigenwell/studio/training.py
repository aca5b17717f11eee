"""From strokes to a field: trained one attractor at a time, drawn on a grid, put to the test."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import DataError
from ..fields import Certificate, MultiAttractorField, StableField
from ..learning import Bundle, Recipe, doubts, learn_bundles
from . import messages

if TYPE_CHECKING:
    from .finding import DrawnResult

STEPS = 600
"""Of training. Half of the usual: somebody is waiting."""
RECIPE = Recipe(steps=STEPS)
CERTIFIED = 200
"""States per attractor that are rolled out for the certificate, as in the report."""
CERTIFYING = 4.0
"""Seconds after which no further attractor is put to the test."""
LONGER_SIDE = 90
"""Nodes of the grid along the longer side of the view."""
MARGIN, FARTHEST_VIEW = 0.1, 3.0
"""The grid covers the data and a tenth around them, and the view up to three times the data's box."""

Tell = Callable[[int, int, float], None]
View = tuple[float, float, float, float] | None


class Cancelled(Exception):
    """Newer strokes came, or the page is gone."""


def warm_up() -> None:
    """Compile the training program ahead of the first use: four seconds that nobody then waits for.

    Shapes depend on the number of models alone, and the studio trains them one by one, so that one program fits all.
    """
    t = np.linspace(0.0, 1.0, 40)[:, None]
    lines = [
        (np.hstack([(1 - t) * a, (1 - t) * b]), np.hstack([-a + 0 * t, -b + 0 * t]))
        for a, b in ((1, 1), (1, -1), (-1, 1))
    ]
    bundle = Bundle.of(lines, np.zeros(2))

    def stop(step: int, steps: int, losses: FloatArray) -> None:
        raise Cancelled

    with suppress(Cancelled):
        learn_bundles([bundle], recipe=RECIPE, callback=stop)


def train(result: DrawnResult, tell: Tell) -> MultiAttractorField:
    """What `eigenwell.learn` does, but one attractor after the other.

    Trained side by side, every number of attractors is a program of its own and takes 4 to 8 s to compile; one by one,
    the program of `warm_up` serves, and progress is reported in finer steps. `tell` may raise to stop it.
    """
    found, demos = result.found, result.demos
    if found.grouping is None:
        raise DataError(
            "Expected paths to learn from, got a kernel graph, which has none. Switch the graph to paths first."
        )
    fields: list[StableField] = []
    samples, labels, cautions = [], [], list(found.warnings)
    whole = STEPS * found.n_attractors
    tell(0, whole, float("nan"))
    for q in range(found.n_attractors):
        paths = found.paths(q)
        bundle = Bundle.of([(demos.x[path], demos.v[path]) for path in paths], found.attractors[q])
        cautions += doubts(bundle, name=f"Sub-dynamics {q}")

        def report(step: int, steps: int, losses: FloatArray, before: int = q * STEPS) -> None:
            tell(before + step, whole, float(losses.mean()))

        one, failed = learn_bundles([bundle], recipe=RECIPE, callback=report)
        fields += one
        cautions += failed
        nodes = np.concatenate(paths)
        samples.append(demos.x[nodes])
        labels.append(np.full(len(nodes), q, dtype=np.intp))
    return MultiAttractorField(
        tuple(fields), np.concatenate(samples), np.concatenate(labels), warnings=tuple(dict.fromkeys(cautions))
    )


def drawn_field(field: MultiAttractorField, view: View) -> dict[str, Any]:
    """Velocities, potential, basins and what is far from the data over a grid; rows of equal y, y ascending."""
    low, high = _box(field.samples, view)
    sides = high - low
    nx, ny = (max(2, round(LONGER_SIDE * float(side / sides.max()))) for side in sides)
    gx, gy = np.linspace(low[0], high[0], nx), np.linspace(low[1], high[1], ny)
    states = np.column_stack([a.ravel() for a in np.meshgrid(gx, gy)])
    # Far outside numbers may overflow, and JSON has no word for that.
    v, potential = np.nan_to_num(field.predict(states)), np.nan_to_num(field.potential(states))
    digits = 4
    return {
        "box": [round(float(c), digits) for c in (*low, *high)],
        "nx": nx,
        "ny": ny,
        "vx": np.round(v[:, 0], digits).tolist(),
        "vy": np.round(v[:, 1], digits).tolist(),
        "potential": _significant(potential).tolist(),
        "basin": field.basin(states).tolist(),
        "far": field.far(states).astype(int).tolist(),
    }


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


def learned(result: DrawnResult, view: View, tell: Tell) -> tuple[dict[str, Any], MultiAttractorField]:
    """The answer to the page, and the field itself."""
    began = time.perf_counter()
    field = train(result, tell)
    certificates = _certificates(field, tell)
    answer = {
        "grid": drawn_field(field, view),
        "certificate": {
            "holds": all(c.holds for c in certificates),
            "words": messages.certified(certificates, field.n_attractors),
        },
        "warnings": messages.doubts(field.warnings),
        "seconds": round(time.perf_counter() - began, 2),
    }
    return answer, field


def _certificates(field: MultiAttractorField, tell: Tell) -> list[Certificate]:
    """One per attractor, as many as there is time for: usually a fifth of a second each, but a field learned from scribble
    winds its way to rest for very long."""
    certificates: list[Certificate] = []
    until = time.perf_counter() + CERTIFYING
    whole = STEPS * field.n_attractors
    for q, one in enumerate(field.fields):
        if certificates and time.perf_counter() > until:
            break
        certificates.append(one.certificate(samples=CERTIFIED, seed=q))
        tell(whole, whole, float("nan"))  # a chance to stop
    return certificates
