"""Fitted states and kinematics: against least squares by a general solver, on exact motions, and by their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenwell.paths import DEFAULT
from eigenwell.paths.chains import Chains
from eigenwell.paths.kinematics import (
    Kinematics,
    estimate,
    scales,
    steady,
    time_step,
)
from eigenwell.paths.states import fit_states, smooth, states_beside


def motion(n, d, rng, bend=0.02):
    """Samples of x(k) = p + k u + k^2 w/2, and their displacements."""
    p, u, w = rng.normal(size=d), rng.normal(size=d), bend * rng.normal(size=d)
    k = np.arange(n)[:, None]
    return (p, u, w), p + k * u + k**2 * w / 2, u + k * w


def kinematics(u, noise_x=0.1, noise_u=0.2, bend=0.05):
    return Kinematics(np.ones(len(u)), u, 1.0, noise_x, noise_u, bend, 1.0, 1.0)


def by_least_squares(x, u, k, kin):
    """The same fit as an ordinary least-squares problem of one coordinate after the other."""
    one = np.ones_like(k)
    rows = [np.column_stack([one, k, k**2 / 2]) / kin.noise_x, np.column_stack([0 * k, one, k]) / kin.noise_u]
    design = np.vstack([*rows, [[0, 0, 1 / kin.bend]]])
    right = np.vstack([x / kin.noise_x, u / kin.noise_u, np.zeros((1, x.shape[1]))])
    return np.linalg.lstsq(design, right, rcond=None)[0], np.linalg.inv(design.T @ design)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_fits_are_least_squares(seed, d, used):
    rng = np.random.default_rng(seed)
    _, x, u = motion(8, d, rng)
    x, u = x + 0.1 * rng.normal(size=x.shape), u * (1 + 0.01 * rng.normal(size=(8, 1)))
    kin = kinematics(u)
    mask = np.arange(8) < used
    at = int(rng.integers(0, used))
    state, covariance = fit_states(x, kin, np.arange(8)[None], mask[None], at)
    dx, mean = np.diff(x, axis=0), (u[1:] + u[:-1]) / 2
    speed2 = (mean**2).sum(1)
    ratio = np.where(speed2 > (4 * kin.noise_u) ** 2, (dx * mean).sum(1) / speed2, 1.0)
    k = np.concatenate([[0], np.cumsum(np.clip(np.round(ratio), 1, 3))])
    expected, spread = by_least_squares(x[mask], u[mask], (k - k[at])[mask], kin)
    np.testing.assert_allclose(state[0], expected, atol=1e-8)
    np.testing.assert_allclose(covariance[0], spread, rtol=1e-6, atol=1e-12)


def test_an_exact_motion_is_recovered_and_missing_samples_are_counted():
    (p, u, w), x, steps = motion(9, 2, np.random.default_rng(3), bend=1e-4)
    kept = np.array([0, 1, 2, 4, 5, 8])  # one missing, then two
    kin = kinematics(steps[kept], noise_x=1e-3, noise_u=1e-3, bend=10.0)
    state, _ = fit_states(x[kept], kin, np.arange(6)[None], np.ones((1, 6), dtype=bool), 0)
    np.testing.assert_allclose(state[0], [p, u, w], atol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_fits_move_turn_and_scale_with_the_data(shift):
    rng = np.random.default_rng(0)
    x, u = np.cumsum(1 + 0.1 * rng.normal(size=(8, 2)), axis=0), 1 + 0.1 * rng.normal(size=(8, 2))
    kin = kinematics(u)
    rows, used = np.arange(8)[None], np.ones((1, 8), dtype=bool)
    state, covariance = fit_states(x, kin, rows, used, 7)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    other = kinematics(3 * u @ turn.T, 0.3, 0.6, 0.15)
    moved, spread = fit_states(3 * x @ turn.T + shift, other, rows, used, 7)
    expected = 3 * state[0] @ turn.T
    expected[0] += shift
    np.testing.assert_allclose(moved[0], expected, atol=1e-7 * max(1, 0.1 * shift**0.5))
    np.testing.assert_allclose(spread, 9 * covariance, rtol=1e-9)


def line(n_chains, length, seed=0):
    """Straight noisy chains, laid one after the other in a shuffled order of samples."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_chains * length)
    x, v = np.empty((len(order), 2)), np.empty((len(order), 2))
    for c in range(n_chains):
        mine = order[c * length : (c + 1) * length]
        x[mine] = np.column_stack([np.arange(length), np.full(length, 10.0 * c)])
        v[mine] = [100.0, 0.0]
    return x, v, Chains(order, np.arange(n_chains + 1) * length)


def test_ends_links_and_smoothing_look_at_their_own_chain_only():
    x, v, chains = line(3, 20)
    kin = kinematics(v / 100, 0.01, 0.01, 0.01)
    ends = states_beside(x, chains, kin, chains.offsets[1:] - 1, chains.offsets[:-1])
    for (state, _), where in zip(ends, (chains.tails, chains.heads), strict=True):
        np.testing.assert_allclose(state[:, 0], x[where], atol=1e-9)
        np.testing.assert_allclose(state[:, 1], np.tile([1.0, 0.0], (3, 1)), atol=1e-9)
    position = np.array([0, 18, 20, 45])
    (before, _), (after, _) = states_beside(x, chains, kin, position, position + 1)
    np.testing.assert_allclose(before[:, 0], x[chains.order[position]], atol=1e-9)
    np.testing.assert_allclose(after[:, 0], x[chains.order[position + 1]], atol=1e-9)
    still_x, still_u = smooth(x, kin, chains)
    np.testing.assert_allclose(still_x, x, atol=1e-9)
    np.testing.assert_allclose(still_u, v / 100, atol=1e-9)


def test_smoothing_takes_noise_away():
    x, v, chains = line(1, 400)
    rng = np.random.default_rng(1)
    noisy = x + 0.1 * rng.standard_normal(x.shape)
    still, _ = smooth(noisy, kinematics(v / 100, 0.1, 0.01, 0.001), chains)
    assert np.abs(still - x).std() < 0.5 * np.abs(noisy - x).std()


def test_the_time_step_is_found_where_chains_are_long_and_borrowed_where_not():
    x, v, chains = line(2, 50)
    v[chains.members(1)] *= 2  # the second chain was sampled twice as often
    short = Chains(chains.order, np.array([0, 2, 50, 98, 100]))
    dt = time_step(x, v, short, DEFAULT)
    assert np.isnan(dt[short.members(0)]).all() and np.isnan(dt[short.members(3)]).all()
    kin = estimate(x, v, short)
    np.testing.assert_allclose(kin.dt[chains.members(0)], 0.01, rtol=1e-9)
    np.testing.assert_allclose(kin.dt[chains.members(1)], 0.005, rtol=1e-9)


def test_time_steps_see_through_missing_samples():
    x, v, chains = line(1, 300)
    kept = np.flatnonzero(np.random.default_rng(0).uniform(size=300) > 0.1)
    samples = chains.order[kept]
    sparse = Chains(np.argsort(np.argsort(samples)), np.array([0, len(kept)]))
    by_index = np.sort(samples)
    np.testing.assert_allclose(time_step(x[by_index], v[by_index], sparse, DEFAULT), 0.01, rtol=1e-9)


def test_scales_tell_noise_from_bending():
    rng = np.random.default_rng(0)
    n, noise_x, noise_u, bend = 100_000, 0.03, 0.05, 0.2
    steady_u = np.tile([1.0, 0.0], (n, 1))
    u = steady_u + noise_u * rng.standard_normal((n, 2))
    x = np.cumsum(steady_u, axis=0) + noise_x * rng.standard_normal((n, 2))
    step, found_x, found_u, found_bend = scales(np.diff(x, axis=0), u[:-1], u[1:], u[4:] - u[:-4])
    assert step == pytest.approx(1.0, rel=0.01)
    # The trimmed mean leaves a tenth out: it reads a quarter of the variance low, on purpose on both sides of a ratio.
    assert 0.75 * noise_x < found_x < 1.05 * noise_x
    assert 0.75 * noise_u < found_u < 1.05 * noise_u
    assert found_bend < 0.1 * noise_u
    angle = bend * np.arange(1000)  # a circle, no noise: the direction turns by `bend` per step
    u = np.column_stack([np.cos(angle), np.sin(angle)])
    x = np.cumsum((u[:-1] + u[1:]) / 2, axis=0)
    _, _, found_u, found_bend = scales(np.diff(x, axis=0), u[1:-1], u[2:], u[4:] - u[:-4])
    assert found_bend == pytest.approx(bend / np.sqrt(2), rel=0.1)  # per coordinate
    assert found_u < 0.2 * found_bend


def test_a_share_of_the_links_tells_the_same_scales_in_any_order():
    x, v, chains = line(30, 100)
    x = x + 0.05 * np.random.default_rng(0).standard_normal(x.shape)
    kin = steady(x, v, chains, 0.01)
    order = np.random.default_rng(1).permutation(len(x))
    back = np.argsort(order)
    again = steady(x[order], v[order], Chains(back[chains.order], chains.offsets), 0.01)
    assert (again.step, again.noise_x, again.noise_u, again.bend) == (kin.step, kin.noise_x, kin.noise_u, kin.bend)
