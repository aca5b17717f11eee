"""Every constant of path recovery in one place, each with its reason.

Lengths are in steps, noise or spreads of the data themselves, angles and shares are pure numbers: none has a unit, so
none needs to be set. `python -m benchmarks.ablation` halves and doubles each of them and prints what changes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PathSettings:
    """Constants of path recovery, for `identify(x, v, settings=...)`. The defaults serve all data we know.

    What each of them is stands beside it in the source, `eigenwell/paths/settings.py`.

    Examples
    --------
    >>> from eigenwell.paths import PathSettings
    >>> PathSettings().neighbours
    12
    """

    # --- one time step for all, no noise (kinematics) ------------------------------------------------------
    asked: int = 500
    """Samples asked for the common time step: their mode is known to a few percent of its width."""
    exact: float = 0.05
    """Noise below this part of a step is none: halfway points that come as near meet exactly, recorders that differ by more in
    rate are not one, and above it neighbours in time are no longer beyond doubt."""

    # --- candidates (links) -------------------------------------------------------------------------------
    neighbours: int = 12
    """Neighbours tried as successors: covers several trajectories that cross or run side by side. Half as many are tried of the
    place a sample moves to: after missing samples the next one is no near neighbour. Half as many are kept as links: a best set
    hardly ever needs more."""
    alike: float = 0.5
    """Velocities are alike when they differ by less than half of the larger one: 30 degrees, or a factor of two. The first guess
    takes pairs within 30 degrees of the motion. A meeting is beyond doubt when it misses by less than half of what any other
    point does."""

    # --- likelihood of a link (links, fragments, states) ------------------------------------------------
    missing: float = 1.0
    """Nats per missing sample: each that should lie between two states and does not makes a link e times less likely. A change of
    links must gain more."""
    most_missing: int = 3
    """Longest span, in steps, of a link between two samples; longer gaps are judged by fits to several samples. A link whose time
    step fits neither end counts as much as one that misses so many."""
    in_motion: float = 5.0
    """Recordings begin and end at rest: a path that breaks off at full speed is e^-5 as likely."""

    # --- kinematics -------------------------------------------------------------------------------------
    rate_window: int = 100
    """Links on either side that a time step is pooled over: enough to see through noise and rest, shorter than a
    demonstration, so that trajectories strung together by mistake keep their own."""
    measured: int = 100_000
    """Links that scales are read off where there are more: they are then known to a third of a percent."""
    fit: int = 8
    """Samples of a local fit at an end, half as many on each side in the middle: averages noise, follows a bend. Shorter chains
    say nothing about noise; shorter than half a fit, they have no direction of their own."""

    # --- what may be odd (kinematics, states, builders) ---------------------------------------------------
    remainder: float = 0.1
    """A tenth of the links may be wrong or lie in a corner: scales are means over the rest. A path with less than this share of
    the samples of the path a typical sample lies in is no trajectory."""

    @property
    def floor(self) -> float:
        """What is less than this part of a step is the trapezoid rule's own error and rounding, not noise; of a nat, no better
        set of links."""
        return self.exact**2

    @property
    def half_fit(self) -> int:
        """Samples on either side of a fit, and the lag that tells noise (the same at every lag) from bending (grows with its
        square)."""
        return max(2, self.fit // 2)

    @property
    def half(self) -> int:
        """Half the neighbours."""
        return max(2, self.neighbours // 2)


DEFAULT = PathSettings()
