"""Solution curves in the latent space, where the field is a small system of Q points: roll-outs, basins, saddles.

psi is a conjugacy, and the speed only changes the clock. So a roll-out is a curve of

    dy/dsigma = -(I + Omega) e(y),                     dt/dsigma = (|e| + epsilon) / (m s(x)) > 0,    x = psi^-1(y),

whose first equation knows nothing of psi or s and whose second is a plain integral with a positive integrand: time
rises, and V falls, at every step of any size. For one attractor the curve is known, y - y_1 = e^-sigma exp(-sigma Omega)
(y_0 - y_1); for several it is stepped by Runge-Kutta 4, well below rounding of the data. Where a state ends needs no
clock at all.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..runge_kutta import step as runge_kutta_step
from .stable import StableModel, clock_speed, from_latent, goal_count, goals, latent, offsets, shares, turned, wound

STEP = 0.1
"""Longest step of sigma; shorter where the solution winds, so that it turns by at most a tenth of a radian."""
AT_REST = 1e-12
"""Latent distance, in boxes, below which a roll-out stands still: rounding of psi is larger. Waiting costs nothing."""
CHUNK = 64
"""Steps between two looks at who has arrived."""
ON_TIME = 1e-6
"""A step in time is met to this share of it."""
MOST_STEPS = 100_000
"""A state on the stable manifold of a saddle, up to rounding, creeps; it is left where it is."""


def slope(model: StableModel, y: FloatArray, goal: FloatArray) -> FloatArray:
    """dy/dsigma = -(I + Omega) e."""
    e, a = shares(model, y, goal)
    return np.asarray(-turned(model, e, a))


def longest_step(model: StableModel) -> float:
    """STEP, or what turns the solution by a tenth of a radian."""
    return STEP / max(1.0, float(np.linalg.norm(model.swirls, ord=2, axis=(1, 2)).max()))


def advance(model: StableModel, y: FloatArray, goal: FloatArray, step: FloatArray) -> FloatArray:
    """y after `step` of sigma, (n,): exact for one attractor, Runge-Kutta 4 for several."""
    if goal_count(model) == 1:
        away = np.exp(-step)[:, None] * wound(model.swirls[0], y - goal, -step)
        return np.asarray(goal + away)
    return runge_kutta_step(lambda state: slope(model, state, goal), y, step[:, None])


def pace(model: StableModel, y: FloatArray, goal: FloatArray) -> FloatArray:
    """dt/dsigma = (|e| + epsilon) / (m s)."""
    e, a = shares(model, y, goal)
    return np.asarray((np.linalg.norm(e, axis=1) + a @ model.softening) / clock_speed(model, y, goal))


def resting(model: StableModel, y: FloatArray, goal: FloatArray) -> BoolArray:
    """States of equilibrium: the attractors, and the saddles."""
    return np.asarray(np.linalg.norm(shares(model, y, goal)[0], axis=1) < AT_REST)


def roll(model: StableModel, x0: FloatArray, times: FloatArray) -> FloatArray:
    """States (m, len(times), d) of the solutions from x0 (m, d) at rising times, of which the first is x0's."""
    goal, delta = goals(model), longest_step(model)
    asked = times - times[0]
    states = np.repeat(latent(model, x0)[:, None], len(times), axis=1)
    y, clock = states[:, 0].copy(), np.zeros(len(x0))
    going = np.flatnonzero(~resting(model, y, goal))
    for _ in range(MOST_STEPS // CHUNK):
        if len(going) == 0:
            break
        path, ticks = _chunk(model, y[going], clock[going], goal, delta)
        row, column = np.nonzero((asked > clock[going][:, None]) & (asked <= ticks[:, -1:]))
        states[going[row], column] = _between(model, path, ticks, row, asked[column], goal, delta)
        y[going], clock[going] = path[:, -1], ticks[:, -1]
        late = asked[None, :] > clock[going][:, None]
        states[going] = np.where(late[:, :, None], y[going][:, None], states[going])
        going = going[(clock[going] < asked[-1]) & ~resting(model, y[going], goal)]
    rolled = from_latent(model, states.reshape(-1, states.shape[-1])).reshape(states.shape)
    rolled[:, 0] = x0
    return np.asarray(rolled)


def after(model: StableModel, x: FloatArray, dt: float) -> FloatArray:
    """x (n, d) after dt: steps of sigma along the solution itself, the last one cut so that the clock says dt.

    The curve does not depend on the clock, so that any number of steps of any size stays on one solution, and V falls.
    Time is taken at the middle of every step, to second order.
    """
    goal, longest = goals(model), longest_step(model) / 2
    y, left = latent(model, x), np.full(len(x), dt)
    moving = ~resting(model, y, goal)
    going = np.flatnonzero(moving)
    rate = pace(model, y[going], goal)
    for _ in range(MOST_STEPS):
        if len(going) == 0:
            break
        here, most = y[going], left[going]
        step = np.minimum(longest, most / rate)
        for _ in range(2):
            rate = pace(model, advance(model, here, goal, step / 2), goal)
            step = np.minimum(longest, most / rate)
        y[going] = advance(model, here, goal, step)
        left[going] = most - step * rate
        more = (left[going] > ON_TIME * dt) & ~resting(model, y[going], goal)
        going, rate = going[more], rate[more]
    return np.where(moving[:, None], from_latent(model, y), x)


def _chunk(
    model: StableModel, y: FloatArray, clock: FloatArray, goal: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """CHUNK steps: nodes (m, CHUNK + 1, d) and their times (m, CHUNK + 1), by Simpson's rule."""
    half = np.full(len(y), delta / 2)
    halves = [y]
    for _ in range(2 * CHUNK):
        halves.append(advance(model, halves[-1], goal, half))
    fine = np.stack(halves, axis=1)
    rates = pace(model, fine.reshape(-1, y.shape[1]), goal).reshape(fine.shape[:2])
    spans = delta / 6 * (rates[:, :-2:2] + 4 * rates[:, 1::2] + rates[:, 2::2])
    ticks = clock[:, None] + np.concatenate([np.zeros((len(y), 1)), np.cumsum(spans, axis=1)], axis=1)
    return fine[:, ::2], ticks


def _between(
    model: StableModel,
    nodes: FloatArray,
    ticks: FloatArray,
    row: IntArray,
    asked: FloatArray,
    goal: FloatArray,
    delta: float,
) -> FloatArray:
    """Latent states of some rows' curves at times between their nodes."""
    low = np.clip((ticks[row] < asked[:, None]).sum(1) - 1, 0, ticks.shape[1] - 2)
    begin = ticks[row, low]
    span = ticks[row, low + 1] - begin
    part = np.clip((asked - begin) / span, 0.0, 1.0)
    start, end = nodes[row, low], nodes[row, low + 1]
    # sigma over time: a cubic with the right slopes, kept rising (Fritsch and Carlson).
    left = np.minimum(span / (delta * pace(model, start, goal)), 3.0)
    right = np.minimum(span / (delta * pace(model, end, goal)), 3.0)
    share = part + part * (1 - part) * ((1 - part) * (left - 1) - part * (right - 1))
    return advance(model, start, goal, delta * share)


def fate(model: StableModel, x: FloatArray) -> IntArray:
    """The attractor in which each state ends, -1 for one that sits on a saddle's stable manifold up to rounding.

    A state is decided once (1 + |Omega|) sum_{k != q} a_k r_k < r_q / 2: there r_q falls at least half as fast as without
    the other attractors, the sum falls faster than r_q does, and so it stays decided.
    """
    if goal_count(model) == 1:
        return np.zeros(len(x), dtype=np.intp)
    goal, delta = goals(model), longest_step(model)
    turn = 1 + float(np.linalg.norm(model.swirls, ord=2, axis=(1, 2)).max())
    y = latent(model, x)
    ends = np.full(len(x), -1, dtype=np.intp)
    going = np.arange(len(x))
    for _ in range(MOST_STEPS // CHUNK):
        here = y[going]
        a = shares(model, here, goal)[1]
        r = np.exp(offsets(here, goal)[1])
        nearest = r.argmin(axis=1)
        own = np.take_along_axis(r, nearest[:, None], 1)[:, 0]
        others = (a * r).sum(1) - np.take_along_axis(a, nearest[:, None], 1)[:, 0] * own
        decided = turn * others < 0.5 * own + AT_REST
        ends[going[decided]] = nearest[decided]
        going = going[~decided & ~resting(model, here, goal)]
        if len(going) == 0:
            break
        step = np.full(len(going), delta)
        here = y[going]
        for _ in range(CHUNK // 4):
            here = advance(model, here, goal, step)
        y[going] = here
    return ends


def saddles(model: StableModel) -> FloatArray:
    """Latent equilibria other than the attractors, e(y) = 0, in the order of their first coordinates: (n, d).

    In the plane e = 0 is sum_q w_q / conj(z - z_q) = 0, a polynomial of degree Q - 1: all of its roots. In more dimensions
    Newton's method from between the attractors, in whose convex hull every equilibrium lies.
    """
    goal = goals(model)
    count, dimension = goal.shape
    if count == 1:
        return np.empty((0, dimension))
    weights = np.exp(model.log_weights - model.log_weights.max())
    found = _planar_saddles(goal, weights) if dimension == 2 else _newton_saddles(model, goal)
    return found[np.lexsort(found.T[::-1])]


def _planar_saddles(goal: FloatArray, weights: FloatArray) -> FloatArray:
    z = goal[:, 0] - 1j * goal[:, 1]
    centre, size = z.mean(), np.abs(z - z.mean()).max()
    unit = (z - centre) / size
    polynomial = sum(w * np.poly(np.delete(unit, q)) for q, w in enumerate(weights))
    roots = centre + size * np.roots(polynomial)
    return np.column_stack([roots.real, -roots.imag])


def _newton_saddles(model: StableModel, goal: FloatArray, draws: int = 200) -> FloatArray:
    """Newton on e = 0 from mid-points of pairs and random mixtures of the attractors."""
    rng = np.random.default_rng(0)
    pairs = [(goal[i] + goal[j]) / 2 for i, j in combinations(range(len(goal)), 2)]
    y = np.concatenate([pairs, rng.dirichlet(np.full(len(goal), 0.5), draws) @ goal])
    size = float(np.ptp(goal, axis=0).max())
    for _ in range(60):
        e = shares(model, y, goal)[0]
        step = np.linalg.solve(slopes_of_e(model, y, goal) + 1e-12 * np.eye(goal.shape[1]), -e[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        y = y + step * np.minimum(1.0, 0.1 * size / np.maximum(length, 1e-300))
    still = np.linalg.norm(shares(model, y, goal)[0], axis=1) < 1e-9 * size
    apart = np.linalg.norm(y[:, None] - goal, axis=2).min(1) > 1e-6 * size
    kept: list[FloatArray] = []
    for candidate in y[still & apart]:
        if all(np.linalg.norm(candidate - other) > 1e-6 * size for other in kept):
            kept.append(candidate)
    return np.array(kept).reshape(-1, goal.shape[1])


def slopes_of_e(model: StableModel, y: FloatArray, goal: FloatArray) -> FloatArray:
    """de/dy, (n, d, d): I - sum_q (y - y_q) (da_q/dy), da_q/dy = -p a_q (g_q - sum_k a_k g_k), g_q = (y - y_q) / r_q^2."""
    away, log_r = offsets(y, goal)
    a = shares(model, y, goal)[1]
    g = away / np.exp(2 * log_r)[:, :, None]
    centred = g - (a[:, :, None] * g).sum(1, keepdims=True)
    change = -model.power * a[:, :, None] * centred
    return np.asarray(np.eye(y.shape[1]) + np.einsum("nqi,nqj->nij", away, change))


def separatrices(model: StableModel, reach: float, samples: int = 400) -> list[FloatArray]:
    """Stable manifolds of the saddles in the plane, as latent curves out to `reach` from the attractors' mean.

    Each is followed backwards in sigma from both sides of its saddle, along the stable direction of -(I + Omega) de/dy.
    """
    goal, delta = goals(model), longest_step(model)
    middle = goal.mean(axis=0)
    curves = []
    for saddle in saddles(model):
        a = shares(model, saddle[None], goal)[1][0]
        matrix = -(np.eye(2) + np.tensordot(a, model.swirls, 1)) @ slopes_of_e(model, saddle[None], goal)[0]
        values, vectors = np.linalg.eig(matrix)
        stable = np.real(vectors[:, np.argmin(values.real)])
        nearest = float(np.linalg.norm(saddle - goal, axis=1).min())
        sides = []
        for sign in (-1.0, 1.0):
            y = saddle[None] + sign * 1e-5 * nearest * stable
            nodes = [saddle, y[0]]
            for _ in range(MOST_STEPS // 10):
                y = advance(model, y, goal, np.array([-delta]))
                nodes.append(y[0])
                if np.linalg.norm(y[0] - middle) > reach:
                    break
            sides.append(_even(np.array(nodes), samples // 2))
        curves.append(np.concatenate([sides[0][::-1], sides[1][1:]]))
    return curves


def _even(curve: FloatArray, samples: int) -> FloatArray:
    """The curve at even steps of its length."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = np.linspace(0, length[-1], samples)
    return np.column_stack([np.interp(at, length, column) for column in curve.T])
