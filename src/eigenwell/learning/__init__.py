"""From an identification to a field: targets, recipe, training. JAX is imported when training starts."""

from .learner import crossing_share, doubts, learn, learn_bundles
from .recipes import PAPER, Recipe
from .targets import Bundle, LaplacianTarget, RayTarget, Target
from .winding import SpiralTarget

__all__ = [
    "PAPER",
    "Bundle",
    "LaplacianTarget",
    "RayTarget",
    "Recipe",
    "SpiralTarget",
    "Target",
    "crossing_share",
    "doubts",
    "learn",
    "learn_bundles",
]
