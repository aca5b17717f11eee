"""What the samples say of their own motion: time step, noise, and how much a path bends in a step.

Everything here is measured in lengths and steps. u_i = dt_i v_i is the displacement sample i announces for its next
step; consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = (u_i + u_j)/2 up to noise and bending.
With one time step for all and no noise x_i + u_i/2 and x_j - u_j/2 are the same point: one nearest-neighbour query of these
halfway points finds every successor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .blocks import sample_hash, share, smallest
from .chains import Chains
from .settings import DEFAULT, PathSettings


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

    def is_noisy(self, s: PathSettings = DEFAULT) -> bool:
        """Whether neighbours in time are no longer beyond doubt."""
        return max(self.noise_x, self.noise_u) > s.exact * self.step

    def of(self, order: IntArray) -> Kinematics:
        """The same for samples in another order."""
        return replace(self, dt=self.dt[order], u=self.u[order])


def estimate(
    x: FloatArray, v: FloatArray, chains: Chains, s: PathSettings = DEFAULT, told: FloatArray | None = None
) -> Kinematics:
    """Kinematics from tentative chains.

    dt minimises sum |x_{k+1} - x_k - m_k dt (v_k + v_{k+1})/2|^2 over a window, m_k = 1, 2, 3 the steps a link spans;
    weighting by speed makes resting samples, whose direction is noise, harmless. Samples in
    chains too short to tell take the time step they were `told`, or that of the nearest state.
    """
    dt = time_step(x, v, chains, s)
    missing = ~np.isfinite(dt)
    if missing.all():
        dt = _guess(x, v)
    elif told is not None:
        dt = np.where(missing, told, dt)
    elif missing.any():
        dt = _borrowed(x, v, dt)
    return _measured(x, v, chains, dt, s.fit, s)


def steady(x: FloatArray, v: FloatArray, chains: Chains, dt: float, s: PathSettings = DEFAULT) -> Kinematics:
    """Kinematics of chains beyond doubt, whose samples share one time step."""
    return _measured(x, v, chains, np.full(len(x), dt), 2, s)


def _measured(
    x: FloatArray, v: FloatArray, chains: Chains, dt: FloatArray, shortest: int, s: PathSettings
) -> Kinematics:
    """With scales read off the links of a share of the samples, where there are many, in chains of at least `shortest` if there
    are such. Which is decided by the values of the samples, so that it does not depend on their order."""
    u = dt[:, None] * v
    chosen = share(sample_hash(x, v), s.measured / len(x))

    def pairs(lag: int, shortest: int) -> tuple[IntArray, IntArray]:
        first, second = chains.lagged(lag, shortest)
        return first[chosen[first]], second[chosen[first]]

    typical, spread2 = float(np.median(np.linalg.norm(u[chosen], axis=1))), float(x.var(0).mean())
    (a, b), (far_a, far_b) = pairs(1, shortest), pairs(s.half_fit, shortest)
    if len(a) == 0:
        a, b = pairs(1, 2)
    if len(a) == 0:
        step = float(np.median(cKDTree(x).query(x, k=2)[0][:, 1]))
        return Kinematics(dt, u, step, s.floor * step, s.floor * step, step, typical, spread2)
    return Kinematics(dt, u, *scales(x[b] - x[a], u[a], u[b], u[far_b] - u[far_a], s), typical, spread2)


def scales(
    dx: FloatArray, u_a: FloatArray, u_b: FloatArray, far: FloatArray, s: PathSettings = DEFAULT
) -> tuple[float, float, float, float]:
    """Step, noise of x, noise of u and bending, from links, their u at both ends, and changes of u over a lag.

    Links that span more than one step say nothing of noise.
    """
    length, d = np.linalg.norm(dx, axis=1), dx.shape[1]
    mean_u = (u_a + u_b) / 2
    whole = length <= 1.5 * np.linalg.norm(mean_u, axis=1) + 1e-300
    step = float(np.median(length)) or float(length.mean())
    miss, near = (_trimmed(a[whole], s) / d for a in (dx - mean_u, u_b - u_a))
    across = _trimmed(far, s) / d if len(far) else near * s.half_fit**2
    bend2 = max(across - near, 0.0) / (s.half_fit**2 - 1)
    noise_u2 = max(near - bend2, 0.0) / 2
    noise_x2 = max(miss - noise_u2 / 2, 0.0) / 2
    floor = s.floor * step
    return step, max(noise_x2**0.5, floor), max(noise_u2**0.5, floor), max(bend2**0.5, floor)


def _trimmed(rows: FloatArray, s: PathSettings) -> float:
    """Mean square of the rows, without the largest, which may be wrong or lie in a corner."""
    keep = max(1, int((1 - s.remainder) * len(rows)))
    return float(np.sort((rows**2).sum(axis=1))[:keep].mean()) if len(rows) else 0.0


def time_step(x: FloatArray, v: FloatArray, chains: Chains, s: PathSettings) -> FloatArray:
    """Time step at every sample, pooled over a window of its chain; NaN where the chain is too short to tell."""
    n = len(x)
    a, b = chains.order[:-1], chains.order[1:]
    inside = chains.chain_at[1:] == chains.chain_at[:-1]
    mean_v = (v[a] + v[b]) / 2
    along = np.where(inside, ((x[b] - x[a]) * mean_v).sum(1), 0.0)
    speed2 = np.where(inside, (mean_v**2).sum(1), 0.0)
    spans = np.ones(n - 1)
    top = chains.window_sum(np.append(along, 0.0), s.rate_window)
    dt = np.full(n, np.nan)
    for _ in range(4):  # spans and dt settle within two rounds; four is safe
        bottom = chains.window_sum(np.append(spans * speed2, 0.0), s.rate_window)
        dt = np.divide(top, bottom, out=np.full(n, np.nan), where=bottom > 0)
        moved = speed2 * dt[:-1]
        ratio = np.divide(along, moved, out=np.ones(n - 1), where=moved > 0)
        before, spans = spans, np.clip(np.round(ratio), 1, s.most_missing)
        if np.array_equal(before, spans):
            break
    usable = (dt > 0) & (chains.lengths[chains.chain_at] >= 4)
    out = np.full(n, np.nan)
    out[chains.order[usable]] = dt[usable]
    return out


def _guess(x: FloatArray, v: FloatArray) -> FloatArray:
    """Where no chain tells a time step: from a sample to the one nearest to it at the usual speed."""
    speed = np.linalg.norm(v, axis=1)
    return np.full(len(x), np.median(cKDTree(x).query(x, k=2)[0][:, 1]) / np.median(speed[speed > 0]))


def _borrowed(x: FloatArray, v: FloatArray, dt: FloatArray) -> FloatArray:
    """Samples without a time step (NaN) take that of the nearest state that has one, a difference of the whole velocity counting
    as ten steps: where paths cross, the samples of the other path are near but move elsewhere."""
    known = np.isfinite(dt)
    states = np.hstack([x, 10 * np.median(dt[known]) * v])
    tree = cKDTree(states[known], balanced_tree=False, compact_nodes=False)  # quick to build: few will ask
    out = dt.copy()
    out[~known] = dt[known][tree.query(states[~known])[1]]
    return out


def halfway_meeting(
    x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT
) -> tuple[Chains, float] | None:
    """Chains and the time step when one serves all samples and noise is small; None otherwise."""
    n = len(x)
    asked = smallest(sample_hash(x, v), s.asked)
    distance, near = tree.query(x[asked], k=min(s.neighbours + 1, n))
    dt = common_time_step(x[asked], v[asked], x[near], v[near], distance, s)
    if dt is None:
        return None
    successor = halfway_links(x, v, dt, tree.indices, s)
    return (Chains.of(successor, x), dt) if is_common(int((successor >= 0).sum()), n, s) else None


def halfway_links(x: FloatArray, v: FloatArray, dt: float, order: IntArray, s: PathSettings = DEFAULT) -> IntArray:
    """The successor of every sample, -1 where none is beyond doubt: where no halfway points meet exactly, where another one is
    not twice as far, and where two samples claim the same one.

    `order` is that of a tree of x: points near each other in memory halve the time of the queries.
    """
    forward, backward = (x + dt / 2 * v)[order], (x - dt / 2 * v)[order]
    distance, partner = cKDTree(backward).query(forward, k=2, workers=-1)
    miss, other, partner = distance[:, 0], distance[:, 1], partner[:, 0]
    sure = (miss < s.exact * dt * np.linalg.norm(v[order], axis=1)) & (miss < s.alike * other)
    i = np.flatnonzero(sure & (partner != np.arange(len(x))))
    i = i[np.bincount(partner[i], minlength=len(x))[partner[i]] == 1]
    successor = np.full(len(x), -1, dtype=np.intp)
    successor[order[i]] = order[partner[i]]
    return successor


def is_common(linked: int, n: int, s: PathSettings = DEFAULT) -> bool:
    """Whether so many of n samples met their successor that one time step serves them all."""
    return linked >= (1 - s.remainder) * n


def common_time_step(
    x: FloatArray,
    v: FloatArray,
    x_near: FloatArray,
    v_near: FloatArray,
    distance: FloatArray,
    s: PathSettings = DEFAULT,
) -> float | None:
    """The most frequent travel time to the next sample, if the samples asked agree on it.

    `x_near` and `v_near` (m, k, d) are the nearest neighbours of the samples asked, one more than are looked at: what is
    as far as the last one is left out, so that of equally distant ones none is preferred.
    """
    used = distance < distance[:, -1:] if distance.shape[1] > s.neighbours else np.ones(distance.shape, dtype=bool)
    k, d = distance.shape[1], x.shape[1]
    i = np.repeat(np.arange(len(x)), k)
    time, miss, change = _travel(x_near.reshape(-1, d) - x[i], v[i], v_near.reshape(-1, d))
    ahead = used.ravel() & (time > 0) & (miss < 0.1) & (change < s.alike)
    soonest = np.where(ahead, time, np.inf).reshape(distance.shape).min(axis=1)
    log_time = np.sort(np.log(soonest[np.isfinite(soonest)]))
    if len(log_time) < len(x) / 2:
        return None
    # Mode: the narrowest window that holds a tenth of the travel times.
    width = max(2, len(log_time) // 10)
    spans = log_time[width:] - log_time[:-width]
    if len(spans) == 0:
        return None
    start = int(spans.argmin())
    return float(np.exp(np.median(log_time[start : start + width])))


def _travel(dx: FloatArray, v_i: FloatArray, v_j: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Time over dx along the mean velocity; miss and velocity change, relative to distance and speed."""
    mean_v = (v_i + v_j) / 2
    tiny = np.finfo(np.float64).tiny
    speed2 = (mean_v**2).sum(1) + tiny
    time = (dx * mean_v).sum(1) / speed2
    miss = np.linalg.norm(dx - time[:, None] * mean_v, axis=1) / (np.linalg.norm(dx, axis=1) + tiny)
    change = np.linalg.norm(v_j - v_i, axis=1) / np.sqrt(speed2)
    return time, miss, change
