"""Are paths samples of one smooth field? Each is predicted from the others.

A Gaussian process for every component of the velocity, with a flat prior on its affine part,

    v(x) = B [1, x] + g(x) + noise,    cov g = alpha^2 exp(-|x - x'|^2 / 2 l^2),

is conditioned on samples of the paths. Length l and noise are those that predict every path best from the others, and
alpha is such that the errors of those predictions are as large as announced: with A the covariance, the error of a path b
that is left out is (A^-1_bb)^-1 (A^-1 v)_b, and (A^-1_bb)^-1 its covariance. Known systems are predicted to a hundredth of their
speed; the ways that people choose, which cross and differ in pace, to .15 to .4 of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._types import FloatArray, IntArray
from .estimation import NOTABLE
from .field import radial
from .orbits import SHORTEST_TURN
from .regression import INDUCING_CHOOSING

LENGTHS = 0.1 * 2.0 ** np.arange(0, 4.5, 0.5)
"""Of the kernel, in boxes: from a tenth, finer than paths are apart, to 1.6, where it is as good as a polynomial."""
NOISES = 10.0 ** np.arange(-5, -1)
"""Variance of the noise in units of alpha^2; less would be lost in rounding."""
ONE_FIELD = NOTABLE
"""Paths that are predicted from each other to this share of the root mean square speed are of one field; errors below it no
longer decide on the kernel."""
AFFINE = 100.0
"""Prior variance of the affine part in units of alpha^2: as good as flat."""
NODES, FEWEST = INDUCING_CHOOSING, SHORTEST_TURN
"""Samples that are looked at, and of every path."""
PIECES = FEWEST // 2
"""A path is cut into parts where there are fewer paths than this, so that something can be left out."""

Paths = Sequence[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Process:
    """The process that predicts paths best from each other, at its `nodes` (n, d); `error` is the median of what it misses, in
    units of the velocities."""

    nodes: FloatArray
    length: float
    alpha2: float
    error: float
    inverse: FloatArray
    solved: FloatArray

    @property
    def smooth(self) -> bool:
        """Whether the paths are of one smooth field, and not ways that people chose."""
        return self.error < ONE_FIELD

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The velocity expected at x (n, d), and its variance (n,) in each component."""
        cross = radial(x / self.length, self.nodes / self.length, 0.0) + AFFINE * _affine(x) @ _affine(self.nodes).T
        spread = 1 + AFFINE * (_affine(x) ** 2).sum(1) - ((cross @ self.inverse) * cross).sum(1)
        return cross @ self.solved, self.alpha2 * np.maximum(spread, 0.0)


def one_field(paths: Paths, most: int = 3 * NODES) -> Process:
    """The process of paths (x, v), in a unit box and with a root mean square speed of 1; `most` samples are looked at."""
    x, v, block = nodes(paths, most)
    trend = AFFINE * _affine(x) @ _affine(x).T
    members = [np.flatnonzero(block == k) for k in np.unique(block)]
    best, chosen = np.inf, None
    for length in LENGTHS:
        kernel = radial(x / length, x / length, 0.0) + trend
        for noise in NOISES:
            factor = cho_factor(kernel + noise * np.eye(len(x)), lower=True, check_finite=False)
            inverse = cho_solve(factor, np.eye(len(x)), check_finite=False)
            solved = inverse @ v
            error, total = np.empty_like(v), 0.0
            for mine in members:
                error[mine] = np.linalg.solve(inverse[np.ix_(mine, mine)], solved[mine])
                total += float((solved[mine] * error[mine]).sum())
            misfit = float(np.sqrt((error**2).sum(1) + ONE_FIELD**2).mean())
            if misfit < best:
                miss = float(np.median(np.linalg.norm(error, axis=1)))
                best, chosen = misfit, Process(x, float(length), total / v.size, miss, inverse, solved)
    assert chosen is not None
    return chosen


def nodes(paths: Paths, most: int = 3 * NODES) -> tuple[FloatArray, FloatArray, IntArray]:
    """Samples of all paths, even in length and in time alike, and the block each belongs to."""
    count = max(FEWEST, NODES // len(paths))
    parts = max(1, -(-PIECES // len(paths)))
    xs, vs, blocks = [], [], []
    for k, (x, v) in enumerate(paths):
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        along = length / length[-1] + np.linspace(0, 1, len(x))
        index = np.unique(np.searchsorted(along, np.linspace(0, 2, count)).clip(0, len(x) - 1))
        xs.append(x[index])
        vs.append(v[index])
        blocks.append(k * parts + np.minimum((along[index] * parts / 2).astype(int), parts - 1))
    x, v, block = np.concatenate(xs), np.concatenate(vs), np.concatenate(blocks)
    thin = max(1, -(-len(x) // most))
    return x[::thin], v[::thin], block[::thin]


def _affine(x: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(x)), x])
