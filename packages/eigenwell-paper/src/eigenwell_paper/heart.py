"""Example 1: the heart-shaped system, figure, table and clusters."""

from __future__ import annotations

from eigenwell import systems

from .comparison import Example, compare
from .results import Outcome
from .study import Study


def make(study: Study) -> Outcome:
    system = systems.heart
    return compare(Example("heart", system.sample(study.seed), system.frequency, system.field), study)
