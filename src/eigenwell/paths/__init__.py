"""From samples to paths: who comes next, which fragments belong together, which paths share an attractor."""

from .beside import Odd
from .builders import SuccessorGraph, TrajectoryGraph
from .ends import Grouping, Reading
from .ends import group_ends as group_ends
from .grading import PathFinding
from .settings import DEFAULT as DEFAULT
from .settings import PathSettings

__all__ = [
    "Grouping",
    "Odd",
    "PathFinding",
    "PathSettings",
    "Reading",
    "SuccessorGraph",
    "TrajectoryGraph",
]
