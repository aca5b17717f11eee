"""eigenwell: how many attractors, where, which sample belongs to which, and a stable field to follow them.

Names are imported on first use, so that `import eigenwell` costs nothing. `__all__` is what the guides use; all other names
live in their modules, `eigenwell.spectral.KernelGraph` say.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_NAMES = {
    "auditing": ("Audit", "audit"),
    "comparison": ("Comparison", "Sweep", "compare", "sweep"),
    "demonstrations": ("Demonstrations",),
    "errors": ("DataError", "EigenwellError", "MissingExtra", "ModelError"),
    "estimators": ("AttractorIdentifier", "StableFieldRegressor"),
    "fields": ("Field",),
    "flow": ("FlowGraph",),
    "graphs": ("Cycle",),
    "identification": ("identify",),
    "learning": ("learn",),
    "models": ("load",),
    "paths": ("SuccessorGraph",),
    "results": ("Identification",),
}
_MODULES = (
    "attractors", "auditing", "comparison", "datasets", "demonstrations", "distributed", "errors", "estimators", "export",
    "fields", "files", "flow", "graphs", "identification", "learning", "metrics", "models", "paths", "plotting", "poses",
    "progress", "report", "results", "spectral", "studio", "systems", "velocities",
)  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AttractorIdentifier", "Cycle", "DataError", "Demonstrations", "EigenwellError", "Field", "FlowGraph", "Identification",
    "MissingExtra", "ModelError", "StableFieldRegressor", "SuccessorGraph", "audit", "compare", "datasets", "distributed",
    "export", "files", "graphs", "identify", "learn", "learning", "load", "plotting", "poses", "report", "studio", "sweep",
    "systems",
]  # fmt: skip


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
