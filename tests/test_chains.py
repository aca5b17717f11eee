"""Chains: every sample once, in order; loops opened; chains joined; windows that stay inside."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.paths.chains import Chains, open_loops


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


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
@settings(deadline=None)
def test_joined_chains_are_those_of_the_joined_successors(seed, count):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(count, 60))
    bounds = np.concatenate([[0], np.sort(rng.choice(np.arange(1, n), count - 1, replace=False)), [n]])
    order = rng.permutation(n)
    successor = np.full(n, -1)
    inside = np.ones(n - 1, dtype=bool)
    inside[bounds[1:-1] - 1] = False
    successor[order[:-1][inside]] = order[1:][inside]
    chains = Chains.of(successor, np.zeros((n, 1)))
    follows = np.full(count, -1)
    ranks = rng.permutation(count)
    linked = rng.uniform(size=count - 1) < 0.6
    follows[ranks[:-1][linked]] = ranks[1:][linked]
    whole = chains.successor.copy()
    whole[chains.tails[follows >= 0]] = chains.heads[follows[follows >= 0]]
    expected, joined = Chains.of(whole, np.zeros((n, 1))), chains.joined(follows)
    np.testing.assert_array_equal(joined.order, expected.order)
    np.testing.assert_array_equal(joined.offsets, expected.offsets)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 1000, 1024, 3000])
def test_long_chains_and_large_loops(n):
    """Lengths around powers of two: the look back doubles from round to round."""
    line = Chains.of(np.append(np.arange(1, n), -1), np.zeros((n, 1)))
    np.testing.assert_array_equal(line.order, np.arange(n))
    assert line.n_chains == 1
    x = np.arange(n, dtype=float)[:, None]  # the longest link of the loop leads back to the first
    ring = Chains.of(np.append(np.arange(1, n), 0), x)
    np.testing.assert_array_equal(ring.offsets, [0, n])
    if n > 2:
        np.testing.assert_array_equal(ring.order, np.arange(n))
