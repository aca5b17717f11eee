"""From samples to paths: who comes next, which fragments belong together, which paths share an attractor."""

from .builders import REMAINDER, PathFinding, SuccessorGraph, TrajectoryGraph
from .ends import Grouping, Reading, group_ends
from .fragments import typical_length
from .odd import Odd, odd_cautions
from .told import NOTHING, Told, told_about

__all__ = [
    "NOTHING", "REMAINDER", "Grouping", "Odd", "PathFinding", "Reading", "SuccessorGraph", "Told", "TrajectoryGraph",
    "group_ends", "odd_cautions", "told_about", "typical_length",
]  # fmt: skip
