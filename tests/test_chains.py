"""Chains and the best set of links, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.paths.assignment import best_links
from eigenwell.paths.chains import Chains, open_loops, unique_pairs


def brute_force(i, j, score, n):
    """Least total score over all sets of links with at most one in and one out of every node."""
    best = 0.0
    for size in range(len(i) + 1):
        for chosen in itertools.combinations(range(len(i)), size):
            c = list(chosen)
            if len(set(i[c])) == size and len(set(j[c])) == size:
                best = min(best, score[c].sum())
    return best


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_best_links_are_the_best(seed, n):
    rng = np.random.default_rng(seed)
    i, j = unique_pairs(rng.integers(0, n, 9), rng.integers(0, n, 9), n)
    score = rng.normal(size=len(i))
    successor = best_links(i, j, score, n, 1e-9)
    value = {(a, b): s for a, b, s in zip(i, j, score, strict=True)}
    linked = [(a, b) for a, b in enumerate(successor) if b >= 0]
    assert len({b for _, b in linked}) == len(linked)
    assert sum(value[pair] for pair in linked) == pytest.approx(brute_force(i, j, score, n))


def test_best_links_make_no_link_that_does_not_pay():
    nothing = best_links(np.array([0]), np.array([1]), np.array([0.5]), 2, 1e-3)
    np.testing.assert_array_equal(nothing, [-1, -1])


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
@settings(deadline=None)
def test_chains_hold_every_sample_once_in_order(seed, n):
    rng = np.random.default_rng(seed)
    successor = rng.permutation(n)
    successor[rng.uniform(size=n) < 0.3] = -1
    x = rng.normal(size=(n, 2))
    chains = Chains.of(successor, x)
    assert sorted(chains.order) == list(range(n))
    kept = open_loops(successor, x)
    np.testing.assert_array_equal(chains.successor, kept)
    for c in range(chains.n_chains):
        members = chains.members(c)
        np.testing.assert_array_equal(kept[members[:-1]], members[1:])
        assert kept[members[-1]] == -1
    np.testing.assert_array_equal(chains.order[chains.position_of], np.arange(n))


def test_a_loop_is_opened_at_its_longest_link():
    x = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    np.testing.assert_array_equal(open_loops(np.array([1, 2, 0]), x), [1, 2, -1])


@given(st.integers(0, 2**32 - 1))
def test_window_sums_stay_inside_their_chain(seed):
    rng = np.random.default_rng(seed)
    bounds = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 4))])
    chains = Chains(np.arange(bounds[-1]), bounds)
    value = rng.normal(size=bounds[-1])
    for p, total in enumerate(chains.window_sum(value, 2)):
        c = chains.chain_at[p]
        window = range(max(bounds[c], p - 2), min(bounds[c + 1], p + 3))
        assert total == pytest.approx(value[list(window)].sum())
