"""Snapshots: the replicates vote on the answer, and what is doubtful about it is said."""

from dataclasses import replace

import numpy as np
import pytest

import eigenwell as ew
from eigenwell import systems
from eigenwell.flow import Evidence
from eigenwell.flow.bootstrap import Ensemble, Replicate
from eigenwell.flow.border import EdgeSink, edge_sinks, held_fates
from eigenwell.flow.builder import _doubts
from eigenwell.flow.field import Whitening
from eigenwell.flow.integration import LEFT, WANDERING, Support
from eigenwell.flow.portrait import portrait
from eigenwell.flow.regression import fit_fields
from eigenwell.flow.votes import most_frequent, reached


@pytest.fixture(scope="module")
def four_wells():
    """Samples in whitened coordinates, their field, where they are, and what the field attracts them to."""
    demos = systems.four_wells.snapshots(300, seed=0)
    frame = Whitening.of(demos.x)
    y, w = frame.enter(demos.x), demos.v @ frame.forward
    field = fit_fields(y, w)[0][1]
    support = Support.of(y, 1.0)
    return y, field, support, portrait(field, y, y, support)[0]


def one_well(field):
    """A field with the same kernels that leads to the origin from everywhere."""
    affine = np.zeros_like(field.affine)
    affine[-len(affine[0]) :] = -np.eye(len(affine[0]))
    return field.moved(affine, [0 * block.weights for block in field.blocks])


def voting(y, support, *replicates):
    found = [portrait(one.field, y, y, support) for one in replicates]
    return Ensemble(list(replicates), [one for one, _ in found], [carried.fate for _, carried in found])


def test_what_most_replicates_have_is_the_answer(four_wells):
    y, field, support, found = four_wells
    assert len(found.attractors) == 4
    few, many = Replicate(one_well(field), field), Replicate(field, field)
    np.testing.assert_allclose(few.field(y), -y, atol=1e-9)
    assert most_frequent(found, voting(y, support, many, many, few), y) is found
    voted = most_frequent(found, voting(y, support, many, few, few), y)
    assert len(voted.attractors) == 1
    # A tie is the estimate's.
    assert most_frequent(found, voting(y, support, many, few), y) is found
    # Who knows the number is asked first; where no field has it, the next larger one is taken.
    votes = voting(y, support, many, many, few)
    numbers = [len(most_frequent(found, votes, y, number=q).attractors) for q in (1, 2, 4, 9)]
    assert numbers == [1, 4, 4, 4]
    assert votes.having(1).counts == {1: 1.0} and votes.having(3) is votes


def test_attractors_that_hardly_any_sample_reaches_are_left_out(four_wells):
    found = four_wells[-1]
    labels = np.array([0] * 10 + [1] + [2] * 10 + [3] * 10 + [LEFT, WANDERING])
    kept, numbers = reached(found, labels)
    assert len(kept.attractors) == 3 and kept.attractors[1] is found.attractors[2]
    np.testing.assert_array_equal(numbers, [0] * 10 + [LEFT] + [1] * 10 + [2] * 10 + [LEFT, WANDERING])
    assert reached(found, np.repeat(np.arange(4), 10))[0] is found


def test_every_doubt_is_said_once(four_wells):
    found = four_wells[-1]
    edge = EdgeSink(np.zeros(2), 0.1, np.eye(2))
    at_edge = replace(found, traps=(*found.traps, edge), inside=(*found.inside, True))
    labels = np.array([0, 1, LEFT, WANDERING, WANDERING])
    said = {c.name: c.message for c in _doubts(labels, {4: 0.5, 5: 0.5}, at_edge)}
    assert set(said) == {"leaving", "wandering", "number-in-doubt", "at-the-edge"}
    assert "1 of 5 samples" in said["leaving"] and "2 of 5 samples" in said["wandering"]
    assert "4 in 50 %" in said["number-in-doubt"] and "1 of 5 attractors" in said["at-the-edge"]
    assert _doubts(np.zeros(9, dtype=int), {4: 1.0}, found) == ()


@pytest.mark.parametrize(("regular", "taken"), [(0.15, "snapshots"), (0.25, "trajectories")])
def test_a_close_decision_about_the_kind_is_a_doubt(regular, taken):
    (caution,) = Evidence(regular=regular).warnings
    assert caution.name == "kind-in-doubt" and f"taken for {taken}" in caution.message
    assert str(Evidence(regular=regular)).startswith(f"{100 * regular:.0f} %")


def test_a_clear_decision_about_the_kind_is_none():
    assert not any(e.warnings for e in (Evidence(regular=0.0), Evidence(regular=0.9), Evidence(0.2, said=True)))
    assert str(Evidence(said=True)) == "as you said" and "grid" in str(Evidence(grid=True))


def test_where_the_kind_is_in_doubt_the_other_reading_is_asked_too(monkeypatch):
    """A particle in a double well, eight recordings that do not quite arrive: as snapshots one goal lies outside of them."""
    t, starts = np.linspace(0, 3.5, 150)[:, None], np.array([-0.1, -0.05, -0.03, -0.02, 0.1, 0.4, 1.2, 1.6])
    x = (starts * np.exp(t) / np.sqrt(1 + starts**2 * (np.exp(2 * t) - 1))).T.reshape(-1, 1)
    order = np.random.default_rng(0).permutation(len(x))
    x, v = x[order], (x - x**3)[order]
    alone = ew.identify(x, v, graph=ew.FlowGraph())
    paths = ew.identify(x, v, graph=ew.SuccessorGraph())
    assert (alone.n_attractors, paths.n_attractors) == (1, 2)
    for regular, sure in ((0.19, 0.55), (0.15, 0.75), (0.09, 1.0)):
        monkeypatch.setattr(
            "eigenwell.identification.weigh", lambda *_, regular=regular: Evidence(regular=regular, asked=400)
        )
        found = ew.identify(x, v)
        assert found.n_attractors == 1 and found.confidence == pytest.approx(sure * alone.confidence)
        others = [(a.n_attractors, a.confidence) for a in found.alternatives]
        assert others == ([(2, pytest.approx((1 - sure) * paths.confidence))] if sure < 1 else [])


@pytest.mark.parametrize(("place", "noise", "count"), [(-0.03, 0.3, 1), (-1.0, 0.01, 0)])
def test_states_that_stop_at_the_edge_count_unless_they_clearly_go_on(place, noise, count):
    rng = np.random.default_rng(3)
    y = rng.uniform([0, -1], [2, 1], (300, 2))
    goal = np.array([place, 0.0])
    field = fit_fields(y, goal - y + noise * rng.standard_normal(y.shape))[0][1]
    support = Support.of(y, 1.0)
    found = edge_sinks(field, y[:50], support)
    assert len(found) == count and edge_sinks(field, y[:0], support) == []
    for sink in found:
        assert np.linalg.norm(sink.place - goal) < 0.3 and sink.holds(sink.place[None]).all()
        assert (held_fates(field, y[:50], found, support) == 0).all()
