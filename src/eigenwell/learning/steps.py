"""How far a training has come, told through all of its parts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._types import FloatArray
from .recipes import Recipe

Progress = Callable[[int, int, FloatArray], None]
"""Called as progress(step, steps, losses), one loss for every model in training."""


@dataclass
class Steps:
    """Steps counted through all parts of a training: the map, each goal alone, the motions."""

    tell: Progress | None
    planned: int
    begun: int = 0

    def part(self, recipe: Recipe) -> Progress | None:
        before, tell = self.begun, self.tell
        self.begun += recipe.steps
        self.planned = max(self.planned, self.begun)
        if tell is None:
            return None
        return lambda step, _, losses: tell(before + step, self.planned, losses)


def shown(progress: bool | Progress) -> Progress | None:
    if callable(progress):
        return progress
    return _print_progress if progress else None


def _print_progress(step: int, steps: int, losses: FloatArray) -> None:
    end = "\n" if step >= steps else ""
    print(f"\rlearning: {step / steps:4.0%}, loss {float(np.mean(losses)):.4f}", end=end, file=sys.stderr, flush=True)
