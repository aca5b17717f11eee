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
    meeting: float = 0.25
    """Halfway points that meet within this part of a step, `decisive` times as close as any other, are beyond doubt."""
    decisive: float = 0.5
    exact: float = 0.05
    """Meeting within this part of a step is meeting exactly; recorders that differ by more in rate are not one."""
    common: float = 0.95
    """Share of the samples that must meet, and exactly, for one time step to serve all."""

    # --- candidates (links) -------------------------------------------------------------------------------
    neighbours: int = 12
    """Neighbours tried as predecessors and successors: covers several trajectories that cross or run side by side. Half as many
    are tried of the place a sample moves to: after missing samples the next one is no near neighbour."""
    alike: float = 0.5
    """Velocities are alike when they differ by less than half of the larger one: 30 degrees, or a factor of two. The first guess
    takes pairs within 30 degrees of the motion,"""
    first_change: float = 1.0
    """whose velocities differ by less than themselves;"""
    doubled_by_miss: float = 0.15
    """a sideways miss of this much, relative to the way, counts as much as doubling the time,"""
    doubled_by_change: float = 0.3
    """and so does a velocity change of this much, relative to the speed."""
    choices: int = 4
    """Links kept for every sample as predecessor and as successor: a best set hardly ever needs more."""

    # --- likelihood of a link (links, fragments) --------------------------------------------------------
    missing: float = 1.0
    """Nats per missing sample: each that should lie between two states and does not makes a link e times less likely."""
    most_missing: int = 3
    """Longest span, in steps, of a link between two samples; longer gaps are judged by fits to several samples. A link whose time
    step fits neither end counts as much as one that misses so many."""
    in_motion: float = 5.0
    """Recordings begin and end at rest: a path that breaks off at full speed is e^-5 as likely."""
    tolerance: float = 1e-3
    """Nats per link by which a set of links may miss the best one: a thousandth of what a missing sample counts."""
    rounds: int = 2
    """Rounds of matching on raw, then on smoothed samples; the second sees the time steps and noise of the first."""

    # --- kinematics -------------------------------------------------------------------------------------
    rate_window: int = 100
    """Links on either side that a time step is pooled over: enough to see through noise and rest, shorter than a
    demonstration, so that trajectories strung together by mistake keep their own."""
    floor: float = 1e-3
    """Below this part of a step, residuals are the trapezoid rule's own error and rounding, not noise."""
    noisy: float = 0.02
    """Noise above this part of a step: neighbours in time are no longer beyond doubt."""
    trim: float = 0.9
    """Scales are means over this share of the links: a tenth may be wrong or lie in a corner."""
    measured: int = 100_000
    """Links that scales are read off where there are more: they are then known to a third of a percent. Windows of so many
    samples are fitted together: memory does not grow with the number of all."""
    fit: int = 8
    """Samples of a local fit at an end, half as many on each side in the middle: averages noise, follows a bend. Shorter chains
    say nothing about noise; shorter than half a fit, they have no direction of their own."""

    # --- fragments (states, fragments) --------------------------------------------------------
    longest_gap: float = 32.0
    """Longest gap in steps that is bridged; a quarter of it, and a step, in the earlier, safer rounds."""
    on_path: float = 0.8
    """A short chain counts as part of another one when this share of its samples lies on it."""
    doubt: float = 9.0
    """A link is doubtful when it misses by more than three times (squared: nine) what is usual."""
    exchange: float = 3.0
    """Two chains that meet exchange their ends where that is e^3, twenty times, as likely."""
    noise_reach: float = 4.0
    """A sample of a path may lie off it by so many standard deviations of noise,"""
    step_reach: float = 2.0
    """and by so many steps."""

    # --- whole paths (builders) ----------------------------------------------------------------
    remainder: float = 0.1
    """A path with less than this share of the samples of the path a typical sample lies in is no trajectory."""

    @property
    def half_fit(self) -> int:
        """Samples on either side of a fit, and the lag that tells noise (the same at every lag) from bending (grows with its
        square)."""
        return max(2, self.fit // 2)


DEFAULT = PathSettings()
