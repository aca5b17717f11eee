"""Fitted states: position, displacement per step and bending, from several consecutive samples at once."""

from __future__ import annotations

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from .blocks import in_blocks
from .chains import Chains
from .kinematics import Kinematics
from .settings import DEFAULT, PathSettings

States = tuple[FloatArray, FloatArray]
"""(m, 3, d): position, displacement per step and bending; (m, 3, 3): their covariance, the same for every coordinate."""


def fit_states(
    x: FloatArray, kin: Kinematics, samples: IntArray, used: BoolArray, at: int, s: PathSettings = DEFAULT
) -> States:
    """States at column `at` of rows of consecutive samples, of which only the `used` ones count.

    x(k) = p + k u + k^2 w/2 and u(k) = u + k w, weighted by their noise, with the prior w ~ N(0, bend^2): the normal
    equations have the moments sum k^j for entries, and their inverse is written out.
    """
    d = x.shape[1]
    weight_x, weight_u = 1 / kin.noise_x**2, 1 / kin.noise_u**2
    columns = [np.ascontiguousarray(c) for c in x.T]
    paces = [np.ascontiguousarray(c) for c in kin.u.T]

    def block(rows: slice) -> States:
        which, ok = samples[rows], used[rows]
        places, steps = [c.take(which) for c in columns], [c.take(which) for c in paces]
        k = _time(places, steps, ok, at, kin.noise_u, s.most_missing)
        power = [ok.astype(np.float64)]
        for _ in range(4):
            power.append(power[-1] * k)
        s0, s1, s2, s3, s4 = (p.sum(axis=1) for p in power)
        n11, n12, n13 = weight_x * s0, weight_x * s1, weight_x * s2 / 2
        n22, n23 = weight_x * s2 + weight_u * s0, weight_x * s3 / 2 + weight_u * s1
        n33 = weight_x * s4 / 4 + weight_u * s2 + 1 / kin.bend**2
        covariance = _inverse(n11, n12, n13, n22, n23, n33)
        right = np.empty((len(which), 3, d))
        for c, (place, step) in enumerate(zip(places, steps, strict=True)):
            place = place - place[:, at : at + 1]  # differences keep their digits wherever the origin is
            right[:, 0, c] = weight_x * (power[0] * place).sum(axis=1)
            right[:, 1, c] = weight_x * (power[1] * place).sum(axis=1) + weight_u * (power[0] * step).sum(axis=1)
            right[:, 2, c] = weight_x * (power[2] * place).sum(axis=1) / 2 + weight_u * (power[1] * step).sum(axis=1)
        state = covariance @ right
        for c, place in enumerate(places):
            state[:, 0, c] += place[:, at]
        return state, covariance

    parts = in_blocks(block, len(samples))
    if not parts:
        return np.empty((0, 3, d)), np.empty((0, 3, 3))
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _time(
    places: list[FloatArray], steps: list[FloatArray], used: BoolArray, at: int, noise_u: float, most_missing: int
) -> FloatArray:
    """Time of every sample in steps, 0 at column `at`: a link spans 1, 2 or 3 steps."""
    means = [(u[:, 1:] + u[:, :-1]) / 2 for u in steps]
    speed2 = sum((m**2 for m in means), start=np.zeros(means[0].shape))
    along = sum((np.diff(p, axis=1) * m for p, m in zip(places, means, strict=True)), start=np.zeros(speed2.shape))
    # At rest the displacement says nothing about how many steps a link spans; one is the honest guess.
    moving = speed2 > (4 * noise_u) ** 2
    ratio = np.divide(along, speed2, out=np.ones_like(speed2), where=moving)
    spans = np.clip(np.round(ratio), 1, most_missing) * (used[:, 1:] & used[:, :-1])
    k = np.zeros(used.shape)
    np.cumsum(spans, axis=1, out=k[:, 1:])
    return k - k[:, at : at + 1]


def _inverse(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, e: FloatArray, f: FloatArray) -> FloatArray:
    """Inverses of symmetric matrices [[a, b, c], [b, d, e], [c, e, f]]."""
    out = np.empty((len(a), 3, 3))
    out[:, 0, 0], out[:, 1, 1], out[:, 2, 2] = d * f - e * e, a * f - c * c, a * d - b * b
    out[:, 0, 1] = out[:, 1, 0] = c * e - b * f
    out[:, 0, 2] = out[:, 2, 0] = b * e - c * d
    out[:, 1, 2] = out[:, 2, 1] = b * c - a * e
    determinant = a * out[:, 0, 0] + b * out[:, 0, 1] + c * out[:, 0, 2]
    out /= determinant[:, None, None]
    return out


def smooth(x: FloatArray, kin: Kinematics, chains: Chains, s: PathSettings = DEFAULT) -> tuple[FloatArray, FloatArray]:
    """x and u with noise averaged out along the chains, by a local quadratic of four samples on either side."""
    around = np.arange(-s.half_fit, s.half_fit + 1)
    still_x, still_u = np.empty_like(x), np.empty_like(x)
    # In order of the chains, a stretch at a time: the windows of a million samples need not exist at once.
    for first in range(0, len(x), s.measured):
        position = np.arange(first, min(first + s.measured, len(x)))
        samples, inside = window(chains, position, around, chains.chain_at[position])
        state, _ = fit_states(x, kin, samples, inside, s.half_fit, s)
        here = chains.order[position]
        still_x[here], still_u[here] = state[:, 0], state[:, 1]
    return still_x, still_u


def end_states(
    x: FloatArray, chains: Chains, kin: Kinematics, which: IntArray, *, tails: bool, s: PathSettings = DEFAULT
) -> States:
    """States at the tails of these chains, or at their heads."""
    k = np.arange(1 - s.fit, 1) if tails else np.arange(s.fit)
    position = chains.offsets[which + 1] - 1 if tails else chains.offsets[which]
    samples, inside = window(chains, position, k, which)
    return fit_states(x, kin, samples, inside, s.fit - 1 if tails else 0, s)


def link_states(
    x: FloatArray, chains: Chains, kin: Kinematics, position: IntArray, s: PathSettings = DEFAULT
) -> tuple[States, States]:
    """States on both sides of the links that begin at these positions: of the samples up to it, and of those from it on."""
    chain = chains.chain_at[position]
    before, inside = window(chains, position, np.arange(1 - s.fit, 1), chain)
    a = fit_states(x, kin, before, inside, s.fit - 1, s)
    after, inside = window(chains, position + 1, np.arange(s.fit), chain)
    return a, fit_states(x, kin, after, inside, 0, s)


def window(chains: Chains, position: IntArray, k: IntArray, chain: IntArray) -> tuple[IntArray, BoolArray]:
    """Samples k places from each position, and whether they are still in the chain; the position's own where not."""
    where = position[:, None] + k
    inside = (where >= chains.offsets[chain][:, None]) & (where < chains.offsets[chain + 1][:, None])
    return chains.order[np.where(inside, where, position[:, None])], inside
