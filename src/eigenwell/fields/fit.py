"""How well a field follows what it was learned from: a stable field may still be a bad one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..wording import plural

GOOD = 0.05
"""Up to this share of the extent a roll-out follows its demonstration: about the width of a pen stroke's scatter."""


@dataclass(frozen=True)
class Followed:
    """One demonstration and the roll-out from its start until at rest, distances as shares of the data's extent.

    Examples
    --------
    >>> sorted({one.goal for one in field.fit.demonstrations})
    [0, 1]
    """

    name: str
    """Which demonstration."""
    goal: int
    """Its attractor."""
    distance: float
    """Between the path of the demonstration and that of the roll-out, whatever their clocks say: by dynamic time
    warping at even lengths, root mean square per point."""
    end_error: float
    """From the roll-out to the attractor when the demonstration ends."""
    cosine_error: float
    """Mean of |1 - cos(f(x), v)|."""
    arrives: bool
    """Whether a loop from its start ends at its attractor."""
    timing: float = 0.0
    """How early or late the roll-out is along the way, on average, as a share of the demonstration's duration."""


def _mean(name: str, told: str) -> property:
    """The mean of a number over the demonstrations."""

    def mean(fit: Fit) -> float:
        return float(np.mean([getattr(one, name) for one in fit.demonstrations]))

    mean.__doc__ = told
    return property(mean)


@dataclass(frozen=True)
class Fit:
    """How each demonstration is followed, by its motion or by the map: on which path, and how well in time.

    Examples
    --------
    >>> field.fit.distance >= 0
    True
    """

    demonstrations: tuple[Followed, ...]
    """One for each."""
    by: str
    """Either "map" or "motion"."""
    as_learned: bool = False
    """Whether the field is seen through warps by now: its numbers are of the field as it was learned."""

    distance = _mean("distance", "Mean distance of a roll-out from its demonstration, as a share of the extent.")
    end_error = _mean("end_error", "Mean over the demonstrations, as a share of the extent.")
    cosine_error = _mean("cosine_error", "Mean over the demonstrations.")
    arrives = _mean("arrives", "Share of demonstrations whose roll-out ends at their own attractor.")
    timing = _mean("timing", "Mean over the demonstrations: how early or late, as a share of the duration.")

    @property
    def worst(self) -> Followed:
        """The demonstration that is followed worst."""
        return max(self.demonstrations, key=lambda one: (not one.arrives, one.distance))

    @property
    def good(self) -> bool:
        """Every demonstration is followed to within a twentieth of the extent, and to its own attractor."""
        return self.worst.arrives and self.worst.distance <= GOOD

    def __str__(self) -> str:
        worst = self.worst
        off = "" if worst.arrives else ", at the wrong attractor"
        whose = "as it was learned, " * self.as_learned
        return (
            f"{whose}{self.by} follows {plural(len(self.demonstrations), 'demonstration')} to {self.distance:.1%} of the extent "
            f"(worst: {worst.name}, {worst.distance:.1%}{off}), in time to {self.timing:.0%} of the duration; "
            f"{self.arrives:.0%} end at their own attractor"
        )
