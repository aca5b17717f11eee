"""Motions with memory: V falls whatever turns them, pushes fade, phases wait."""

import pickle

import numpy as np
import pytest
from tests.test_fields import random_field
from tests.untrained import field_of

import eigenwell as ew
from eigenwell.fields import Field, Motion, loops
from eigenwell.fields.flows import linearise, pull
from eigenwell.fields.motion import Path, eased, law
from eigenwell.fields.stable import braked, latent_velocity, learned, log_speed


def with_memory(dimension: int = 2, seed: int = 0, swirl: float = 0.0) -> Field:
    """Any numbers make a stable lifted field; the attractor has phase 0."""
    lifted = random_field(dimension + 1, seed, swirl)
    goal = lifted.from_unit(lifted.model.attractors[0])
    lifted = type(lifted)(
        lifted.model, np.append(lifted.centre[:-1], lifted.centre[-1] - goal[-1]), lifted.scale, lifted.pace
    )
    plain = random_field(dimension, seed)
    samples = lifted.attractors[0, :-1] + np.random.default_rng(seed).normal(0, 1, (20, dimension))
    return Field(plain, (), (lifted,), samples, np.zeros(20, dtype=np.intp), np.linspace(1, 0, 20))


def by_arrays(motion: Motion, x: np.ndarray) -> np.ndarray:
    """What the motion asks at x, by the formulas run on arrays."""
    one, model, wells = motion.lifted, motion.lifted.model, motion.lifted.wells
    z, seen = learned(model, one.to_unit(np.append(x, motion.phase))[:, None])
    y, steps = linearise(model.flow, z)
    s = np.exp(log_speed(model.speed, z))
    clock = np.ones(1) if seen is None else seen.carry(pull(steps, s * latent_velocity(wells, y)))[1]
    w = law(wells, y, s, motion._path.aim(wells, y), eased(clock))
    return braked(model, pull(steps, w), seen)[0][:, 0] * one.scale * one.pace


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("swirl", [0.0, 0.5])
def test_turning_back_costs_nothing(dimension: int, swirl: float) -> None:
    """dV/dt of the law is negative for any state, phase and heading, not only on the motion's own path."""
    rng = np.random.default_rng(0)
    field = with_memory(dimension, 1, swirl)
    lifted = field.lifted[0]
    for _ in range(50):
        z = np.append(field.samples[rng.integers(20)] + rng.normal(0, 1, dimension), rng.uniform())
        heading = rng.normal(size=dimension + 1)
        motion = Motion(lifted, 0, z[-1], Path(heading / np.linalg.norm(heading), 1.0))
        zdot = motion._velocity(z[:-1])
        assert lifted.potential_gradient(z) @ zdot < 0


@pytest.mark.parametrize("dimension", [2, 3, 7])
@pytest.mark.parametrize("swirl", [0.0, 0.5])
def test_the_fast_path_is_the_law(dimension: int, swirl: float) -> None:
    field = with_memory(dimension, 3, swirl)
    motion = field.motion(field.samples[0])
    for x in field.samples:
        motion.phase = 0.7
        np.testing.assert_allclose(motion._velocity(x), by_arrays(motion, x), rtol=1e-9, atol=1e-12)


def test_an_undisturbed_motion_is_the_lifted_roll_out() -> None:
    field = with_memory(2, 5)
    x0 = field.samples[0]
    motion = field.motion(x0, phase=1.0)
    dt, steps = 1e-3, 300
    x = x0.copy()
    for _ in range(steps):
        x = x + dt * motion.step(x, dt)
    expected = field.lifted[0].simulate(np.append(x0, 1.0), t=[0.0, dt * steps])[-1]
    np.testing.assert_allclose(x, expected[:-1], atol=0.02 * field.lifted[0].scale.max())


def test_a_motion_that_is_held_keeps_its_phase_and_one_that_is_slow_its_path() -> None:
    field = with_memory(2, 5)
    x0 = field.samples[0]
    motion = field.motion(x0, phase=0.8)
    for _ in range(100):
        motion.step(x0, 0.01)
    assert motion.phase == 0.8
    free, slow = field.motion(x0, phase=0.8), field.motion(x0, phase=0.8)
    a, b = x0.copy(), x0.copy()
    for _ in range(50):
        a = a + 1e-3 * free.step(a, 1e-3)
    for _ in range(100):
        b = b + 0.5e-3 * slow.step(b, 1e-3)  # a robot at half the speed it is told
    np.testing.assert_allclose(a, b, atol=2e-3)
    assert free.phase == pytest.approx(slow.phase, abs=2e-3)


@pytest.mark.slow
def test_the_certificate_runs_motions_and_sees_one_that_stops(monkeypatch) -> None:
    found = ew.identify(ew.systems.heart.sample(seed=0, frequency=25.0))
    field = field_of(found, memory=True)
    certificate = field.certificate(samples=10, rates=(25.0,))
    assert [loop.pushed for loop in certificate.motions] == [False, True]
    assert all(loop.arrived == 1 and loop.falling > 0.99 for loop in certificate.motions) and certificate.holds
    assert field_of(found).certificate(samples=2, rates=(25.0,)).motions == ()
    monkeypatch.setattr(loops, "SLOWEST", 0.5)
    monkeypatch.setattr(Motion, "step", lambda self, x, dt: np.zeros(2))
    broken = field.certificate(samples=10, rates=(25.0,))
    assert not broken.holds and any("motion.step at 25 Hz: 0.0%" in said for said in (*broken.failures(), str(broken)))


def test_a_certificate_names_a_rate_that_is_too_slow_for_motions() -> None:
    field = with_memory(2, 3)
    pace = field.lifted[0].pace
    # Motions are turned back ten times in a unit of time: not by Euler's rule in halves of it.
    slow, fine = 2 * pace, 100 * pace
    certificate = field.certificate(samples=1, rates=(fine, slow))
    assert certificate.too_slow == (slow,) and certificate.verdicts[1].holds, str(certificate)
    assert f"too slow for Euler's rule: {slow:g} Hz" in str(certificate)
    at = {loop.rate: [one for one in certificate.motions if one.rate == loop.rate] for loop in certificate.motions}
    assert min(loop.arrived for loop in at[slow]) < 1 and min(loop.arrived for loop in at[fine]) == 1
    assert all(loop.starts >= field.n_attractors for loop in certificate.motions)
    x = field.samples[0]
    motion = field.motion(x)
    for _ in range(500):
        x = x + motion.step(x, 1 / slow) / slow
    assert not motion.done
    assert not field.certificate(samples=1, rates=(slow,)).verdicts[1].holds


@pytest.mark.parametrize("swirl", [0.0, 0.5])
def test_no_step_is_longer_than_what_is_left_of_the_way(swirl: float) -> None:
    field = with_memory(2, 5, swirl)
    lifted, x0 = field.lifted[0], field.samples[0]
    dt = 0.15 / lifted.pace
    motion, x, shortened = field.motion(x0, phase=1.0), x0.copy(), 0
    for _ in range(400):
        velocity, free = motion.step(x, dt), motion._velocity(x)
        assert motion._last is not None
        way = np.linalg.norm(dt * motion._last[1] / lifted.scale)
        left = np.linalg.norm((np.append(x, motion.phase) - lifted.attractors[0]) / lifted.scale)
        assert way <= left * (1 + 1e-12)
        np.testing.assert_allclose(np.cross(motion._last[1], free), 0, atol=1e-9 * (free @ free))
        shortened += bool(np.linalg.norm(velocity) < 0.999 * np.linalg.norm(free[:-1]))
        x = x + dt * velocity
        if motion.done:
            break
    assert motion.done and shortened > 0


def test_a_pushed_motion_comes_back_to_its_path_and_arrives() -> None:
    field = with_memory(2, 5)
    lifted, x0 = field.lifted[0], field.samples[0]
    motion = field.motion(x0, phase=1.0)
    dt, x = 1e-3 / lifted.pace, x0.copy()
    path = lifted.simulate(np.append(x0, 1.0), t=np.linspace(0, 100, 5000) / lifted.pace)[:, :-1]
    for _ in range(50):
        x = x + dt * motion.step(x, dt)
    x = x + 0.1 * lifted.scale[:-1]
    pushed = np.linalg.norm((path - x) / lifted.scale[:-1], axis=1).min()
    for _ in range(600):
        x = x + dt * motion.step(x, dt)
    assert np.linalg.norm((path - x) / lifted.scale[:-1], axis=1).min() < 0.3 * pushed
    for _ in range(200_000):
        x = x + 5 * dt * motion.step(x, 5 * dt)
        if motion.done:
            break
    assert motion.done
    np.testing.assert_allclose(x, motion.attractor, atol=0.02 * lifted.scale.max())


def test_reset_and_pickle_begin_anew() -> None:
    field = with_memory(2, 5)
    motion = field.motion(field.samples[0], phase=0.9)
    first = motion.step(field.samples[0], 0.01)
    motion.step(field.samples[1], 0.01)
    motion.reset()
    assert motion.phase == 0.9 and not motion.done
    np.testing.assert_array_equal(motion.step(field.samples[0], 0.01), first)
    again = pickle.loads(pickle.dumps(motion))
    np.testing.assert_allclose(again.step(field.samples[0], 0.01), motion.step(field.samples[0], 0.01))
    motion.reset(field.samples[2], phase=0.5)
    assert motion.phase == 0.5


def test_a_motion_starts_early_rather_than_near() -> None:
    """Of two samples beside the start, the one at the beginning of a path is meant; and a goal can be named."""
    field = with_memory(2, 0)
    samples = np.array([[0.0, 0.0], [0.05, 0.0], [1.0, 1.0], [0.0, 1.0]])
    two = Field(
        random_field(2, 0, attractors=2),
        (),
        field.lifted * 2,
        samples,
        np.array([0, 1, 0, 1]),
        np.array([1.0, 0.2, 0.0, 1.0]),
    )
    assert two.motion([0.04, 0.0]).goal == 0 and two.motion([0.04, 0.0]).phase == 1.0
    assert two.motion([0.04, 0.0], goal=1).goal == 1
    assert two.simulate([[0.0, 0.0], [0.0, 1.0]], duration=1.0).shape == (2, 201, 2)


def test_bad_requests_are_refused_in_words() -> None:
    field = with_memory(2, 0)
    motion = field.motion(field.samples[0])
    for dt in (0.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="Time runs forwards"):
            motion.step(field.samples[0], dt)
    for phase in (-0.1, 1.5, np.nan, "start"):
        with pytest.raises(ValueError, match="a phase from 1"):
            field.motion(field.samples[0], phase=phase)
    with pytest.raises(ValueError, match="one state"):
        motion.step(field.samples, 0.01)
    with pytest.raises(ValueError, match="one state"):
        field.motion(field.samples)
    with pytest.raises(ValueError, match="one state"):
        Motion.at(field.lifted[0], 0, field.samples, 1.0)
