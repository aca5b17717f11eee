"""Known systems are what they claim: zero field at stable attractors, samples that match the paper's experiments."""

import numpy as np
import pytest

from eigenwell import systems
from eigenwell.systems import integrate

EVERY = (*systems.all_systems, systems.duffing_short)


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
