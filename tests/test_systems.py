"""Known systems are what they claim: zero field at stable attractors, samples that match the paper's experiments."""

import numpy as np
import pytest

from eigenwell import systems
from eigenwell.systems import integrate

EVERY = tuple({s.name: s for s in (*systems.all_systems, *systems.snapshot_systems, systems.duffing_short)}.values())


@pytest.mark.parametrize("system", EVERY, ids=lambda s: s.name)
def test_attractors_are_stable_zeros(system):
    for place in system.attractors:
        assert np.linalg.norm(system.field(place)) < 1e-12
        h = 1e-6 * np.eye(system.dimension)
        jacobian = np.array([(system.field(place + e) - system.field(place - e)) / 2e-6 for e in h]).T
        assert np.linalg.eigvals(jacobian).real.max() < 0


@pytest.mark.parametrize(
    ("system", "trajectories", "length", "dt"),
    [
        (systems.heart, 6, 1001, 0.01),
        (systems.pendulum, 6, 601, 0.1),
        (systems.duffing, 6, 1001, 0.04),
        (systems.duffing_short, 6, 1001, 0.005),
    ],
    ids=lambda a: getattr(a, "name", ""),
)
def test_samples_match_the_experiments(system, trajectories, length, dt):
    demos = system.sample(seed=0)
    assert demos.n_trajectories == trajectories
    np.testing.assert_array_equal(np.diff(demos.offsets), length)
    np.testing.assert_allclose(np.diff(demos.time)[:10], dt)
    np.testing.assert_allclose(demos.v, system.field(demos.x))


@pytest.mark.parametrize("system", systems.all_systems, ids=lambda s: s.name)
def test_trajectories_arrive_where_truth_says(system):
    demos = system.sample(seed=1)
    ends = demos.offsets[1:] - 1
    gap = np.linalg.norm(demos.x[ends] - system.attractors[demos.truth.labels[ends]], axis=1)
    assert gap.max() < 0.02 * np.ptp(demos.x)
    assert (np.bincount(demos.truth.labels[ends]) == system.n_per_attractor).all()


def test_the_printed_duffing_run_does_not_arrive():
    demos = systems.duffing_short.sample(seed=0)
    ends = demos.offsets[1:] - 1
    gap = np.linalg.norm(demos.x[ends] - systems.duffing_short.attractors[demos.truth.labels[ends]], axis=1)
    assert gap.min() > 0.2


def test_same_seed_same_samples_other_seed_other_samples():
    a, b, c = (systems.heart.sample(seed=s).x for s in (3, 3, 4))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_integrator_is_of_fourth_order():
    def error(h):
        end = integrate(lambda x: -x, np.array([[1.0, 2.0]]), h, round(1 / h))[-1, 0]
        return np.abs(end - np.exp(-1) * np.array([1.0, 2.0])).max()

    assert error(0.01) < 1e-9
    assert 12 < error(0.01) / error(0.005) < 20


@pytest.mark.parametrize("system", systems.snapshot_systems, ids=lambda s: s.name)
def test_snapshots_are_the_field_with_its_fate(system):
    demos = system.snapshots(200, seed=2)
    assert not demos.ordered
    np.testing.assert_allclose(demos.v, system.field(demos.x))
    low, high = system.domain.T
    assert ((demos.x >= low) & (demos.x <= high)).all()
    found = np.unique(demos.truth.labels)
    assert set(range(len(system.places))) <= set(found.tolist()) <= set(range(-1, len(system.places)))


@pytest.mark.slow
@pytest.mark.parametrize("system", systems.snapshot_systems, ids=lambda s: s.name)
def test_no_attractor_is_missing_from_the_list(system):
    """Every solution that stays in twice the region ends on an attractor or a cycle of the list."""
    rng = np.random.default_rng(5)
    low, high = system.domain.T
    x = rng.uniform(low, high, size=(200, system.dimension))
    start, last = x.copy(), x
    for _ in range(round(2 * system.settling)):
        inside = (np.abs(last - (low + high) / 2) < 10 * (high - low)).all(axis=1)
        last[inside] = integrate(system.field, last[inside], 1.0, 1, keep_all=False, finest=0.04)[-1]
    stayed = (np.abs(last - (low + high) / 2) < (high - low)).all(axis=1)
    assert (system.fate(start)[stayed] >= 0).all()


@pytest.mark.parametrize("system", [systems.van_der_pol, systems.well_in_a_cycle], ids=lambda s: s.name)
def test_a_cycle_is_closed_and_carried_onto_itself(system):
    (curve,) = system.cycles
    step = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    assert np.linalg.norm(curve[0] - curve[-1]) < 2 * step.max()
    period = 0.02 * len(curve)
    assert abs(period - {"van_der_pol": 6.6633, "well_in_a_cycle": 2 * np.pi}[system.name]) < 0.03
    later = integrate(system.field, curve[::50], 0.01, 100)[-1]
    assert np.linalg.norm(later[:, None] - curve, axis=2).min(axis=1).max() < step.max()


@pytest.mark.parametrize("design", [systems.uniform, systems.clustered, systems.front], ids=lambda f: f.__name__)
def test_designs_place_n_samples_and_follow_the_seed(design):
    a, b, c = (systems.five_wells.snapshots(300, seed=s, design=design).x for s in (3, 3, 4))
    assert a.shape == (300, 2)
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_noise_is_in_units_of_the_median_speed():
    quiet, loud = (systems.saddle.snapshots(5_000, seed=1, noise=s) for s in (0.0, 0.4))
    speed = np.median(np.linalg.norm(quiet.v, axis=1))
    assert (loud.v - quiet.v).std() == pytest.approx(0.4 * speed, rel=0.02)
    np.testing.assert_array_equal(loud.x, quiet.x)
