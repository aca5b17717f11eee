"""Merging: what is left over within the noise of a path joins that path.

A pen at rest scatters samples that have no order; they make up short chains that nothing continues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .chains import Chains
from .kinematics import Kinematics
from .settings import DEFAULT, PathSettings


@dataclass(frozen=True)
class Fragments:
    """Paths after all linking: path p is `nodes[offsets[p]:offsets[p + 1]]`, in order of time; every sample is in one."""

    nodes: IntArray
    offsets: IntArray


def merge_short(
    x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree | None, s: PathSettings = DEFAULT
) -> Fragments:
    """Give every short chain that lies on a path at least twice as long to that path, at its place in it.

    `tree` holds x; without one, it is made when there are short chains.
    """
    lengths = chains.lengths
    samples = np.flatnonzero(short_chains(lengths)[chains.chain_of])
    if len(samples) == 0:
        return Fragments(chains.order, chains.offsets)
    row, near, _ = within_reach(tree or cKDTree(x), x[samples], tolerance(kin, samples, s), s)
    short = samples[row]
    host = hosts(lengths, chains.chain_of[short], short, chains.chain_of[near], s)
    key = np.empty(len(x))
    key[chains.order] = np.arange(len(x)) - chains.offsets[chains.chain_at]
    merged = np.flatnonzero(host != np.arange(chains.n_chains))
    merged = merged[np.argsort(host[merged], kind="stable")]
    for mine in np.split(merged, np.flatnonzero(np.diff(host[merged])) + 1) if len(merged) else []:
        members = chains.members(int(host[mine[0]]))
        samples = np.concatenate([chains.members(int(g)) for g in mine])
        key[samples] = along(x, kin.u[members], samples, members)[0]
    owner = host[chains.chain_of]
    nodes = np.lexsort((key, owner)).astype(np.intp)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(owner[nodes]) != 0]))
    return Fragments(nodes, np.append(starts, len(x)).astype(np.intp))


def typical_length(lengths: IntArray) -> int:
    """Length of the chain that the median sample lies in; remainders, however many, hardly move it."""
    by_length = np.sort(lengths)[::-1]
    return int(by_length[np.searchsorted(np.cumsum(by_length), lengths.sum() / 2)])


def short_chains(lengths: IntArray) -> BoolArray:
    """Chains short enough to be merged into another one."""
    return np.asarray(2 * lengths <= typical_length(lengths))


def within_reach(
    tree: cKDTree, places: FloatArray, reach: FloatArray, s: PathSettings = DEFAULT
) -> tuple[IntArray, IntArray, FloatArray]:
    """(row of `places`, sample of the tree, distance) for the nearest few samples within reach."""
    k = min(2 * s.neighbours, tree.n)
    distance, near = (a.reshape(-1, k) for a in tree.query(places, k=k, workers=-1))
    row, column = np.nonzero(distance <= reach[:, None])
    return row, near[row, column], distance[row, column]


def hosts(lengths: IntArray, short: IntArray, sample: IntArray, other: IntArray, s: PathSettings = DEFAULT) -> IntArray:
    """For every chain the one that takes it up, itself where none does.

    The arrays say that `sample` of the chain `short` has the chain `other` within its tolerance. The shortest first,
    each to the chain that most of its samples lie on.
    """
    host = np.arange(len(lengths))
    order = np.argsort(short, kind="stable")
    found, start = np.unique(short[order], return_index=True)
    parts = dict(zip(found.tolist(), np.split(order, start[1:]), strict=True)) if len(found) else {}
    for c in found[np.argsort(lengths[found], kind="stable")].tolist():
        samples, others = sample[parts[c]], _last_host(host, other[parts[c]])
        fit = (others != c) & (lengths[others] >= 2 * lengths[c])
        if not fit.any():
            continue
        pairs = np.unique(others[fit] * (samples.max() + 1) + samples[fit])
        chain, hits = np.unique(pairs // (samples.max() + 1), return_counts=True)
        if hits.max() >= s.on_path * lengths[c]:
            host[c] = chain[hits.argmax()]
    return _last_host(host, host)


def _last_host(host: IntArray, chain: IntArray) -> IntArray:
    """Hosts may be taken up themselves, by chains at least twice as long: a few steps up."""
    while (host[chain] != chain).any():
        chain = host[chain]
    return chain


def along(x: FloatArray, u: FloatArray, samples: IntArray, path: IntArray) -> tuple[FloatArray, FloatArray]:
    """Place of `samples` along the ordered samples of a path, as a real-valued position, and their distance to its line.

    `u` are the steps of the path's samples.
    """
    tiny = np.finfo(np.float64).tiny
    distance, nearest = cKDTree(x[path]).query(x[samples])
    step, away = u[nearest], x[samples] - x[path[nearest]]
    ahead = np.clip((away * step).sum(1) / ((step**2).sum(1) + tiny), -0.49, 0.49)
    for beside in (np.maximum(nearest - 1, 0), np.minimum(nearest + 1, len(path) - 1)):
        edge = x[path[beside]] - x[path[nearest]]
        part = np.clip((away * edge).sum(1) / ((edge**2).sum(1) + tiny), 0, 1)
        distance = np.minimum(distance, np.linalg.norm(away - part[:, None] * edge, axis=1))
    return nearest + ahead, np.asarray(distance, dtype=np.float64)


def tolerance(kin: Kinematics, samples: IntArray, s: PathSettings = DEFAULT) -> FloatArray:
    """How far from a path a sample of it may lie: four standard deviations of noise and two local steps.

    Where velocities are noisy, a slow sample may belong to a fast stretch: then no step is taken to be shorter than usual.
    """
    shortest = max(2 * kin.noise_u, kin.step) if kin.is_noisy(s) else 2 * kin.noise_u
    step = np.maximum(np.linalg.norm(kin.u[samples], axis=1), shortest)
    return np.asarray(s.noise_reach * np.sqrt(2) * kin.noise_x + s.step_reach * step, dtype=np.float64)
