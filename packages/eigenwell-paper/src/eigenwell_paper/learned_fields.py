"""Identity and learned field, quadratic and deformed potential, for every sub-dynamics of the drawn example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenwell import metrics
from eigenwell._types import FloatArray
from eigenwell.fields import StableField
from eigenwell.palette import Theme

from .comparison import LETTERS
from .drawing import bare, cross, heights, lines, sheet, streams, titled
from .drawn_fields import DrawnFields, put_to_the_test
from .results import Cell, Check, Figure, Outcome, Table
from .study import Study


def make(study: Study) -> Outcome:
    drawn = study.drawn_fields
    rows: list[tuple[Cell, ...]] = []
    better = True
    for q in range(drawn.found.n_attractors):
        index = np.concatenate(drawn.found.paths(q))
        x, v = drawn.demos.x[index], drawn.demos.v[index]
        place = drawn.found.attractors[q]
        errors = [
            metrics.cosine_error(f(x), v)
            for f in (lambda x, place=place: place - x, drawn.paper[q].predict, drawn.ours.toward(q).predict)
        ]
        rows.append((f"{LETTERS[q]} at ({place[0]:.3g}, {place[1]:.3g})", *errors))
        better &= errors[2] < errors[0]
    table = Table(
        "fields",
        "Cosine error on the demonstrations, 0 where directions agree. The paper shows these fields and prints no numbers.",
        ("sub-dynamics", "identity", "the paper's recipe, here", "eigenwell"),
        tuple(rows),
    )
    mean = np.array([row[1:] for row in rows], dtype=float).mean(axis=0)
    count = drawn.found.n_attractors
    alone = [drawn.ours.toward(q) for q in range(count)]
    certificate = drawn.ours.certificate(samples=study.effort.rollouts, rates=(study.effort.rate,), seed=study.seed)
    ours, paper = (
        [
            put_to_the_test(f, np.concatenate(drawn.paths(q)), study.effort.rollouts, study.seed)
            for q, f in enumerate(fields)
        ]
        for fields in (alone, drawn.paper)
    )
    fit = drawn.ours.fit
    assert fit is not None
    caption = (
        "For every sub-dynamics (rows): the linear field of the identity, the learned field, the quadratic potential and the "
        "potential deformed by the learned map"
    )
    return Outcome(
        verdict="As printed, the learned map bends the linear field and its potential and keeps it stable everywhere. The "
        f"cosine error on the strokes is {mean[0]:.2f} for the identity, {mean[1]:.2f} with the paper's recipe, which learns "
        f"positions alone, and {mean[2]:.2f} with eigenwell's, which learns velocities too. Of roll-outs from three times the "
        f"box {100 * min(c.arrived for c in paper):.1f} % arrive in time with the paper's recipe, "
        f"{100 * min(c.arrived for c in ours):.1f} % with eigenwell's. The whole field, all sub-dynamics in one: {fit}. "
        + " ".join(certificate.failures()),
        tables=(table,),
        figures=(
            Figure("learned-fields", f"{caption}; eigenwell's recipe.", _draw(drawn, alone)),
            Figure(
                "learned-fields-paper", f"{caption}; the paper's recipe, positions alone.", _draw(drawn, drawn.paper)
            ),
        ),
        checks=(
            Check("eigenwell's field of all attractors is stable, by certificate", certificate.holds),
            Check("eigenwell's field of every attractor arrives", all(c.arrived == 1.0 and c.falling for c in ours)),
            Check("V falls along every roll-out with the paper's recipe too", all(c.falling for c in paper)),
            Check("eigenwell's fields follow the strokes more closely than the identity", better),
        ),
        settings={"steps": study.effort.steps, "epochs_of_the_paper's_recipe": study.effort.epochs},
    )


def _draw(drawn: DrawnFields, learned: Sequence[StableField]) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        count = drawn.found.n_attractors
        figure, axes = sheet(count, 4, height=2.7)
        for q in range(count):
            paths = drawn.paths(q)
            x, place, field = np.concatenate(paths), drawn.found.attractors[q], learned[q]

            def linear(states: FloatArray, place: FloatArray = place) -> FloatArray:
                return place - states

            def quadratic(states: FloatArray, place: FloatArray = place) -> FloatArray:
                return np.asarray(0.5 * ((states - place) ** 2).sum(axis=1))

            streams(axes[q, 0], theme, linear, x)
            streams(axes[q, 1], theme, field.predict, x)
            heights(axes[q, 2], theme, quadratic, x)
            heights(axes[q, 3], theme, field.potential, x)
            names = ("identity", "learned field", "quadratic potential", "deformed potential")
            for ax, name in zip(axes[q], names, strict=True):
                lines(ax, paths, theme.colour(q))
                cross(ax, theme, place)
                bare(ax)
                titled(ax, f"{LETTERS[q]}: {name}")
        return figure

    return draw
