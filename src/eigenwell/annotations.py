"""What may go along with data: what is known of made-up ones, and which coordinates are orientations."""

from __future__ import annotations

from dataclasses import dataclass

from ._types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Chart:
    """Orientations as three coordinates: `scale` times the rotation vector from `reference`, a unit quaternion x, y, z, w."""

    reference: FloatArray
    scale: float


@dataclass(frozen=True)
class Truth:
    """What is known of made-up data: for scoring, never read by `identify` or `learn`.

    Attributes
    ----------
    labels : (n,) int array
        The attractor of every sample, -1 for none.
    attractors : (Q, d) array
        Their places.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.systems.heart.sample(seed=0, frequency=20.0).truth.attractors.tolist()
    [[-1.0, 2.0], [1.0, 2.0]]
    """

    labels: IntArray
    attractors: FloatArray
