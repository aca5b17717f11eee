"""Candidates: the scores of one sweep are those of the formula, and the best few of every sample are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from eigenwell.paths import DEFAULT
from eigenwell.paths.blocks import in_blocks, neighbours
from eigenwell.paths.kinematics import Kinematics
from eigenwell.paths.links import dominant, first_guess, likely_links, link_score, unlikeliness

SPANS = np.array([0.5, 1.0, 2.0, 3.0])


def cloud(seed, n=40, d=2):
    rng = np.random.default_rng(seed)
    x, u, dt = rng.normal(size=(n, d)), 0.3 * rng.normal(size=(n, d)), rng.uniform(0.5, 2.0, n)
    return x, Kinematics(dt, u, 0.3, 0.2, 0.25, 0.1, 0.3, 1.0)


def scored(x, kin, i, j):
    """The score of one pair, written as `links` has it, span by span."""
    d = x.shape[1]
    share = np.sqrt(kin.dt[j] / kin.dt[i])
    u_i, u_j = kin.u[i] * share, kin.u[j] / share
    dx, mean = x[j] - x[i], (u_i + u_j) / 2
    free = np.clip(dx @ mean / (mean @ mean), 1 / 3, 3)
    m = np.append(SPANS, free)
    missing = np.append(np.abs(SPANS - 1), DEFAULT.most_missing)
    gap = ((dx - m[:, None] * mean) ** 2).sum(1), np.full(len(m), ((u_j - u_i) ** 2).sum())
    of_x = 2 * kin.noise_x**2 + (m * kin.noise_u) ** 2 / 2 + (m**2 * kin.bend) ** 2 / 4
    of_u = 2 * kin.noise_u**2 + (m * kin.bend) ** 2
    return link_score(unlikeliness(gap, (of_x, of_u), kin.spread2, d, missing), d).min()


@pytest.mark.parametrize("d", [1, 2, 5])
def test_scores_are_those_of_the_formula(d):
    x, kin = cloud(d, d=d)
    tree = cKDTree(x)
    tail, head, score = likely_links(x, kin, kin.u, tree, neighbours(tree, x, 13), SPANS, DEFAULT)
    assert len(tail) >= 20
    expected = [scored(x, kin, i, j) for i, j in zip(tail, head, strict=True)]
    np.testing.assert_allclose(score, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_best_few_out_of_every_sample_are_there_once(seed):
    x, kin = cloud(seed, n=25)
    tree = cKDTree(x)
    tail, head, _ = likely_links(x, kin, kin.u, tree, neighbours(tree, x, 25), SPANS, DEFAULT)  # all are near all
    pairs = list(zip(tail.tolist(), head.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert all(i != j for i, j in pairs)
    score = np.array([[np.inf if i == j else scored(x, kin, i, j) for j in range(25)] for i in range(25)])
    for a in range(25):
        for b in np.argsort(score[a])[: DEFAULT.half]:
            if score[a, b] < -1e-9:
                assert (a, b) in set(pairs)


def test_a_link_that_goes_on_and_one_that_turns_back():
    """On a straight, even path the next sample is worth most, each further one less, and none before is worth a link."""
    x = np.column_stack([np.arange(20.0), np.zeros(20)])
    kin = Kinematics(np.ones(20), np.tile([1.0, 0.0], (20, 1)), 1.0, 0.1, 0.1, 0.01, 1.0, float(x.var(0).mean()))
    tree = cKDTree(x)
    links = likely_links(x, kin, kin.u, tree, neighbours(tree, x, 13), SPANS[1:], DEFAULT)
    score = {(int(i), int(j)): s for i, j, s in zip(*links, strict=True)}
    for i in range(19):
        ahead = [score[i, j] for j in range(i + 1, min(i + 1 + len(SPANS[1:]), 20))]
        assert (
            np.diff(ahead) > 0.9 * DEFAULT.missing
        ).all()  # a missing sample costs what it is said to cost, and noise
    assert all(j > i for i, j in score) and max(score.values()) < 0 < scored(x, kin, 10, 9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_dominant_links_are_those_of_the_greedy_matching(seed):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, 9, 30), rng.integers(0, 9, 30)
    cost = rng.permutation(30).astype(float)
    expected, taken = np.full(9, -1), set()
    for k in np.argsort(cost):
        if expected[i[k]] < 0 and j[k] not in taken:
            expected[i[k]] = j[k]
            taken.add(j[k])
    np.testing.assert_array_equal(dominant(i, j, cost, 9), expected)


def test_the_first_guess_follows_a_clean_path():
    t = np.linspace(0, 3, 60)
    x, v = np.column_stack([np.cos(t), t]), np.column_stack([-np.sin(t), np.ones_like(t)])
    order = np.random.default_rng(0).permutation(60)
    successor = first_guess(x[order], v[order], neighbours(cKDTree(x[order]), x[order], 13), DEFAULT)
    linked = successor >= 0
    assert linked.sum() == 59
    np.testing.assert_array_equal(order[successor[linked]], order[linked] + 1)


@given(st.floats(0, 1e6), st.integers(1, 20))
def test_the_heavy_tail_is_that_of_student(chi2, p):
    """Near chi2/2 (p+1)/p for an ordinary link, logarithmic far out, never falling."""

    def value(chi2):
        return float(link_score(unlikeliness((np.array(chi2), np.array(0.0)), (1.0, 1.0), 1.0, p, 0.0), p))

    assert -1e-9 <= value(chi2) <= (2 * p + 1) / (4 * p) * chi2 + 1e-9
    assert value(chi2) <= value(chi2 + 1.0)
    assert value(1e6 * (chi2 + 1.0)) - value(chi2 + 1.0) <= (2 * p + 1) / 2 * np.log(1e6) + 1e-9


def test_link_scores_obey_their_laws():
    """More mismatch or more missing samples: less likely; the same data in another unit: the same score."""
    gap, variance = (np.array([0.01]), np.array([0.02])), (np.array([0.01]), np.array([0.01]))

    def score(gap, variance, spread2, missing):
        return link_score(unlikeliness(gap, variance, spread2, 2, missing), 2)

    usual = score(gap, variance, 1.0, 0.0)
    assert score((gap[0] * 2, gap[1]), variance, 1.0, 0.0) > usual
    assert score(gap, variance, 1.0, 1.0) == pytest.approx(usual + DEFAULT.missing)
    scaled = score((gap[0] * 1e6, gap[1] * 1e6), (variance[0] * 1e6, variance[1] * 1e6), 1e6, 0.0)
    np.testing.assert_allclose(scaled, usual)


@pytest.mark.parametrize("rows", [1, 3, 10, 100])
def test_blocks_cover_all_rows_in_order(rows):
    parts = in_blocks(lambda block: np.arange(block.start, block.stop), 10, rows)
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(10))
