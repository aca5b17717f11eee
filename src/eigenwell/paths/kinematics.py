"""What the samples say of their own motion: time step, noise, and how much a path bends in a step.

Everything here is measured in lengths and steps. u_i = dt_i v_i is the displacement sample i announces for its next
step; consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = (u_i + u_j)/2 up to noise and bending.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .chains import Chains
from .hashing import sample_hash, share

# A time step is pooled over this many links on either side: long enough to see through noise and rest, shorter than
# a demonstration, so that trajectories strung together by mistake keep their own.
RATE_WINDOW = 100
# Samples may be missing; more than this many in a row are a gap for `fragments` to judge.
MOST_MISSING = 3
# Below a thousandth of a step, residuals are the trapezoid rule's own error and rounding, not noise.
FLOOR = 1e-3
# Kinematic scales are trimmed means: a tenth of the links may be wrong or lie in a corner.
TRIM = 0.9
# Lags 1 and 4 tell noise (same at every lag) from bending (grows with the square of the lag).
LAG = 4
# Chains shorter than this say nothing about noise.
SHORTEST = 10
# Links that scales are read off when all links are beyond doubt: they are then known to a third of a percent.
MEASURED = 100_000
# Local fits use this many samples at an end, and as many on each side in the middle.
FIT = 8
HALF_FIT = 4


@dataclass(frozen=True)
class Kinematics:
    """dt and u per sample; the median step; standard deviations per coordinate of x, of u, and of bending per step^2.

    `typical` is the median of |u|, `spread2` the variance of a coordinate of x over all samples.
    """

    dt: FloatArray
    u: FloatArray
    step: float
    noise_x: float
    noise_u: float
    bend: float
    typical: float
    spread2: float

    @property
    def noisy(self) -> bool:
        """Noise of more than a fiftieth of a step: neighbours in time are no longer beyond doubt."""
        return max(self.noise_x, self.noise_u) > 0.02 * self.step


def estimate(x: FloatArray, v: FloatArray, chains: Chains) -> Kinematics:
    """Kinematics from tentative chains.

    dt minimises sum |x_{k+1} - x_k - m_k dt (v_k + v_{k+1})/2|^2 over a window, m_k = 1, 2, 3 the steps a link spans;
    weighting by speed makes resting samples, whose direction is noise, harmless.
    """
    dt = _time_step(x, v, chains)
    u = dt[:, None] * v
    typical, spread2 = float(np.median(np.linalg.norm(u, axis=1))), float(x.var(0).mean())
    a, b = chains.lagged(1, SHORTEST)
    if len(a) == 0:
        a, b = chains.lagged(1)
    if len(a) == 0:
        nearest = cKDTree(x).query(x, k=2)[0][:, 1]
        step = float(np.median(nearest))
        return Kinematics(dt, u, step, FLOOR * step, FLOOR * step, step, typical, spread2)
    far_a, far_b = chains.lagged(LAG, SHORTEST)
    measured = scales(measures(x[b] - x[a], u[a], u[b]), ((u[far_b] - u[far_a]) ** 2).sum(1), x.shape[1])
    return Kinematics(dt, u, *measured, typical, spread2)


def steady(x: FloatArray, v: FloatArray, chains: Chains, dt: float) -> Kinematics:
    """Kinematics of chains beyond doubt, whose samples share one time step; scales from a share of the links.

    Which links is decided by the values of the samples, and sums run over sorted numbers, so that the result does not
    depend on the order of the samples, nor on how they were divided among machines.
    """
    u = dt * v
    chosen = share(sample_hash(x, v), MEASURED / len(x))
    (a, b), (far_a, far_b) = ((a[chosen[a]], b[chosen[a]]) for a, b in (chains.lagged(1), chains.lagged(LAG)))
    measured = scales(measures(x[b] - x[a], u[a], u[b]), ((u[far_b] - u[far_a]) ** 2).sum(1), x.shape[1])
    typical = float(np.median(np.linalg.norm(u[chosen], axis=1)))
    return Kinematics(np.full(len(x), dt), u, *measured, typical, float(x.var(0).mean()))


Measures = tuple[FloatArray, FloatArray, FloatArray]


def measures(dx: FloatArray, u_a: FloatArray, u_b: FloatArray) -> Measures:
    """Of every link: its length, squared miss of the trapezoid rule and squared change of u; NaN where it spans more
    than one step."""
    length = np.linalg.norm(dx, axis=1)
    mean_u = (u_a + u_b) / 2
    whole = length <= 1.5 * np.linalg.norm(mean_u, axis=1) + 1e-300
    residual, change = ((dx - mean_u) ** 2).sum(1), ((u_b - u_a) ** 2).sum(1)
    return length, np.where(whole, residual, np.nan), np.where(whole, change, np.nan)


def scales(links: Measures, far_change: FloatArray, d: int) -> tuple[float, float, float, float]:
    """Step, noise of x, noise of u and bending, from the measures of links and the squared change of u over LAG links."""
    length, residual, change = links
    step = float(np.median(length)) or float(length.mean())
    near, miss = _trimmed(change) / d, _trimmed(residual) / d
    far = _trimmed(far_change) / d if len(far_change) else near * LAG**2
    bend2 = max(far - near, 0.0) / (LAG**2 - 1)
    noise_u2 = max(near - bend2, 0.0) / 2
    noise_x2 = max(miss - noise_u2 / 2, 0.0) / 2
    floor = FLOOR * step
    return step, max(noise_x2**0.5, floor), max(noise_u2**0.5, floor), max(bend2**0.5, floor)


def _trimmed(squares: FloatArray) -> float:
    squares = squares[np.isfinite(squares)]
    if len(squares) == 0:
        return 0.0
    keep = max(1, int(TRIM * len(squares)))
    return float(np.sort(squares)[:keep].mean())


def _time_step(x: FloatArray, v: FloatArray, chains: Chains) -> FloatArray:
    n = len(x)
    a, b = chains.order[:-1], chains.order[1:]
    inside = chains.chain_at[1:] == chains.chain_at[:-1]
    mean_v = (v[a] + v[b]) / 2
    along = np.where(inside, ((x[b] - x[a]) * mean_v).sum(1), 0.0)
    speed2 = np.where(inside, (mean_v**2).sum(1), 0.0)
    spans = np.ones(n - 1)
    dt = np.full(n, np.nan)
    for _ in range(4):  # spans and dt settle within two rounds; four is safe
        top = chains.window_sum(np.append(along, 0.0), RATE_WINDOW)
        bottom = chains.window_sum(np.append(spans * speed2, 0.0), RATE_WINDOW)
        dt = np.divide(top, bottom, out=np.full(n, np.nan), where=bottom > 0)
        ratio = np.divide(along, speed2 * dt[:-1], out=np.ones(n - 1), where=speed2 * dt[:-1] > 0)
        spans = np.clip(np.round(ratio), 1, MOST_MISSING)
    usable = (dt > 0) & (chains.lengths[chains.chain_at] >= 4)
    out = np.full(n, np.nan)
    out[chains.order[usable]] = dt[usable]
    return _borrow(x, v, out)


def _borrow(x: FloatArray, v: FloatArray, dt: FloatArray) -> FloatArray:
    """Give samples without a time step that of the nearest sample that has one and moves alike.

    Nearest in position and velocity together, a difference of the whole velocity counting as ten steps: where paths
    cross, the samples of the other path are near but move elsewhere.
    """
    missing = ~np.isfinite(dt)
    speed = np.linalg.norm(v, axis=1)
    typical = np.median(speed[speed > 0])
    if missing.all():
        return np.full(len(x), np.median(cKDTree(x).query(x, k=2)[0][:, 1]) / typical)
    if missing.any():
        have = np.flatnonzero(~missing)
        state = np.hstack([x, 10 * np.median(dt[have]) * v])
        dt[missing] = dt[have[cKDTree(state[have]).query(state[missing])[1]]]
    return dt


def smooth(x: FloatArray, kin: Kinematics, chains: Chains) -> tuple[FloatArray, FloatArray]:
    """x and u with noise averaged out along the chains, by a local quadratic of four samples on either side."""
    position = chains.position_of
    where = position[:, None] + np.arange(-HALF_FIT, HALF_FIT + 1)
    start, stop = chains.offsets[chains.chain_of][:, None], chains.offsets[chains.chain_of + 1][:, None]
    inside = (where >= start) & (where < stop)
    state, _ = fit_states(x, kin, chains.order[np.where(inside, where, position[:, None])], inside, HALF_FIT)
    return state[:, 0], state[:, 1]


def fit_states(
    x: FloatArray, kin: Kinematics, samples: IntArray, used: BoolArray, at: int
) -> tuple[FloatArray, FloatArray]:
    """Position, displacement per step and bending, (m, 3, d), at column `at` of rows of consecutive samples.

    x(k) = p + k u + k^2 w/2 and u(k) = u + k w, weighted by their noise, with the prior w ~ N(0, bend^2). Also the
    (m, 3, 3) covariance, the same for every coordinate.
    """
    dx = np.diff(x[samples], axis=1)
    mean_u = (kin.u[samples[:, 1:]] + kin.u[samples[:, :-1]]) / 2
    speed2 = (mean_u**2).sum(-1)
    # At rest the displacement says nothing about how many steps a link spans; one is the honest guess.
    moving = speed2 > (4 * kin.noise_u) ** 2
    ratio = np.divide((dx * mean_u).sum(-1), speed2, out=np.ones_like(speed2), where=moving)
    spans = np.clip(np.round(ratio), 1, MOST_MISSING) * (used[:, 1:] & used[:, :-1])
    k = np.concatenate([np.zeros((len(x[samples]), 1)), np.cumsum(spans, axis=1)], axis=1)
    k -= k[:, at : at + 1]
    one, zero = np.ones_like(k), np.zeros_like(k)
    p = np.stack([one, k, k**2 / 2], axis=-1)
    q = np.stack([zero, one, k], axis=-1)
    w_x, w_u = used / kin.noise_x**2, used / kin.noise_u**2
    normal = np.einsum("mk,mka,mkb->mab", w_x, p, p) + np.einsum("mk,mka,mkb->mab", w_u, q, q)
    normal[:, 2, 2] += 1 / kin.bend**2
    right = np.einsum("mk,mka,mkd->mad", w_x, p, x[samples]) + np.einsum("mk,mka,mkd->mad", w_u, q, kin.u[samples])
    covariance = np.linalg.inv(normal)
    return covariance @ right, covariance
