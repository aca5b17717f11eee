"""Recovered paths beside others: where one breaks off, another may run on; a scrap of samples may lie on a path.

The tail of a path may have been given to its neighbour, or a pause on the way may have torn it in two. Two states with the same
place and velocity have the same fate, so the lost path belongs to the attractor of the path that runs on. Scraps, paths
too short to be trusted, are mostly slow samples whose velocity is noise: their places alone say on which path they lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .arrival import AT_REST, full_speed
from .settings import DEFAULT

# Links that miss their heading by less than this share of a step are beyond doubt; of others the samples around are asked.
ASKEW = 0.2
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Tails:
    """Mean place and velocity (m, d) of the last samples of some paths, the numbers of these paths (m,), and the speed (m,)
    below which each is at rest."""

    x: FloatArray
    v: FloatArray
    path: IntArray
    rest: FloatArray


def tails(x: FloatArray, v: FloatArray, offsets: IntArray, which: IntArray, number: IntArray) -> Tails:
    """Tails of the paths at `which`; x and v (n, d) lie path after path, and path k has the number `number[k]`."""
    last = [slice(max(offsets[k], offsets[k + 1] - DEFAULT.half_fit), offsets[k + 1]) for k in which]
    d = x.shape[1]
    places, paces = ([a[s].mean(axis=0) for s in last] for a in (x, v))
    rest = AT_REST * np.array([full_speed(v[offsets[k] : offsets[k + 1]]) for k in which])
    return Tails(np.array(places).reshape(-1, d), np.array(paces).reshape(-1, d), number[which], rest)


def running_on(
    lost: Tails, x: FloatArray, v: FloatArray, offsets: IntArray, number: IntArray, reach: float
) -> tuple[IntArray, FloatArray]:
    """For every tail the number of the other path that runs through it with a velocity like its own, -1 for none.

    Also by how much it misses (m,), 0 to 2: squared distance in units of `reach`, plus squared difference of velocity in units
    of the largest that is alike (at rest all are); the path that misses least is taken. A path's state is the mean of the
    samples around its nearest one, as many as at a tail.
    """
    found, miss = np.full(len(lost.path), -1, dtype=np.intp), np.full(len(lost.path), np.inf)
    half = DEFAULT.half_fit // 2
    for i, near in enumerate(cKDTree(x).query_ball_point(lost.x, reach)):
        samples = np.array(near, dtype=np.intp)
        path = np.searchsorted(offsets, samples, side="right") - 1
        away = np.linalg.norm(x[samples] - lost.x[i], axis=1)
        for k in np.unique(path[number[path] != lost.path[i]]):
            nearest = samples[path == k][np.argmin(away[path == k])]
            around = slice(max(offsets[k], nearest - half), min(offsets[k + 1], nearest + half))
            pace = v[around].mean(axis=0)
            largest = max(DEFAULT.alike * max(np.linalg.norm(pace), np.linalg.norm(lost.v[i])), lost.rest[i], TINY)
            change = np.linalg.norm(pace - lost.v[i]) / largest
            total = float((away[path == k].min() / reach) ** 2 + change**2)
            # A path that ends here too does not run on.
            if change <= 1 and total < miss[i] and nearest + DEFAULT.half_fit < offsets[k + 1]:
                found[i], miss[i] = number[k], total
    return found, miss


def nearest_paths(
    places: FloatArray, x: FloatArray, path: IntArray, group: IntArray, n_groups: int
) -> tuple[FloatArray, IntArray]:
    """Distance (m, Q) from places (m, d) to the nearest of samples x (n, d) of each group, and the path of that one.

    `path` and `group` (n,) are those of the samples; no group has any of number -1.
    """
    away, owner = np.full((len(places), n_groups), np.inf), np.full((len(places), n_groups), -1, dtype=np.intp)
    for q in np.unique(group[group >= 0]):
        mine = np.flatnonzero(group == q)
        away[:, q], at = cKDTree(x[mine]).query(places)
        owner[:, q] = path[mine[at]]
    return away, owner


def belonging(scrap: IntArray, away: FloatArray, owner: IntArray) -> tuple[IntArray, FloatArray]:
    """The path that each scrap belongs to, and how probable it is that it does to the group of that one.

    `scrap` (m,), ascending, says which scrap some samples are of; `away` and `owner` (m, Q) are what `nearest_paths` says of
    these. For distances a and b to the nearest group and to the next, medians over the scrap, that is b / (a + b).
    """
    path, sure = [], []
    for rows in np.split(np.arange(len(scrap)), np.flatnonzero(np.diff(scrap)) + 1):
        far = np.median(away[rows], axis=0)
        order = np.argsort(far, kind="stable")
        nearest = order[0]
        path.append(owner[rows[away[rows, nearest].argmin()], nearest])
        a, b = far[nearest], far[order[1]] if len(far) > 1 else np.inf
        sure.append(0.5 if a == b else 1 / (1 + a / b))
    return np.array(path, dtype=np.intp), np.array(sure)


def label_confidence(
    x: FloatArray, v: FloatArray, offsets: IntArray, label: IntArray, sure: FloatArray, recovered: bool
) -> FloatArray:
    """Probability (n,) that samples have the label of their path, 0 where that has none.

    x and v lie path after path; `label` and `sure`, how sure that is, are those of the paths (K,). Paths `recovered` from
    unordered samples may have been strung together wrongly.
    """
    of_path = np.repeat(np.arange(len(label)), np.diff(offsets))
    of_samples = np.where(label < 0, 0.0, sure)[of_path]
    return of_samples * link_doubts(x, v, offsets, label[of_path]) if recovered else of_samples


def link_doubts(x: FloatArray, v: FloatArray, offsets: IntArray, label: IntArray) -> FloatArray:
    """Probability (n,) that the links of a path from each sample on to its end are right as far as its label goes.

    x, v and label lie path after path. A link that misses its heading by `ASKEW` and more is doubtful; if it is wrong, the
    label is only where the samples around it, moving alike, have others.
    """
    sure = np.ones(len(x))
    inner = np.ones(len(x), dtype=bool)
    inner[offsets[1:] - 1] = False
    i = np.flatnonzero(inner)
    step, heading = x[i + 1] - x[i], v[i + 1] + v[i]
    size = np.linalg.norm(step, axis=1) * np.linalg.norm(heading, axis=1)
    cosine = (step * heading).sum(axis=1) / np.maximum(size, TINY)
    miss = np.where(cosine > 0, np.sqrt(np.maximum(1 - cosine**2, 0.0)), 1.0)
    askew = np.flatnonzero((miss > ASKEW) & (size > 0))
    if len(askew) and len(np.unique(label)) > 1:
        at = i[askew]
        near = cKDTree(x).query(x[at] + step[askew] / 2, k=min(DEFAULT.neighbours, len(x)))[1]
        mean, pace = heading[askew][:, None] / 2, np.linalg.norm(heading[askew], axis=1)[:, None] / 2
        alike = np.linalg.norm(v[near] - mean, axis=2) < DEFAULT.alike * np.maximum(
            np.linalg.norm(v[near], axis=2), pace
        )
        other = alike & (label[near] != label[at][:, None])
        sure[at] = 1 - other.sum(axis=1) / np.maximum(alike.sum(axis=1), 1) * np.minimum(miss[askew], 1.0)
    for a, b in zip(offsets[:-1], offsets[1:], strict=True):
        sure[a:b] = np.cumprod(sure[a:b][::-1])[::-1]
    return sure
