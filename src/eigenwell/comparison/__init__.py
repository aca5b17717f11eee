"""How stable states change: between conditions, and along a parameter."""

from .along import Sweep, sweep
from .branches import Event
from .conditions import compare
from .result import Change, Comparison

__all__ = ["Change", "Comparison", "Event", "Sweep", "compare", "sweep"]
