"""How well a field follows what it was learned from: a stable field may still be a bad one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GOOD = 0.05
"""Up to this share of the extent a roll-out follows its demonstration: about the width of a pen stroke's scatter."""


@dataclass(frozen=True)
class Followed:
    """One demonstration and the roll-out from its start over its duration, distances as shares of the data's extent."""

    name: str
    goal: int
    distance: float
    """Dynamic time warping distance, root mean square per point."""
    end_error: float
    """From the last state of the roll-out to the attractor the demonstration went to."""
    cosine_error: float
    """Mean of 1 - cos(f(x), v) over its samples."""
    arrives: bool
    """Whether the roll-out ends at the demonstration's own attractor."""


@dataclass(frozen=True)
class Fit:
    """How each demonstration is followed: by its motion where the field has memory, else by the map."""

    demonstrations: tuple[Followed, ...]
    by: str
    """"motion" or "map"."""

    @property
    def distance(self) -> float:
        """Mean distance of a roll-out from its demonstration, as a share of the extent."""
        return float(np.mean([one.distance for one in self.demonstrations]))

    @property
    def end_error(self) -> float:
        return float(np.mean([one.end_error for one in self.demonstrations]))

    @property
    def cosine_error(self) -> float:
        return float(np.mean([one.cosine_error for one in self.demonstrations]))

    @property
    def arrives(self) -> float:
        """Share of demonstrations whose roll-out ends at their own attractor."""
        return float(np.mean([one.arrives for one in self.demonstrations]))

    @property
    def worst(self) -> Followed:
        return max(self.demonstrations, key=lambda one: (not one.arrives, one.distance))

    @property
    def good(self) -> bool:
        """Every demonstration is followed to within a twentieth of the extent, and to its own attractor."""
        return self.worst.arrives and self.worst.distance <= GOOD

    def __str__(self) -> str:
        worst = self.worst
        off = "" if worst.arrives else ", at the wrong attractor"
        return (
            f"{self.by} follows {len(self.demonstrations)} demonstrations to {self.distance:.1%} of the extent "
            f"(worst: {worst.name}, {worst.distance:.1%}{off}); end error {self.end_error:.1%}, "
            f"{self.arrives:.0%} end at their own attractor"
        )
