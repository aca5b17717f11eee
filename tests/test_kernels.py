"""The velocity-augmented kernel and its graph against the formula written out pair by pair."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigenwell.demonstrations import Demonstrations
from eigenwell.spectral import kernel_graph
from eigenwell.spectral.kernel_graph import KernelGraph, estimate_interval
from eigenwell.spectral.kernels import (
    CorrectedFilter,
    CorrectedGamma,
    PrintedFilter,
    PrintedGamma,
    VelocityAugmentedKernel,
)

READINGS = [(g, f) for g in (PrintedGamma(), CorrectedGamma()) for f in (PrintedFilter(), CorrectedFilter())]


def formula(kernel, x_i, v_i, x_j, v_j):
    """Eq. dir_kernel for one pair, in plain arithmetic."""

    def cosine(a, b):
        size = np.linalg.norm(a) * np.linalg.norm(b)
        return float(np.clip(a @ b / size, -1, 1)) if size > 0 else 0.0

    dx = x_j - x_i
    s = np.linalg.norm(v_i) * np.linalg.norm(v_j)
    delta = (1.0 if s == 0 else 0.0) if kernel.sigma_f == 0 else np.exp(-(s**2) / (2 * kernel.sigma_f**2))
    cosines = [cosine(dx, v_i), cosine(-dx, v_j)] if np.any(dx) else [cosine(v_i, v_j)] * 2
    cost = 0.0
    for c in cosines:
        g = abs(delta + c) if isinstance(kernel.filter, PrintedFilter) else max(abs(c), delta)
        if isinstance(kernel.gamma, PrintedGamma):
            cost += (1.5 * kernel.theta_r * (1 - g) * kernel.sigma) ** 2
        else:
            cost += (3 * kernel.sigma * (1 - g) / (1 - np.cos(kernel.theta_r))) ** 2
    return np.exp(-(dx @ dx + cost) / (2 * kernel.sigma**2))


def dense_kernel(kernel, x, v):
    m = len(x)
    return np.array([[formula(kernel, x[i], v[i], x[j], v[j]) for j in range(m)] for i in range(m)])


@st.composite
def samples(draw):
    """A few samples on a coarse grid: coincident points and samples at rest are common."""
    m, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    grid = st.integers(-4, 4).map(lambda i: i / 2)
    return draw(arrays(np.float64, (m, d), elements=grid)), draw(arrays(np.float64, (m, d), elements=grid))


@settings(max_examples=60, deadline=None)
@given(samples(), st.sampled_from(READINGS), st.floats(0.05, 0.9), st.sampled_from([0.0, 0.1, 2.0]))
def test_graph_equals_dense_brute_force(data, reading, eps, sigma_f):
    x, v = data
    builder = KernelGraph(0.7, sigma_f, eps, sigma=1.3, gamma=reading[0], filter=reading[1])
    k = dense_kernel(builder.kernel(x, v), x, v)
    assume(np.all(np.abs(k - eps) > 1e-9))
    expected = (k >= eps) & ~np.eye(len(x), dtype=bool)
    found = builder.build(Demonstrations(x, v)).adjacency
    np.testing.assert_array_equal(found.toarray(), expected.astype(np.int8))


@settings(max_examples=40, deadline=None)
@given(samples(), st.sampled_from(READINGS), st.integers(0, 2**31 - 1))
def test_graph_ignores_order_rotation_and_translation(data, reading, seed):
    x, v = data
    rng = np.random.default_rng(seed)
    builder = KernelGraph(0.7, 0.3, 0.4, sigma=1.3, gamma=reading[0], filter=reading[1])
    assume(np.all(np.abs(dense_kernel(builder.kernel(x, v), x, v) - 0.4) > 1e-6))
    before = builder.build(Demonstrations(x, v)).adjacency.toarray()
    p = rng.permutation(len(x))
    np.testing.assert_array_equal(builder.build(Demonstrations(x[p], v[p])).adjacency.toarray(), before[np.ix_(p, p)])
    q, _ = np.linalg.qr(rng.standard_normal((x.shape[1], x.shape[1])))
    moved = x @ q + rng.standard_normal(x.shape[1])
    # A shift rounds coincident points alike, so they stay coincident.
    np.testing.assert_array_equal(builder.build(Demonstrations(moved, v @ q)).adjacency.toarray(), before)


def test_chunks_do_not_change_the_graph(monkeypatch):
    rng = np.random.default_rng(0)
    x, v = rng.random((300, 2)), rng.standard_normal((300, 2))
    builder = KernelGraph(1.0, 0.1, 0.3, sigma=0.2)
    whole = builder.build(Demonstrations(x, v)).adjacency
    sizes = []
    monkeypatch.setattr(kernel_graph, "_PAIRS_PER_CHUNK", 50)
    for pairs in kernel_graph._pairs_within(x, builder.kernel(x, v).radius(0.3)):
        sizes.append(pairs.shape[1])
    assert len(sizes) > 50 and max(sizes) <= 300 + 50
    assert (builder.build(Demonstrations(x, v)).adjacency != whole).nnz == 0


def test_graph_of_many_samples_never_sees_all_pairs():
    rng = np.random.default_rng(1)
    x, v = 100 * rng.random((100_000, 2)), rng.standard_normal((100_000, 2))
    graph = KernelGraph(1.5, 0.0, 0.5, sigma=0.2).build(Demonstrations(x, v))
    assert 0 < graph.adjacency.nnz < 1_000_000
    assert (graph.adjacency != graph.adjacency.T).nnz == 0 and graph.adjacency.diagonal().sum() == 0


@pytest.mark.parametrize("gamma, filter", READINGS)
def test_kernel_is_symmetric_bounded_and_finite(gamma, filter):
    rng = np.random.default_rng(2)
    kernel = VelocityAugmentedKernel(0.8, 0.5, 0.2, gamma, filter)
    x, v = rng.integers(-1, 2, (40, 2)).astype(float), rng.integers(-1, 2, (40, 2)).astype(float)
    k = kernel(x[:, None], v[:, None], x[None], v[None])
    assert np.all(np.isfinite(k)) and np.all((k >= 0) & (k <= 1))
    np.testing.assert_array_equal(k, k.T)
    np.testing.assert_allclose(k, dense_kernel(kernel, x, v), atol=1e-14)


def test_a_sample_is_its_own_nearest():
    x, v = np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0.3, -1.0], [0.0, 0.0]])
    np.testing.assert_allclose(VelocityAugmentedKernel(0.5, 0.3, 0.01)(x, v, x, v), 1.0)


def test_coincident_samples_are_told_apart_by_velocity():
    kernel = VelocityAugmentedKernel(1.0, 0.3, 1e-3)
    x, v, across = np.zeros(2), np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert kernel(x, v, x, 2 * v) == 1.0
    assert kernel(x, v, x, across) < 1e-6


@pytest.mark.parametrize("theta_r", [0.05, 0.5, 1.5])
def test_corrected_gamma_maps_the_reference_angle_to_three_sigma(theta_r):
    g, sigma = np.cos(np.array([theta_r, 0.0])), 0.7
    np.testing.assert_allclose(CorrectedGamma()(g, sigma, theta_r), [3 * sigma, 0.0])
    assert PrintedGamma()(g, sigma, theta_r)[0] < 0.75 * 3 * sigma
    # The printed form is the corrected one once theta_r is read as 2 / (1 - cos theta_r).
    read = 2 / (1 - np.cos(theta_r))
    np.testing.assert_allclose(PrintedGamma()(g, sigma, read), CorrectedGamma()(g, sigma, theta_r))


def test_printed_filter_punishes_neighbours_ahead_and_behind_at_rest():
    x, v = np.zeros(2), np.array([1e-6, 0.0])
    ahead, aside = np.array([0.1, 0.0]), np.array([0.0, 0.1])
    printed = VelocityAugmentedKernel(1.0, 0.3, 1.0, filter=PrintedFilter())
    corrected = VelocityAugmentedKernel(1.0, 0.3, 1.0)
    assert printed(x, v, ahead, v) < 1e-3 < 0.99 < printed(x, v, aside, v)
    assert corrected(x, v, ahead, v) > 0.99 and corrected(x, v, aside, v) > 0.99


def test_sigma_is_the_longest_step_at_the_sampling_frequency():
    x, v = np.array([[0.0], [1.0]]), np.array([[3.0], [-4.0]])
    assert KernelGraph(0.3, 0.0, 0.5, sampling_frequency=100.0).kernel(x, v).sigma == pytest.approx(0.04)


def test_interval_is_estimated_from_shuffled_trajectories():
    t = np.arange(0, 3, 0.02)
    decay = np.exp(-t)[:, None]
    arms = [np.array([np.cos(a), np.sin(a)]) * 5 for a in np.arange(5) * 2 * np.pi / 5]
    x = np.concatenate([a * decay for a in arms])
    p = np.random.default_rng(3).permutation(len(x))
    assert estimate_interval(x[p], -x[p]) == pytest.approx(0.02, rel=0.02)
    sigma = KernelGraph(0.3, 0.0, 0.5).kernel(x[p], -x[p]).sigma
    assert sigma == pytest.approx(0.1, rel=0.02)


def test_kernel_graph_joins_each_trajectory():
    t = np.linspace(0, 2, 200)[:, None]
    x = np.concatenate([np.exp(-t) * [1, 0], np.exp(-t) * [-1, 0] + [5, 0]])
    v = np.concatenate([-np.exp(-t) * [1, 0], -np.exp(-t) * [-1, 0]])
    adjacency = KernelGraph(0.3, 0.0, 0.5, sampling_frequency=199 / 2).build(Demonstrations(x, v)).adjacency.toarray()
    consecutive = adjacency[np.arange(199), np.arange(1, 200)]
    assert np.all(consecutive == 1) and adjacency[:200, 200:].sum() == 0


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: VelocityAugmentedKernel(0.0, 0.3, 0.1), "sigma"),
        (lambda: VelocityAugmentedKernel(1.0, 30.0, 0.1), "theta_r.*deg2rad"),
        (lambda: VelocityAugmentedKernel(1.0, 0.3, -1.0), "sigma_f"),
        (lambda: KernelGraph(0.3, 0.1, 1.5), "eps"),
        (lambda: KernelGraph(0.3, 0.1, 0.5, sampling_frequency=0.0), "sampling_frequency"),
        (
            lambda: KernelGraph(0.3, 0.1, 0.5).build(Demonstrations.from_samples(np.ones((3, 2)), np.ones((2, 2)))),
            "shape",
        ),
        (lambda: KernelGraph(0.3, 0.1, 0.5).build(Demonstrations(np.ones((3, 2)), np.zeros((3, 2)))), "velocities"),
        (lambda: KernelGraph(0.3, 0.1, 0.5).build(Demonstrations(np.ones((3, 2)), np.ones((3, 2)))), "interval"),
    ],
)
def test_errors_say_what_to_do(make, words):
    with pytest.raises(ValueError, match=words):
        make()
