"""Example 2: the pendulum with friction, figure, table and clusters."""

from __future__ import annotations

from eigenwell import systems

from .comparison import Example, compare
from .results import Outcome
from .study import Study


def make(study: Study) -> Outcome:
    system = systems.pendulum
    return compare(Example("pendulum", system.sample(study.seed), system.frequency, system.field), study)
