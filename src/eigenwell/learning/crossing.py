"""Where motions cross: no field without memory can follow two ways through one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from .targets import APART, BESIDE, FINE, Bundle, arc_to_go, on_other_strand

NOTICED = 0.005
"""A smaller share of a path's length that meets others is a touch: one crossing of a path of eight boxes is a hundredth."""
MOST = 4000
"""Paths are looked at at every half of what is near, whatever their sampling; more coarsely where they are very many."""


@dataclass(frozen=True, eq=False)
class Crossing:
    """Sub-dynamics `first` and `second` (alike for one that crosses itself) go different ways through one place."""

    first: int
    second: int
    share: float
    """Of the length of the first that meets the second within 2 % of the box, at more than 45 degrees."""
    place: FloatArray
    """Where, in the data's units: the middle of those samples that is nearest to all of them."""


def crossings(bundles: Sequence[Bundle]) -> list[Crossing]:
    """All crossings within and between bundles of one frame, the largest share first.

    Not around an attractor, where paths that arrive from opposite sides meet head on, as they should; but a way that leaves
    it meets what rests there.
    """
    frame = bundles[0].frame
    x, v, label, rest, leaves = _even_samples(bundles)
    pairs = cKDTree(x / np.sqrt(x.shape[1] / 2)).query_pairs(FINE, output_type="ndarray")
    i, j = pairs.T
    near = np.linalg.norm(x[i] - x[j], axis=1)
    apart = (label[i] != label[j]) | on_other_strand(rest[i], rest[j], near)
    # Beyond 45 degrees two velocities are two ways: a field between them follows neither.
    pairs = pairs[apart & ((v[i] * v[j]).sum(1) < np.sqrt(0.5))]
    pairs = np.concatenate([pairs, pairs[:, ::-1], np.flatnonzero(leaves)[:, None] * [1, 1]])
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


def comes_back(bundle: Bundle) -> bool:
    """Whether a path crosses itself, or leaves its own goal: no latent space has it straight, from end to end."""
    return any(crossings([alone]) for alone in bundle.paths())


def _even_samples(bundles: Sequence[Bundle]) -> tuple[FloatArray, ...]:
    """Places and directions at even steps of length along all paths, with their motion, the length still to go, and whether they
    are where their attractor is and leave it."""
    total = sum(arc_to_go(x, bundle.attractor)[0] for bundle in bundles for x in bundle.x)
    spacing = max(FINE / 2, total / MOST)
    xs, vs, labels, rests, leaving = [], [], [], [], []
    for q, bundle in enumerate(bundles):
        for x, v in zip(bundle.x, bundle.v, strict=True):
            rest = arc_to_go(x, bundle.attractor)
            done = rest[0] - rest
            at = np.arange(0, done[-1], spacing)
            place, way = (np.column_stack([np.interp(at, done, c) for c in a.T]) for a in (x, v))
            speed = np.linalg.norm(way, axis=1)
            away = np.linalg.norm(place - bundle.attractor, axis=1)
            farthest = np.maximum.accumulate(away[::-1])[::-1]
            leaves = (away < BESIDE) & (farthest > APART + 4 * away)
            keep = (speed > 0.05 * np.linalg.norm(v, axis=1).max()) & (leaves | (away > BESIDE))
            xs.append(place[keep])
            vs.append(way[keep] / speed[keep, None])
            labels.append(np.full(int(keep.sum()), q))
            rests.append(rest[0] - at[keep])
            leaving.append(leaves[keep])
    return tuple(np.concatenate(column) for column in (xs, vs, labels, rests, leaving))
