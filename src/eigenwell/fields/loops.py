"""Loops on a field as its users write them, and what came of them:
x += dt * predict(x), x = advance(x, dt), x += dt * motion.step(x, dt)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._types import FloatArray, IntArray
from .motion import Motion
from .simulation import ARRIVED, arrivals

if TYPE_CHECKING:
    from .learned import Field

MOST_STEPS = 200_000
AT_ONCE = 4096
"""States of loops that are held until V is asked for them."""
PUSH, LASTING = 0.2, 10
"""A push, in boxes, over this many steps."""
SLOWEST = 20.0
"""A loop on a motion is given this many times what the motion takes when it is left alone."""


@dataclass(frozen=True)
class Loop:
    """What loops did at one rate, by one method, from one region.

    Examples
    --------
    >>> [loop.pushed for loop in field.certificate(samples=4, rates=(50.0,)).motions]
    [False, True]
    """

    method: str
    """Either "euler", on `predict`; "advance"; or "motion", on `motion.step`, from the starts that were shown."""
    rate: float
    """Steps per unit of time."""
    region: float
    """Size of the box that starts were drawn from, in boxes of the data."""
    starts: int
    """How many."""
    arrived: float
    """Share that came within a hundredth of the box of an attractor; of motions, that was done."""
    as_basin_said: float
    """Share that arrived where `basin` had said, or at the goal of the motion; starts within a step of a border may
    not."""
    falling: float
    """Share of the steps in which V fell."""
    excursion: float
    """How far those that started in the box of the data left it, in boxes: in the world that was learned."""
    path_ratio: tuple[float, float]
    """Median and 95 % quantile of the way made, over the straight way."""
    pushed: bool = False
    """Whether each was pushed by a fifth of the box, once, at a random moment."""

    @property
    def holds(self) -> bool:
        """All arrive, and by `advance` where basin said, with V falling at every step.

        An explicit Euler step is an approximation of its own: it cuts corners, so that V may rise a little where the field
        turns sharply, and takes energy into a field that winds, so that a start near a border may end beyond it. What it did
        is reported; what is asked of it is that it arrives.
        """
        exact = self.method != "advance" or (self.as_basin_said == 1.0 and self.falling >= 0.9999)
        return self.arrived == 1.0 and exact

    def __str__(self) -> str:
        name = "motion.step" if self.method == "motion" else self.method
        source = f" from {self.region:g} x the box" if name == self.method else ", pushed" * self.pushed
        said = "basin said" if name == self.method else "they should"
        return (
            f"{name} at {self.rate:g} Hz{source}: {self.arrived:.1%} of {self.starts} arrive, "
            f"{self.as_basin_said:.1%} where {said}, V falls at {self.falling:.2%} of the steps, "
            f"path / straight {self.path_ratio[0]:.2f} (95 %: {self.path_ratio[1]:.2f}), "
            f"at most {self.excursion:.2f} boxes outside"
        )


def run_loops(
    field: Field, starts: FloatArray, rate: float, region: FloatArray, method: str = "euler", most: int = MOST_STEPS
) -> list[Loop]:
    """The user's loop on `predict` or `advance`, from some starts until each has arrived or its time is up; one for each region.

    Its time is what `patience` allows.
    """
    dt = 1 / rate
    box, said = field.box, field.basin(starts)
    inside = beyond_home(field, field.map.learned_place(starts)) == 0
    x, ends = starts.copy(), np.full(len(starts), -1)
    length, outside, steps, fell = np.zeros((4, len(x)))
    going = asked = np.arange(len(x))
    path = [starts]
    limit = np.minimum(patience(field, starts, dt), most)
    for step in range(int(limit.max())):
        here = x[going]
        moved = here + dt * field.predict(here) if method == "euler" else field.advance(here, dt)
        steps[going] += 1
        length[going] += np.linalg.norm((moved - here) / box, axis=1)
        outside[going] = np.maximum(outside[going], beyond_home(field, field.map.learned_place(moved)))
        x[going] = moved
        away = np.linalg.norm((moved[:, None] - field.attractors) / box, axis=2)
        close = away.min(1) < ARRIVED
        ends[going[close]] = away.argmin(1)[close]
        going = going[~close & (step + 1 < limit[going])]
        path.append(x[asked])
        # V is asked for many states at once: one by one costs a hundredfold.
        if len(path) * len(asked) >= AT_ONCE or len(going) == 0:
            heights = field.potential(np.concatenate(path)).reshape(len(path), -1)
            stepped = np.diff(path, axis=0).any(axis=2)
            fell[asked] += (stepped & (np.diff(heights, axis=0) < 0)).sum(0)
            asked, path = going, [x[going]]
        if len(going) == 0:
            break
    straight = np.linalg.norm((starts - x) / box, axis=1)
    loops = []
    for one in np.unique(region):
        mine = region == one
        there = mine & (ends >= 0) & (straight > ARRIVED)
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
                path_ratio=_ratios(length[there] / straight[there]),
            )
        )
    return loops


def patience(field: Field, starts: FloatArray, dt: float) -> FloatArray:
    """Steps of a loop from each start: three times what the latent roll-out takes, and some more."""
    return np.asarray(np.ceil(3 * arrivals(field.map, starts, field.box)[0] / dt) + 20)


def beyond_home(field: Field, z: FloatArray) -> FloatArray:
    """How far outside of `field.home` some places (n, d) of the learned world are, in boxes; 0 inside."""
    low, high = field.home
    return np.asarray((np.maximum(np.maximum(low - z, z - high), 0.0) / field.box).max(axis=1))


def _ratios(found: FloatArray) -> tuple[float, float]:
    return (float(np.median(found)), float(np.quantile(found, 0.95))) if len(found) else (1.0, 1.0)


def nearly_there(field: Field, starts: FloatArray, left: FloatArray) -> FloatArray:
    """The states on the latent roll-outs from some starts that have `left` time to go."""
    times = np.maximum(arrivals(field.map, starts, field.box)[0] - left, 0.0)
    return np.stack([field.map.simulate(x, t=[0.0, t])[-1] for x, t in zip(starts, times, strict=True)])


# --- motions ------------------------------------------------------------------------------------------


def motion_loops(field: Field, rates: tuple[float, ...], count: int, rng: np.random.Generator) -> tuple[Loop, ...]:
    """Loops on `motion.step` from up to `count` shown starts, left alone and pushed; none for a field without memory.

    They run at the slowest rate, and as long as motions do not arrive at the next one too: what is too slow is then known, and
    so is what is not. However few are asked for, each goal has one.
    """
    if not field.has_memory:
        return ()
    starts = rng.permutation(np.flatnonzero(field.phases == 1.0))
    turn = np.zeros(len(starts))
    for q in range(field.n_attractors):
        mine = field.labels[starts] == q
        turn[mine] = np.arange(mine.sum())
    starts = starts[np.argsort(turn, kind="stable")][: max(count, field.n_attractors)]
    loops: list[Loop] = []
    for rate in sorted(set(rates)):
        loops += _motions_at(field, rate, starts, rng)
        if all(loop.arrived == 1.0 for loop in loops[-2:]):
            break
    return tuple(loops)


def _motions_at(field: Field, rate: float, starts: IntArray, rng: np.random.Generator) -> list[Loop]:
    """Loops left alone, and loops that are pushed."""
    alone, shoved = [], []
    for i in starts:
        x0, goal = field.map.present_place(field.samples[i][None])[0], int(field.labels[i])
        begin, box = np.append(x0, 1.0)[None], np.append(field.box, 1.0)
        steps = int(np.ceil(arrivals(field.lifted[goal], begin, box)[0][0] * rate))
        alone.append(_run(field, x0, goal, rate, steps))
        way = rng.standard_normal(field.dimension)
        push = np.tile(PUSH * field.box * way / np.linalg.norm(way) / LASTING, (LASTING, 1))
        at = int(rng.integers(max(1, min(steps, len(alone[-1][0]) - 1))))
        shoved.append(_run(field, x0, goal, rate, steps, push, at))
    return [_told(field, rate, runs, pushed) for runs, pushed in ((alone, False), (shoved, True))]


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


Run = tuple[FloatArray, FloatArray, bool, float]
"""Lifted states, V's change of every step that was not pushed, whether it arrived, and how far it left the box."""


def _run(
    field: Field, x0: FloatArray, goal: int, rate: float, steps: int, push: FloatArray | None = None, at: int = 0
) -> Run:
    motion = field.motion(x0, goal=goal, phase=1.0)
    lifted = follow(motion, x0, 1 / rate, int(SLOWEST * steps), push, at)
    # The last state has the phase of the one before it: what the robot did in the last step was never seen.
    change = np.diff(field.lifted[goal].potential(lifted[:-1]))
    pushed = slice(at, at) if push is None else slice(at, at + len(push))
    outside = beyond_home(field, motion.lifted.learned_place(lifted)[:, :-1])
    return lifted, np.delete(change, pushed), motion.done, float(outside.max())


def _told(field: Field, rate: float, runs: list[Run], pushed: bool) -> Loop:
    changes = np.concatenate([change for _, change, _, _ in runs])
    ways = [z[:, :-1] / field.box for z, _, _, _ in runs]
    lengths = np.array([np.linalg.norm(np.diff(way, axis=0), axis=1).sum() for way in ways])
    straight = np.array([np.linalg.norm(way[-1] - way[0]) for way in ways])
    arrived = float(np.mean([done for _, _, done, _ in runs]))
    return Loop(
        method="motion",
        rate=rate,
        region=1.0,
        starts=len(runs),
        arrived=arrived,
        as_basin_said=arrived,
        falling=float((changes < 0).mean()) if len(changes) else 1.0,
        excursion=max(outside for _, _, _, outside in runs),
        path_ratio=_ratios((lengths / np.maximum(straight, ARRIVED))[straight > ARRIVED]),
        pushed=pushed,
    )
