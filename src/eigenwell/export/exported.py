"""What an exported field is asked, in which numbers, and what comparing it with the library found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..errors import EigenwellError
from ..fields.loops import Loop


class ParityError(EigenwellError, ValueError):
    """An exported field does not say what the library says, and was not written."""


@dataclass(frozen=True)
class Precision:
    """States come and velocities go as `outside`; the arithmetic between them is done in `inside`.

    Examples
    --------
    >>> from eigenwell.export import DOUBLE
    >>> DOUBLE.outside.__name__, DOUBLE.inside.__name__
    ('float64', 'float64')
    """

    outside: type[np.floating[Any]]
    """A NumPy float type."""
    inside: type[np.floating[Any]]
    """A NumPy float type."""
    tolerance: float
    """What parity with NumPy is held to: the error of velocity and potential, relative to their size."""

    @property
    def tie(self) -> float:
        """Squared distances to samples closer than this, in boxes, count as equal: either may be the nearest."""
        # Samples are stored as `outside`, and the square of a distance is a difference of larger numbers.
        return 16 * float(max(np.finfo(self.outside).eps, np.finfo(self.inside).eps))

    @property
    def blur(self) -> float:
        """Two states this close, in boxes, may be told apart differently: flows amplify rounding, by up to a thousand."""
        return 1000 * float(np.finfo(self.inside).eps)


FLOAT = Precision(np.float32, np.float64, 1e-6)
"""Float in and out, double between. Float between would not do: a flow of ten layers amplifies its rounding to
1e-6 of the field's scale inside the data's box and to 1e-5 around it."""
DOUBLE = Precision(np.float64, np.float64, 1e-12)
SINGLE = Precision(np.float32, np.float32, 1e-4)
"""Float throughout, for processors that have nothing else; agrees with NumPy to fewer digits."""


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
