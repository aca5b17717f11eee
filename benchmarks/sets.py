"""What the benchmarks of fields learn from, learned once a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

import eigenwell as ew
from benchmarks import drawn
from eigenwell import datasets, systems
from eigenwell.fields import Field
from eigenwell.learning import learn
from eigenwell.learning.following import POINTS
from eigenwell.learning.learner import learn_motions
from eigenwell.learning.targets import travel_times

Paths = list[tuple[np.ndarray, np.ndarray]]
Motions = list[Paths]
TRAIN, ALL = 3, 7
"""Repetitions to learn motions from, and all of them: the others are for tests."""
COMPOSITES = {"composite_a": ("WShape", "CShape", "Leaf_1", "Sine"), "composite_b": ("GShape", "Sshape", "Angle")}
LONGEST_STROKE = 3.5
"""Seconds, of `datasets.pen_strokes`."""


@cache
def of_system(name: str, seed: int) -> tuple[Field, Motions, float]:
    """A learned field, the paths it was learned from, and the duration of a demonstration."""
    system = getattr(systems, name)
    return (*_learned(system.sample(seed=seed).shuffled(seed)), system.duration)


@cache
def of_strokes(seed: int) -> tuple[Field, Motions, float]:
    return (*_learned(datasets.pen_strokes(seed)), LONGEST_STROKE)


def _learned(demos: ew.Demonstrations) -> tuple[Field, Motions]:
    found = ew.identify(demos)
    motions = [[(demos.x[path], demos.v[path]) for path in found.paths(q)] for q in range(found.n_attractors)]
    return learn(found, memory=False, toward=False), motions


def placed(shapes: Sequence[str], gap: float, which: Sequence[int]) -> tuple[Motions, np.ndarray]:
    """LASA shapes with their goals on a square grid, `gap` mm apart: the paths to each goal, and the goals."""
    side = int(np.ceil(np.sqrt(len(shapes))))
    goals = gap * np.array([divmod(k, side) for k in range(len(shapes))], dtype=np.float64)
    motions = []
    for shape, goal in zip(shapes, goals, strict=True):
        demos = datasets.lasa(shape, list(which), every=5)
        motions.append([(x + goal, v) for x, v in demos.trajectories()])
    return motions, goals


def data(name: str) -> tuple[Motions, Motions, np.ndarray]:
    """Paths to each goal to train on and to test on, and the goals: the means of the ends of the training paths."""
    if name in COMPOSITES:
        shapes = COMPOSITES[name]
        train, goals = placed(shapes, 20.0, range(TRAIN))
        return train, placed(shapes, 20.0, range(TRAIN, ALL))[0], goals
    family, _, which = name.partition("_")
    if family in ("strokes", "crossing"):
        repeated, _ = drawn.strokes(int(which), 2 if family == "strokes" else 4, ALL)
    else:
        repeated = [_single(family, which)]
    train, test = [paths[:TRAIN] for paths in repeated], [paths[TRAIN:] for paths in repeated]
    return train, test, np.array([np.mean([x[-1] for x, _ in paths], axis=0) for paths in train])


def _single(family: str, which: str) -> Paths:
    if family == "letter":
        return drawn.letter(which, 0, ALL)
    make = {"eight": drawn.figure_eight, "loop": drawn.loop, "trefoil": drawn.trefoil, "pick": drawn.pick_and_place}
    return make[family](int(which), ALL)


@cache
def learned(name: str) -> tuple[Field, Motions, Motions]:
    train, test, goals = data(name)
    return learn_motions(train, goals, memory=True, toward=False), train, test


def even(x: np.ndarray, v: np.ndarray, every: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Times and states of a path at even steps of time: POINTS of them, or one each `every` seconds."""
    clock = travel_times(x, v)
    count = POINTS if every is None else max(2, round(clock[-1] / every) + 1)
    asked = np.linspace(0, clock[-1], count)
    return asked, np.column_stack([np.interp(asked, clock, column) for column in x.T])


def extent_of(motions: Motions) -> float:
    return float(np.linalg.norm(np.ptp(np.concatenate([x for paths in motions for x, _ in paths]), axis=0)))
