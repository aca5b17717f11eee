"""Twenty learned fields for the benchmark of warps: LASA, drawings, systems, in space and in seven joints.

Learned with fewer steps than by default: what is measured is what the warps do, not how well a field was learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import eigenwell as ew
from benchmarks import sets
from eigenwell.fields import Field
from eigenwell.learning import Recipe

LASA = ("Angle", "CShape", "GShape", "Sshape", "Sine", "NShape")
DRAWN = ("strokes_0", "strokes_1", "letter_a", "loop_0")
SYSTEMS = ("heart", "duffing", "pendulum", "four_wells")
SPACE = ("pick_0", "pick_1", "trefoil_0")
JOINTS = (0, 1, 2)
MEMORY = (*LASA, *DRAWN, *SPACE)
"""Those that are followed with memory."""
STEPS = 600


def names(quick: bool = False) -> list[str]:
    return ["Angle", "heart", "pick_0", "joints_0"] if quick else [*MEMORY, *SYSTEMS, *(f"joints_{k}" for k in JOINTS)]


def learned(name: str, cache: Path | None) -> Field:
    """One of them, from the cache where it is there."""
    path = None if cache is None else cache / f"{name}.eigenwell"
    if path is not None and path.is_file():
        field = ew.load(path)
        assert isinstance(field, Field)
        return field
    recipe = Recipe(steps=STEPS)
    if name in LASA:
        field = ew.learn(ew.datasets.lasa(name, [0, 1, 2], every=5), memory=True, recipe=recipe)
    elif name in SYSTEMS:
        field = ew.learn(getattr(ew.systems, name).sample(seed=0), memory=False, recipe=recipe)
    elif name.startswith("joints"):
        field = ew.learn(ew.datasets.joint_recordings(int(name[-1])), memory=False, recipe=recipe)
    else:
        train, _, _ = sets.data(name)
        paths = [x for motions in train for x, _ in motions]
        speeds = [v for motions in train for _, v in motions]
        field = ew.learn(ew.Demonstrations.from_trajectories(paths, speeds), memory=True, recipe=recipe)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        field.save(path)
    return field


def all_fields(quick: bool, cache: Path | None) -> Iterator[tuple[str, Field]]:
    for name in names(quick):
        yield name, learned(name, cache)


def shown(field: Field) -> list[np.ndarray]:
    """The demonstrations (n, d), from the samples with phases."""
    begins = np.flatnonzero(field.phases == 1.0)
    return np.split(field.samples, begins[1:])
