"""Where paths cross: two chains that each took the other's way are given back their own.

In noise the samples of a crossing are easily mixed up, one by one, and both chains leave it on the wrong track, with a bend
that neither has. Fits to the samples before and after, leaving out those in the middle, see it:
the ends are exchanged where

    h(B_i, A_i) + h(B_j, A_j) - h(B_i, A_j) - h(B_j, A_i) > margin,

h the negative log-likelihood that the state A after continues the state B before.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .blocks import in_blocks, neighbours
from .chains import Chains
from .kinematics import Kinematics
from .links import heavy
from .settings import DEFAULT, PathSettings
from .states import fit_states, link_states, mismatch, window

# Samples left out on either side of the link, those of the crossing itself: as many as lie in a quarter of a fit.
MIDDLE = DEFAULT.fit // 4
# Steps from the last sample before to the first one after: five by count; fewer or more, if some were mixed up, count as missing.
GAPS = np.arange(1.0 + MIDDLE, 2.0 + 3 * MIDDLE)


def untangled(x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT) -> Chains:
    """Chains that cross as they should, with every sample in the one it fits; `tree` holds x.

    An exchange leaves samples of the crossing in the wrong chain. They return before more ends are exchanged: a fit to
    samples of both tracks says nothing.
    """
    return returned(x, uncross(x, chains, kin, tree, s), kin, tree, s)


def uncross(x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT) -> Chains:
    """Chains with exchanged ends wherever this is more likely by `s.exchange`; `tree` holds x."""
    margin = s.fit + MIDDLE
    position, at = np.arange(len(x)), chains.chain_at
    inside = (position - chains.offsets[at] >= margin - 1) & (chains.offsets[at + 1] - position > margin)
    asked = np.flatnonzero(inside)
    if len(asked) == 0:
        return chains
    (before, before_cov), (after, after_cov) = link_states(x, chains, kin, asked, s, MIDDLE)
    row, dt = np.cumsum(inside) - 1, kin.dt[chains.order]
    missing = s.missing * np.abs(GAPS - GAPS[MIDDLE])

    def cost(i: IntArray, j: IntArray) -> FloatArray:
        """h(B_i, A_j) of the links that begin at positions i and j."""

        def block(rows: slice) -> FloatArray:
            b, a = row[i[rows]], row[j[rows]]
            share = np.sqrt(dt[j[rows]] / dt[i[rows]])[:, None]
            gap, variance = mismatch(before[b], after[a], before_cov[b] + after_cov[a], GAPS, kin.bend, share)
            misfit = heavy(gap[0] / variance[0] + gap[1] / variance[1], 2 * x.shape[1])
            return np.asarray((misfit + missing).min(axis=1))

        return np.concatenate(in_blocks(block, len(i)))

    own = cost(asked, asked)
    bent = asked[own > _usual(own, x.shape[1], s)]
    if len(bent) == 0:
        return chains
    near = chains.position_of[neighbours(tree, x[chains.order[bent]], s.neighbours + 1)]
    i, j = np.repeat(bent, near.shape[1]), near.ravel().astype(np.intp)
    other = inside[j] & (at[i] != at[j])
    i, j = i[other], j[other]
    if len(i) == 0:
        return chains
    gain = cost(i, i) + cost(j, j) - cost(i, j) - cost(j, i)
    best = np.argsort(-gain, kind="stable")
    successor, taken = chains.successor.copy(), np.zeros(len(x), dtype=bool)
    for k in best[gain[best] > s.exchange]:
        around = np.concatenate([np.arange(p - margin + 1, p + margin + 1) for p in (i[k], j[k])])
        if taken[around].any():
            continue
        taken[around] = True
        a, b = chains.order[i[k]], chains.order[j[k]]
        successor[a], successor[b] = successor[b], successor[a]
    return Chains.of(successor, x) if taken.any() else chains


def _usual(cost: FloatArray, d: int, s: PathSettings) -> float:
    """What a good link costs at most: nine in ten are good."""
    return max(float(np.quantile(cost, s.trim)), float(heavy(np.array(2.0 * d), 2 * d)))


def returned(x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree, s: PathSettings = DEFAULT) -> Chains:
    """Chains whose samples lie in the chain they fit best; `tree` holds x.

    A sample that its chain, fitted without it, explains badly is put into one that explains it better, by more than what the
    sample that is then missing counts. The time at which it fits best is free, so that both are asked the same.
    """
    for _ in range(s.rounds):
        position = np.flatnonzero(chains.lengths[chains.chain_at] > s.fit)
        if len(position) == 0:
            return chains
        sample = chains.order[position]
        half = s.half_fit
        others = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
        own, _ = _misfit(x, chains, kin, sample, position, others, half - 1, (0.0, 2.0), s)
        odd = own > _usual(own, x.shape[1], s)
        if not odd.any():
            return chains
        sample, position, own = sample[odd], position[odd], own[odd]
        near = chains.position_of[neighbours(tree, x[sample], s.neighbours + 1)]
        i, j = np.repeat(np.arange(len(sample)), near.shape[1]), near.ravel().astype(np.intp)
        apart = (chains.chain_at[j] != chains.chain_at[position[i]]) & (chains.lengths[chains.chain_at[j]] > s.fit)
        i, j = i[apart], j[apart]
        if len(i) == 0:
            return chains
        all_around = np.arange(-half, half + 1)
        other, time = _misfit(x, chains, kin, sample[i], j, all_around, half, (-1.0, 1.0), s)
        gain = own[i] - other
        best = np.lexsort((-gain, i))
        best = best[np.concatenate([[True], np.diff(i[best]) > 0])]
        best = best[gain[best] > s.missing]
        if len(best) == 0:
            return chains
        chains = _moved(chains, position[i[best]], j[best], time[best])
    return chains


def _moved(chains: Chains, position: IntArray, beside: IntArray, time: FloatArray) -> Chains:
    """Chains with the samples at these positions put beside others, behind them where time is positive."""
    place = np.arange(len(chains.order), dtype=np.float64)
    chain = chains.chain_at.copy()
    place[position], chain[position] = beside + time / 2, chains.chain_at[beside]
    order = np.lexsort((place, chain))
    counts = np.bincount(chain, minlength=chains.n_chains)
    return Chains(chains.order[order], np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.intp))


def _misfit(
    x: FloatArray,
    chains: Chains,
    kin: Kinematics,
    sample: IntArray,
    position: IntArray,
    around: IntArray,
    at: int,
    times: tuple[float, float],
    s: PathSettings,
) -> tuple[FloatArray, FloatArray]:
    """Negative log-likelihood of samples under the chains around these positions, and the time from column `at` they fit best."""
    samples, inside = window(chains, position, around, chains.chain_at[position])
    state, covariance = fit_states(x, kin, samples, inside, at, s)
    p, u, w = state[:, 0], state[:, 1], state[:, 2]
    off = x[sample] - p
    time = np.clip((off * u).sum(axis=1) / ((u**2).sum(axis=1) + np.finfo(np.float64).tiny), *times)
    t = time[:, None]
    pace = kin.u[sample] * (kin.dt[chains.order[position]] / kin.dt[sample])[:, None]
    miss = ((off - t * u - t**2 * w / 2) ** 2).sum(axis=1)
    change = ((pace - u - t * w) ** 2).sum(axis=1)
    of_p = covariance[:, 0, 0] + 2 * time * covariance[:, 0, 1] + time**2 * covariance[:, 1, 1] + kin.noise_x**2
    of_u = covariance[:, 1, 1] + kin.noise_u**2
    return heavy(miss / of_p + change / of_u, 2 * x.shape[1]), time
