"""Places that were moved: an affine map for the shape of the whole, and a flow that carries what is left.

The affine map x -> x + B x + e of the learned world takes goals to where they are now and leaves starts where they are, by
least squares with the least B: with one start and one goal it is the stretch and shear along the way between them, and the look
of a motion is kept exactly. What it leaves is done by the flow that carries landmarks q_i along straight lines (or bows, where
those would meet),

    y <- y + h sum_i k(y, q_i) p_i,      K p = qdot,      k(y, q) = exp(-|(y - q) / l|^2 / 2),      N steps of h = 1 / N.

Each step takes landmarks exactly where they belong, and is a diffeomorphism of R^d since h |du/dy| <= h sum_i |p_i / l| e^(-1/2)
<= 1/2, which N is chosen for.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from .._types import FloatArray, IntArray
from ..errors import DataError
from .flows import Array, namespace

LENGTH = 0.5
"""l, in boxes: what is moved takes its surroundings along over half the extent."""
SOFT = 0.1
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

    def forward(self, x: Array) -> Array:
        """S(x)."""
        y = x @ self.matrix.T + self.shift
        for path, force in zip(self.path, self.force, strict=True):
            y = y + self._kernel(y, path)[0] @ force
        return y

    def linearise(self, x: Array) -> tuple[Array, Dense]:
        """S(x) and DS(x), the product of the steps' I + sum_i h p_i (dk_i/dy)^T."""
        xp = namespace(x)
        y, d = x @ self.matrix.T + self.shift, x.shape[1]
        jacobian = xp.broadcast_to(xp.asarray(self.matrix), (len(x), d, d))
        for path, force in zip(self.path, self.force, strict=True):
            k, away = self._kernel(y, path)
            jacobian = self._slope(k, away, force, d) @ jacobian
            y = y + k @ force
        return y, Dense(jacobian)

    def inverse(self, z: Array) -> Array:
        """S^-1(z): each step undone by Newton's method, from a first guess that is right to half the step."""
        d = z.shape[1]
        for path, force in zip(self.path[::-1], self.force[::-1], strict=True):
            y = z - self._kernel(z, path)[0] @ force
            for _ in range(NEWTON):
                k, away = self._kernel(y, path)
                off = y + k @ force - z
                y = y - np.linalg.solve(self._slope(k, away, force, d), off[:, :, None])[:, :, 0]
                if np.abs(off / self.length).max(initial=0.0) < 1e-12:
                    break
            z = y
        return np.asarray(np.linalg.solve(self.matrix, (z - self.shift).T).T)

    def _kernel(self, y: Array, path: Array) -> tuple[Array, Array]:
        """k, (n, m), and (y - q) / l, (n, m, d)."""
        away = (y[:, None] - path) / self.length
        return namespace(y).exp(-0.5 * (away * away).sum(-1)), away

    def _slope(self, k: Array, away: Array, force: Array, d: int) -> Array:
        xp = namespace(k)
        fall = k[:, :, None] * away / self.length
        return xp.eye(d) - xp.swapaxes(xp.asarray(force)[None], 1, 2) @ fall


class Dense(NamedTuple):
    """DS as matrices (n, d, d)."""

    matrix: Array

    def push(self, w: Array) -> Array:
        return (self.matrix @ w[:, :, None])[:, :, 0]

    def pull(self, w: Array) -> Array:
        return namespace(w).linalg.solve(self.matrix, w[:, :, None])[:, :, 0]

    def push_gradient(self, w: Array) -> Array:
        return (namespace(w).swapaxes(self.matrix, 1, 2) @ w[:, :, None])[:, :, 0]

    def carry(self, v: Array) -> tuple[Array, Array]:
        """A way that is longer now is made in the same time: c = 1."""
        return self.pull(v), namespace(v).ones_like(v[:, 0])

    def slower(self, w: Array) -> Array:
        return namespace(w).ones_like(w[:, 0])

    def back(self, w: Array) -> Array:
        return namespace(w).zeros_like(w)


def moved(
    old: FloatArray, new: FloatArray, goals: IntArray, starts: FloatArray, box: FloatArray, length: float = LENGTH
) -> Moved:
    """The warp that takes places `new` (m, d) to `old`, and starts (k, d) nearly to themselves."""
    matrix, shift = _affine(old / box, new / box, starts / box)
    matrix, shift = matrix * box[:, None] / box, shift * box
    begin = new @ matrix.T + shift
    left = old - begin
    for bulge, shorter in product(BULGES, range(6)):
        size = length * 0.7**shorter * box
        aside = bulge * box * _aside(begin / box, left / box)
        steps = int(np.abs(left / box).max() > NOTHING)
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


def _affine(old: FloatArray, new: FloatArray, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matrix and shift of the world's way back to the learned one, in boxes."""
    d = old.shape[1]
    places = np.concatenate([old, starts])
    shifts = np.concatenate([new - old, np.zeros_like(starts)])
    weight = np.concatenate([np.full(len(old), 0.5 / len(old)), np.full(len(starts), 0.5 / max(len(starts), 1))])
    weight /= weight.sum()
    middle, mean = weight @ places, weight @ shifts
    around = places - middle
    spread = (weight[:, None] * around).T @ around + (SOFT / 2) ** 2 * np.eye(d)
    bend = np.linalg.solve(spread, (weight[:, None] * around).T @ (shifts - mean)).T
    for _ in range(60):
        forward = np.eye(d) + bend
        if np.linalg.det(forward) > 0 and np.linalg.norm(np.linalg.inv(forward) - np.eye(d)) <= STRONGEST:
            break
        bend = 0.9 * bend
    matrix = np.linalg.inv(np.eye(d) + bend)
    return np.asarray(matrix, dtype=np.float64), np.asarray(middle - matrix @ (middle + mean))


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
