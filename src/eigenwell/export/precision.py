"""In which numbers an exported field is asked and answered, and in which it calculates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


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
