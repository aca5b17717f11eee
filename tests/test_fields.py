"""The learned field at run time: zero at rest, V falls, NumPy as JAX, one as many, and no nonsense accepted."""

import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.test_flows import random_flow

import eigenwell as ew
from eigenwell.fields import MultiAttractorField, StableField, stable
from eigenwell.fields.simulation import Adaptive, Euler, LatentClock, LatentPath, RungeKutta4
from eigenwell.fields.stable import Speed, StableModel, as_numpy
from eigenwell.learning import learn
from eigenwell.learning.recipes import Recipe
from eigenwell.learning.training import double_precision
from eigenwell.metrics import cosine_error

SMALL = Recipe(layers=4, features=12, speed_features=12, steps=100, batch=100, neighbour_batch=60, nodes=200)


def random_field(dimension: int, seed: int, swirl: float = 0.0, braked: bool = True) -> StableField:
    """Any numbers make a stable field: nothing here is trained."""
    rng = np.random.default_rng(seed)
    turn = rng.normal(0, swirl, (dimension, dimension))
    model = StableModel(
        random_flow(dimension, seed, size=0.15),
        Speed(rng.normal(0, 2, (8, dimension)), rng.normal(0, 0.3, 16), np.asarray(0.2)),
        rng.uniform(-0.5, 0.5, dimension),
        turn - turn.T,
        np.asarray(0.05),
        rng.uniform(0.1, 1.0, dimension) if braked else np.zeros(dimension),
    )
    return StableField(model, rng.normal(0, 3, dimension), rng.uniform(0.5, 4, dimension), 1.7)


any_field = given(dimension=st.integers(2, 6), seed=st.integers(0, 10_000), swirl=st.sampled_from([0.0, 1.0]))
few = settings(max_examples=15, deadline=None)


@few
@any_field
def test_zero_at_the_attractor_and_v_falls_elsewhere(dimension: int, seed: int, swirl: float) -> None:
    field = random_field(dimension, seed, swirl)
    assert (field.predict(field.attractor) == 0).all() and (field.predict(field.attractor[None]) == 0).all()
    assert field.potential(field.attractor) == 0
    x = field.from_unit(np.random.default_rng(seed).uniform(-1.5, 1.5, (40, dimension)))
    assert ((field.potential_gradient(x) * field.predict(x)).sum(1) < 0).all()
    assert (field.potential(x) > 0).all()


@few
@any_field
def test_no_state_is_faster_than_the_limit_and_directions_stay(dimension: int, seed: int, swirl: float) -> None:
    braked, free = random_field(dimension, seed, swirl), random_field(dimension, seed, swirl, braked=False)
    away = 10.0 ** np.arange(-1, 5).repeat(10)[:, None]  # up to 10,000 boxes
    x = np.random.default_rng(seed).uniform(-1, 1, (60, dimension)) * away
    with_, without = (stable.velocity(one.model, x) for one in (braked, free))
    share = np.linalg.norm(braked.model.brake * with_, axis=1)
    assert (share <= 1 + 1e-12).all() and free.speed_limit == np.inf
    asked = np.linalg.norm(braked.model.brake * without, axis=1)
    np.testing.assert_allclose(share, asked / (1 + asked**8) ** (1 / 8), rtol=1e-9)
    ratio = with_ / without
    np.testing.assert_allclose(ratio, ratio[:, :1].repeat(dimension, 1), rtol=1e-9)
    assert (ratio > 0).all()


@pytest.mark.slow
def test_the_limit_is_in_the_units_of_the_data() -> None:
    demos = ew.systems.heart.sample(seed=0)
    field = learn(demos, recipe=SMALL)
    fastest = np.linalg.norm(demos.v, axis=1).max()
    assert field.speed_limit == pytest.approx(1.5 * fastest, rel=1e-6)
    x = np.random.default_rng(0).uniform(-1, 1, (3000, 2)) * 10.0 ** np.random.default_rng(1).uniform(0, 4, (3000, 1))
    assert np.linalg.norm(field.predict(x), axis=1).max() <= field.speed_limit * (1 + 1e-12)


@few
@any_field
def test_gradient_of_the_potential_is_its_slope(dimension: int, seed: int, swirl: float) -> None:
    field = random_field(dimension, seed, swirl)
    rng = np.random.default_rng(seed)
    x, w, h = field.from_unit(rng.uniform(-1, 1, (5, dimension))), rng.normal(size=(5, dimension)), 1e-6
    slope = (field.potential(x + h * w) - field.potential(x - h * w)) / (2 * h)
    expected = (field.potential_gradient(x) * w).sum(1)
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@few
@any_field
def test_one_state_is_a_row_of_many(dimension: int, seed: int, swirl: float) -> None:
    field = random_field(dimension, seed, swirl)
    x = field.from_unit(np.random.default_rng(seed).uniform(-1.5, 1.5, (4, dimension)))
    np.testing.assert_allclose(np.stack([field.predict(one) for one in x]), field.predict(x), rtol=1e-9, atol=1e-11)
    assert field.predict(np.empty((0, dimension))).shape == (0, dimension)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.slow
def test_numpy_gives_what_jax_gives(dimension: int, dtype: type, tolerance: float) -> None:
    field = random_field(dimension, 1, 0.5)
    x = np.random.default_rng(1).uniform(-0.5, 0.5, (200, dimension)).astype(dtype)
    with double_precision(dtype == np.float64):
        there = jax.tree.map(lambda a: jnp.asarray(a, dtype=dtype), field.model)
        expected = np.asarray(stable.velocity(there, jnp.asarray(x)))
    got = stable.velocity(as_numpy(field.model, dtype), x)
    assert got.dtype == dtype
    # Relative to the fastest state: float32 cannot promise digits of a small difference of large numbers.
    assert np.abs(got - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.slow
def test_steppers_agree() -> None:
    for swirl in (0.0, 1.0):
        field = random_field(2, 3, swirl)
        x0, t = field.from_unit(np.array([[0.9, -0.4], [-0.8, 0.3]])), np.linspace(0, 0.8, 9)
        exact = field.simulate(x0, t=t, stepper=LatentClock(0.002))
        for stepper, tolerance in (
            (LatentClock(), 1e-3),
            (RungeKutta4(), 1e-3),
            (Adaptive(), 1e-4),
            (Euler(0.001), 2e-2),
        ):
            np.testing.assert_allclose(
                field.simulate(x0, t=t, stepper=stepper), exact, atol=tolerance * field.scale.max()
            )


@few
@any_field
def test_latent_roll_outs_fall_at_every_step_of_any_size(dimension: int, seed: int, swirl: float) -> None:
    field = random_field(dimension, seed, swirl)
    x0 = np.random.default_rng(seed).uniform(-1.5, 1.5, (5, dimension))
    states = LatentClock(longest=10.0).roll(field.model, x0, np.array([0.0, 0.01, 0.1, 0.5, 1.5, 3.0]))
    values = np.stack([stable.potential(field.model, states[:, i]) for i in range(states.shape[1])])
    moving = values[:-1] > 1e-20
    assert (np.diff(values, axis=0)[moving] < 0).all()
    late = LatentClock(longest=5.0).roll(field.model, x0, np.array([0.0, 200.0]))[:, -1]
    np.testing.assert_allclose(late, np.broadcast_to(field.model.attractor, late.shape), atol=1e-6)


def test_the_clock_inverts_and_rests_at_the_attractor() -> None:
    field = random_field(2, 0)
    path = LatentPath.through(field.model, np.vstack([field.model.attractor, [1.0, 1.0]]))
    np.testing.assert_allclose(path.radius(path.clock(path.start)), path.start, rtol=1e-10)
    np.testing.assert_array_equal(field.simulate(field.attractor, duration=1.0)[-1], field.attractor)


def test_a_field_pickles_after_use() -> None:
    field = random_field(2, 0)
    before = field.predict([0.3, 0.2])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(field)).predict([0.3, 0.2]), before)


def test_simulate_shapes_and_times() -> None:
    field = random_field(2, 0)
    t = np.array([0.0, 0.5, 2.0])
    assert field.simulate([0.0, 0.0], t=t).shape == (3, 2)
    assert field.simulate([[0.0, 0.0], [1.0, 1.0]], t=t).shape == (2, 3, 2)
    rolled = field.simulate([0.3, 0.2], duration=4.0)
    np.testing.assert_array_equal(rolled[0], [0.3, 0.2])
    for bad in ({}, {"duration": 1.0, "t": t}, {"duration": -1.0}, {"duration": np.nan}, {"t": [1.0, 0.0]}, {"t": []}):
        with pytest.raises(ValueError, match="Expected"):
            field.simulate([0.0, 0.0], **bad)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (np.zeros(3), r"dimension 2.*shape \(3,\)"),
        (np.zeros((4, 3)), r"dimension 2.*shape \(4, 3\)"),
        (np.zeros((1, 1, 2)), "dimension 2"),
        ([[0.0, np.nan]], "finite states"),
        ([[0.0, 0.0], [np.inf, 0.0]], "row 1"),
        ("somewhere", "states as numbers"),
        (1.0, "dimension 2"),
    ],
)
def test_bad_queries_are_refused_in_words(query: object, message: str) -> None:
    one = random_field(2, 0)
    many = MultiAttractorField(
        (one,), one.from_unit(np.random.default_rng(0).normal(size=(9, 2))), np.zeros(9, dtype=np.intp)
    )
    for ask in (one.predict, one.potential, one.potential_gradient, many.predict, many.basin, many.far, many.potential):
        with pytest.raises(ValueError, match=message):
            ask(query)


@pytest.fixture(scope="module")
def learned() -> tuple[ew.Demonstrations, ew.Identification, MultiAttractorField]:
    demos = ew.systems.four_wells.sample(seed=0, frequency=40.0).shuffled(0)
    found = ew.identify(demos)
    return demos, found, learn(demos, found, recipe=SMALL)


def test_learned_field_follows_the_data_into_each_attractor(
    learned: tuple[ew.Demonstrations, ew.Identification, MultiAttractorField],
) -> None:
    demos, found, field = learned
    assert field.n_attractors == found.n_attractors == 4
    np.testing.assert_allclose(field.attractors, found.attractors, atol=1e-9)
    np.testing.assert_array_equal(field.basin(demos.x), found.labels)
    for q in range(4):
        for path in found.paths(q):
            last = field.simulate(demos.x[path[0]], duration=60.0)[-1]
            np.testing.assert_allclose(last, found.attractors[q], atol=1e-2)
    f = field.predict(demos.x)
    assert cosine_error(f, demos.v) < 0.1
    np.testing.assert_allclose(field.predict(demos.x[0]), f[0], rtol=1e-9, atol=1e-12)


def test_far_states_are_flagged(learned: tuple[ew.Demonstrations, ew.Identification, MultiAttractorField]) -> None:
    demos, _, field = learned
    assert not field.far(demos.x).any()
    assert field.far([1e3, 1e3]) is True
    assert np.isfinite(field.predict([1e3, 1e3])).all()


def test_certificate(learned: tuple[ew.Demonstrations, ew.Identification, MultiAttractorField]) -> None:
    for one in learned[2].certificate(samples=100):
        assert one.holds, str(one)
        assert 0 < one.smallest_singular_value <= one.largest_singular_value < 1e4
        assert "converged 100.00%" in str(one)
    with pytest.raises(ValueError, match="samples >= 1"):
        learned[2].certificate(samples=0)


@pytest.mark.slow
def test_learn_identifies_when_not_told_and_takes_plain_trajectories() -> None:
    t = np.linspace(0, 4, 80)
    paths = []
    for k in range(3):
        angle = 2 * np.pi * k / 3 + 0.2 * t
        x = np.exp(-1.5 * t)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        paths.append((x, x @ np.array([[-1.5, 0.2], [-0.2, -1.5]])))
    field = learn(paths, recipe=SMALL)
    assert field.n_attractors == 1
    assert np.linalg.norm(field.attractors[0]) < 0.05


def test_running_a_field_needs_no_jax() -> None:
    modules = "fields fields.certificates metrics learning learning.recipes learning.winding fields.simulation"
    code = "".join(f"import eigenwell.{m}\n" for m in modules.split()) + "import sys; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
