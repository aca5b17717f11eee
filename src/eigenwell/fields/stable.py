"""The stable field in unit coordinates, as numbers: a flow, Q attractors and a speed.

With y = psi(x), y_q = psi(x*_q), r_q = |y - y_q|, weights w_q > 0 and p = max(d, 2),

    a_q = w_q r_q^-p / sum_k w_k r_k^-p,      e = sum_q a_q (y - y_q),
    xdot = m s(x) J_psi(x)^-1 u,              u = -(I + Omega) e / (|e| + epsilon),

with m, s > 0, Omega = sum_q a_q Omega_q skew and epsilon = sum_q a_q epsilon_q > 0: a state moves towards the
inverse-distance mean of the latent attractors. One field, continuous everywhere.

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

As in `flows`, arrays may be NumPy or JAX.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .flows import (
    Array,
    Features,
    Flow,
    Step,
    forward,
    fourier_features,
    linearise,
    linearise_inverse,
    namespace,
    pull,
    push_gradient,
    window,
)
from .flows import inverse as flow_inverse
from .warps import Seen, World

TINY = 1e-30
"""Added under roots and logarithms to keep their slopes finite at zero; far below float32's resolution."""


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

    @property
    def power(self) -> int:
        """p."""
        return max(self.flow.dimension, 2)

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


BRAKE_POWER = 8
"""How late the brake sets in: at half the limit it takes 0.05 % of the speed, at two thirds 0.5 %."""


def log_speed(speed: Speed, x: Array, features: Features = fourier_features) -> Array:
    """log s at points (n, d)."""
    return window(speed.window, x)[:, 0] * (features(speed.frequencies, x) @ speed.weights) + speed.offset


def goals(model: StableModel) -> Array:
    """y_q = psi(x*_q), (Q, d)."""
    return forward(model.flow, model.attractors)


def offsets(y: Array, goal: Array) -> tuple[Array, Array]:
    """y - y_q, (n, Q, d), and ln r_q, (n, Q)."""
    away = y[:, None, :] - goal
    return away, 0.5 * namespace(y).log((away * away).sum(-1) + TINY)


def shares(model: StableModel, y: Array, goal: Array) -> tuple[Array, Array]:
    """e, (n, d), and a_q, (n, Q), at latent points; in logarithms, since r^-p overflows in many dimensions."""
    if goal.shape[0] == 1:
        return y - goal, namespace(y).ones_like(y[:, :1])
    away, log_r = offsets(y, goal)
    a = _softmax(model.log_weights - model.power * log_r)
    return (a[:, :, None] * away).sum(1), a


def _softmax(logits: Array) -> Array:
    xp = namespace(logits)
    raised = xp.exp(logits - logits.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def turned(model: StableModel, e: Array, a: Array) -> Array:
    """(I + Omega) e."""
    if goal_count(model) == 1:
        return e + e @ model.swirls[0].T
    return e + (a[:, :, None] * (model.swirls @ e[:, None, :, None])[..., 0]).sum(1)


def goal_count(model: StableModel) -> int:
    return int(model.attractors.shape[0])


def latent_velocity(model: StableModel, y: Array, goal: Array) -> Array:
    """u = -(I + Omega) e / (|e| + epsilon)."""
    e, a = shares(model, y, goal)
    norm = namespace(y).sqrt((e * e).sum(-1, keepdims=True) + TINY)
    return -turned(model, e, a) / (norm + (a @ model.softening)[:, None])


def direction(model: StableModel, x: Array, goal: Array | None = None) -> tuple[Array, Array, list[Step]]:
    """J^-1 u, y and the Jacobian's factors at points (n, d): the field before its speed.

    `goal`: goals(model), where they are known; for a few points, finding them takes as long as all the rest.
    """
    y, steps = linearise(model.flow, x)
    return pull(steps, latent_velocity(model, y, goals(model) if goal is None else goal)), y, steps


def velocity(model: StableModel, x: Array, goal: Array | None = None) -> Array:
    """xdot at points (n, d)."""
    xp = namespace(x)
    z, seen = learned(model, x)
    free = xp.exp(log_speed(model.speed, z))[:, None] * direction(model, z, goal)[0]
    return braked(model, free, seen)


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
    z = flow_inverse(model.flow, y)
    return z if model.world is None else model.world.inverse(z)


def braked(model: StableModel, free: Array, seen: Seen | None) -> Array:
    """m c DS^-1 f: what the learned world's velocity is in the world, no faster than the limit."""
    if seen is None:
        return free * braking(model, free)[:, None]
    here = seen.carry(free)[0]
    return seen.following(here * braking(model, here)[:, None])


def braking(model: StableModel, free: Array) -> Array:
    """m = (1 + r^8)^(-1/8), r = |brake * free|: nearly 1 below the limit, and m r < 1 whatever r is.

    Written in min(r, 1/r), which no power takes out of range.
    """
    xp = namespace(free)
    r = xp.sqrt(((model.brake * free) ** 2).sum(-1) + TINY)
    top = xp.maximum(r, 1.0)
    return 1.0 / (top * (1.0 + (r / top / top) ** BRAKE_POWER) ** (1 / BRAKE_POWER))


def clock_speed(model: StableModel, y: Array, goal: Array) -> Array:
    """m c s, with which the latent clock runs, at latent points y."""
    x, steps = linearise_inverse(model.flow, y)
    s = namespace(y).exp(log_speed(model.speed, x))
    return s * clock_of(model, x, s[:, None] * pull(steps, latent_velocity(model, y, goal)))


def clock_of(model: StableModel, z: Array, free: Array) -> Array:
    """m c at points z of the learned world with velocity `free`: what the brake and the warps make of the clock."""
    if model.world is None:
        return braking(model, free)
    x = model.world.inverse(z)
    if at_home(model, x):
        return braking(model, free)
    here, c = model.world.linearise(x)[1].carry(free)
    return c * braking(model, here)


def potential(model: StableModel, x: Array, goal: Array | None = None) -> Array:
    """V = M^2 / 2."""
    return potential_at(model, latent(model, x), goals(model) if goal is None else goal)


def potential_at(model: StableModel, y: Array, goal: Array) -> Array:
    """V at latent points."""
    return 0.5 * namespace(y).exp(2 * _log_mean(model, offsets(y, goal)[1])[0])


def potential_gradient(model: StableModel, x: Array, goal: Array | None = None) -> Array:
    """grad V = J^T sum_q b_q (M / r_q)^2 (y - y_q), b_q = w_q r_q^(2-p) / sum_k w_k r_k^(2-p)."""
    z, seen = learned(model, x)
    y, steps = linearise(model.flow, z)
    away, log_r = offsets(y, goals(model) if goal is None else goal)
    log_mean, b = _log_mean(model, log_r)
    share = b * namespace(x).exp(2 * (log_mean[:, None] - log_r))
    gradient = push_gradient(steps, (share[:, :, None] * away).sum(1))
    return gradient if seen is None else seen.push_gradient(gradient)


def _log_mean(model: StableModel, log_r: Array) -> tuple[Array, Array]:
    """ln M and b_q."""
    xp = namespace(log_r)
    order = 2 - model.power
    log_w = model.log_weights - model.log_weights.max()
    w = xp.exp(log_w) / xp.exp(log_w).sum()
    if order == 0:
        return log_r @ w, xp.broadcast_to(w, log_r.shape)
    logits = log_w + order * log_r
    top = logits.max(-1, keepdims=True)
    total = xp.exp(logits - top).sum(-1)
    return (top[:, 0] + xp.log(total / xp.exp(log_w).sum())) / order, _softmax(logits)


def wound(swirl: Array, heading: Array, log_ratio: Array) -> Array:
    """exp(Omega ln(rho / rho_0)) applied to headings (m, d), for m values of ln(rho / rho_0): where a solution points.

    i Omega is Hermitian, so the exponential of the skew matrix is a change of phase in its eigenbasis. NumPy only.
    """
    if not np.any(swirl):
        return heading
    values, vectors = np.linalg.eigh(1j * swirl)
    phase = np.exp(-1j * log_ratio[:, None] * values)
    return (((heading @ vectors.conj()) * phase) @ vectors.T).real


def as_numpy(model: StableModel, dtype: Any = np.float64) -> StableModel:
    """The same numbers as NumPy arrays of one dtype."""

    def cast(a: Array) -> Array:
        return np.array(a, dtype=dtype, order="C")

    parts = {name: cast(getattr(model, name)) for name in ("attractors", "log_weights", "swirls", "softening", "brake")}
    return model._replace(flow=Flow(*map(cast, model.flow)), speed=Speed(*map(cast, model.speed)), **parts)
