"""From samples to paths: who comes next, which fragments belong together, which paths share an attractor."""

from .builders import REMAINDER, PathFinding, SuccessorGraph, TrajectoryGraph
from .ends import Grouping, group_ends
from .fragments import typical_length

__all__ = ["REMAINDER", "Grouping", "PathFinding", "SuccessorGraph", "TrajectoryGraph", "group_ends", "typical_length"]
