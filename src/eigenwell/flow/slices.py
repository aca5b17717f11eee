"""A field with a parameter: one regression of v on (x, p) for all values together, seen at each of them.

Every value so borrows strength from its neighbours, as far as the kernel reaches along p. A stable rest is followed along p
until it is lost, in replicates that are hardly smoothed: where a state is born or dies has a distribution of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..paths.blocks import sample_hash
from . import bootstrap
from .bootstrap import SAME_ATTRACTOR, Replicate, ensemble, replicates
from .builder import WORK
from .field import FlowField, Whitening, Work
from .integration import FEW, Support
from .portrait import fates, portrait
from .regression import INDUCING, fit_fields, loosened
from .traps import newton
from .votes import located, most_frequent

# Values share what they know: each needs fewer replicates than data of its own.
REPLICATES = 3 * bootstrap.REPLICATES // 5
# A rest is followed in so many steps, halved down to as many parts of one. Between two rests as many values are tried, and as
# many places there are asked.
STEPS = FEW // 2


def sliced(whole: FlowField, p: float) -> FlowField:
    """f(., p) of a field `whole` of (x, p)."""
    return replace(whole, held=np.array([p]))


@dataclass(frozen=True, eq=False)
class AtValue:
    """What is there at one value: attractors in data coordinates and whitened, how often each number came out, scouts (samples
    nearby) and the attractor each ends in, -1 for none; and whether the work was stopped before all replicates were asked."""

    located: tuple[Attractor, ...]
    places: FloatArray
    counts: dict[int, float]
    scouts: FloatArray
    fates: IntArray
    bounded: bool = False


@dataclass(frozen=True, eq=False)
class Swept:
    """One field for all values: the estimate first, then its replicates."""

    frame: Whitening
    centre: float
    scale: float
    y: FloatArray
    p: FloatArray
    v: FloatArray
    fitted: list[tuple[float, FlowField]]
    many: list[Replicate]
    seed: int

    @classmethod
    def of(cls, x: FloatArray, v: FloatArray, p: FloatArray, seed: int, count: int = REPLICATES) -> Swept:
        frame, centre, scale = Whitening.of(x), float(p.mean()), float(p.std())
        order = np.argsort(sample_hash(np.column_stack([x, p]), v), kind="stable")
        y, w, s = frame.enter(x[order]), v[order] @ frame.forward, (p[order] - centre) / scale
        both = np.column_stack([y, s])
        axes = frame.backward if frame.backward.shape[0] == frame.backward.shape[1] else None
        work = Work()
        fitted = [(p, replace(f, work=work)) for p, f in fit_fields(both, w, axes=axes, few=len(both))]
        many = list(replicates(fitted, both, w, seed, count))
        return cls(frame, centre, scale, y, s, w, fitted, many, seed)

    @cached_property
    def loose(self) -> list[FlowField]:
        """Replicates with hardly any smoothing.

        A kernel smooths as much as makes the whole field likeliest, which bends every slope the same way in all replicates: a
        change then lies to one side of the truth, by more than they differ. An interval needs less smoothing than an estimate.
        """
        both = np.column_stack([self.y, self.p])
        loose = [(q, loosened(f, both, self.v)) for q, f in self.fitted]
        return [b.field for b in replicates(loose, both, self.v, self.seed, len(self.many))]

    @property
    def reach(self) -> float:
        """How far apart, in units of the parameter, values still tell about each other: the kernel's length along it."""
        steep = max(float(np.linalg.norm(b.kernel.metric[-1])) for b in self.fitted[0][1].blocks)
        return self.scale / max(steep, np.finfo(np.float64).tiny)

    def inner(self, p: float) -> float:
        return (p - self.centre) / self.scale

    def at(self, value: float) -> AtValue:
        """The attractors at one value; where another number comes out more often, those of the nearest replicate with it."""
        s = self.inner(value)
        near = np.argsort(np.abs(self.p - s), kind="stable")[:INDUCING]
        here = self.y[np.sort(near)]
        field = sliced(self.fitted[0][1], s)
        support = Support.of(here, field.length)
        scouts = here[: INDUCING // 4]
        field.work.left = WORK
        found, carried = portrait(field, here[:FEW], scouts, support)
        others = (Replicate(sliced(b.field, s), sliced(b.estimate, s)) for b in self.many)
        some = ensemble(others, len(self.many), scouts, found)
        bounded = field.work.over
        voted = most_frequent(found, some, here)
        fate = found.number(carried.fate) if voted is found else fates(voted, scouts)[0]
        found = voted
        places = np.array([t.place for t in found.attractors]).reshape(-1, self.y.shape[1])
        known = tuple(located(self.frame, q, trap, some, found) for q, trap in enumerate(found.attractors))
        return AtValue(known, places, some.counts, scouts, np.maximum(fate, -1), bounded)

    def lost(self, place: FloatArray, start: float, stop: float, fields: Sequence[FlowField]) -> FloatArray:
        """How far the stable rest near `place` can be followed from `start` to `stop`: a value of every field that has it."""
        ends = np.array([follow(f, place, self.inner(start), self.inner(stop)) for f in fields])
        return np.asarray(ends[np.isfinite(ends)] * self.scale + self.centre)

    def parts(self, one: FloatArray, other: FloatArray, start: float, stop: float) -> FloatArray:
        """Up to which value the field parts states between two places that are apart at `start`: one for every loose field."""
        ends = [parting(f, one, other, self.inner(start), self.inner(stop)) for f in self.loose]
        return np.array(ends) * self.scale + self.centre


def follow(field: FlowField, place: FloatArray, start: float, stop: float) -> float:
    """The value up to which a stable rest exists; NaN where there is none next to `place` at the start."""
    x, p = _rest(sliced(field, start), place), start
    if x is None:
        return np.nan
    step, finest = (stop - start) / STEPS, abs(stop - start) / STEPS**2
    before, back = x, 0.0
    while abs(p - start) < abs(stop - start) * (1 - 1e-9):
        # A fold is a square root: the last step shows where the next one leads.
        guess = x + (x - before) * (step / back if back else 0.0)
        new = _rest(sliced(field, p + step), guess)
        if new is None or np.linalg.norm(new - x) > SAME_ATTRACTOR:
            step /= 2
            if abs(step) < finest:
                break
            continue
        before, x, p, back = x, new, p + step, step
    return p


def _rest(field: FlowField, guess: FloatArray, stable: bool = True) -> FloatArray | None:
    """The zero next to a guess, where it is as stable as asked; None where there is none."""
    x, done = newton(field, guess[None])
    if not done[0] or (stable and np.linalg.eigvals(field.jacobian(x)[1][0]).real.max() >= 0):
        return None
    return np.asarray(x[0])


def parting(field: FlowField, one: FloatArray, other: FloatArray, start: float, stop: float) -> float:
    """The value at which, between two places that are apart at `start`, the largest real part of an eigenvalue of the slope is
    zero.

    Where a state splits, every trace of asymmetry keeps one branch whole and moves the birth of the other; the slope between
    them does not feel it: x' = p x - x^3 + e has the largest slope p, whatever e is. It is asked along the line of the two
    through the rest between them, which is followed as it moves.
    """
    middle, along = (one + other) / 2, np.linspace(-0.75, 0.75, STEPS)[:, None] * (other - one)
    values, steep = np.linspace(start, stop, STEPS), []
    for s in values:
        here = sliced(field, float(s))
        rest = _rest(here, middle, stable=False)
        if rest is not None and np.linalg.norm(rest - middle) < np.linalg.norm(other - one) / 2:
            middle = rest
        steep.append(float(np.linalg.eigvals(here.jacobian(middle + along)[1]).real.max()))
    below = np.flatnonzero(np.array(steep) < 0)
    if len(below) == 0 or below[0] == 0:
        return stop if len(below) == 0 else start
    k = int(below[0])
    share = steep[k - 1] / (steep[k - 1] - steep[k])
    return float(values[k - 1] + share * (values[k] - values[k - 1]))
