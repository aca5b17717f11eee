"""A learned field in the world as it is today: goals elsewhere, walls, things in the way. Nothing is learned again.

What was asked is kept (`field.warps`) and put together anew at every call, in the order in which it holds whatever was asked
first: walls, then what is gone round, then what was moved, from the world inwards. Walls and balls are where they were put,
and goals are in none of their layers, so that they are exactly where they were put too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._types import FloatArray, IntArray
from ..errors import DataError
from .around import Around, Bodies, arranged, as_numbers, check_bodies
from .field import StableField
from .moved import Leads, Moved, leads, moved
from .queries import check_index
from .warps import Stretch, Within, World

if TYPE_CHECKING:
    from .learned import Field

MARGIN = 0.1
"""Of a wall, as a share of the way between both walls or of the box; smaller where a goal is nearer to it."""
MOMENT = 1e-3
"""Over which dS/dt is taken, in seconds times speed limit over box: a thousandth of a crossing."""


class Warped:
    """What `Field` says of the world it is in."""

    map: StableField

    @property
    def warps(self) -> tuple[Any, ...]:
        """What is applied, from the world inwards: Within, Around, Moved. None: the field as it was learned."""
        world = self.map.model.world
        return () if world is None else world.outer.warps

    @property
    def unwarped(self: Any) -> Field:
        """The field as it was learned."""
        return _seen(self, [()], self._home) if self.warps else self

    def moved(
        self: Any,
        goals: Mapping[int, Any],
        *,
        via: Iterable[tuple[Any, Any]] = (),
        velocity: Mapping[int, Any] | None = None,
    ) -> Field:
        """The same field with goals elsewhere; the ways bend with them, and starts stay where they are.

        Parameters
        ----------
        goals : mapping of int to (d,) array
            The new place of each goal that moves, by its number.
        via : pairs of (d,) arrays
            Old and new place of what else was passed through.
        velocity : mapping of int to (d,) array, optional
            With which goals move at this moment: the field then goes along with them.

        Returns
        -------
        Field

        Raises
        ------
        DataError
            For a goal that is not there, a place of another dimension, or goals that change places in too little room.

        Examples
        --------
        >>> there = field.attractors[0] + 0.05
        >>> bool((field.moved({0: there}).attractors[0] == there).all())
        True
        """
        asked = _asked(self)
        for q, place in dict(goals).items():
            asked.places[_goal(self, q)] = self._place(place, f"the new place of goal {q}")
        for pair in via:
            old, new = (self._place(place, "a place in via") for place in pair)
            asked.passed.append((old, new))
        return _built(self, asked, velocity)

    def around(self: Any, centre: Any, radius: Any = None, *, axes: Any = None) -> Field:
        """The same field round a ball, or several: none of its solutions touches it, and all but one arrive as before.

        Parameters
        ----------
        centre : (d,) or (m, d) array
            Of the ball, or of several.
        radius : float or (m,) array
            Of it, or of each.
        axes : (d, d) or (m, d, d) array, optional
            Instead of a radius: the half axes of an ellipsoid, one in each row.

        Returns
        -------
        Field

        Raises
        ------
        DataError
            For a radius that is not positive, a ball over a goal or a wall, or balls that leave no room between them.

        Examples
        --------
        >>> len(field.around(field.attractors[:2].mean(0), radius=0.01).warps)
        1
        """
        asked = _asked(self)
        more = check_bodies(centre, radius, axes, self.places.shape[1])
        return _built(self, asked._replace(bodies=asked.bodies.joined(more)))

    def within(self: Any, low: Any = None, high: Any = None) -> Field:
        """The same field within walls: joint limits, a table, a workspace. No state passes one.

        Parameters
        ----------
        low, high : (d,) array or float, optional
            Walls; None where there is none, for all coordinates or for one.

        Returns
        -------
        Field

        Raises
        ------
        DataError
            For no walls, or walls that do not leave room for the goals.

        Examples
        --------
        >>> field.within(low=field.samples.min(0) - 0.1).warps[0].high
        array([inf, inf])
        """
        if low is None and high is None:
            raise DataError("Expected a wall, low=..., high=... or both, got none. Nothing was changed.")
        asked, d = _asked(self), self.places.shape[1]
        low, high = _limits(low, -np.inf, d, "low"), _limits(high, np.inf, d, "high")
        walls = np.maximum(asked.walls[0], low), np.minimum(asked.walls[1], high)
        return _built(self, asked._replace(walls=walls))

    @property
    def places(self: Any) -> FloatArray:
        """(Q, n), the attractors in the coordinates that warps act on: positions, for a field of poses."""
        return np.asarray(self.attractors[:, : self.dimension - (0 if self.chart is None else 3)])

    @property
    def _home(self: Any) -> FloatArray:
        """(Q, n), the attractors of the learned world."""
        return np.asarray(self.map.from_unit(self.map.model.attractors)[:, : self.places.shape[1]])

    @cached_property
    def _leads(self: Any) -> tuple[Leads, ...]:
        """How places follow goals that move: in the map; and for each goal in the fields of it alone, where there are others."""
        n = self.places.shape[1]
        begins = np.flatnonzero(self.phases == 1.0)
        paths = [
            (int(self.labels[k]), x) for k, x in zip(begins, np.split(self.samples[:, :n], begins[1:]), strict=False)
        ]
        ways = (None, *range(self.n_attractors)) if self.n_attractors > 1 else (0,)
        return tuple(leads(paths, self._home, self.box[:n], only) for only in ways)

    def _place(self: Any, place: Any, what: str) -> FloatArray:
        return _numbers(place, self.places.shape[1], what)


# --- what was asked so far ----------------------------------------------------------------------------


class Asked(NamedTuple):
    """All that a field is seen through, as it was asked for."""

    places: FloatArray
    passed: list[tuple[FloatArray, FloatArray]]
    """Old and new place of what else is passed through."""
    bodies: Bodies
    walls: tuple[FloatArray, FloatArray]


def of_kind(field: Any, kind: type) -> list[Any]:
    """The warps of one kind that the map is seen through."""
    world = field.map.model.world
    return [] if world is None else [one for one in world.warps if isinstance(one, kind)]


def _asked(field: Any) -> Asked:
    d = field.places.shape[1]
    moves, around, within = (of_kind(field, kind) for kind in (Moved, Around, Within))
    return Asked(
        np.array(field.places),
        [(old, new) for one in moves for old, new, q in zip(one.old, one.new, one.goals, strict=True) if q < 0],
        Bodies(
            np.concatenate([np.empty((0, d)), *(one.centres for one in around)]),
            np.concatenate([np.empty((0, d, d)), *(one.shapes for one in around)]),
        ),
        (within[0].low, within[0].high) if within else (np.full(d, -np.inf), np.full(d, np.inf)),
    )


# --- what is asked now --------------------------------------------------------------------------------


def _goal(field: Any, q: Any) -> int:
    try:
        return check_index(q, field.n_attractors, "a goal")
    except ValueError as error:
        raise DataError(f"{error} Nothing was changed.") from error


def _numbers(value: Any, d: int, what: str, open_: bool = False) -> FloatArray:
    """(d,), finite but for walls that are open."""
    numbers = as_numbers(value, f"{what} as {d} numbers")
    if numbers.shape != (d,) or not (open_ or np.isfinite(numbers).all()) or np.isnan(numbers).any():
        kind = "numbers, or None where open" if open_ else "finite numbers"
        raise DataError(f"Expected {what} as {d} {kind}, got shape {numbers.shape}: {value!r}"[:200] + ".")
    return numbers


def _limits(value: Any, none: float, d: int, what: str) -> FloatArray:
    """(d,) walls; None is none."""
    given = [value] * d if value is None or np.ndim(value) == 0 else value
    return _numbers([none if one is None else one for one in given], d, what, open_=True)


# --- put together -------------------------------------------------------------------------------------


def _built(field: Any, asked: Asked, velocity: Mapping[int, Any] | None = None) -> Field:
    """The learned field seen through all that was asked."""
    goals, through, solid, (low, high) = asked
    wide = MARGIN * np.where(np.isfinite(high - low), high - low, field.box[: len(low)])
    groups, margin = arranged(solid, goals, low, high, _margins(low, high, goals, wide))
    outer: tuple[Any, ...] = tuple(groups)
    if np.isfinite([low, high]).any():
        braking = np.minimum(wide, MARGIN * field.box[: len(low)]).max()
        outer = (Within(low, high, margin, braking), *outer)
    inner, later, moment = _landmarks(field, goals, through), [()] * len(field._leads), 1.0
    if velocity:
        rates = np.zeros_like(goals)
        for q, rate in velocity.items():
            rates[_goal(field, q)] = field._place(rate, f"the velocity of goal {q}")
        fastest = field.speed_limit if np.isfinite(field.speed_limit) else float(np.abs(rates).max())
        moment = MOMENT * float(np.linalg.norm(field.box)) / max(fastest, float(np.abs(rates).max()))
        later = [(*outer, *one) for one in _landmarks(field, goals + moment * rates, through)]
    return _seen(field, [(*outer, *one) for one in inner], goals, later, moment)


def _landmarks(field: Any, goals: FloatArray, passed: list[tuple[FloatArray, FloatArray]]) -> list[tuple[Moved, ...]]:
    """What moves goals and places passed, for the map and for the fields of one goal each: those are not bent by another's."""
    home = field._home
    if (goals == home).all() and not passed:
        return [()] * len(field._leads)
    if len(np.unique(goals, axis=0)) < len(goals):
        raise DataError(
            "Expected goals at different places, got two at the same one. Move them apart; nothing was changed."
        )
    every = np.arange(len(goals))
    found: list[tuple[Moved, ...]] = []
    for lead, which in zip(field._leads, [every, *every[:, None]], strict=False):
        old = np.concatenate([home[which], *(pair[0][None] for pair in passed)])
        new = np.concatenate([goals[which], *(pair[1][None] for pair in passed)])
        numbers: IntArray = np.append(which, np.full(len(passed), -1)).astype(np.intp)
        found.append((moved(old, new, numbers, lead, field.box[: goals.shape[1]]),))
    return found


def _margins(low: FloatArray, high: FloatArray, goals: FloatArray, wide: FloatArray) -> FloatArray:
    """(2, d): as wide as is wished, and never over a goal."""
    if not (low < high).all():
        raise DataError(f"Expected low < high, got {low.tolist()} and {high.tolist()}. Nothing was changed.")
    room = np.array([(goals - low).min(0), (high - goals).min(0)])
    if not (room > 0).all():
        q = int(np.argmax(((goals <= low) | (goals >= high)).any(axis=1)))
        raise DataError(
            f"Expected walls with all goals between them, got goal {q} at {goals[q].tolist()} on or beyond one. Move the wall or "
            "the goal; nothing was changed."
        )
    return np.asarray(np.minimum(wide, room))


def _seen(
    field: Any,
    ways: Sequence[tuple[Any, ...]],
    goals: FloatArray,
    later: Sequence[tuple[Any, ...]] = ((),),
    moment: float = 1.0,
) -> Field:
    """The field through the warps of the map, and where there are several goals those of each; its fit says that it is of the
    field as it was learned."""
    n = goals.shape[1]

    def through(one: StableField, way: int, places: FloatArray) -> StableField:
        world = one.model.world
        own = () if world is None else tuple(warp for warp in world.warps if isinstance(warp, Stretch))
        warps, then = (some[min(way, len(some) - 1)] for some in (ways, later))
        after = (*then, *own) if then else ()
        seen = World(one.centre[:n], one.scale[:n], (*warps, *own), places, after, moment * one.pace)
        return replace(one, model=one.model._replace(world=seen if seen.warps or after else None))

    def each(fields: Sequence[StableField]) -> tuple[StableField, ...]:
        return tuple(through(one, 1 + q, goals[q : q + 1]) for q, one in enumerate(fields))

    fit, map_fit = (one and replace(one, as_learned=any(ways)) for one in (field.fit, field.map_fit))
    own = {"goals": each(field.goals), "lifted": each(field.lifted), "fit": fit, "map_fit": map_fit}
    seen: Field = replace(field, map=through(field.map, 0, goals), **own)
    # Worked out once of the learned field's samples, which are the same.
    seen.__dict__["_leads"] = field._leads
    return seen


def by_own_ways(field: Any) -> Field:
    """A field of a file, which keeps what the map is seen through: the fields of one goal each see that one moved alone."""
    outer = [warp for warp in field.warps if not isinstance(warp, Moved)]
    if len(outer) == len(field.warps) or field.n_attractors == 1:
        return field  # type: ignore[no-any-return]
    inner = _landmarks(field, field.places, _asked(field).passed)
    return _seen(field, [field.warps, *((*outer, *one) for one in inner[1:])], field.places)
