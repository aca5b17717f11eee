"""Motions put to the test as a controller runs them: loops on `motion.step`, left alone and pushed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._types import FloatArray
from .motion import DONE, Motion

if TYPE_CHECKING:
    from .learned import Field

PUSH, LASTING = 0.2, 10
"""A push, in boxes, over this many steps."""
SLOWEST = 20.0
"""A loop is given this many times what its motion takes when it is left alone."""


@dataclass(frozen=True)
class MotionLoop:
    """What loops on `motion.step` did at one rate, from the starts that were shown.

    Attributes
    ----------
    rate : float
        Steps per unit of time.
    pushed : bool
        Whether each was pushed by a fifth of the box, once, at a random moment.
    starts : int
        How many.
    arrived : float
        Share whose motion was done: at its own goal, with nothing left of its path.
    falling : float
        Share of steps along which the lifted V fell, but for those of the push.
    excursion : float
        How far beyond the box the farthest path went, in boxes.

    Examples
    --------
    >>> [loop.pushed for loop in field.certificate(samples=4, rates=(50.0,)).motions]
    [False, True]
    """

    rate: float
    pushed: bool
    starts: int
    arrived: float
    falling: float
    excursion: float

    @property
    def holds(self) -> bool:
        """All arrive. An Euler step cuts corners, so V may rise a little on the way; it is reported."""
        return self.arrived == 1.0

    def __str__(self) -> str:
        return (
            f"motion.step at {self.rate:g} Hz{', pushed' if self.pushed else ''}: {self.arrived:.1%} of {self.starts} arrive, "
            f"V falls at {self.falling:.2%} of the steps, at most {self.excursion:.2f} boxes outside"
        )


def motion_loops(field: Field, rate: float, count: int, rng: np.random.Generator) -> tuple[MotionLoop, ...]:
    """Loops from up to `count` shown starts, left alone and pushed; none for a field without memory."""
    if not field.has_memory:
        return ()
    starts = np.flatnonzero(field.phases == 1.0)
    starts = rng.permutation(starts)[:count]
    alone, shoved = [], []
    for i in starts:
        x0, goal = field.map.present_place(field.samples[i][None])[0], int(field.labels[i])
        steps = _steps(field, x0, goal, rate)
        whole = _run(field, x0, goal, rate, steps)
        alone.append(whole)
        way = rng.standard_normal(field.dimension)
        push = np.tile(PUSH * field.box * way / np.linalg.norm(way) / LASTING, (LASTING, 1))
        at = int(rng.integers(max(1, min(steps, len(whole[0]) - 1))))
        shoved.append(_run(field, x0, goal, rate, steps, push, at))
    return tuple(_told(field, rate, runs, pushed) for runs, pushed in ((alone, False), (shoved, True)))


def follow(
    motion: Motion, x: FloatArray, dt: float, most: int, push: FloatArray | None = None, at: int = 0
) -> FloatArray:
    """The user's own loop, x += dt * motion.step(x, dt), until the motion is done: lifted states (steps made + 1, d + 1).

    It is pushed by the rows of `push`, one a step, from step `at` on, and does not end before them.
    """
    kicks = np.empty((0, len(x))) if push is None else push
    states = []
    for step in range(most):
        velocity = motion.step(x, dt)
        states.append(np.append(x, motion.phase))
        x = x + dt * velocity
        if at <= step < at + len(kicks):
            x = x + kicks[step - at]
        if motion.done and step > at + len(kicks):
            break
    return np.array([*states, np.append(x, motion.phase)])


Run = tuple[FloatArray, FloatArray, bool]
"""Lifted states, V's change of every step that was not pushed, and whether it arrived."""


def _steps(field: Field, x0: FloatArray, goal: int, rate: float) -> int:
    """How many the undisturbed motion takes, at most twice over: its roll-out is followed for longer and longer."""
    duration = 1 / rate
    for _ in range(40):
        duration *= 2
        end = field.lifted[goal].simulate(np.append(x0, 1.0), t=[0.0, duration])[-1, :-1]
        if np.linalg.norm((end - field.attractors[goal]) / field.box) < DONE:
            break
    return int(np.ceil(duration * rate))


def _run(
    field: Field, x0: FloatArray, goal: int, rate: float, steps: int, push: FloatArray | None = None, at: int = 0
) -> Run:
    motion = field.motion(x0, goal=goal, phase=1.0)
    lifted = follow(motion, x0, 1 / rate, int(SLOWEST * steps), push, at)
    # The last state has the phase of the one before it: what the robot did in the last step was never seen.
    change = np.diff(field.lifted[goal].potential(lifted[:-1]))
    pushed = slice(at, at) if push is None else slice(at, at + len(push))
    return lifted, np.delete(change, pushed), motion.done


def _told(field: Field, rate: float, runs: list[Run], pushed: bool) -> MotionLoop:
    low, high = field.home
    changes = np.concatenate([change for _, change, _ in runs])
    beyond = [np.maximum(low - z[:, :-1], z[:, :-1] - high) / field.box for z, _, _ in runs]
    return MotionLoop(
        rate=rate,
        pushed=pushed,
        starts=len(runs),
        arrived=float(np.mean([arrived for _, _, arrived in runs])),
        falling=float((changes < 0).mean()) if len(changes) else 1.0,
        excursion=max(0.0, max(float(one.max()) for one in beyond)),
    )
