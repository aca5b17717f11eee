"""How unlikely a number is among its like: the one model behind every fault.

n numbers measure the same thing, large where something may be wrong; how probable is one as large as s among good episodes?
Two kinds of numbers come in, and for each the least that can be assumed (the largest entropy):

*Excess*, never negative (seconds of rest, distance to a goal): exponential with unknown scale. Of m excesses over the first
quartile q with the sum S,

    P(next - q > y) = 3/4 (1 + y / S)^-m.

*Spread*, about a middle (the logarithm of a duration): Gaussian with unknown scale. With the median c and the scale s of the
middle half, n / 2 numbers,

    P(next - c > y) = P(T > y / s), T of Student with n / 2 degrees of freedom.

No scale is taken to be smaller than a quarter of what matters at all: sets in which three of four episodes never rest do not make
a pause of a blink a fault.

The outer quarters are not looked at (counted, in the first case, as at least as large as the last of the others: a censored
sample), so that bad episodes, as long as they are fewer, do not set the scale by which they are judged. With few episodes the
tail is heavy and nothing is remarkable: that is the price of knowing little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .._types import BoolArray, FloatArray

FEWEST = 5
"""Numbers below which there is no like: the quarters have no members."""
QUARTILES = 2 * NormalDist().inv_cdf(0.75)
"""Standard deviations of a Gaussian between its quartiles."""
LEVEL = 0.01
"""Good episodes of a whole set that one kind of fault may accuse: one in a hundred sets."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Numbers of n episodes and what they mean: probability, the value from which on it is a fault, and which are."""

    value: FloatArray
    p: FloatArray
    threshold: float
    bad: BoolArray

    @property
    def confidence(self) -> FloatArray:
        """1 minus the number of good episodes that would look as bad."""
        return np.asarray(1 - np.minimum(1.0, len(self.p) * self.p))

    def also(self, other: Judged) -> Judged:
        """Bad by both: what one fault moves together, chance does not."""
        return Judged(self.value, np.maximum(self.p, other.p), self.threshold, self.bad & other.bad)


Model = Callable[[FloatArray, float], tuple[FloatArray, float]]
"""(values, least scale) -> P of each, and the number at which n times P is the level."""


def judged(values: FloatArray, matters: float, model: Model) -> Judged:
    """Which of `values` (n,), finite and large where something may be wrong, are too large for their like and matter at all.

    What is smaller than `matters` is no fault, however alike the others are; `model` is `excess` or `spread`.
    """
    n = len(values)
    if n < FEWEST:
        return Judged(values, np.ones(n), float("inf"), np.zeros(n, dtype=bool))
    p, threshold = model(values, matters / 4)
    return Judged(values, p, max(threshold, matters), (n * p <= LEVEL) & (values >= matters))


def spread(values: FloatArray, least: float) -> tuple[FloatArray, float]:
    """Numbers about a middle, Gaussian with unknown scale."""
    from scipy.special import stdtr, stdtrit

    n = len(values)
    low, centre, high = np.quantile(values, (0.25, 0.5, 0.75))
    scale = max((high - low) / QUARTILES, least)
    return np.asarray(stdtr(n / 2, -(values - centre) / scale)), float(centre - scale * stdtrit(n / 2, LEVEL / n))


def excess(values: FloatArray, least: float) -> tuple[FloatArray, float]:
    """Numbers that are never negative, exponential with unknown scale."""
    n = len(values)
    first, last = n // 4, n - 1 - n // 4
    ordered = np.sort(values)
    over = ordered[first + 1 : last + 1] - ordered[first]
    m = len(over)
    total = max(float(over.sum() + (n - 1 - last) * over[-1]), m * least)
    above = np.maximum(values - ordered[first], 0.0)
    limit = ordered[first] + total * ((0.75 * n / LEVEL) ** (1 / m) - 1)
    return np.asarray(0.75 * np.exp(-m * np.log1p(above / total))), float(limit)
