"""eigenwell: how many attractors, where, which sample belongs to which, and a stable field to follow them.

Names are imported on first use, so that `import eigenwell` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "AttractorIdentifier": "estimators",
    "StableFieldRegressor": "estimators",
    "Caution": "demonstrations",
    "Clique": "graphs",
    "Comparison": "comparison",
    "Cycle": "graphs",
    "DataError": "errors",
    "Demonstrations": "demonstrations",
    "EigenwellError": "errors",
    "FlowGraph": "flow",
    "Identification": "results",
    "Result": "results",
    "KernelGraph": "spectral",
    "MissingExtra": "errors",
    "ModelError": "errors",
    "Field": "fields",
    "StableField": "fields",
    "Sweep": "comparison",
    "SuccessorGraph": "paths",
    "TrajectoryGraph": "paths",
    "compare": "comparison",
    "identify": "identification",
    "learn": "learning",
    "load": "models",
    "sweep": "comparison",
}
_MODULES = (
    "attractors",
    "baselines",
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
    "reproduce",
    "results",
    "spectral",
    "studio",
    "systems",
    "velocities",
)

__all__ = [*_HOME, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module 'eigenwell' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if TYPE_CHECKING:
    from . import (
        attractors,
        baselines,
        comparison,
        datasets,
        demonstrations,
        distributed,
        errors,
        estimators,
        export,
        fields,
        files,
        flow,
        graphs,
        identification,
        learning,
        metrics,
        models,
        paths,
        plotting,
        poses,
        progress,
        report,
        reproduce,
        results,
        spectral,
        studio,
        systems,
        velocities,
    )
    from .comparison import Comparison, Sweep, compare, sweep
    from .demonstrations import Caution, Demonstrations
    from .errors import DataError, EigenwellError, MissingExtra, ModelError
    from .estimators import AttractorIdentifier, StableFieldRegressor
    from .fields import Field, StableField
    from .flow import FlowGraph
    from .graphs import Clique, Cycle
    from .identification import identify
    from .learning import learn
    from .models import load
    from .paths import SuccessorGraph, TrajectoryGraph
    from .results import Identification, Result
    from .spectral import KernelGraph
