"""Grouping of path ends: laws, clear cases, and how sure it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.paths import group_ends


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
