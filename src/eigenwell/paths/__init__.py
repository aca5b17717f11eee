"""From samples to paths: who comes next, which fragments belong together, which paths share an attractor."""

from .absorbing import typical_length
from .builders import PathFinding, SuccessorGraph, TrajectoryGraph
from .ends import Grouping, group_ends
from .settings import DEFAULT, PathSettings

__all__ = [
    "DEFAULT",
    "Grouping",
    "PathFinding",
    "PathSettings",
    "SuccessorGraph",
    "TrajectoryGraph",
    "group_ends",
    "typical_length",
]
