"""The lift: a path with its phase as one more coordinate no longer crosses itself.

    z = (x, rho),    zdot = (v, -|v| / L),    rho = length still to go / L,

1 at the start of a path and 0 at the attractor. The coordinate along the path is what the paper's embedding adds to the
state; here it is memory that a controller carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import FloatArray
from .targets import Bundle, UnitBox, arc_to_go


def phases_of(x: Any, attractor: FloatArray) -> FloatArray:
    """rho at every sample of a path in the data's units; a path without length has phase 0."""
    rest = arc_to_go(np.asarray(x, dtype=np.float64), attractor)
    return np.asarray(rest / rest[0]) if rest[0] > 0 else rest


def lifted_bundle(bundle: Bundle, lift: float) -> Bundle:
    """The bundle in (x, rho); the phase spans `lift` boxes. Speed is limited in x alone."""
    frame = bundle.frame
    raised = UnitBox(
        np.append(frame.centre, 0.5),
        np.append(frame.scale, 1 / lift),
        frame.pace,
        np.append(frame.braked, False),
        frame.reach,
    )
    xs, vs = [], []
    for x, v in zip(bundle.x, bundle.v, strict=True):
        # Lengths as in the data, where axes are not scaled apart.
        rest = arc_to_go(x * frame.scale, bundle.attractor * frame.scale)
        rate = -np.linalg.norm(v * frame.scale, axis=1) / rest[0]
        xs.append(np.column_stack([x, lift * (rest / rest[0] - 0.5)]))
        vs.append(np.column_stack([v, lift * rate]))
    return Bundle(tuple(xs), tuple(vs), np.append(bundle.attractor, -0.5 * lift), raised)
