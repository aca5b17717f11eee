"""Snapshots: from velocities at scattered places to a field, its attractors and the fate of every sample."""

from .builder import FlowGraph
from .data_kind import Evidence
from .data_kind import regularity as regularity
from .data_kind import weigh as weigh
from .exits import Exit
from .finding import EstimatedField
from .finding import FlowFinding as FlowFinding

__all__ = ["EstimatedField", "Evidence", "Exit", "FlowGraph"]
