"""Recordings that are unlike the others, and what the user already knows."""

import numpy as np
import pytest

import eigenwell as ew
from eigenwell.demonstrations import Demonstrations
from eigenwell.errors import DataError
from eigenwell.paths.beside import repeated

GOALS = np.array([[0.0, 0.0], [300.0, 0.0], [0.0, 300.0]])


def rise(s):
    return (s**3 * (10 - 15 * s + 6 * s**2))[:, None]


def reaches(seed, goals=GOALS, each=5, spread=2.0):
    """Minimum-jerk reaches with a rest at both ends; recording k goes to goal k // each."""
    rng = np.random.default_rng(seed)
    s = np.clip(np.linspace(-0.1, 1.1, 90), 0, 1)
    out = []
    for goal in np.repeat(goals, each, axis=0):
        start, end = rng.uniform(-200, 500, 2), goal + spread * rng.standard_normal(2)
        out.append(start + rise(s) * (end - start))
    return out


def kinds(found):
    return {(o.number, o.kind, o.left_out) for o in found.odd}


def test_nothing_is_odd_about_recordings_that_are_alike():
    found = ew.identify(reaches(0), dt=0.01)
    assert found.n_attractors == 3 and found.odd == ()


def test_recordings_that_break_off_are_named_and_left_out():
    paths = reaches(1)
    paths[3], paths[11] = paths[3][:45], paths[11][:40]
    names = [f"demo_{k}.csv" for k in range(len(paths))]
    found = ew.identify(Demonstrations.from_trajectories(paths, dt=0.01, names=names))
    assert found.n_attractors == 3
    assert kinds(found) == {(3, "breaks off", True), (11, "breaks off", True)}
    caution = next(c for c in found.warnings if c.name == "recording-breaks-off")
    assert "Recording 3 (demo_3.csv) breaks off" in caution.message and "demo_11.csv" in caution.message
    offsets = found.demos.offsets
    assert (found.labels[offsets[3] : offsets[4]] == -1).all()


def test_a_recording_that_stops_short_in_motion_at_its_goal_still_counts():
    paths = reaches(2)
    paths[4] = paths[4][:74]  # a few millimetres before it comes to rest
    found = ew.identify(paths, dt=0.01)
    assert found.n_attractors == 3 and (found.labels >= 0).all()


def test_a_recording_that_runs_backwards_is_named():
    paths = reaches(3)
    paths[7] = paths[7][::-1]
    found = ew.identify(paths, dt=0.01)
    assert found.n_attractors == 3 and kinds(found) == {(7, "runs backwards", True)}


@pytest.mark.parametrize("seed", range(4))
def test_where_starts_lie_anywhere_one_from_a_goal_to_another_is_not_said_to_run_backwards(seed):
    rng, goals = np.random.default_rng(seed), np.array([[30.0, 30.0], [70.0, 70.0]])
    time = np.linspace(0, 1, 60)[:, None]
    share = time**3 * (10 - 15 * time + 6 * time**2)
    ways = [(start, goals[int(k % 3 == 0)]) for k, start in enumerate(rng.uniform(0, 100, (15, 2)))]
    ways += [(goals[0] + rng.uniform(-4, 4, 2), goals[0]) for _ in range(3)]
    ways.append((goals[0] + 1, np.array([60.0, 20.0])))
    found = ew.identify([a + share * (b + rng.normal(0, 0.3, 2) - a) for a, b in ways], dt=0.02)
    assert found.n_attractors == 3 or found.alternatives[0].n_attractors == 3
    said = {o.what for o in found.odd}
    assert not any("backwards" in what or "pause" in what for what in said)


def test_a_recording_that_repeats_another_counts_once_and_shares_its_label():
    paths = reaches(4)
    paths.append(paths[2].copy())
    found = ew.identify(paths, dt=0.01)
    assert kinds(found) == {(15, "repeats another", True)}
    offsets = found.demos.offsets
    assert found.labels[offsets[15]] == found.labels[offsets[2]] >= 0


def test_one_recording_handed_in_five_times_is_as_sure_as_once():
    path = reaches(4)[0]
    once, often = ew.identify([path], dt=0.01), ew.identify([path] * 5, dt=0.01)
    assert often.n_attractors == once.n_attractors == 1
    assert often.confidence == pytest.approx(once.confidence) and often.confidence < 0.9


def test_a_recording_that_ends_alone_is_named_and_kept():
    found = ew.identify([*reaches(5), *reaches(6, np.array([[600.0, 600.0]]), each=1)], dt=0.01)
    assert found.n_attractors == 4 and kinds(found) == {(15, "ends alone", False)}


def test_out_and_back_is_not_odd():
    there = reaches(7, each=4)[:8]
    back = [p[::-1] for p in reaches(8, each=4)[:8]]
    assert not {o.kind for o in ew.identify(there + back, dt=0.01).odd} & {"runs backwards", "breaks off"}


def test_repeats_are_found_by_brute_force_too():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(6, 2)) for _ in range(4)]
    parts += [parts[1] + 1e-9, parts[1][:5], parts[0][::-1], parts[3]]
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in parts])])
    np.testing.assert_array_equal(repeated(np.concatenate(parts), offsets), [-1, -1, -1, -1, 1, -1, -1, 3])


# --- what the user knows --------------------------------------------------------------------------


def test_the_number_is_given_and_the_result_says_so():
    found = ew.identify(reaches(9), dt=0.01, n_attractors=2)
    assert found.n_attractors == 2
    assert "by n_attractors; the ends alone say 3" in found.told[0] and "given: 2 attractors" in str(found)


def test_labels_of_trajectories_or_samples_decide():
    paths = reaches(10)
    task = np.repeat([0, 1, 1], 5)
    by_path = ew.identify(paths, dt=0.01, labels=task)
    by_sample = ew.identify(paths, dt=0.01, labels=np.repeat(task, [len(p) for p in paths]))
    words = ew.identify(paths, dt=0.01, labels=np.where(task == 0, "pick", "place"))
    assert by_path.n_attractors == 2
    np.testing.assert_array_equal(by_path.labels, by_sample.labels)
    np.testing.assert_array_equal(by_path.labels, words.labels)
    # The mean of two goals lies where no path ends: it is not reported.
    ends = np.array([p[-1] for p in paths])
    for place in by_path.attractors:
        assert np.linalg.norm(ends - place, axis=1).min() < 10


def test_the_resolution_is_a_distance_in_units_of_the_data():
    goals = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 300.0]])
    assert ew.identify(reaches(11, goals), dt=0.01).n_attractors == 3
    assert ew.identify(reaches(11, goals), dt=0.01, resolution=50.0).n_attractors == 2
    assert ew.identify(reaches(11, goals), dt=0.01, resolution=15.0).n_attractors == 3


def test_recordings_are_excluded_by_number_or_name():
    paths = reaches(12)
    demos = Demonstrations.from_trajectories(paths, dt=0.01, names=[f"r{k}" for k in range(15)])
    found = ew.identify(demos, exclude=[0, "r1", 2, 3, "r4"])
    assert found.n_attractors == 2 and (found.labels[: demos.offsets[5]] == -1).all()
    assert found.told == ("without recordings 0 (r0), 1 (r1), 2 (r2), 3 (r3), 4 (r4), by exclude",)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"n_attractors": 0}, "whole number"),
        ({"n_attractors": 99}, "every attractor needs one"),
        ({"n_attractors": 2, "resolution": 1.0}, "n_attractors and resolution"),
        ({"resolution": -1.0}, "positive distance"),
        ({"labels": [0, 1]}, "one label for each"),
        ({"exclude": [99]}, "trajectory 0 to 14"),
        ({"exclude": "nobody"}, "name of a recording"),
        ({"exclude": range(15)}, "leave out all of them"),
        (
            {"n_attractors": 2, "graph": ew.spectral.KernelGraph(theta_r=0.2, sigma_f=0.01, eps=0.6)},
            "its graph alone decides",
        ),
    ],
)
def test_what_cannot_be_is_refused(known, words):
    with pytest.raises(DataError, match=words):
        ew.identify(reaches(13), dt=0.01, **known)


def test_alternatives_have_labels_of_samples():
    goals = np.array([[0.0, 0.0], [13.0, 0.0], [0.0, 300.0]])
    for seed in range(20, 40):
        found = ew.identify(reaches(seed, goals), dt=0.01)
        if found.alternatives:
            break
    other = found.alternatives[0]
    assert other.n_attractors != found.n_attractors and len(other.labels) == found.demos.n_samples
    assert len(np.unique(other.labels[other.labels >= 0])) == other.n_attractors
    assert 0 < other.confidence <= found.confidence


def pausing(seed, share=0.5):
    """The same, but a share of the recordings stand still half-way for a while."""
    rng = np.random.default_rng(seed)
    first, second = (np.clip(np.linspace(-0.1 - k, 2.1 - k, 120), 0, 1) for k in (0.0, 1.1))
    stops = rise(first) / 2 + rise(second) / 2
    out = []
    for path in reaches(seed):
        out.append(path[0] + stops * (path[-1] - path[0]) if rng.random() < share else path)
    return out


def test_a_recording_cut_in_a_pause_is_no_goal_of_its_own():
    paths = pausing(1)
    stands = [k for k, path in enumerate(paths) if len(path) == 120]
    cut = stands[0]
    paths[cut] = paths[cut][:57]
    found = ew.identify(paths, dt=0.01)
    assert found.n_attractors == 3 and kinds(found) == {(cut, "ends alone", True)}
    assert found.confidence < 0.95  # it may have been one
    told = ew.identify(paths, dt=0.01, n_attractors=4)
    assert told.n_attractors == 4 and kinds(told) == {(cut, "ends alone", False)}


def test_where_nobody_pauses_a_lone_end_at_rest_is_a_goal():
    paths = [*reaches(2), *reaches(3, goals=np.array([[400.0, 400.0]]), each=1)]
    found = ew.identify(paths, dt=0.01)
    assert found.n_attractors == 4 and kinds(found) == {(15, "ends alone", False)}


@pytest.mark.parametrize("away", [20.0, 30.0])
def test_an_end_well_away_from_the_others_of_its_goal_is_named(away):
    """Ten spreads away it strayed from its goal; farther out nobody knows whether it is one, and nothing is sure."""
    paths = reaches(4, each=6, goals=GOALS[:2])
    paths[2] = paths[2] + rise(np.linspace(0, 1, len(paths[2]))) * np.array([away, 0.0])
    found = ew.identify(paths, dt=0.01)
    assert kinds(found) == {(2, "ends alone", False)}
    assert found.n_attractors == 2 or found.confidence < 0.9


def test_a_pause_is_a_rest_between_two_motions():
    from eigenwell.paths.arrival import has_pause

    t = np.linspace(0, 1, 100)[:, None]
    assert not has_pause(np.ones((100, 2)))
    assert not has_pause(np.hstack([np.sin(np.pi * t)] * 2))  # rests at both ends alone
    assert has_pause(np.hstack([np.sin(2 * np.pi * t)] * 2))
    assert has_pause(np.abs(np.hstack([np.sin(5 * np.pi * np.linspace(0, 1, 501)[:, None])] * 2)))
    assert not has_pause(np.hstack([1 + 0.3 * np.sin(20 * t)] * 2))  # slower is not at rest
