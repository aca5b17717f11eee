"""A learned field in terms of poses: orientations as unit quaternions, velocities as twists.

The field itself lives in the chart of `eigenwell.poses`: position, and three coordinates of orientation about where the
motions end. Here a pose goes in, and a twist (linear velocity, and angular velocity in the base frame) or poses come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._types import FloatArray
from ..demonstrations import Chart
from ..poses import EDGE, angular_velocity, composed, coordinates, exponential, orientations, unit_quaternions
from ..wording import plural
from .certificates import Certificate
from .loops import patience
from .queries import check_states
from .simulation import ARRIVED

if TYPE_CHECKING:
    from .learned import Field


class Pose(NamedTuple):
    """Position (..., d) and orientation (..., 4), a unit quaternion x, y, z, w.

    Examples
    --------
    >>> from eigenwell.fields import Pose
    >>> Pose([0.4, 0.0, 0.2], [0.0, 0.0, 0.0, 1.0]).position
    [0.4, 0.0, 0.2]
    """

    position: FloatArray
    orientation: FloatArray


class Twist(NamedTuple):
    """Linear velocity (..., d), and angular velocity (..., 3) in radians per unit of time, both in the base frame.

    Examples
    --------
    >>> from eigenwell.fields import Twist
    >>> Twist([0.1, 0.0, 0.0], [0.0, 0.0, 0.5]).angular
    [0.0, 0.0, 0.5]
    """

    linear: FloatArray
    angular: FloatArray


@dataclass(frozen=True)
class PoseCertificate:
    """Loops on `PoseField.predict`, and the certificate of the field in its chart.

    Examples
    --------
    >>> field.poses.certificate().holds  # doctest: +SKIP
    True
    """

    inner: Certificate
    """Of the field in its chart."""
    rate: float
    """Steps of the loops per unit of time."""
    starts: int
    """How many."""
    arrived: float
    """Share of loops from samples of the data that come within a hundredth of the box of an attractor."""
    widest: float
    """Largest angle from the chart's reference along them, in radians; the chart ends at half a turn."""

    @property
    def holds(self) -> bool:
        """All loops arrive within the chart, and the field holds in it."""
        return self.inner.holds and self.arrived == 1.0 and self.widest < EDGE

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return (
            f"{verdict}: {self.arrived:.1%} of {self.starts} loops on poses at {self.rate:g} Hz "
            f"arrive, at most {np.degrees(self.widest):.0f} degrees from where the motions end; in its chart it {self.inner}"
        )


@dataclass(frozen=True, eq=False)
class PoseField:
    """What `field.poses` gives: `predict` a twist, `simulate` poses. Orientations within half a turn of `chart.reference`.

    Examples
    --------
    >>> twist = field.poses.predict([0.4, 0.0, 0.2], [0.0, 0.0, 0.0, 1.0])  # doctest: +SKIP
    """

    field: Field
    """Of positions and three coordinates of orientation."""
    chart: Chart
    """What these coordinates mean."""

    def __repr__(self) -> str:
        return f"PoseField({plural(self.field.n_attractors, 'attractor')})"

    @property
    def attractors(self) -> Pose:
        """(Q, d) positions and (Q, 4) orientations where the field rests."""
        return self.of(self.field.attractors)

    def predict(self, position: Any, orientation: Any) -> Twist:
        """The twist at one pose, or at many.

        Parameters
        ----------
        position : (d,) or (n, d) array
        orientation : (4,) or (n, 4) array
            Unit quaternions x, y, z, w.

        Returns
        -------
        Twist
            Linear and angular velocity.
        """
        states = self.states(position, orientation)
        return self.twists(states, self.field.predict(states))

    def simulate(
        self,
        position: Any,
        orientation: Any,
        duration: float | None = None,
        *,
        t: Any = None,
        memory: bool | None = None,
    ) -> Pose:
        """Poses of the roll-out, as `Field.simulate`.

        Parameters
        ----------
        position, orientation
            As in `predict`.
        duration, t, memory
            As in `Field.simulate`.

        Returns
        -------
        Pose
            (len(t), d) and (len(t), 4), or with a first axis for many starts.
        """
        return self.of(self.field.simulate(self.states(position, orientation), duration, t=t, memory=memory))

    def basin(self, position: Any, orientation: Any) -> Any:
        """The attractor in which each pose ends.

        Parameters
        ----------
        position, orientation
            As in `predict`.

        Returns
        -------
        int or (n,) int array
            As `Field.basin`.
        """
        return self.field.basin(self.states(position, orientation))

    def certificate(
        self, *, samples: int = 50, rates: tuple[float, ...] = (100.0, 1000.0), seed: int = 0
    ) -> PoseCertificate:
        """The loop a controller runs, p += dt linear, q = exp(dt angular) q, from samples of the data, at the first rate.

        Parameters
        ----------
        samples, rates, seed
            As in `Field.certificate`; loops start from samples of the data.

        Returns
        -------
        PoseCertificate
        """
        inner = self.field.certificate(samples=samples, rates=rates, seed=seed)
        rng = np.random.default_rng(seed)
        x = self.field.samples[rng.choice(len(self.field.samples), samples)]
        rate, arrived, widest = rates[0], np.zeros(samples, dtype=bool), 0.0
        for _ in range(int(patience(self.field, x, 1 / rate).max())):
            away = (x[:, None] - self.field.attractors) / self.field.box
            arrived |= np.linalg.norm(away, axis=2).min(axis=1) < ARRIVED
            widest = max(widest, float(np.linalg.norm(x[:, -3:], axis=1).max()) / self.chart.scale)
            if arrived.all() or widest > EDGE:
                break
            position, orientation = self.of(x)
            linear, angular = self.predict(position, orientation)
            orientation = composed(exponential(angular / rate), orientation)
            x = np.where(arrived[:, None], x, coordinates(position + linear / rate, orientation, self.chart))
        return PoseCertificate(inner, rate, samples, float(arrived.mean()), widest)

    def twists(self, x: FloatArray, v: FloatArray) -> Twist:
        """Twists of states of the field in its chart that move with v.

        Parameters
        ----------
        x : (..., d + 3) array
        v : (..., d + 3) array
            Their velocities, such as `field.motion(x).step` gives.

        Returns
        -------
        Twist
            (..., d) and (..., 3).
        """
        return Twist(np.asarray(v[..., :-3]), angular_velocity(x, v, self.chart))

    def states(self, position: Any, orientation: Any) -> FloatArray:
        """States of the field in its chart, the inverse of `of`.

        Parameters
        ----------
        position, orientation
            As in `predict`.

        Returns
        -------
        (d + 3,) or (n, d + 3) array
        """
        places, single = check_states(position, self.field.dimension - 3)
        q = unit_quaternions(np.atleast_2d(np.asarray(orientation, dtype=np.float64)))
        if len(q) != len(places):
            raise ValueError(
                f"Expected one orientation per position, got {len(places)} and {len(q)}. Give as many of each."
            )
        states = coordinates(places, q, self.chart)
        return np.asarray(states[0] if single else states)

    def of(self, x: FloatArray) -> Pose:
        """Poses of states of the field in its chart, such as `field.samples`.

        Parameters
        ----------
        x : (..., d + 3) array

        Returns
        -------
        Pose
            (..., d) and (..., 4).
        """
        return Pose(np.asarray(x[..., :-3]), orientations(x, self.chart))
