"""Where motions cross: no field without memory can follow two ways through one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from .targets import Bundle

NEAR = 0.02
"""Samples this near, in boxes, are at the same place."""
ANOTHER_WAY = 0.5
"""Cosine of the angle between two velocities below which they are two ways: a field between them follows neither."""
NOTICED = 0.02
"""A smaller share of samples that meet others is a touch, not a crossing."""
MOST = 4000


@dataclass(frozen=True, eq=False)
class Crossing:
    """Sub-dynamics `first` and `second` (alike for one that crosses itself) go different ways through one place."""

    first: int
    second: int
    share: float
    """Of the samples of the first that meet one of the second within 2 % of the box, at more than 60 degrees."""
    place: FloatArray
    """Where, in the data's units: the middle of those samples that is nearest to all of them."""


def crossings(bundles: Sequence[Bundle]) -> list[Crossing]:
    """All crossings within and between bundles of one frame, the largest share first.

    Not around an attractor, where paths that arrive from opposite sides meet head on, as they should.
    """
    frame = bundles[0].frame
    x, v, label = _moving_samples(bundles)
    pairs = cKDTree(x / np.sqrt(x.shape[1] / 2)).query_pairs(NEAR, output_type="ndarray")
    if len(pairs) == 0:
        return []
    pairs = pairs[(v[pairs[:, 0]] * v[pairs[:, 1]]).sum(1) < ANOTHER_WAY]
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    found = []
    for first in range(len(bundles)):
        for second in range(first, len(bundles)):
            met = np.unique(pairs[(label[pairs[:, 0]] == first) & (label[pairs[:, 1]] == second), 0])
            share = len(met) / max(int((label == first).sum()), 1)
            if share > NOTICED:
                middle = np.median(x[met], axis=0)
                place = x[met][np.linalg.norm(x[met] - middle, axis=1).argmin()]
                found.append(Crossing(first, second, share, frame.centre + frame.scale * place))
    return sorted(found, key=lambda one: -one.share)


def crossing_share(bundle: Bundle) -> float:
    """Share of the samples of one motion that meet its own samples going another way; zero below what is noticed."""
    return max((one.share for one in crossings([bundle])), default=0.0)


def _moving_samples(bundles: Sequence[Bundle]) -> tuple[FloatArray, FloatArray, FloatArray]:
    xs, vs, labels = [], [], []
    for q, bundle in enumerate(bundles):
        x, v = np.concatenate(bundle.x), np.concatenate(bundle.v)
        speed = np.linalg.norm(v, axis=1)
        keep = (speed > 0.1 * speed.max()) & (np.linalg.norm(x - bundle.attractor, axis=1) > 5 * NEAR)
        x, v = x[keep], v[keep] / speed[keep, None]
        step = max(1, len(x) * len(bundles) // MOST)
        xs.append(x[::step])
        vs.append(v[::step])
        labels.append(np.full(len(xs[-1]), q))
    return np.concatenate(xs), np.concatenate(vs), np.concatenate(labels)
