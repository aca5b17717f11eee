"""What the data say between the demonstrations: the smoothest field that explains them, and how sure that is.

A Gaussian process for every component of the velocity, with a flat prior on its affine part,

    v(x) = B [1, x] + g(x) + noise,    cov g = alpha^2 exp(-|x - x'|^2 / 2 l^2),

is conditioned on samples of the paths. Length l and noise are those that predict every path best from the others, and
alpha is such that the errors of those predictions are as large as announced (leave one path out, in closed form). States
drawn in the box of the data, with the velocity expected there and a weight that falls with its uncertainty, then guide the
stable field where no path came: in a smooth system nearly everywhere, beside crossing strokes nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._types import FloatArray, IntArray
from .targets import Bundle
from .tube import squared_distances

LENGTHS = 0.1 * 2.0 ** np.arange(0, 4.5, 0.5)
"""Of the kernel, in boxes: from a tenth, finer than paths are apart, to 1.6, where it is as good as a polynomial."""
NOISES = (1e-5, 1e-4, 1e-3, 1e-2)
"""Variance of the noise in units of alpha^2; less would be lost in rounding."""
GOOD_ENOUGH = 0.1
"""Errors below this share of the root mean square speed no longer decide: a few outliers must not, either."""
AFFINE = 100.0
"""Prior variance of the affine part in units of alpha^2: as good as flat."""
NODES, DRAWS = 400, 3000
DOUBT = 0.1
"""An uncertainty of this much, in units of the root mean square speed, halves the weight of a state; and data whose paths
are predicted from each other to within it are one smooth field. Known systems reach 0.01, people's motions 0.15 to 0.4."""
HOME = 0.15
"""Nearer than this to a sample, in boxes, its heading counts for more than the way to it."""
FAR, BLOCK = 3.0, 250
"""Half of the places are drawn in the box, half in three times it."""
MOVING = 0.02
"""Samples slower than this share of the fastest have no direction worth learning."""
PIECES = 6
"""A path is cut into parts where there are fewer paths than this, so that something can be left out."""


@dataclass(frozen=True, eq=False)
class Guide:
    """States (n, d), the velocity expected at each, and a weight 0..1, in unit coordinates."""

    x: FloatArray
    v: FloatArray
    weight: FloatArray
    error: float
    """Median error of a path predicted from the others, in units of the root mean square speed."""

    @property
    def smooth(self) -> bool:
        """Whether the data are samples of one smooth field, and not ways that people chose."""
        return self.error < DOUBT


def no_guide(bundles: Sequence[Bundle]) -> Guide:
    """Nothing known between the paths."""
    nowhere = np.zeros((1, bundles[0].dimension))
    return Guide(nowhere, nowhere, np.zeros(1), np.inf)


def guide(bundles: Sequence[Bundle], *, seed: int = 0) -> Guide:
    """States drawn in the box of the bundles with what the data say there."""
    x, v, block = _nodes(bundles)
    rng = np.random.default_rng(seed)
    drawn = rng.uniform(x.min(0), x.max(0), (DRAWS, x.shape[1]))
    fitted = _fit(x, v, block)
    cross = fitted.kernel(drawn, x)
    spread = 1 + AFFINE * (_affine(drawn) ** 2).sum(1) - ((cross @ fitted.inverse) * cross).sum(1)
    variance = fitted.alpha2 * np.maximum(spread, 0.0)
    weight = 1 / (1 + variance * x.shape[1] / DOUBT**2)
    return Guide(drawn, cross @ fitted.solved, weight, fitted.error)


@dataclass(frozen=True, eq=False)
class Home:
    """States (n, d) and the direction expected at each, in unit coordinates."""

    x: FloatArray
    v: FloatArray


def way_home(bundles: Sequence[Bundle], *, outside: bool, seed: int = 0) -> Home:
    """States in the box and in three times it, and which way is home: to the paths, turning into their headings.

    The mean over all samples, weighted by distance^-3, of heading + min(distance / HOME, 1) x direction to the sample: a
    direction that is smooth but on the paths themselves, where it is theirs. The nearest sample's alone would jump where
    another becomes the nearest, and the field would curl to obey. `outside`: not in the box itself, where the guide knows
    better.
    """
    x, v, _ = _nodes(bundles)
    speed = np.linalg.norm(v, axis=1)
    moving = speed > MOVING * speed.max()
    x, heading = x[moving], v[moving] / speed[moving, None]
    low, high = x.min(0), x.max(0)
    middle, half = (low + high) / 2, (high - low) / 2
    drawn = np.random.default_rng([seed, 2]).uniform(-1, 1, (DRAWS, x.shape[1]))
    drawn[::2] *= FAR
    drawn = middle + half * drawn
    if outside:
        beyond = ((drawn < low) | (drawn > high)).any(1)
        # As many for every model, so that they can be trained side by side.
        drawn = drawn[np.resize(np.flatnonzero(beyond), DRAWS)]
    way = np.empty_like(drawn)
    for start in range(0, DRAWS, BLOCK):
        part = slice(start, start + BLOCK)
        to = x[None] - drawn[part, None]
        distance = np.maximum(np.linalg.norm(to, axis=2), 1e-9)
        share = (distance.min(1, keepdims=True) / distance) ** 3
        towards = np.minimum(1 / HOME, 1 / distance)[:, :, None] * to
        way[part] = (share[:, :, None] * (heading + towards)).sum(1)
    return Home(drawn, way)


def _nodes(bundles: Sequence[Bundle]) -> tuple[FloatArray, FloatArray, IntArray]:
    """Samples of all paths, even in length and in time alike, and the block each belongs to."""
    paths = [(x, v) for bundle in bundles for x, v in zip(bundle.x, bundle.v, strict=True)]
    count = max(12, NODES // len(paths))
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
    thin = max(1, -(-len(x) // (3 * NODES)))
    return x[::thin], v[::thin], block[::thin]


@dataclass(frozen=True, eq=False)
class _Process:
    length: float
    noise: float
    alpha2: float
    error: float
    """Median error of a path predicted from the others, in units of the root mean square speed."""
    inverse: FloatArray
    solved: FloatArray

    def kernel(self, a: FloatArray, b: FloatArray) -> FloatArray:
        return _kernel(squared_distances(a, b), self.length) + AFFINE * _affine(a) @ _affine(b).T


def _fit(x: FloatArray, v: FloatArray, block: IntArray) -> _Process:
    """The length and noise that predict every block best from the others."""
    distance = squared_distances(x, x)
    trend = AFFINE * _affine(x) @ _affine(x).T
    members = [np.flatnonzero(block == k) for k in np.unique(block)]
    best, chosen = np.inf, None
    for length in LENGTHS:
        kernel = _kernel(distance, length) + trend
        for noise in NOISES:
            factor = cho_factor(kernel + noise * np.eye(len(x)), lower=True, check_finite=False)
            inverse = cho_solve(factor, np.eye(len(x)), check_finite=False)
            solved = inverse @ v
            # The error of a block predicted from the others is (A^-1_bb)^-1 (A^-1 v)_b, its covariance (A^-1_bb)^-1.
            error, squares = np.empty_like(v), 0.0
            for mine in members:
                error[mine] = np.linalg.solve(inverse[np.ix_(mine, mine)], solved[mine])
                squares += float((solved[mine] * error[mine]).sum())
            misfit = float(np.sqrt((error**2).sum(1) + GOOD_ENOUGH**2).mean())
            if misfit < best:
                best = misfit
                chosen = _Process(
                    length=float(length),
                    noise=noise,
                    alpha2=squares / v.size,
                    error=float(np.median(np.linalg.norm(error, axis=1))),
                    inverse=inverse,
                    solved=solved,
                )
    assert chosen is not None
    return chosen


def _kernel(squared: FloatArray, length: float) -> FloatArray:
    return np.asarray(np.exp(squared / (-2 * length**2)))


def _affine(x: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(x)), x])
