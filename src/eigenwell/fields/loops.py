"""Loops on a field as its users write them: x += dt * predict(x), x = advance(x, dt); and what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._types import FloatArray, IntArray

if TYPE_CHECKING:
    from .learned import Field

CLOSE = 1e-2
"""A loop has arrived within this share of the data's box of an attractor."""
MOST_STEPS = 200_000
AT_ONCE = 4096
"""States of loops that are held until V is asked for them."""


@dataclass(frozen=True)
class Loop:
    """What loops on `predict` did at one rate, by one method, from one region.

    Attributes
    ----------
    method : str
        "euler", on `predict`, or "advance".
    rate : float
        Steps per unit of time.
    region : float
        Size of the box that starts were drawn from, in boxes of the data.
    starts : int
        How many.
    arrived : float
        Share that came to rest at an attractor.
    as_basin_said : float
        Share that came to rest where `basin` had said.
    falling : float
        Share of the steps in which V fell.
    excursion : float
        How far those that started in the box of the data left it, in boxes.
    path_ratio : (float, float)
        Median and 95 % quantile of the way made, over the straight way.

    Examples
    --------
    >>> field.certificate(samples=4, rates=(50.0,)).loops[0].method
    'euler'
    """

    method: str
    """"euler" or "advance"."""
    rate: float
    """In steps per unit of time."""
    region: float
    """Starts were drawn from this many times the box of the data."""
    starts: int
    arrived: float
    """Share that came within a hundredth of the box of an attractor."""
    as_basin_said: float
    """Share that arrived where `basin` said; starts within a step of a border may not."""
    falling: float
    """Share of steps along which V fell, until arrival."""
    excursion: float
    """How far beyond the box the farthest path of a start inside went, in boxes."""
    path_ratio: tuple[float, float]
    """Length of the path over the straight distance: median and 95 %."""

    @property
    def holds(self) -> bool:
        """All arrive, and by `advance` where basin said, with V falling at every step.

        An explicit Euler step is an approximation of its own: it cuts corners, so that V may rise a little where the field
        turns sharply, and takes energy into a field that winds, so that a start near a border may end beyond it. What it did
        is reported; what is asked of it is that it arrives.
        """
        if self.method == "euler":
            return self.arrived == 1.0
        return self.arrived == 1.0 and self.as_basin_said == 1.0 and self.falling >= 0.9999

    def __str__(self) -> str:
        return (
            f"{self.method} at {self.rate:g} Hz from {self.region:g} x the box: {self.arrived:.1%} of {self.starts} arrive, "
            f"{self.as_basin_said:.1%} where basin said, V falls at {self.falling:.2%} of the steps, "
            f"path / straight {self.path_ratio[0]:.2f} (95 %: {self.path_ratio[1]:.2f}), "
            f"at most {self.excursion:.2f} boxes outside"
        )


def run_loops(
    field: Field, starts: FloatArray, rate: float, region: FloatArray, method: str = "euler", most: int = MOST_STEPS
) -> list[Loop]:
    """The user's loop on `predict`, from some starts until each has arrived or its time is up; a Loop for each region.

    Its time is three times what the latent roll-out of the same start takes, and some steps more.
    """
    dt = 1 / rate
    box, (low, high) = field.box, field.home
    said = field.basin(starts)
    inside = ((starts >= low) & (starts <= high)).all(axis=1)
    x, heights = starts.copy(), _Heights(field, starts)
    length, outside, steps = np.zeros(len(x)), np.zeros(len(x)), np.zeros(len(x))
    going, ends = np.arange(len(x)), np.full(len(x), -1)
    limit = np.minimum(_step_limit(field, starts, dt), most)
    for step in range(int(limit.max())):
        here = x[going]
        moved = here + dt * field.predict(here) if method == "euler" else field.advance(here, dt)
        heights.add(going, moved)
        steps[going] += 1
        length[going] += np.linalg.norm((moved - here) / box, axis=1)
        beyond = np.maximum(low - moved, moved - high) / box
        outside[going] = np.maximum(outside[going], beyond.max(axis=1))
        x[going] = moved
        away = np.linalg.norm((moved[:, None] - field.attractors) / box, axis=2)
        close = away.min(1) < CLOSE
        ends[going[close]] = away.argmin(1)[close]
        going = going[~close & (step + 1 < limit[going])]
        if len(going) == 0:
            break
    fell = heights.falls()
    straight = np.linalg.norm((starts - x) / box, axis=1)
    loops = []
    for one in np.unique(region):
        mine = region == one
        there = mine & (ends >= 0) & (straight > CLOSE)
        ratio = length[there] / straight[there] if there.any() else np.ones(1)
        loops.append(
            Loop(
                method=method,
                rate=rate,
                region=float(one),
                starts=int(mine.sum()),
                arrived=float((ends[mine] >= 0).mean()),
                as_basin_said=float((ends[mine] == said[mine]).mean()),
                falling=float(fell[mine].sum() / max(steps[mine].sum(), 1)),
                excursion=float(outside[mine & inside].max(initial=0.0)),
                path_ratio=(float(np.median(ratio)), float(np.quantile(ratio, 0.95))),
            )
        )
    return loops


class _Heights:
    """In how many of its steps V fell along each loop. V is asked for many states at once: one by one costs a hundredfold."""

    def __init__(self, field: Field, starts: FloatArray) -> None:
        self._field, self._last = field, field.potential(starts)
        self._fell = np.zeros(len(starts))
        self._who: list[IntArray] = []
        self._states: list[FloatArray] = []
        self._count = 0

    def add(self, who: IntArray, states: FloatArray) -> None:
        """Where some loops have come in one more step."""
        self._who.append(who)
        self._states.append(states)
        self._count += len(who)
        if self._count >= AT_ONCE:
            self.falls()

    def falls(self) -> FloatArray:
        if self._count:
            who = np.concatenate(self._who)
            order = np.argsort(who, kind="stable")  # one loop after the other, each in the order of its steps
            who, height = who[order], self._field.potential(np.concatenate(self._states)[order])
            first = np.diff(who, prepend=-1) > 0
            before = np.where(first, self._last[who], np.roll(height, 1))
            self._fell += np.bincount(who[height < before], minlength=len(self._fell))
            last = np.append(first[1:], True)
            self._last[who[last]] = height[last]
            self._who, self._states, self._count = [], [], 0
        return self._fell


def _step_limit(field: Field, starts: FloatArray, dt: float) -> FloatArray:
    """Steps each start is given: three times what its latent roll-out needs."""
    return np.asarray(np.ceil(3 * _arrival(field, starts) / dt) + 20)


def nearly_there(field: Field, starts: FloatArray, left: FloatArray) -> FloatArray:
    """The states on the latent roll-outs from some starts that have `left` time to go."""
    needed = _arrival(field, starts)
    return np.stack(
        [
            field.map.simulate(x, t=[0.0, max(0.0, t - rest)])[-1]
            for x, t, rest in zip(starts, needed, left, strict=True)
        ]
    )


def _arrival(field: Field, starts: FloatArray) -> FloatArray:
    """When the latent roll-out of each start has arrived."""
    box = field.box
    needed = np.full(len(starts), np.inf)
    fastest = field.speed_limit
    if not np.isfinite(fastest):
        fastest = max(float(np.linalg.norm(field.predict(field.samples), axis=1).max()), np.finfo(float).tiny)
    x, elapsed = starts.copy(), 0.0
    duration = 2 * float(np.linalg.norm(box)) / fastest
    for _ in range(24):
        missing = np.flatnonzero(~np.isfinite(needed))
        if len(missing) == 0:
            break
        times = np.linspace(0, duration, 65)
        path = field.map.simulate(x[missing], t=times)
        there = np.linalg.norm((path[:, :, None] - field.attractors) / box, axis=3).min(2) < CLOSE
        needed[missing] = np.where(there.any(1), elapsed + times[there.argmax(1)], np.inf)
        # As long again as all so far.
        x[missing], elapsed = path[:, -1], elapsed + duration
        duration = elapsed
    return np.where(np.isfinite(needed), needed, elapsed)
