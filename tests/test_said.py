"""What the user says about snapshots takes the place of one decision, and work that has no end is bounded."""

import numpy as np
import pytest

import eigenwell as ew
from eigenwell import systems
from eigenwell.flow import builder
from eigenwell.flow.field import Work
from eigenwell.flow.finding import within
from eigenwell.flow.regression import fit_fields

FEW = ew.FlowGraph(replicates=4)


@pytest.fixture(scope="module", autouse=True)
def one_estimate():
    """The same samples are asked again and again: their field is estimated once."""
    known, plain = {}, builder.estimate

    def estimate(x, v):
        key = x.tobytes(), v.tobytes()
        known[key] = known[key] if key in known else plain(x, v)
        return known[key]

    builder.estimate = estimate
    yield
    builder.estimate = plain


@pytest.fixture(scope="module")
def wells():
    return systems.four_wells.snapshots(250, seed=0, noise=0.1)


@pytest.fixture(scope="module")
def alone(wells):
    return ew.identify(wells, graph=FEW)


def consistent(found):
    """What every result has, whoever decided."""
    n, q = found.demos.n_samples, found.n_attractors
    assert found.fates.shape == (n, q + 1) and found.spread.shape[1] == q + 1
    np.testing.assert_allclose(found.fates.sum(axis=1), 1)
    np.testing.assert_allclose(found.spread.sum(axis=1), 0, atol=1e-12)
    assert set(np.unique(found.labels)) <= set(range(-1, q))
    assert sum(found.counts.values()) == pytest.approx(1) and 0 <= found.confidence <= 1
    assert [len(found.paths(k)) > 0 for k in range(q)] == [True] * q
    assert (np.diff(found.attractors[:, 0]) > -0.1).all()  # by place


def test_the_number_that_is_there_changes_nothing(wells, alone):
    told = ew.identify(wells, graph=FEW, n_attractors=4)
    np.testing.assert_array_equal(told.labels, alone.labels)
    np.testing.assert_allclose(told.attractors, alone.attractors)
    assert told.told == ("4 attractors, by n_attractors; the replicates alone say 4 in 100 %",)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_smaller_number_joins_the_nearest(wells, alone, number):
    told = ew.identify(wells, graph=FEW, n_attractors=number)
    consistent(told)
    assert told.n_attractors == number and "the nearest were joined" in told.told[0]
    # A state is a union of states, at the place of one of them.
    pairs = set(zip(alone.labels.tolist(), told.labels.tolist(), strict=True))
    assert len({a for a, _ in pairs}) == len(pairs)
    assert all(np.linalg.norm(alone.attractors - a, axis=1).min() < 1e-9 for a in told.attractors)
    both = np.array([told.fates[:, q] for q in range(number)])
    np.testing.assert_allclose(both.sum(axis=0), alone.fates[:, :-1].sum(axis=1))


def test_attractors_within_the_resolution_are_one(wells, alone):
    fine, coarse = (ew.identify(wells, graph=FEW, resolution=r) for r in (0.1, 2.3))
    consistent(coarse)
    assert (fine.n_attractors, coarse.n_attractors) == (4, 1)
    np.testing.assert_array_equal(fine.labels, alone.labels)
    assert fine.told == ("attractors within 0.1 are one place, by resolution",)


def test_places_are_joined_in_steps_and_cycles_never():
    places = np.array([[0.0], [1.0], [2.0], [2.1], [9.0]])
    cycle = np.array([False, False, True, False, False])
    assert within(places, cycle, 1.2).tolist() == [0, 0, 2, 0, 1]
    assert within(places[:0], cycle[:0], 1.0).tolist() == []


def test_labels_say_which_attractors_are_one(wells, alone):
    side = (wells.truth.labels >= 2).astype(int)
    told = ew.identify(wells, graph=FEW, labels=side)
    consistent(told)
    assert told.n_attractors == 2 and "(2 of them)" in told.told[0]
    assert len(set(zip(side.tolist(), told.labels.tolist(), strict=True))) == 2
    # Words do as well, and half of them are enough.
    words = np.array(["left", "right"])[side]
    np.testing.assert_array_equal(ew.identify(wells, graph=FEW, labels=words).labels, told.labels)
    some = ew.identify(wells, graph=FEW, labels=np.where(np.arange(len(side)) % 2, side, -1))
    assert (some.labels == told.labels).mean() > 0.95
    # Samples keep what they were given, and it is said where the field disagrees.
    odd = side.copy()
    odd[np.flatnonzero(side == 0)[:5]] = 1
    wrong = ew.identify(wells, graph=FEW, labels=odd)
    assert len(set(zip(odd.tolist(), wrong.labels.tolist(), strict=True))) == 2
    assert any(c.name == "labels-disagree" for c in wrong.warnings)
    assert wrong.label_confidence[np.flatnonzero(side == 0)[:5]].mean() < 0.5


@pytest.mark.parametrize("mask", [False, True])
def test_samples_are_left_out_by_number_or_mask(wells, mask):
    out = np.arange(wells.n_samples) % 5 == 0
    told = ew.identify(wells.x, wells.v, graph=FEW, exclude=out if mask else np.flatnonzero(out))
    consistent(told)
    assert told.told == ("without 50 samples, by exclude",) and (told.labels[out] == -1).all()
    rest = ew.identify(wells.x[~out], wells.v[~out], graph=FEW)
    np.testing.assert_array_equal(told.labels[~out], rest.labels)


def test_samples_along_unordered_paths_are_left_out_too():
    demos = systems.heart.sample(seed=0, frequency=20.0)
    shuffled = demos.shuffled(0)
    out = np.linspace(0, demos.n_samples - 1, 9).astype(int)
    told = ew.identify(shuffled.x, shuffled.v, exclude=out)
    assert told.kind == "trajectories" and told.n_attractors == 2 and (told.labels[out] == -1).all()


def test_a_recording_of_snapshots_is_left_out_by_name():
    parts = [systems.four_wells.snapshots(100, seed=s) for s in (0, 1, 2)]
    demos = ew.Demonstrations.from_trajectories([(p.x, p.v) for p in parts], names=["a", "b", "c"])
    told = ew.identify(demos, graph=FEW, exclude=["b"])
    assert (told.labels[100:200] == -1).all() and told.told == ("without recordings 1 (b), by exclude",)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"n_attractors": 9}, "Expected n_attractors = 9 in some of the fields"),
        ({"labels": np.arange(250) % 5}, "Expected an attractor for each of 5 labels"),
        ({"labels": [0, 1]}, "Expected one label for each of 250 samples"),
        ({"exclude": [250]}, "Expected a sample 0 to 249"),
        ({"exclude": ["a"]}, "250 without names"),
        ({"exclude": range(245)}, "at least 12 distinct samples"),
        ({"resolution": 0.0}, "one positive distance"),
        ({"n_attractors": 2, "resolution": 1.0}, "n_attractors and resolution"),
    ],
)
def test_what_cannot_be_is_refused(wells, known, words):
    with pytest.raises(ew.DataError, match=words):
        ew.identify(wells.x, wells.v, graph=FEW, **known)


# --- a bound on work ------------------------------------------------------------------------------------


def test_work_is_counted_where_fields_share_it(wells):
    field = fit_fields(wells.x, wells.v)[0][1]
    one = field.moved(field.affine, [b.weights for b in field.blocks])
    assert field.work is one.work and not field.work.over
    field.work.left = before = 1e9
    field(wells.x)
    single = before - field.work.left
    one.jacobian(wells.x)
    assert before - field.work.left == 2 * single >= 2 * len(wells.x) * field.size
    one.work.left = 0.0
    assert field.work.over


def test_what_never_settles_ends_and_says_so(monkeypatch):
    """An undamped pendulum: nothing arrives, however long it is followed."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.5, 1.5, (300, 2))
    v = np.column_stack([x[:, 1], -np.sin(x[:, 0])])
    monkeypatch.setattr(builder, "WORK", 1e7)
    left = []

    class Watched(Work):
        def __setattr__(self, name, value):
            left.append(value)
            super().__setattr__(name, value)

    monkeypatch.setattr(builder, "Work", Watched)
    found = ew.identify(x, v, graph=ew.FlowGraph())
    # Every part of the work stops soon after it is to.
    assert -1e7 < min(left) < 0
    said = {c.name: c.message for c in found.warnings}
    assert "of 40 replicates" in said["bounded"] and found.confidence < 0.5
    again = ew.identify(x[::-1], v[::-1], graph=ew.FlowGraph())
    np.testing.assert_array_equal(found.labels[::-1], again.labels)  # counts, not seconds


def test_where_nothing_attracts_there_is_nothing_to_join():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (80, 2))
    out = ew.identify(x, x + 0.01 * rng.standard_normal(x.shape), graph=FEW, resolution=1.0)
    assert out.n_attractors == 0 and out.fates.shape == (80, 1) and out.told
    with pytest.raises(ew.DataError, match="got none for label 0: of its 80 samples 80 nowhere"):
        ew.identify(x, x, graph=FEW, labels=np.zeros(80, dtype=int))
