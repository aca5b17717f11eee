"""What the field should do beside a demonstration: a tube of made-up neighbours around every path.

Moving a demonstration's start by delta and letting the shift fade, x(t) + delta b(t), gives another plausible
demonstration with velocity v(t) + delta b'(t). All such neighbours fill a tube of half-width w(t) = sigma b(t),

    x = x_k(t) + xi w(t),    v = v_k(t) + xi w'(t),    xi ~ N(0, 1),    b = 1 - (1 - tau)^2,

with tau the share of time still to go. Where the tube would reach another strand of the same motion (a loop, a
winding, a crossing) it narrows to half of the gap. Trained on them, the field generalises the way a person
repeats a movement, and no test data are needed to choose how.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .._types import FloatArray
from .targets import Bundle, arc_to_go, on_other_strand, travel_times


def tube(bundle: Bundle, sigma: float, others: Sequence[Bundle] = ()) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Half-width w and its rate w' (per unit time) at every sample of every path; `others` are learned with it."""
    for x, v, gap in zip(bundle.x, bundle.v, strand_gaps(bundle, others), strict=True):
        time = travel_times(x, v)
        gone = time / time[-1]
        # Tubes of two strands may touch.
        width = _smooth_in_time(np.minimum(sigma * (1 - gone**2), gap / 2), gone)
        yield width, np.gradient(width, time) if len(x) > 2 else np.zeros(len(x))


def strand_gaps(bundle: Bundle, others: Sequence[Bundle] = (), most: int = 1200) -> list[FloatArray]:
    """Distance from every sample to the nearest strand that is near in space and far along the motion, or another's."""
    to_go = [arc_to_go(x, bundle.attractor) for x in bundle.x]
    x, rest = np.concatenate(bundle.x), np.concatenate(to_go)
    other_x, other_rest = (column[:: max(1, len(x) // most)] for column in (x, rest))
    if others:
        strange = np.concatenate([path for other in others for path in other.x])
        strange = strange[:: max(1, len(strange) // most)]
        other_x = np.concatenate([other_x, strange])
        other_rest = np.concatenate([other_rest, np.full(len(strange), np.inf)])
    gap = np.empty(len(x))
    for start in range(0, len(x), 2048):
        part = slice(start, start + 2048)
        # By one product; rounding may not make a square negative.
        square = (x[part] ** 2).sum(1)[:, None] + (other_x**2).sum(1) - 2 * x[part] @ other_x.T
        distance = np.sqrt(np.maximum(square, 0.0))
        gap[part] = np.where(on_other_strand(rest[part, None], other_rest, distance), distance, np.inf).min(1)
    return list(np.split(gap, np.cumsum([len(a) for a in bundle.x])[:-1]))


def _smooth_in_time(width: FloatArray, gone: FloatArray, breadth: float = 0.03, nodes: int = 200) -> FloatArray:
    """A Gaussian average over 3 % of the duration: neighbours follow a tube that narrows, not one that jumps."""
    even = np.linspace(0, 1, nodes)
    smooth = gaussian_filter1d(np.interp(even, gone, width), breadth * nodes, mode="nearest", truncate=2.5)
    return np.asarray(np.interp(gone, even, smooth))
