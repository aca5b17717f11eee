"""From an identification to a field: targets, recipe, training. JAX is imported when training starts."""

from .crossing import Crossing as Crossing
from .crossing import crossings as crossings
from .learner import Growing, learn
from .learner import learn_bundles as learn_bundles
from .learner import learn_motions as learn_motions
from .recipes import PAPER, Recipe
from .targets import Bundle as Bundle
from .targets import LaplacianTarget, RayTarget, Target
from .targets import UnitBox as UnitBox
from .winding import SpiralTarget

__all__ = ["PAPER", "Growing", "LaplacianTarget", "RayTarget", "Recipe", "SpiralTarget", "Target", "learn"]
