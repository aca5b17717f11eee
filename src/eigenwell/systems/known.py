"""The systems by name: fields in closed form, with every attractor they have in their region."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from .._types import FloatArray
from ..runge_kutta import returned
from .system import Field, System, integrate

# A cycle is closed when it misses itself by less than this share of its diameter.
CLOSED = 1e-3


def _heart(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([2 * a - a * b, 2 * a**2 - b], axis=-1)


def _pendulum(x: FloatArray) -> FloatArray:
    # l/g as printed in the paper (g/l is meant); with l = 1, k = 0.2 a run of 60 s ends at rest.
    length, g, k = 1.0, 9.81, 0.2
    angle, speed = x[..., 0], x[..., 1]
    return np.stack([speed, -length / g * np.sin(angle) - k * length * speed], axis=-1)


def _duffing(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([b, 0.3 * (4 * a - a**3 - b)], axis=-1)


def _four_wells(x: FloatArray) -> FloatArray:
    # -grad U of U = sum (x_i^2 - 1)^2 / 4, turned by a fixed angle: spirals into (+-1, +-1).
    a, b = x[..., 0] ** 3 - x[..., 0], x[..., 1] ** 3 - x[..., 1]
    return np.stack([-a + 0.8 * b, -b - 0.8 * a], axis=-1)


def wells(centres: FloatArray, rate: FloatArray, width: float | FloatArray = 0.5) -> tuple[Field, FloatArray]:
    """xdot = -R (x - sum_q w_q(x) c_q), w = softmax(-|x - c_q|^2 / 2 width_q^2): attractors in any dimension.

    R has eigenvalues in the right half-plane; equilibria do not depend on it. Returns the field and its stable
    equilibria, by fixed-point iteration from the centres.

    Parameters
    ----------
    centres : (Q, d) array
        Of the wells.
    rate : (d, d) array
        R, with eigenvalues in the right half-plane.
    width : float or (Q,) array
        Of the wells.

    Returns
    -------
    field, attractors : callable, (Q, d) array

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> field, places = ew.systems.wells(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.eye(2))
    >>> places.shape
    (2, 2)
    """

    def pull(x: FloatArray) -> FloatArray:
        e = -((x[..., None, :] - centres) ** 2).sum(-1) / (2 * np.square(width))
        w = np.exp(e - e.max(-1, keepdims=True))
        return np.asarray((w / w.sum(-1, keepdims=True)) @ centres, dtype=np.float64)

    def field(x: FloatArray) -> FloatArray:
        return np.asarray((pull(x) - x) @ rate.T, dtype=np.float64)

    attractors = centres
    for _ in range(200):
        attractors = pull(attractors)
    return field, attractors


def _rotating(d: int, decay: float, turn: float) -> FloatArray:
    """decay I + turn times a block-diagonal rotation."""
    rate = decay * np.eye(d)
    for i in range(0, d - 1, 2):
        rate[i, i + 1], rate[i + 1, i] = -turn, turn
    return rate


def _wells_system(name: str, centres: FloatArray, duration: float) -> System:
    d = centres.shape[1]
    field, attractors = wells(centres, _rotating(d, 1.0, 1.5))
    box = np.column_stack([centres.min(0) - 1.0, centres.max(0) + 1.0])
    # d + 1 trajectories an attractor: the fewest whose embedding has d dimensions.
    return System(name, field, attractors, box, duration, 100.0, n_per_attractor=d + 1, settling=duration)


def rest(field: Field, guess: FloatArray) -> FloatArray:
    """Zeros of the field nearest to the guesses (Q, d).

    Parameters
    ----------
    field : callable
        v = field(x), for x (n, d).
    guess : (Q, d) array
        Near the zeros.

    Returns
    -------
    (Q, d) array

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.systems.rest(lambda x: 1.0 - x, np.array([[0.5]])).round(6)
    array([[1.]])
    """
    return np.array([scipy.optimize.root(field, g, tol=1e-14).x for g in guess])


def limit_cycle(field: Field, start: FloatArray, settling: float = 30.0, step: float = 0.02) -> FloatArray:
    """The closed curve (m, d) that a solution from `start` winds onto, one period in steps of equal time.

    Parameters
    ----------
    field : callable
        v = field(x), for x (n, d).
    start : (d,) array
        Near the cycle.
    settling : float
        Time to wind onto it.
    step : float
        Of the integration.

    Returns
    -------
    (m, d) array

    Raises
    ------
    ValueError
        Where nothing comes back.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> curve = ew.systems.limit_cycle(ew.systems.van_der_pol.field, np.array([2.0, 0.0]))
    >>> curve.shape[1]
    2
    """
    run = integrate(field, start[None], step, round(settling / step), finest=step)[:, 0]
    back = returned(run, run[-1] - run[-2], len(run) - 1, CLOSED)
    if back is None:
        raise ValueError(
            f"settling: expected time to wind onto a cycle, got {settling:g}, after which nothing returns."
        )
    return np.asarray(run[back[0] + 1 :])


def _toggle_switch(x: FloatArray) -> FloatArray:
    # Two genes that repress each other (Gardner 2000).
    a, b = np.maximum(x[..., 0], 0), np.maximum(x[..., 1], 0)
    return np.stack([4 / (1 + b**3), 4 / (1 + a**3)], axis=-1) - x


def _three_fates(x: FloatArray) -> FloatArray:
    # Three genes, each repressed by the other two.
    y = np.maximum(x, 0) ** 4
    return np.asarray(3 / (1 + y.sum(axis=-1, keepdims=True) - y) - x, dtype=np.float64)


def _eight_wells(x: FloatArray) -> FloatArray:
    # -R grad U of U = sum (x_i^2 - 1)^2 / 4, R = I + a rotation about (1, 1, 1).
    return np.asarray((x - x**3) @ np.array([[1.0, 0.4, -0.4], [-0.4, 1.0, 0.4], [0.4, -0.4, 1.0]]), dtype=np.float64)


def _tilted_duffing(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([b, 0.3 * (4 * a - a**3 - b + 1.0)], axis=-1)


def _van_der_pol(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([b, (1 - a**2) * b - a], axis=-1)


def _unstable_focus(x: FloatArray) -> FloatArray:
    return np.asarray(x @ np.array([[0.3, 1.0], [-1.0, 0.3]]), dtype=np.float64)


def _saddle(x: FloatArray) -> FloatArray:
    a, b = x[..., 0], x[..., 1]
    return np.stack([a - a**3, -b], axis=-1)


def _well_in_a_cycle(x: FloatArray) -> FloatArray:
    # r' = r (r^2 - 1/2) (2 - r^2) / 2, angle' = 1: rest at the origin, a stable cycle of radius sqrt 2, and between
    # them an unstable one.
    square = (x**2).sum(axis=-1, keepdims=True)
    turned = np.stack([-x[..., 1], x[..., 0]], axis=-1)
    return np.asarray(x * (square - 0.5) * (2 - square) / 2 + turned, dtype=np.float64)


def _ghost(x: FloatArray) -> FloatArray:
    # One well at (1.17, 0). Near a = -0.6 the motion is slow, 3 % of the usual, but nothing is at rest.
    a, b = x[..., 0], x[..., 1]
    return np.stack([a - a**3 + 0.42, -b], axis=-1)


heart = System("heart", _heart, np.array([[-1.0, 2.0], [1.0, 2.0]]), np.array([[-2.0, 2.0], [-1.0, 5.0]]), 10.0, 100.0)
pendulum = System(
    "pendulum",
    _pendulum,
    np.array([[0.0, 0.0], [2 * np.pi, 0.0]]),
    np.array([[1.0, 2 * np.pi - 1.0], [-0.6, 0.6]]),
    60.0,
    10.0,
    region=np.array([[-1.2, 2 * np.pi + 1.2], [-0.6, 0.6]]),
)
_DUFFING = (np.array([[-2.0, 0.0], [2.0, 0.0]]), np.array([[-4.0, 4.0], [-4.0, 4.0]]))
duffing = System("duffing", _duffing, *_DUFFING, 40.0, 25.0)
# As printed: five seconds leave half of the motion (exp(-0.15 * 5) = 0.47), so trajectories do not end at rest.
duffing_short = System("duffing_short", _duffing, *_DUFFING, 5.0, 200.0)
four_wells = System(
    "four_wells",
    _four_wells,
    np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]),
    np.array([[-2.0, 2.0], [-2.0, 2.0]]),
    6.0,
    100.0,
)
three_d = _wells_system("three_d", np.array([[2.0, 0.0, 0.0], [-1.0, 1.7, 0.5], [-1.0, -1.7, -0.5]]), 8.0)
ten_d = _wells_system("ten_d", 1.5 * np.random.default_rng(10).choice([-1.0, 1.0], size=(4, 10)), 8.0)

all_systems = (heart, pendulum, duffing, four_wells, three_d, ten_d)

_SQUARE = np.array([[-1.0, 1.0], [-1.0, 1.0]])
toggle_switch = System(
    "toggle_switch",
    _toggle_switch,
    rest(_toggle_switch, np.array([[0.0, 4.0], [4.0, 0.0]])),
    np.array([[0.0, 5.0], [0.0, 5.0]]),
    12.0,
    50.0,
    settling=40.0,
)
three_fates = System(
    "three_fates",
    _three_fates,
    rest(_three_fates, 3 * np.eye(3)),
    np.array([[0.0, 4.0]] * 3),
    12.0,
    50.0,
    4,
    40.0,
)
eight_wells = System(
    "eight_wells",
    _eight_wells,
    np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)]),
    np.array([[-1.7, 1.7]] * 3),
    6.0,
    50.0,
    4,
    20.0,
)
_PENTAGON = 2 * np.stack([np.cos(0.3 + 0.4 * np.pi * np.arange(5)), np.sin(0.3 + 0.4 * np.pi * np.arange(5))], axis=1)
five_wells = _wells_system("five_wells", _PENTAGON, 8.0)
tilted_duffing = System(
    "tilted_duffing",
    _tilted_duffing,
    rest(_tilted_duffing, np.array([[-1.86, 0.0], [2.11, 0.0]])),
    4 * _SQUARE,
    40.0,
    25.0,
)
saddle = System("saddle", _saddle, np.array([[-1.0, 0.0], [1.0, 0.0]]), 2 * _SQUARE, 8.0, 50.0, settling=30.0)
_UNEQUAL = wells(np.array([[-0.5, 0.0], [1.5, 0.8]]), _rotating(2, 1.0, 0.5), np.array([0.8, 0.35]))
unequal_wells = System("unequal_wells", *_UNEQUAL, 2.5 * _SQUARE, 10.0, 50.0, settling=30.0)
ghost = System("ghost", _ghost, rest(_ghost, np.array([[1.3, 0.0]])), 2 * _SQUARE, 30.0, 25.0, 6)
van_der_pol = System(
    "van_der_pol",
    _van_der_pol,
    np.empty((0, 2)),
    3 * _SQUARE,
    30.0,
    25.0,
    n_per_attractor=6,
    cycles=(limit_cycle(_van_der_pol, np.array([2.0, 0.0])),),
)
_PHASE = np.linspace(0, 2 * np.pi, 314, endpoint=False)
well_in_a_cycle = System(
    "well_in_a_cycle",
    _well_in_a_cycle,
    np.zeros((1, 2)),
    1.6 * _SQUARE,
    20.0,
    25.0,
    cycles=(np.sqrt(2) * np.stack([np.cos(_PHASE), np.sin(_PHASE)], axis=1),),
)
unstable_focus = System("unstable_focus", _unstable_focus, np.empty((0, 2)), _SQUARE, 10.0, 50.0)

snapshot_systems = (
    four_wells,
    three_d,
    duffing,
    tilted_duffing,
    pendulum,
    toggle_switch,
    three_fates,
    five_wells,
    eight_wells,
    saddle,
    unequal_wells,
    ghost,
    van_der_pol,
    well_in_a_cycle,
    unstable_focus,
)
