"""Example 4: hand-drawn demonstrations, our own pen strokes or the user's file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenwell.demonstrations import Demonstrations
from eigenwell.identification import identify

from .comparison import Example, compare
from .results import Outcome
from .rivals import attractor_errors
from .study import Study, with_ends


def make(study: Study) -> Outcome:
    demos = study.drawn
    frequency = None
    if demos.time is not None and demos.offsets is not None:
        steps = np.diff(demos.time)[np.setdiff1d(np.arange(demos.n_samples - 1), demos.offsets[1:-1] - 1)]
        frequency = 1 / float(np.median(steps))
    outcome = compare(Example("drawn", with_ends(demos), frequency, in_order=True), study)
    source = (
        "Our own scripted pen strokes (eigenwell.datasets.pen_strokes), because the paper's drawing may not be passed on; "
        "with --drawing FILE the same is done for a file of yours. The printed values belong to another drawing."
        if study.drawing is None
        else f"The drawing in {study.drawing.name}. Which trajectories belong together is read off their ends."
    )
    truth = (
        "As in the paper the real attractor is taken to be the mean of the last points; where eigenwell's best estimate is "
        "that mean, its error is zero by definition, and the column of intersections says more."
    )
    if study.drawing is None:
        miss = attractor_errors(demos, identify(demos).attractors)
        truth += (
            f" The goals that the strokes were scripted for are missed by {100 * miss.max():.1f} %, because the strokes "
            "themselves end beside them."
        )
    notes = [source, truth, *outcome.notes]
    if not all(check.holds for check in outcome.checks):
        notes.append(_why(demos))
    return replace(outcome, notes=tuple(notes))


def _why(demos: Demonstrations) -> str:
    """What makes the order of shuffled samples hard to recover: evidence, from the trajectories as recorded."""
    assert demos.offsets is not None and demos.time is not None
    still, missed, wait = [], [], []
    for (x, v), a, b in zip(demos.trajectories(), demos.offsets[:-1], demos.offsets[1:], strict=True):
        dt, step = np.diff(demos.time[a:b]), np.diff(x, axis=0)
        expected = dt[:, None] * (v[1:] + v[:-1]) / 2
        size = np.linalg.norm(expected, axis=1)
        still.append(np.linalg.norm(step, axis=1) == 0)
        missed.append((np.linalg.norm(step - expected, axis=1) / np.maximum(size, np.finfo(float).tiny))[size > 0])
        wait.append(dt / np.median(dt))
    return (
        "From shuffled samples the order is to be recovered from positions and velocities alone. In this drawing "
        f"{100 * np.concatenate(still).mean():.0f} % of the steps have no length (positions are rounded), the others miss the "
        f"trapezoid rule by {100 * np.median(np.concatenate(missed)):.0f} % in the median, and the longest pause between samples "
        f"is {np.concatenate(wait).max():.1f} times the usual one, so paths may break or swap samples. Whole trajectories, which "
        "is how such files come and what eigenwell uses by default, have their order."
    )
