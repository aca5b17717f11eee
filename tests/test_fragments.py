"""From chains to whole paths, each step on a case with one right answer and by law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenwell.paths.chains import Chains
from eigenwell.paths.fragments import link_fragments, recover_paths, typical_length
from eigenwell.paths.kinematics import Kinematics, estimate
from eigenwell.paths.states import link, mismatch


def straight(n, start=(0.0, 0.0), way=(1.0, 0.0)):
    """n samples of a steady motion, a step apart, at one step per unit of time."""
    way = np.asarray(way, dtype=float)
    return np.asarray(start) + np.arange(n)[:, None] * way, np.tile(way, (n, 1))


def together(*pieces):
    """Samples of several pieces, each piece a chain."""
    x, v = (np.concatenate([p[k] for p in pieces]) for k in (0, 1))
    return x, v, Chains(np.arange(len(x)), np.cumsum([0, *(len(p[0]) for p in pieces)]))


def kinematics(v, noise=0.02, bend=0.01, step=1.0):
    return Kinematics(np.ones(len(v)), v, step, noise, noise, bend, step, 100.0)


def paths(chains):
    return {tuple(chains.members(c).tolist()) for c in range(chains.n_chains)}


# --- linking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1, 3, 8])
def test_a_gap_is_bridged(gap):
    whole = straight(60 + gap)
    first, second = (whole[0][:30], whole[1][:30]), (whole[0][30 + gap :], whole[1][30 + gap :])
    x, v, chains = together(first, second)
    kin = kinematics(v)
    assert link(x, chains, kin).n_chains == 1
    joined, _ = link_fragments(x, v, chains, kin)
    assert joined.n_chains == 1


def test_what_lies_far_aside_or_goes_another_way_is_not_linked():
    x, v, chains = together(straight(30), straight(30, (32, 25.0)), straight(30, (30, 40), (-1, 0)))
    kin = kinematics(v)
    assert link_fragments(x, v, chains, kin)[0].n_chains == 3


def test_linking_one_chain_or_none_changes_nothing():
    x, v, chains = together(straight(10))
    assert link(x, chains, kinematics(v)) is None


def test_the_mismatch_of_a_cubic_with_itself_is_nothing():
    """States at both ends of any cubic satisfy both conditions, at the right gap and at no other."""
    rng = np.random.default_rng(0)
    c0, c1, c2, c3 = rng.normal(size=(4, 5, 2))
    m = 3.0
    a = np.stack([c0, c1, 2 * c2], axis=1)
    b = np.stack([c0 + m * c1 + m**2 * c2 + m**3 * c3, c1 + 2 * m * c2 + 3 * m**2 * c3, 2 * c2 + 6 * m * c3], axis=1)
    miss2, change2 = mismatch(a, b, np.tile([2.0, 3.0], (5, 1)))
    np.testing.assert_allclose(miss2[:, 1], 0, atol=1e-20)
    np.testing.assert_allclose(change2[:, 1], 0, atol=1e-20)
    assert (miss2[:, 0] > 1e-6).all()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_the_typical_length_is_that_of_the_median_sample(lengths):
    lengths = np.array(lengths)
    of_samples = np.sort(np.repeat(lengths, lengths))[::-1]
    assert typical_length(lengths) == of_samples[int(np.ceil(len(of_samples) / 2)) - 1]


# --- all of it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_whole_paths_whatever_the_order_place_and_unit(noise):
    """Recovery is the same for samples in another order, moved, turned, scaled and with another clock."""
    rng = np.random.default_rng(4)
    s = np.linspace(0, 1, 80)
    pieces = []
    for k in range(4):
        rise = s**2 * (3 - 2 * s)
        x = np.column_stack([20 * rise, 3 * k + 2 * np.sin(2 * rise)])
        pieces.append((x, np.gradient(x, s, axis=0)))
    x, v, _ = together(*pieces)
    x, v = x + noise * 0.2 * rng.standard_normal(x.shape), v + noise * 15 * rng.standard_normal(v.shape)
    first, _ = recover_paths(x, v)

    def sets(fragments, order):
        bounds = zip(fragments.offsets[:-1], fragments.offsets[1:], strict=True)
        return {frozenset(order[fragments.order[a:b]].tolist()) for a, b in bounds}

    expected = sets(first, np.arange(len(x)))
    assert sum(len(part) >= 75 for part in expected) == 4
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    order = rng.permutation(len(x))
    moved = 1e3 * (x @ turn.T)[order] + np.array([5e4, -2e4])
    assert sets(recover_paths(moved, 10 * (v @ turn.T)[order])[0], order) == expected


def test_kinematics_of_what_was_recovered_are_in_the_order_of_the_samples():
    rng = np.random.default_rng(0)
    x, v = straight(200)
    v = v * 50.0
    order = rng.permutation(200)
    noisy = (x + 0.1 * rng.standard_normal(x.shape))[order]
    fragments, kin = recover_paths(noisy, v[order])
    np.testing.assert_allclose(kin.u, kin.dt[:, None] * v[order])
    np.testing.assert_allclose(kin.dt, 0.02, rtol=0.1)
    assert estimate(noisy, v[order], fragments).step == pytest.approx(kin.step, rel=0.05)
