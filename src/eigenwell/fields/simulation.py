"""Roll-outs of a stable model. The stepper is an object; all work in unit coordinates and unit time.

`Latent`, the default, uses what the theorem gives (`curves`): the path is a latent curve and lies on the true solution,
and only its timing is a quadrature. The others integrate xdot = f(x) as a controller would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.integrate import solve_ivp

from .. import runge_kutta
from .._types import FloatArray
from . import curves
from .stable import StableModel, velocity, wells

STARTS = 256
"""Roll-outs carried at once: their nodes stay within some tens of megabytes."""


class Stepper(Protocol):
    """How roll-outs are made: Latent(), RungeKutta4(), Euler() or Adaptive(), or your own."""

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


def _slope(model: StableModel) -> Callable[[FloatArray], FloatArray]:
    """xdot at states (m, d)."""
    known = wells(model)
    return lambda x: np.asarray(velocity(model, known, x.T).T)


def _march(
    step: Callable[[FloatArray, float], FloatArray], x0: FloatArray, times: FloatArray, longest: float
) -> FloatArray:
    """Fixed steps, none longer than `longest`, between the times."""
    x, states = x0, [x0]
    for interval in np.diff(times):
        count = max(1, int(np.ceil(interval / longest - 1e-9)))
        for _ in range(count):
            x = step(x, float(interval) / count)
        states.append(x)
    return np.stack(states, axis=1)


@dataclass(frozen=True)
class Euler(Stepper):
    """x + dt f(x): what the simplest controller does.

    Parameters
    ----------
    longest : float
        The longest step, in unit time.

    Examples
    --------
    >>> from eigenwell.fields import Euler
    >>> field.map.simulate(field.samples[0], duration=1.0, stepper=Euler()).shape[1]
    2
    """

    longest: float = 0.01

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        slope = _slope(model)
        return _march(lambda x, dt: x + dt * slope(x), x0, times, self.longest)


@dataclass(frozen=True)
class RungeKutta4(Stepper):
    """The classical fixed-step method in x.

    Parameters
    ----------
    longest : float
        The longest step, in unit time.

    Examples
    --------
    >>> from eigenwell.fields import RungeKutta4
    >>> field.map.simulate(field.samples[0], duration=1.0, stepper=RungeKutta4()).shape[1]
    2
    """

    longest: float = 0.02

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        slope = _slope(model)
        return _march(lambda x, dt: runge_kutta.step(slope, x, dt), x0, times, self.longest)


@dataclass(frozen=True)
class Adaptive(Stepper):
    """Adaptive steps in x by SciPy's RK45, each roll-out on its own.

    Parameters
    ----------
    relative, absolute : float
        Tolerances of SciPy's RK45.

    Examples
    --------
    >>> from eigenwell.fields import Adaptive
    >>> field.map.simulate(field.samples[0], duration=1.0, stepper=Adaptive()).shape[1]
    2
    """

    relative: float = 1e-6
    absolute: float = 1e-8

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        slope, span, close = _slope(model), (times[0], times[-1]), {"rtol": self.relative, "atol": self.absolute}
        rows = [solve_ivp(lambda _, x: slope(x[None])[0], span, x, t_eval=times, **close).y.T for x in x0]
        return np.stack(rows)
