"""Roll-outs of a stable model. The stepper is an object; all work in unit coordinates and unit time.

`LatentClock`, the default, uses what the theorem gives. In the latent space the path is known, not integrated:
y = rho exp(Omega ln(rho / rho_0)) y_0 / rho_0, a straight line when Omega = 0. Only its timing needs a quadrature,

    h(rho) = rho + epsilon ln(rho),    dh/dt = -m s(x),

and h falls at every step of any size because m s > 0. So a discrete roll-out provably decreases V and converges, and
x = psi^-1(y + psi(x*)) lies on the true solution curve. The others integrate xdot = f(x) as a controller would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import wrightomega

from .._types import FloatArray
from .flows import forward, inverse
from .stable import StableModel, clock_speed, velocity, wound

ARRIVED = 1e-12
"""Latent distance, in boxes, below which a roll-out stands still: rounding of psi is larger. Waiting costs nothing."""


class Stepper(Protocol):
    """States (m, len(times), d) of m roll-outs from x0 (m, d), at rising times of which the first is x0's."""

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray: ...


def _substeps(times: FloatArray, longest: float) -> list[tuple[float, int]]:
    """For every interval the step and how many of them, none longer than `longest`."""
    counts = [max(1, int(np.ceil(dt / longest - 1e-9))) for dt in np.diff(times)]
    return [(float(dt) / n, n) for dt, n in zip(np.diff(times), counts, strict=True)]


@dataclass(frozen=True)
class LatentClock:
    """Exact path, classical fourth-order quadrature for its timing. `longest` step in unit time.

    Between steps h is a cubic with the right slopes, limited so that it falls; asking for more times costs little.
    """

    longest: float = 0.025

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        path = LatentPath.through(model, x0)
        span = float(times[-1] - times[0])
        count = max(1, int(np.ceil(span / self.longest - 1e-9)))
        dt = span / count
        h = [path.clock(path.start)]
        for _ in range(count):
            if (path.radius(h[-1]) < ARRIVED).all():
                break
            h.append(path.tick(h[-1], dt))
        slopes = [-dt * path.speed(node) for node in h]
        position = (times - times[0]) / dt if dt > 0 else np.zeros(len(times))
        position = np.minimum(position, len(h) - 1)
        asked = _falling_cubic(np.stack(h, axis=1), np.stack(slopes, axis=1), position)
        states = path.repeated(len(times)).at(path.radius(asked).ravel()).reshape(*asked.shape, -1)
        states[:, 0] = x0
        return states


def _falling_cubic(h: FloatArray, slopes: FloatArray, position: FloatArray) -> FloatArray:
    """Cubic Hermite interpolation of falling values (m, n + 1) at positions in [0, n], kept falling.

    A cubic is monotone when neither end is steeper than three times the chord (Fritsch and Carlson).
    """
    low = np.minimum(position.astype(int), h.shape[1] - 2)
    u = position - low
    chord = h[:, low + 1] - h[:, low]
    left, right = np.maximum(slopes[:, low], 3 * chord), np.maximum(slopes[:, low + 1], 3 * chord)
    bend = u * (1 - u) * ((1 - u) * (left - chord) - u * (right - chord))
    return np.asarray(h[:, low] + u * chord + bend)


@dataclass(frozen=True, eq=False)
class LatentPath:
    """The solution curves through m states, parametrised by the latent radius rho = |y|."""

    model: StableModel
    start: FloatArray
    """rho_0, (m,)."""
    heading: FloatArray
    """y_0 / rho_0, (m, d)."""
    origin: FloatArray
    """psi(x*), (1, d)."""

    @classmethod
    def through(cls, model: StableModel, x0: FloatArray) -> LatentPath:
        origin = forward(model.flow, model.attractor[None])
        y = forward(model.flow, x0) - origin
        rho = np.linalg.norm(y, axis=1)
        rho = np.where((x0 == model.attractor).all(1), 0.0, rho)
        heading = y / np.where(rho > 0, rho, 1.0)[:, None]
        return cls(model, rho, heading, origin)

    def latent(self, rho: FloatArray) -> FloatArray:
        """y on each curve at latent radius rho."""
        ratio = rho / np.where(self.start > 0, self.start, 1.0)
        heading = wound(self.model.swirl, self.heading, np.log(np.maximum(ratio, 1e-300)))
        return np.asarray(rho[:, None] * heading)

    def at(self, rho: FloatArray) -> FloatArray:
        """x on each curve at latent radius rho."""
        x = inverse(self.model.flow, self.latent(rho) + self.origin)
        return np.asarray(np.where((rho > 0)[:, None], x, self.model.attractor), dtype=np.float64)

    def repeated(self, count: int) -> LatentPath:
        """Every curve `count` times, so that `at` can take as many radii of each."""
        return LatentPath(self.model, np.repeat(self.start, count), np.repeat(self.heading, count, axis=0), self.origin)

    def clock(self, rho: FloatArray) -> FloatArray:
        """h = rho + epsilon ln rho."""
        return np.asarray(rho + self.model.softening * np.log(np.maximum(rho, 1e-300)))

    def radius(self, h: FloatArray) -> FloatArray:
        """The inverse of `clock`: rho = epsilon omega(h / epsilon - ln epsilon), omega Wright's function.

        Below e^-600 it is zero: the state is the attractor.
        """
        epsilon = float(self.model.softening)
        argument = h / epsilon - np.log(epsilon)
        return np.asarray(epsilon * wrightomega(np.maximum(argument, -700.0)) * (argument > -600.0))

    def speed(self, h: FloatArray) -> FloatArray:
        """m s(x) on each curve when its clock shows h."""
        return np.asarray(clock_speed(self.model, self.latent(self.radius(h)), self.origin))

    def tick(self, h: FloatArray, dt: float) -> FloatArray:
        """h after dt: a fourth-order step of dh/dt = -m s; a mean of positive speeds, so h always falls."""
        first = self.speed(h)
        second = self.speed(h - 0.5 * dt * first)
        third = self.speed(h - 0.5 * dt * second)
        fourth = self.speed(h - dt * third)
        return np.asarray(h - dt / 6 * (first + 2 * second + 2 * third + fourth))


def _march(
    step: Callable[[FloatArray, float], FloatArray], x0: FloatArray, times: FloatArray, longest: float
) -> FloatArray:
    x, states = x0, [x0]
    for dt, count in _substeps(times, longest):
        for _ in range(count):
            x = step(x, dt)
        states.append(x)
    return np.stack(states, axis=1)


@dataclass(frozen=True)
class Euler:
    """x + dt f(x): what the simplest controller does."""

    longest: float = 0.01

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        return _march(lambda x, dt: x + dt * velocity(model, x), x0, times, self.longest)


@dataclass(frozen=True)
class RungeKutta4:
    """The classical fixed-step method in x."""

    longest: float = 0.02

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        def step(x: FloatArray, dt: float) -> FloatArray:
            a = velocity(model, x)
            b = velocity(model, x + dt / 2 * a)
            c = velocity(model, x + dt / 2 * b)
            d = velocity(model, x + dt * c)
            return np.asarray(x + dt / 6 * (a + 2 * b + 2 * c + d))

        return _march(step, x0, times, self.longest)


@dataclass(frozen=True)
class Adaptive:
    """Adaptive steps in x by SciPy's RK45, each roll-out on its own."""

    relative: float = 1e-6
    absolute: float = 1e-8

    def roll(self, model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
        def slope(_: float, x: FloatArray) -> FloatArray:
            return np.asarray(velocity(model, x[None])[0])

        rows = []
        for x in x0:
            solved = solve_ivp(slope, (times[0], times[-1]), x, t_eval=times, rtol=self.relative, atol=self.absolute)
            rows.append(solved.y.T)
        return np.stack(rows)
