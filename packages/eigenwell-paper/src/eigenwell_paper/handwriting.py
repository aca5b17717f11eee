"""LASA handwriting: fields learned from demonstrations 0-2 of every shape and scored on demonstrations 3-6.

Every fifth sample; coordinates scaled to [-.5, .5] by the training box; velocities in mm/s, distances in boxes;
roll-outs from the test start over the test duration.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenwell import datasets, metrics
from eigenwell._types import FloatArray
from eigenwell.demonstrations import DataError
from eigenwell.files import MissingExtra
from eigenwell.learning import PAPER, Bundle, LaplacianTarget, Recipe, learn_bundles

if TYPE_CHECKING:
    from .study import Study

TRAIN, TEST, EVERY = (0, 1, 2), (3, 4, 5, 6), 5
ATTRACTOR = np.zeros(2)
OURS, PAPERS, FLOWS = "eigenwell", "the paper's recipe, here", "EF, here"
Demonstration = tuple[FloatArray, FloatArray, FloatArray]
Scores = dict[str, dict[str, float]]


def demonstrations(shape: str, which: tuple[int, ...]) -> list[Demonstration]:
    """x, v and time of some demonstrations of a shape."""
    demos = datasets.lasa(shape, which, every=EVERY)
    assert demos.offsets is not None and demos.time is not None
    pieces = zip(demos.offsets[:-1], demos.offsets[1:], strict=True)
    return [(demos.x[a:b], demos.v[a:b], demos.time[a:b] - demos.time[a]) for a, b in pieces]


def bundle(shape: str) -> Bundle:
    return Bundle.of([(x, v) for x, v, _ in demonstrations(shape, TRAIN)], ATTRACTOR)


def score(field: Any, box: Bundle, tested: list[Demonstration]) -> dict[str, float]:
    """The paper's three metrics on some demonstrations."""
    predicted = np.concatenate([field.predict(x) for x, _, _ in tested])
    true = np.concatenate([v for _, v, _ in tested])
    distances = [metrics.dtwd(_unit(field.simulate(x[0], t=t), box), _unit(x, box)) for x, _, t in tested]
    return {
        "velocity_rmse": metrics.velocity_rmse(predicted, true),
        "dtwd": float(np.mean(distances)),
        "cosine_error": metrics.cosine_error(predicted, true),
    }


def _unit(x: FloatArray, box: Bundle) -> FloatArray:
    return np.asarray((x - box.frame.centre) / box.frame.scale)


@dataclass(frozen=True, eq=False)
class Handwriting:
    """Fields and test scores, by method and shape."""

    shapes: tuple[str, ...]
    fields: dict[str, dict[str, Any]]
    scores: dict[str, Scores]
    seconds: dict[str, float]

    @classmethod
    def learned(cls, study: Study) -> Handwriting:
        effort = study.effort
        try:
            datasets.lasa_folder()
        except DataError as error:
            raise MissingExtra(str(error)) from error
        every = tuple(datasets.lasa_shapes(multi_models=True)) if effort.every_shape else effort.panel
        bundles = {shape: bundle(shape) for shape in every}
        fields: dict[str, dict[str, Any]] = {}
        seconds = {}
        recipes: list[tuple[str, Any, Recipe]] = [
            (OURS, None, replace(Recipe(), steps=effort.steps)),
            (PAPERS, LaplacianTarget(), replace(PAPER, steps=effort.epochs)),
        ]
        for name, target, recipe in recipes:
            study.tell(f"LASA: learning {len(every)} shapes, {name}")
            began = time.perf_counter()
            learned, _ = learn_bundles(list(bundles.values()), target=target, recipe=recipe, seed=study.seed)
            seconds[name] = time.perf_counter() - began
            fields[name] = dict(zip(every, learned, strict=True))
        if effort.flow_epochs:
            from .baselines.euclideanizing import euclideanizing_flows

            study.tell(f"LASA: Euclideanizing Flows, {len(effort.panel)} shapes, {effort.flow_epochs} epochs")
            began = time.perf_counter()
            flows = euclideanizing_flows([bundles[s] for s in effort.panel], epochs=effort.flow_epochs, seed=study.seed)
            seconds[FLOWS] = time.perf_counter() - began
            fields[FLOWS] = dict(zip(effort.panel, flows, strict=True))
        study.tell("LASA: roll-outs and scores")
        scores = {
            name: {shape: score(field, bundles[shape], demonstrations(shape, TEST)) for shape, field in mine.items()}
            for name, mine in fields.items()
        }
        return cls(every, fields, scores, seconds)
