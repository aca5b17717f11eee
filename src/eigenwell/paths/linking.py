"""Linking: the tail of one chain continues in the head of another, judged by states fitted to several samples."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from .assignment import best_links
from .chains import Chains, open_loops, unique_pairs
from .kinematics import Kinematics
from .links import link_score
from .settings import DEFAULT, PathSettings
from .states import end_states, link_states

# Gaps, in steps, that are tried; between them the likelihood is smooth.
GAPS = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0])


def link(
    x: FloatArray, chains: Chains, kin: Kinematics, longest: float, shortest: int, s: PathSettings = DEFAULT
) -> Chains | None:
    """Most likely continuations over at most `longest` steps among chains of at least `shortest` samples."""
    d = x.shape[1]
    real = np.flatnonzero(chains.lengths >= shortest)
    n = len(real)
    if n < 2:
        return None
    (tail, tail_cov), (head, head_cov) = (end_states(x, chains, kin, real, tails=tails, s=s) for tails in (True, False))
    tails, heads = chains.tails[real], chains.heads[real]
    tree = cKDTree(x[heads])
    k = min(s.neighbours, n)
    near = tree.query(x[tails], k=k)[1].reshape(n, k)
    ahead = tree.query(x[tails] + tail[:, 1] * (1 + longest) / 2, k=k)[1].reshape(n, k)
    f, g = unique_pairs(np.repeat(np.arange(n), 2 * k), np.concatenate([near, ahead], axis=1).ravel(), n)
    share = np.sqrt(kin.dt[heads[g]] / kin.dt[tails[f]])[:, None]
    p_a, u_a, w_a = tail[f, 0], tail[f, 1] * share, tail[f, 2] * share**2
    p_b, u_b, w_b = head[g, 0], head[g, 1] / share, head[g, 2] / share**2
    m = GAPS[longest >= GAPS]
    gap, variance = mismatch((p_a, u_a, w_a), (p_b, u_b, w_b), tail_cov[f] + head_cov[g], m, kin.bend)
    # Both sides must be in motion: a path at rest may end, and one that sets off at once may begin.
    # Velocities of a pen's last events may be wild; what the samples moved by has a say as well.
    tail_moved, head_moved = (moved[real] for moved in _end_steps(x, chains, s.fit))
    slower = np.minimum(np.linalg.norm(u_a, axis=1), np.linalg.norm(u_b, axis=1))
    slower = np.minimum(slower, np.minimum(tail_moved[f], head_moved[g]))
    motion = 2 * np.minimum(1, slower / kin.typical)
    score = link_score(gap, variance, kin.spread2, d, m - 1, s)
    follows = best_links(f, g, score.min(axis=1) - s.in_motion * motion, n, s.tolerance)
    # What was linked before stays: a loop is opened at one of the new links.
    follows = open_loops(follows, x[tails], x[heads])
    linked = np.flatnonzero(follows >= 0)
    if len(linked) == 0:
        return None
    next_chain = np.full(chains.n_chains, -1, dtype=np.intp)
    next_chain[real[linked]] = real[follows[linked]]
    return chains.joined(next_chain)


def _end_steps(x: FloatArray, chains: Chains, fit: int) -> tuple[FloatArray, FloatArray]:
    """Mean step over the last and the first samples of every chain, by their positions; infinite for a single sample."""
    back = np.minimum(chains.lengths, fit) - 1
    last, first = chains.offsets[1:] - 1, chains.offsets[:-1]
    many = np.maximum(back, 1)
    tail = np.linalg.norm(x[chains.tails] - x[chains.order[last - back]], axis=1) / many
    head = np.linalg.norm(x[chains.heads] - x[chains.order[first + back]], axis=1) / many
    return np.where(back > 0, tail, np.inf), np.where(back > 0, head, np.inf)


State = tuple[FloatArray, FloatArray, FloatArray]


def mismatch(
    a: State, b: State, covariance: FloatArray, m: FloatArray, bend: float
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Squared misses in position and displacement over gaps m, and the variance of one coordinate of each.

    The cubic that has both states (p, u, w) at its ends satisfies
    p_b - p_a = m (u_a + u_b)/2 + m^2 (w_a - w_b)/12 and u_b - u_a = m (w_a + w_b)/2.
    """
    (p_a, u_a, w_a), (p_b, u_b, w_b) = a, b
    miss2, change2 = np.empty((len(p_a), len(m))), np.empty((len(p_a), len(m)))
    for c, gap in enumerate(m):
        miss2[:, c] = ((p_b - p_a - gap * (u_a + u_b) / 2 - gap**2 * (w_a - w_b) / 12) ** 2).sum(1)
        change2[:, c] = ((u_b - u_a - gap * (w_a + w_b) / 2) ** 2).sum(1)
    cov_p, cov_u = covariance[:, 0, 0][:, None], covariance[:, 1, 1][:, None]
    variance_p = cov_p + m**2 / 4 * cov_u + (m**2 * bend) ** 2 / 12
    return (miss2, change2), (variance_p, cov_u + (m * bend) ** 2)


def cut_doubtful(x: FloatArray, chains: Chains, kin: Kinematics, s: PathSettings = DEFAULT) -> Chains:
    """Chains without the links that the samples before and after them contradict.

    Where two paths cross at a small angle, single samples are easily swapped; fits to eight samples on either side
    see it. Whatever is cut is offered to `link` again, so a good link cut in a sharp corner comes back.
    """
    position = np.flatnonzero(chains.chain_at[1:] == chains.chain_at[:-1])
    if len(position) == 0:
        return chains
    spans = np.arange(1.0, s.most_missing + 1)
    chi2 = np.empty(len(position))
    for first in range(0, len(position), s.measured):
        here = slice(first, first + s.measured)
        (a, cov_a), (b, cov_b) = link_states(x, chains, kin, position[here], s)
        states = ((a[:, 0], a[:, 1], a[:, 2]), (b[:, 0], b[:, 1], b[:, 2]))
        gap, variance = mismatch(*states, cov_a + cov_b, spans, kin.bend)
        chi2[here] = (gap[0] / variance[0] + gap[1] / variance[1]).min(axis=1)
    # Noise and bending differ along real paths; nine links in ten are good, so their own spread sets the measure.
    usual = max(float(np.quantile(chi2, s.trim)), 2.0 * x.shape[1])
    successor = chains.successor.copy()
    successor[chains.order[position[chi2 > s.doubt * usual]]] = -1
    return Chains.of(successor, x)
