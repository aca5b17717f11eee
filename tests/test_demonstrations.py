"""The door: what comes in is right, or is refused with a sentence that helps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eigenwell as ew
from eigenwell import grids, velocities
from eigenwell.demonstrations import DataError, Demonstrations, first_occurrence
from eigenwell.velocities import estimate_velocities, smoothed

T = np.linspace(0, 1, 40)
X = np.column_stack([np.exp(-3 * T), T * np.exp(-3 * T)])
V = np.column_stack([-3 * np.exp(-3 * T), (1 - 3 * T) * np.exp(-3 * T)])
DT = T[1]


def with_nan(x):
    x = x.copy()
    x[[3, 7]] = np.nan
    return x


BAD = {
    "empty array": (lambda: Demonstrations.of(np.empty((0, 2)), np.empty((0, 2))), "non-empty"),
    "empty list": (lambda: Demonstrations.of([], dt=0.1), "non-empty"),
    "one sample": (lambda: Demonstrations.of(X[:1], V[:1]), "more samples than coordinates"),
    "transposed samples": (lambda: Demonstrations.of(X.T, V.T), "transposed, pass x.T"),
    "transposed trajectories": (lambda: Demonstrations.of([X.T, X[:30].T], dt=DT), "transposed, pass x.T"),
    "differing d": (lambda: Demonstrations.of([X, np.hstack([X, X])[:9]], dt=DT), r"got \[2, 4\]"),
    "ragged rows": (lambda: Demonstrations.of([[1.0, 2.0], [3.0]], V), "different lengths"),
    "ragged objects": (
        lambda: Demonstrations.of(np.array([[1, 2], [3]], dtype=object), V),
        "one velocity per position",
    ),
    "x and v differ": (lambda: Demonstrations.of(X, V[:-1]), r"x \(40, 2\) and v \(39, 2\)"),
    "x and v differ in a trajectory": (lambda: Demonstrations.of([(X, V[:-1])]), "one velocity per position"),
    "NaN": (lambda: Demonstrations.of(with_nan(X), V), r"4 NaN or infinite entries in 2 rows \(first rows: \[3, 7\]\)"),
    "infinite": (lambda: Demonstrations.of(X, np.where(V < -2.9, np.inf, V)), "NaN or infinite"),
    "neither v nor time": (lambda: Demonstrations.of(X), "velocities or time"),
    "trajectories, neither": (lambda: Demonstrations.of([X, X[:20]]), "velocities or time"),
    "dt zero": (lambda: Demonstrations.of([X], dt=0.0), "positive"),
    "dt negative": (lambda: Demonstrations.of([X], dt=-0.1), "positive"),
    "dt not a number": (lambda: Demonstrations.of([X], dt=float("nan")), "positive"),
    "time runs backwards": (lambda: Demonstrations.of([X], time=[T[::-1]]), "run backwards at sample 1"),
    "time stands still": (lambda: Demonstrations.of([X], time=[0 * T]), "got 0 for every sample"),
    "velocities of something else": (
        lambda: Demonstrations.of(
            [X + k for k in range(9)], list(np.random.default_rng(0).normal(size=(9, 40, 2))), dt=DT
        ),
        "nothing to do with it",
    ),
    "time too short": (lambda: Demonstrations.of([X], time=[T[:-1]]), "40 time stamps"),
    "time for too few": (lambda: Demonstrations.of([X, X], time=[T]), "one time array per trajectory"),
    "v points backwards": (lambda: Demonstrations.of([(X, -V)]), "Flip the sign"),
    "all-zero velocity": (lambda: Demonstrations.of(X, 0 * V), "zeros for every sample"),
    "nothing moves": (lambda: Demonstrations.of(np.ones_like(X), V), "same position"),
    "text": (lambda: Demonstrations.of(X.astype(str), V), "got text"),
    "complex": (lambda: Demonstrations.of(X + 1j, V), "complex numbers"),
    "dates": (lambda: Demonstrations.of(X.astype("datetime64[s]"), V), "dates"),
    "masked": (lambda: Demonstrations.of(np.ma.masked_greater(X, 0.5), V), "masked entries"),
    "pairs and positions mixed": (lambda: Demonstrations.of([(X, V), X], dt=DT), "1 pairs among 2"),
    "differing d, equal lengths": (lambda: Demonstrations.of([X, np.hstack([X, X])], dt=DT), r"got \[2, 4\]"),
    "only short trajectories": (lambda: Demonstrations.of([(X[:2], V[:2]), (X[2:4], V[2:4])]), "at least 3 samples"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_help(case):
    make, words = BAD[case]
    with pytest.raises(DataError, match=words):
        make()


CAUTIOUS = {
    "velocities-estimated": lambda: Demonstrations.of([X], dt=DT),
    "velocity-scale": lambda: Demonstrations.of([X], [V], dt=1000 * DT),
    "duplicated-samples": lambda: Demonstrations.of(np.vstack([X, X[:5]]), np.vstack([V, V[:5]])),
    "constant-dimension": lambda: Demonstrations.of(np.column_stack([X, 0 * T]), np.column_stack([V, 0 * T])),
    "mixed-units": lambda: Demonstrations.of(X * [1, 1e5], V * [1, 1e5]),
    "jumps": lambda: Demonstrations.of([np.vstack([X, X + 50])], dt=DT),
    "repeated-stamps": lambda: Demonstrations.of([X], time=[np.round(T, 1)]),
    "dependent-velocities": lambda: Demonstrations.of(X, V[:, [0, 0]]),
    "short-trajectory": lambda: Demonstrations.of([(X, V), (X[:1], V[:1])]),
}


@pytest.mark.parametrize("name", CAUTIOUS)
def test_doubtful_input_is_taken_with_a_named_caution(name):
    assert name in [c.name for c in CAUTIOUS[name]().warnings]


def test_good_input_raises_no_caution():
    assert Demonstrations.of([(X, V), (X[:20], V[:20] + 1e-9)], dt=DT).warnings == ()
    assert Demonstrations.of([(X, V)], time=[T]).warnings == ()


def test_integers_lists_and_float32_become_float64():
    demos = Demonstrations.of([[0, 0], [1, 2], [2, 3], [4, 4]], np.ones((4, 2), dtype=np.float32))
    assert demos.x.dtype == demos.v.dtype == np.float64
    assert not demos.ordered


def test_every_way_in_gives_the_same_trajectories():
    pairs = Demonstrations.of([(X, V), (X[:20], V[:20])])
    lists = Demonstrations.of([X, X[:20]], [V, V[:20]])
    np.testing.assert_array_equal(pairs.x, lists.x)
    np.testing.assert_array_equal(pairs.v, lists.v)
    np.testing.assert_array_equal(pairs.offsets, [0, 40, 60])
    cube = Demonstrations.of(np.stack([X, X + 1]), np.stack([V, V]))
    assert cube.n_trajectories == 2
    assert Demonstrations.of(pairs) is pairs


class Frame:
    """What a data frame looks like from here: a table whose items are columns by name."""

    def __init__(self, table):
        self.table = table

    def __array__(self, dtype=None, copy=None):
        return np.array(self.table, dtype=dtype)

    def __len__(self):
        return len(self.table)


def test_data_frames_are_tables():
    assert Demonstrations.of(Frame(X), Frame(V)).n_samples == 40
    assert Demonstrations.of([Frame(X), Frame(X[:20])], dt=DT).n_trajectories == 2
    assert Demonstrations.of([(Frame(X), Frame(V))]).n_trajectories == 1


def test_input_is_copied_and_frozen():
    x = X.copy()
    demos = Demonstrations.of(x, V)
    x[0] = 99
    assert demos.x[0, 0] == X[0, 0]
    with pytest.raises(ValueError):
        demos.x[0, 0] = 1.0


def test_velocities_of_a_smooth_curve_even_and_uneven():
    np.testing.assert_allclose(estimate_velocities(X, T), V, atol=5e-3)  # ends are one-sided
    uneven = np.sort(np.random.default_rng(0).uniform(0, 1, 60))
    curve = np.column_stack([np.sin(uneven), np.cos(uneven)])
    slope = np.column_stack([np.cos(uneven), -np.sin(uneven)])
    np.testing.assert_allclose(estimate_velocities(curve, uneven), slope, atol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_velocities_of_short_lines_are_exact(n):
    t = np.arange(n) * 0.1
    line = np.column_stack([2 * t, -t])
    expected = np.tile([2.0, -1.0], (n, 1)) if n > 1 else np.zeros((1, 2))
    np.testing.assert_allclose(estimate_velocities(line, t), expected, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_first_occurrence_agrees_with_brute_force(seed, n):
    rng = np.random.default_rng(seed)
    x, v = rng.integers(0, 2, size=(n, 2)).astype(float), rng.integers(0, 2, size=(n, 2)).astype(float)
    seen, expected = set(), []
    for row in np.hstack([x, v]):
        expected.append(tuple(row) not in seen)
        seen.add(tuple(row))
    np.testing.assert_array_equal(first_occurrence(x, v), expected)


def reach(rng, noise, frequency=100.0, rest=0.5, duration=3.0):
    """A minimum-jerk reach of 300 mm with rests before and after: time, noisy and true position, true velocity."""
    t = np.arange(0, duration + 2 * rest, 1 / frequency)
    t = t + 0.1 / frequency * rng.uniform(-0.5, 0.5, len(t))
    s = np.clip((t - rest) / duration, 0, 1)
    way = np.array([300.0, -100.0, 50.0])
    x = (s**3 * (10 - 15 * s + 6 * s**2))[:, None] * way
    v = (30 * s**2 * (1 - s) ** 2 / duration)[:, None] * way
    return t, x + noise * rng.standard_normal(x.shape), x, v


@pytest.mark.parametrize("noise", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("frequency", [50.0, 100.0])
def test_velocities_of_noisy_positions_know_the_noise(noise, frequency):
    t, seen, x, v = reach(np.random.default_rng(0), noise, frequency)
    clean = smoothed(seen, t)
    assert clean.noise == pytest.approx(noise, rel=0.1)
    assert np.sqrt(((clean.x - x) ** 2).mean()) < 0.5 * noise
    fixed = np.sqrt(((estimate_velocities(seen, t) - v) ** 2).mean())
    assert np.sqrt(((clean.v - v) ** 2).mean()) < 0.2 * fixed


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3), st.floats(-3, 3))
@settings(deadline=None, max_examples=20)
def test_smoothing_does_not_depend_on_place_angle_or_units(seed, log_length, log_time):
    rng = np.random.default_rng(seed)
    t, seen, _, _ = reach(rng, 1.0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    length, second = 10**log_length, 10**log_time
    base, moved = smoothed(seen, t), smoothed(length * seen @ turn.T + length * 50, second * t + 7)
    assert moved.noise == pytest.approx(length * base.noise, rel=1e-3)
    np.testing.assert_allclose(moved.v, length / second * base.v @ turn.T, rtol=0, atol=0.5 * length / second)


def test_a_parabola_is_not_touched_by_any_amount_of_smoothing():
    """Third differences of a parabola vanish, evenly sampled or not."""
    t = (np.arange(50) + 0.4 * np.random.default_rng(0).uniform(-1, 1, 50)) / 50
    x = np.column_stack([t**2, 1 - t])
    z, _, _ = velocities._smooth(x, velocities._penalty(t), np.log(1e6))
    np.testing.assert_allclose(z, x, atol=1e-8)


def test_smooth_positions_stay_as_they_are_and_noisy_ones_are_kept_beside():
    smooth = Demonstrations.of([X], dt=DT)
    assert smooth.raw is None and (smooth.x == X).all()
    t, seen, x, _ = reach(np.random.default_rng(1), 1.0)
    demos = Demonstrations.of([seen], time=[t])
    assert (demos.raw == seen).all() and np.abs(demos.x - x).mean() < np.abs(seen - x).mean() / 2
    assert demos.noise[0] == pytest.approx(1.0, rel=0.1)
    assert (Demonstrations.of([seen], time=[t], smooth=False).x == seen).all()


def test_rests_at_both_ends_are_trimmed():
    t, seen, _, _ = reach(np.random.default_rng(2), 0.5, rest=1.0)
    demos = Demonstrations.of([seen, seen + 400], time=[t, t])
    trimmed = demos.trimmed()
    assert trimmed.n_trajectories == 2 and (trimmed.time >= 0.9).all() and (trimmed.time <= 4.1).all()
    assert trimmed.n_samples > 2 * 180
    assert Demonstrations.of([(X, V)]).moving.sum() >= 39


def test_repeated_stamps_are_spread_over_the_time_to_the_next():
    t = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0])
    x = np.column_stack([np.arange(8.0), np.arange(8.0)])
    demos = Demonstrations.of([x], time=[t])
    np.testing.assert_allclose(demos.time, [0, 0.5, 1, 4 / 3, 5 / 3, 2, 3, 3.5])


def test_scalar_systems_are_what_they_are():
    one = Demonstrations.of([np.exp(-T), 1 - np.exp(-T[:30])], dt=DT)
    assert one.dimension == 1 and one.n_trajectories == 2
    assert Demonstrations.of(X[:, 0], V[:, 0]).dimension == 1


class Labelled:
    """An array with named dimensions, as xarray has them."""

    def __init__(self, values, dims):
        self.values, self.dims, self.shape = np.asarray(values), dims, np.shape(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


def test_grids_with_named_dimensions_in_any_order():
    x, y = np.linspace(-1, 1, 4), np.linspace(0, 2, 3)
    u, v = -np.add.outer(x, 0 * y), -np.add.outer(0 * x, y)  # along (x, y)
    named = {"x": Labelled(x, ("x",)), "y": Labelled(y, ("y",))}
    named |= {"u": Labelled(u, ("x", "y")), "v": Labelled(v.T, ("y", "x"))}
    places, rates, _ = grids.of_mapping(named)
    plain = grids.flattened(x, y, u.T, v.T)
    order, other = np.lexsort(places.T), np.lexsort(plain[0].T)
    np.testing.assert_allclose(places[order], plain[0][other])
    np.testing.assert_allclose(rates[order], plain[1][other])
    np.testing.assert_allclose(rates, -places)
    with pytest.raises(DataError, match="Select one slice"):
        grids.of_mapping(named | {"v": Labelled(v[None], ("time", "x", "y"))})


@pytest.mark.parametrize(
    "arrays, match",
    [
        ((np.ones(4), np.ones(3), np.ones((4, 3)), np.ones((4, 3))), "Transpose"),
        ((np.ones(4), np.ones(3), np.ones((3, 4)), np.ones((4, 3))), "one shape"),
        ((np.ones((2, 2)), np.ones((2, 2)), np.ones((3, 4)), np.ones((3, 4))), "coordinates of shape"),
        ((np.ones(4), np.ones(3), np.ones((3, 4))), "Expected"),
    ],
)
def test_grids_that_do_not_fit(arrays, match):
    with pytest.raises(DataError, match=match):
        grids.flattened(*arrays)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x, v: ew.identify([x, x], dt="0.1"), "one positive number of seconds, got '0.1'"),
        (lambda x, v: ew.identify(1e300 * x, 1e300 * v), "Choose another unit"),
        (lambda x, v: ew.identify(1e-300 * x, 1e-300 * v), "Choose another unit"),
        (lambda x, v: ew.identify("data.csv"), r"ew\.files\.read\('data\.csv'\)"),
        (lambda x, v: ew.identify({"x": x, "v": v}), r"identify\(d\['x'\], d\['v'\]\)"),
        (lambda x, v: ew.identify(one for one in (x, x)), r"got a generator\. Pass list"),
    ],
)
def test_what_people_pass_by_mistake_is_answered_with_what_to_do(call, said):
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    with pytest.raises(ew.DataError, match=said):
        call(demos.x, demos.v)
