"""Fields learned from the drawn example, by eigenwell's recipe and by the paper's, with the clock running."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenwell._types import FloatArray
from eigenwell.demonstrations import Demonstrations
from eigenwell.fields import Field, StableField
from eigenwell.fields.simulation import to_rest
from eigenwell.identification import Identification, identify
from eigenwell.learning import PAPER, Bundle, LaplacianTarget, Recipe, learn, learn_bundles

if TYPE_CHECKING:
    from .study import Study

CROSSINGS = 30.0
"""Times the box could be crossed, at root mean square speed, in the time a roll-out is given."""


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
    ours: Field
    """One field for all attractors; `ours.toward(q)` is that of one."""
    paper: tuple[StableField, ...]
    """A field for every attractor by itself, as in the paper."""
    course: Course
    """Of the paper's recipe."""

    @classmethod
    def learned(cls, study: Study) -> DrawnFields:
        demos = study.drawn
        found = identify(demos)
        study.tell("learning the drawn sub-dynamics: eigenwell's recipe")
        ours = learn(found, toward=True, recipe=replace(Recipe(), steps=study.effort.steps), seed=study.seed)
        study.tell("learning the drawn sub-dynamics: the paper's recipe")
        watch, seen = _watch()
        recipe = replace(PAPER, steps=study.effort.epochs)
        paper, _ = learn_bundles(
            bundles(demos, found), target=LaplacianTarget(), recipe=recipe, seed=study.seed, report=watch
        )
        steps, losses, seconds, work = (np.array(column) for column in zip(*seen, strict=True))
        return cls(demos, found, ours, paper, Course(steps, losses, seconds, work))

    def paths(self, q: int) -> list[FloatArray]:
        return [self.demos.x[path] for path in self.found.paths(q)]


def bundles(demos: Demonstrations, found: Identification) -> list[Bundle]:
    """Every sub-dynamics with its embedding, as the paper learns it."""
    out = []
    for q in range(found.n_attractors):
        paths = found.paths(q)
        cuts = np.cumsum([len(path) for path in paths])[:-1]
        pairs = [(demos.x[path], demos.v[path]) for path in paths]
        out.append(Bundle.of(pairs, found.attractors[q], np.split(found.embeddings[q], cuts)))
    return out


@dataclass(frozen=True)
class Tested:
    """Roll-outs of one stable field from three times the box of its data."""

    arrived: float
    falling: bool
    """V falls at every sampled state, and along every roll-out."""


def put_to_the_test(field: StableField, x: FloatArray, samples: int, seed: int) -> Tested:
    """A field without a limit of speed is given the time in which one at the pace of its data would cross the box often."""
    low, box = x.min(axis=0), np.ptp(x, axis=0)
    starts = low + box * np.random.default_rng(seed).uniform(-1, 2, (samples, x.shape[1]))
    falls = bool(((field.potential_gradient(starts) * field.predict(starts)).sum(axis=1) < 0).all())
    ways = to_rest(field, starts, box, points=100, longest=CROSSINGS / field.pace)
    rests = [np.diff(field.potential(states)) <= 1e-9 * field.potential(states[0]) for _, states, _ in ways]
    return Tested(
        float(np.mean([arrived for _, _, arrived in ways])), falls and all(bool(rest.all()) for rest in rests)
    )


def _watch() -> tuple[Callable[[int, int, FloatArray], None], list[tuple[Any, ...]]]:
    began, seen = time.perf_counter(), []

    def watch(step: int, steps: int, losses: FloatArray) -> None:
        seen.append((step, losses, time.perf_counter() - began, time.process_time()))

    return watch, seen
