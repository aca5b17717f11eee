"""The learned field at run time: zero at rest, V falls, NumPy as JAX, one as many, and no nonsense accepted."""

import pickle
import subprocess
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.test_flows import jacobian, random_flow
from tests.untrained import learned_field

import eigenwell as ew
from eigenwell import runge_kutta
from eigenwell.fields import Field, StableField, curves, stable
from eigenwell.fields.flows import forward, linearise
from eigenwell.fields.stable import Speed, StableModel, as_numpy
from eigenwell.learning import learn, learn_motions
from eigenwell.learning.recipes import Recipe
from eigenwell.learning.training import double_precision
from eigenwell.metrics import cosine_error

SMALL = Recipe(layers=4, features=12, steps=100, batch=100)


def random_field(
    dimension: int, seed: int, swirl: float = 0.0, braked: bool = True, attractors: int = 1, window: float = 0.8
) -> StableField:
    """Any numbers make a stable field: nothing here is trained."""
    rng = np.random.default_rng(seed)
    turn = rng.normal(0, swirl, (attractors, dimension, dimension))
    model = StableModel(
        random_flow(dimension, seed, size=0.15, window=window),
        Speed(rng.normal(0, 2, (8, dimension)), rng.normal(0, 0.3, 16), np.asarray(0.2), np.asarray(window)),
        rng.uniform(-0.5, 0.5, (attractors, dimension)),
        rng.normal(0, 0.3, attractors),
        turn - turn.transpose(0, 2, 1),
        rng.uniform(0.02, 0.3, attractors),
        rng.uniform(0.1, 1.0, dimension) if braked else np.zeros(dimension),
    )
    return StableField(model, rng.normal(0, 3, dimension), rng.uniform(0.5, 4, dimension), 1.7)


any_field = given(
    dimension=st.integers(2, 6),
    seed=st.integers(0, 10_000),
    swirl=st.sampled_from([0.0, 1.0]),
    attractors=st.sampled_from([1, 2, 5]),
)
few = settings(max_examples=15, deadline=None)


@few
@any_field
def test_zero_at_the_attractor_and_v_falls_elsewhere(dimension: int, seed: int, swirl: float, attractors: int) -> None:
    field = random_field(dimension, seed, swirl, attractors=attractors)
    assert (field.predict(field.attractors) == 0).all() and (field.predict(field.attractors[0]) == 0).all()
    assert (field.potential(field.attractors) == 0).all()
    x = field.from_unit(np.random.default_rng(seed).uniform(-1.5, 1.5, (40, dimension)))
    assert ((field.potential_gradient(x) * field.predict(x)).sum(1) < 0).all()
    assert (field.potential(x) > 0).all()


@few
@any_field
def test_no_state_is_faster_than_the_limit_and_directions_stay(
    dimension: int, seed: int, swirl: float, attractors: int
) -> None:
    braked, free = (
        random_field(dimension, seed, swirl, attractors=attractors),
        random_field(dimension, seed, swirl, False, attractors),
    )
    away = 10.0 ** np.arange(-1, 5).repeat(10)[:, None]  # up to 10,000 boxes
    x = np.random.default_rng(seed).uniform(-1, 1, (60, dimension)) * away
    with_, without = (stable.velocity(one.model, one.wells, x.T).T for one in (braked, free))
    share = np.linalg.norm(braked.model.brake * with_, axis=1)
    assert (share <= 1 + 1e-12).all() and free.speed_limit == np.inf
    asked = np.linalg.norm(braked.model.brake * without, axis=1)
    np.testing.assert_allclose(share, asked / (1 + asked**8) ** (1 / 8), rtol=1e-9)
    ratio = with_ / without
    np.testing.assert_allclose(ratio, ratio[:, :1].repeat(dimension, 1), rtol=1e-9)
    assert (ratio > 0).all()


@pytest.mark.slow
def test_the_limit_is_in_the_units_of_the_data() -> None:
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    field = learn(demos, memory=False, recipe=SMALL)
    fastest = np.linalg.norm(demos.v, axis=1).max()
    assert field.speed_limit == pytest.approx(1.5 * fastest, rel=1e-6)
    x = np.random.default_rng(0).uniform(-1, 1, (3000, 2)) * 10.0 ** np.random.default_rng(1).uniform(0, 4, (3000, 1))
    assert np.linalg.norm(field.predict(x), axis=1).max() <= field.speed_limit * (1 + 1e-12)


@few
@any_field
def test_gradient_of_the_potential_is_its_slope(dimension: int, seed: int, swirl: float, attractors: int) -> None:
    field = random_field(dimension, seed, swirl, attractors=attractors)
    rng = np.random.default_rng(seed)
    x, w, h = field.from_unit(rng.uniform(-1, 1, (5, dimension))), rng.normal(size=(5, dimension)), 1e-6
    slope = (field.potential(x + h * w) - field.potential(x - h * w)) / (2 * h)
    expected = (field.potential_gradient(x) * w).sum(1)
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@few
@any_field
def test_one_state_is_a_row_of_many(dimension: int, seed: int, swirl: float, attractors: int) -> None:
    field = random_field(dimension, seed, swirl, attractors=attractors)
    x = field.from_unit(
        np.random.default_rng(seed).uniform(-1.5, 1.5, (20, dimension))
    )  # few would be asked one by one
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
        expected = np.asarray(jax.jit(lambda model, x: stable.velocity(model, stable.wells(model), x))(there, x.T))
    model = as_numpy(field.model, dtype)
    got = stable.velocity(model, stable.wells(model), x.T)
    assert got.dtype == dtype
    # Relative to the fastest state: float32 cannot promise digits of a small difference of large numbers.
    assert np.abs(got - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def integrated(field: StableField, x: np.ndarray, t: np.ndarray, longest: float) -> np.ndarray:
    """States (m, k, d) by Runge-Kutta 4 on `predict`, in steps no longer than so much of unit time."""
    states = [x]
    for interval in np.diff(t):
        count = int(np.ceil(interval * field.pace / longest - 1e-9))
        for _ in range(count):
            x = runge_kutta.step(field.predict, x, interval / count)
        states.append(x)
    return np.stack(states, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("attractors", [1, 3])
def test_roll_outs_solve_the_equation(attractors: int) -> None:
    for swirl in (0.0, 1.0):
        field = random_field(2, 3, swirl, attractors=attractors)
        x0, t = field.from_unit(np.array([[0.9, -0.4], [-0.8, 0.3]])), np.linspace(0, 0.8, 9)
        exact = integrated(field, x0, t, 0.005)  # off by the fourth power of its step
        np.testing.assert_allclose(field.simulate(x0, t=t), exact, atol=1e-4 * field.scale.max())


@pytest.mark.slow
@few
@any_field
def test_latent_roll_outs_fall_and_arrive_where_basin_said(
    dimension: int, seed: int, swirl: float, attractors: int
) -> None:
    field = random_field(dimension, seed, swirl, attractors=attractors)
    x0 = field.from_unit(np.random.default_rng(seed).uniform(-1.5, 1.5, (5, dimension)))
    states = field.simulate(x0, t=[0.0, 0.01, 0.1, 0.5, 1.5, 3.0, 1e4])
    values = np.stack([field.potential(states[:, i]) for i in range(states.shape[1])])
    away = np.linalg.norm((states[:, :-1, None] - field.attractors) / field.scale, axis=3).min(2).T
    assert (np.diff(values, axis=0)[away > 1e-6] < 0).all()  # nearer, rounding of psi
    basin = field.basin(x0)
    settled = basin >= 0
    np.testing.assert_allclose(states[settled, -1], field.attractors[basin[settled]], atol=1e-6 * field.scale.max())


@pytest.mark.parametrize("dimension", [2, 3])
def test_basins_are_those_of_the_integrated_field(dimension: int) -> None:
    field = random_field(dimension, 4, 0.5, attractors=3)
    x = field.from_unit(np.random.default_rng(0).uniform(-1, 1, (60, dimension)))
    last = integrated(field, x, np.array([0.0, 10.0]), 0.1)[:, -1]
    distance = np.linalg.norm(last[:, None] - field.attractors, axis=2)
    assert (distance.min(1) < 1e-3).all()
    np.testing.assert_array_equal(field.basin(x), distance.argmin(1))


@few
@given(dimension=st.integers(2, 4), seed=st.integers(0, 1000), attractors=st.integers(2, 5))
def test_every_other_equilibrium_is_a_saddle(dimension: int, seed: int, attractors: int) -> None:
    field = random_field(dimension, seed, 0.7, attractors=attractors)
    saddles = field.saddles
    # Morse: at least Q - 1 of them; in the plane exactly as many.
    assert len(saddles) >= attractors - 1 if dimension > 2 else len(saddles) == attractors - 1
    assert np.abs(field.predict(saddles)).max() < 1e-8
    h = 1e-6
    for place in saddles:
        columns = [(field.predict(place + h * e) - field.predict(place - h * e)) / (2 * h) for e in np.eye(dimension)]
        assert np.linalg.eigvals(np.array(columns).T).real.max() > 0


def test_separatrices_part_the_basins() -> None:
    field = random_field(2, 7, 1.0, attractors=3)
    for curve in field.separatrices():
        inside = curve[(np.abs(field.to_unit(curve)) < 1).all(1)][::7]
        normal = np.gradient(inside, axis=0)[:, ::-1] * [1, -1]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        step = 1e-3 * field.scale.max()
        left, right = field.basin(inside + step * normal), field.basin(inside - step * normal)
        assert (left != right).mean() > 0.9
    with pytest.raises(ValueError, match="2 dimensions, got 3"):
        random_field(3, 0, attractors=2).separatrices()


def test_one_attractor_is_the_papers_field() -> None:
    """xdot = m s J^-1 u with u = -(I + b Omega) y / (|y| + eps), y = psi(x) - psi(x*), by dense algebra."""
    field = random_field(3, 5, 0.5, braked=False)
    model, x = field.model, np.random.default_rng(1).uniform(-1, 1, (3, 20))
    y, steps = linearise(model.flow, x)
    y = y - forward(model.flow, model.attractors.T)
    r = np.linalg.norm(y, axis=0)
    u = -(y + model.swirls[0] @ y / (1 + (model.flow.window * r) ** 8)) / (r + model.softening[0])
    way = np.linalg.solve(np.moveaxis(jacobian(steps, 3), -1, 0), u.T[:, :, None])[:, :, 0].T
    expected = np.exp(stable.log_speed(model.speed, x)) * way
    np.testing.assert_allclose(stable.velocity(model, field.wells, x), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(stable.potential(model, field.wells, x), 0.5 * (y**2).sum(0), rtol=1e-12)


@pytest.mark.parametrize("k", [0.0, 0.8])
def test_a_solution_winds_near_the_attractor_and_comes_straight_from_afar(k: float) -> None:
    """One step of the closed form is many of Runge-Kutta 4, and beyond a few 1/k the heading does not turn."""
    swirl = np.array([[[0.0, -5.0], [5.0, 0.0]]])
    wells = stable.Wells(np.zeros((1, 2)), np.zeros(1), swirl, np.ones(1), np.array(k))
    y = np.array([[0.01, 0.3, 1.0, 2.0, 30.0, 1e9], [0.0, 0.1, 0.5, 0.0, 1.0, 1e9]])
    stepped = y
    for _ in range(500):
        stepped = runge_kutta.step(lambda state: curves.slope(wells, state), stepped, 2e-3)
    np.testing.assert_allclose(curves.advance(wells, y, 1.0), stepped, rtol=1e-6)
    turned = np.angle((stepped[0] + 1j * stepped[1]) / (y[0] + 1j * y[1]))
    assert (np.abs(turned[-2:]) < 1e-3).all() == (k > 0)
    np.testing.assert_allclose(turned[0] % (2 * np.pi), 2 * np.pi - 5.0, atol=1e-6)


@pytest.mark.parametrize("dimension", [2, 3, 4, 7])
def test_a_solution_that_does_not_wind_goes_straight_down_the_potential(dimension: int) -> None:
    """e and grad M are one direction, whatever the power p of the distances is."""
    wells = random_field(dimension, 3, attractors=4).wells
    y = np.random.default_rng(dimension).normal(0, 1, (dimension, 200))
    e, slope = stable.shares(wells, y)[0], stable.mean_distance(wells, y)[1]
    cosine = (e * slope).sum(0) / (np.linalg.norm(e, axis=0) * np.linalg.norm(slope, axis=0))
    np.testing.assert_allclose(cosine, 1.0, atol=1e-9)


def test_many_dimensions_do_not_overflow() -> None:
    field = random_field(30, 0, 0.3, attractors=4)
    x = field.from_unit(np.random.default_rng(0).uniform(-1, 1, (20, 30)) * 10.0 ** np.arange(-3, 1).repeat(5)[:, None])
    assert np.isfinite(field.predict(x)).all() and np.isfinite(field.potential(x)).all()
    assert ((field.potential_gradient(x) * field.predict(x)).sum(1) < 0).all()


def test_one_attractor_alone_is_stable_at_it() -> None:
    field = random_field(2, 2, 0.5, attractors=3)
    for q in range(3):
        alone = field.alone(q)
        x = alone.from_unit(np.random.default_rng(q).uniform(-1, 1, (10, 2)))
        last = alone.simulate(x, t=[0.0, 500.0])[:, -1]
        np.testing.assert_allclose(last, np.broadcast_to(field.attractors[q], last.shape), atol=1e-6)


def test_rests_at_the_attractor() -> None:
    field = random_field(2, 0)
    np.testing.assert_array_equal(field.simulate(field.attractors[0], duration=1.0)[-1], field.attractors[0])


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
        ([0.0, 1e300], r"beyond 1e\+100"),
        ([[0.0, 0.0], [np.inf, 0.0]], "row 1"),
        ("somewhere", "states as numbers"),
        (1.0, "dimension 2"),
    ],
)
def test_bad_queries_are_refused_in_words(query: object, message: str) -> None:
    one = random_field(2, 0)
    samples = one.from_unit(np.random.default_rng(0).normal(size=(9, 2)))
    many = Field(one, (), (), samples, np.zeros(9, dtype=np.intp), np.linspace(1, 0, 9))
    for ask in (one.predict, one.potential, one.potential_gradient, many.predict, many.basin, many.far, many.potential):
        with pytest.raises(ValueError, match=message):
            ask(query)


@pytest.fixture(scope="module")
def learned() -> tuple[ew.Identification, Field]:
    demos = ew.systems.four_wells.sample(seed=0, frequency=40.0).shuffled(0)
    found = ew.identify(demos)
    return found, learn(found, recipe=SMALL)


@pytest.mark.slow
def test_a_loop_on_predict_arrives_where_basin_said(learned: tuple[ew.Identification, Field]) -> None:
    found, field = learned
    assert field.n_attractors == found.n_attractors == 4
    np.testing.assert_allclose(field.attractors, found.attractors, atol=1e-9)
    x = np.random.default_rng(0).uniform(found.demos.x.min(0), found.demos.x.max(0), (200, 2))
    said = field.basin(x)
    for _ in range(2000):
        x = x + 0.02 * field.predict(x)
    distance = np.linalg.norm(x[:, None] - field.attractors, axis=2)
    assert (distance.min(1) < 0.02).all() and (distance.argmin(1) == said).mean() >= 0.985
    f = field.predict(found.demos.x)
    assert cosine_error(f, found.demos.v) < 0.1
    np.testing.assert_allclose(field.predict(found.demos.x[0]), f[0], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_toward_goes_to_its_goal_from_anywhere(learned: tuple[ew.Identification, Field]) -> None:
    found, field = learned
    x = np.random.default_rng(1).uniform(found.demos.x.min(0), found.demos.x.max(0), (30, 2))
    for q in range(4):
        last = field.toward(q).simulate(x, t=[0.0, 300.0])[:, -1]
        np.testing.assert_allclose(last, np.broadcast_to(found.attractors[q], last.shape), atol=1e-3)
    sample = found.demos.x[found.labels == 2][0]
    np.testing.assert_allclose(field.toward(sample).attractors[0], found.attractors[2], atol=1e-9)
    for bad in (4, -1, 1.5, True, "left"):
        with pytest.raises(ValueError, match="a goal 0 to 3"):
            field.toward(bad)
    with pytest.raises(ValueError, match="dimension 2"):
        field.toward([1.0, 2.0, 3.0])


@pytest.mark.slow
def test_far_states_are_flagged(learned: tuple[ew.Identification, Field]) -> None:
    found, field = learned
    assert not field.far(found.demos.x).any()
    assert field.far([1e3, 1e3]) is True
    assert np.isfinite(field.predict([1e3, 1e3])).all()


@pytest.mark.slow
def test_certificate(learned: tuple[ew.Identification, Field]) -> None:
    field = learned[1]
    certificate = field.certificate(samples=20, rates=(100.0,))
    assert certificate.holds, str(certificate)
    assert certificate.sinks == 4 and len(certificate.saddles) == 3 and certificate.jump < 1e-6
    assert "follow" in str(certificate) and certificate.fit is field.fit
    with pytest.raises(ValueError, match="samples >= 1"):
        field.certificate(samples=0)
    with pytest.raises(ValueError, match="control rates > 0"):
        field.certificate(rates=(0.0,))


@pytest.mark.slow
def test_a_certificate_sees_a_failure(learned: tuple[ew.Identification, Field]) -> None:
    """The patchwork of old: the nearest sample's basin, picked anew at every call. And a loop that is far too coarse."""
    _, field = learned

    class Patchwork(Field):
        def predict(self, x: object) -> np.ndarray:
            states = np.atleast_2d(np.asarray(x, dtype=float))
            label = self.labels[self._tree.query(states / self.box)[1]]
            fields = [self.map.alone(q) for q in range(self.n_attractors)]
            return np.stack([fields[q].predict(one) for q, one in zip(label, states, strict=True)]).reshape(np.shape(x))

    names = ("map", "goals", "lifted", "samples", "labels", "phases")
    broken = Patchwork(*(getattr(field, name) for name in names))
    certificate = broken.certificate(samples=20, rates=(100.0,))
    assert not certificate.holds and certificate.jump > 1e-3 and certificate.failures()
    assert not field.certificate(samples=20, rates=(1.0,)).holds


@pytest.mark.slow
def test_learn_takes_what_identify_takes_and_checks_what_belongs_together() -> None:
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    found = ew.identify(demos)
    recipe = replace(SMALL, steps=10)
    assert learn(demos, found, memory=False, recipe=recipe).n_attractors == 2
    shuffled = demos.shuffled(0)
    with pytest.raises(ew.DataError, match="same order"):
        learn(shuffled, found, recipe=recipe)
    with pytest.raises(ew.DataError, match="holds its data"):
        learn(found, dt=0.1)
    with pytest.raises(ew.DataError, match="Expected found as an Identification"):
        learn(demos, found="mine")
    pieces = [demos.x[a:b] for a, b in zip(demos.offsets[:-1], demos.offsets[1:], strict=True)]
    assert learn(pieces, dt=1 / 20, memory=False, recipe=recipe).n_attractors == 2


def test_attractors_that_coincide_are_refused() -> None:
    line = np.linspace(1, 0, 20)[:, None]
    one, two = line * [1.0, 0.0], line * [0.0, 1.0]
    with pytest.raises(ew.DataError, match="at the same one"):
        learn_motions([[(one, -one)], [(two, -two)]], np.zeros((2, 2)), recipe=SMALL)


@pytest.mark.slow
def test_learn_identifies_when_not_told_and_takes_plain_trajectories() -> None:
    t = np.linspace(0, 4, 80)
    paths = []
    for k in range(3):
        angle = 2 * np.pi * k / 3 + 0.2 * t
        x = np.exp(-1.5 * t)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        paths.append((x, x @ np.array([[-1.5, 0.2], [-0.2, -1.5]])))
    field = learn(paths, memory=False, recipe=SMALL)
    assert field.n_attractors == 1
    assert np.linalg.norm(field.attractors[0]) < 0.05


def test_running_a_field_needs_no_jax() -> None:
    modules = "fields fields.certificates metrics learning learning.recipes learning.winding fields.simulation"
    code = "".join(f"import eigenwell.{m}\n" for m in modules.split()) + "import sys; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_notebook_shows_a_field() -> None:
    from untrained import field_of

    found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    field = field_of(found)
    text = field._repr_html_()
    assert "2-D field, stable at 2 attractors" in text and "<polyline" in text and "follows" not in text.split("<p>")[0]
    assert "stable at 1 attractor<" in field.toward(0)._repr_html_()


def test_a_certificate_tells_how_far_it_is() -> None:
    from untrained import field_of

    told: list[tuple[str, int, int]] = []
    field = field_of(ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0)))
    field.certificate(samples=2, rates=(50.0,), progress=lambda *one: told.append(one))
    assert told == [("control rates", 0, 1), ("control rates", 1, 1)]


@pytest.mark.slow
def test_a_loop_told_its_step_stays_on_the_solution():
    """Where a field winds Euler's steps gain: from some starts they end at another attractor than the solution's own."""
    goals = 2 * np.eye(2)
    samples = np.concatenate([goals + 1.0, goals - 1.0])
    field = learned_field(goals, samples, np.array([0, 1, 0, 1]), np.array([1.0, 1.0, 0.0, 0.0]), bend=0.2)
    turn = np.zeros((2, 2, 2))
    turn[:, 0, 1], turn[:, 1, 0] = 12.0, -12.0
    field = replace(field, map=replace(field.map, model=field.map.model._replace(swirls=turn)))
    starts = np.random.default_rng(0).uniform(-1, 3, (12, 2))
    dt = 0.05 * float(field.box.max()) / field.speed_limit
    said, euler, told = field.basin(starts), starts, starts
    for _ in range(250):
        euler = euler + dt * field.predict(euler)
        told = told + dt * field.predict(told, dt)
    near = [np.linalg.norm((x[:, None] - field.attractors) / field.box, axis=2) for x in (euler, told)]
    assert (near[1].min(1) < 0.01).all() and (near[1].argmin(1) == said).all()
    assert (near[0].argmin(1) != said).any() or near[0].min(1).max() > 0.01
    certificate = field.certificate(samples=2, rates=(1 / dt,))
    euler = replace(certificate.loops[0], arrived=1.0, as_basin_said=0.9)
    assert "ends elsewhere than basin said from 10.0%" in str(replace(certificate, loops=(euler,)))
    assert "ends elsewhere" not in str(replace(certificate, loops=(replace(euler, as_basin_said=1.0),)))
