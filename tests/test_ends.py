"""Grouping of path ends: laws, clear cases, what each kind of end says, and how sure it is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage

import eigenwell as ew
from eigenwell.paths import group_ends
from eigenwell.paths.arrival import Block, grain
from eigenwell.paths.ends import Ends
from eigenwell.paths.evidence import Cut, EndsModel
from eigenwell.paths.spanning import edges, spanning_tree


def partition(group):
    return {frozenset(np.flatnonzero(group == q)) for q in np.unique(group)}


def measured(place, extent, way, lost):
    """Ends of paths that do not say where they are bound for."""
    return Ends(place, extent, way, lost, np.zeros_like(place), np.full(len(place), np.inf), np.zeros(place.shape[1]))


def ends_of(place, extent=1.0, way=0.0, lost=0.002):
    """Ends in a box of this extent: all at rest, and hardly ever lost."""
    place = np.asarray(place, dtype=float)
    k, d = place.shape
    return measured(place, np.broadcast_to(extent, (d,)).astype(float), np.full(k, way), np.broadcast_to(lost, (k,)))


def clusters(rng, centres, each, scatter):
    centres = np.asarray(centres, dtype=float)
    return np.repeat(centres, each, axis=0) + scatter * rng.standard_normal((each * len(centres), centres.shape[1]))


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4])
@pytest.mark.parametrize("each", [2, 3, 6])
@pytest.mark.parametrize("scatter", [0.0, 0.003, 0.01])
def test_separate_clusters_are_found(n_groups, each, scatter):
    corners = [[0, 0], [1, 0], [0, 1], [1.1, 1.2]][:n_groups]
    found = group_ends(ends_of(clusters(np.random.default_rng(1), corners, each, scatter), 2.0))
    assert partition(found.group) == {frozenset(range(q * each, (q + 1) * each)) for q in range(n_groups)}
    assert (found.membership > 0.9).all()


def test_two_close_attractors_are_told_apart():
    ends = clusters(np.random.default_rng(0), [[0, 0], [0.08, 0]], 3, 0.004)
    assert group_ends(ends_of(ends, 1.2)).n_groups == 2


# --- what an end says -----------------------------------------------------------------------------------


@pytest.mark.parametrize("each", [6, 50, 200, 700])
@pytest.mark.parametrize("radius", [1e-5, 0.007, 0.05])
def test_a_ring_of_paths_on_their_way_is_one_goal(each, radius):
    """Stopped at the same distance from it on all sides, and knowing so."""
    rng = np.random.default_rng(each)
    angle = rng.uniform(0, 2 * np.pi, (2, each, 1))
    ring = np.array([[[0.0, 0.0]], [[0.9, 0.1]]]) + radius * np.concatenate([np.cos(angle), np.sin(angle)], axis=2)
    found = group_ends(ends_of(ring.reshape(-1, 2), 1.7, way=radius / 1.7))
    assert found.n_groups == 2 and found.probability > 0.9
    assert partition(found.group) == {frozenset(range(each)), frozenset(range(each, 2 * each))}


def test_two_stragglers_are_no_goal():
    ends = clusters(np.random.default_rng(0), [[0, 0], [1, 0]], 12, 1e-6)
    ends[0] += [1e-3, 0]
    ends[13] -= [0, 1e-3]
    way = np.full(24, 1e-6)
    way[[0, 13]] = 1e-3
    found = group_ends(measured(ends, np.array([1.5, 1.0]), way, np.full(24, 1e-3)))
    assert found.n_groups == 2 and found.probability > 0.9


def test_pens_lifted_in_motion_right_at_the_goal_say_where_it_is():
    """The ends of each goal agree to a hundredth of the way that their speeds leave."""
    ends = clusters(np.random.default_rng(0), [[0, 0], [0.2, 0], [0, 0.2]], 6, 0.0005)
    found = group_ends(ends_of(ends, 1.0, way=0.1))
    assert found.n_groups == 3 and found.probability > 0.5


def test_an_end_that_nobody_shares_is_a_goal_or_lost():
    ends = np.concatenate([clusters(np.random.default_rng(0), [[0, 0], [1, 0]], 6, 0.01), [[0.5, 0.9]]])
    at_rest = group_ends(ends_of(ends, 1.2, lost=0.001))
    assert at_rest.n_groups == 3 and at_rest.probability < 0.98
    lost = np.full(13, 0.001)
    lost[12] = 0.9
    broken = group_ends(ends_of(ends, 1.2, lost=lost))
    assert broken.n_groups == 2 and broken.group[12] == -1


def test_goals_reached_once_each_are_never_sure():
    corners = np.random.default_rng(0).uniform(-1, 1, (9, 2))
    assert group_ends(ends_of(corners, 2.0)).probability < 0.5
    assert group_ends(ends_of(corners[:1], 2.0)).probability < 0.9


@pytest.mark.parametrize("count", [5, 7, 12])
def test_ends_in_a_row_are_goals_reached_once_each_or_one_along_a_line(count):
    place = np.stack([np.linspace(0, 1.5, count), np.zeros(count)], axis=1)
    place = place + 0.008 * np.random.default_rng(count).standard_normal(place.shape)
    assert group_ends(ends_of(place, [2.0, 1.5])).probability < 0.9


@pytest.mark.parametrize("seed", range(4))
def test_an_end_is_left_out_only_beyond_doubt(seed):
    """Ends of one goal, in a quarter of which the pen is thought to have been lifted in a pause; and one that is far away."""
    ends = clusters(np.random.default_rng(seed), [[0, 0]], 5, 0.05)
    near = group_ends(ends_of(ends, 1.0, lost=0.25))
    assert near.n_groups == 1 and (near.group == 0).all()
    away = group_ends(ends_of(np.append(0.1 * ends, [[0.5, 0.5]], axis=0), 1.0, lost=np.append(np.full(5, 0.01), 0.99)))
    assert away.n_groups == 1 and away.group[5] == -1


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("goals", [1, 2])
def test_ends_along_a_line_are_as_many_goals_in_any_direction(d, goals):
    """Twenty times as long as wide, along a coordinate and across."""
    rng = np.random.default_rng(d + goals)
    along = np.repeat(0.5 * np.eye(d)[:goals], 8, axis=0) + 0.003 * rng.standard_normal((8 * goals, d)) * (
        [20] + [1] * (d - 1)
    )
    for seed in range(4):
        turn = np.eye(d) if seed == 0 else np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
        assert group_ends(ends_of(along @ turn, 1.0)).n_groups == goals


# --- laws -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
@settings(deadline=None)
def test_grouping_does_not_depend_on_order_place_or_units(seed, k):
    """Units of every column may change on their own."""
    rng = np.random.default_rng(seed)
    place, way, lost = rng.normal(size=(k, 2)), 10 ** rng.uniform(-4, -1, k), rng.uniform(0.001, 0.3, k)
    base = group_ends(measured(place, np.array([4.0, 4.0]), way, lost))
    order, unit = rng.permutation(k), 10 ** rng.uniform(-3, 3, 2)
    moved = group_ends(measured(unit * (place[order] + [3, -7]), 4 * unit, way[order], lost[order]))
    assert moved.n_groups == base.n_groups
    assert moved.probability == pytest.approx(base.probability, rel=1e-6, abs=1e-9)


def test_any_threshold_in_the_stated_range_gives_the_same_groups():
    ends = clusters(np.random.default_rng(3), [[0, 0], [1, 0], [0, 1]], 4, 0.01)
    found = group_ends(ends_of(ends, 1.0))
    distance = np.linalg.norm(ends[:, None] - ends, axis=2)
    for threshold in np.geomspace(found.low * 1.01, found.high * 0.99, 5):
        reach = distance <= threshold
        for _ in range(len(ends)):
            reach = (reach.astype(int) @ reach.astype(int)) > 0
        assert partition(found.group) == {frozenset(np.flatnonzero(row)) for row in reach}


def test_confidence_falls_as_clusters_blur():
    rng = np.random.default_rng(0)
    sure = [group_ends(ends_of(clusters(rng, [[0, 0], [1, 0]], 4, s), 1.5)).probability for s in (0.001, 0.05, 0.2)]
    assert sure[0] > sure[2] and sure[0] > 0.95


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 4), st.booleans())
@settings(deadline=None)
def test_the_spanning_tree_merges_at_the_heights_of_single_linkage(seed, k, d, on_a_grid):
    """On a grid many distances are equal and some are zero."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (k, d)).astype(float) if on_a_grid else rng.normal(size=(k, d))
    pairs, length = spanning_tree(points)
    np.testing.assert_allclose(length, linkage(points, "single")[:, 2], atol=1e-12)
    np.testing.assert_allclose(length, np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1))
    assert len(pairs) == k - 1


@pytest.mark.parametrize("each", [124, 126, 600])
def test_the_number_of_recordings_changes_nothing(each):
    """Two goals .36 apart with ends spread by .06: below and above every limit of the search."""
    ends = clusters(np.random.default_rng(each), [[-0.36, 0], [0.36, 0]], each, 0.06)
    found = group_ends(ends_of(ends, 2.4))
    assert found.n_groups == 2 and found.probability > 0.9


@pytest.mark.slow
def test_thousands_of_ends_are_grouped():
    rng = np.random.default_rng(0)
    centres = rng.permutation(np.stack(np.meshgrid(np.arange(10.0), np.arange(6.0)), axis=-1).reshape(-1, 2))
    found = group_ends(ends_of(clusters(rng, centres, 50, 0.01), [9.0, 5.0]))
    assert found.n_groups == 60
    assert (found.group.reshape(60, 50) == np.arange(60)[:, None]).all()


# --- recordings -----------------------------------------------------------------------------------------


def test_a_near_pair_is_told_apart_beside_a_far_goal():
    """30 mm apart with a spread of 2 mm, and a third goal 300 mm away."""
    centres = [[0, 0, 0], [30, 0, 0], [0, 300, 0]]
    for seed in range(10):
        ends = clusters(np.random.default_rng(seed), centres, 6, 2.0)
        assert group_ends(ends_of(ends, 500.0)).n_groups == 3


@pytest.mark.parametrize("each", [3, 4])
def test_bins_on_shelves_are_found_at_their_own_scale(each):
    bins = [[60 * i, 0, 400 * shelf] for shelf in (0, 1) for i in range(3)]
    for seed in range(5):
        found = group_ends(ends_of(clusters(np.random.default_rng(seed), bins, each, 2.0), [620.0, 500.0, 900.0]))
        assert partition(found.group) == {frozenset(range(each * q, each * q + each)) for q in range(6)}


@pytest.mark.parametrize("k", [2, 7, 40])
def test_edges_are_those_of_a_minimum_spanning_tree(k):
    for rounded in (False, True):  # rounded: many of one length, some of none
        place = np.random.default_rng(k).uniform(0, 4, (k, 3))
        place = np.round(place) if rounded else place
        pairs, length = edges(place)
        np.testing.assert_allclose(np.linalg.norm(np.diff(place[pairs], axis=1)[:, 0], axis=1), length)
        np.testing.assert_allclose(np.sort(length), spanning_tree(place)[1])


def reached(goals, each, scatter, rng, idle=0):
    """Recordings (x, v) that go to each goal some times, with columns besides in which a hand only wobbles."""
    s = np.linspace(0, 1, 80)[:, None]
    rise = s**3 * (10 - 15 * s + 6 * s * s)
    out = []
    for goal in np.repeat(goals, each, axis=0):
        start = np.append(rng.uniform(-1, 1, len(goal)), 0.02 * rng.standard_normal(idle))
        end = np.append(goal + scatter * rng.standard_normal(len(goal)), 0.02 * rng.standard_normal(idle))
        x = start + (end - start) * rise
        out.append((x, np.gradient(x, 0.02, axis=0)))
    return out


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("count", [2, 4])
def test_goals_in_a_row_are_goals_in_any_dimension(d, count):
    """They differ in one coordinate, and share the others."""
    for seed in range(3):
        row = np.linspace(-0.8, 0.8, count)[:, None] * np.eye(d)[0]
        found = ew.identify(reached(row, 4, 0.01, np.random.default_rng(seed)))
        assert found.n_attractors == count


@pytest.mark.parametrize("idle", [1, 3])
def test_columns_that_only_wobble_tell_nothing_of_goals(idle):
    """A tool that is kept upright by hand: three coordinates move, the others do not."""
    goals = np.array([[0.5, 0.4, -0.3], [-0.4, 0.3, 0.6], [-0.2, -0.6, 0.1]])
    for seed in range(4):
        found = ew.identify(reached(goals, 6, 0.01, np.random.default_rng(seed), idle))
        assert found.n_attractors == 3


def test_a_column_that_no_recording_moves_in_tells_nothing_of_goals():
    """What a tool weighs: as good as left out."""
    goals = np.array([[0.5, 0.4], [-0.4, 0.3]])
    for seed in range(4):
        rng = np.random.default_rng(seed)
        paths = reached(goals, 6, 0.01, rng)
        weights = rng.choice(3, len(paths))
        with_weight = [
            (np.c_[x, np.full(len(x), w)], np.c_[v, np.zeros(len(x))]) for (x, v), w in zip(paths, weights, strict=True)
        ]
        assert ew.identify(with_weight).n_attractors == 2


@pytest.mark.parametrize("ratio", [1, 10])
def test_ends_along_a_line_are_one_goal(ratio):
    """Handed over anywhere along a table's edge."""
    wrong = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        ends = 0.01 * rng.standard_normal((8, 3)) * [ratio, 1, 1]
        paths = [reached(end[None], 1, 0.0, rng)[0] for end in ends]
        wrong.append(ew.identify(paths).n_attractors != 1)
    assert sum(wrong) == 0


def test_four_loose_ends_are_one_goal():
    found = [group_ends(ends_of(clusters(np.random.default_rng(s), [[0, 0]], 4, 0.04))).n_groups for s in range(20)]
    assert np.mean(np.array(found) == 1) >= 0.9


def test_confidence_falls_as_two_goals_come_together():
    shape = clusters(np.random.default_rng(5), [[0, 0, 0], [0, 0, 0], [0, 300, 0]], 6, 2.0)
    confidence = []
    for distance in (60, 30, 20, 15, 12, 6):
        ends = shape + np.repeat([[0, 0, 0], [distance, 0, 0], [0, 0, 0]], 6, axis=0)
        found = group_ends(ends_of(ends, 500.0))
        readings = {found.n_groups: found.probability} | {r.n_groups: r.probability for r in found.alternatives}
        confidence.append(readings.get(3, 0.0))
    assert all(a > b - 0.02 for a, b in zip(confidence[:-1], confidence[1:], strict=True))
    assert confidence[-1] < confidence[0] - 0.1


def test_the_alternatives_are_other_numbers_and_their_probabilities_add_up():
    ends = np.array([[0, 0], [0.03, 0.01], [0.18, 0.02], [0.2, -0.02]])
    found = group_ends(ends_of(ends))
    numbers = [found.n_groups, *(r.n_groups for r in found.alternatives)]
    assert {1, 2} <= set(numbers) and len(set(numbers)) == len(numbers)
    total = found.probability + sum(r.probability for r in found.alternatives)
    assert 0.7 < total <= 0.99 + 1e-12
    assert all(found.probability >= r.probability for r in found.alternatives)


@pytest.mark.parametrize("n_groups", range(1, 9))
def test_the_number_may_be_given(n_groups):
    ends = np.random.default_rng(n_groups).normal(size=(8, 2))
    assert group_ends(ends_of(ends, 3.0), n_groups).n_groups == n_groups


# --- brute force ----------------------------------------------------------------------------------------


def all_partitions(k):
    """Every set partition of k things, as labels by first appearance."""
    if k == 0:
        yield ()
        return
    for rest in all_partitions(k - 1):
        for label in range(max(rest, default=-1) + 2):
            yield (*rest, label)


def score(model, group):
    """log p of a partition with nothing lost, group by group from the sums of its own ends."""
    moments = model.moments()
    members = sorted((np.flatnonzero(group == q) for q in range(group.max() + 1)), key=len, reverse=True)
    of_groups = np.array([moments[m].sum(axis=0) for m in members])
    log_p = model.groups(of_groups)
    size = np.array([len(m) for m in members])
    centres = np.array([model.place[m].mean(axis=0) for m in members])
    with np.errstate(divide="ignore"):
        lost = np.log(np.zeros((size == 1).sum()))
    return model.readings(Cut(log_p, of_groups, size, centres, np.zeros(len(size)), lost))[0]


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
def test_the_trees_propose_the_best_of_all_partitions(seed):
    """Brute force over the 877 partitions of seven ends of two or three goals."""
    rng = np.random.default_rng(seed)
    place = (rng.uniform(-0.5, 0.5, (3, 2))[rng.integers(0, 3, 7)]) + 0.03 * rng.standard_normal((7, 2))
    found = group_ends(ends_of(place, 1.0, lost=1e-9))
    model = EndsModel(
        ends_of(place).scaled, np.zeros(7), np.zeros(7), np.zeros((7, 2)), np.full(7, np.inf), np.zeros(2)
    )
    scores = {p: score(model, np.array(p)) for p in all_partitions(7)}
    mine = max((p for p in scores if max(p) + 1 == found.n_groups), key=scores.get)
    assert partition(found.group) == partition(np.array(mine))
    assert max(max(scores, key=scores.get)) + 1 == found.n_groups


@pytest.mark.parametrize("d", [1, 2, 3])
def test_one_group_is_the_integral_over_its_centre(d):
    """The closed form against a sum over a fine grid of centres, coordinate by coordinate."""
    rng = np.random.default_rng(d)
    place, way = 0.02 * rng.standard_normal((5, d)), rng.uniform(0.001, 0.03, 5)
    ahead, error = 0.01 * rng.standard_normal((5, d)), way / 3
    model = EndsModel(place, way, np.zeros(5), ahead, error, np.zeros(d))
    log_p = model.groups(model.moments().sum(axis=0)[None])[0]
    centre = np.linspace(-0.5, 0.5, 20_001)
    for s, octave in enumerate(range(-13, 1)):
        for component, (seen, miss) in {0: (place, way), 2: (place + ahead, error)}.items():
            variance = 4.0**octave + min(1, 2 / d) * miss**2
            # A spread as wide as the box leaves the centre anywhere in it, and no wider.
            if 2 * np.pi / (1 / variance).sum() >= 1:
                mean = np.average(seen, axis=0, weights=1 / variance)
                square = (seen - mean) ** 2 / variance[:, None] + np.log(2 * np.pi * variance)[:, None]
                np.testing.assert_allclose(log_p[component, s], -square.sum(axis=0) / 2)
            if not -12 < octave < -4:
                continue  # wider than the box, or finer than the sum
            for j in range(d):
                square = (seen[:, j] - centre[:, None]) ** 2 / variance + np.log(2 * np.pi * variance)
                density = np.exp(-square.sum(axis=1) / 2)
                wanted = np.log(density.sum() * (centre[1] - centre[0]))
                assert log_p[component, s, j] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_layout_of_two_goals_is_its_mixture(d):
    """Anywhere, at a distance that is log-uniform, or each coordinate the other's or not; and hardly within five spreads."""
    spread, sphere = 0.01, {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}[d]
    model = EndsModel(np.zeros((1, d)), *np.zeros((2, 1)), np.zeros((1, d)), np.full(1, np.inf), np.zeros(d))
    worth = {}
    for gap in (0.03, 0.1, 0.4):
        for way in ("row", "slant"):
            off = gap * (np.eye(d)[0] if way == "row" else np.ones(d) / np.sqrt(d))
            near = 1 / (sphere * gap**d * np.log(1 / spread))
            variance = spread**2 * (1 / 4 + 1 / 9)
            alike = np.prod((1 + np.exp(-(off**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)) / 2)
            wanted = np.log((0.5 + 0.25 * near + 0.25 * alike) / (1 + (5 * spread / gap) ** 8))
            worth[gap, way] = model._layout(np.array([0 * off, off]), np.array([4, 9]), np.array([spread]), 0.0)[1, 0]
            assert worth[gap, way] == pytest.approx(wanted)
    assert d == 1 or all(worth[gap, "row"] > worth[gap, "slant"] for gap in (0.1, 0.4))


def test_ends_of_one_goal_that_were_rounded_to_neighbouring_pixels_are_one():
    pixel = 1 / 500
    place = np.array([[0.3, 0.2]] * 4 + [[0.3 + pixel, 0.2]] * 2 + [[0.8, 0.9]] * 6)
    sharp = ends_of(place)
    assert group_ends(sharp).n_groups == 3  # places that were not rounded would say so
    rounded = group_ends(replace(sharp, grain=np.array([pixel, pixel])))
    assert rounded.n_groups == 2 and rounded.probability > 0.9


def test_what_places_were_rounded_to_is_seen_along_paths():
    t = np.linspace(0, 5, 200)[:, None]
    x = np.hstack([np.exp(-t), 2 * np.exp(-2 * t), 0 * t])
    extent, one = np.array([1.0, 2.0, 1.0]), np.array([0])

    def seen(x):
        return grain(Block(np.vstack([x, x]), np.vstack([x, x]), np.array([0, 200, 400]), np.array([0, 1])), extent)

    coarse = seen(np.round(100 * x) / 100 + 7.0)
    np.testing.assert_allclose(coarse[:, :2], 0.01)
    assert np.isinf(coarse[:, 2]).all()  # a column that never changes
    assert (seen(x)[one, :2] < 1e-3).all()


@pytest.mark.parametrize("d", [2, 6, 12])
def test_tight_goals_in_many_dimensions_have_no_ends_to_spare(d):
    """Ends that scatter in a plane alone: in twelve dimensions, none of them is lost for being nearer to its goal than others."""
    rng = np.random.default_rng(d)
    flat = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    place = np.repeat([[0.0, 0.0], [0.9, 0.0]], 8, axis=0) @ flat + 5e-4 * rng.standard_normal((16, 2)) @ flat
    found = group_ends(ends_of(place, way=0.002, lost=1 / 256))
    assert found.n_groups == 2 and (found.group >= 0).all() and found.probability > 0.85
