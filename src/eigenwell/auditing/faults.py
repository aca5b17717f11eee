"""What can be wrong with an episode, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Fault"]

LEAVE_OUT, TRIM, REPAIR = "leave out", "trim", "repair"
WORDS = {
    "units": "{what} like {factor}. Divide by {by:.4g}, or leave the episode out.",
    "too-short": "Only {count} samples, {way:.0f} % of the usual way. Leave it out.",
    "frozen": "{what} for {rows} from sample {at} on while it moves: a frozen sensor. Leave it out.",
    "quaternion-flip": "A quaternion changes its sign {times} from one sample to the next: the same rotation, but a "
    "jump for whoever reads the numbers. Keep each on the side of the one before.",
    "time-gap": "{seconds:.2g} s are missing after sample {at}, {times:.0f} times the usual step. Cut it there or leave it out.",
    "jump": "Jumps after sample {at}, by {times:.0f} times the steps around it. Leave it out, or cut it there.",
    "idle-start": "Rests for {time} at the start, far longer than the others. Cut it off (--trim).",
    "idle-middle": "Rests for {time} in the middle, far longer than the others. Cut it off (--trim).",
    "idle-end": "Rests for {time} at the end, far longer than the others. Cut it off (--trim).",
    "velocity-sign of a column": "The velocity of column {j} points backwards: there -v fits the steps. Flip its sign.",
    "velocity-sign": "Its velocities point backwards: -v fits the steps, v does not. Flip their sign, or reverse the episode.",
    "velocity": "Its velocities have little to do with its steps (cosine {cosine:.2f}). Were columns mixed up?",
    "velocity-scale": "Its steps are {times:.3g} times what its velocities say, compared with the others: another unit "
    "of velocity or of time.",
    "velocity-scale of a column": "In column {j} its steps are {times:.3g} times what the velocity says, compared with the "
    "others.",
    "cut-off": "Breaks off in motion, at {speed:.0f} % of its mean speed and {away:.0f} % of the usual size from the "
    "nearest goal. Leave it out.",
    "backwards": "Starts at a goal and ends where none is: it runs backwards. Reverse it or leave it out.",
    "no-goal": "Comes to rest where no other episode does, {away:.0f} % of the usual size from the nearest goal. Leave "
    "it out, or record more that go there.",
    # What identification calls odd; of copies "repeated" says what they repeat.
    "cut-off as identified": "{what}. Leave it out.",
    "backwards as identified": "{what}. Reverse it or leave it out.",
    "no-goal as identified": "{what}. Leave it out, or record more that go there.",
    "other-goal": "Reaches goal {goal}, where task {there} goes, and not goal {usual} of its own task {task}. Correct "
    "its task, or leave it out.",
    "slow": "{times:.1f} times slower than the others. Leave it out, or change its times.",
    "fast": "{times:.1f} times faster than the others. Leave it out, or change its times.",
    "unlike": "Goes a way of its own: {away:.0f} % of the usual size farther from the others to its goal than its "
    "start and end are. Look at it; leave it out unless this way is meant.",
    "repeated": "Repeats episode {other}. Leave one of them out.",
}
"""What each fault is called, and what is said of it; behind a blank, which words are meant where a fault has several."""
REPAIRED = ("other-goal", "velocity-sign", "velocity-scale", "velocity", "units", "quaternion-flip")
"""Faults of numbers that can be repaired; the episode is left out until then."""


@dataclass(frozen=True)
class Fault:
    """Something wrong with one episode.

    Attributes
    ----------
    name : str
        Short, with hyphens: "cut-off".
    message : str
        What is wrong and what to do.
    severity : float
        0 to 1: 1 - threshold / value, by how much it is beyond what good episodes of this set show.
    confidence : float
        0 to 1: 1 minus the number of good episodes, of a set like this, that would look as bad.
    value, threshold : float
        What was measured, and from where on it is a fault in this set.

    Examples
    --------
    >>> from eigenwell.auditing import Fault
    >>> Fault("idle-end", "Rests for 3 s at the end.", 0.8, 1.0, 1.0, 0.2).action
    'trim'
    """

    name: str
    message: str
    severity: float
    confidence: float
    value: float
    threshold: float

    @property
    def action(self) -> str:
        """ "leave out", "trim" or "repair"."""
        return TRIM if self.name.startswith("idle") else REPAIR if self.name in REPAIRED else LEAVE_OUT

    def __str__(self) -> str:
        return self.message


def fault(key: str, value: float, threshold: float, confidence: float = 1.0, **said: Any) -> Fault:
    """A fault in its `WORDS`, with its severity, the share of the value that is too much."""
    severity = 1 - threshold / value if value > max(threshold, 0.0) else 0.0
    name, message = key.partition(" ")[0], WORDS[key].format(**said)
    return Fault(name, message, round(severity, 3), round(confidence, 4), float(value), float(threshold))
