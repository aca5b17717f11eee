"""Fields learned from the drawn example, by eigenwell's recipe and by the paper's, with the clock running."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Demonstrations
from ..fields import MultiAttractorField
from ..identification import Identification, identify
from ..learning import PAPER, LaplacianTarget, Recipe, learn

if TYPE_CHECKING:
    from .study import Study


@dataclass(frozen=True, eq=False)
class Course:
    """How a training went: steps done, the losses (one a sub-dynamics) of the tenth of the steps before, and the time."""

    steps: FloatArray
    losses: FloatArray
    seconds: FloatArray
    work: FloatArray
    """Seconds of the processor, all its cores together."""

    @property
    def seconds_per_step(self) -> float:
        """Without the first tenth, which compiles."""
        return float((self.seconds[-1] - self.seconds[0]) / (self.steps[-1] - self.steps[0]))

    @property
    def work_per_step(self) -> float:
        return float((self.work[-1] - self.work[0]) / (self.steps[-1] - self.steps[0]))


@dataclass(frozen=True, eq=False)
class DrawnFields:
    demos: Demonstrations
    found: Identification
    ours: MultiAttractorField
    paper: MultiAttractorField
    course: Course
    """Of the paper's recipe."""

    @classmethod
    def learned(cls, study: Study) -> DrawnFields:
        demos = study.drawn
        found = identify(demos)
        study.tell("learning the drawn sub-dynamics: eigenwell's recipe")
        ours = learn(demos, found, recipe=replace(Recipe(), steps=study.effort.steps), seed=study.seed)
        study.tell("learning the drawn sub-dynamics: the paper's recipe")
        watch, seen = _watch()
        recipe = replace(PAPER, steps=study.effort.epochs)
        paper = learn(demos, found, target=LaplacianTarget(), recipe=recipe, seed=study.seed, callback=watch)
        steps, losses, seconds, work = (np.array(column) for column in zip(*seen, strict=True))
        return cls(demos, found, ours, paper, Course(steps, losses, seconds, work))

    def paths(self, q: int) -> list[FloatArray]:
        return [self.demos.x[path] for path in self.found.paths(q)]


def _watch() -> tuple[Callable[[int, int, FloatArray], None], list[tuple[Any, ...]]]:
    began, seen = time.perf_counter(), []

    def watch(step: int, steps: int, losses: FloatArray) -> None:
        seen.append((step, losses, time.perf_counter() - began, time.process_time()))

    return watch, seen
