"""Places that were moved: an affine map for the shape of the whole, and a flow that carries what is left.

A motion with its goal moved by delta should look as it did: start where it was, goal where it is now, and the ways between as a
stretch and shear along the way w from start s to goal show them, x -> x + phi(x) delta with phi = (x - s).w / |w|^2. Those of
one goal begin at many places, and one map of the space serves them all: phi_q = a_q + b_q.(x - m), by least squares over their
places, by length, and their starts. Of one goal alone phi(x*) = 1 exactly, and S is affine:

    S^-1(x) = x + sum_q phi_q(x) delta_q.

Where all goals share a map, and where other places are passed, that leaves something over. It is done by the flow that carries
landmarks q_i along straight lines (or bows, where those would meet),

    y <- y + h sum_i k(y, q_i) p_i,      K p = qdot,      k(y, q) = exp(-|(y - q) / l|^2 / 2),      N steps of h = 1 / N.

Each step takes landmarks exactly where they belong, and is a diffeomorphism of R^d since h |du/dy| <= h sum_i |p_i / l| e^(-1/2)
<= 1/2, which N is chosen for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from .._types import FloatArray, IntArray
from ..errors import DataError
from .flows import Array, namespace
from .warps import Slope

LENGTH = 0.5
"""l, in boxes: what is moved takes its surroundings along over half the extent."""
SOFT = 0.05
"""Ends of a way nearer than this, in boxes, say little about how to stretch it: the ridge of the affine map."""
STRONGEST = 4.0
"""|A^-1 - I| of the affine map A, at most: it shrinks no direction to less than a fifth."""
STEEPEST = 0.5
"""h |du/dy| of a step, at most."""
BULGES = (0.0, 0.2, 0.4)
"""In boxes: landmarks that would run through each other on straight lines make a bow around."""
MOST_STEPS = 48
NOTHING = 1e-12
"""In boxes, and on the diagonal of K."""
NEWTON = 30


class Moved(NamedTuple):
    """S from the world with its new places to the learned one."""

    matrix: Array
    shift: Array
    """S begins with matrix x + shift."""
    path: Array
    """q, (N, m, d): where the landmarks are before each step."""
    force: Array
    """h p, (N, m, d)."""
    length: Array
    """l, (d,)."""
    old: Array
    new: Array
    """(m, d): the landmarks in the learned world and in this one."""
    goals: Array
    """(m,): which attractor each landmark is, -1 for a place that is passed."""

    def __repr__(self) -> str:
        pairs = [
            f"{old.round(4).tolist()} -> {new.round(4).tolist()}" for old, new in zip(self.old, self.new, strict=True)
        ]
        return f"Moved({', '.join(pairs)})"

    @property
    def parts(self) -> list[Affine | Nudge]:
        """The affine map and the steps, a warp each."""
        nudges = [Nudge(path, force, self.length) for path, force in zip(self.path, self.force, strict=True)]
        return [Affine(self.matrix, np.linalg.inv(self.matrix), self.shift), *nudges]


class Affine(NamedTuple):
    """S(x) = A x + b."""

    matrix: Array
    undo: Array
    """A^-1."""
    shift: Array

    def forward(self, x: Array) -> Array:
        """S(x)."""
        return self.matrix @ x + self.shift[:, None]

    def linearise(self, x: Array) -> tuple[Array, Linear]:
        """S(x) and DS."""
        return self.forward(x), Linear(self.matrix, self.undo)

    def inverse(self, z: Array) -> Array:
        """S^-1(z)."""
        return self.undo @ (z - self.shift[:, None])


@dataclass(frozen=True)
class Linear(Slope):
    """DS = A."""

    matrix: Array
    undo: Array
    keeps_speed = False

    def pull(self, w: Array) -> Array:
        return self.undo @ w

    def push_gradient(self, w: Array) -> Array:
        return self.matrix.T @ w


class Nudge(NamedTuple):
    """S(y) = y + sum_i k(y, q_i) h p_i, one step of the flow."""

    path: Array
    force: Array
    """q and h p, (m, d)."""
    length: Array

    def _kernel(self, y: Array) -> tuple[Array, Array]:
        """k, (m, n), and (y - q) / l, (m, d, n)."""
        away = (y - self.path[:, :, None]) / self.length[:, None]
        return namespace(y).exp(-0.5 * (away * away).sum(1)), away

    def forward(self, y: Array) -> Array:
        """S(y)."""
        return y + self.force.T @ self._kernel(y)[0]

    def linearise(self, y: Array) -> tuple[Array, Dense]:
        """S(y) and DS(y) = I + sum_i h p_i (dk_i/dy)^T."""
        k, away = self._kernel(y)
        fall = k[:, None] * away / self.length[:, None]
        matrix = np.eye(len(self.length))[:, :, None] - (self.force[:, :, None, None] * fall[:, None]).sum(0)
        return y + self.force.T @ k, Dense(matrix)

    def inverse(self, z: Array) -> Array:
        """S^-1(z) by Newton's method, from a first guess that is right to half the step."""
        y = 2 * z - self.forward(z)
        for _ in range(NEWTON):
            there, slope = self.linearise(y)
            y = y - slope.pull(there - z)
            if np.abs((there - z) / self.length[:, None]).max(initial=0.0) < NOTHING:
                break
        return y


@dataclass(frozen=True)
class Dense(Slope):
    """DS as matrices I + E, |E| <= 1/2, (d, d, n)."""

    matrix: Array
    keeps_speed = False

    def pull(self, w: Array) -> Array:
        """By elimination, without pivots, which such matrices do not need."""
        rows, answer = list(self.matrix), list(w)
        for k, row in enumerate(rows):
            for i in range(k + 1, len(rows)):
                share = rows[i][k] / row[k]
                rows[i], answer[i] = rows[i] - share * row, answer[i] - share * answer[k]
        for k in reversed(range(len(rows))):
            for j in range(k + 1, len(rows)):
                answer[k] = answer[k] - rows[k][j] * answer[j]
            answer[k] = answer[k] / rows[k][k]
        return namespace(w).stack(answer, axis=0)

    def push_gradient(self, w: Array) -> Array:
        return (self.matrix * w[:, None]).sum(0)


class Leads(NamedTuple):
    """phi_q(x) = share_q + slope_q.(x - middle): how much of each goal's displacement a place follows."""

    middle: FloatArray
    """(d,)."""
    share: FloatArray
    """(Q,)."""
    slope: FloatArray
    """(Q, d)."""


def leads(
    paths: Sequence[tuple[int, FloatArray]], goals: FloatArray, box: FloatArray, only: int | None = None
) -> Leads:
    """Of paths (goal, (n, d)) in the learned world; of one goal's alone, for the fields that have no other."""
    rows, wanted, weights = [np.empty((0, goals.shape[1]))], [np.empty((0, len(goals)))], [np.empty(0)]
    for q, x in paths:
        if only is None or q == only:
            steps = np.append(np.linalg.norm(np.diff(x, axis=0), axis=1), 0.0)
            along, way = (steps + np.append(0.0, steps[:-1])) / max(2 * steps.sum(), NOTHING), goals[q] - x[0]
            phi = (x - x[0]) @ way / (way @ way + (SOFT * box.max()) ** 2)
            # The start counts as much as the whole way.
            rows += [x, x[:1]]
            wanted += [phi[:, None] * (np.arange(len(goals)) == q), np.zeros((1, len(goals)))]
            weights += [along, np.ones(1)]
    x, phi, weight = np.concatenate(rows), np.concatenate(wanted), np.concatenate(weights)
    weight = weight / max(float(weight.sum()), 1.0)
    if only is not None:
        middle, share = goals[only], (np.arange(len(goals)) == only).astype(float)
    elif len(x):
        middle, share = weight @ x, weight @ phi
    else:
        middle, share = goals.mean(0), np.full(len(goals), 1 / len(goals))
    near = (x - middle) / box
    spread = (weight[:, None] * near).T @ near + SOFT**2 * np.eye(len(box))
    slope = np.linalg.solve(spread, (weight[:, None] * near).T @ (phi - share)).T / box
    return Leads(middle, share, slope)


def moved(
    old: FloatArray, new: FloatArray, goals: IntArray, lead: Leads, box: FloatArray, length: float = LENGTH
) -> Moved:
    """The warp that takes places `new` (m, d) to `old`, and starts nearly to themselves."""
    delta, own = np.zeros_like(lead.slope), goals >= 0
    delta[goals[own]] = (new - old)[own]
    matrix, shift = _affine(delta, lead, box)
    begin = new @ matrix.T + shift
    left = old - begin
    for bulge, shorter in product(BULGES, range(6)):
        size = length * 0.7**shorter * box
        aside = bulge * box * _aside(begin / box, left / box)
        # One goal is where it belongs by the affine map alone.
        steps = int(len(old) > 1 and np.abs(left / box).max() > NOTHING)
        while steps <= MOST_STEPS:
            path, force, steepest = _flow(begin, left, aside, size, steps)
            if steepest <= STEEPEST:
                return Moved(matrix, shift, path, force, size, old, new, goals)
            # Landmarks may come nearer to each other on their way: some more than the first step asks for.
            steps = 1 + int(steps * steepest / STEEPEST)
    raise DataError(
        f"Expected places that can be moved without folding the space between them, got {len(old)} of which near ones go "
        "different ways. Move them less, or move those that are near each other together."
    )


def _affine(delta: FloatArray, lead: Leads, box: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matrix and shift of the world's way back to the learned one."""
    bend, eye = delta.T @ lead.slope, np.eye(len(box))
    for _ in range(60):
        forward = (eye + bend) * box / box[:, None]
        if np.linalg.det(forward) > 0 and np.linalg.norm(np.linalg.inv(forward) - eye) <= STRONGEST:
            break
        bend = 0.9 * bend
    matrix = np.linalg.inv(eye + bend)
    return np.asarray(matrix, dtype=np.float64), np.asarray(lead.middle - matrix @ (lead.middle + lead.share @ delta))


def _aside(begin: FloatArray, left: FloatArray) -> FloatArray:
    """For each landmark that moves, a direction across its way, from where it comes nearest to another's."""
    out = np.zeros_like(begin)
    for i, way in enumerate(left):
        length = way @ way
        if length > NOTHING and len(begin) > 1:
            gaps = np.delete(begin + left / 2, i, 0) - begin[i]
            gaps = gaps - np.clip(gaps @ way / length, 0, 1)[:, None] * way
            off = -gaps[np.linalg.norm(gaps, axis=1).argmin()]
            # Where it runs right through, any direction will do: the axis most across.
            off = off + 1e-3 * np.eye(len(way))[np.abs(way).argmin()]
            off = off - (off @ way) / length * way
            out[i] = off / np.linalg.norm(off)
    return out


def _flow(
    begin: FloatArray, left: FloatArray, aside: FloatArray, size: FloatArray, steps: int
) -> tuple[FloatArray, FloatArray, float]:
    """Places of the landmarks before each step, h p, and the steepest step; no steps where nothing is left."""
    t = np.linspace(0, 1, max(steps, 1) + 1)[:, None, None]
    whole = begin + t * left + 4 * t * (1 - t) * aside
    path, moves = whole[:steps], np.diff(whole, axis=0)[:steps]
    away = (path[:, :, None] - path[:, None]) / size
    kernel = np.exp(-0.5 * (away * away).sum(-1))
    force = np.linalg.solve(kernel + NOTHING * np.eye(len(begin)), moves)
    steep = np.linalg.norm(force / size, axis=2).sum(1) * np.exp(-0.5)
    return path, force, float(steep.max(initial=0.0))
