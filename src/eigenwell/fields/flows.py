"""RealNVP on random Fourier features: a diffeomorphism psi of R^d with everything in closed form.

One coupling layer splits x into a part p that passes and a part q that is moved:

    q' = q exp(s(p) a(q)) + t(p),   s = b(p) c tanh(sigma / c),   t = b(p) tau,   (sigma, tau) = theta phi(p),
    phi(p) = [cos(W p), sin(W p)] / sqrt(F)                      (Rahimi & Recht's features, |phi| = 1),
    a(q) = (1 + (k q)^2)^(-1/2),    b(p) = 1 / (1 + (k^2 mean p^2)^2).

Its Jacobian is block triangular, [[I, 0], [M, diag(dq'/dq)]], so J w, J^-1 w and J^T w are substitutions and
log|det J| is a sum; no matrix is ever inverted. theta = 0 is the identity.

The windows a and b let psi fade to the identity away from the data, over 1/k: Fourier features alone would wiggle for
ever, and so would the way home. With k = 0 there is no window, a = b = 1.

The clamp c bounds every layer's stretch to [e^-c, e^c], and dq'/dq = e^(s a) (1 - s a (1 - a^2)) is positive because
a (1 - a^2) <= 0.385 < 1/c. So psi is a diffeomorphism of R^d whatever theta is, and never degenerates.

The functions below take NumPy or JAX arrays and stay in the library they were given: the same few lines
are differentiated in training (JAX) and evaluated at run time (NumPy alone).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

LOG_SCALE_BOUND = 2.0
"""c above: one layer stretches by at most e^2. Trained flows stay well inside; it guards the far field."""

NEWTON = 6
"""Steps that bring `_unstretched` to rounding from its start, for every s within the clamp and every q."""

Array = Any
"""A NumPy or a JAX array: what comes in decides what goes out."""


def namespace(a: Array) -> Any:
    """The library an array belongs to: NumPy, or what it names itself (jax.numpy)."""
    return np if isinstance(a, np.ndarray) else a.__array_namespace__()


class Flow(NamedTuple):
    """The numbers of a RealNVP: L layers, F frequencies, d_p passing and d_q moved coordinates per layer."""

    frequencies: Array
    """W, (L, F, d_p), fixed: drawn once, N(0, 1/length^2)."""
    weights: Array
    """theta, (L, 2 d_q, 2 F), learned: first d_q rows give sigma, the others tau."""
    window: Array
    """k, the inverse of the distance over which psi fades to the identity; 0 for no window."""

    @property
    def dimension(self) -> int:
        return int(self.frequencies.shape[-1] + self.weights.shape[-2] // 2)


class Step(NamedTuple):
    """The Jacobian of one layer at n points."""

    passing: tuple[int, ...]
    moving: tuple[int, ...]
    scale: Array
    """dq'/dq > 0, (n, d_q)."""
    shear: Array
    """M = dq'/dp, (n, d_q, d_p)."""


@lru_cache(maxsize=64)
def split(dimension: int, layer: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which coordinates pass and which move in a layer.

    The next layer passes what this one moved, so two layers move every coordinate. From d = 4 on, every other
    layer starts one coordinate later still, so that the halves do not stay the same two groups.
    """
    if dimension < 2:
        raise ValueError(f"A coupling layer needs at least 2 dimensions, got {dimension}. Add a coordinate.")
    passing = dimension // 2
    first = layer * passing + (layer // 2 if dimension > 3 else 0)
    order = tuple((first + i) % dimension for i in range(dimension))
    return order[:passing], order[passing:]


def identity_flow(
    dimension: int, *, layers: int, features: int, length: float, window: float = 0.0, seed: int = 0
) -> Flow:
    """psi = identity, with frequencies drawn for a Gaussian kernel of the given length.

    The kernel sees d_p coordinates at once and distances grow as sqrt(d_p), so the length does too.
    """
    if layers < 2 or features < 1 or not length > 0:
        raise ValueError(
            f"Expected layers >= 2, features >= 1 and length > 0, got {layers}, {features}, {length}. "
            "Two layers are the least that move every coordinate."
        )
    passing = len(split(dimension, 0)[0])
    draw = np.random.default_rng(seed).standard_normal((layers, features, passing))
    frequencies = draw / (length * np.sqrt(passing))
    return Flow(frequencies, np.zeros((layers, 2 * (dimension - passing), 2 * features)), np.asarray(float(window)))


def fourier_features(frequencies: Array, p: Array) -> Array:
    """phi(p) = [cos(W p), sin(W p)] / sqrt(F), (n, 2 F), for points (n, d_p) and frequencies (F, d_p)."""
    xp = namespace(p)
    # For a single input an outer product by broadcasting is several times faster than a matrix product.
    angle = p * frequencies[:, 0] if frequencies.shape[1] == 1 else p @ frequencies.T
    if xp is np:
        return _fourier_numpy(angle)
    return xp.concatenate([xp.cos(angle), xp.sin(angle)], axis=-1) * (frequencies.shape[0] ** -0.5)


def _fourier_numpy(angle: Array) -> Array:
    """The same by the half-angle tangent, cos = 2 / (1 + t^2) - 1, sin = 2 t / (1 + t^2).

    NumPy's double-precision cosine and sine cost 10 to 17 ns each, its tangent 2: three times faster, to rounding.
    """
    count = angle.shape[-1]
    share = angle.dtype.type(count**-0.5)
    phi = np.empty((*angle.shape[:-1], 2 * count), dtype=angle.dtype)
    cos, sin = phi[..., :count], phi[..., count:]
    tangent = np.tan(0.5 * angle)
    np.multiply(tangent, tangent, out=cos)
    cos += 1
    np.divide(2 * share, cos, out=cos)
    np.multiply(tangent, cos, out=sin)
    cos -= share
    return phi


def derivative_weights(frequencies: Array, weights: Array) -> Array:
    """Theta' with d(theta phi)/dp_j = phi Theta'_j: the features' derivatives are the features themselves, swapped.

    d/dp_j [cos, sin](W p) = [-sin, cos](W p) * W_j, hence Theta'_j = [theta_sin W_j, -theta_cos W_j].
    Shape (2 F, rows, d_p).
    """
    xp = namespace(weights)
    count = frequencies.shape[0]
    cos, sin = weights[:, :count], weights[:, count:]
    swapped = xp.concatenate([sin, -cos], axis=-1).T
    return swapped[:, :, None] * xp.concatenate([frequencies, frequencies], axis=0)[:, None, :]


def forward(flow: Flow, x: Array) -> Array:
    """psi(x) for points (n, d)."""
    return _through(flow, x, range(flow.frequencies.shape[0]), _shift_layer)


def inverse(flow: Flow, y: Array) -> Array:
    """psi^-1(y): the layers undone in reverse."""
    return _through(flow, y, reversed(range(flow.frequencies.shape[0])), _unshift_layer)


def linearise(flow: Flow, x: Array) -> tuple[Array, list[Step]]:
    """psi(x) and the triangular factors of its Jacobian, J = J_L ... J_1, at points (n, d)."""
    steps: list[Step] = []

    def layer(flow: Flow, layer: int, p: Array, q: Array) -> Array:
        s, t, slope_s, slope_t = layer_slopes(flow, layer, p)
        moved, step = layer_jacobian(flow, layer, q, s, slope_s, slope_t)
        steps.append(step)
        return moved + t

    return _through(flow, x, range(flow.frequencies.shape[0]), layer), steps


def linearise_inverse(flow: Flow, y: Array) -> tuple[Array, list[Step]]:
    """psi^-1(y) and the factors of the Jacobian of psi there, in one pass: `linearise` of `inverse`, at its price."""
    steps: list[Step] = []

    def layer(flow: Flow, layer: int, p: Array, q: Array) -> Array:
        s, t, slope_s, slope_t = layer_slopes(flow, layer, p)
        q = _unstretched(flow, q - t, s)
        steps.append(layer_jacobian(flow, layer, q, s, slope_s, slope_t)[1])
        return q

    return _through(flow, y, reversed(range(flow.frequencies.shape[0])), layer), steps[::-1]


def _through(flow: Flow, x: Array, order: Iterable[int], layer: Callable[[Flow, int, Array, Array], Array]) -> Array:
    """Every layer in turn on the columns of x."""
    xp = namespace(x)
    dimension = flow.dimension
    columns = [x[:, i] for i in range(dimension)]
    for index in order:
        passing, moving = split(dimension, index)
        p = xp.stack([columns[i] for i in passing], axis=-1)
        q = layer(flow, index, p, xp.stack([columns[i] for i in moving], axis=-1))
        for position, i in enumerate(moving):
            columns[i] = q[:, position]
    return xp.stack(columns, axis=-1)


def _shift_layer(flow: Flow, layer: int, p: Array, q: Array) -> Array:
    s, t = _scale_and_shift(flow, layer, p)
    return q * namespace(q).exp(s * _fading(flow, q)) + t


def _unshift_layer(flow: Flow, layer: int, p: Array, q: Array) -> Array:
    s, t = _scale_and_shift(flow, layer, p)
    return _unstretched(flow, q - t, s)


def _fading(flow: Flow, q: Array) -> Array:
    """a(q) = (1 + (k q)^2)^(-1/2)."""
    return (1.0 + (flow.window * q) ** 2) ** -0.5


def window(k: Array, p: Array) -> Array:
    """b(p) = 1 / (1 + (k^2 mean p^2)^2), (n, 1)."""
    return 1.0 / (1.0 + (k**2 * (p * p).mean(-1, keepdims=True)) ** 2)


def _unstretched(flow: Flow, stretched: Array, s: Array) -> Array:
    """q with q exp(s a(q)) = stretched.

    In u = ln|q| this is u + s a(e^u) = ln|stretched|, whose slope stays between 0.23 and 1.77: Newton's steps converge
    from any start, and a fixed number of them does.
    """
    xp = namespace(stretched)
    if xp is np and not np.any(flow.window):
        return stretched * np.exp(-s)
    # q = sign * exp(u); zero stays zero through the tiny constant, far below rounding.
    goal = xp.log(xp.abs(stretched) + 1e-300 if stretched.dtype == np.float64 else xp.abs(stretched) + 1e-37)
    log_window = xp.log(xp.abs(flow.window) + 1e-30)
    u = goal - s * _fading(flow, stretched)
    for _ in range(NEWTON):
        a = (1.0 + xp.exp(2 * (u + log_window))) ** -0.5
        u = u - (u + s * a - goal) / (1.0 - s * a * (1.0 - a * a))
    return stretched * xp.exp(u - goal)


def _scale_and_shift(flow: Flow, layer: int, p: Array) -> tuple[Array, Array]:
    """s and t at p."""
    xp = namespace(p)
    out = fourier_features(flow.frequencies[layer], p) @ flow.weights[layer].T
    moved = out.shape[-1] // 2
    b = window(flow.window, p)
    return b * LOG_SCALE_BOUND * xp.tanh(out[:, :moved] / LOG_SCALE_BOUND), b * out[:, moved:]


Features = Callable[[Array, Array], Array]
"""`fourier_features`, or what training has in its place."""


def layer_slopes(
    flow: Flow, layer: int, p: Array, features: Features = fourier_features
) -> tuple[Array, Array, Array, Array]:
    """s, t, and their derivatives with respect to p, (n, d_q, d_p) each."""
    xp = namespace(p)
    frequencies, weights = flow.frequencies[layer], flow.weights[layer]
    rows, inputs = weights.shape[0], p.shape[-1]
    slopes = derivative_weights(frequencies, weights).reshape(weights.shape[1], rows * inputs)
    # One product gives sigma, tau and all their derivatives.
    out = features(frequencies, p) @ xp.concatenate([weights.T, slopes], axis=-1)
    moved = rows // 2
    squashed = xp.tanh(out[:, :moved] / LOG_SCALE_BOUND)
    slope = out[:, rows:].reshape(-1, rows, inputs)
    b = window(flow.window, p)
    # db/dp = -4 b (1 - b) p / |p|^2, written without the quotient.
    fall = (-4.0 * flow.window**4 / inputs) * b * b * (p * p).mean(-1, keepdims=True) * p
    s, t = LOG_SCALE_BOUND * squashed, out[:, moved:rows]
    slope_s = b[:, :, None] * (1.0 - squashed * squashed)[:, :, None] * slope[:, :moved] + s[:, :, None] * fall[:, None]
    slope_t = b[:, :, None] * slope[:, moved:] + t[:, :, None] * fall[:, None]
    return b * s, b * t, slope_s, slope_t


def layer_jacobian(flow: Flow, layer: int, q: Array, s: Array, slope_s: Array, slope_t: Array) -> tuple[Array, Step]:
    """q exp(s a), and dq'/dq = e^(s a) (1 - s a (1 - a^2)), dq'/dp = q e^(s a) a ds/dp + dt/dp."""
    a = _fading(flow, q)
    stretch = namespace(q).exp(s * a)
    stretched = q * stretch
    scale = stretch * (1.0 - s * a * (1.0 - a * a))
    shear = (stretched * a)[:, :, None] * slope_s + slope_t
    return stretched, Step(*split(flow.dimension, layer), scale, shear)


def _parts(step: Step, w: Array) -> tuple[Array, Array]:
    return _columns(w, step.passing), _columns(w, step.moving)


def _columns(w: Array, which: tuple[int, ...]) -> Array:
    return namespace(w).stack([w[:, i] for i in which], axis=-1)


def _joined(step: Step, p: Array, q: Array) -> Array:
    """The vector whose passing and moving coordinates are p and q."""
    columns = {i: p[:, k] for k, i in enumerate(step.passing)} | {i: q[:, k] for k, i in enumerate(step.moving)}
    return namespace(p).stack([columns[i] for i in range(len(columns))], axis=-1)


def push(steps: list[Step], w: Array) -> Array:
    """J w: velocities of x become velocities of y."""
    for step in steps:
        p, q = _parts(step, w)
        w = _joined(step, p, step.scale * q + (step.shear * p[:, None, :]).sum(-1))
    return w


def pull(steps: list[Step], w: Array) -> Array:
    """J^-1 w: velocities of y become velocities of x, by forward substitution."""
    for step in reversed(steps):
        p, q = _parts(step, w)
        w = _joined(step, p, (q - (step.shear * p[:, None, :]).sum(-1)) / step.scale)
    return w


def push_gradient(steps: list[Step], w: Array) -> Array:
    """J^T w: gradients with respect to y become gradients with respect to x."""
    for step in reversed(steps):
        p, q = _parts(step, w)
        w = _joined(step, p + (step.shear * q[:, :, None]).sum(-2), step.scale * q)
    return w


def log_det(steps: list[Step]) -> Array:
    """log |det J|, the sum of the layers' log-scales."""
    xp = namespace(steps[0].scale)
    return sum(xp.log(step.scale).sum(-1) for step in steps)


def jacobian(steps: list[Step], dimension: int) -> Array:
    """J as matrices (n, d, d), for reports and tests; the products above never need it."""
    xp = namespace(steps[0].scale)
    count = steps[0].scale.shape[0]
    columns = []
    for axis in range(dimension):
        unit = np.zeros((count, dimension))
        unit[:, axis] = 1.0
        columns.append(push(steps, xp.asarray(unit, dtype=steps[0].scale.dtype)))
    return xp.stack(columns, axis=-1)
