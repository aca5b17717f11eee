"""RealNVP on Fourier features: a diffeomorphism psi of R^d with everything in closed form.

One coupling layer splits x into a part p that passes and a part q that is moved:

    q' = q exp(s(p) a(q)) + t(p),   s = b(p) c tanh(sigma / c),   t = b(p) tau,   (sigma, tau) = theta phi(p),
    phi(p) = [cos(W p), sin(W p)] / sqrt(F)                      (Rahimi & Recht's features, spread instead of drawn),
    a(q) = (1 + (k q)^2)^(-1/2),    b(p) = 1 / (1 + (k^2 mean p^2)^2).

Its Jacobian is block triangular, [[I, 0], [M, diag(dq'/dq)]], so J^-1 w and J^T w are substitutions; no matrix is
ever inverted. theta = 0 is the identity.

The windows a and b let psi fade to the identity away from the data, over 1/k: Fourier features alone would wiggle for
ever, and so would the way home. With k = 0 there is no window, a = b = 1.

The clamp c bounds every layer's stretch to [e^-c, e^c], and dq'/dq = e^(s a) (1 - s a (1 - a^2)) is positive because
a (1 - a^2) <= 0.385 < 1/c. So psi is a diffeomorphism of R^d whatever theta is, and never degenerates.

Here and in all that is built on it points are columns, (d, n): a coordinate of all of them is one run of memory. The
functions stay in the library of the arrays they are given: NumPy at run time, JAX in training (differentiated), ONNX when
a graph is written (`export.graph`), symbols when one state is to be fast (`symbols`).
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

TINY = 1e-30
"""Added under roots and in quotients to keep them finite at zero; far below float32's resolution, and a number in it."""

Array = Any
"""An array of any library: what comes in decides what goes out."""


def namespace(a: Array) -> Any:
    """The library an array belongs to: NumPy, or what it names itself (jax.numpy, `symbols`)."""
    return np if type(a) is np.ndarray else a.__array_namespace__()


class Flow(NamedTuple):
    """The numbers of a RealNVP: L layers, F frequencies, d_p passing and d_q moved coordinates per layer."""

    frequencies: Array
    """W, (L, F, d_p), fixed: spread over N(0, 1/length^2)."""
    weights: Array
    """theta, (L, 2 d_q, 2 F), learned: first d_q rows give sigma, the others tau."""
    window: Array
    """k, the inverse of the distance over which psi fades to the identity; 0 for no window."""

    @property
    def dimension(self) -> int:
        return int(self.frequencies.shape[-1] + self.weights.shape[-2] // 2)

    def told(self, layer: int, p: Array) -> Array:
        """sigma, tau and all their derivatives at p, see `with_slopes`."""
        frequencies = self.frequencies[layer]
        return with_slopes(frequencies, self.weights[layer]) @ fourier_features(frequencies, p)


class Step(NamedTuple):
    """The Jacobian of one layer at n points."""

    passing: Array
    moving: Array
    scale: Array
    """dq'/dq > 0, (d_q, n)."""
    shear: Array
    """M = dq'/dp, (d_q, d_p, n)."""


@lru_cache(maxsize=64)
def split(dimension: int, layer: int) -> tuple[Array, Array]:
    """Which coordinates pass and which move in a layer.

    The next layer passes what this one moved, so two layers move every coordinate. From d = 4 on, every other
    layer starts one coordinate later still, so that the halves do not stay the same two groups.
    """
    if dimension < 2:
        raise ValueError(f"A coupling layer needs at least 2 dimensions, got {dimension}. Add a coordinate.")
    passing = dimension // 2
    first = layer * passing + (layer // 2 if dimension > 3 else 0)
    order = (first + np.arange(dimension, dtype=np.int32)) % dimension  # JAX has no others in single precision
    return order[:passing], order[passing:]


def identity_flow(
    dimension: int, *, layers: int, features: int, length: float, window: float = 0.0, seed: int = 0
) -> Flow:
    """psi = identity, with frequencies spread for a Gaussian kernel of the given length.

    The kernel sees d_p coordinates at once and distances grow as sqrt(d_p), so the length does too.
    """
    if layers < 2 or features < 1 or not length > 0:
        raise ValueError(
            f"Expected layers >= 2, features >= 1 and length > 0, got {layers}, {features}, {length}. "
            "Two layers are the least that move every coordinate."
        )
    passing = len(split(dimension, 0)[0])
    spread = [spread_normal(features, passing, seed=layers * seed + layer) for layer in range(layers)]
    frequencies = np.stack(spread) / (length * np.sqrt(passing))
    return Flow(frequencies, np.zeros((layers, 2 * (dimension - passing), 2 * features)), np.asarray(float(window)))


def spread_normal(count: int, dimension: int, *, seed: int = 0) -> Array:
    """Standard normal points (count, dimension), spread evenly over their distribution instead of drawn from it.

    A kernel is met as well with twenty of them as with twice as many draws. A feature of -W is that of W, so the first
    coordinate is positive: one point in each of `count` equal shares of its half. The others are multiples of powers of a
    golden ratio, modulo 1; all are shifted by a draw.
    """
    from scipy.special import ndtri  # not needed to run a field

    shift = np.random.default_rng(seed).random(dimension)
    ratio = 2.0
    for _ in range(60):  # to the root of ratio^dimension = ratio + 1
        ratio = (1 + ratio) ** (1 / dimension)
    share = (np.arange(count)[:, None] * ratio ** -np.arange(dimension) + shift) % 1.0
    share[:, 0] = 0.5 + (np.arange(count) + shift[0]) / (2 * count)
    return ndtri(np.clip(share, TINY, None))


# --- one layer ----------------------------------------------------------------------------------------

Features = Callable[[Array, Array], Array]
"""`fourier_features`, or what training has in its place."""


def fourier_features(frequencies: Array, p: Array) -> Array:
    """phi(p) = [cos(W p), sin(W p)] / sqrt(F), (2 F, n), for points (d_p, n) and frequencies (F, d_p)."""
    xp, count = namespace(p), frequencies.shape[0]
    # For a single input an outer product by broadcasting is several times faster than a matrix product.
    angle = frequencies * p if frequencies.shape[1] == 1 else frequencies @ p
    if xp is not np:
        return xp.concatenate([xp.cos(angle), xp.sin(angle)], axis=0) * count**-0.5
    # By the half-angle tangent, cos = 2 / (1 + t^2) - 1, sin = 2 t / (1 + t^2): NumPy's double-precision cosine and sine
    # cost 10 to 17 ns each, its tangent 2. Three times faster, to rounding.
    share = angle.dtype.type(count**-0.5)
    phi = np.empty((2 * count, *angle.shape[1:]), dtype=angle.dtype)
    cos, sin = phi[:count], phi[count:]
    tangent = np.tan(0.5 * angle)
    np.multiply(tangent, tangent, out=cos)
    cos += 1
    np.divide(2 * share, cos, out=cos)
    np.multiply(tangent, cos, out=sin)
    cos -= share
    return phi


def with_slopes(frequencies: Array, weights: Array) -> Array:
    """theta, and below it Theta' with d(theta phi)/dp_j = Theta'_j phi: (2 d_q (1 + d_p), 2 F).

    The features' derivatives are the features themselves, swapped: d/dp_j [cos, sin](W p) = [-sin, cos](W p) W_j, hence
    Theta'_j = [theta_sin W_j, -theta_cos W_j]. One product then gives sigma, tau and all their derivatives.
    """
    xp, count = namespace(weights), frequencies.shape[-2]
    cos, sin = weights[..., :count], weights[..., count:]
    swapped = xp.concatenate([sin, -cos], axis=-1)[..., :, None, :]
    turned = xp.swapaxes(xp.concatenate([frequencies, frequencies], axis=-2), -1, -2)[..., None, :, :]
    slopes = (swapped * turned).reshape(*weights.shape[:-2], -1, 2 * count)
    return xp.concatenate([weights, slopes], axis=-2)


def window(k: Array, p: Array) -> Array:
    """b(p) = 1 / (1 + (k^2 mean p^2)^2), (n,)."""
    return 1.0 / (1.0 + (k * k * (p * p).mean(0)) ** 2)


def _fading(k: Array, q: Array) -> Array:
    """a(q) = (1 + (k q)^2)^(-1/2)."""
    return 1.0 / namespace(q).sqrt(1.0 + (k * q) ** 2)


def _scale_and_shift(k: Array, p: Array, out: Array, moves: int) -> tuple[Array, Array]:
    """s and t at p, (d_q, n) each; `out`: sigma and tau in its first rows."""
    b = window(k, p)
    return b * LOG_SCALE_BOUND * namespace(p).tanh(out[:moves] / LOG_SCALE_BOUND), b * out[moves : 2 * moves]


def moved(k: Array, p: Array, q: Array, out: Array) -> tuple[Array, Array, Array]:
    """q', dq'/dq and dq'/dp of one layer, from `with_slopes` times features.

    dq'/dq = e^(s a) (1 - s a (1 - a^2)),   dq'/dp = q e^(s a) a ds/dp + dt/dp,   db/dp = -4 k^4 b^2 mean(p^2) p / d_p.
    """
    xp, moves, inputs = namespace(p), q.shape[0], p.shape[0]
    slope = out[2 * moves :].reshape(2 * moves, inputs, -1)
    b, tau, squashed = window(k, p), out[moves : 2 * moves], xp.tanh(out[:moves] / LOG_SCALE_BOUND)
    fall = (-4.0 / inputs * k**4) * b * b * (p * p).mean(0) * p
    sigma, a = LOG_SCALE_BOUND * squashed, _fading(k, q)
    stretch = xp.exp(b * sigma * a)
    stretched = q * stretch
    scale = stretch * (1.0 - b * sigma * a * (1.0 - a * a))
    lever = stretched * a
    shear = (lever * b * (1.0 - squashed * squashed))[:, None] * slope[:moves] + b * slope[moves:]
    return stretched + b * tau, scale, shear + (lever * sigma + tau)[:, None] * fall


def _unstretched(k: Array, stretched: Array, s: Array) -> Array:
    """q with q exp(s a(q)) = stretched.

    In u = ln|q| this is u + s a(e^u) = ln|stretched|, whose slope stays between 0.23 and 1.77: Newton's steps converge
    from any start, and a fixed number of them does.
    """
    xp = namespace(stretched)
    if xp is np and not np.any(k):
        return stretched * np.exp(-s)
    # q = sign * exp(u); zero stays zero through the tiny constant, far below rounding.
    goal = xp.log(xp.abs(stretched) + (1e-300 if stretched.dtype == np.float64 else 1e-37))
    log_k = xp.log(xp.abs(k) + TINY)
    u = goal - s * _fading(k, stretched)
    for _ in range(NEWTON):
        a = 1.0 / xp.sqrt(1.0 + xp.exp(2 * (u + log_k)))
        change = (u + s * a - goal) / (1.0 - s * a * (1.0 - a * a))
        u = u - change
        if xp is np and np.abs(change).max(initial=0.0) < np.finfo(u.dtype).eps:
            break
    return stretched * xp.exp(u - goal)


# --- all layers ---------------------------------------------------------------------------------------


def forward(flow: Flow, x: Array) -> Array:
    """psi(x) for points (d, n)."""

    def layer(index: int, p: Array, q: Array) -> Array:
        out = flow.weights[index] @ fourier_features(flow.frequencies[index], p)
        s, t = _scale_and_shift(flow.window, p, out, q.shape[0])
        return q * namespace(q).exp(s * _fading(flow.window, q)) + t

    return _through(flow, x, range(flow.frequencies.shape[0]), layer)


def inverse(flow: Flow, y: Array) -> Array:
    """psi^-1(y): the layers undone in reverse."""

    def layer(index: int, p: Array, q: Array) -> Array:
        out = flow.weights[index] @ fourier_features(flow.frequencies[index], p)
        s, t = _scale_and_shift(flow.window, p, out, q.shape[0])
        return _unstretched(flow.window, q - t, s)

    return _through(flow, y, reversed(range(flow.frequencies.shape[0])), layer)


def linearise(flow: Flow, x: Array) -> tuple[Array, list[Step]]:
    """psi(x) and the triangular factors of its Jacobian, J = J_L ... J_1, at points (d, n)."""
    steps: list[Step] = []

    def layer(index: int, p: Array, q: Array) -> Array:
        q, scale, shear = moved(flow.window, p, q, flow.told(index, p))
        steps.append(Step(*split(flow.dimension, index), scale, shear))
        return q

    return _through(flow, x, range(flow.frequencies.shape[0]), layer), steps


def linearise_inverse(flow: Flow, y: Array) -> tuple[Array, list[Step]]:
    """psi^-1(y) and the factors of the Jacobian of psi there, in one pass: `linearise` of `inverse`, at its price."""
    steps: list[Step] = []

    def layer(index: int, p: Array, q: Array) -> Array:
        out = flow.told(index, p)
        s, t = _scale_and_shift(flow.window, p, out, q.shape[0])
        q = _unstretched(flow.window, q - t, s)
        steps.append(Step(*split(flow.dimension, index), *moved(flow.window, p, q, out)[1:]))
        return q

    return _through(flow, y, reversed(range(flow.frequencies.shape[0])), layer), steps[::-1]


def _through(flow: Flow, x: Array, order: Iterable[int], layer: Callable[[int, Array, Array], Array]) -> Array:
    """Every layer in turn."""
    for index in order:
        passing, moving = split(flow.dimension, index)
        p = x[passing]
        x = _joined(passing, p, layer(index, p, x[moving]))
    return x


def _joined(passing: Array, p: Array, q: Array) -> Array:
    """The points whose passing and moving coordinates are p and q."""
    return namespace(p).concatenate([p, q], axis=0)[_back(int(passing[0]), p.shape[0] + q.shape[0])]


@lru_cache(maxsize=64)
def _back(first: int, dimension: int) -> Array:
    """Where each coordinate is among those of a layer, which are in the order of `split`, that is from `first` round."""
    return (np.arange(dimension, dtype=np.int32) - first) % dimension


# --- products with the Jacobian -----------------------------------------------------------------------


def pull(steps: list[Step], w: Array) -> Array:
    """J^-1 w: velocities of y become velocities of x, by forward substitution."""
    for passing, moving, scale, shear in reversed(steps):
        p = w[passing]
        w = _joined(passing, p, pulled(scale, shear, p, w[moving]))
    return w


def pulled(scale: Array, shear: Array, p: Array, q: Array) -> Array:
    """What J^-1 of one layer makes of the moving part."""
    return (q - (shear * p).sum(1)) / scale


def push_gradient(steps: list[Step], w: Array) -> Array:
    """J^T w: gradients with respect to y become gradients with respect to x."""
    for passing, moving, scale, shear in reversed(steps):
        q = w[moving]
        w = _joined(passing, w[passing] + (shear * q[:, None]).sum(0), scale * q)
    return w
