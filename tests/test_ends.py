"""Grouping of path ends: laws, clear cases, and how sure it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.stats import t as student

from eigenwell.paths import group_ends
from eigenwell.paths.evidence import EndsModel
from eigenwell.paths.spanning import spanning_tree


def partition(group):
    return {frozenset(np.flatnonzero(group == q)) for q in np.unique(group)}


def clusters(rng, centres, each, scatter):
    return (np.asarray(centres)[:, None] + scatter * rng.standard_normal((len(centres), each, 2))).reshape(-1, 2)


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4])
@pytest.mark.parametrize("each", [1, 2, 3, 6])
@pytest.mark.parametrize("scatter", [0.0, 0.003, 0.01])
def test_separate_clusters_are_found(n_groups, each, scatter):
    corners = [[0, 0], [1, 0], [0, 1], [1.1, 1.2]][:n_groups]
    ends = clusters(np.random.default_rng(1), corners, each, scatter)
    found = group_ends(ends, resolution=0.005, radius=1.0)
    assert partition(found.group) == {frozenset(range(q * each, (q + 1) * each)) for q in range(n_groups)}


def test_two_close_attractors_are_told_apart():
    ends = clusters(np.random.default_rng(0), [[0, 0], [0.08, 0]], 3, 0.004)
    assert group_ends(ends, resolution=0.002, radius=0.5).n_groups == 2


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
@settings(deadline=None)
def test_grouping_does_not_depend_on_order_place_angle_or_scale(seed, k):
    rng = np.random.default_rng(seed)
    ends = rng.normal(size=(k, 2))
    base = group_ends(ends, 0.01, 1.0)
    order = rng.permutation(k)
    angle, scale = rng.uniform(0, 6), 10 ** rng.uniform(-3, 3)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = group_ends(scale * (ends[order] @ turn.T + [3, -7]), 0.01 * scale, scale)
    assert partition(base.group) == {frozenset(order[list(g)]) for g in partition(moved.group)}
    assert moved.confidence == pytest.approx(base.confidence, rel=1e-6, abs=1e-9)


def test_any_threshold_in_the_stated_range_gives_the_same_groups():
    ends = clusters(np.random.default_rng(3), [[0, 0], [1, 0], [0, 1]], 4, 0.01)
    found = group_ends(ends, 0.005, 1.0)
    distance = np.linalg.norm(ends[:, None] - ends, axis=2)
    for threshold in np.geomspace(found.low * 1.01, found.high * 0.99, 5):
        reach = distance <= threshold
        for _ in range(len(ends)):
            reach = (reach.astype(int) @ reach.astype(int)) > 0
        assert partition(found.group) == {frozenset(np.flatnonzero(row)) for row in reach}


def test_confidence_falls_as_clusters_blur():
    rng = np.random.default_rng(0)
    confidence = [group_ends(clusters(rng, [[0, 0], [1, 0]], 3, s), 0.001, 1.0).confidence for s in (0.001, 0.03, 0.15)]
    assert confidence[0] > confidence[1] > confidence[2]
    assert confidence[0] > 0.95


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 4), st.booleans())
@settings(deadline=None)
def test_the_spanning_tree_merges_at_the_heights_of_single_linkage(seed, k, d, on_a_grid):
    """On a grid many distances are equal and some are zero."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (k, d)).astype(float) if on_a_grid else rng.normal(size=(k, d))
    pairs, length = spanning_tree(points)
    np.testing.assert_allclose(length, linkage(points, "single")[:, 2], atol=1e-12)
    np.testing.assert_allclose(length, np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1))
    assert len(pairs) == k - 1


def test_ends_that_all_lie_within_a_step_are_one_attractor():
    ends = 0.01 * np.random.default_rng(0).normal(size=(6, 2))
    assert group_ends(ends, resolution=1.0, radius=1.0).n_groups == 1


@pytest.mark.slow
def test_ten_thousand_ends_are_grouped():
    rng = np.random.default_rng(0)
    centres = rng.permutation(np.stack(np.meshgrid(np.arange(20.0), np.arange(10.0)), axis=-1).reshape(-1, 2))
    found = group_ends(clusters(rng, centres, 50, 0.01), resolution=0.005, radius=6.0)
    assert found.n_groups == 200
    assert (found.group.reshape(200, 50) == np.arange(200)[:, None]).all()


def scattered(rng, centres, each, spread):
    centres = np.asarray(centres, dtype=float)
    return np.repeat(centres, each, axis=0) + spread * rng.standard_normal((each * len(centres), centres.shape[1]))


def test_a_near_pair_is_told_apart_beside_a_far_goal():
    """30 mm apart with a spread of 2 mm, and a third goal 300 mm away."""
    centres = [[0, 0, 0], [30, 0, 0], [0, 300, 0]]
    for seed in range(10):
        assert group_ends(scattered(np.random.default_rng(seed), centres, 6, 2.0), 1.0, 245.0).n_groups == 3


def test_bins_on_shelves_are_found_at_their_own_scale():
    bins = [[60 * i, 0, 400 * shelf] for shelf in (0, 1) for i in range(3)]
    for seed in range(10):
        found = group_ends(scattered(np.random.default_rng(seed), bins, 3, 2.0), 1.0, 245.0)
        assert partition(found.group) == {frozenset(range(3 * q, 3 * q + 3)) for q in range(6)}


def test_four_loose_ends_are_one_goal_and_four_far_ones_four():
    found = [
        group_ends(scattered(np.random.default_rng(s), [[0, 0]], 4, 0.04), 0.004, 0.41).n_groups for s in range(20)
    ]
    assert np.mean(np.array(found) == 1) >= 0.9
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    assert group_ends(corners, 0.004, 0.41).n_groups == 4


def test_confidence_falls_as_two_goals_come_together():
    """Down to where they can no longer be told apart: there the other reading takes over."""
    shape = scattered(np.random.default_rng(5), [[0, 0, 0], [0, 0, 0], [0, 300, 0]], 6, 2.0)
    confidence = []
    for distance in (60, 30, 20, 15, 12):
        ends = shape + np.repeat([[0, 0, 0], [distance, 0, 0], [0, 0, 0]], 6, axis=0)
        found = group_ends(ends, 1.0, 245.0)
        assert found.n_groups == 3
        confidence.append(found.confidence)
    assert all(a > b - 1e-3 for a, b in zip(confidence[:-1], confidence[1:], strict=True))
    assert confidence[-1] < confidence[0] - 0.02


def test_the_alternatives_are_other_numbers_and_their_probabilities_add_up():
    ends = np.array([[0, 0], [0.03, 0.01], [0.18, 0.02], [0.2, -0.02]])
    found = group_ends(ends, 0.005, 0.5)
    numbers = [found.n_groups, *(r.n_groups for r in found.alternatives)]
    assert {1, 2} <= set(numbers) and len(set(numbers)) == len(numbers)
    total = found.probability + sum(r.probability for r in found.alternatives)
    assert 0.9 < total <= 0.99 + 1e-12
    assert all(found.probability >= r.probability for r in found.alternatives)


@pytest.mark.parametrize("n_groups", range(1, 9))
def test_the_number_may_be_given(n_groups):
    ends = np.random.default_rng(n_groups).normal(size=(8, 2))
    assert group_ends(ends, 0.01, 1.0, n_groups).n_groups == n_groups


def all_partitions(k):
    """Every set partition of k things, as labels by first appearance."""
    if k == 0:
        yield ()
        return
    for rest in all_partitions(k - 1):
        for label in range(max(rest, default=-1) + 2):
            yield (*rest, label)


def score(model, ends, group):
    groups = [ends[group == q] for q in range(group.max() + 1)]
    size = np.array([len(g) for g in groups])
    centre = np.array([g.mean(axis=0) for g in groups])
    scatter = np.array([(g - g.mean(axis=0)).T @ (g - g.mean(axis=0)) for g in groups])
    far = [(g - g.mean(axis=0))[np.argmax(((g - g.mean(axis=0)) ** 2).sum(axis=1))] for g in groups]
    return model.partition(model.groups(size, scatter, np.array(far)), size, centre)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
def test_the_trees_propose_the_best_of_all_partitions(seed):
    """Brute force over the 877 partitions of seven ends of two or three goals."""
    rng = np.random.default_rng(seed)
    ends = (rng.uniform(-1, 1, (3, 2))[rng.integers(0, 3, 7)]) + 0.05 * rng.standard_normal((7, 2))
    found = group_ends(ends, 0.02, 0.8)
    model = EndsModel.of(7, 2, 0.005, np.sqrt(6) * 0.8)
    scores = {p: score(model, ends, np.array(p)) for p in all_partitions(7)}
    best = max(scores, key=scores.get)
    # The number is chosen by its sum over partitions; the partition is the best one into that number.
    mine = max((p for p in scores if max(p) + 1 == found.n_groups), key=scores.get)
    assert partition(found.group) == partition(np.array(mine))
    log_p = np.array(list(scores.values()))
    number = np.array([max(p) + 1 for p in scores])
    posterior = np.bincount(number, weights=np.exp(log_p - log_p.max()) / np.exp(log_p - log_p.max()).sum())
    assert posterior.argmax() == found.n_groups == max(best) + 1
    assert found.probability == pytest.approx(posterior.max(), abs=0.1)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_evidence_of_a_group_integrates_to_one_over_the_place_of_an_end(d):
    """p(two ends) summed over the place of the second is p(one end): an identity of any marginal likelihood."""
    # A spread far below the usual one: no side of a shape is surprisingly long.
    sigma = 1e-4
    model = EndsModel(2, d, 1.0, np.array([sigma]), np.zeros(1))
    # Importance sampling with a wide Student t in place of a grid in d dimensions.
    z = np.random.default_rng(0).standard_t(2, (200_000, d)) * 3 * sigma
    weight = np.exp(-student.logpdf(z / (3 * sigma), 2).sum(axis=1) + d * np.log(3 * sigma))
    one = model.groups(np.array([1]), np.zeros((1, d, d)), np.zeros((1, d)))[0, 0]
    two = model.groups(np.full(len(z), 2), z[:, :, None] * z[:, None, :] / 2, z / 2)[:, 0]
    # Shapes too slim are taken out: less than a tenth of all in three dimensions.
    assert np.mean(np.exp(two - one) * weight) == pytest.approx(1.0, abs=0.1)
