"""Example 3: the Duffing oscillator over 40 s, and what becomes of it over the printed 5 s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from eigenwell import systems
from eigenwell.demonstrations import Demonstrations
from eigenwell.identification import Identification, identify
from eigenwell.palette import Theme
from eigenwell.wording import plural

from .comparison import Example, compare
from .drawing import cross, points, sheet, titled
from .results import Check, Figure, Outcome, Table
from .study import Study


def make(study: Study) -> Outcome:
    system = systems.duffing
    outcome = compare(Example("duffing", system.sample(study.seed), system.frequency, system.field), study)
    short, whole = systems.duffing_short.sample(study.seed), system.sample(study.seed)
    found = identify(short.shuffled(study.seed))
    left = np.exp(-0.15 * np.array([systems.duffing_short.duration, system.duration]))
    told = [c for c in found.warnings if c.name == "ends-not-at-rest"]
    table = Table(
        "durations",
        "How much of the motion is left at the end, by the linear part, exp(-0.15 t), and by the speed of the trajectories.",
        ("duration", "samples", "left by the linear part %", "end speed / mean speed %", "attractors found", "warned"),
        (
            (
                "printed: 5 s at 200 Hz",
                short.n_samples,
                float(100 * left[0]),
                _pace(short),
                found.n_attractors,
                _yes(told),
            ),
            ("here: 40 s at 25 Hz", whole.n_samples, float(100 * left[1]), _pace(whole), 2, "no"),
        ),
    )
    figure = Figure(
        "duffing-5s",
        "The printed 5 s: no trajectory has arrived (dots are their ends). The crosses are the true attractors.",
        _unfinished(short, found),
    )
    note = (
        "The printed 5 s cannot end at rest, so the tables above use 40 s, the same number of samples. On the 5 s set "
        f"eigenwell reports {plural(found.n_attractors, 'attractor')} with confidence {found.confidence:.2f}, and says: "
        + " ".join(str(c) for c in told)
    )
    return replace(
        outcome,
        tables=(*outcome.tables, table),
        figures=(*outcome.figures, figure),
        checks=(*outcome.checks, Check("on the printed 5 s the user is warned that motions did not end", bool(told))),
        notes=(*outcome.notes, note),
    )


def _yes(told: list[Any]) -> str:
    return "yes" if told else "no"


def _pace(demos: Demonstrations) -> float:
    """Mean speed of the last samples over the mean of all, in percent."""
    last = [np.linalg.norm(v[-1]) for _, v in demos.trajectories()]
    return float(100 * np.mean(last) / np.linalg.norm(demos.v, axis=1).mean())


def _unfinished(demos: Demonstrations, found: Identification) -> Callable[[Theme], Any]:
    def draw(theme: Theme) -> Any:
        assert demos.truth is not None
        figure, axes = sheet(1, 2, width=8.0)
        points(axes[0, 0], theme, demos.x, demos.truth.labels)
        cross(axes[0, 0], theme, demos.truth.attractors)
        titled(axes[0, 0], "where the trajectories belong", "x₁", "x₂")
        ends = np.array([x[-1] for x, _ in demos.trajectories()])
        for x, _ in demos.trajectories():
            axes[0, 1].plot(*x.T, color=theme.faint, lw=0.8)
        axes[0, 1].scatter(*ends.T, s=40, color=theme.colour(3), zorder=4)
        cross(axes[0, 1], theme, demos.truth.attractors)
        titled(axes[0, 1], f"ends after 5 s: {found.n_attractors} places", "x₁")
        return figure

    return draw
