"""One motion, followed with memory: a controller that carries its phase, and rejoins its path when pushed.

A motion that crosses itself cannot be followed by looking at x alone. The state is lifted by the phase, z = (x, rho), the
share of the path still to go: 1 at the start, 0 at the goal. Lifted paths do not cross, and the same stable field in
d + 1 dimensions follows them. rho is memory that the controller carries.

The law. With y = psi(z) - psi(z*), R = |y| and h the heading y / R that the motion had at its start (wound with R where
the field winds), and with the part of R h that is perpendicular to y, tau = R h - (R h . y) y / R^2,

    zdot = m J^-1 ( -c s (I + Omega) y / (R + epsilon) + k tau ),      c = 1 / (1 + (|tau| / width)^2).

The first term is the field itself, slowed while the state is off its path; the second turns the state back onto its
path. tau is perpendicular to y, so V = R^2 / 2 falls exactly as without it, Vdot = -m c s R^2 / (R + epsilon) < 0: turning
costs nothing, and the motion arrives whatever pushes it. Where the learned world is stretched, far outside the data
(`warps`), its clock runs faster, and tau is divided by as much: a loop could not follow else.

The robot may not do what it is told. Of the step that was asked, dx, only the share alpha that was seen is credited,
alpha = clip(moved . dx / |dx|^2, 0, 1), and the phase moves by alpha rhodot dt: the lifted state then moves along alpha
zdot, and V falls by alpha of what it would. A robot that is held keeps its phase; one that is slow keeps its path.

A step of dt may be longer than what is left of the way, |z - z*|. `step` then asks for so much less of zdot that it is as long
as that: a loop at a low rate does not run past its goal, to and fro, for ever. V falls as before, more slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import runge_kutta
from .._types import FloatArray
from . import single
from .curves import AT_REST, turning
from .field import StableField
from .flows import Array, namespace
from .queries import check_state, check_step
from .simulation import ARRIVED
from .stable import Wells, latent, latent_velocity, length, winding, wound

RETURN = 10.0
"""k, in 1 / unit time: a push has faded to 1/e in a tenth of the time a box takes at root mean square speed."""
WIDTH = 0.05
"""In latent boxes: this far off its path a motion goes on at half its speed; twice as far, at a fifth."""
CHANGE = 0.25
"""Share of itself that the latent state changes by in a step of `advance`, at most: the error is below a millionth of it."""
MOST_STEPS = 1000
"""Of one call of `advance`."""


@dataclass
class Motion:
    """A motion under way: `step(x, dt)` gives the velocity at the measured state and carries the phase.

    Examples
    --------
    >>> motion = field.motion(field.samples[0])
    >>> motion.done
    False
    """

    lifted: StableField
    """The stable field of (x, phase) that is followed."""
    goal: int
    """Index of its attractor in the field it came from."""
    phase: float
    """1 at the start of a path, 0 at its end."""
    _path: Path = field(repr=False)
    _last: tuple[FloatArray, FloatArray, float] | None = field(default=None, repr=False)
    """The last state, the lifted velocity asked there, and for how long."""
    _start: tuple[FloatArray, float] | None = field(default=None, repr=False)

    @classmethod
    def at(cls, lifted: StableField, goal: int, x0: FloatArray, phase: float) -> Motion:
        """The motion that starts at x0 with some phase.

        Parameters
        ----------
        lifted, goal, phase
            As of the motion.
        x0 : (d,) array

        Returns
        -------
        Motion
        """
        x0, phase = check_state(x0, lifted.dimension - 1), check_phase(phase)
        y = latent(lifted.model, lifted.to_unit(np.append(x0, phase))[:, None])[:, 0] - lifted.wells.goals[0]
        radius = float(np.linalg.norm(y))
        return cls(lifted, goal, phase, Path(y / radius if radius > 0 else y, radius), None, (x0, phase))

    @property
    def attractor(self) -> FloatArray:
        """Where it goes."""
        return np.asarray(self.lifted.attractors[0, :-1])

    @property
    def done(self) -> bool:
        """True once the last state was within a hundredth of the box of the goal, with nothing left of the path."""
        if self._last is None:
            return False
        away = (self._last[0] - self.attractor) / self.lifted.scale[:-1]
        return bool(np.linalg.norm(away) < ARRIVED and abs(self.phase) < 10 * ARRIVED)

    def reset(self, x0: Any = None, phase: float | None = None) -> None:
        """Begin anew, from the first start or from another one.

        Parameters
        ----------
        x0 : (d,) array, optional
        phase : float, optional
        """
        assert self._start is not None
        start = self._start[0] if x0 is None else x0, self._start[1] if phase is None else phase
        self.__dict__.update(Motion.at(self.lifted, self.goal, *start).__dict__)

    def step(self, x: Any, dt: float) -> FloatArray:
        """The velocity to move with for the next dt, at the measured state x (d,).

        Parameters
        ----------
        x : (d,) array
        dt : float
            Time until the next step.

        Returns
        -------
        (d,) array
            The velocity.
        """
        x, dt = self._measured(x), check_step(dt)
        zdot = self._velocity(x)
        scale = self.lifted.scale
        left = (self.lifted.attractors[0] - np.append(x, self.phase)) / scale
        zdot = zdot * _share(shortened, dt * zdot / scale, left)
        self._last = (x, zdot, dt)
        return np.asarray(zdot[:-1])

    def advance(self, x: Any, dt: float) -> FloatArray:
        """Where to be after dt, from the measured state x (d,), for robots that are told positions.

        The same law as `step`, along its true solution: it stays on its path at any rate.

        Parameters
        ----------
        x, dt
            As in `step`.

        Returns
        -------
        (d,) array
        """
        x, dt = self._measured(x), check_step(dt)
        z = np.append(x, self.phase)
        after = self._after(z, dt)
        self._last = (x, (after - z) / dt, dt)
        return np.asarray(after[:-1])

    def _measured(self, state: Any) -> FloatArray:
        """The one state that was measured; what it shows of the last step is credited to the phase."""
        x = check_state(state, self.lifted.dimension - 1)
        if self._last is not None:
            before, zdot, dt = self._last
            scale = self.lifted.scale[:-1]
            share = _share(credited, dt * zdot[:-1] / scale, (x - before) / scale)
            # Not clipped: the proof is about the lifted state as it moves, and off its path it may pass below 0 on its way.
            self.phase += share * dt * float(zdot[-1])
        return x

    def _velocity(self, x: FloatArray) -> FloatArray:
        z = np.append(x, self.phase)
        if (z == self.lifted.attractors[0]).all():
            return np.zeros(len(z))
        here = self.lifted.passage.at(z.tolist())
        return np.array(here.finish(self._asked(here))[0])

    def _asked(self, here: single.Place) -> single.Numbers:
        """The latent velocity of the law."""
        passage, d = self.lifted.passage, self.lifted.dimension
        aim = self._path.aim(self.lifted.wells, np.array(here.y)[:, None])[:, 0]
        ease = 1.0
        if here.warped:
            ease = 1.0 / max(1.0, here.clock(passage.drawn(here)))
        return passage.kernel(law, (1,), (d, 1), (1,))(here.y, [here.speed], aim.tolist(), [ease])

    def _after(self, z: FloatArray, dt: float) -> FloatArray:
        """z = (x, phase) after dt of the law, by Runge-Kutta 4 in the latent space, where it is a few smooth numbers."""
        wells, turn, passage = self.lifted.wells, 1 + turning(self.lifted.wells), self.lifted.passage
        here = passage.begin(z.tolist())

        def slope(y: FloatArray) -> tuple[FloatArray, float]:
            """ydot, and how fast y / R and R change at most."""
            nonlocal here
            here = passage.found(here, y[:, 0].tolist())
            w = self._asked(here)
            m = here.finish(w)[1]
            rate = m * (RETURN + turn * here.speed / (length(y - wells.goals.T)[0] + wells.softening[0]))
            return m * np.array(w)[:, None], float(rate)

        left = dt * self.lifted.pace
        y = np.array(here.y)[:, None]
        while left > 0 and length(y - wells.goals.T)[0] > AT_REST:
            begin, rate = slope(y)
            step = min(left, max(CHANGE / rate, dt * self.lifted.pace / MOST_STEPS))
            y = runge_kutta.step(lambda there: slope(there)[0], y, step, begin)
            left -= step
        return np.array(passage.found(here, y[:, 0].tolist()).towards(y[:, 0].tolist()))


def check_phase(phase: Any) -> float:
    number = isinstance(phase, (int, float, np.integer, np.floating)) and not isinstance(phase, bool)
    if not number or not 0 <= phase <= 1:
        raise ValueError(f"Expected a phase from 1 (start) to 0 (goal), got {phase!r}.")
    return float(phase)


class Path(NamedTuple):
    """The latent path that a motion keeps to: its heading (d + 1,) and R at its start."""

    heading: FloatArray
    radius: float

    def aim(self, wells: Wells, y: FloatArray) -> FloatArray:
        """h, (d + 1, n): the heading, wound with R where the field winds."""
        if not (wells.winds and self.radius > 0):
            return self.heading[:, None]
        r = length(y - wells.goals.T)
        return np.asarray(wound(winding(wells.swirls[0]), self.heading[:, None], wells.window, r, self.radius))


def law(wells: Wells, y: Array, s: Array, aim: Array, ease: Array) -> Array:
    """The latent velocity of the law above but for m, (d + 1, n)."""
    away = y - wells.goals.T
    r = length(away)
    tau = ease * (r * aim - (aim * away).sum(0) / r * away)
    wait = 1.0 / (1.0 + (tau * tau).sum(0) / WIDTH**2)
    return wait * s * latent_velocity(wells, y) + RETURN * tau


def credited(asked: Array, moved: Array) -> Array:
    """alpha above, (n,), of steps dx that were asked and what was seen to move, (d, n); 1 where nothing was asked."""
    xp, square = namespace(asked), (asked * asked).sum(0)
    share = (moved * asked).sum(0) / xp.where(square > 0, square, 1.0)
    return xp.where(square > 0, xp.minimum(xp.maximum(share, 0.0), 1.0), 1.0)


def shortened(step: Array, left: Array) -> Array:
    """Which share of a step is no longer than what is left of the way, (n,)."""
    xp, way, most = namespace(step), (step * step).sum(0), (left * left).sum(0)
    return xp.where(way > most, xp.sqrt(most / xp.where(way > most, way, 1.0)), 1.0)


def _share(function: Callable[[Array, Array], Array], one: FloatArray, other: FloatArray) -> float:
    ((share,),) = single.kernel(function, (len(one), 1), (len(one), 1))(one.tolist(), other.tolist())
    return share


def eased(clock: Array) -> Array:
    """1 / max(1, c): where the learned world is stretched its clock runs c times as fast, and states would be turned back c times
    as fast as a controller can follow."""
    return 1.0 / namespace(clock).maximum(clock, 1.0)
