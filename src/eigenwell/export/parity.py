"""Does an exported field say what the library says? Asked at export, on states in and around the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..fields import REACH, MultiAttractorField
from .precision import Precision

STATES = 10_000
MOST_TIES = 1e-3
"""Share of states that may lie on a border between basins, to rounding, and be given to the other side."""


class ParityError(ValueError):
    """An exported field does not say what the library says, and was not written."""


@dataclass(frozen=True)
class Parity:
    """What comparing an exported field with the library found."""

    path: Path
    proved: bool
    """False where the export could not be run here; `reason` says why."""
    states: int = 0
    max_error: float = math.nan
    """Largest error of a velocity or potential, relative to the larger of its own size and that at the samples."""
    tolerance: float = math.nan
    ties: int = 0
    """States so near a border between basins (or the edge of the data) that rounding decided the side."""
    latency_us: float = math.nan
    """Microseconds for the velocity of one state, measured here."""
    reason: str = ""

    def __str__(self) -> str:
        if not self.proved:
            return f"written, parity not proved: {self.reason}"
        tied = f" ({self.ties} on a border)" if self.ties else ""
        return (
            f"agrees with NumPy to {self.max_error:.1e} on {self.states:,} states{tied}; "
            f"{self.latency_us:.3g} us per state on this machine"
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """What an exported field says of n states."""

    velocity: FloatArray
    basin: IntArray
    far: BoolArray
    potential: FloatArray


def parity_states(field: MultiAttractorField, precision: Precision, seed: int = 0) -> FloatArray:
    """10,000 states: along the data, in twice their box, and ever closer to the attractors.

    They are rounded to what the export is asked in, so that both sides are asked the same.
    """
    rng = np.random.default_rng(seed)
    along, around = int(0.4 * STATES), int(0.4 * STATES)
    near = STATES - along - around
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    states = np.concatenate(
        [
            field.samples[rng.integers(len(field.samples), size=along)]
            + 0.03 * field.box * rng.standard_normal((along, field.dimension)),
            middle + field.box * rng.uniform(-1, 1, (around, field.dimension)),
            field.attractors[rng.integers(field.n_attractors, size=near)]
            + field.box * 10.0 ** rng.uniform(-6, -1, (near, 1)) * rng.standard_normal((near, field.dimension)),
        ]
    )
    return states.astype(precision.outside).astype(np.float64)


def compare(field: MultiAttractorField, x: FloatArray, said: Answers, precision: Precision) -> tuple[float, int]:
    """The largest relative error, and how many states rounding moved across a border; or a ParityError.

    A state that was moved is compared with the field of the side it was moved to. The attractor as rounded by the
    export rests there by definition, as the true one does in NumPy.
    """
    if not (np.isfinite(said.velocity).all() and np.isfinite(said.potential).all()):
        raise ParityError("Expected finite velocities and potentials from the export, got NaN or infinity. " + _REPORT)
    if ((said.basin < 0) | (said.basin >= field.n_attractors)).any():
        raise ParityError(f"Expected basins 0 to {field.n_attractors - 1} from the export, got others. " + _REPORT)
    ties = _ties(field, x, said, precision)
    velocity, potential = _expected(field, x, said.basin, precision)
    # What the samples get says how large these numbers are for this field.
    errors = (
        _error(said.velocity / field.box, velocity / field.box, field.predict(field.samples) / field.box),
        _error(said.potential[:, None], potential[:, None], field.potential(field.samples)[:, None]),
    )
    worst = max(errors)
    if not worst <= precision.tolerance:
        raise ParityError(
            f"Expected an export that agrees with NumPy to {precision.tolerance:g}, got an error of {worst:.2g} over "
            f"{len(x)} states: this field amplifies rounding. Nothing was written. Calculate in double (FLOAT does, SINGLE "
            "does not), ask less (Precision(..., tolerance=...)), or learn with more decay."
        )
    return worst, ties


_REPORT = "Nothing was written. Please report this model."


def _expected(
    field: MultiAttractorField, x: FloatArray, basin: IntArray, precision: Precision
) -> tuple[FloatArray, FloatArray]:
    """NumPy's velocity and potential, in the basins given; none at an attractor as `precision` rounds it."""
    velocity, potential = field.predict(x), field.potential(x)
    for i in np.flatnonzero(field.basin(x) != basin):
        one = field.fields[int(basin[i])]
        velocity[i], potential[i] = one.predict(x[i]), one.potential(x[i])
    resting = (x == field.attractors.astype(precision.outside)[basin]).all(1)
    velocity[resting], potential[resting] = 0.0, 0.0
    return velocity, potential


def _error(got: FloatArray, expected: FloatArray, typical: FloatArray) -> float:
    largest = np.linalg.norm(typical, axis=1).max()
    size = np.maximum(np.linalg.norm(expected, axis=1), largest)
    return float((np.linalg.norm(got - expected, axis=1) / size).max())


def _ties(field: MultiAttractorField, x: FloatArray, said: Answers, precision: Precision) -> int:
    """States whose basin or far flag differs; each must lie on the border, to rounding."""
    nearest = np.stack([_squared_distance(field, q, x) for q in range(field.n_attractors)])
    least = nearest.min(0)
    # Rounding is relative to where the state is, in boxes from the middle of the data.
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    resolution = precision.tie * (1 + (((x - middle) / field.box) ** 2).sum(1))
    moved = said.basin != field.basin(x)
    flagged = said.far != field.far(x)
    wrong = moved & (nearest[said.basin, np.arange(len(x))] - least > resolution)
    wrong |= flagged & (np.abs(least - REACH**2) > resolution)
    if wrong.any():
        raise ParityError(
            f"Expected the basin and the far flag of NumPy, got others at {int(wrong.sum())} of {len(x)} states that lie "
            f"on no border, the first at {x[wrong][0].tolist()}. " + _REPORT
        )
    ties = int((moved | flagged).sum())
    if ties > MOST_TIES * len(x):
        raise ParityError(
            f"Expected at most {MOST_TIES:.1%} of the states on borders between basins, got {ties} of {len(x)}: samples of "
            "different attractors lie on top of each other to rounding. Export in more precision."
        )
    return ties


def _squared_distance(field: MultiAttractorField, q: int, x: FloatArray) -> FloatArray:
    mine = field.samples[field.labels == q]
    if len(mine) == 0:
        return np.full(len(x), np.inf)
    return np.asarray(cKDTree(mine / field.box).query(x / field.box)[0]) ** 2
