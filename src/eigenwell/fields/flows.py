"""RealNVP on random Fourier features: a diffeomorphism psi of R^d with everything in closed form.

One coupling layer splits x into a part p that passes and a part q that is moved:

    q' = q * exp(s(p)) + t(p),      s = c tanh(sigma / c),      (sigma, t) = theta phi(p),
    phi(p) = [cos(W p), sin(W p)] / sqrt(F)                      (Rahimi & Recht's features, |phi| = 1).

Its Jacobian is block triangular, [[I, 0], [M, diag(e^s)]], so J w, J^-1 w and J^T w are substitutions and
log|det J| is the sum of s; no matrix is ever inverted. theta = 0 is the identity.

The clamp c bounds every layer's stretch to [e^-c, e^c]; with |phi| = 1 the shift is bounded by |theta| too.
So psi is a bounded change of an affine map however far from the data it is asked, and never degenerates.

The functions below take NumPy or JAX arrays and stay in the library they were given: the same few lines
are differentiated in training (JAX) and evaluated at run time (NumPy alone).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

LOG_SCALE_BOUND = 2.0
"""c above: one layer stretches by at most e^2. Trained flows stay well inside; it guards the far field."""

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
    """theta, (L, 2 d_q, 2 F), learned: first d_q rows give sigma, the others t."""

    @property
    def dimension(self) -> int:
        return int(self.frequencies.shape[-1] + self.weights.shape[-2] // 2)


class Step(NamedTuple):
    """The Jacobian of one layer at n points: q' = scale * q + ..., dq'/dp = shear."""

    passing: tuple[int, ...]
    moving: tuple[int, ...]
    log_scale: Array
    """s, (n, d_q)."""
    scale: Array
    """e^s, (n, d_q)."""
    shear: Array
    """M, (n, d_q, d_p)."""


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


def identity_flow(dimension: int, *, layers: int, features: int, length: float, seed: int = 0) -> Flow:
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
    return Flow(frequencies, np.zeros((layers, 2 * (dimension - passing), 2 * features)))


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
    xp = namespace(x)
    dimension = flow.dimension
    columns = [x[:, i] for i in range(dimension)]
    for layer in range(flow.frequencies.shape[0]):
        passing, moving = split(dimension, layer)
        p = xp.stack([columns[i] for i in passing], axis=-1)
        q = xp.stack([columns[i] for i in moving], axis=-1)
        log_scale, shift = _scale_and_shift(flow, layer, p)
        q = q * xp.exp(log_scale) + shift
        for position, i in enumerate(moving):
            columns[i] = q[:, position]
    return xp.stack(columns, axis=-1)


def inverse(flow: Flow, y: Array) -> Array:
    """psi^-1(y), exact: the layers undone in reverse, q = (q' - t(p)) e^-s(p)."""
    xp = namespace(y)
    dimension = flow.dimension
    columns = [y[:, i] for i in range(dimension)]
    for layer in reversed(range(flow.frequencies.shape[0])):
        passing, moving = split(dimension, layer)
        p = xp.stack([columns[i] for i in passing], axis=-1)
        q = xp.stack([columns[i] for i in moving], axis=-1)
        log_scale, shift = _scale_and_shift(flow, layer, p)
        q = (q - shift) * xp.exp(-log_scale)
        for position, i in enumerate(moving):
            columns[i] = q[:, position]
    return xp.stack(columns, axis=-1)


def _scale_and_shift(flow: Flow, layer: int, p: Array) -> tuple[Array, Array]:
    xp = namespace(p)
    out = fourier_features(flow.frequencies[layer], p) @ flow.weights[layer].T
    moved = out.shape[-1] // 2
    return LOG_SCALE_BOUND * xp.tanh(out[:, :moved] / LOG_SCALE_BOUND), out[:, moved:]


def linearise(flow: Flow, x: Array) -> tuple[Array, list[Step]]:
    """psi(x) and the triangular factors of its Jacobian, J = J_L ... J_1, at points (n, d)."""
    xp = namespace(x)
    dimension = flow.dimension
    columns = [x[:, i] for i in range(dimension)]
    steps = []
    for layer in range(flow.frequencies.shape[0]):
        passing, moving = split(dimension, layer)
        p = xp.stack([columns[i] for i in passing], axis=-1)
        q = xp.stack([columns[i] for i in moving], axis=-1)
        log_scale, shift, slope = _with_slopes(flow, layer, p)
        scale = xp.exp(log_scale)
        stretched = q * scale
        steps.append(Step(passing, moving, log_scale, scale, _shear(log_scale, slope, stretched)))
        q = stretched + shift
        for position, i in enumerate(moving):
            columns[i] = q[:, position]
    return xp.stack(columns, axis=-1), steps


def linearise_inverse(flow: Flow, y: Array) -> tuple[Array, list[Step]]:
    """psi^-1(y) and the factors of the Jacobian of psi there, in one pass: `linearise` of `inverse`, at its price."""
    xp = namespace(y)
    dimension = flow.dimension
    columns = [y[:, i] for i in range(dimension)]
    steps = []
    for layer in reversed(range(flow.frequencies.shape[0])):
        passing, moving = split(dimension, layer)
        p = xp.stack([columns[i] for i in passing], axis=-1)
        q = xp.stack([columns[i] for i in moving], axis=-1)
        log_scale, shift, slope = _with_slopes(flow, layer, p)
        scale, stretched = xp.exp(log_scale), q - shift
        steps.append(Step(passing, moving, log_scale, scale, _shear(log_scale, slope, stretched)))
        q = stretched / scale
        for position, i in enumerate(moving):
            columns[i] = q[:, position]
    return xp.stack(columns, axis=-1), steps[::-1]


def _with_slopes(flow: Flow, layer: int, p: Array) -> tuple[Array, Array, Array]:
    """s, t, and the derivatives of sigma and t with respect to p, (n, 2 d_q, d_p)."""
    xp = namespace(p)
    frequencies, weights = flow.frequencies[layer], flow.weights[layer]
    rows, inputs = weights.shape[0], p.shape[-1]
    slopes = derivative_weights(frequencies, weights).reshape(weights.shape[1], rows * inputs)
    # One product gives sigma, t and all their derivatives.
    out = fourier_features(frequencies, p) @ xp.concatenate([weights.T, slopes], axis=-1)
    moved = rows // 2
    log_scale = LOG_SCALE_BOUND * xp.tanh(out[:, :moved] / LOG_SCALE_BOUND)
    return log_scale, out[:, moved:rows], out[:, rows:].reshape(-1, rows, inputs)


def _shear(log_scale: Array, slope: Array, stretched: Array) -> Array:
    """M = q e^s ds/dp + dt/dp, the tanh's own slope in ds."""
    moved = log_scale.shape[-1]
    clamp = 1.0 - (log_scale / LOG_SCALE_BOUND) ** 2
    return (stretched * clamp)[:, :, None] * slope[:, :moved] + slope[:, moved:]


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
    total = steps[0].log_scale.sum(-1)
    for step in steps[1:]:
        total = total + step.log_scale.sum(-1)
    return total


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
