"""One stable field in the data's units, in NumPy alone: exactly Q attractors, continuous everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any

import numpy as np

from .. import repr_html
from .._types import BoolArray, FloatArray
from . import curves, single
from .queries import check_step, check_times, of_states
from .stable import (
    StableModel,
    Wells,
    from_latent,
    latent,
    learned,
    potential,
    potential_gradient,
    velocity,
    wells,
)

BLOCK = 1024
"""States evaluated at once: intermediate arrays stay in the cache, ten times faster than all at once."""
STARTS = 256
"""Roll-outs carried at once: their nodes stay within some tens of megabytes."""
FEW = 56
"""Coordinates of states that are faster asked one by one, in plain numbers, than as arrays."""


class Coordinates:
    """Between the data's units, unit coordinates and the world that was learned, for states (..., d)."""

    model: StableModel
    centre: FloatArray
    scale: FloatArray

    def to_unit(self, x: FloatArray) -> FloatArray:
        """Unit coordinates of states in the data's units."""
        return np.asarray((x - self.centre) / self.scale)

    def from_unit(self, x: FloatArray) -> FloatArray:
        """States in the data's units from unit coordinates."""
        return np.asarray(x * self.scale + self.centre)

    def learned_place(self, x: FloatArray) -> FloatArray:
        """S(x): where states (n, d) of the world are in the learned one, the same without warps."""
        world = self.model.world
        return x if world is None else self.from_unit(world.outer.forward(self.to_unit(x).T).T)

    def present_place(self, z: FloatArray) -> FloatArray:
        """S^-1(z): where states (n, d) of the learned world are now."""
        world = self.model.world
        return z if world is None else self.from_unit(world.outer.inverse(self.to_unit(z).T).T)


class Questions:
    """What a stable field is asked, and a learned one of its `map`, the stable field of all attractors without memory."""

    map: StableField

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return len(self.map.centre)

    @property
    def n_attractors(self) -> int:
        """Q, the number of attractors."""
        return len(self.map.model.attractors)

    @of_states()
    def predict(self, x: Any, dt: float | None = None) -> FloatArray:
        """The velocity of one state or of many; exactly zero at the attractors.

        A loop x = x + dt * field.predict(x) makes Euler's steps, which end beside the solution: where a field winds round its
        attractors, from some starts at another one than the solution's own. Told dt, it stays on one solution as `advance` does.

        Parameters
        ----------
        x : (d,) or (n, d) array
        dt : float, optional
            Time until the next step: the velocity is then that of the straight way to where the solution will be.

        Returns
        -------
        (d,) or (n, d) array

        Examples
        --------
        >>> field.toward(0).predict([0.0, 1.0]).shape
        (2,)
        """
        one = self.map
        if dt is not None:
            return np.asarray((one.advance(x, dt) - x) / dt)
        # psi(x) - psi(x*) is zero at the attractors up to rounding; the field is zero by definition.
        if 0 < x.size <= FEW:
            velocities = np.array([one._velocity_of_one(state) for state in x.tolist()])
        else:
            velocities = one._apply(velocity, x).T * (one.scale * one.pace)
            velocities[one._at_attractor(x) & (not one.moves)] = 0.0
        return np.asarray(velocities)

    @of_states("float or (n,) array")
    def potential(self, x: Any) -> Any:
        """V, a Lyapunov function: half the squared power mean of the latent distances to the attractors, zero there."""
        one = self.map
        values = one._apply(potential, x)
        values[one._at_attractor(x)] = 0.0
        return values

    @of_states("(d,) or (n, d) array")
    def potential_gradient(self, x: Any) -> FloatArray:
        """grad V in the data's units."""
        one = self.map
        gradients = one._apply(potential_gradient, x).T / one.scale
        gradients[one._at_attractor(x)] = 0.0
        return np.asarray(gradients)

    @of_states()
    def advance(self, x: Any, dt: float) -> FloatArray:
        """The state after dt along the true solution, for robots that are told positions: safe at any rate.

        A loop x = field.advance(x, dt) stays on one solution whatever dt is, and ends where `basin` says.

        Parameters
        ----------
        x : (d,) or (n, d) array
        dt : float
            Time until the next step, > 0.

        Returns
        -------
        (d,) or (n, d) array

        Examples
        --------
        >>> field.toward(0).advance([0.0, 1.0], 0.01).shape
        (2,)
        """
        one, span = self.map, check_step(dt) * self.map.pace
        if 0 < x.size <= FEW:
            after = np.array([at if at in one._places else one.passage.after(at, span) for at in x.tolist()])
        else:
            unit = one.to_unit(x)
            there = one._apply(lambda model, wells, x: curves.after(model, wells, x, span), x).T
            after = np.where((there == unit).all(1, keepdims=True), x, one.from_unit(there))
        # Goals that move take the solution along.
        return after + dt * one._drift(after) if one.moves else after

    @of_states("int or (n,) int array")
    def basin(self, x: Any) -> Any:
        """The attractor 0..Q-1 in which each state ends, followed in the latent space; -1 on a border, up to rounding."""
        one = self.map
        y = one._apply(lambda model, _, x: latent(model, x), x)
        return np.concatenate([curves.fate(one.wells, part) for part in _blocks(y, 8 * BLOCK)])

    @property
    def attractors(self) -> FloatArray:
        """(Q, d), the places where the field is zero and stable."""
        return self.map._attractors

    @cached_property
    def saddles(self) -> FloatArray:
        """(n, d), the equilibria other than the attractors: where basins meet. None of them is stable."""
        return self.map._from_latent(curves.saddles(self.map.wells))

    def separatrices(self, reach: float = 3.0) -> list[FloatArray]:
        """The borders of the basins of a planar field: one curve (n, 2) through every saddle, `reach` boxes out.

        Parameters
        ----------
        reach : float
            How far out, in boxes.

        Returns
        -------
        list of (n, 2) arrays
        """
        one = self.map
        if self.dimension != 2:
            raise ValueError(
                f"Expected a field in 2 dimensions, got {self.dimension}. Borders are curves in a plane only."
            )
        extent = float(np.ptp(one.wells.goals, axis=0).max())
        return [one._from_latent(curve) for curve in curves.separatrices(one.wells, reach + extent)]


@dataclass(frozen=True, eq=False)
class StableField(Coordinates, Questions):
    """One stable field in the data's units, in NumPy alone: exactly the sinks `attractors`, continuous everywhere.

    x = centre + scale * x_unit,    xdot = scale * pace * f_unit(x_unit)

    With one attractor it is globally stable at it.

    Examples
    --------
    >>> field.toward(0).predict(field.attractors[0])
    array([0., 0.])
    """

    model: StableModel
    """Everything the field is made of, in unit coordinates."""
    centre: FloatArray
    """(d,): from unit coordinates to the data's."""
    scale: FloatArray
    """(d,): from unit coordinates to the data's."""
    pace: float
    """From the unit of time to the data's."""

    def __getstate__(self) -> dict[str, Any]:
        # Caches stay behind: the fast path is a closure, which does not pickle.
        return {one.name: getattr(self, one.name) for one in dataclass_fields(self)}

    def __repr__(self) -> str:
        return f"StableField({self.dimension}-D, stable at {np.round(self.attractors, 4).tolist()})"

    def _repr_html_(self) -> str:
        places = repr_html.places(self.attractors, None)
        rows = [[str(q), place] for q, place in enumerate(places)]
        title = f"{self.dimension}-D field, stable at {self.n_attractors} attractor{'s' * (self.n_attractors != 1)}"
        return repr_html.panel(title, "", repr_html.table(["", "x*"], rows), [])

    @property
    def map(self) -> StableField:  # type: ignore[override]
        """Itself."""
        return self

    @cached_property
    def _attractors(self) -> FloatArray:
        places = self.from_unit(self.model.attractors)
        if self.model.world is not None:
            places[:, : self.model.world.places.shape[1]] = self.model.world.places
        return places

    @property
    def speed_limit(self) -> float:
        """No state moves faster, in the data's units; infinite for a field without a brake."""
        brake = self.model.brake / (self.scale * self.pace)
        return float(1 / brake.max()) if brake.any() else np.inf

    @property
    def moves(self) -> bool:
        """Whether goals of it move by themselves, see `Field.moved`."""
        return self.model.world is not None and bool(self.model.world.later)

    @cached_property
    def wells(self) -> Wells:
        """The attractors in the latent space."""
        return wells(self.model)

    @cached_property
    def passage(self) -> single.Passage:
        """The way of a single state, fast."""
        return single.Passage(self.model, self.wells, self.centre, self.scale, self.pace)

    def _velocity_of_one(self, x: list[float]) -> single.Numbers:
        if x in self._places and not self.moves:
            return [0.0] * len(x)
        here = self.passage.at(x)
        return here.finish(self.passage.drawn(here))[0]

    def _drift(self, x: FloatArray) -> FloatArray:
        """With which the world moves by itself at states (n, d)."""
        drift = self._apply(lambda model, _, u: learned(model, u)[1].following(0.0 * u), x)  # type: ignore[union-attr]
        return np.asarray(drift.T * (self.scale * self.pace))

    @cached_property
    def _places(self) -> list[list[float]]:
        return self.attractors.tolist()  # type: ignore[no-any-return]

    def _at_attractor(self, states: FloatArray) -> BoolArray:
        return np.asarray((states[:, None] == self.attractors).all(2).any(1))

    @of_states()
    def simulate(self, x0: Any, duration: float | None = None, *, t: Any = None) -> FloatArray:
        """Roll out from some starts, along the solution itself: V falls from each state to the next.

        Parameters
        ----------
        x0 : (d,) or (m, d) array
        duration : float, optional
            How long; in 200 steps or more, a hundredth of the way through the box each.
        t : (k,) array, optional
            Or the times at which states are wanted, of which the first is that of x0.

        Returns
        -------
        (k, d) or (m, k, d) array

        Examples
        --------
        >>> field.toward(0).simulate([0.0, 1.0], duration=2.0).shape[1]
        2
        """
        times = check_times(duration, t, self.pace)
        parts = _blocks(self.to_unit(x0).T, STARTS)
        ways = [curves.roll(self.model, self.wells, part, times * self.pace) for part in parts]
        rolled = self.from_unit(np.moveaxis(np.concatenate(ways, axis=1), 0, -1))
        rolled[:, 0] = x0
        at_rest = self._at_attractor(x0)
        rolled[at_rest] = x0[at_rest][:, None]
        return rolled

    def alone(self, q: int) -> StableField:
        """The field of attractor q alone in the same coordinates: globally stable at it.

        Parameters
        ----------
        q : int
            The attractor.

        Returns
        -------
        StableField
        """
        return replace(self, model=self.model.alone(q))

    def _from_latent(self, y: FloatArray) -> FloatArray:
        return self.from_unit(from_latent(self.model, y.T).T) if len(y) else np.empty((0, self.dimension))

    def _apply(self, function: Callable[[StableModel, Wells, Any], Any], states: FloatArray) -> FloatArray:
        """A function of points in columns, some at a time."""
        unit = np.ascontiguousarray(self.to_unit(states).T)
        return np.concatenate([function(self.model, self.wells, part) for part in _blocks(unit, BLOCK)], axis=-1)


def _blocks(points: FloatArray, size: int) -> list[FloatArray]:
    """Columns, some at a time, each part in a run of memory."""
    return [np.ascontiguousarray(points[:, i : i + size]) for i in range(0, max(points.shape[1], 1), size)]
