"""Solution curves in the latent space, where the field is a small system of Q points: roll-outs, basins, saddles.

psi is a conjugacy, and the speed only changes the clock. So a roll-out is a curve of

    dy/dsigma = -(I + Omega) e(y),                     dt/dsigma = (|e| + epsilon) / (m s(x)) > 0,    x = psi^-1(y),

whose first equation knows nothing of psi or s and whose second is a plain integral with a positive integrand: time
rises, and V falls, at every step of any size. For one attractor the curve is known, y - y_1 = e^-sigma (y_0 - y_1), wound
(`stable.wound`); for several it is stepped by Runge-Kutta 4, well below rounding of the data. Where a state ends needs no
clock at all.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..runge_kutta import long_step
from ..runge_kutta import step as runge_kutta_step
from .flows import Array, namespace
from .stable import (
    StableModel,
    Wells,
    clock_speed,
    from_latent,
    latent,
    length,
    offsets,
    potential_at,
    shares,
    turned,
    winding,
    wound,
)

STEP = 0.1
"""Longest step of sigma; shorter where the solution winds, so that it turns by at most a tenth of a radian."""
AT_REST = 1e-12
"""Latent distance, in boxes, below which a roll-out stands still: rounding of psi is larger. Waiting costs nothing."""
CHUNK = 64
"""Steps between two looks at which roll-outs have arrived."""
LOOK = 4
"""Steps between two looks at whose end is decided, where they are short."""
ON_TIME = 1e-6
"""A step in time is met to this share of it."""
NEWTON = 2
"""Steps of Newton's method after which a clock that is a cubic in sigma says so."""
MOST_STEPS = 100_000
"""A state on the stable manifold of a saddle, up to rounding, creeps; it is left where it is."""


def slope(wells: Wells, y: Array) -> Array:
    """dy/dsigma = -(I + Omega) e."""
    return -turned(wells, *shares(wells, y))


def turning(wells: Wells) -> float:
    """max |Omega_q|."""
    return float(np.linalg.norm(wells.swirls, ord=2, axis=(1, 2)).max())


def longest_step(wells: Wells) -> float:
    """STEP, or what turns the solution by a tenth of a radian."""
    return STEP / max(1.0, turning(wells))


def advance(wells: Wells, y: Array, step: float | FloatArray) -> Array:
    """y (d, n) after `step` of sigma, one or (n,): exact for one attractor, Runge-Kutta 4 for several."""
    if len(wells.goals) == 1:
        away, left = y - wells.goals.T, namespace(y).exp(-step)
        if wells.winds:
            r = length(away)
            away = wound(winding(wells.swirls[0]), away, wells.window, left * r, r)
        return wells.goals.T + left * away
    return runge_kutta_step(lambda state: slope(wells, state), y, step)


def softened(wells: Wells, y: Array) -> Array:
    """|e| + epsilon, (n,)."""
    e, a = shares(wells, y)
    return length(e) + wells.softening @ a


def pace(model: StableModel, wells: Wells, y: FloatArray) -> FloatArray:
    """dt/dsigma = (|e| + epsilon) / (m s)."""
    return np.asarray(softened(wells, y) / clock_speed(model, wells, y))


def resting(wells: Wells, y: FloatArray) -> BoolArray:
    """States of equilibrium: the attractors, and the saddles."""
    return np.asarray(to_go(wells, y) < AT_REST)


def to_go(wells: Wells, y: Array) -> Array:
    """|e|, (n,)."""
    return length(shares(wells, y)[0])


# --- in time ------------------------------------------------------------------------------------------


def roll(model: StableModel, wells: Wells, x0: FloatArray, times: FloatArray) -> FloatArray:
    """States (d, m, len(times)) of the solutions from x0 (d, m) at rising times, of which the first is x0's."""
    delta, asked = longest_step(wells), times - times[0]
    y, clock = latent(model, x0), np.zeros(x0.shape[1])
    states = np.repeat(y[:, :, None], len(times), axis=2)
    going = np.flatnonzero(~resting(wells, y))
    for _ in range(MOST_STEPS // CHUNK):
        if len(going) == 0:
            break
        path, ticks = _chunk(model, wells, y[:, going], clock[going], delta)
        row, column = np.nonzero((asked > clock[going][:, None]) & (asked <= ticks[:, -1:]))
        states[:, going[row], column] = _between(model, wells, path, ticks, row, asked[column], delta)
        y[:, going], clock[going] = path[:, :, -1], ticks[:, -1]
        late = asked[None, :] > clock[going][:, None]
        states[:, going] = np.where(late, y[:, going, None], states[:, going])
        going = going[(clock[going] < asked[-1]) & ~resting(wells, y[:, going])]
    rolled = from_latent(model, states.reshape(len(y), -1)).reshape(states.shape)
    rolled[:, :, 0] = x0
    return np.asarray(rolled)


def after(model: StableModel, wells: Wells, x: FloatArray, dt: float) -> FloatArray:
    """x (d, n) after dt: steps of sigma along the solution itself, the last one cut so that the clock says dt.

    The curve does not depend on the clock, so that any number of steps of any size stays on one solution, and V falls.
    """
    longest, y, left = longest_step(wells), latent(model, x), np.full(x.shape[1], dt)
    moving = ~resting(wells, y)
    going = np.flatnonzero(moving)
    begin = pace(model, wells, y[:, going])
    for _ in range(MOST_STEPS):
        if len(going) == 0:
            break
        here, most = y[:, going], left[going]
        half = np.minimum(longest, most / begin) / 2
        middle = pace(model, wells, advance(wells, here, half))
        last = np.minimum(longest, most / middle)
        end = pace(model, wells, advance(wells, here, last))
        step, left[going] = clocked(begin, middle, end, half, last, most, longest)
        y[:, going] = advance(wells, here, step)
        more = (left[going] > ON_TIME * dt) & ~resting(wells, y[:, going])
        going, begin = going[more], end[more]
    return np.where(moving, from_latent(model, y), x)


def clocked(
    begin: Array, middle: Array, end: Array, half: Array, last: Array, most: Array, longest: Array
) -> tuple[Array, Array]:
    """A step of sigma, no longer than `longest`, after which time has come to `most`, and what is missing of it.

    dt/dsigma is taken for the parabola through its values at 0, `half` and `last`, and that is about where the step ends.
    """
    xp, step = namespace(begin), last
    rise = (middle - begin) / half
    bend = ((end - begin) / last - rise) / (last - half)
    for _ in range(NEWTON):
        clock = step * (begin + step * (rise / 2 + bend * (step / 3 - half / 2)))
        rate = begin + step * (rise + bend * (step - half))
        step = xp.minimum(xp.maximum(step + (most - clock) / rate, half), longest)
    return step, most - step * (begin + step * (rise / 2 + bend * (step / 3 - half / 2)))


def _chunk(
    model: StableModel, wells: Wells, y: FloatArray, clock: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """CHUNK steps: nodes (d, m, CHUNK + 1) and their times (m, CHUNK + 1), by Simpson's rule."""
    halves = [y]
    for _ in range(2 * CHUNK):
        halves.append(advance(wells, halves[-1], delta / 2))
    fine = np.stack(halves, axis=2)
    rates = pace(model, wells, fine.reshape(len(y), -1)).reshape(fine.shape[1:])
    spans = delta / 6 * (rates[:, :-2:2] + 4 * rates[:, 1::2] + rates[:, 2::2])
    ticks = clock[:, None] + np.concatenate([np.zeros((len(clock), 1)), np.cumsum(spans, axis=1)], axis=1)
    return fine[:, :, ::2], ticks


def _between(
    model: StableModel,
    wells: Wells,
    nodes: FloatArray,
    ticks: FloatArray,
    row: IntArray,
    asked: FloatArray,
    delta: float,
) -> FloatArray:
    """Latent states of some rows' curves at times between their nodes."""
    low = np.clip((ticks[row] < asked[:, None]).sum(1) - 1, 0, ticks.shape[1] - 2)
    begin = ticks[row, low]
    span = ticks[row, low + 1] - begin
    part = np.clip((asked - begin) / span, 0.0, 1.0)
    start, end = nodes[:, row, low], nodes[:, row, low + 1]
    # sigma over time: a cubic with the right slopes, kept rising (Fritsch and Carlson).
    left = np.minimum(span / (delta * pace(model, wells, start)), 3.0)
    right = np.minimum(span / (delta * pace(model, wells, end)), 3.0)
    share = part + part * (1 - part) * ((1 - part) * (left - 1) - part * (right - 1))
    return np.asarray(advance(wells, start, delta * share))


# --- where they end -----------------------------------------------------------------------------------


def fate(wells: Wells, y: FloatArray) -> IntArray:
    """The attractor in which each latent state ends, -1 for one on a saddle's stable manifold up to rounding.

    Below the lowest saddle a sublevel set of V falls into one piece for every attractor, which no solution leaves: whether
    it winds or not, it ends in the same. So in the plane, where all saddles are known, a state is followed with the winding
    until it is there, and without it on.
    """
    ends, going = np.full(y.shape[1], -1, dtype=np.intp), np.arange(y.shape[1])
    if len(wells.goals) == 1:
        return np.zeros_like(ends)
    if wells.winds:
        height = float(potential_at(wells, saddles(wells).T).min()) if len(y) == 2 else -1.0
        y, going = _followed(wells, y, ends, going, height)
    _followed(wells._replace(swirls=np.zeros_like(wells.swirls)), y, ends, going, -1.0)
    return ends


def _followed(
    wells: Wells, y: FloatArray, ends: IntArray, going: IntArray, height: float
) -> tuple[FloatArray, IntArray]:
    """States followed until it is decided where they end, written into `ends`, or until V is below `height`: these."""
    below, still = [y[:, :0]], [going[:0]]
    step, turn = longest_step(wells), 1 + turning(wells)
    for _ in range(MOST_STEPS // LOOK):
        nearest, decided, at_rest = decisions(wells, y, turn)
        ends[going[decided]] = nearest[decided]
        low = ~decided & (potential_at(wells, y) < height)
        below.append(y[:, low])
        still.append(going[low])
        more = ~(decided | low | at_rest)
        y, going = y[:, more], going[more]
        if len(going) == 0:
            break
        if LOOK * step < STEP:  # it winds: ten such steps at once
            y = long_step(lambda state: slope(wells, state), y, min(STEP, 10 * step))
            continue
        for _ in range(LOOK):
            y = advance(wells, y, step)
    return np.concatenate(below, axis=1), np.concatenate(still)


def decisions(wells: Wells, y: Array, turn: float) -> tuple[Array, Array, Array]:
    """The nearest attractor of latent states, whether they must end there, and whether they are at rest; turn = 1 + |Omega|.

    A state is decided once turn sum_{k != q} a_k r_k < r_q / 2: there r_q falls at least half as fast as without the other
    attractors, the sum falls faster than r_q does, and so it stays decided.
    """
    xp, (e, a) = namespace(y), shares(wells, y)
    r = xp.sqrt(offsets(wells, y)[1])
    nearest = r.argmin(0)
    others = (xp.where(xp.equal(nearest, np.arange(r.shape[0])[:, None]), 0.0, a) * r).sum(0)
    return nearest, turn * others < 0.5 * r.min(0) + AT_REST, length(e) < AT_REST


def saddles(wells: Wells) -> FloatArray:
    """Latent equilibria other than the attractors, e(y) = 0, in the order of their first coordinates: (n, d).

    In the plane e = 0 is sum_q w_q / conj(z - z_q) = 0, a polynomial of degree Q - 1: all of its roots. In more dimensions
    Newton's method from between the attractors, in whose convex hull every equilibrium lies.
    """
    count, dimension = wells.goals.shape
    if count == 1:
        return np.empty((0, dimension))
    found = _planar_saddles(wells) if dimension == 2 else _newton_saddles(wells)
    return found[np.lexsort(found.T[::-1])]


def _planar_saddles(wells: Wells) -> FloatArray:
    z = wells.goals[:, 0] - 1j * wells.goals[:, 1]
    weights = np.exp(wells.log_weights - wells.log_weights.max())
    centre, size = z.mean(), np.abs(z - z.mean()).max()
    unit = (z - centre) / size
    polynomial = sum(w * np.poly(np.delete(unit, q)) for q, w in enumerate(weights))
    roots = centre + size * np.roots(polynomial)
    return np.column_stack([roots.real, -roots.imag])


def _newton_saddles(wells: Wells, draws: int = 200) -> FloatArray:
    """Newton on e = 0 from mid-points of pairs and random mixtures of the attractors."""
    rng, goal = np.random.default_rng(0), wells.goals
    pairs = [(goal[i] + goal[j]) / 2 for i, j in combinations(range(len(goal)), 2)]
    y = np.concatenate([pairs, rng.dirichlet(np.full(len(goal), 0.5), draws) @ goal])
    size = float(np.ptp(goal, axis=0).max())
    for _ in range(60):
        e = shares(wells, y.T)[0].T
        step = np.linalg.solve(slopes_of_e(wells, y) + 1e-12 * np.eye(goal.shape[1]), -e[:, :, None])[:, :, 0]
        far = np.linalg.norm(step, axis=1, keepdims=True)
        y = y + step * np.minimum(1.0, 0.1 * size / np.maximum(far, 1e-300))
    still = length(shares(wells, y.T)[0]) < 1e-9 * size
    apart = np.linalg.norm(y[:, None] - goal, axis=2).min(1) > 1e-6 * size
    kept: list[FloatArray] = []
    for candidate in y[still & apart]:
        if all(np.linalg.norm(candidate - other) > 1e-6 * size for other in kept):
            kept.append(candidate)
    return np.array(kept).reshape(-1, goal.shape[1])


def slopes_of_e(wells: Wells, y: FloatArray) -> FloatArray:
    """de/dy, (n, d, d), at places (n, d): I - sum_q (y - y_q) (da_q/dy), da_q/dy = -p a_q (g_q - sum_k a_k g_k),
    g_q = (y - y_q) / r_q^2."""
    away, square = offsets(wells, y.T)
    a = shares(wells, y.T)[1][:, None]
    g = away / square[:, None]
    change = -wells.power * a * (g - (a * g).sum(0))
    return np.asarray(np.eye(y.shape[1]) + np.einsum("qin,qjn->nij", away, change))


def separatrices(wells: Wells, reach: float, samples: int = 400) -> list[FloatArray]:
    """Stable manifolds of the saddles in the plane, as latent curves (n, 2) out to `reach` from the attractors' mean.

    Each is followed backwards in sigma from both sides of its saddle, along the stable direction of -(I + Omega) de/dy.
    """
    middle, back = wells.goals.mean(axis=0), -longest_step(wells)
    curves = []
    for saddle in saddles(wells):
        a = shares(wells, saddle[:, None])[1][:, 0]
        matrix = -(np.eye(2) + np.tensordot(a, wells.swirls, 1)) @ slopes_of_e(wells, saddle[None])[0]
        values, vectors = np.linalg.eig(matrix)
        stable = np.real(vectors[:, np.argmin(values.real)])
        nearest = float(np.linalg.norm(saddle - wells.goals, axis=1).min())
        sides = []
        for sign in (-1.0, 1.0):
            nodes = [saddle, saddle + sign * 1e-5 * nearest * stable]
            while len(nodes) < MOST_STEPS // 10 and np.linalg.norm(nodes[-1] - middle) <= reach:
                nodes.append(advance(wells, nodes[-1][:, None], back)[:, 0])
            sides.append(_even(np.array(nodes), samples // 2))
        curves.append(np.concatenate([sides[0][::-1], sides[1][1:]]))
    return curves


def _even(curve: FloatArray, samples: int) -> FloatArray:
    """The curve at even steps of its length."""
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = np.linspace(0, far[-1], samples)
    return np.column_stack([np.interp(at, far, column) for column in curve.T])
