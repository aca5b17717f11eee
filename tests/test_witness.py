"""Two witnesses: paths predicted from each other, and what the ends and the field say together."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import eigenwell as ew
from eigenwell.demonstrations import Demonstrations
from eigenwell.flow.witness import AFFINE, NOISES, agreed, by_two, nodes, of_one_field, one_field
from eigenwell.paths import TrajectoryGraph
from eigenwell.paths.ends import UNKNOWN, Reading


def spirals(count=12, seed=0, n=40):
    """Paths of v = A x, in a unit box and at unit speed."""
    rng = np.random.default_rng(seed)
    field = np.array([[-1.0, -2.0], [2.0, -1.0]])
    t = np.linspace(0, 1.5, n)
    turn = np.exp(-t)[:, None, None] * np.array(
        [[[np.cos(2 * s), -np.sin(2 * s)], [np.sin(2 * s), np.cos(2 * s)]] for s in t]
    )
    paths = [np.einsum("tij,j->ti", turn, x0) for x0 in rng.uniform(-0.5, 0.5, (count, 2))]
    pace = np.sqrt(np.mean(np.concatenate([(x @ field.T) ** 2 for x in paths]).sum(axis=1)))
    return [(x, x @ field.T / pace) for x in paths]


def test_what_is_left_out_is_predicted_as_if_it_had_not_been_there():
    """The closed form against a process fitted without each path, at the length and noise that were chosen."""
    paths = spirals(7)
    rng = np.random.default_rng(1)
    paths = [(x, v + 0.05 * rng.standard_normal(v.shape)) for x, v in paths]
    found = one_field(paths)
    x, v, block = nodes(paths)
    noises = []
    for noise in NOISES:  # the one that was chosen is the one whose inverse it holds
        covariance = _covariance(x, x, found.length) + noise * np.eye(len(x))
        if np.allclose(np.linalg.inv(covariance), found.inverse, rtol=1e-3, atol=1e-3 * np.abs(found.inverse).max()):
            noises.append(noise)
    (noise,) = noises
    missed = []
    for k in np.unique(block):
        out, rest = block == k, block != k
        weights = np.linalg.solve(_covariance(x[rest], x[rest], found.length) + noise * np.eye(rest.sum()), v[rest])
        missed.append(np.linalg.norm(v[out] - _covariance(x[out], x[rest], found.length) @ weights, axis=1))
    assert found.error == pytest.approx(np.median(np.concatenate(missed)), rel=1e-3)


def _covariance(a, b, length):
    square = ((a[:, None] - b) ** 2).sum(axis=2)
    h, g = (np.column_stack([np.ones(len(c)), c]) for c in (a, b))
    return np.exp(-square / (2 * length**2)) + AFFINE * h @ g.T


def test_a_field_is_known_between_its_paths_and_doubted_far_from_them():
    found = one_field(spirals())
    assert found.smooth
    at = np.random.default_rng(2).uniform(-0.3, 0.3, (50, 2))
    paths = spirals()
    velocity, variance = found(at)
    truth = np.linalg.lstsq(np.concatenate([x for x, _ in paths]), np.concatenate([v for _, v in paths]), rcond=None)[0]
    np.testing.assert_allclose(velocity, at @ truth, atol=0.02)
    assert np.median(found(at + 3.0)[1]) > 10 * np.median(variance)


@pytest.mark.parametrize(
    "demos, expected",
    [
        (ew.systems.duffing.sample(seed=0), True),
        (ew.systems.toggle_switch.sample(seed=1), True),
        (ew.datasets.pen_strokes(seed=0), False),
    ],
    ids=["duffing", "toggle", "pen strokes"],
)
def test_systems_are_one_field_and_ways_of_people_are_not(demos, expected):
    assert of_one_field(demos, ew.paths.TrajectoryGraph().build(demos).graph) is expected


def test_units_and_turns_do_not_matter_to_whether_it_is_one_field():
    demos = ew.systems.duffing.sample(seed=0)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for move in (np.diag([100.0, 1.0]), 1e-3 * np.eye(2), turn):
        moved = ew.Demonstrations(demos.x @ move.T + 5.0, 7.0 * demos.v @ move.T, offsets=demos.offsets)
        assert of_one_field(moved, ew.paths.TrajectoryGraph().build(moved).graph)


def test_fewer_paths_than_dimensions_predict_only_themselves():
    demos = ew.systems.duffing.sample(seed=0)
    two = ew.Demonstrations.from_trajectories([(x, v) for x, v in demos.trajectories()][:2])
    assert not of_one_field(two, ew.paths.TrajectoryGraph().build(two).graph)


# --- what both say ------------------------------------------------------------------------------------------


def says(ends, votes, number, sure=1.0):
    """Both witnesses, as far as `agreed` asks them."""
    field = SimpleNamespace(counts=votes, located=tuple(range(number)), confidence=votes[number] * sure)
    return agreed(ends, field)


def test_agreement_is_confidence_and_disagreement_is_doubt():
    assert says({2: 0.6, 3: 0.39}, {2: 1.0}, 2)[2] > 0.99
    assert says({3: 0.6, 2: 0.3}, {2: 1.0}, 2)[2] > 0.95
    against = says({3: 0.99}, {2: 1.0}, 2)
    assert max(against.values()) < 0.8
    assert sum(against.values()) == pytest.approx(1)


def test_what_a_witness_does_not_know_it_leaves_to_all_numbers():
    """A field that hardly knows anything changes next to nothing; the less it knows the less."""
    change = [abs(says({3: 0.7, 2: 0.3}, {2: 1.0}, 2, sure)[3] - 0.7) for sure in (0.0, 0.1, 0.5, 1.0)]
    assert change == sorted(change) and change[0] == pytest.approx(0, abs=1e-12)
    assert says({3: 0.0, 2: 0.0}, {2: 0.8, 3: 0.2}, 2)[2] == pytest.approx(0.8, abs=UNKNOWN)


def test_no_attractor_at_all_is_no_number_that_ends_can_have():
    assert 0 not in says({2: 0.7, 1: 0.2}, {0: 1.0}, 0)


def shuffled_toggle(seed=0):
    """Few paths that stop early, sampled at random times: the ends alone say too many."""
    rng = np.random.default_rng(seed)
    toggle = ew.systems.toggle_switch
    starts = rng.uniform(0, 3, (8, 2))
    states = ew.systems.integrate(toggle.field, starts, 0.01, 600)
    paths, label = [], []
    for k in range(8):
        x = states[np.sort(rng.choice(601, 120, replace=False)), k]
        paths.append((x, toggle.field(x)))
        label += [int(states[-1, k, 0] > states[-1, k, 1])] * 120
    order = rng.permutation(960)
    x, v = (np.concatenate([p[i] for p in paths])[order] for i in (0, 1))
    return x, v, np.array(label)[order]


def test_the_field_knows_better_where_unordered_paths_are_in_doubt():
    x, v, label = shuffled_toggle(seed=2)
    alone = ew.identify(x, v, graph=ew.SuccessorGraph())
    assert alone.n_attractors == 3 and alone.confidence < 0.9
    found = ew.identify(x, v)
    assert found.n_attractors == 2 and found.confidence > 0.9
    share = np.mean(found.labels == label)
    assert max(share, 1 - share) > 0.95


def test_trajectories_that_were_given_are_grouped_by_where_the_field_takes_them():
    demos = ew.systems.duffing.sample(seed=0)
    found = ew.paths.TrajectoryGraph().build(demos)
    one_each = replace(
        found,
        graph=replace(found.graph, group=np.arange(found.graph.n_paths)),
        grouping=replace(
            found.grouping,
            group=np.arange(found.graph.n_paths),
            probability=0.5,
            alternatives=(Reading(found.grouping.group, 0.4),),
        ),
    )
    both = by_two(demos, one_each)
    assert isinstance(both, ew.paths.PathFinding)
    assert both.grouping.n_groups == 2 and both.grouping.probability > 0.9
    np.testing.assert_array_equal(both.graph.labels, found.graph.labels)


def test_where_the_ends_are_sure_nothing_else_is_asked(monkeypatch):
    monkeypatch.setattr("eigenwell.flow.witness.of_one_field", lambda *_, **__: pytest.fail("asked"))
    assert ew.identify(ew.systems.heart.sample(seed=0)).n_attractors == 2


def towards_a_cycle(pull, starts, turns, seed=0):
    """Recordings of an oscillator that is drawn slowly to the unit circle, from so far inside or outside it."""
    rng = np.random.default_rng(seed)

    def field(x):
        return pull * x * (1 - (x**2).sum(axis=-1, keepdims=True)) + np.stack([-x[..., 1], x[..., 0]], axis=-1)

    angle, radius = rng.uniform(0, 2 * np.pi, 5), rng.uniform(*starts, 5)
    states = ew.systems.integrate(
        field, np.stack([np.cos(angle), np.sin(angle)], 1) * radius[:, None], 0.1, int(63 * turns)
    )
    return [(states[:, k], field(states[:, k])) for k in range(5)]


@pytest.mark.parametrize(
    "pull, starts, shuffled",
    [(0.02, (1.5, 3.0), False), (0.1, (0.2, 0.7), False), (0.2, (1.5, 3.0), False), (0.05, (0.3, 3.0), True)],
)
def test_what_winds_towards_a_cycle_does_not_wind_in(pull, starts, shuffled):
    """Ends that still turn are not bound for the middle for certain: after 2.4 turns that was one point at .99."""
    paths = towards_a_cycle(pull, starts, 2.4)
    x, v = ([p[i] for p in paths] for i in (0, 1))
    if shuffled:
        order = np.random.default_rng(0).permutation(sum(map(len, x)))
        x, v = np.concatenate(x)[order], np.concatenate(v)[order]
    found = ew.identify(x, v)
    assert found.kinds == ("cycle",) and found.confidence > 0.9 and (found.labels == 0).all()
    np.testing.assert_allclose(np.linalg.norm(found.located[0].curve, axis=1), 1, atol=0.05)
    assert found.located[0].period == pytest.approx(2 * np.pi, rel=0.05)


@pytest.mark.parametrize("pull, starts, seed", [(0.05, (0.3, 3.0), 2), (0.2, (0.2, 0.7), 1), (0.2, (1.5, 3.0), 0)])
def test_one_recording_that_turns_says_whether_it_winds_in(pull, starts, seed):
    """Its pieces are predicted from each other; the ends alone said a point, or refused it as a closed orbit."""
    found = ew.identify(*[[part] for part in towards_a_cycle(pull, starts, 2.4, seed)[0]])
    assert found.kinds == ("cycle",) and found.confidence > 0.9
    np.testing.assert_allclose(np.linalg.norm(found.located[0].curve, axis=1), 1, atol=0.1)


@pytest.mark.parametrize("decay", [0.04, 0.08])
def test_what_hardly_decays_winds_in(decay):
    """An oscillation that loses 4 % in a turn was refused as closed orbits."""
    t = np.arange(300) / 50
    z = [r * np.exp((2j * np.pi - decay) * t + 1j * r) for r in (0.7, 1.0, 1.2, 1.5)]
    x = [np.stack([one.real, one.imag], axis=1) for one in z]
    found = ew.identify(x, [np.gradient(one, 0.02, axis=0) for one in x])
    assert found.kinds == ("point",) and found.confidence > 0.9
    np.testing.assert_allclose(found.attractors, 0, atol=0.05)


def test_where_the_origin_is_makes_no_difference_to_one_field():
    demos = ew.systems.duffing.sample(seed=0)
    far = Demonstrations(demos.x + 1e6, demos.v, offsets=demos.offsets)
    said = [of_one_field(d, TrajectoryGraph().build(d).graph) for d in (demos, far)]
    assert said[0] and said[1]
