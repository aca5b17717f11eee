"""What `learn` returns: one field for all attractors, one motion kept to its goal, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .. import repr_html
from .._types import FloatArray, IntArray
from ..demonstrations import Caution, Chart
from ..progress import Progress, told
from ..wording import plural
from .certificates import Certificate, certify
from .field import Questions, StableField
from .fit import Fit
from .motion import Motion
from .poses import PoseField
from .queries import Saved, check_index, check_state, check_times, of_states
from .warping import Warped

REACH = 0.25
"""A state farther than this share of the data's box from every sample is far."""
LATE = 0.5
"""What a whole phase counts, in boxes, when a motion looks for its start: the beginning of a path is preferred to a
place that is nearer but already under way."""


@dataclass(frozen=True, eq=False)
class Field(Saved, Warped, Questions):
    """A learned field: a map to follow from anywhere, and motions that follow what was shown.

    The *map* (`predict`, `simulate`, `basin`) needs no memory; the *motions* (`motion(x0)`) carry a phase, and follow what was
    shown even where it crosses itself.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(ew.identify(ew.systems.heart.sample(seed=0)))  # doctest: +SKIP
    >>> field.predict(field.attractors[0])
    array([0., 0.])
    """

    map: StableField
    """One stable field of all Q attractors."""
    goals: tuple[StableField, ...]
    """A stable field for each attractor alone, or none: then `toward` takes the map's own coordinates."""
    lifted: tuple[StableField, ...]
    """A stable field of (x, phase) for each attractor, or none: a field without memory."""
    samples: FloatArray
    """(n, d): training samples."""
    labels: IntArray
    """(n,): their attractors."""
    phases: FloatArray
    """(n,): their phases, 1 at the start of a path."""
    fit: Fit | None = None
    """How well each demonstration is followed by `simulate`."""
    map_fit: Fit | None = None
    """The same by the map, without memory."""
    warnings: tuple[Caution, ...] = field(default=(), repr=False)
    """Doubts about data and training."""
    chart: Chart | None = field(default=None, repr=False)
    """How the last three coordinates are orientations, for a field learned from poses; see `poses`."""

    def __repr__(self) -> str:
        memory = ", with memory" if self.lifted else ""
        doubts = f", {plural(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"Field({self.dimension}-D, stable at {plural(self.n_attractors, 'attractor')}{memory}{doubts})"

    def __str__(self) -> str:
        lines = [repr(self)]
        lines += [] if self.fit is None else [f"  {self.fit}"]
        return "\n".join(lines + [f"  ! {caution}" for caution in self.warnings])

    def _repr_html_(self) -> str:
        borders = self.separatrices(1.0) if self.dimension == 2 and self.n_attractors > 1 else []
        title = f"{self.dimension}-D field, stable at {self.n_attractors} attractor{'s' * (self.n_attractors != 1)}"
        near = [curve[~self.far(curve)] for curve in borders]
        places = repr_html.places(self.attractors, None)
        counts = [f"{int((self.labels == q).sum()):,}" for q in range(self.n_attractors)]
        return repr_html.panel(
            title + (", with memory" if self.has_memory else ""),
            repr_html.scatter(self.samples, self.labels, self.attractors, [curve for curve in near if len(curve) > 1]),
            repr_html.table(["", "x*", "samples"], [[str(q), places[q], counts[q]] for q in range(self.n_attractors)])
            + ("" if self.fit is None else f"<p>{self.fit}</p>"),
            [str(caution) for caution in self.warnings],
        )

    @property
    def speed_limit(self) -> float:
        """No state moves faster, in the data's units, whichever way it is followed."""
        return max(one.speed_limit for one in (self.map, *self.goals, *self.lifted))

    @cached_property
    def top_speed(self) -> float:
        """`speed_limit`, or of a field without one the speed at the fastest sample."""
        if np.isfinite(self.speed_limit):
            return self.speed_limit
        return max(float(np.linalg.norm(self.predict(self.samples), axis=1).max()), np.finfo(float).tiny)

    @property
    def has_memory(self) -> bool:
        """Whether `motion` can be asked for: always, but for a field learned with memory=False."""
        return bool(self.lifted)

    @property
    def by_motion(self) -> bool:
        """Whether `simulate` follows motions rather than the map, because they follow the data better: `fit.by`."""
        return self.has_memory and (self.fit is None or self.fit.by == "motion")

    @cached_property
    def box(self) -> FloatArray:
        """Extent of the samples along every axis; an axis that hardly moves counts as 2 % of the widest."""
        extent = np.ptp(self.samples, axis=0)
        return np.asarray(np.maximum(extent, 0.02 * extent.max()))

    @cached_property
    def home(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates of the samples and of the attractors where they were learned: no state that starts there
        leaves it far."""
        places = np.concatenate([self.samples, self.map.from_unit(self.map.model.attractors)])
        return places.min(axis=0), places.max(axis=0)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.samples / self.box)

    @cached_property
    def _starts(self) -> cKDTree:
        return cKDTree(np.column_stack([self.samples / self.box, LATE * self.phases]))

    @of_states("bool or (n,) bool array")
    def far(self, x: Any) -> Any:
        """True where no sample lies within a quarter of the box: stable and braked there, but nothing was learned.

        Examples
        --------
        >>> field.far(field.samples[0])
        False
        """
        return np.asarray(self._tree.query(self.map.learned_place(x) / self.box)[0]) > REACH

    @of_states()
    def simulate(
        self,
        x0: Any,
        duration: float | None = None,
        *,
        t: Any = None,
        memory: bool | None = None,
    ) -> FloatArray:
        """Roll out from some starts.

        With memory each start follows its motion, as `motion(x0)` undisturbed; without, it follows the map, as a loop on
        `predict`. By default whichever follows the data better; `field.fit.by` says which.

        Parameters
        ----------
        x0, duration, t
            As in `StableField.simulate`.
        memory : bool, optional
            Follow motions or the map.

        Returns
        -------
        (k, d) or (m, k, d) array

        Examples
        --------
        >>> field.simulate(field.samples[0], t=[0.0, 0.5, 1.0], memory=False).shape
        (3, 2)
        """
        if not (self.by_motion if memory is None else memory):
            return self.map.simulate(x0, duration, t=t)
        times = check_times(duration, t, self.map.pace)
        goal, phase = self._beginnings(x0)
        rolled = np.empty((len(x0), len(times), self.dimension))
        for q in np.unique(goal):
            mine = goal == q
            lifted = np.column_stack([x0[mine], phase[mine]])
            rolled[mine] = self._lifted(int(q)).simulate(lifted, t=times)[..., :-1]
        return rolled

    def toward(self, goal: Any) -> StableField:
        """The stable field of one attractor alone: an index, or a state whose sub-dynamics is meant.

        It follows the motion to that goal whatever it crosses; the caller keeps the choice.

        Parameters
        ----------
        goal : int or (d,) array
            The attractor's number, or a state whose sub-dynamics is meant.

        Returns
        -------
        StableField

        Examples
        --------
        >>> field.toward(1).n_attractors
        1
        """
        q = self._goal(goal)
        if self.goals:
            return self.goals[q]
        return self.map if self.n_attractors == 1 else self.map.alone(q)

    def motion(self, x0: Any, goal: Any = None, *, phase: float | None = None) -> Motion:
        """The motion that starts at x0: `motion.step(x, dt)` gives velocities and carries the phase.

        `goal` and `phase` are those of the sample that x0 is nearest to, early samples preferred, where not given.

        Parameters
        ----------
        x0 : (d,) array
            Where it starts.
        goal : int or (d,) array, optional
            Its attractor.
        phase : float, optional
            1 at the start of a path, 0 at its end.

        Returns
        -------
        Motion

        Examples
        --------
        >>> motion = field.motion(field.samples[0])
        >>> motion.step(field.samples[0], dt=0.01).shape
        (2,)
        """
        x = check_state(x0, self.dimension)
        q, begin = self._beginnings(x[None], None if goal is None else self._goal(goal))
        return Motion.at(self._lifted(int(q[0])), int(q[0]), x, float(begin[0]) if phase is None else phase)

    def _lifted(self, q: int) -> StableField:
        if not self.lifted:
            raise ValueError(
                "Expected a field with memory, got one without. Learn it with learn(found, memory=True); or follow the "
                "map with predict(x) or toward(goal).predict(x)."
            )
        return self.lifted[q]

    def _beginnings(self, states: FloatArray, goal: int | None = None) -> tuple[IntArray, FloatArray]:
        """Goal and phase with which motions from some states begin."""
        asked = np.column_stack([self.map.learned_place(states) / self.box, np.full(len(states), LATE)])
        if goal is None:
            index = self._starts.query(asked)[1]
        else:
            mine = np.flatnonzero(self.labels == goal)
            index = mine[cKDTree(self._starts.data[mine]).query(asked)[1]]
        return self.labels[index], self.phases[index]

    def _goal(self, goal: Any) -> int:
        if np.ndim(goal) == 0:
            return check_index(goal, self.n_attractors, "a goal")
        place = self.map.learned_place(check_state(goal, self.dimension)[None])
        return int(self.labels[self._tree.query(place / self.box)[1][0]])

    def certificate(
        self,
        *,
        samples: int = 50,
        rates: tuple[float, ...] = (100.0, 1000.0),
        seed: int = 0,
        progress: bool | Progress = False,
    ) -> Certificate:
        """What came out when the proof was put to the test: by loops on `predict`, at the control rates named.

        Parameters
        ----------
        samples : int
            Starts of loops inside the data's box, and again as many around it; of motions, as many of the shown starts as there
            are, and one to each goal at least.
        rates : tuple of float
            Control rates, in steps per unit of time.
        seed : int
            Of the starts.
        progress : bool or callable
            True prints how far it is; a function is called as progress(stage, done, total).

        Returns
        -------
        Certificate

        Examples
        --------
        >>> field.certificate(samples=4, rates=(50.0,)).samples
        40
        """
        with told(progress):
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
