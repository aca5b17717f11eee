"""Roll-outs of a stable model, and when they arrive. The stepper is an object that works in unit coordinates and unit time.

`Latent`, the default, uses what the theorem gives (`curves`): the path is a latent curve and lies on the true solution,
and only its timing is a quadrature. The others integrate xdot = f(x) as a controller would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .. import runge_kutta
from .._types import BoolArray, FloatArray
from . import curves
from .stable import StableModel, velocity, wells

if TYPE_CHECKING:
    from .field import StableField

STARTS = 256
"""Roll-outs carried at once: their nodes stay within some tens of megabytes."""


ARRIVED = 1e-2
"""Within this share of the data's box of an attractor a solution, a loop or a motion has arrived."""
NODES, DOUBLINGS = 65, 24
"""Of a part of a roll-out in which it is looked for; and how often that is doubled."""


class Stepper(Protocol):
    """How roll-outs are made: Latent(), RungeKutta4(), Euler(), or your own."""

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        """States of m roll-outs at rising times, of which the first is x0's.

        Parameters
        ----------
        model : StableModel
            The field in unit coordinates.
        x0 : (m, d) array
            Starts.
        times : (k,) array

        Returns
        -------
        (m, k, d) array
        """
        ...


@dataclass(frozen=True)
class Latent(Stepper):
    """The solution curve itself, with a quadrature for its timing; V falls from each state to the next.

    Examples
    --------
    >>> from eigenwell.fields import Latent
    >>> field.map.simulate(field.samples[0], duration=1.0, stepper=Latent()).shape[1]
    2
    """

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        known, starts = wells(model), [x0[i : i + STARTS].T for i in range(0, len(x0), STARTS)]
        parts = [np.moveaxis(curves.roll(model, known, part, times), 0, -1) for part in starts]
        return np.concatenate(parts) if parts else np.empty((0, len(times), x0.shape[1]))


class _Fixed(Stepper):
    """Fixed steps, none longer than `longest`, between the times."""

    longest: float
    _step: Callable[..., FloatArray]

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        known, x, states = wells(model), x0, [x0]
        for interval in np.diff(times):
            count = max(1, int(np.ceil(interval / self.longest - 1e-9)))
            for _ in range(count):
                x = type(self)._step(lambda x: velocity(model, known, x.T).T, x, float(interval) / count)
            states.append(x)
        return np.stack(states, axis=1)


@dataclass(frozen=True)
class Euler(_Fixed):
    """x + dt f(x): what the simplest controller does.

    Examples
    --------
    >>> from eigenwell.fields import Euler
    >>> field.map.simulate(field.samples[0], duration=1.0, stepper=Euler()).shape[1]
    2
    """

    longest: float = 0.01
    """The longest step, in unit time."""
    _step = staticmethod(lambda slope, x, dt: x + dt * slope(x))


@dataclass(frozen=True)
class RungeKutta4(_Fixed):
    """The classical fixed-step method in x.

    Examples
    --------
    >>> from eigenwell.fields import RungeKutta4
    >>> field.map.simulate(field.samples[0], duration=1.0, stepper=RungeKutta4()).shape[1]
    2
    """

    longest: float = 0.02
    """The longest step, in unit time."""
    _step = staticmethod(runge_kutta.step)


def arrivals(
    field: StableField, starts: FloatArray, box: FloatArray, longest: float = np.inf
) -> tuple[FloatArray, BoolArray]:
    """When the roll-outs of some starts (m, d) have arrived, lengths in boxes, and whether they have; a start near a border may
    creep, and is left alone after many times what a crossing takes."""
    limit = field.speed_limit
    if not np.isfinite(limit):
        limit = max(float(np.linalg.norm(field.predict(starts), axis=1).max()), np.finfo(float).tiny)
    needed = np.full(len(starts), np.inf)
    x, elapsed, duration = starts.copy(), 0.0, 2 * float(np.linalg.norm(box)) / limit
    for _ in range(DOUBLINGS):
        missing = np.flatnonzero(~np.isfinite(needed))
        if len(missing) == 0 or elapsed >= longest:
            break
        times = np.linspace(0.0, duration, NODES)
        path = field.simulate(x[missing], t=times)
        there = np.linalg.norm((path[:, :, None] - field.attractors) / box, axis=3).min(2) < ARRIVED
        needed[missing] = np.where(there.any(1), elapsed + times[there.argmax(1)], np.inf)
        # As long again as all so far.
        x[missing], elapsed = path[:, -1], elapsed + duration
        duration = elapsed
    return np.where(np.isfinite(needed), needed, min(elapsed, longest)), np.isfinite(needed)
