"""Known systems: the field, the true attractors, and samples as in the paper's experiments.

>>> import eigenwell as ew
>>> ew.systems.heart.sample(seed=0)
Demonstrations(6006 samples in 2-D, 6 trajectories)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._types import FloatArray
from .demonstrations import DataError, Demonstrations

Field = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class System:
    """A vector field with known attractors, and the experiment that samples it.

    Starts are drawn from `box` and kept until every attractor has its share, so that any seed gives a valid
    experiment; which attractor a start belongs to is read off the integrated trajectory.
    """

    name: str
    field: Field
    attractors: FloatArray
    box: FloatArray
    duration: float
    frequency: float
    n_per_attractor: int = 3
    # Long enough for every trajectory to have chosen its attractor, where `duration` is not.
    settling: float = 60.0

    @property
    def dimension(self) -> int:
        return int(self.attractors.shape[1])

    def sample(
        self,
        seed: int = 0,
        *,
        n_per_attractor: int | None = None,
        duration: float | None = None,
        frequency: float | None = None,
    ) -> Demonstrations:
        """Trajectories from random starts, grouped by attractor, with exact velocities and `truth`."""
        share = n_per_attractor or self.n_per_attractor
        duration, frequency = duration or self.duration, frequency or self.frequency
        starts, owner = self._starts(np.random.default_rng(seed), share)
        n_steps = round(duration * frequency)
        states = integrate(self.field, starts, 1 / frequency, n_steps)
        x = [np.ascontiguousarray(states[:, k]) for k in range(len(starts))]
        demos = Demonstrations.from_trajectories(x, [self.field(xk) for xk in x], dt=1 / frequency)
        return demos.with_truth(np.repeat(owner, n_steps + 1), self.attractors)

    def _starts(self, rng: np.random.Generator, share: int) -> tuple[FloatArray, FloatArray]:
        kept: list[list[FloatArray]] = [[] for _ in self.attractors]
        step = 1 / self.frequency
        for _ in range(100):
            drawn = rng.uniform(self.box[:, 0], self.box[:, 1], size=(8 * share * len(kept), self.dimension))
            last = integrate(self.field, drawn, step, round(self.settling / step), keep_all=False)[-1]
            distance = np.linalg.norm(last[:, None] - self.attractors, axis=2)
            nearest = distance.argmin(axis=1)
            # A start whose trajectory still wanders lies on a separatrix, or belongs to an attractor not listed.
            settled = distance.min(axis=1) < 0.05 * np.ptp(self.box, axis=1).max()
            for q, group in enumerate(kept):
                group.extend(drawn[settled & (nearest == q)][: share - len(group)])
            if all(len(group) == share for group in kept):
                return np.concatenate(kept), np.repeat(np.arange(len(kept)), share)
        raise DataError(f"Found no {share} starts for every attractor of {self.name} in its box; widen the box.")


def integrate(field: Field, x0: FloatArray, dt: float, n_steps: int, *, keep_all: bool = True) -> FloatArray:
    """Classical Runge-Kutta for many starts at once, with substeps of at most 10 ms: (n_steps + 1, k, d)."""
    substeps = max(1, int(np.ceil(dt / 0.01)))
    h = dt / substeps
    x = np.array(x0, dtype=np.float64)
    states = [x]
    for _ in range(n_steps):
        for _ in range(substeps):
            k1 = field(x)
            k2 = field(x + h / 2 * k1)
            k3 = field(x + h / 2 * k2)
            k4 = field(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if keep_all:
            states.append(x)
    return np.stack(states if keep_all else [x])


def _heart(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([2 * a - a * b, 2 * a**2 - b], axis=-1)


def _pendulum(x: FloatArray) -> FloatArray:
    # l/g as printed in the paper (g/l is meant); with l = 1, k = 0.2 a run of 60 s ends at rest.
    length, g, k = 1.0, 9.81, 0.2
    angle, speed = x[..., 0], x[..., 1]
    return np.stack([speed, -length / g * np.sin(angle) - k * length * speed], axis=-1)


def _duffing(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([b, 0.3 * (4 * a - a**3 - b)], axis=-1)


def _four_wells(x: FloatArray) -> FloatArray:
    # -grad U of U = sum (x_i^2 - 1)^2 / 4, turned by a fixed angle: spirals into (+-1, +-1).
    a, b = x[..., 0] ** 3 - x[..., 0], x[..., 1] ** 3 - x[..., 1]
    return np.stack([-a + 0.8 * b, -b - 0.8 * a], axis=-1)


def wells(centres: FloatArray, rate: FloatArray, width: float = 0.5) -> tuple[Field, FloatArray]:
    """xdot = -R (x - sum_q w_q(x) c_q), w = softmax(-|x - c_q|^2 / 2 width^2): attractors in any dimension.

    R has eigenvalues in the right half-plane; equilibria do not depend on it. Returns the field and its stable
    equilibria, by fixed-point iteration from the centres.
    """

    def pull(x: FloatArray) -> FloatArray:
        e = -((x[..., None, :] - centres) ** 2).sum(-1) / (2 * width**2)
        w = np.exp(e - e.max(-1, keepdims=True))
        return np.asarray((w / w.sum(-1, keepdims=True)) @ centres, dtype=np.float64)

    def field(x: FloatArray) -> FloatArray:
        return np.asarray((pull(x) - x) @ rate.T, dtype=np.float64)

    attractors = centres
    for _ in range(200):
        attractors = pull(attractors)
    return field, attractors


def _rotating(d: int, decay: float, turn: float) -> FloatArray:
    """decay I + turn times a block-diagonal rotation."""
    rate = decay * np.eye(d)
    for i in range(0, d - 1, 2):
        rate[i, i + 1], rate[i + 1, i] = -turn, turn
    return rate


def _wells_system(name: str, centres: FloatArray, duration: float) -> System:
    d = centres.shape[1]
    field, attractors = wells(centres, _rotating(d, 1.0, 1.5))
    box = np.column_stack([centres.min(0) - 1.0, centres.max(0) + 1.0])
    # d + 1 trajectories an attractor: the fewest whose embedding has d dimensions.
    return System(name, field, attractors, box, duration, 100.0, n_per_attractor=d + 1, settling=duration)


heart = System("heart", _heart, np.array([[-1.0, 2.0], [1.0, 2.0]]), np.array([[-2.0, 2.0], [-1.0, 5.0]]), 10.0, 100.0)
pendulum = System(
    "pendulum",
    _pendulum,
    np.array([[0.0, 0.0], [2 * np.pi, 0.0]]),
    np.array([[1.0, 2 * np.pi - 1.0], [-0.6, 0.6]]),
    60.0,
    10.0,
)
_DUFFING = (np.array([[-2.0, 0.0], [2.0, 0.0]]), np.array([[-4.0, 4.0], [-4.0, 4.0]]))
duffing = System("duffing", _duffing, *_DUFFING, 40.0, 25.0)
# As printed: five seconds leave half of the motion (exp(-0.15 * 5) = 0.47), so trajectories do not end at rest.
duffing_short = System("duffing_short", _duffing, *_DUFFING, 5.0, 200.0)
four_wells = System(
    "four_wells",
    _four_wells,
    np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]),
    np.array([[-2.0, 2.0], [-2.0, 2.0]]),
    6.0,
    100.0,
)
three_d = _wells_system("three_d", np.array([[2.0, 0.0, 0.0], [-1.0, 1.7, 0.5], [-1.0, -1.7, -0.5]]), 8.0)
ten_d = _wells_system("ten_d", 1.5 * np.random.default_rng(10).choice([-1.0, 1.0], size=(4, 10)), 8.0)

all_systems = (heart, pendulum, duffing, four_wells, three_d, ten_d)
