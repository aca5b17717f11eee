"""What an exported field is asked, and what comparing it with the library found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .._types import BoolArray, FloatArray, IntArray
from ..errors import EigenwellError
from ..fields.loops import Loop


class ParityError(EigenwellError, ValueError):
    """An exported field does not say what the library says, and was not written."""


@dataclass(frozen=True)
class Parity:
    """What comparing an exported field with the library found.

    Examples
    --------
    >>> from eigenwell.export import export_c
    >>> export_c(field, "field.h").proved  # doctest: +SKIP
    True
    """

    path: Path
    """What was written."""
    proved: bool
    """Whether it was run and compared; where it could not be, `reason` says why."""
    states: int = 0
    """Compared."""
    max_error: float = math.nan
    """The largest of a velocity, potential or rate, relative to the larger of its own size and that at the samples."""
    tolerance: float = math.nan
    """What it was held to."""
    ties: int = 0
    """States on a border of basins or of what is far, where rounding decides."""
    latency_us: float = math.nan
    """Microseconds of one velocity."""
    reason: str = ""
    """Why it was not proved."""
    loop: Loop | None = None
    """What loops on the exported field did."""
    motion_us: float = math.nan
    """Microseconds of one step of a motion."""

    def __str__(self) -> str:
        if not self.proved:
            return f"written, parity not proved: {self.reason}"
        tied = f" ({self.ties} on a border)" if self.ties else ""
        loops = "" if self.loop is None else f"; {self.loop.arrived:.0%} of {self.loop.starts} loops arrive"
        motion = "" if math.isnan(self.motion_us) else f", {self.motion_us:.3g} us per step of a motion,"
        return (
            f"agrees with NumPy to {self.max_error:.1e} on {self.states:,} states{tied}{loops}; "
            f"{self.latency_us:.3g} us per state{motion} on this machine"
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """What an exported field says of n states."""

    velocity: FloatArray
    basin: IntArray
    far: BoolArray
    potential: FloatArray


class Steps(NamedTuple):
    """Two steps of motions to one goal: begun at (x0, phase0), then asked at (x, phase), and once more when `after` is seen."""

    goal: int
    x0: FloatArray
    phase0: FloatArray
    x: FloatArray
    phase: FloatArray
    after: FloatArray
    dt: float
