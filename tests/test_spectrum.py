"""Closed form against LAPACK on the assembled matrices; ARPACK, Alg. 1 and the embedding on top."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.graphs import Clique, Cycle, Graph, PathGraph
from eigenwell.spectral import (
    embedding,
    graph_spectra,
    joined_laplacian,
    joined_spectrum,
    linearity,
)
from eigenwell.spectral.masses import ContinuumMasses, ExactMasses, UnitMasses
from eigenwell.spectral.secular import JoinedPaths
from eigenwell.spectral.spectrum import group_spectrum
from eigenwell_paper.alg_1 import assign_eigenvectors, largest_gap, null_vectors


@dataclass(frozen=True)
class Chain:
    """A join the library does not know: terminals in a row."""

    def edges(self, terminals):
        return np.column_stack([terminals[:-1], terminals[1:]])


@dataclass(frozen=True)
class Apart:
    def edges(self, terminals):
        return np.empty((0, 2), dtype=np.intp)


JOINS = [Cycle(), Clique(), Chain()]
MASSES = [UnitMasses(), ContinuumMasses(), ExactMasses()]
LENGTHS = [
    (1,), (2,), (7,), (1, 1), (2, 1), (1, 2), (5, 9),
    (1, 1, 1), (2, 2, 2), (1, 1, 1, 1), (2, 1, 2), (3, 1, 2, 1), (2, 1, 1, 1, 1, 1, 1, 1),
    *[(n,) * k for k in range(3, 9) for n in (3, 11)], (60,) * 3, (60,) * 8,
    (30, 6, 3), (20, 12, 28, 16), (4, 4, 3, 3), (17, 20, 10, 3, 19, 8, 10, 11),
    (3, 60, 31, 4, 60, 59, 58, 12), (300, 270),
]  # fmt: skip
BY_SIZE = [pytest.param(n, marks=pytest.mark.slow) if sum(n) > 40 else n for n in LENGTHS]


def oracle(lengths, join, masses):
    laplacian, mass = joined_laplacian(np.array(lengths), join, masses)
    root = np.sqrt(mass)
    values, vectors = scipy.linalg.eigh(laplacian.toarray() / np.outer(root, root), driver="evd")
    return laplacian, mass, values, vectors / root[:, None]


def check(lengths, join, masses, count, dense):
    """Eigenvalues to 1e-10, eigenvectors as subspaces, M-orthonormal."""
    laplacian, mass, values, vectors = dense
    found = joined_spectrum(np.array(lengths), join, masses, count)
    u = found.eigenvectors
    np.testing.assert_allclose(found.eigenvalues, values[:count], atol=1e-10, rtol=1e-12)
    assert found.eigenvalues[0] == 0 and np.ptp(u[:, 0]) == 0
    np.testing.assert_allclose(u.T @ (mass[:, None] * u), np.eye(count), atol=1e-8)
    residual = laplacian @ u - mass[:, None] * u * found.eigenvalues
    assert np.max(np.abs(residual)) < 1e-9 * max(1.0, values[-1] * mass.max())
    breaks = np.flatnonzero(np.diff(values) > 1e-6 * values[-1]) + 1
    for space in np.split(np.arange(len(values)), breaks):
        if space[-1] < count:
            overlap = vectors[:, space].T @ (mass[:, None] * u[:, space])
            np.testing.assert_allclose(np.linalg.svd(overlap, compute_uv=False), 1.0, atol=1e-8)


@pytest.mark.parametrize("masses", MASSES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("join", JOINS, ids=lambda j: type(j).__name__)
@pytest.mark.parametrize("lengths", BY_SIZE, ids=str)
def test_closed_form_equals_dense(lengths, join, masses):
    total, dense = sum(lengths), oracle(lengths, join, masses)
    # All of a small spectrum, the bottom of a large one: the same code either way.
    for count in {1, min(3, total), min(2 * len(lengths) + 1, total), total if total <= 120 else 40}:
        check(lengths, join, masses, count, dense)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.sampled_from(JOINS), st.sampled_from(MASSES))
def test_closed_form_equals_dense_on_any_lengths(lengths, join, masses):
    check(lengths, join, masses, sum(lengths), oracle(lengths, join, masses))


def test_an_eigenvalue_on_a_pole_is_found():
    """The path of three nodes has (1, 0, -1): zero at the terminal of its first two nodes, where f = inf."""
    found = joined_spectrum(np.array([2, 1]), Cycle(), UnitMasses(), 3)
    np.testing.assert_allclose(found.eigenvalues, [0, 1, 3], atol=1e-14)
    np.testing.assert_allclose(np.abs(found.eigenvectors[:, 1]), [0.5**0.5, 0, 0.5**0.5], atol=1e-14)


@pytest.mark.parametrize("join", JOINS, ids=lambda j: type(j).__name__)
def test_inertia_counts_eigenvalues(join):
    lengths = np.array([9, 4, 13, 4])
    problem = JoinedPaths(lengths, join, ContinuumMasses().weigh(lengths, join))
    laplacian, mass = joined_laplacian(lengths, join, ContinuumMasses())
    values = scipy.linalg.eigh(laplacian.toarray(), np.diag(mass), eigvals_only=True)
    for z in np.sqrt(np.linspace(1e-3, values[-1] * 1.1, 57)):
        assert problem.count_below(z) == np.sum(values < z**2)


@pytest.mark.parametrize("join", [Cycle(), Clique()], ids=lambda j: type(j).__name__)
def test_long_paths_keep_their_digits(join):
    lengths = np.array([40_000, 25_000, 35_001])
    found = joined_spectrum(lengths, join, UnitMasses(), 4)
    laplacian, _ = joined_laplacian(lengths, join, UnitMasses())
    residual = laplacian @ found.eigenvectors - found.eigenvectors * found.eigenvalues
    assert np.max(np.linalg.norm(residual, axis=0)) < 1e-12
    np.testing.assert_allclose(found.eigenvectors.T @ found.eigenvectors, np.eye(4), atol=1e-9)
    # Relative accuracy of an eigenvalue near 1e-9, by its own Rayleigh quotient over edges.
    steps = [np.diff(u) for p in np.split(found.eigenvectors[:, 1], np.cumsum(lengths)[:-1]) for u in [p]]
    ends = found.eigenvectors[np.cumsum(lengths) - 1, 1]
    energy = sum(s @ s for s in steps) + sum((ends[i] - ends[i - 1]) ** 2 for i in range(3))
    assert energy == pytest.approx(found.eigenvalues[1], rel=1e-8)


# --- masses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("join", JOINS, ids=lambda j: type(j).__name__)
def test_masses_are_one_for_equal_lengths(join):
    for masses in MASSES:
        weights = masses.weigh(np.array([8, 8, 8, 8]), join)
        np.testing.assert_array_equal([weights.edge, weights.node], 1.0)


def test_exact_masses_tend_to_the_continuum():
    lengths = np.array([30_000, 6_000, 3_000])
    exact, limit = (m.weigh(lengths, Cycle()) for m in (ExactMasses(), ContinuumMasses()))
    np.testing.assert_allclose(exact.edge, limit.edge, rtol=1e-3)
    np.testing.assert_allclose(exact.node, limit.node, rtol=1e-3)
    assert np.sum(limit.node * lengths) == pytest.approx(lengths.sum())


ARMS = [(300, 60, 30), (100, 60, 140, 80), (258, 198, 163, 95, 106), (31, 41, 24, 69, 247, 201),
        (275, 161, 189, 291, 224, 197, 172), (23, 3, 31, 29, 34, 8, 5, 34), (1000, 1, 2, 50)]  # fmt: skip


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)])


@pytest.mark.parametrize("lengths", ARMS + [(50,) * k for k in range(3, 9)], ids=str)
@pytest.mark.parametrize("join", [Cycle(), Clique()], ids=lambda j: type(j).__name__)
def test_exact_masses_give_straight_lines_through_the_origin(lengths, join):
    found = joined_spectrum(np.array(lengths), join, ExactMasses(), len(lengths))
    offsets = offsets_of(lengths)
    exact = found.eigenvectors[:, 1:3] if isinstance(join, Cycle) else found.eigenvectors[:, 1:]
    assert np.min(linearity(exact, offsets)) > 1 - 1e-12
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        path = exact[start:stop]
        singular = np.linalg.svd(path, compute_uv=False)
        assert singular[1:].max(initial=0.0) < 1e-10 * singular[0]
        assert np.all(np.diff(np.linalg.norm(path, axis=1)) < 0)


def test_masses_against_none_on_unequal_arms():
    lengths = np.array([300, 60, 30])
    r2 = {
        type(m): np.min(linearity(joined_spectrum(lengths, Cycle(), m, 3).eigenvectors[:, 1:], offsets_of(lengths)))
        for m in MASSES
    }
    assert r2[UnitMasses] == pytest.approx(0.76, abs=0.01)
    assert r2[ContinuumMasses] > 0.999999
    assert r2[ExactMasses] > 1 - 1e-12


# --- groups and embedding -----------------------------------------------------------------------------


def path_graph(seed=0):
    rng = np.random.default_rng(seed)
    lengths = np.array([9, 5, 12, 7, 3, 8, 6, 10])
    group = np.array([0, 1, 0, 1, -1, 1, 0, 0])
    return PathGraph(70, rng.permutation(70)[: lengths.sum()], offsets_of(lengths), group)


@pytest.mark.parametrize("join", [Cycle(), Clique()], ids=lambda j: type(j).__name__)
def test_one_spectrum_per_group_on_its_own_nodes(join):
    graph = path_graph()
    for q in range(2):
        found = group_spectrum(graph, q, join, ExactMasses(), 4)
        paths = graph.paths_of(q)
        np.testing.assert_array_equal(found.nodes, np.concatenate([graph.path(k) for k in paths]))
        assert set(found.nodes) == set(np.flatnonzero(graph.labels == q))
        alone = joined_spectrum(graph.lengths[paths], join, ExactMasses(), 4)
        np.testing.assert_array_equal(found.eigenvectors, alone.eigenvectors)


def test_small_groups_return_what_they_have():
    graph = PathGraph(3, np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 1]))
    assert [len(group_spectrum(graph, q, Clique(), UnitMasses(), 5).eigenvalues) for q in range(2)] == [1, 2]


@pytest.mark.parametrize("join", [Cycle(), Clique()], ids=lambda j: type(j).__name__)
@pytest.mark.parametrize("k", range(3, 9))
def test_embedding_keeps_the_order_of_paths_around_the_attractor(k, join):
    lengths = np.arange(20, 20 + 7 * k, 7)
    graph = PathGraph(lengths.sum(), np.arange(lengths.sum()), offsets_of(lengths), np.zeros(k, dtype=np.intp))
    _, u = embedding(graph, 0, join)
    start = u[graph.offsets[:-1]]
    turn = np.mod(np.diff(np.arctan2(start[:, 1], start[:, 0])), 2 * np.pi)
    assert np.all((turn > 0) & (turn < np.pi)) and turn.sum() < 2 * np.pi


def test_embedding_is_the_bottom_of_the_spectrum_in_every_dimension():
    graph = path_graph()
    nodes, u = embedding(graph, 0, dimension=3)
    found = group_spectrum(graph, 0, Clique(), ExactMasses(), 4)
    np.testing.assert_array_equal(nodes, found.nodes)
    np.testing.assert_allclose(u, found.eigenvectors[:, 1:], atol=1e-14)
    assert np.min(linearity(u, offsets_of(graph.lengths[graph.paths_of(0)]))) > 1 - 1e-12


def test_embedding_does_not_depend_on_how_many_dimensions_are_asked_for():
    graph = path_graph()
    np.testing.assert_allclose(
        embedding(graph, 0, dimension=2)[1], embedding(graph, 0, dimension=3)[1][:, :2], atol=1e-14
    )


def test_embedding_of_one_and_two_paths_is_a_line():
    graph = PathGraph(12, np.arange(12), np.array([0, 5, 9, 12]), np.array([0, 0, 1]))
    for q in (0, 1):
        _, u = embedding(graph, q, dimension=1)
        steps = np.diff(u[: graph.lengths[graph.paths_of(q)[0]], 0])
        assert (steps > 0).all() or (steps < 0).all()
        with pytest.raises(ValueError, match="dimension: expected 1 to 1"):
            embedding(graph, q, dimension=2)


def test_linearity_of_a_line_a_point_and_an_arc():
    t = np.linspace(0, np.pi, 200)
    arc = np.column_stack([np.cos(t), np.sin(t)])
    u = np.concatenate([np.outer(t, [1, 2]), np.zeros((1, 2)), arc])
    r2 = linearity(u, np.array([0, 200, 201, 401]))
    np.testing.assert_allclose(r2[:2], 1.0)
    assert r2[2] == pytest.approx(0.84, abs=0.02)


# --- general graphs and Alg. 1 ------------------------------------------------------------------------


def joined_graph(*groups, join=Cycle()):  # noqa: B008 - a frozen value
    blocks = [joined_laplacian(np.array(g), join, UnitMasses())[0] for g in groups]
    laplacian = sp.csr_array(sp.block_diag(blocks))
    return Graph(sp.csr_array(sp.diags_array(laplacian.diagonal()) - laplacian))


def test_small_components_by_dense_solver():
    groups = [(4, 5, 6), (7, 7, 7), (3,)]
    spectra = graph_spectra(joined_graph(*groups), 4)
    for group, found in zip(groups, spectra, strict=True):
        expected = joined_spectrum(np.array(group), Cycle(), UnitMasses(), min(4, sum(group)))
        np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-12)
        same = found.eigenvectors.T @ expected.eigenvectors
        np.testing.assert_allclose(np.linalg.svd(same, compute_uv=False), 1.0, atol=1e-10)


@pytest.mark.parametrize("lengths", [(400, 300, 350), (2000, 1500, 2500, 1800)], ids=str)
@pytest.mark.parametrize("join", [Cycle(), Clique()], ids=lambda j: type(j).__name__)
def test_arpack_equals_closed_form(lengths, join):
    found = graph_spectra(joined_graph(lengths, join=join), 4)[0]
    expected = joined_spectrum(np.array(lengths), join, UnitMasses(), 4)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-7, atol=1e-14)
    same = found.eigenvectors.T @ expected.eigenvectors
    np.testing.assert_allclose(np.linalg.svd(same, compute_uv=False), 1.0, atol=1e-6)


def test_arpack_on_a_thick_graph_equals_dense():
    x = np.random.default_rng(0).random((600, 2))
    near = np.sum((x[:, None] - x[None]) ** 2, axis=2) < 0.15**2
    np.fill_diagonal(near, False)
    found = graph_spectra(Graph(sp.csr_array(near.astype(np.int8))), 6)
    assert len(found) == 1
    values = np.linalg.eigvalsh(np.diag(near.sum(axis=1)) - near.astype(float))[:6]
    np.testing.assert_allclose(found[0].eigenvalues, values, atol=1e-9)


def test_graph_spectra_are_reproducible_and_signs_are_fixed():
    graph = joined_graph((400, 300, 350), (30, 20, 25))
    first, again = graph_spectra(graph, 4), graph_spectra(graph, 4)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.eigenvectors, b.eigenvectors)
        largest = np.argmax(np.abs(a.eigenvectors), axis=0)
        assert np.all(a.eigenvectors[largest, np.arange(4)] > 0)


def test_graph_spectra_follow_the_nodes():
    graph = joined_graph((4, 5, 6), (7, 8, 9))
    p = np.random.default_rng(1).permutation(graph.n_samples)
    shuffled = graph_spectra(Graph(graph.adjacency[p][:, p]), 3)
    original = [set(s.nodes) for s in graph_spectra(graph, 3)]
    assert sorted(sorted(p[s.nodes]) for s in shuffled) == sorted(sorted(s) for s in original)
    assert shuffled[0].nodes[0] == 0


def test_an_isolated_node_is_a_component():
    found = graph_spectra(Graph(sp.csr_array((3, 3), dtype=np.int8)), 2)
    assert [s.eigenvalues.tolist() for s in found] == [[0.0]] * 3


def test_alg_1_assigns_what_solving_per_component_gives():
    groups = [(9, 5, 12), (7, 3, 8, 6), (10, 4, 5)]
    graph = joined_graph(*groups)
    laplacian = sp.block_diag([joined_laplacian(np.array(g), Cycle(), UnitMasses())[0] for g in groups])
    values, vectors = np.linalg.eigh(laplacian.toarray())
    belongs = assign_eigenvectors(null_vectors(graph), vectors[:, 3:])
    np.testing.assert_array_equal(belongs.sum(axis=0), 1)
    for q, found in enumerate(graph_spectra(graph, 6)):
        mine = np.flatnonzero(belongs[q])[:5] + 3
        np.testing.assert_allclose(values[mine], found.eigenvalues[1:], atol=1e-12)
        same = vectors[found.nodes][:, mine].T @ found.eigenvectors[:, 1:]
        np.testing.assert_allclose(np.abs(same), np.eye(5), atol=1e-8)


def test_alg_1_needs_indicator_null_vectors():
    """A rotated null basis, as eigensolvers return it, assigns every eigenvector to every component."""
    graph = joined_graph((4, 5, 6), (7, 8, 9))
    null = null_vectors(graph)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    vectors = graph_spectra(graph, 3)[0]
    u = np.zeros((graph.n_samples, 2))
    u[vectors.nodes] = vectors.eigenvectors[:, 1:]
    assert assign_eigenvectors(null, u).sum() == 2
    assert assign_eigenvectors(null @ turn, u).sum() == 4


@pytest.mark.parametrize("k, n", [(3, 20), (4, 60), (5, 20), (8, 60)])
def test_gap_ends_the_embedding_after_k_minus_one_vectors(k, n):
    values = joined_spectrum(np.full(k, n), Clique(), UnitMasses(), 3 * k).eigenvalues
    assert largest_gap(values) == k - 1
    assert largest_gap(values * 1e-6) == k - 1
    cycle = joined_spectrum(np.full(k, n), Cycle(), UnitMasses(), 3 * k).eigenvalues
    assert largest_gap(cycle) == k - 1


def test_gap_without_a_gap():
    assert largest_gap(np.array([0.0, 1.0])) == 1 and largest_gap(np.array([0.0])) == 0


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: joined_spectrum(np.array([3, 0]), Cycle(), UnitMasses(), 2), "lengths"),
        (lambda: joined_spectrum(np.array([], dtype=int), Cycle(), ExactMasses(), 1), "lengths"),
        (lambda: joined_spectrum(np.array([3, 2]), Cycle(), UnitMasses(), 6), "count: expected 1 to 5"),
        (lambda: joined_spectrum(np.array([3, 2]), Apart(), UnitMasses(), 2), "join"),
        (lambda: embedding(path_graph(), 0, dimension=4), "dimension"),
        (lambda: embedding(path_graph(), 5, dimension=1), "group"),
        (lambda: graph_spectra(joined_graph((3, 3)), 0), "count"),
    ],
)
def test_errors_say_what_to_do(make, words):
    with pytest.raises(ValueError, match=words):
        make()
