"""Zipping: two chains that took alternate samples of one stretch become one."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .chains import Chains
from .kinematics import Kinematics
from .settings import DEFAULT, PathSettings


def zip_chains(
    x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT
) -> Chains | None:
    """Merge pairs of chains where the tail of A lies on B and the head of B on A, in time order.

    `tree` holds x.
    """
    real = np.flatnonzero(chains.lengths >= s.real_chain)
    row, on_b, miss = _beside(x, chains, kin, chains.tails[real], tree, s)
    leave = _closest(real[row], chains.chain_of[on_b], on_b, miss)
    row, on_a, miss = _beside(x, chains, kin, chains.heads[real], tree, s)
    enter = _closest(chains.chain_of[on_a], real[row], on_a, miss)
    overlaps = []
    for a, b in leave.keys() & enter.keys():
        first, last = chains.position_of[enter[a, b][0]], chains.position_of[leave[a, b][0]]
        shared = int(chains.offsets[a + 1] - first + last - chains.offsets[b])
        overlaps.append((-shared, leave[a, b][1] + enter[a, b][1], (a, b), (int(first), int(last))))
    successor, used = chains.successor.copy(), set[int]()
    # The longest overlap first: a short chain beside a path must not take the place of the path's other half.
    for _, _, (a, b), (first, last) in sorted(overlaps):
        if a in used or b in used:
            continue
        in_a = chains.order[first : chains.offsets[a + 1]]
        in_b = chains.order[chains.offsets[b] : last + 1]
        # The end of one and the beginning of the other; trajectories that run together all the way stay two.
        if 2 * len(in_a) > chains.lengths[a] or 2 * len(in_b) > chains.lengths[b]:
            continue
        a_on_b, b_on_a = _lies_on(x, kin, in_a, in_b, s), _lies_on(x, kin, in_b, in_a, s)
        if max(a_on_b[1], b_on_a[1]) < s.on_path:
            continue
        used |= {a, b}
        # The one with fewer holes is the ruler along which the other is laid.
        keys = (a_on_b[0], np.arange(len(in_b))) if a_on_b[1] >= b_on_a[1] else (np.arange(len(in_a)), b_on_a[0])
        merged = np.concatenate([in_a, in_b])[np.argsort(np.concatenate(keys), kind="stable")]
        before, after = chains.order[chains.offsets[a] : first], chains.order[last + 1 : chains.offsets[b + 1]]
        whole = np.concatenate([before, merged, after])
        successor[whole[:-1]], successor[whole[-1]] = whole[1:], -1
    return Chains.of(successor, x) if used else None


def _lies_on(
    x: FloatArray, kin: Kinematics, samples: IntArray, path: IntArray, s: PathSettings
) -> tuple[FloatArray, float]:
    """Places of `samples` along a path, and the share of them that lie on it."""
    key, distance = along(x, kin.u[path], samples, path)
    return key, float((distance <= tolerance(kin, samples, s)).mean())


def _closest(a: IntArray, b: IntArray, sample: IntArray, miss: FloatArray) -> dict[tuple[int, int], tuple[int, float]]:
    best: dict[tuple[int, int], tuple[int, float]] = {}
    for k in np.argsort(-miss, kind="stable"):
        best[int(a[k]), int(b[k])] = (int(sample[k]), float(miss[k]))
    return best


def _beside(
    x: FloatArray, chains: Chains, kin: Kinematics, samples: IntArray, tree: cKDTree, s: PathSettings
) -> tuple[IntArray, IntArray, FloatArray]:
    """(row of `samples`, neighbour in another chain that moves alike, distance over tolerance) for all neighbours."""
    k = min(s.around, len(x))
    distance, near = tree.query(x[samples], k=k)
    distance, near = distance.reshape(-1, k), near.reshape(-1, k)
    reach = tolerance(kin, samples, s)[:, None]
    change = np.linalg.norm(kin.u[near] - kin.u[samples][:, None], axis=2)
    alike = change <= s.noise_reach * np.sqrt(2) * kin.noise_u + 0.5 * np.linalg.norm(kin.u[samples], axis=1)[:, None]
    ways = _headings(x, chains, near, s) * _headings(x, chains, samples, s)[:, None]
    alike |= ways.sum(axis=2) > 1 - s.same_way
    ok = (distance <= reach) & alike & (chains.chain_of[near] != chains.chain_of[samples][:, None])
    row, column = np.nonzero(ok)
    return row, near[row, column], (distance / reach)[row, column]


def _headings(x: FloatArray, chains: Chains, samples: IntArray, s: PathSettings) -> FloatArray:
    """Direction of the track at these samples, from four samples before to four behind."""
    position, chain = chains.position_of[samples], chains.chain_of[samples]
    before = np.maximum(position - s.half_fit, chains.offsets[chain])
    behind = np.minimum(position + s.half_fit, chains.offsets[chain + 1] - 1)
    way = x[chains.order[behind]] - x[chains.order[before]]
    return np.asarray(way / (np.linalg.norm(way, axis=-1, keepdims=True) + np.finfo(np.float64).tiny))


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
