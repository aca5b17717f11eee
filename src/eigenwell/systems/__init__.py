"""Known systems: the field, the true attractors, samples as in the paper's experiments, and snapshots.

>>> import eigenwell as ew
>>> ew.systems.heart.sample(seed=0)
Demonstrations(6006 samples in 2-D, 6 trajectories)
>>> ew.systems.toggle_switch.snapshots(500, noise=0.2)
Demonstrations(500 samples in 2-D, unordered samples)
"""

from .known import (
    all_systems,
    duffing,
    duffing_short,
    eight_wells,
    five_wells,
    four_wells,
    ghost,
    heart,
    limit_cycle,
    pendulum,
    rest,
    saddle,
    snapshot_systems,
    ten_d,
    three_d,
    three_fates,
    tilted_duffing,
    toggle_switch,
    unequal_wells,
    unstable_focus,
    van_der_pol,
    well_in_a_cycle,
    wells,
)
from .system import Design as Design
from .system import Field as Field
from .system import System, clustered, front, integrate, uniform

__all__ = [
    "System",
    "all_systems",
    "clustered",
    "duffing",
    "duffing_short",
    "eight_wells",
    "five_wells",
    "four_wells",
    "front",
    "ghost",
    "heart",
    "integrate",
    "limit_cycle",
    "pendulum",
    "rest",
    "saddle",
    "snapshot_systems",
    "ten_d",
    "three_d",
    "three_fates",
    "tilted_duffing",
    "toggle_switch",
    "unequal_wells",
    "uniform",
    "unstable_focus",
    "van_der_pol",
    "well_in_a_cycle",
    "wells",
]
