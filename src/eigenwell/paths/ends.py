"""Which paths end at the same attractor.

Ends are joined by single linkage; the scale at which to cut is read off the widest gap, in ratio, between successive
merging distances. Two scales frame the search: ends within a step cannot be told apart, and ends farther apart than a
quarter of the data's radius are not taken for one attractor unless nothing else fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from .._types import FloatArray, IntArray

# Ends of one attractor lie within this share of the data's radius; hand-drawn strokes scatter by a few hundredths.
REACH = 0.25
# An attractor seen by a single path shows no scatter to compare a gap with, so a reading with some of them is weaker
# than one without, and a reading where every path has its own is the weakest.
SOME_LONE, ALL_LONE = 1 / 2, 1 / 3


@dataclass(frozen=True)
class Grouping:
    """`group[k]` for every end; the threshold may lie anywhere in (`low`, `high`) without changing the groups.

    `weight` is less than one where attractors are seen by a single path; a reading scores weight log(high/low).
    `rival` is the number of groups of the second-best reading, `rival_score` its score.
    """

    group: IntArray
    low: float
    high: float
    weight: float
    rival: int | None
    rival_score: float

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1

    @property
    def score(self) -> float:
        return self.weight * float(np.log(self.high / self.low))

    @property
    def confidence(self) -> float:
        """1 - (low/high)^weight: 0 when the threshold has no room, 0.9 when it can move by a factor of ten."""
        return 1.0 - float(np.exp(-self.score))


def group_ends(ends: FloatArray, resolution: float, radius: float) -> Grouping:
    """Groups of ends (K, d). `resolution` is the distance below which ends coincide, `radius` that of the data."""
    k = len(ends)
    reach = REACH * radius
    resolution = min(resolution, reach)
    if k == 1:
        return Grouping(np.zeros(1, dtype=np.intp), resolution, max(reach, resolution), ALL_LONE, None, 0.0)
    tree = linkage(pdist(ends), "single")
    height = np.concatenate([[resolution], tree[:, 2], [reach]])
    height = np.maximum.accumulate(np.maximum(height, resolution))
    low, high = height[:-1], height[1:]
    # Cutting after m merges leaves k - m groups.
    ratio = np.log(high / low)
    weight = np.array([_weight(tree, k - m) if ratio[m] > 0 else 0.0 for m in range(k)])
    score = ratio * weight
    best = int(np.argmax(score))
    others = np.where(np.arange(k) == best, 0.0, score)
    second = int(np.argmax(others))
    return Grouping(
        group=_cut(tree, k - best),
        low=float(low[best]),
        high=float(high[best]),
        weight=float(weight[best]) or ALL_LONE,
        rival=k - second if others[second] > 0 else None,
        rival_score=float(others[second]),
    )


def _cut(tree: FloatArray, n_groups: int) -> IntArray:
    """Labels by order of first appearance."""
    raw = fcluster(tree, n_groups, "maxclust")
    _, first, label = np.unique(raw, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label].astype(np.intp)


def _weight(tree: FloatArray, n_groups: int) -> float:
    size = np.bincount(_cut(tree, n_groups))
    if size.max() == 1:
        return ALL_LONE
    return SOME_LONE if size.min() == 1 else 1.0
