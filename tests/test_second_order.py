"""Fields of second order: the first half of a state moves with the second, energy falls, rest is stable at the attractors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import eigenwell as ew
from eigenwell.errors import DataError
from eigenwell.fields.second_order import SecondOrderField, _power_mean, fit_second_order


def oscillator(y):
    return np.array([y[1], -4 * y[0] - 0.6 * y[1]])


def duffing(y):
    return np.array([y[1], y[0] - y[0] ** 3 - 0.5 * y[1]])


def magnet(y):
    return np.array([y[2], y[3], -2 * y[0] - 0.8 * y[2] + 1.5 * y[3], -2 * y[1] - 0.8 * y[3] - 1.5 * y[2]])


SYSTEMS = {
    "oscillator": (oscillator, [[2, 0], [-1.5, 1], [1, 3]], 12.0, [[0.0]]),
    "duffing": (duffing, [[2, 0], [-1.8, 0.2], [0.5, 1], [-0.3, -1], [1.5, -1], [-2, 1]], 25.0, [[-1.0], [1.0]]),
    "magnet": (magnet, [[1, 0, 0, 0], [0, 1, 1, 0], [-1, -0.5, 0, 1]], 12.0, [[0.0, 0.0]]),
}


def motion(f, start, duration):
    t = np.linspace(0, duration, 300)
    y = solve_ivp(lambda _, y: f(y), (0, duration), start, t_eval=t, rtol=1e-9, atol=1e-9).y.T
    d = y.shape[1] // 2
    return t, y[:, :d], y[:, d:], np.array([f(one)[d:] for one in y])


def fitted(name):
    f, starts, duration, attractors = SYSTEMS[name]
    motions = [motion(f, start, duration) for start in starts]
    return fit_second_order([m[1:] for m in motions], np.array(attractors), duration), motions


@pytest.mark.parametrize("name", SYSTEMS)
def test_known_systems_are_followed(name):
    field, motions = fitted(name)
    assert field.misfit < 0.03 and field.warnings == ()
    starts = np.array([np.r_[q[0], qdot[0]] for _, q, qdot, _ in motions])
    for path, (_, q, _, _) in zip(field.simulate(starts, t=motions[0][0]), motions, strict=True):
        error = np.sqrt(((path[:, : q.shape[1]] - q) ** 2).sum(axis=1).mean())
        assert error < 0.01 * field.scale
        energy = field.energy(path)
        assert (np.diff(energy) < 1e-6 * energy[0]).all()


def made_up(rng, q, d):
    """Any weights that keep the bounds make a stable field."""
    return SecondOrderField(
        places=rng.uniform(-0.5, 0.5, (q, d)),
        centre=rng.normal(size=d),
        scale=float(rng.uniform(0.5, 3)),
        pulls=rng.uniform(0.1, 2, 6),
        centres=rng.uniform(-0.5, 0.5, (7, d)),
        width=0.3,
        damping=rng.uniform(0, 2, 7),
        turning=rng.normal(size=(7, d * (d - 1) // 2)),
        least=0.8,
        misfit=0.0,
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_the_laws_of_any_field(seed, q, d):
    rng = np.random.default_rng(seed)
    field = made_up(rng, q, d)
    x = np.hstack([field.centre + field.scale * rng.normal(size=(20, d)), rng.normal(size=(20, d))])
    rate = field.predict(x)
    assert (rate[:, :d] == x[:, d:]).all()  # to the bit
    # dE/dt = grad E . f = -b |qdot|^2, by differences of the energy itself
    h = 1e-6
    change = (field.energy(x + h * rate) - field.energy(x - h * rate)) / (2 * h)
    work = field.least * ((x[:, d:] / field.scale) ** 2).sum(axis=1)
    assert (change <= -work + 1e-4 * np.abs(rate).max()).all()
    assert np.abs(field.predict(field.attractors)).max() < 1e-9
    assert field.energy(field.attractors) == pytest.approx(np.zeros(q), abs=1e-9)
    assert (field.energy(x) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("q, d", [(1, 1), (2, 1), (3, 2), (2, 3)])
def test_every_start_comes_to_rest_at_an_attractor(q, d):
    rng = np.random.default_rng(q + d)
    field = made_up(rng, q, d)
    starts = np.hstack([field.centre + field.scale * rng.uniform(-1, 1, (4, d)), rng.normal(size=(4, d))])
    ends = field.simulate(starts, t=[0.0, 15.0])[:, -1]
    away = np.linalg.norm(ends[:, None] - field.attractors, axis=2).min(axis=1)
    assert away.max() < 0.02 * field.scale


@pytest.mark.parametrize("q, d", [(1, 1), (3, 2), (2, 4)])
def test_a_saved_field_is_the_same_to_the_bit(tmp_path, q, d):
    rng = np.random.default_rng(q + d)
    field, x = made_up(rng, q, d), rng.normal(size=(9, 2 * d))
    field.save(tmp_path / "swing.eigenwell")
    again = ew.load(tmp_path / "swing.eigenwell")
    assert isinstance(again, SecondOrderField) and again.misfit == field.misfit
    assert (again.predict(x) == field.predict(x)).all() and (again.energy(x) == field.energy(x)).all()
    with pytest.raises(ew.ModelError, match="Leave goal out"):
        ew.load(tmp_path / "swing.eigenwell", goal=0)


@pytest.mark.parametrize("name, value", [("pulls", -1.0), ("damping", -1.0), ("least", 0.0), ("places", np.nan)])
def test_what_would_not_be_stable_is_not_saved(tmp_path, name, value):
    field = made_up(np.random.default_rng(0), 2, 2)
    broken = replace(field, **{name: np.full_like(getattr(field, name), value) if name != "least" else value})
    with pytest.raises(ew.ModelError, match="Expected"):
        broken.save(tmp_path / "swing.eigenwell")
    assert not list(tmp_path.iterdir())


def test_a_field_of_second_order_says_what_it_cannot_do(tmp_path):
    field = made_up(np.random.default_rng(0), 1, 2)
    with pytest.raises(ew.ModelError, match="second order"):
        ew.export.export_c(field, tmp_path / "swing.h")


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_the_power_mean_and_its_gradient(seed, q, d):
    rng = np.random.default_rng(seed)
    places, x = rng.normal(size=(q, d)), rng.normal(size=(6, d))
    rho, slope = _power_mean(x, places)
    r = np.linalg.norm(x[:, None] - places, axis=2)
    p = max(d, 2)
    wanted = np.exp(np.log(r).mean(axis=1)) if p == 2 else (r ** (2.0 - p)).mean(axis=1) ** (1 / (2.0 - p))
    np.testing.assert_allclose(rho, wanted, rtol=1e-9)
    h = 1e-6
    sides = [(_power_mean(x + h * e, places)[0] - _power_mean(x - h * e, places)[0]) / (2 * h) for e in np.eye(d)]
    np.testing.assert_allclose(slope, np.stack(sides, axis=1), atol=1e-5)


def test_a_fit_knows_no_place_angle_or_unit():
    _, motions = fitted("magnet")
    turn, place, scale, clock = np.array([[0.6, -0.8], [0.8, 0.6]]), np.array([5.0, -3.0]), 1000.0, 60.0
    moved = [
        (scale * q @ turn.T + place, scale / clock * v @ turn.T, scale / clock**2 * a @ turn.T)
        for _, q, v, a in motions
    ]
    base = fit_second_order([m[1:] for m in motions], np.zeros((1, 2)), 12.0)
    other = fit_second_order(moved, place[None], 12.0 * clock)
    x = np.array([[0.4, -0.2, 0.3, 0.5]])
    there = np.hstack([scale * x[:, :2] @ turn.T + place, scale / clock * x[:, 2:] @ turn.T])
    wanted = scale / clock**2 * base.predict(x)[:, 2:] @ turn.T
    # The box is measured along the axes: scale and bumps differ a little under a turn.
    np.testing.assert_allclose(other.predict(there)[:, 2:], wanted, rtol=0.05, atol=0.02 * np.abs(wanted).max())


def test_recordings_of_a_scalar_are_learned_from_positions_alone():
    """A damped swing seen with noise: no field of q alone can follow it."""
    rng = np.random.default_rng(0)
    tracks = [motion(oscillator, start, 12.0) for start in ([2.0, 0.0], [-1.5, 1.0], [1.0, 3.0], [-2.0, 0.0])]
    seen = [q + 0.005 * rng.standard_normal(q.shape) for _, q, _, _ in tracks]
    found = ew.identify(seen, time=[t for t, *_ in tracks])
    assert found.n_attractors == 1
    field = ew.learn(found, order=2)
    assert field.dimension == 2 and field.n_attractors == 1
    for t, q, qdot, _ in tracks:
        rolled = field.simulate(np.r_[q[0], qdot[0]], t=t)[:, :1]
        assert np.sqrt(((rolled - q) ** 2).mean()) < 0.03 * field.scale


def test_motions_that_are_not_of_second_order_are_said_to_be_followed_poorly():
    """The same reach at two speeds: one state, two accelerations."""
    s = np.linspace(0, 1, 100)[:, None]
    rise = s**3 * (10 - 15 * s + 6 * s**2)
    field = ew.learn([rise * [1.0, 0.5], rise * [1.0, 0.5]], time=[s[:, 0], 4 * s[:, 0]], order=2)
    assert field.misfit > 0.5 and field.warnings[0].name == "misfit"


def test_what_order_2_cannot_take_is_refused():
    demos = ew.systems.heart.sample(seed=0)
    with pytest.raises(DataError, match="order 1 or 2"):
        ew.learn(demos, order=3)
    with pytest.raises(DataError, match="order=2 alone"):
        ew.learn(demos, order=2, memory=True)
    with pytest.raises(DataError, match="with time"):
        ew.learn(demos.shuffled(), order=2)
