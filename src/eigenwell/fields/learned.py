"""What `learn` returns: one field for all attractors, one motion kept to its goal, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import Caution, Chart
from .certificates import Certificate, certify
from .field import StableField
from .fit import Fit
from .motion import Motion
from .poses import PoseField
from .queries import check_index, check_states, check_times
from .simulation import Stepper

REACH = 0.25
"""A state farther than this share of the data's box from every sample is far."""
LATE = 0.5
"""What a whole phase counts, in boxes, when a motion looks for its start: the beginning of a path is preferred to a
place that is nearer but already under way."""


@dataclass(frozen=True, eq=False)
class Field:
    """A learned field. The *map*: `predict`, `simulate`, `basin`, from anywhere, without memory; the *motions*:
    `motion(x0)`, which follow what was shown even where it crosses itself.

    map       one stable field of all Q attractors
    goals     a stable field for each attractor alone, or none: then `toward` takes the map's own coordinates
    lifted    a stable field of (x, phase) for each attractor, or none: a field without memory
    samples   (n, d) training samples, with their attractor `labels` (n,) and `phases` (n,), 1 at the start of a path
    fit       how well each demonstration is followed by `simulate`; `map_fit` by the map, without memory
    chart     how the last three coordinates are orientations, for a field learned from poses; see `poses`
    """

    map: StableField
    goals: tuple[StableField, ...]
    lifted: tuple[StableField, ...]
    samples: FloatArray
    labels: IntArray
    phases: FloatArray
    fit: Fit | None = None
    map_fit: Fit | None = None
    warnings: tuple[Caution, ...] = field(default=(), repr=False)
    chart: Chart | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        memory = ", with memory" if self.lifted else ""
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"Field({self.dimension}-D, stable at {self.n_attractors} attractors{memory}{doubts})"

    def __str__(self) -> str:
        lines = [repr(self)]
        lines += [] if self.fit is None else [f"  {self.fit}"]
        return "\n".join(lines + [f"  ! {caution}" for caution in self.warnings])

    @property
    def dimension(self) -> int:
        return self.map.dimension

    @property
    def n_attractors(self) -> int:
        return self.map.n_attractors

    @property
    def attractors(self) -> FloatArray:
        """(Q, d), the places where the field is zero and stable."""
        return self.map.attractors

    @property
    def speed_limit(self) -> float:
        """No state moves faster, in the data's units, whichever way it is followed."""
        return max(one.speed_limit for one in (self.map, *self.goals, *self.lifted))

    @property
    def has_memory(self) -> bool:
        return bool(self.lifted)

    @cached_property
    def box(self) -> FloatArray:
        """Extent of the samples along every axis; an axis that hardly moves counts as 2 % of the widest."""
        extent = np.ptp(self.samples, axis=0)
        return np.asarray(np.maximum(extent, 0.02 * extent.max()))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.samples / self.box)

    @cached_property
    def _starts(self) -> cKDTree:
        return cKDTree(np.column_stack([self.samples / self.box, LATE * self.phases]))

    def far(self, x: Any) -> Any:
        """True where no sample lies within a quarter of the box: stable and braked there, but nothing was learned."""
        states, single = check_states(x, self.dimension)
        flags: BoolArray = np.asarray(self._tree.query(states / self.box)[0]) > REACH
        return bool(flags[0]) if single else flags

    def predict(self, x: Any) -> FloatArray:
        """xdot of the map at one state (d,) or many (n, d): safe in a loop, from anywhere."""
        return self.map.predict(x)

    def potential(self, x: Any) -> Any:
        """V of the map, which falls along every solution; zero at the attractors alone."""
        return self.map.potential(x)

    def potential_gradient(self, x: Any) -> FloatArray:
        """grad V of the map."""
        return self.map.potential_gradient(x)

    def basin(self, x: Any) -> Any:
        """The attractor in which the map takes each state; -1 on a border, up to rounding."""
        return self.map.basin(x)

    @property
    def saddles(self) -> FloatArray:
        """(n, d), where the basins of the map meet; none of them is stable."""
        return self.map.saddles

    def separatrices(self, reach: float = 3.0) -> list[FloatArray]:
        """The borders of the map's basins, for a planar field: curves (n, 2) through the saddles."""
        return self.map.separatrices(reach)

    def simulate(
        self,
        x0: Any,
        duration: float | None = None,
        *,
        t: Any = None,
        memory: bool | None = None,
        stepper: Stepper | None = None,
    ) -> FloatArray:
        """Roll out from x0 over a duration or at times t: (len(t), d), or (m, len(t), d) from (m, d).

        With memory (the default where the field has one) each start follows its motion, as `motion(x0)` undisturbed;
        without, it follows the map, as a loop on `predict`.
        """
        if not (self.has_memory if memory is None else memory):
            return self.map.simulate(x0, duration, t=t, stepper=stepper)
        states, single = check_states(x0, self.dimension)
        times = check_times(duration, t)
        goal, phase = self._beginnings(states)
        rolled = np.empty((len(states), len(times), self.dimension))
        for q in np.unique(goal):
            mine = goal == q
            lifted = np.column_stack([states[mine], phase[mine]])
            rolled[mine] = self._lifted(int(q)).simulate(lifted, t=times, stepper=stepper)[..., :-1]
        return np.asarray(rolled[0] if single else rolled)

    def toward(self, goal: Any) -> StableField:
        """The stable field of one attractor alone: an index, or a state whose sub-dynamics is meant.

        It follows the motion to that goal whatever it crosses; the caller keeps the choice.
        """
        q = self._goal(goal)
        if self.goals:
            return self.goals[q]
        return self.map if self.n_attractors == 1 else self.map.alone(q)

    def motion(self, x0: Any, goal: Any = None, *, phase: float | None = None) -> Motion:
        """The motion that starts at x0: `motion.step(x, dt)` gives velocities and carries the phase.

        `goal` and `phase` are those of the sample that x0 is nearest to, early samples preferred, where not given.
        """
        states, single = check_states(x0, self.dimension)
        if not single:
            raise ValueError(f"Expected one state ({self.dimension},), got {len(states)}. Start one motion for each.")
        q, begin = self._beginnings(states, None if goal is None else self._goal(goal))
        return Motion.at(self._lifted(int(q[0])), int(q[0]), states[0], float(begin[0]) if phase is None else phase)

    def _lifted(self, q: int) -> StableField:
        if not self.lifted:
            raise ValueError(
                "Expected a field with memory, got one without. Learn it with learn(found, memory=True); or follow the "
                "map with predict(x) or toward(goal).predict(x)."
            )
        return self.lifted[q]

    def _beginnings(self, states: FloatArray, goal: int | None = None) -> tuple[IntArray, FloatArray]:
        """Goal and phase with which motions from some states begin."""
        asked = np.column_stack([states / self.box, np.full(len(states), LATE)])
        if goal is None:
            index = self._starts.query(asked)[1]
        else:
            mine = np.flatnonzero(self.labels == goal)
            index = mine[cKDTree(self._starts.data[mine]).query(asked)[1]]
        return self.labels[index], self.phases[index]

    def _goal(self, goal: Any) -> int:
        if np.ndim(goal) == 0:
            return check_index(goal, self.n_attractors, "a goal")
        states, single = check_states(goal, self.dimension)
        if not single:
            raise ValueError(f"Expected one goal, an index or a state ({self.dimension},), got {len(states)} states.")
        return int(self.labels[self._tree.query(states / self.box)[1][0]])

    def certificate(
        self, *, samples: int = 50, rates: tuple[float, ...] = (100.0, 1000.0), seed: int = 0
    ) -> Certificate:
        """What came out when the proof was put to the test: by loops on `predict`, at the control rates named."""
        return certify(self, samples=samples, rates=rates, seed=seed)

    @property
    def poses(self) -> PoseField:
        """The same field in terms of poses: `field.poses.predict(position, orientation)` gives a twist, `simulate` poses."""
        if self.chart is None:
            raise ValueError(
                "Expected a field learned from poses, got one of plain coordinates. Give orientations with "
                "eigenwell.poses.from_poses(position, orientation), or a file with quaternions."
            )
        return PoseField(self, self.chart)

    def save(self, path: Any) -> None:
        """Write one file; eigenwell.load(path) brings the same numbers back."""
        from ..models import save

        save(self, path)
