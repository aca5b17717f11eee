"""What can be wrong with an episode, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ACTIONS", "Fault"]

LEAVE_OUT, TRIM, REPAIR = "leave out", "trim", "repair"
ACTIONS = {
    "cut-off": LEAVE_OUT, "no-goal": LEAVE_OUT, "backwards": LEAVE_OUT, "other-goal": REPAIR, "idle-start": TRIM,
    "idle-middle": TRIM, "idle-end": TRIM, "jump": LEAVE_OUT, "time-gap": LEAVE_OUT, "frozen": LEAVE_OUT, "slow": LEAVE_OUT,
    "fast": LEAVE_OUT, "unlike": LEAVE_OUT, "repeated": LEAVE_OUT, "too-short": LEAVE_OUT, "velocity-sign": REPAIR,
    "velocity-scale": REPAIR, "velocity": REPAIR, "units": REPAIR, "quaternion-flip": REPAIR,
}  # fmt: skip
"""What each fault asks for: leave the episode out, cut the idle part off, or repair the numbers (left out until then)."""


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
        return ACTIONS[self.name]

    def __str__(self) -> str:
        return self.message


def fault(name: str, message: str, value: float, threshold: float, confidence: float = 1.0) -> Fault:
    """A fault with its severity, the share of the value that is too much."""
    severity = 1 - threshold / value if value > max(threshold, 0.0) else 0.0
    return Fault(name, message, round(severity, 3), round(confidence, 4), float(value), float(threshold))
