"""The stable field in unit coordinates, as numbers: a flow, Q attractors and a speed.

With y = psi(x), y_q = psi(x*_q), r_q = |y - y_q|, weights w_q > 0 and p = max(d, 2),

    a_q = w_q r_q^-p / sum_k w_k r_k^-p,      e = sum_q a_q (y - y_q),
    xdot = m s(x) J_psi(x)^-1 u,              u = -(I + Omega) e / (|e| + epsilon),

with m, s > 0, Omega = sum_q a_q b Omega_q skew and epsilon = sum_q a_q epsilon_q > 0: a state moves towards the
inverse-distance mean of the latent attractors. One field, continuous everywhere. b = 1 / (1 + (k |e|)^8), with the k over
which psi fades to the identity: a field winds where data wound, and from far away it comes straight.

Why it is stable. U = sum w_q ln r_q (p = 2) or -sum w_q r_q^(2-p) / (p - 2) has gradient (sum_k w_k r_k^-p) e, so U
falls along every solution wherever e != 0, whatever psi, s, m, w and the skew Omega are. U is harmonic for p = d and has
no minimum but the y_q: exactly Q sinks, at the x*_q, and every other equilibrium is a saddle. Its sublevel sets are
bounded, so all but a null set of states end in an attractor. A Lyapunov function to look at, of which U is a rising
function, is half the squared power mean of the distances, V = M^2 / 2, M = (sum w_q r_q^(2-p) / sum w_q)^(1/(2-p)), the
geometric mean for p = 2; for Q = 1, V = |y - y_1|^2 / 2.

For Q = 1, e = y - y_1: the paper's xdot = J^-1 (psi(x*) - psi(x)) with four departures that leave V a Lyapunov
function: s restores the speed of the data, the softened norm makes solutions arrive instead of creeping in, Omega (zero
unless the data spiral) turns straight lines into spirals, which no smooth psi can do at a focus, and m is a brake: J^-1
may be large where nothing was learned, and no state may move faster than a limit.

As in `flows`, points are columns, (d, n), and arrays may be of any library.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .flows import (
    TINY,
    Array,
    Features,
    Flow,
    forward,
    fourier_features,
    inverse,
    linearise,
    linearise_inverse,
    namespace,
    pull,
    push_gradient,
    window,
)
from .warps import Seen, World

BRAKE_POWER = 8
"""How late the brake sets in: at half the limit it takes 0.05 % of the speed, at two thirds 0.5 %."""


class Speed(NamedTuple):
    """log s(x) = offset + b(x) weights . phi(x), phi and the window b those of `flows`.

    |phi| = 1, so |log s - offset| <= |weights|; far away s is constant.
    """

    frequencies: Array
    """(F, d), fixed."""
    weights: Array
    """(2 F,), learned."""
    offset: Array
    window: Array
    """k of b(x), as in `flows.Flow`."""


class StableModel(NamedTuple):
    """Everything a stable field is made of, in unit coordinates."""

    flow: Flow
    speed: Speed
    attractors: Array
    """x*, (Q, d)."""
    log_weights: Array
    """ln w, (Q,)."""
    swirls: Array
    """Omega_q, (Q, d, d), skew."""
    softening: Array
    """epsilon_q > 0, (Q,), in latent units."""
    brake: Array
    """(d,): |brake * xdot| <= 1 is the limit of speed; zero for none."""
    world: World | None = None
    """What the field is seen through, see `warps`; all of the above is of the learned world."""

    def alone(self, q: int) -> StableModel:
        """Attractor q alone in the same coordinates."""
        keep = slice(q, q + 1)
        return self._replace(
            attractors=self.attractors[keep],
            log_weights=np.zeros(1),
            swirls=self.swirls[keep],
            softening=self.softening[keep],
            world=self.world and self.world._replace(places=self.world.places[keep]),
        )


# --- in the latent space ------------------------------------------------------------------------------


class Wells(NamedTuple):
    """The latent system: all that decides where a solution runs, whatever psi and the clock are."""

    goals: Array
    """y_q = psi(x*_q), (Q, d)."""
    log_weights: Array
    swirls: Array
    softening: Array
    """As in `StableModel`."""
    window: Array
    """k of the flow: beyond a latent distance of 1/k winding fades."""

    @property
    def power(self) -> int:
        """p."""
        return max(int(self.goals.shape[1]), 2)

    @property
    def winds(self) -> bool:
        """Whether some Omega is not zero; numbers that are not known yet may be anything."""
        return type(self.swirls) is not np.ndarray or bool(self.swirls.any())


def wells(model: StableModel) -> Wells:
    """Of a model. For a few points, finding them takes as long as all the rest: they are worth keeping."""
    goals = forward(model.flow, model.attractors.T).T
    return Wells(goals, model.log_weights, model.swirls, model.softening, model.flow.window)


def offsets(wells: Wells, y: Array) -> tuple[Array, Array]:
    """y - y_q, (Q, d, n), and r_q^2, (Q, n)."""
    away = y - wells.goals[:, :, None]
    return away, (away * away).sum(1) + TINY


def shares(wells: Wells, y: Array) -> tuple[Array, Array]:
    """e, (d, n), and a_q, (Q, n), at latent points; by ratios to the nearest, since r^-p overflows in many dimensions."""
    xp = namespace(y)
    if wells.goals.shape[0] == 1:
        return y - wells.goals.T, xp.ones_like(y[:1])
    away, square = offsets(wells, y)
    ratio = square.min(0) / square
    part = xp.exp(wells.log_weights - wells.log_weights.max(0))[:, None] * ratio ** (wells.power // 2)
    if wells.power % 2:
        part = part * xp.sqrt(ratio)
    a = part / part.sum(0)
    return (a[:, None] * away).sum(0), a


def turned(wells: Wells, e: Array, a: Array) -> Array:
    """(I + Omega) e."""
    if not wells.winds:
        return e
    count, d, _ = wells.swirls.shape
    a = a / (1.0 + (wells.window**2 * (e * e).sum(0)) ** 4)
    if count == 1:
        return e + a * (wells.swirls[0] @ e)
    omega = (wells.swirls.reshape(count, d * d).T @ a).reshape(d, d, -1)
    return e + (omega * e).sum(1)


def latent_velocity(wells: Wells, y: Array) -> Array:
    """u = -(I + Omega) e / (|e| + epsilon)."""
    e, a = shares(wells, y)
    return -turned(wells, e, a) / (length(e) + wells.softening @ a)


def length(v: Array) -> Array:
    """|v|, (n,)."""
    return namespace(v).sqrt((v * v).sum(0) + TINY)


def potential_at(wells: Wells, y: Array) -> Array:
    """V = M^2 / 2 at latent points."""
    return 0.5 * namespace(y).exp(_log_mean(wells, offsets(wells, y)[1])[0])


def mean_distance(wells: Wells, y: Array) -> tuple[Array, Array]:
    """M, (n,), and grad M = sum_q b_q M / r_q^2 (y - y_q), (d, n)."""
    away, square = offsets(wells, y)
    log_mean, b = _log_mean(wells, square)
    mean = namespace(y).exp(0.5 * log_mean)
    return mean, ((b * mean / square)[:, None] * away).sum(0)


def _log_mean(wells: Wells, square: Array) -> tuple[Array, Array]:
    """ln M^2, (n,), and b_q = w_q r_q^(2-p) / sum_k w_k r_k^(2-p), (Q, n)."""
    xp = namespace(square)
    half = (2 - wells.power) / 2
    w = xp.exp(wells.log_weights - wells.log_weights.max(0))
    w = (w / w.sum(0))[:, None]
    if half == 0:
        return (w * xp.log(square)).sum(0), w
    # Relative to the nearest, whose part is 1: nothing overflows.
    least = square.min(0)
    part = w * xp.exp(half * xp.log(square / least))
    total = part.sum(0)
    return xp.log(least) + xp.log(total) / half, part / total


class Winding(NamedTuple):
    """Eigenvalues (d,) and eigenvectors (d, d) of i Omega, which is Hermitian."""

    rates: Array
    real: Array
    imaginary: Array


def winding(swirl: Array) -> Winding:
    """Of a skew matrix Omega, or of several."""
    return _winding(swirl.tobytes(), swirl.shape)


@lru_cache(maxsize=64)
def _winding(swirl: bytes, shape: tuple[int, ...]) -> Winding:
    rates, vectors = np.linalg.eigh(1j * np.frombuffer(swirl).reshape(shape))
    return Winding(rates, vectors.real, vectors.imag)


def wound(known: Winding, heading: Array, window: Array, rho: Array, start: Array) -> Array:
    """exp(Omega ln(R(rho) / R(start))) applied to headings (d, m): where the solution that points there at `start` points at rho.

    R = rho / (1 + (k rho)^8)^(1/8), since b / rho is the slope of its logarithm. The exponential of the skew matrix is a
    change of phase in the eigenbasis of i Omega.
    """
    xp = namespace(heading)
    angle = known.rates[:, None] * (xp.log(rho / start) + _log_fading(window * rho) - _log_fading(window * start))
    cosine, sine = xp.cos(angle), xp.sin(angle)
    real, imaginary = known.real.T @ heading, known.imaginary.T @ heading
    return known.real @ (real * cosine - imaginary * sine) + known.imaginary @ (imaginary * cosine + real * sine)


def _log_fading(r: Array) -> Array:
    """-ln(1 + r^8) / 8, written in min(r, 1/r), which no power takes out of range."""
    xp = namespace(r)
    top = xp.maximum(r, 1.0)
    return -xp.log(top) - 0.125 * xp.log(1.0 + (r / top / top) ** 8)


# --- in the world -------------------------------------------------------------------------------------


def log_speed(speed: Speed, x: Array, features: Features = fourier_features) -> Array:
    """log s at points, (n,)."""
    return window(speed.window, x) * (speed.weights @ features(speed.frequencies, x)) + speed.offset


def direction(model: StableModel, wells: Wells, x: Array) -> Array:
    """J^-1 u at points of the learned world: the field before its speed."""
    y, steps = linearise(model.flow, x)
    return pull(steps, latent_velocity(wells, y))


def velocity(model: StableModel, wells: Wells, x: Array) -> Array:
    """xdot at points."""
    z, seen = learned(model, x)
    return braked(model, namespace(x).exp(log_speed(model.speed, z)) * direction(model, wells, z), seen)[0]


def learned(model: StableModel, x: Array) -> tuple[Array, Seen | None]:
    """S(x) and DS(x): where points of the world are in the learned one."""
    return (x, None) if at_home(model, x) else model.world.linearise(x)  # type: ignore[union-attr]


def at_home(model: StableModel, x: Array) -> bool:
    """Whether S(x) = x for all of some points: nothing is warped, or what keeps a field home does not reach there."""
    return model.world is None or (isinstance(x, np.ndarray) and model.world.still(x))


def latent(model: StableModel, x: Array) -> Array:
    """psi(S(x))."""
    return forward(model.flow, x if at_home(model, x) else model.world.forward(x))  # type: ignore[union-attr]


def from_latent(model: StableModel, y: Array) -> Array:
    """S^-1(psi^-1(y))."""
    z = inverse(model.flow, y)
    return z if model.world is None else model.world.inverse(z)


def braked(model: StableModel, free: Array, seen: Seen | None) -> tuple[Array, Array]:
    """m c DS^-1 f: what the learned world's velocity is in the world, no faster than the limit; and m c."""
    if seen is None:
        m = braking(model.brake, free)
        return free * m, m
    here, c = seen.carry(free)
    m = braking(model.brake, here)
    # Walls and bodies brake what the limit has left: what they let through of a velocity without a limit would have none.
    slowed, share = seen.braked(here * m)
    return seen.following(slowed), m * c * share


def braking(brake: Array, free: Array) -> Array:
    """m = (1 + r^8)^(-1/8), r = |brake * free|, (n,): nearly 1 below the limit, and m r < 1 whatever r is.

    Written in min(r, 1/r), which no power takes out of range.
    """
    r = length(brake[:, None] * free)
    top = namespace(free).maximum(r, 1.0)
    return 1.0 / (top * (1.0 + (r / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER))


def clock_speed(model: StableModel, wells: Wells, y: Array) -> Array:
    """m c s, with which the latent clock runs, at latent points y."""
    z, steps = linearise_inverse(model.flow, y)
    s = namespace(y).exp(log_speed(model.speed, z))
    x = z if model.world is None else model.world.inverse(z)
    return s * braked(model, s * pull(steps, latent_velocity(wells, y)), learned(model, x)[1])[1]


def potential(model: StableModel, wells: Wells, x: Array) -> Array:
    """V, (n,)."""
    return potential_at(wells, latent(model, x))


def potential_gradient(model: StableModel, wells: Wells, x: Array) -> Array:
    """grad V = J^T M grad M."""
    z, seen = learned(model, x)
    y, steps = linearise(model.flow, z)
    mean, slope = mean_distance(wells, y)
    gradient = push_gradient(steps, mean * slope)
    return gradient if seen is None else seen.push_gradient(gradient)


def as_numpy(model: StableModel, dtype: Any = np.float64) -> StableModel:
    """The same numbers as NumPy arrays of one dtype."""

    def cast(a: Array) -> Array:
        return np.array(a, dtype=dtype, order="C")

    parts = {name: cast(getattr(model, name)) for name in ("attractors", "log_weights", "swirls", "softening", "brake")}
    return model._replace(flow=Flow(*map(cast, model.flow)), speed=Speed(*map(cast, model.speed)), **parts)
