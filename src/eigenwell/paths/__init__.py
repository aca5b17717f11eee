"""From samples to paths: who comes next, which fragments belong together, which paths share an attractor."""

from .absorbing import typical_length
from .builders import PathFinding, SuccessorGraph, TrajectoryGraph
from .ends import Grouping, Reading, group_ends
from .odd import Odd, odd_cautions
from .settings import DEFAULT, PathSettings
from .told import NOTHING, Told, told_about

__all__ = [
    "DEFAULT",
    "NOTHING",
    "Grouping",
    "Odd",
    "PathFinding",
    "PathSettings",
    "Reading",
    "SuccessorGraph",
    "Told",
    "TrajectoryGraph",
    "group_ends",
    "odd_cautions",
    "told_about",
    "typical_length",
]
