"""The paper's lemmas, propositions and theorem, each against a dense eigendecomposition."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from eigenwell.graphs import Clique, Cycle
from eigenwell.spectral.masses import ExactMasses, UnitMasses
from eigenwell.spectral.spectrum import joined_laplacian

EQUAL = [(k, n) for k in range(3, 9) for n in (3, 4, 11, 60)]
UNEQUAL = [(3, 4, 5), (30, 7, 19), (12, 60, 3, 25), (9, 9, 4, 40, 17), (3, 8, 13, 5, 21, 60, 34, 10)]
LENGTHS = [(n,) * k for k, n in EQUAL] + UNEQUAL


def dense(lengths, join=Cycle()):  # noqa: B008 - a frozen value
    """Eigenvalues and eigenvectors of the paper's Laplacian, by LAPACK."""
    return scipy.linalg.eigh(joined_laplacian(np.array(lengths), join, UnitMasses())[0].toarray())


def paths(u, lengths):
    return np.split(u, np.cumsum(lengths)[:-1])


def bound(n):
    """The monotonicity bound 2 (1 - cos(pi / (n - 1/2))) of Prop. monotonicity."""
    return 2 * (1 - np.cos(np.pi / (n - 0.5)))


def polynomial(n, value):
    """P_1..P_n of Thm. linearity by Lem. recursion."""
    p = [np.ones_like(value), 1 - value]
    while len(p) < n:
        p.append((2 - value) * p[-1] - p[-2])
    return np.array(p[:n])


def test_prop_multiplicity_zero_counts_sub_dynamics():
    groups = [(4, 5, 6), (3, 3, 3, 3), (20, 7, 9)]
    blocks = [joined_laplacian(np.array(g), Cycle(), UnitMasses())[0] for g in groups]
    values = np.linalg.eigvalsh(sp.block_diag(blocks).toarray())
    assert np.sum(np.abs(values) < 1e-12) == len(groups)
    assert values[len(groups)] > 1e-4


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_lem_recursion_and_cor_rate_of_change(lengths):
    values, vectors = dense(lengths)
    for path in paths(vectors, lengths):
        np.testing.assert_allclose(path[1], (1 - values) * path[0], atol=1e-10)
        np.testing.assert_allclose(path[2:], (2 - values) * path[1:-1] - path[:-2], atol=1e-10)
        rate = np.diff(path, axis=0)
        np.testing.assert_allclose(rate[1:], rate[:-1] - values * path[1:-1], atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 60])
def test_lem_chebyshev_form(n):
    theta = np.linspace(0.01, 3.1, 40)
    value = 2 * (1 - np.cos(theta))
    p = polynomial(n, value)[-1]
    half = np.cos((n - 1) * theta) - value / 2 * np.sin((n - 1) * theta) / np.sin(theta)
    np.testing.assert_allclose(p, half, atol=1e-8)
    # T_n of the paper is the textbook T_{n-1}, V_n the textbook U_{n-1}, so V_0 = 0.
    t = np.polynomial.chebyshev.chebval(1 - value / 2, np.eye(n)[n - 1])
    v = np.sin((n - 1) * theta) / np.sin(theta)
    np.testing.assert_allclose(t - value / 2 * v, p, atol=1e-8)
    # One cosine says the same, and this is the form the closed form uses.
    np.testing.assert_allclose(p, np.cos((n - 0.5) * theta) / np.cos(theta / 2), atol=1e-8)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_prop_monotonicity(lengths):
    values, vectors = dense(lengths)
    tested = 0
    for k, path in enumerate(paths(vectors, lengths)):
        for value, u in zip(values, path.T, strict=True):
            if 1e-12 < value <= bound(lengths[k]) and np.max(np.abs(u)) > 1e-9:
                steps = np.diff(u) * np.sign(u[0])
                assert np.all(steps <= 1e-12)
                tested += 1
    assert tested >= 2


@pytest.mark.parametrize("n", range(3, 61, 7))
def test_prop_monotonicity_bound_is_sharp_up_to_one_node(n):
    assert np.all(np.diff(polynomial(n, bound(n))) <= 1e-12)
    assert np.any(np.diff(polynomial(n, bound(n - 1) * 1.001)) > 0)


def test_prop_monotonicity_bound_exceeds_one_for_three_nodes():
    """The appendix derives lambda < 1 from p_k >= 3; that needs p_k >= 4. Monotonicity holds all the same."""
    assert bound(3) > 1 > bound(4)
    assert np.all(np.diff(polynomial(3, 1.3)) < 0)


@pytest.mark.parametrize("k, n", EQUAL)
def test_block_circulant_structure(k, n):
    b0 = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    b0[0, 0], b0[-1, -1] = 1, -1
    b1 = np.zeros((n, n))
    b1[-1, -1] = 1
    ring = np.roll(np.eye(k), 1, axis=1) + np.roll(np.eye(k), -1, axis=1)
    expected = 2 * np.eye(k * n) - np.kron(np.eye(k), b0) - np.kron(ring, b1)
    laplacian = joined_laplacian(np.full(k, n), Cycle(), UnitMasses())[0].toarray()
    np.testing.assert_array_equal(laplacian, expected)
    # Its eigenvalues are those of the K blocks 2 I - H_j.
    blocks = [2 * np.eye(n) - b0 - 2 * np.cos(2 * np.pi * j / k) * b1 for j in range(k)]
    union = np.sort(np.concatenate([np.linalg.eigvalsh(b) for b in blocks]))
    np.testing.assert_allclose(np.linalg.eigvalsh(laplacian), union, atol=1e-12)


@pytest.mark.parametrize("k, n", EQUAL)
def test_prop_multiplicity_eig(k, n):
    values, _ = dense((n,) * k)
    repeated = np.diff(values) < 1e-10
    assert repeated.sum() >= n * ((k - 1) // 2)
    assert repeated[1] and not repeated[0]  # the first non-zero eigenvalue is one of them


@pytest.mark.parametrize("k, n", EQUAL)
def test_prop_eig_bound(k, n):
    value = dense((n,) * k)[0][1]
    lower, upper = 1 - 2 * np.cos(np.pi / n), bound(n)
    assert lower < value <= upper
    # Empty from N = 4 on: the lower bound is negative and says nothing.
    assert lower < 0 if n >= 4 else lower == pytest.approx(0)
    # The bound that the poles of the secular equation give, about four times sharper.
    assert value < 2 * (1 - np.cos(np.pi / (2 * n - 1))) < upper


@pytest.mark.parametrize("k", range(3, 9))
def test_smallest_eigenvalue_is_close_to_pi_over_2n_squared(k):
    n = 60
    assert dense((n,) * k)[0][1] == pytest.approx((np.pi / (2 * n)) ** 2, rel=0.06)


@pytest.mark.parametrize("k, n", EQUAL)
def test_thm_linearity_paths_are_lines_through_the_origin(k, n):
    values, vectors = dense((n,) * k)
    for path in paths(vectors[:, 1:3], (n,) * k):
        np.testing.assert_allclose(path, np.outer(polynomial(n, values[1]), path[0]), atol=1e-10)
        assert np.linalg.svd(path, compute_uv=False)[1] < 1e-10
        # Ordered towards the attractor, which is the origin.
        assert np.all(np.diff(np.linalg.norm(path, axis=1)) < 0) or n == 3


@pytest.mark.parametrize("k", range(3, 9))
def test_cycle_keeps_the_radial_order(k):
    _, vectors = dense((30,) * k)
    start = vectors[::30, 1:3]
    turn = np.diff(np.unwrap(np.arctan2(start[:, 1], start[:, 0]), period=2 * np.pi))
    np.testing.assert_allclose(np.abs(turn), 2 * np.pi / k, atol=1e-6)
    assert np.all(turn > 0) or np.all(turn < 0)


@pytest.mark.parametrize("k, n", EQUAL)
def test_clique_repeats_the_eigenvalue_k_minus_one_times(k, n):
    values, vectors = dense((n,) * k, Clique())
    assert np.ptp(values[1:k]) < 1e-12 < values[k] - values[k - 1]
    for path in paths(vectors[:, 1:k], (n,) * k):
        assert np.linalg.svd(path, compute_uv=False)[1] < 1e-10


def test_cycle_and_clique_of_three_are_one_graph():
    matrices = [joined_laplacian(np.array([4, 7, 5]), j, UnitMasses())[0] for j in (Cycle(), Clique())]
    np.testing.assert_array_equal(matrices[0].toarray(), matrices[1].toarray())


@pytest.mark.parametrize("lengths", UNEQUAL, ids=str)
def test_unequal_lengths_split_the_pair_and_exact_masses_restore_it(lengths):
    values, _ = dense(lengths)
    assert values[2] / values[1] - 1 > 1e-3
    for join, multiplicity in ((Cycle(), 2), (Clique(), len(lengths) - 1)):
        laplacian, masses = joined_laplacian(np.array(lengths), join, ExactMasses())
        values, vectors = scipy.linalg.eigh(laplacian.toarray(), np.diag(masses))
        np.testing.assert_allclose(values[1 : 1 + multiplicity], values[1], rtol=1e-9)
        assert abs(values[0]) < 1e-11
        for path in paths(vectors[:, 1 : 1 + multiplicity], lengths):
            singular = np.linalg.svd(path, compute_uv=False)
            assert singular[1:].max(initial=0) < 1e-8 * singular[0]
