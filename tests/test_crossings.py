"""Two noisy tracks that cross: chains that took each other's way get back their own, and samples the chain they fit."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from eigenwell.paths.chains import Chains
from eigenwell.paths.kinematics import estimate
from eigenwell.paths.links import link_score, unlikeliness, variances
from eigenwell.paths.settings import DEFAULT
from eigenwell.paths.states import ACROSS, MIDDLE, _moved, fit_states, loosened, mismatch, returned, uncross, untangled

LENGTH = 80


def crossing(angle, noise, seed=0, d=2):
    """Two straight tracks of unit steps that cross in the middle at an angle; samples 0 to 79, and 80 to 159."""
    rng = np.random.default_rng(seed)
    along = np.arange(LENGTH) - LENGTH / 2 + 0.3
    ways = np.zeros((2, d))
    ways[0, 0], ways[1, :2] = 1, (np.cos(angle), np.sin(angle))
    x = np.concatenate([along[:, None] * way for way in ways])
    v = np.repeat(ways, LENGTH, axis=0)
    return x + noise * rng.standard_normal(x.shape), v + noise * rng.standard_normal(v.shape)


def chains_of(*orders):
    return Chains(np.concatenate(orders), np.concatenate([[0], np.cumsum([len(o) for o in orders])]))


first, second = np.arange(LENGTH), LENGTH + np.arange(LENGTH)
half = LENGTH // 2
true = chains_of(first, second)
swapped = chains_of(np.concatenate([first[:half], second[half:]]), np.concatenate([second[:half], first[half:]]))


def tracks(chains):
    """The samples of every chain, whatever the number of the chain."""
    return {frozenset(chains.members(c).tolist()) for c in range(chains.n_chains)}


def told(x, v):
    return estimate(x, v, true)


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize(
    "noise, angle", [(0.1, 0.5), (0.1, 1.0), (0.1, 2.0), (0.2, 0.5), (0.2, 2.0), (0.3, 1.0), (0.3, 2.0)]
)
def test_exchanged_ends_come_back(noise, angle, d):
    x, v = crossing(angle, noise, d=d)
    out = tracks(untangled(x, swapped, told(x, v), cKDTree(x)))
    for track in (first, second):  # but for samples in the very middle, which may lie on either
        assert max(len(set(track.tolist()) & members) for members in out) >= LENGTH - 2 * MIDDLE


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_right_chains_stay(noise, seed):
    x, v = crossing(1.0, noise, seed)
    assert uncross(x, true, told(x, v), cKDTree(x)) is true


@pytest.mark.parametrize("noise", [0.1, 0.2])
@pytest.mark.parametrize("angle", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_links_that_fits_doubt_are_offered_again_and_nine_in_ten_stay(noise, angle, seed):
    x, v = crossing(angle, noise, seed)
    kin = told(x, v)
    assert loosened(x, true, kin).n_chains <= 2 + DEFAULT.remainder * 2 * LENGTH
    out = loosened(x, swapped, kin)
    assert out.n_chains <= 2 + DEFAULT.remainder * 2 * LENGTH
    assert not any(members & set(first) and members & set(second) for members in tracks(out))


def test_one_chain_is_never_cut_into_a_loop():
    t = np.linspace(0, 2.2 * np.pi, 120)
    x = 20 * np.stack([np.cos(t), np.sin(2 * t)], axis=1)
    v = np.gradient(x, axis=0)
    chains = chains_of(np.arange(120))
    assert tracks(untangled(x, chains, estimate(x, v, chains), cKDTree(x))) == tracks(chains)


def test_the_gain_is_what_brute_force_says():
    x, v = crossing(1.0, 0.2)
    kin, s = told(x, v), DEFAULT

    def cost(order_a, i, order_b, j):
        before, after = (
            order_a[i - MIDDLE - s.fit + 1 : i - MIDDLE + 1],
            order_b[j + 1 + MIDDLE : j + 1 + MIDDLE + s.fit],
        )
        used = np.ones((1, s.fit), dtype=bool)
        (a, cov_a), (b, cov_b) = (
            fit_states(x, kin, before[None], used, s.fit - 1),
            fit_states(x, kin, after[None], used, 0),
        )
        share = np.sqrt(kin.dt[order_b[j]] / kin.dt[order_a[i]])
        best = np.inf
        for m in ACROSS:
            state_a = np.stack([a[:, k] * share**k for k in range(3)], axis=1)
            state_b = np.stack([b[:, k] / share**k for k in range(3)], axis=1)
            both = (cov_a + cov_b)[0]
            gap, variance = mismatch(state_a, state_b, np.array([[m]])), variances(both[0, 0], both[1, 1], m, kin.bend)
            missing = abs(m - 1 - 2 * MIDDLE)
            best = min(best, float(link_score(unlikeliness(gap, variance, kin.spread2, 2, missing), 2)[0, 0]))
        return best

    a, b = swapped.members(0), swapped.members(1)
    gains = [
        (cost(a, i, a, i) + cost(b, j, b, j) - cost(a, i, b, j) - cost(b, j, a, i), i, j)
        for i in range(half - 4, half + 4)
        for j in range(half - 4, half + 4)
    ]
    gain, i, j = max(gains)
    assert gain > DEFAULT.missing
    expected = {
        frozenset(a[: i + 1].tolist() + b[j + 1 :].tolist()),
        frozenset(b[: j + 1].tolist() + a[i + 1 :].tolist()),
    }
    assert tracks(uncross(x, swapped, kin, cKDTree(x))) == expected


@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_a_sample_in_the_wrong_chain_returns(noise):
    x, v = crossing(1.0, noise)
    for k in (half - 3, half - 1, half + 2):
        mixed = chains_of(np.append(np.delete(first, k), []).astype(int), np.insert(second, k, first[k]))
        assert tracks(returned(x, mixed, told(x, v), cKDTree(x))) == tracks(true), k


def test_samples_are_put_beside_the_ones_they_follow():
    chains = chains_of(np.array([0, 1, 2, 3]), np.array([4, 5, 6]), np.array([7]))
    out = _moved(chains, np.array([1, 7]), np.array([5, 4]), np.array([0.4, -0.4]))
    assert [out.members(c).tolist() for c in range(out.n_chains)] == [[0, 2, 3], [7, 4, 5, 1, 6]]


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_every_sample_stays_in_one_chain(noise):
    x, v = crossing(0.7, noise)
    out = untangled(x, swapped, told(x, v), cKDTree(x))
    np.testing.assert_array_equal(np.sort(out.order), np.arange(2 * LENGTH))


def test_units_and_turns_do_not_matter():
    x, v = crossing(1.0, 0.3)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 2)))[0]
    before = untangled(x, swapped, told(x, v), cKDTree(x))
    y, w = 1e-3 * x @ turn, 50 * v @ turn
    after = untangled(y, swapped, told(y, w), cKDTree(y))
    assert tracks(before) == tracks(after)
