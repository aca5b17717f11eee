"""A field stays home, and can be advanced: no start in the box leaves it far, and steps of any size stay on one solution."""

from dataclasses import replace

import numpy as np
import pytest
from tests.untrained import learned_field, stable_field

from eigenwell.fields import curves
from eigenwell.fields.home import MARGIN, kept_home
from eigenwell.fields.loops import follow
from eigenwell.fields.stable import from_latent, latent


def goals_in(dimension, count, seed=1):
    return np.random.default_rng(seed).uniform(-0.35, 0.35, (count, dimension))


def paths(field, x0, steps=300):
    """Nodes (m, steps + 1, d) on the solution curves."""
    y = [latent(field.model, field.to_unit(x0).T)]
    for _ in range(steps):
        y.append(curves.advance(field.wells, y[-1], curves.longest_step(field.wells) / 2))
    nodes = np.stack(y, axis=2)
    x = from_latent(field.model, nodes.reshape(len(nodes), -1)).reshape(nodes.shape)
    return field.from_unit(np.moveaxis(x, 0, -1))


@pytest.mark.parametrize(("dimension", "count", "bend"), [(2, 1, 2.0), (2, 3, 2.0), (3, 2, 1.5), (5, 2, 1.0)])
def test_no_start_in_the_box_leaves_it_by_more_than_a_quarter(dimension, count, bend):
    wild = stable_field(goals_in(dimension, count), bend=bend, seed=3)
    low, high = np.full(dimension, -0.5), np.full(dimension, 0.5)
    x0 = np.random.default_rng(0).uniform(low, high, (60, dimension))
    farthest = np.abs(paths(wild, x0)).max() - 0.5
    kept = kept_home(wild, low, high)
    assert np.abs(paths(kept, x0)).max() - 0.5 <= MARGIN
    # Not because nothing wanted to leave, in the plane at least.
    assert farthest > MARGIN or dimension > 2
    # In the box it is the same field, and its attractors are where they were.
    np.testing.assert_array_equal(kept.predict(x0), wild.predict(x0))
    np.testing.assert_array_equal(kept.attractors, wild.attractors)


def test_a_phase_is_not_warped():
    one = stable_field(np.array([[0.1, 0.0, 0.0]]), [0.0, 0.0, 0.5], bend=1.0)
    kept = kept_home(one, np.full(2, -0.5), np.full(2, 0.5))
    z = np.random.default_rng(0).uniform(-2, 2, (3, 50))
    np.testing.assert_array_equal(kept.model.world.forward(z)[2], z[2])
    assert (kept.model.world.forward(z)[:2] != z[:2]).any()


@pytest.mark.parametrize("steps", [1, 9])
def test_steps_of_any_size_end_at_the_same_state(steps):
    field = kept_home(stable_field(goals_in(2, 3), bend=0.3, seed=2), np.full(2, -0.5), np.full(2, 0.5))
    x0 = np.random.default_rng(1).uniform(-1.5, 1.5, (10, 2))
    x = x0
    for _ in range(steps):
        x = field.advance(x, 0.8 / steps)
    exact = field.simulate(x0, t=np.array([0.0, 0.8]))[:, -1]
    np.testing.assert_allclose(x, exact, atol=5e-3)
    assert (field.potential(x) < field.potential(x0)).all()


@pytest.mark.parametrize(
    ("dimension", "count", "swirl"), [(2, 1, 0.0), (2, 1, 2.0), (2, 3, 2.0), (3, 2, 0.0), (7, 3, 0.0)]
)
def test_one_state_is_advanced_as_many_are(dimension, count, swirl):
    """Along the same solution, with the same clock; far out, near, and where nothing moves."""
    field = stable_field(goals_in(dimension, count), bend=0.3, seed=2)
    turn = np.zeros((count, dimension, dimension))
    turn[:, 0, 1], turn[:, 1, 0] = swirl, -swirl
    field = kept_home(
        replace(field, model=field.model._replace(swirls=turn)), *np.array([[-0.5], [0.5]]).repeat(dimension, 1)
    )
    x = np.random.default_rng(1).uniform(-1.5, 1.5, (20, dimension))
    for dt in (0.001, 0.01, 0.5):
        alone, together = np.array([field.advance(one, dt) for one in x]), field.advance(x, dt)
        np.testing.assert_allclose(alone, together, atol=1e-8)
        assert (field.potential(alone) < field.potential(x)).all()
        # On the solution itself: the rest of the way is the same, whatever the clock said.
        np.testing.assert_array_equal(field.basin(alone), field.basin(x))
    np.testing.assert_array_equal(field.advance(field.attractors[0], 0.1), field.attractors[0])


@pytest.mark.parametrize("rate", [50.0, 100.0])
def test_loops_on_motions_arrive_from_far_outside_with_any_phase(remembering, rate):
    """Beyond the box the learned world is stretched, and its clock is fast; a motion there is no faster than its loop."""
    low, high = remembering.samples.min(0), remembering.samples.max(0)
    field = replace(remembering, lifted=tuple(kept_home(one, low, high) for one in remembering.lifted))
    rng = np.random.default_rng(6)
    for _ in range(12):
        x = (low + high) / 2 + 1.5 * field.box * rng.uniform(-1, 1, 2)
        motion = field.motion(x, goal=0, phase=rng.uniform())
        states = follow(motion, x, 1 / rate, int(60 * rate))
        assert motion.done and np.isfinite(states).all()


@pytest.mark.slow
def test_a_loop_on_advance_ends_where_basin_said_and_stays_there():
    field = kept_home(stable_field(goals_in(2, 3), bend=1.5, seed=4), np.full(2, -0.5), np.full(2, 0.5))
    x = np.random.default_rng(2).uniform(-1.5, 1.5, (20, 2))
    said = field.basin(x)
    for _ in range(12):
        x = field.advance(x, 4.0)
    np.testing.assert_allclose(x, field.attractors[said], atol=1e-6)
    np.testing.assert_array_equal(field.advance(field.attractors, 1.0), field.attractors)


def test_a_time_step_that_is_none_is_refused():
    field = stable_field([[0.0, 0.0]])
    for dt in (0.0, -1.0, np.nan, "soon"):
        with pytest.raises(ValueError, match="dt > 0"):
            field.advance([0.1, 0.2], dt)


@pytest.fixture
def remembering():
    t = np.linspace(0, 1, 60)
    way = np.column_stack([np.cos(3 * t), np.sin(3 * t)]) * (1 - 0.8 * t)[:, None]
    return learned_field(way[-1:], way, np.zeros(60, int), 1 - t, memory=True, bend=0.1)


@pytest.mark.parametrize("rate", [10.0, 50.0])
def test_a_motion_is_advanced_along_its_own_solution(remembering, rate):
    x = x0 = remembering.samples[0]
    motion = remembering.motion(x0, phase=1.0)
    for _ in range(int(0.5 * rate)):
        x = motion.advance(x, 1 / rate)
    exact = remembering.lifted[0].simulate(np.append(x0, 1.0), t=[0.0, 0.5])[-1]
    np.testing.assert_allclose(x, exact[:-1], atol=2e-3)
    for _ in range(100):
        x = motion.advance(x, 0.2)
        if motion.done:
            break
    assert motion.done


def test_a_robot_that_is_held_keeps_its_phase(remembering):
    x = remembering.samples[0]
    motion = remembering.motion(x, phase=1.0)
    for _ in range(5):
        motion.advance(x, 0.05)
    assert motion.phase == 1.0
    asked = motion.advance(x, 0.05)
    motion.advance(asked, 0.05)
    assert motion.phase < 1.0


def test_every_part_of_a_certificate_has_its_name_and_number(remembering):
    certificate = remembering.certificate(samples=5, rates=(100.0,))
    names = [one.name for one in certificate.verdicts]
    assert names == ["stable", "arrives", "where basin said", "stays home", "follows"]
    assert certificate.holds == all(one.holds for one in certificate.verdicts)
    assert certificate.failures() == [str(one) for one in certificate.verdicts if not one.holds]
