"""Learned fields at run time, in NumPy alone: one stable field per attractor, and the field of them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import Caution
from .certificates import Certificate, certify
from .pointwise import Planar, planar_velocity
from .simulation import LatentClock, Stepper
from .stable import StableModel, potential, potential_gradient, velocity

BATCH = 1024
"""Rows evaluated at once: intermediate arrays stay in the cache, ten times faster than all at once."""
SAMPLES = 201
"""States returned by `simulate(duration=...)`, start and end included."""
REACH = 0.25
"""A state farther than this share of the data's box from every sample is far."""


def check_states(x: Any, dimension: int) -> tuple[FloatArray, bool]:
    """Query states as (n, d), and whether a single one was asked."""
    try:
        states = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected states as numbers, (n, {dimension}) or ({dimension},), got {type(x).__name__}."
        ) from error
    single = states.ndim == 1
    if states.ndim not in (1, 2) or states.shape[-1] != dimension:
        raise ValueError(
            f"Expected states of dimension {dimension}, as ({dimension},) or (n, {dimension}), got shape {states.shape}."
            " Query the field in the space it was learned in."
        )
    if not np.isfinite(states).all():
        bad = int(np.argwhere(~np.isfinite(states))[0][0]) if not single else 0
        raise ValueError(f"Expected finite states, got NaN or infinity (first in row {bad}). Remove or repair it.")
    return states.reshape(-1, dimension), single


def check_times(duration: float | None, t: Any) -> FloatArray:
    """Rising times that begin at the start of the roll-out."""
    if (duration is None) == (t is None):
        raise ValueError("Expected either duration=... or t=..., got both or none. Pass one of them.")
    if t is None:
        assert duration is not None
        if not (np.isfinite(duration) and duration > 0):
            raise ValueError(f"Expected a finite duration > 0, got {duration}.")
        return np.linspace(0.0, duration, SAMPLES)
    times = np.asarray(t, dtype=np.float64)
    if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise ValueError(
            f"Expected t as rising finite times (n,), got shape {times.shape}. Sort it; t[0] is the time of x0."
        )
    return times


@dataclass(frozen=True, eq=False)
class StableField:
    """A field that is globally asymptotically stable at `attractor`, in the data's units.

    x = centre + scale * x_unit,    xdot = scale * pace * f_unit(x_unit)
    """

    model: StableModel
    centre: FloatArray
    scale: FloatArray
    pace: float

    def __getstate__(self) -> dict[str, Any]:
        # Caches stay behind: the fast path is a closure, which does not pickle.
        return {one.name: getattr(self, one.name) for one in dataclass_fields(self)}

    def __repr__(self) -> str:
        return f"StableField({self.dimension}-D, stable at {np.round(self.attractor, 4).tolist()})"

    @property
    def dimension(self) -> int:
        return len(self.centre)

    @cached_property
    def attractor(self) -> FloatArray:
        return np.asarray(self.centre + self.scale * self.model.attractor)

    @property
    def speed_limit(self) -> float:
        """No state moves faster, in the data's units; infinite for a field without a brake."""
        brake = self.model.brake / (self.scale * self.pace)
        return float(1 / brake.max()) if brake.any() else np.inf

    @cached_property
    def _planar(self) -> Planar | None:
        return planar_velocity(self.model) if self.dimension == 2 else None

    def to_unit(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - self.centre) / self.scale)

    def from_unit(self, x: FloatArray) -> FloatArray:
        return np.asarray(x * self.scale + self.centre)

    def predict(self, x: Any) -> FloatArray:
        """xdot at one state (d,) or many (n, d); exactly zero at the attractor."""
        states, single = check_states(x, self.dimension)
        if single and self._planar is not None:
            return self._predict_one(states[0])
        velocities = self._apply(velocity, states) * (self.scale * self.pace)
        # psi(x) - psi(x*) is zero there up to rounding; the field is zero by definition.
        velocities[(states == self.attractor).all(1)] = 0.0
        return np.asarray(velocities[0] if single else velocities)

    def _predict_one(self, x: FloatArray) -> FloatArray:
        assert self._planar is not None
        if (x == self.attractor).all():
            return np.zeros(2)
        a, b = ((x - self.centre) / self.scale).tolist()
        return np.array(self._planar(a, b)) * (self.scale * self.pace)

    def potential(self, x: Any) -> Any:
        """V = |psi(x) - psi(x*)|^2 / 2, a Lyapunov function of the field; zero at the attractor alone."""
        states, single = check_states(x, self.dimension)
        values = self._apply(potential, states)
        values[(states == self.attractor).all(1)] = 0.0
        return float(values[0]) if single else values

    def potential_gradient(self, x: Any) -> FloatArray:
        """grad V in the data's units."""
        states, single = check_states(x, self.dimension)
        gradients = self._apply(potential_gradient, states) / self.scale
        gradients[(states == self.attractor).all(1)] = 0.0
        return np.asarray(gradients[0] if single else gradients)

    def simulate(
        self, x0: Any, duration: float | None = None, *, t: Any = None, stepper: Stepper | None = None
    ) -> FloatArray:
        """States of the roll-out from x0 at times t (or over duration): (len(t), d), or (m, len(t), d) from (m, d)."""
        states, single = check_states(x0, self.dimension)
        times = check_times(duration, t)
        stepper = LatentClock() if stepper is None else stepper
        rolled = stepper.roll(self.model, self.to_unit(states), times * self.pace)
        rolled = self.from_unit(rolled)
        rolled[:, 0] = states
        return np.asarray(rolled[0] if single else rolled)

    def certificate(self, *, samples: int = 1000, seed: int = 0) -> Certificate:
        """What sampling three times the data's box found of this field."""
        speed = float(np.linalg.norm(self.predict(self.attractor)))
        return certify(self.model, self.attractor, speed, samples=samples, seed=seed)

    def save(self, folder: Any) -> None:
        """Write config.json and tensors to a folder; eigenwell.load(folder) brings the same numbers back."""
        from ..models import save

        save(self, folder)

    def _apply(self, function: Callable[[StableModel, FloatArray], FloatArray], states: FloatArray) -> FloatArray:
        unit = self.to_unit(states)
        parts = [function(self.model, unit[i : i + BATCH]) for i in range(0, max(len(unit), 1), BATCH)]
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class MultiAttractorField:
    """One stable field per attractor. A state belongs to the sub-dynamics of the nearest sample and keeps it."""

    fields: tuple[StableField, ...]
    samples: FloatArray
    """Labelled training samples, (n, d): they draw the basins."""
    labels: IntArray
    """Sub-dynamics of every sample, 0..Q-1."""
    warnings: tuple[Caution, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"MultiAttractorField({self.dimension}-D, stable at {self.n_attractors} attractors{doubts})"

    @property
    def dimension(self) -> int:
        return int(self.samples.shape[1])

    @property
    def n_attractors(self) -> int:
        return len(self.fields)

    @cached_property
    def attractors(self) -> FloatArray:
        return np.stack([one.attractor for one in self.fields])

    @property
    def speed_limit(self) -> float:
        """No state of any basin moves faster, in the data's units."""
        return max(one.speed_limit for one in self.fields)

    @cached_property
    def box(self) -> FloatArray:
        """Extent of the samples along every axis; an axis that hardly moves counts as 2 % of the widest."""
        extent = np.ptp(self.samples, axis=0)
        return np.asarray(np.maximum(extent, 0.02 * extent.max()))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.samples / self.box)

    def _nearest(self, states: FloatArray) -> tuple[FloatArray, IntArray]:
        distance, index = self._tree.query(states / self.box)
        return np.asarray(distance), self.labels[index]

    def basin(self, x: Any) -> Any:
        """Sub-dynamics of each state: that of the nearest sample, axes scaled to the box."""
        states, single = check_states(x, self.dimension)
        labels = self._nearest(states)[1]
        return int(labels[0]) if single else labels

    def far(self, x: Any) -> Any:
        """True where no sample lies within a quarter of the box: stable and braked there, but nothing was learned."""
        states, single = check_states(x, self.dimension)
        flags: BoolArray = self._nearest(states)[0] > REACH
        return bool(flags[0]) if single else flags

    def predict(self, x: Any) -> FloatArray:
        """xdot at one state (d,) or many (n, d), each by the field of its basin."""
        states, single = check_states(x, self.dimension)
        if single and len(self.fields) == 1:
            return self.fields[0].predict(states[0])
        labels = self._nearest(states)[1]
        if single:
            return self.fields[int(labels[0])].predict(states[0])
        return self._by_basin(states, labels, lambda one, x: one.predict(x), (self.dimension,))

    def potential(self, x: Any) -> Any:
        """V of the basin's own field."""
        states, single = check_states(x, self.dimension)
        values = self._by_basin(states, self._nearest(states)[1], lambda one, x: one.potential(x), ())
        return float(values[0]) if single else values

    def potential_gradient(self, x: Any) -> FloatArray:
        """grad V of the basin's own field."""
        states, single = check_states(x, self.dimension)
        labels = self._nearest(states)[1]
        gradients = self._by_basin(states, labels, lambda one, x: one.potential_gradient(x), (self.dimension,))
        return np.asarray(gradients[0] if single else gradients)

    def simulate(
        self, x0: Any, duration: float | None = None, *, t: Any = None, stepper: Stepper | None = None
    ) -> FloatArray:
        """Roll out each state by the field of its own basin, kept to the end: (len(t), d), or (m, len(t), d)."""
        states, single = check_states(x0, self.dimension)
        times = check_times(duration, t)
        rolled = self._by_basin(
            states,
            self._nearest(states)[1],
            lambda one, x: one.simulate(x, t=times, stepper=stepper),
            (len(times), self.dimension),
        )
        return np.asarray(rolled[0] if single else rolled)

    def save(self, folder: Any) -> None:
        """Write config.json and tensors to a folder; eigenwell.load(folder) brings the same numbers back."""
        from ..models import save

        save(self, folder)

    def _by_basin(
        self,
        states: FloatArray,
        labels: IntArray,
        ask: Callable[[StableField, FloatArray], FloatArray],
        shape: tuple[int, ...],
    ) -> FloatArray:
        out = np.empty((len(states), *shape))
        for q, one in enumerate(self.fields):
            mine = labels == q
            if mine.any():
                out[mine] = ask(one, states[mine])
        return out

    def certificate(self, *, samples: int = 1000, seed: int = 0) -> tuple[Certificate, ...]:
        """What sampling three times the data's box found of every attractor."""
        return tuple(one.certificate(samples=samples, seed=seed + q) for q, one in enumerate(self.fields))
