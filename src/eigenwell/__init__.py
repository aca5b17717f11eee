"""eigenwell: how many attractors, where, which sample belongs to which, and a stable field to follow them.

Names are imported on first use, so that `import eigenwell` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AttractorIdentifier": "estimators",
    "Caution": "demonstrations",
    "Clique": "graphs",
    "Cycle": "graphs",
    "DataError": "demonstrations",
    "Demonstrations": "demonstrations",
    "Identification": "identification",
    "KernelGraph": "spectral",
    "ModelError": "models",
    "MultiAttractorField": "fields",
    "StableField": "fields",
    "SuccessorGraph": "paths",
    "TrajectoryGraph": "paths",
    "identify": "identification",
    "learn": "learning",
    "load": "models",
}
_ROOMS = ("datasets", "distributed", "export", "files", "metrics", "plotting", "report", "reproduce", "systems")

__all__ = [*_HOME, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module 'eigenwell' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if TYPE_CHECKING:
    from . import datasets, distributed, export, files, metrics, plotting, report, reproduce, systems
    from .demonstrations import Caution, DataError, Demonstrations
    from .estimators import AttractorIdentifier
    from .fields import MultiAttractorField, StableField
    from .graphs import Clique, Cycle
    from .identification import Identification, identify
    from .learning import learn
    from .models import ModelError, load
    from .paths import SuccessorGraph, TrajectoryGraph
    from .spectral import KernelGraph
