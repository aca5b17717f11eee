"""Snapshots: from velocities at scattered places to a field, its attractors and the fate of every sample."""

from .builder import EstimatedField, FlowFinding, FlowGraph
from .data_kind import Evidence, regular_share, weigh
from .orbits import Orbit, group_with_orbits, orbits

__all__ = [
    "EstimatedField",
    "Evidence",
    "FlowFinding",
    "FlowGraph",
    "Orbit",
    "group_with_orbits",
    "orbits",
    "regular_share",
    "weigh",
]
