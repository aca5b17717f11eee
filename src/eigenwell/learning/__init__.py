"""From an identification to a field: targets, recipe, training. JAX is imported when training starts."""

from .crossing import Crossing, crossing_share, crossings
from .learner import Growing, learn, learn_bundles, learn_motions
from .recipes import PAPER, Recipe
from .targets import Bundle, Frame, LaplacianTarget, RayTarget, Target
from .winding import SpiralTarget

__all__ = [
    "PAPER",
    "Bundle",
    "Crossing",
    "Frame",
    "Growing",
    "LaplacianTarget",
    "RayTarget",
    "Recipe",
    "SpiralTarget",
    "Target",
    "crossing_share",
    "crossings",
    "learn",
    "learn_bundles",
    "learn_motions",
]
