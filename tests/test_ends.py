"""Grouping of path ends: laws, clear cases, and how sure it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage

from eigenwell.paths import group_ends
from eigenwell.paths.ends import spanning_tree


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


def test_ten_thousand_ends_are_grouped():
    rng = np.random.default_rng(0)
    centres = rng.permutation(np.stack(np.meshgrid(np.arange(20.0), np.arange(10.0)), axis=-1).reshape(-1, 2))
    found = group_ends(clusters(rng, centres, 50, 0.01), resolution=0.005, radius=6.0)
    assert found.n_groups == 200
    assert (found.group.reshape(200, 50) == np.arange(200)[:, None]).all()
