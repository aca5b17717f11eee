"""Laws of the coupling flow, in NumPy and in JAX, in every dimension."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.fields.flows import (
    Flow,
    Step,
    _joined,
    forward,
    fourier_features,
    identity_flow,
    inverse,
    linearise,
    linearise_inverse,
    namespace,
    pull,
    push_gradient,
    split,
    spread_normal,
)
from eigenwell.learning.training import double_precision


def random_flow(
    dimension: int, seed: int, size: float = 0.3, layers: int = 6, features: int = 12, window: float = 0.8
) -> Flow:
    flow = identity_flow(dimension, layers=layers, features=features, length=0.5, window=window, seed=seed)
    weights = np.random.default_rng(seed).normal(0, size, flow.weights.shape)
    return flow._replace(weights=weights)


def points(dimension: int, seed: int, n: int = 5, size: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed + 1).normal(0, size, (dimension, n))


# --- the Jacobian itself, which the library never needs -----------------------------------------------


def push(steps: list[Step], w: np.ndarray) -> np.ndarray:
    """J w: velocities of x become velocities of y."""
    for passing, moving, scale, shear in steps:
        p = w[passing]
        w = _joined(passing, p, scale * w[moving] + (shear * p).sum(1))
    return w


def log_det(steps: list[Step]) -> np.ndarray:
    """log |det J|, the sum of the layers' log-scales."""
    return sum(namespace(step.scale).log(step.scale).sum(0) for step in steps)


def jacobian(steps: list[Step], dimension: int) -> np.ndarray:
    """J as matrices (d, d, n), by its columns."""
    scale = steps[0].scale
    xp = namespace(scale)
    units = [
        xp.broadcast_to(xp.asarray(e, dtype=scale.dtype)[:, None], (dimension, scale.shape[1]))
        for e in np.eye(dimension)
    ]
    return xp.stack([push(steps, unit) for unit in units], axis=1)


any_flow = given(dimension=st.integers(2, 10), seed=st.integers(0, 10_000))
few = settings(max_examples=25, deadline=None)


@few
@any_flow
def test_inverse_undoes_forward(dimension: int, seed: int) -> None:
    flow, x = random_flow(dimension, seed), points(dimension, seed)
    np.testing.assert_allclose(inverse(flow, forward(flow, x)), x, atol=1e-9)
    np.testing.assert_allclose(forward(flow, inverse(flow, x)), x, atol=1e-9)
    back, steps = linearise_inverse(flow, forward(flow, x))
    np.testing.assert_allclose(back, x, atol=1e-9)
    for one, other in zip(steps, linearise(flow, x)[1], strict=True):
        np.testing.assert_allclose(one.scale, other.scale, rtol=1e-6)


@few
@any_flow
def test_linearise_agrees_with_forward_and_finite_differences(dimension: int, seed: int) -> None:
    flow, x, w = random_flow(dimension, seed), points(dimension, seed), points(dimension, seed + 7)
    y, steps = linearise(flow, x)
    np.testing.assert_allclose(y, forward(flow, x), rtol=1e-12, atol=1e-12)
    h = 1e-6
    slope = (forward(flow, x + h * w) - forward(flow, x - h * w)) / (2 * h)
    scale = max(1.0, float(np.abs(slope).max()))
    np.testing.assert_allclose(push(steps, w) / scale, slope / scale, atol=1e-5)


@few
@any_flow
def test_jacobian_products_are_those_of_the_matrix(dimension: int, seed: int) -> None:
    flow, x, w = random_flow(dimension, seed), points(dimension, seed), points(dimension, seed + 7)
    steps = linearise(flow, x)[1]
    matrices = jacobian(steps, dimension)
    np.testing.assert_allclose(pull(steps, push(steps, w)), w, atol=1e-8)
    np.testing.assert_allclose(push_gradient(steps, w), np.einsum("ijn,in->jn", matrices, w), rtol=1e-8, atol=1e-10)
    sign, log = np.linalg.slogdet(np.moveaxis(matrices, -1, 0))
    np.testing.assert_allclose(log_det(steps), log, atol=1e-8)
    assert (sign > 0).all()


def _in_jax(flow: Flow, x: jax.Array) -> tuple[jax.Array, ...]:
    """y, its Jacobian by the layers' factors and by automatic differentiation, and x from y."""
    y, steps = linearise(flow, x)
    by_differentiation = jax.vmap(jax.jacfwd(lambda one: forward(flow, one[:, None])[:, 0]), 1, 2)(x)
    return y, jacobian(steps, len(x)), by_differentiation, inverse(flow, y)


@pytest.mark.parametrize("dimension", [2, 3, 7])
@pytest.mark.slow
def test_jax_double_precision_equals_numpy(dimension: int) -> None:
    flow, x = random_flow(dimension, 3), points(dimension, 3)
    with double_precision(True):
        # Compiled whole, as training has it: one by one, its hundred operations take ten times as long to compile.
        y, matrices, by_differentiation, back = jax.jit(_in_jax)(Flow(*(jnp.asarray(a) for a in flow)), jnp.asarray(x))
        assert y.dtype == jnp.float64
    np.testing.assert_allclose(y, forward(flow, x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(matrices, by_differentiation, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(matrices, jacobian(linearise(flow, x)[1], dimension), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(back, x, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [2, 5])
def test_single_precision_stays_single_and_close(dimension: int) -> None:
    flow, x = random_flow(dimension, 4, size=0.1), points(dimension, 4, size=0.5)
    small = Flow(*(a.astype(np.float32) for a in flow))
    y = forward(small, x.astype(np.float32))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, forward(flow, x), atol=1e-5)
    there = jax.jit(forward)(Flow(*(jnp.asarray(a) for a in small)), jnp.asarray(x, dtype=jnp.float32))
    np.testing.assert_allclose(there, y, atol=2e-6)
    np.testing.assert_allclose(inverse(small, y), x, atol=1e-4)


@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_starts_as_the_identity(dimension: int) -> None:
    flow, x = identity_flow(dimension, layers=4, features=8, length=0.3), points(dimension, 0)
    np.testing.assert_array_equal(forward(flow, x), x)
    np.testing.assert_array_equal(
        np.moveaxis(jacobian(linearise(flow, x)[1], dimension), -1, 0), np.tile(np.eye(dimension), (5, 1, 1))
    )


@pytest.mark.parametrize("dimension", range(2, 8))
def test_every_pair_of_layers_moves_every_coordinate(dimension: int) -> None:
    for layer in range(0, 8, 2):
        assert set(split(dimension, layer)[1]) | set(split(dimension, layer + 1)[1]) == set(range(dimension))
        assert set(split(dimension, layer + 1)[0]) != set(split(dimension, layer + 2)[0])
        assert set(split(dimension, layer)[0]) | set(split(dimension, layer)[1]) == set(range(dimension))


@pytest.mark.parametrize(("dimension", "off"), [(1, 0.02), (2, 0.04), (3, 0.08)])
def test_spread_frequencies_make_a_gaussian_kernel(dimension: int, off: float) -> None:
    """phi(p) . phi(q) is exp(-|p - q|^2 / 2), with an error that as many draws exceed by far."""
    apart = np.random.default_rng(0).uniform(-1.5, 1.5, (200, dimension))
    kernel = np.exp(-0.5 * (apart**2).sum(1))

    def error(frequencies: np.ndarray) -> float:
        return float(np.sqrt(np.mean((np.cos(apart @ frequencies.T).mean(1) - kernel) ** 2)))

    spread = np.mean([error(spread_normal(20, dimension, seed=seed)) for seed in range(10)])
    drawn = np.mean([error(np.random.default_rng(seed).standard_normal((20, dimension))) for seed in range(10)])
    assert spread < off and spread < drawn / 2
    np.testing.assert_array_equal(spread_normal(20, dimension, seed=3), spread_normal(20, dimension, seed=3))


def test_features_are_cosines_and_sines_of_length_one() -> None:
    frequencies, p = np.random.default_rng(0).normal(0, 3, (16, 2)), points(2, 0, n=50, size=10)
    phi = fourier_features(frequencies, p)
    angle = frequencies @ p
    np.testing.assert_allclose(phi, np.concatenate([np.cos(angle), np.sin(angle)]) / 4, atol=1e-13)
    np.testing.assert_allclose((phi**2).sum(0), 1, atol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3, 7])
def test_fades_to_the_identity_far_away(dimension: int) -> None:
    flow, x = random_flow(dimension, 5, size=0.5), points(dimension, 5, n=200)
    for away in (1e2, 1e4):
        far = away * x / np.linalg.norm(x, axis=0)
        assert np.abs(forward(flow, far) - far).max() < 30 and np.isfinite(inverse(flow, far)).all()
    # What is left is a stretch of a/q a coordinate, so a bounded shift; without a window it would grow with the distance.
    assert np.abs(forward(flow._replace(window=np.zeros(())), far) - far).max() > 300


@few
@any_flow
def test_without_a_window_it_is_the_affine_coupling(dimension: int, seed: int) -> None:
    flow, x = random_flow(dimension, seed, window=0.0), points(dimension, seed)
    expected = x.copy()
    for layer in range(flow.frequencies.shape[0]):
        passing, moving = split(dimension, layer)
        out = flow.weights[layer] @ fourier_features(flow.frequencies[layer], expected[passing])
        sigma, tau = np.split(out, 2)
        expected[moving] = expected[moving] * np.exp(2 * np.tanh(sigma / 2)) + tau
    np.testing.assert_allclose(forward(flow, x), expected, rtol=1e-12, atol=1e-12)


def test_stays_affine_bounded_far_away() -> None:
    flow = random_flow(2, 5, size=0.3, window=0.0)
    far = points(2, 5, n=200, size=100.0)
    np.testing.assert_allclose(inverse(flow, forward(flow, far)), far, rtol=1e-5)
    assert np.isfinite(forward(random_flow(2, 5, size=50.0), 1e6 * far)).all()


def test_bad_shapes_are_named() -> None:
    with pytest.raises(ValueError, match="at least 2 dimensions, got 1"):
        identity_flow(1, layers=4, features=8, length=0.3)
    with pytest.raises(ValueError, match="layers >= 2"):
        identity_flow(2, layers=1, features=8, length=0.3)
    with pytest.raises(ValueError, match="length > 0"):
        identity_flow(2, layers=4, features=8, length=0.0)
