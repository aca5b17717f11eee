"""From strokes to a field: trained as by `learn`, shown while it grows, put to the test afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import DataError
from ..fields import Field
from ..graphs import Graph
from ..learning import Bundle, Growing, Recipe, UnitBox, learn, learn_bundles
from ..learning.crossing import crossings
from ..learning.sources import motions_of
from ..learning.targets import lifted_bundle
from ..report import numbers
from ..results import Identification
from . import messages
from .messages import doubts

if TYPE_CHECKING:
    from .identify import DrawnResult

STEPS = int(os.environ.get("EIGENWELL_STUDIO_STEPS", "300"))
"""Of training. Half of the usual: somebody is waiting, and strokes are followed as well as with twice as many, to
within 0.2 % of the drawing's size. EIGENWELL_STUDIO_STEPS is for machines on which that is still too long."""
RECIPE = Recipe(steps=STEPS, batch=120)
"""Three fifths of the usual samples in a step: a fifth less time in all, and drawings are followed as well."""
WRITTEN = ", ".join(f"{name}={getattr(RECIPE, name)}" for name in ("steps", "batch"))
"""The same, for the Python lines."""
PAUSE = 0.25
"""Seconds between two pictures of a field that grows: more often nobody sees, and each costs the page a few frames."""

SAME = 0.05
"""Of the strokes' extent: goals nearer than this are the same ones."""

Tell = Callable[[int, int, float], None]
Grow = Callable[[dict[str, Any]], None]


class Cancelled(Exception):
    """Newer strokes came, or the page is gone."""


def warm_up(part: int) -> int | None:
    """Compile one training program ahead of its first use: seconds that nobody then waits for. Gives the next part.

    A program belongs to a number of attractors and to a kind of data. First what people draw first: strokes to one goal, two
    goals of one smooth field or not, motions that cross; the programs of others are kept on disk once they were compiled.
    """
    t = np.linspace(0.0, 1.0, 40)[:, None]
    goals = np.array([[0.0, 0.0], [3.0, 0.0]])
    corners = ((1, 1), (1, -1), (-1, 1))
    motions = [
        [(goal + (1 - t) * np.array(c), np.hstack([-c[0] + 0 * t, -c[1] + 0 * t])) for c in corners] for goal in goals
    ]
    frame = UnitBox.around(motions)
    two = [Bundle.of(paths, goal, frame=frame) for paths, goal in zip(motions, goals, strict=True)]
    alone = [Bundle.of(paths, goal) for paths, goal in zip(motions, goals, strict=True)]
    programs: list[tuple[list[Any], Recipe]] = [
        ([alone[:1]], RECIPE.for_motions()),
        ([two], RECIPE.for_field()),
        ([two], RECIPE.for_motions(several=True)),
        ([lifted_bundle(bundle, RECIPE.lift) for bundle in alone], RECIPE.for_motions()),
        (alone, RECIPE.for_motions()),
        ([alone[:1]], RECIPE.for_field()),
    ]

    def stop(step: int, steps: int, losses: FloatArray) -> None:
        raise Cancelled

    groups, recipe = programs[part]
    with suppress(Cancelled):
        learn_bundles(groups, recipe=recipe, report=stop)
    return part + 1 if part + 1 < len(programs) else None


def learned(result: DrawnResult, tell: Tell, grow: Grow) -> tuple[dict[str, Any], Field]:
    """Learn as `eigenwell.learn` does, in a quarter of the steps; `tell` may raise to stop it.

    `grow` gets the field after each tenth of its training. Gives the answer to the page, and the field itself.
    """
    found = result.found
    if isinstance(found.graph, Graph):
        raise DataError(
            "Expected paths to learn from, got a kernel graph, which has none. Switch the graph to paths first."
        )
    shown, motions, loss = -np.inf, False, float("nan")
    unseen: Growing | None = None
    tell(0, STEPS, loss)

    def report(stage: str, step: int, steps: int) -> None:
        if stage == "learning":
            tell(step, steps, loss)
            # The last one is what will be learned, some tenths of a second before it is known how well it follows.
            if step == steps and unseen is not None:
                grow({"field": numbers.of_growing(unseen)})

    def watch(part: Growing) -> None:
        nonlocal shown, motions, loss, unseen
        loss = part.loss
        motions |= part.name == "lifted"
        # Where motions are followed, the map that is learned after them is not what particles do.
        if part.name != ("lifted" if motions else "map"):
            return
        unseen = part
        if time.perf_counter() - shown > PAUSE:
            shown, unseen = time.perf_counter(), None
            grow({"field": numbers.of_growing(part)})

    # Where no ways cross the map says it all, in half the time, with a valley to look at; what it cannot follow, motions can.
    memory = _cross(found)
    field = learn(found, recipe=RECIPE, memory=memory, progress=report, watch=watch)
    if not memory and field.fit is not None and not field.fit.good:
        field = learn(found, recipe=RECIPE, memory=True, progress=report, watch=watch)
    return told(result, field), field


def _cross(found: Identification) -> bool:
    """Whether ways cross themselves or each other, so that only motions can follow them."""
    if found.kind != "trajectories":
        return False
    motions = motions_of(found, list(range(found.n_attractors)))
    frame = UnitBox.around(motions)
    return bool(crossings([Bundle.of(m, a, frame=frame) for m, a in zip(motions, found.attractors, strict=True)]))


def told(result: DrawnResult, field: Field) -> dict[str, Any]:
    """The answer to the page: the field in numbers, how well it follows the strokes, its doubts."""
    # The goals of the drawing, up to what thinned samples tell of them.
    goals = result.found.attractors
    if field.attractors.shape != goals.shape or (np.abs(field.attractors - goals) >= SAME * field.box.max()).any():
        raise DataError("Expected the field of these strokes, got that of others. Learn it again.")
    names = _strokes_of(result)
    scattered = result.drawing.scattered
    fit = None
    if field.fit is not None and (scattered or len(names) == len(field.fit.demonstrations)):
        worst = None if scattered else names[field.fit.demonstrations.index(field.fit.worst)][0]
        fit = messages.followed(field, () if scattered else names) | {"worst": worst}
    # That strokes cross is no doubt where particles remember their way; and how well it follows is said in a box of its own.
    known = {"poor-fit" if fit else "", "crossing" if field.by_motion else ""}
    about = [c for c in field.warnings if c.name not in known]
    return {
        "field": numbers.of_field(field),
        "memory": messages.remembering(field),
        "fit": fit,
        "warnings": doubts(about, early=not messages.telling(result.found)),
    }


def _strokes_of(result: DrawnResult) -> list[tuple[str, int]]:
    """Id and number, from 1, of the stroke that each demonstration was drawn as, in the order in which they are learned."""
    found, drawn = result.found, result.drawing
    owner = np.searchsorted(drawn.offsets, result.rows, side="right") - 1
    paths = [path for q in range(found.n_attractors) for path in found.paths(q)]
    strokes = [int(np.bincount(owner[path]).argmax()) for path in paths]
    return [(drawn.ids[k], k + 1) for k in strokes]
