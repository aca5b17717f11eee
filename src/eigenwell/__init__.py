"""eigenwell: how many attractors, where, which sample belongs to which, and a stable field to follow them.

Names are imported on first use, so that `import eigenwell` costs nothing. `__all__` is what the guides use; all other names
live in their modules, `eigenwell.spectral.KernelGraph` say.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "AttractorIdentifier": "estimators",
    "Audit": "auditing",
    "Comparison": "comparison",
    "Cycle": "graphs",
    "DataError": "errors",
    "Demonstrations": "demonstrations",
    "EigenwellError": "errors",
    "Field": "fields",
    "FlowGraph": "flow",
    "Identification": "results",
    "MissingExtra": "errors",
    "ModelError": "errors",
    "StableFieldRegressor": "estimators",
    "SuccessorGraph": "paths",
    "Sweep": "comparison",
    "audit": "auditing",
    "compare": "comparison",
    "identify": "identification",
    "learn": "learning",
    "load": "models",
    "sweep": "comparison",
}
_MODULES = (
    "attractors",
    "auditing",
    "comparison",
    "datasets",
    "demonstrations",
    "distributed",
    "errors",
    "estimators",
    "export",
    "fields",
    "files",
    "flow",
    "graphs",
    "identification",
    "learning",
    "metrics",
    "models",
    "paths",
    "plotting",
    "poses",
    "progress",
    "report",
    "results",
    "spectral",
    "studio",
    "systems",
    "velocities",
)

__all__ = [
    *(name for name in _HOME if name not in {"Audit", "Comparison", "Sweep"}),
    "datasets",
    "distributed",
    "export",
    "files",
    "graphs",
    "learning",
    "plotting",
    "poses",
    "report",
    "studio",
    "systems",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module 'eigenwell' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if TYPE_CHECKING:
    from . import datasets, distributed, export, files, graphs, learning, plotting, poses, report, studio, systems
    from .auditing import Audit, audit
    from .comparison import Comparison, Sweep, compare, sweep
    from .demonstrations import Demonstrations
    from .errors import DataError, EigenwellError, MissingExtra, ModelError
    from .estimators import AttractorIdentifier, StableFieldRegressor
    from .fields import Field
    from .flow import FlowGraph
    from .graphs import Cycle
    from .identification import identify
    from .learning import learn
    from .models import load
    from .paths import SuccessorGraph
    from .results import Identification
