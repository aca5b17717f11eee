"""What the ends of paths say: at rest or in motion, orbits, lost paths; the common time step; an order without a trace."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eigenwell as ew
from eigenwell import DataError
from eigenwell.numbering import canonical_order
from eigenwell.paths.arrival import PathEnds, bound_for, end_pace, is_orbit, way_left
from eigenwell.paths.beside import belonging, nearest_paths, running_on, tails
from eigenwell.paths.builders import _with_scraps, whole_enough
from eigenwell.paths.grading import grade_paths
from eigenwell.paths.kinematics import common_time_step, halfway_links, is_common


def circle(turns, n=200, shrink=0.0):
    angle = np.linspace(0, 2 * np.pi * turns, n)
    radius = np.exp(-shrink * angle)
    x = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    return x, np.gradient(x, angle, axis=0)


def test_orbits_close_and_spirals_do_not():
    assert is_orbit(*circle(2.3))
    assert not is_orbit(*circle(0.8))  # not yet closed
    assert not is_orbit(*circle(4, n=800, shrink=0.1))  # converges
    x, v = circle(2.3)
    assert not is_orbit(x, v * np.linspace(1, 0, len(v))[:, None])  # comes to rest
    assert not is_orbit(x[:15], v[:15])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_orbits_and_paces_know_no_unit(scale):
    x, v = circle(2.3)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert is_orbit(scale * x @ turn.T + 7 * scale, scale * v @ turn.T)
    slowing = v * np.linspace(1, 0.1, len(v))[:, None]
    assert end_pace(scale * slowing @ turn.T) == pytest.approx(end_pace(slowing))


def test_the_pace_of_an_end():
    steady = np.tile([1.0, 0.0], (100, 1))
    assert end_pace(steady) == pytest.approx(1.0)
    assert end_pace(steady * np.linspace(1, 0, 100)[:, None]) < 0.05
    trembling = steady * np.r_[np.ones(90), np.zeros(10)][:, None]
    trembling[90:, 0] = 0.4 * (-1.0) ** np.arange(10)  # a pen at rest trembles; the mean says so
    assert end_pace(trembling) < 0.1


@pytest.mark.parametrize(
    "rate", [[[1, 0], [0, 1]], [[1, 0], [0, 5]], [[0.2, 3], [-3, 0.2]]], ids=["star", "node", "spiral"]
)
def test_where_a_linear_motion_is_bound_for_is_known_long_before_it_arrives(rate):
    rate, rest = np.array(rate, dtype=float), np.array([2.0, -1.0])
    value, vector = np.linalg.eig(rate)
    t = np.linspace(0, 2 / value.real.min(), 80)
    away = (np.exp(-np.outer(t, value))[:, None, :] * vector) @ np.linalg.solve(vector, np.array([1.0, 0.6]))
    x, v = rest + away.real, -away.real @ rate.T
    assert np.linalg.norm(x[-1] - rest) > 0.05
    (ahead,), (error,) = bound_for(x, v, np.array([0, len(x)]))
    np.testing.assert_allclose(np.median(x[-3:], axis=0) + ahead, rest, atol=1e-9)
    assert error < 1e-9
    # Noise is what it is carried to rest with, and the error says so.
    rng = np.random.default_rng(0)
    for _ in range(20):
        noisy = x + 0.003 * rng.standard_normal(x.shape)
        (ahead,), (error,) = bound_for(noisy, v + 0.003 * rng.standard_normal(v.shape), np.array([0, len(x)]))
        assert np.linalg.norm(np.median(noisy[-3:], axis=0) + ahead - rest) < error


def test_a_saddle_that_is_passed_is_not_where_a_path_is_bound_for():
    t = np.linspace(0, 4, 100)[:, None]
    x = np.hstack([np.exp(-t), 0.01 * np.exp(t)])
    assert np.isinf(bound_for(x, x * [-1, 1], np.array([0, len(x)]))[1])
    # Nor is a motion that never slows down bound for anywhere.
    straight, wiggle = np.hstack([t, 0 * t]), 0.01 * np.random.default_rng(0).standard_normal((100, 2))
    assert bound_for(straight + wiggle, np.ones((100, 1)) * [1.0, 0.0] + wiggle, np.array([0, 100]))[1] > 1.0


def ends_of(places, pace, length=None, usable=None, orbit=None):
    k = len(places)
    return PathEnds(
        place=np.asarray(places, dtype=float),
        pace=np.asarray(pace, dtype=float),
        way=np.where(np.asarray(pace) > 0.5, np.inf, 0.0),
        orbit=np.zeros(k, dtype=bool) if orbit is None else np.asarray(orbit),
        length=np.full(k, 100) if length is None else np.asarray(length),
        usable=np.ones(k, dtype=bool) if usable is None else np.asarray(usable),
        ahead=np.zeros((k, len(places[0]))),
        error=np.full(k, np.inf),
        grain=np.zeros((k, len(places[0]))),
    )


PAIRS = [[0, 0], [0.01, 0], [0, 0.01], [5, 5], [5.01, 5], [5, 5.01]]


def test_a_lone_end_in_motion_founds_no_attractor():
    places = [*PAIRS, [2.5, 0.0]]
    for pace, expected in ((0.9, 2), (0.0, 3)):
        graded = grade_paths(ends_of(places, [0.0] * 6 + [pace]), extent=np.array([5.0, 5.0]), trusted_ends=False)
        assert graded.grouping.n_groups == expected
        assert (graded.group[6] < 0) == (expected == 2)
        assert ("broken-paths" in {c.name for c in graded.warnings}) == (expected == 2)
    # Of recordings in the user's own order it is left out too, and named.
    trusted = grade_paths(ends_of(places, [0.0] * 6 + [0.9]), extent=np.array([5.0, 5.0]), trusted_ends=True)
    assert trusted.grouping.n_groups == 2 and [(one.number, one.left_out) for one in trusted.odd] == [(6, True)]


@pytest.mark.parametrize("pace", [0.9, 0.0])
def test_a_path_that_lost_its_tail_counts_to_the_one_that_runs_on(pace):
    ends = ends_of([*PAIRS, [2.5, 0.0]], [0.0] * 6 + [pace])
    asked = []

    def heir(paths):
        asked.append(paths.tolist())
        return np.array([4])

    graded = grade_paths(ends, extent=np.array([5.0, 5.0]), trusted_ends=False, heirs_of=heir)
    assert asked == [[6]]  # the lone one alone
    assert graded.grouping.n_groups == 2 and graded.group[6] == graded.group[4]
    assert "count to its attractor" in str(next(c for c in graded.warnings if c.name == "broken-paths"))


@pytest.mark.parametrize("heirs, expected", [([1, 2], 2), ([1, -1], 3)])
def test_an_end_that_few_paths_share_is_none_if_others_run_on_through_all_of_it(heirs, expected):
    rng = np.random.default_rng(0)
    places = np.concatenate([centre + 0.005 * rng.normal(size=(8, 2)) for centre in ([0.0, 0], [5.0, 5])])
    places = np.concatenate([places, [[2.5, 0.0], [2.501, 0.0]]])

    def running_on(paths):
        assert paths.tolist() == [16, 17]
        return np.array(heirs)

    graded = grade_paths(
        ends_of(places, [0.0] * 18), extent=np.array([5.0, 5.0]), trusted_ends=False, heirs_of=running_on
    )
    assert graded.grouping.n_groups == expected
    assert (graded.group[16:] == graded.group[0]).all() == (expected == 2)


def test_where_many_paths_may_be_lost_nothing_is_sure():
    ends = ends_of([*PAIRS[:3], [5, 5], [5, 0]], [0.0] * 3 + [0.9] * 2)
    assert grade_paths(ends, extent=np.array([5.0, 5.0]), trusted_ends=False).grouping.probability < 0.9


@given(st.floats(0.001, 0.2), st.integers(30, 400))
@settings(max_examples=30, deadline=None)
def test_the_way_left_of_a_decaying_motion_is_the_way_it_has_left(left, n):
    """To the width of the windows that speeds are averaged over; whatever the sampling."""
    t = np.linspace(0, -np.log(left), n)[:, None]
    x = np.exp(-t) * [3.0, 4.0]
    way = way_left(x, -x)
    assert 5 * left <= way <= 1.5 * 5 * left
    assert way_left(7 * x + 3, -0.1 * x) == pytest.approx(7 * way)


def test_a_path_that_never_slows_down_says_nothing_and_one_at_rest_everything():
    line = np.linspace([0, 0], [1, 1], 50)
    assert way_left(line, np.ones((50, 2))) == np.inf
    still = np.concatenate([line, np.ones((10, 2))])
    assert way_left(still, np.concatenate([np.ones((50, 2)), np.zeros((10, 2))])) == 0


def strands(*lines):
    """Straight motions (start, end, number of samples) one after the other, at one sample a second."""
    xs = [np.linspace(a, b, n) for a, b, n in lines]
    vs = [np.tile((x[-1] - x[0]) / (len(x) - 1), (len(x), 1)) for x in xs]
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in xs])])
    return np.concatenate(xs), np.concatenate(vs), offsets, np.arange(len(lines))


def runs_on(*lines, reach=0.2):
    x, v, offsets, number = strands(*lines)
    return running_on(tails(x, v, offsets, number, number), x, v, offsets, number, reach)[0].tolist()


def test_a_path_runs_on_in_another_with_the_same_place_and_velocity():
    along = ([0.0, 0], [5.0, 0], 51)
    assert runs_on(along, ([0.0, 0.1], [10, 0.1], 101)) == [1, -1]
    assert runs_on(along, ([10.0, 0.1], [0, 0.1], 101)) == [-1, -1]  # the other way
    assert runs_on(along, ([4.8, -5.0], [4.8, 5], 101)) == [-1, -1]  # across
    assert runs_on(along, ([0.0, 0.1], [10, 0.1], 26)) == [-1, -1]  # four times as fast
    assert runs_on(along, ([0.0, 0.1], [5.0, 0.1], 51)) == [-1, -1]  # ends here too
    assert runs_on(along, ([0.0, 0.5], [10, 0.5], 101)) == [-1, -1]  # too far
    assert runs_on(along, ([5.0, 0.1], [10, 0.1], 51)) == [1, -1]  # torn in two
    assert runs_on(along, ([0.0, 0.15], [10, 0.15], 101), ([0.0, 0.05], [10, 0.05], 101))[0] == 2  # the nearest


def test_a_path_that_came_to_rest_where_another_begins_was_torn_at_a_corner():
    s = np.linspace(0, 1, 60)[:, None]
    rise, pace = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2
    for turn in ([0.0, 1.0], [-1.0, 0.5]):
        x = np.concatenate([rise * [1.0, 0.0], [1.0, 0.0] + rise * turn])
        v = np.concatenate([pace * [1.0, 0.0] + [0.1, 0.0], pace * turn + 0.1 * np.array(turn)])
        offsets, number = np.array([0, 60, 120]), np.arange(2)
        assert running_on(tails(x, v, offsets, number, number), x, v, offsets, number, 0.01)[0].tolist() == [1, -1]


def test_a_motion_that_swings_as_it_comes_to_rest_has_not_set_out_again():
    t = np.linspace(0, 8, 400)[:, None]
    for stiff in (4.0, 9.0):
        phase = stiff * t + [0.0, np.pi / 2]
        x = np.exp(-t) * np.cos(phase) * [1.0, 0.1]
        v = -np.exp(-t) * (np.cos(phase) + stiff * np.sin(phase)) * [1.0, 0.1]
        assert max(way_left(x[:k], v[:k]) for k in range(250, 400, 5)) < 0.3


@pytest.mark.parametrize(
    "scrap, expected, sure",
    [
        ([[2.0, 0.1], [2.2, 0.1], [2.4, 0.1]], 0, 0.98),  # along the first path
        ([[2.0, 4.9], [2.2, 4.9]], 1, 0.98),
        ([[2.0, 0.1], [2.0, 4.9]], None, 0.5),  # one sample on either: to any of them
        ([[2.0, 1.5], [2.2, 1.5]], 0, 0.7),  # between them
        ([[2.0, 0.0]], 0, 1.0),  # a single sample on a path
    ],
)
def test_a_scrap_belongs_to_the_nearest_group_as_surely_as_others_are_far(scrap, expected, sure):
    x = strands(([0.0, 0], [5.0, 0], 51), ([0.0, 5], [5.0, 5], 51))[0]
    path = np.repeat([0, 1], 51)
    scrap = np.array(scrap)
    for turn in (np.eye(2), np.array([[0.6, -0.8], [0.8, 0.6]])):  # no axis is special
        near = nearest_paths(scrap @ turn.T, x @ turn.T, path, path, 2)
        host, probability = belonging(np.zeros(len(scrap), dtype=int), *near)
        assert expected is None or host.tolist() == [expected]
        assert probability == pytest.approx([sure], abs=1e-9)
    alone = nearest_paths(scrap, x, path, 0 * path, 1)
    assert belonging(np.zeros(len(scrap), dtype=int), *alone)[1].tolist() == [1.0]  # of one group all are


def test_scraps_are_put_into_the_paths_they_lie_on():
    """They get labels, but there is no path more, and no end moves."""
    lines = ([0.0, 0], [5.0, 0], 51), ([0.0, 5], [5.0, 5], 51), ([4.9, 0.04], [5.1, 0.04], 3), ([2.0, 2], [2.1, 2], 2)
    x, _, offsets, _ = strands(*lines)
    nodes, left = _with_scraps(x, np.arange(len(x)), offsets, np.array([False, False, True, False]))
    assert left.tolist() == [0, 54, 105, 107] and sorted(nodes.tolist()) == list(range(len(x)))
    assert nodes[left[1:] - 1].tolist() == [50, 101, 106] and nodes[left[:-1]].tolist() == [0, 51, 105]
    assert nodes[48:54].tolist() == [48, 102, 49, 103, 104, 50]


def test_a_path_torn_in_a_pause_goes_on_where_it_stood():
    s = np.linspace(0, 1, 60)
    rise, slope = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2
    x = np.concatenate([np.outer(rise, [5.0, 0]), np.array([5, 0.02]) + np.outer(rise, [0, 5.0])])
    v = np.concatenate([np.outer(slope, [5.0, 0]), np.outer(slope, [0, 5.0])])
    offsets, number = np.array([0, 60, 120]), np.arange(2)
    found, _ = running_on(tails(x, v, offsets, number, number), x, v, offsets, number, 0.2)
    assert found.tolist() == [1, -1]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_which_path_runs_on_knows_no_unit_angle_or_order(seed):
    rng = np.random.default_rng(seed)
    lines = [(rng.normal(size=2), rng.normal(size=2), 60) for _ in range(6)]
    x, v, offsets, number = strands(*lines)
    angle, scale = rng.uniform(0, 6), 10 ** rng.uniform(-3, 3)
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    base = running_on(tails(x, v, offsets, number, number), x, v, offsets, number, 0.3)[0]
    x, v = x @ turn.T + scale, v @ turn.T
    moved = running_on(tails(x, v, offsets, number, number), x, v, offsets, number, 0.3 * scale)[0]
    np.testing.assert_array_equal(base, moved)
    order = rng.permutation(6)
    rows = np.concatenate([np.arange(60) + 60 * k for k in order])
    x, v = x[rows], v[rows]
    again = running_on(tails(x, v, offsets, number, order), x, v, offsets, order, 0.3 * scale)[0]
    np.testing.assert_array_equal(base[order], again)


def test_what_is_said_about_paths():
    graded = grade_paths(
        ends_of(PAIRS, [0.9] * 3 + [0.0] * 3, usable=[True] * 5 + [False], orbit=[True] + [False] * 5),
        extent=np.array([5.0, 5.0]), trusted_ends=True,
    )  # fmt: skip
    names = {c.name for c in graded.warnings}
    assert {"unassigned-samples", "ends-not-at-rest", "few-trajectories", "closed-orbit"} <= names
    np.testing.assert_allclose(np.sort(graded.arrived), [0.0, 1.0])
    assert graded.group[5] == -1
    with pytest.raises(DataError, match="found none"):
        grade_paths(ends_of(PAIRS, [0] * 6, usable=[False] * 6), extent=np.array([5.0, 5.0]), trusted_ends=True)
    with pytest.raises(DataError, match="closed orbits"):
        grade_paths(ends_of(PAIRS, [0] * 6, orbit=[True] * 6), extent=np.array([5.0, 5.0]), trusted_ends=True)


def test_remainders_are_no_trajectories():
    np.testing.assert_array_equal(whole_enough(np.array([1000, 900, 101, 89, 3])), [True, True, True, False, False])


# --- one time step for all ------------------------------------------------------------------------------


def asked(dt, n=200, seed=0):
    """Samples of many straight motions with their neighbours before and behind, `dt` each their own time step."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(n, 2))
    steps = np.arange(-3, 4)
    x = rng.normal(size=(n, 2))
    near = x[:, None] + steps[:, None] * (np.broadcast_to(dt, n)[:, None] * v)[:, None]
    distance = np.linalg.norm(near - x[:, None], axis=2)
    return x, v, near, np.repeat(v[:, None], 7, axis=1), distance


@pytest.mark.parametrize("dt", [1e-4, 0.01, 7.0])
def test_a_common_time_step_is_found_in_any_unit(dt):
    assert common_time_step(*asked(dt)) == pytest.approx(dt, rel=1e-9)


def test_the_mode_wins_over_a_few_others_and_nothing_comes_of_nothing():
    mixed = np.where(np.arange(200) % 10 == 0, 0.02, 0.01)
    assert common_time_step(*asked(mixed)) == pytest.approx(0.01, rel=1e-9)
    x, v, near, v_near, distance = asked(0.01)
    assert common_time_step(x, v, near, -v_near, distance) is None  # nobody moves on


def test_halfway_points_that_meet_beyond_doubt():
    """Exactly, far from any other, and claimed by one sample alone; one time step of 1, so that halves are added."""
    x = np.array([[0, 0], [1, 0], [10, 0], [11.04, 0], [20, 0], [21.1, 0], [30, 0], [31, 0.02], [31, -0.03], [40, 0]])
    x = np.vstack([x, [[41, 0], [40, 0.04]]])
    v = np.tile([1.0, 0.0], (len(x), 1))
    expected = np.full(len(x), -1)
    expected[[0, 2]] = 1, 3  # a tenth of a step is no meeting; 7 is not twice as near as 8; both 9 and 11 claim 10
    np.testing.assert_array_equal(halfway_links(x, v, 1.0, np.arange(len(x))), expected)
    order = np.random.default_rng(0).permutation(len(x))
    np.testing.assert_array_equal(halfway_links(x, v, 1.0, order), expected)
    assert is_common(90, 100) and not is_common(89, 100)


# --- canonical order ------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_canonical_order_has_no_trace_of_the_one_before(seed):
    """Paths in another order get the same groups in the same sequence."""
    rng = np.random.default_rng(seed)
    group = np.array([0, 0, 0, 1, 1, 2, -1])
    ends = np.array([[0.0, 0], [5, 1], [2, 8], [9, 9]])[group] + 0.01 * rng.normal(size=(7, 2))
    starts = ends + rng.normal(size=(7, 2))
    heads = rng.permutation(1000)[:7]
    renumbered, order = canonical_order(starts, ends, group, heads, 10.0)
    again = rng.permutation(7)
    names = rng.permutation(3)  # and the groups had other numbers
    other = np.where(group >= 0, names[group], -1)[again]
    renumbered_too, order_too = canonical_order(starts[again], ends[again], other, heads[again], 10.0)
    np.testing.assert_array_equal(heads[again][order_too], heads[order])
    np.testing.assert_array_equal(renumbered_too[order_too], renumbered[order])
    assert renumbered[6] == -1 and order[-1] == 6
    assert (np.diff(renumbered[order][:-1]) >= 0).all()
    centres = [ends[renumbered == q].mean(axis=0)[0] for q in range(3)]
    assert centres == sorted(centres)


def test_short_chains_beside_paths_get_their_label():
    demos = ew.systems.heart.sample(seed=4, frequency=20.0)
    rng = np.random.default_rng(1)
    start = rng.integers(0, demos.n_samples - 20, 4)
    x = np.concatenate([demos.x, *(demos.x[a : a + 6] + 1e-4 for a in start)])
    v = np.concatenate([demos.v, *(demos.v[a : a + 6] for a in start)])
    order = rng.permutation(len(x))
    found = ew.identify(x[order], v[order])
    labels = np.empty(len(x), dtype=int)
    labels[order] = found.labels
    alone = ew.identify(demos)
    assert found.n_attractors == alone.n_attractors and (labels >= 0).all()
    for k, a in enumerate(start):
        mine = labels[demos.n_samples + 6 * k : demos.n_samples + 6 * (k + 1)]
        assert (mine == labels[a]).all()
