"""Path recovery: every successor on clean data, whole paths across noise, gaps, corners and different rates."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from eigenwell import datasets, identify, systems
from eigenwell.demonstrations import Demonstrations
from eigenwell.paths import SuccessorGraph, TrajectoryGraph
from eigenwell.paths.fragments import most_likely
from eigenwell.paths.kinematics import estimate, halfway_meeting


def shuffled(demos, seed=0):
    """Samples in random order, and where each came from."""
    order = np.random.default_rng(seed).permutation(demos.n_samples)
    return demos.take(order), order


def true_trajectory(demos, order):
    return np.repeat(np.arange(demos.n_trajectories), np.diff(demos.offsets))[order]


@pytest.mark.parametrize("system", systems.all_systems, ids=lambda s: s.name)
def test_every_successor_of_a_clean_system_is_recovered(system):
    demos = system.sample(seed=2)
    samples, order = shuffled(demos)
    chains, _ = halfway_meeting(samples.x, samples.v, cKDTree(samples.x))
    a, b = chains.lagged(1)
    np.testing.assert_array_equal(order[b], order[a] + 1)
    assert chains.n_chains == demos.n_trajectories


def rest_to_rest(s):
    return s**3 * (10 - 15 * s + 6 * s**2)


def slope(s):
    return 30 * s**2 - 60 * s**3 + 30 * s**4


def strokes(rates, noise=0.0, corner=False, gap=False, seed=0):
    """Two bundles that cross at right angles, each trajectory at its own rate, optionally with a full stop on the way."""
    rng = np.random.default_rng(seed)
    xs, vs, labels = [], [], []
    for k, rate in enumerate(rates):
        t = np.arange(0, 2, 1 / rate)
        s = t / t[-1]
        rise, rate_of_rise = rest_to_rest(s), slope(s) / t[-1]
        if corner:  # along x to (1, k), a stop there, then along y
            first = np.clip(2 * s, 0, 1)
            second = np.clip(2 * s - 1, 0, 1)
            x = np.column_stack([rest_to_rest(first) + 0.02 * k, rest_to_rest(second) + 0.02 * k])
            v = np.column_stack([slope(first), slope(second)]) * 2 / t[-1]
        else:
            line = np.column_stack([2 * rise - 1, 0.05 * (k % 3) * np.sin(np.pi * rise)])
            v_line = np.column_stack([2 * rate_of_rise, 0.05 * (k % 3) * np.pi * np.cos(np.pi * rise) * rate_of_rise])
            turn = np.array([[0.0, -1.0], [1.0, 0.0]]) if k >= len(rates) // 2 else np.eye(2)
            x, v = line @ turn.T, v_line @ turn.T
        keep = np.ones(len(x), dtype=bool)
        if gap:
            hole = len(x) // 3
            keep[hole : hole + 4] = False
        step = np.median(np.linalg.norm(np.diff(x, axis=0), axis=1))
        x = x + noise * step * rng.standard_normal(x.shape)
        v = v + noise * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)
        xs.append(x[keep])
        vs.append(v[keep])
        labels.append(np.full(keep.sum(), int(k >= len(rates) // 2)))
    demos = Demonstrations.from_trajectories(xs, vs)
    return demos.with_truth(np.concatenate(labels).astype(np.intp), np.zeros((2, 2)))


CASES = {
    "one rate": {"rates": [100] * 6},
    "six rates": {"rates": [60, 75, 90, 110, 130, 170]},
    "noise of a tenth of a step": {"rates": [100] * 6, "noise": 0.1},
    "gaps of four samples": {"rates": [100] * 6, "gap": True},
    "a full stop in a corner": {"rates": [100] * 6, "corner": True},
    "a full stop in a corner, noisy": {"rates": [100] * 6, "corner": True, "noise": 0.1},
}


@pytest.mark.parametrize("case", CASES)
def test_whole_paths_are_recovered(case):
    demos = strokes(**CASES[case])
    samples, order = shuffled(demos)
    graph = SuccessorGraph().build(samples).graph
    whole = [k for k in range(graph.n_paths) if graph.group[k] >= 0]
    assert len(whole) == demos.n_trajectories

    def purity(owner):
        return [np.bincount(owner[graph.path(k)]).max() / len(graph.path(k)) for k in whole]

    assert min(purity(samples.truth.labels)) > 0.98
    # Trajectories of one bundle meet at its end, where noise makes them one.
    if "nois" not in case:
        assert np.mean(purity(true_trajectory(demos, order))) > 0.9
    assert (graph.labels < 0).mean() < 0.01


def test_kinematics_measure_the_noise_that_was_added():
    demos = strokes([100] * 6, noise=0.1)
    samples, _ = shuffled(demos)
    assert halfway_meeting(samples.x, samples.v, cKDTree(samples.x)) is None
    chains, kin = most_likely(samples.x, samples.v, cKDTree(samples.x))
    assert kin.is_noisy()
    np.testing.assert_allclose(kin.dt[np.linalg.norm(samples.v, axis=1) > 0.5], 0.01, rtol=0.1)
    step = np.median(
        np.concatenate([np.linalg.norm(np.diff(x, axis=0), axis=1) for x, _ in strokes([100] * 6).trajectories()])
    )
    assert 0.06 * step < kin.noise_x < 0.14 * step
    assert estimate(samples.x, samples.v, chains).step == pytest.approx(kin.step)


@pytest.mark.parametrize("labels", [list("aabb"), ["a", "b", "b", ""], [-1, 0, 0, 1]])
def test_a_label_of_a_copy_is_kept(labels):
    x = np.exp(-np.linspace(0, 5, 100)[:, None]) * [1.0, 2.0]
    found = identify([x] * 4, dt=0.05, labels=labels)
    of = found.labels.reshape(4, 100)
    assert (of == of[:, :1]).all() and found.n_attractors == 2
    given = np.array(labels)
    assert ((of[:, 0] < 0) == np.isin(given, ["", "-1"] if given.dtype.kind == "U" else [-1])).all()
    known = of[:, 0] >= 0
    assert (np.equal.outer(of[known, 0], of[known, 0]) == (given[known][:, None] == given[known])).all()


def test_repeated_samples_follow_the_one_they_repeat():
    demos = systems.heart.sample(seed=0)
    x, v = np.vstack([demos.x, demos.x[100:140]]), np.vstack([demos.v, demos.v[100:140]])
    found = SuccessorGraph().build(Demonstrations.of(x, v))
    labels = found.graph.labels
    np.testing.assert_array_equal(labels[6006:], labels[100:140])
    assert (labels >= 0).all()


def test_known_trajectories_keep_their_order():
    demos = datasets.pen_strokes(0)
    graph = TrajectoryGraph().build(demos).graph
    np.testing.assert_array_equal(graph.nodes, np.arange(demos.n_samples))
    np.testing.assert_array_equal(graph.offsets, demos.offsets)


@pytest.mark.lasa
@pytest.mark.parametrize(("noise", "drop"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.1)])
def test_composites_of_crossing_bundles(noise, drop):
    demos = datasets.composite(3, every=2, noise=noise, drop=drop)
    graph = SuccessorGraph().build(demos).graph
    for q in range(len(demos.truth.attractors)):
        members = demos.truth.labels == q
        assert np.bincount(graph.labels[members] + 1).max() > 0.99 * members.sum()


@pytest.mark.parametrize("seed", [30, 31, 33])
def test_pen_strokes_that_took_turns_are_put_together(seed):
    """Uneven pen events split a stroke into chains that overlap; a short chain beside them must not take a half's place."""
    samples = datasets.pen_strokes(seed=seed).shuffled(seed)
    found = SuccessorGraph().build(samples)
    truth = samples.truth.labels
    assert found.grouping.n_groups == truth.max() + 1
    for q in range(found.grouping.n_groups):
        assert len(np.unique(truth[found.graph.labels == q])) == 1
    assert (found.graph.labels >= 0).all()
