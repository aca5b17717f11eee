"""Targets, tubes and the training loop, on small synthetic motions."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache
from tests.untrained import field_of, stable_field

from eigenwell import identify, systems
from eigenwell.demonstrations import DataError
from eigenwell.fields import StableField, stable
from eigenwell.fields.flows import forward, identity_flow, spread_normal
from eigenwell.fields.stable import Speed, StableModel
from eigenwell.learning import (
    Growing,
    crossings,
    following,
    layers,
    learn_bundles,
    learn_motions,
    learner,
    programs,
)
from eigenwell.learning.clock import on_time
from eigenwell.learning.crossing import comes_back
from eigenwell.learning.doubts import about_data as doubts
from eigenwell.learning.guide import guide
from eigenwell.learning.recipes import PAPER, Recipe
from eigenwell.learning.targets import (
    Bundle,
    LaplacianTarget,
    Profile,
    RayTarget,
    UnitBox,
    arc_length,
    arc_to_go,
    eigenvector,
    elapsed,
    lifted_bundle,
    phases_of,
    travel_times,
)
from eigenwell.learning.training import double_precision
from eigenwell.learning.tube import strand_gaps, tube
from eigenwell.learning.winding import SpiralTarget, Winding
from eigenwell.progress import told

SMALL = Recipe(layers=4, features=12, steps=150, batch=100)


def arcs(dimension: int = 2, count: int = 3, samples: int = 60) -> list[tuple[np.ndarray, np.ndarray]]:
    """Bent reaching motions that end in the origin at rest."""
    t = np.linspace(0, 1, samples)
    rest = 1 - (10 * t**3 - 15 * t**4 + 6 * t**5)
    paths = []
    for k in range(count):
        start = np.full(dimension, 1.0) + 0.2 * np.sin(np.arange(dimension) + k)
        side = np.where(np.arange(dimension) % 2 == 0, 0.5, -0.5)
        x = rest[:, None] * start + np.sin(np.pi * rest)[:, None] * side
        paths.append((x, np.gradient(x, t, axis=0)))
    return paths


def spirals(rate: float = 3.0, count: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    t = np.linspace(0, 5, 400)
    paths = []
    for k in range(count):
        angle = rate * t + 2 * np.pi * k / count
        x = np.exp(-t)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        paths.append((x, x @ np.array([[-1.0, rate], [-rate, -1.0]])))
    return paths


def test_a_bundle_is_scaled_to_the_unit_box_and_unit_speed() -> None:
    bundle = Bundle.of(arcs(), np.zeros(2))
    x, v = np.concatenate(bundle.x), np.concatenate(bundle.v)
    np.testing.assert_allclose([x.min(0), x.max(0)], [[-0.5, -0.5], [0.5, 0.5]])
    assert np.sqrt((v**2).sum(1).mean()) == pytest.approx(1.0)
    np.testing.assert_allclose(bundle.frame.centre + bundle.frame.scale * bundle.attractor, 0, atol=1e-12)


@pytest.mark.parametrize("profile", [arc_length, elapsed, eigenvector])
def test_profiles_fall_from_one_towards_zero(profile: Profile) -> None:
    bundle = Bundle.of(arcs(), np.zeros(2))
    for x, v in zip(bundle.x, bundle.v, strict=True):
        rho = profile(x, v, bundle.attractor)
        assert (np.diff(rho) < 1e-12).all() and rho[0] == pytest.approx(1, abs=1e-3) and 0 <= rho[-1] < 0.05


def test_ray_targets_are_straight_and_keep_the_length_of_the_path() -> None:
    bundle = Bundle.of(arcs(), np.zeros(2))
    for x, y in zip(bundle.x, RayTarget().place(bundle), strict=True):
        np.testing.assert_allclose(y[:, 0] * y[0, 1], y[:, 1] * y[0, 0], atol=1e-12)
        np.testing.assert_allclose(
            np.linalg.norm(np.diff(y, axis=0), axis=1), np.linalg.norm(np.diff(x, axis=0), axis=1), atol=1e-12
        )


def test_laplacian_target_lies_on_lines_through_the_attractor() -> None:
    bundle = Bundle.of(spirals(rate=0.3), np.zeros(2))
    for y in LaplacianTarget().place(bundle):
        assert np.linalg.svd(y)[1][1] < 1e-9
    given = replace(bundle, embedding=tuple(np.column_stack([x, x[:, 0]]) for x in bundle.x))
    for x, y in zip(given.x, LaplacianTarget().place(given), strict=True):
        np.testing.assert_allclose(y, x - given.attractor, atol=0.1)


def test_winding_is_measured_and_only_where_it_is() -> None:
    assert Winding().measure(Bundle.of(spirals(3.0), np.zeros(2)))[1, 0] == pytest.approx(-3.0, rel=0.1)
    assert Winding().measure(Bundle.of(spirals(-3.0), np.zeros(2)))[1, 0] == pytest.approx(3.0, rel=0.1)
    assert not Winding().measure(Bundle.of(arcs(), np.zeros(2))).any()
    deep = [
        (
            np.column_stack([x, 0.3 * np.exp(-np.linspace(0, 5, 400))]),
            np.column_stack([v, -0.3 * np.exp(-np.linspace(0, 5, 400))]),
        )
        for x, v in spirals()
    ]
    swirl = Winding().measure(Bundle.of(deep, np.zeros(3)))
    np.testing.assert_allclose(swirl, -swirl.T)
    assert np.abs(swirl).max() == pytest.approx(3.0, rel=0.15)


def test_spiral_target_equals_rays_where_nothing_winds() -> None:
    bundle = Bundle.of(arcs(), np.zeros(2))
    for a, b in zip(SpiralTarget().place(bundle), RayTarget().place(bundle), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)


def test_the_tube_closes_at_the_end_and_avoids_other_strands() -> None:
    bundle = Bundle.of(arcs(), np.zeros(2))
    widths, rates = zip(*tube(bundle, 0.1), strict=True)
    for width, rate, x, v in zip(widths, rates, bundle.x, bundle.v, strict=True):
        assert width[0] == pytest.approx(0.1, rel=0.05) and width[-1] < 0.03
        np.testing.assert_allclose(np.gradient(width, travel_times(x, v)), rate)
    assert min(gap.min() for gap in strand_gaps(bundle)) > 0.1
    wound = Bundle.of(spirals(8.0), np.zeros(2))
    inner = next(tube(wound, 0.1))[0]
    assert inner[len(inner) // 2] < 0.05


def test_travel_times_recover_the_clock() -> None:
    t = np.linspace(0, 2, 400)
    x = np.column_stack([np.cos(t), np.sin(t)])
    v = np.column_stack([-np.sin(t), np.cos(t)])
    np.testing.assert_allclose(travel_times(x, v), t, atol=1e-4)
    assert arc_to_go(x, x[-1])[0] == pytest.approx(2.0, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_the_loops_over_the_layers_compute_the_field_itself(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    flow = identity_flow(dimension, layers=7, features=5, length=0.5, window=0.8)
    flow = flow._replace(weights=rng.standard_normal(flow.weights.shape))
    turn = rng.standard_normal((3, dimension, dimension))
    model = StableModel(
        flow,
        Speed(np.zeros((1, dimension)), np.zeros(2), np.zeros(()), np.zeros(())),
        rng.standard_normal((3, dimension)),
        rng.standard_normal(3),
        turn - turn.swapaxes(1, 2),
        np.full(3, 0.1),
        np.zeros(dimension),
    )
    x, wells = rng.standard_normal((dimension, 20)), stable.wells(model)
    expected_ones = (stable.direction(model, wells, x), forward(flow, x), wells.goals)
    with double_precision(True):
        ours = jax.jit(layers.direction)(jax.tree.map(jnp.asarray, model), jnp.asarray(x))
    for mine, expected in zip(ours, expected_ones, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)


def test_programs_are_kept_and_the_users_own_cache_is_left_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EIGENWELL_CACHE", str(tmp_path))
    before, worth = jax.config.jax_compilation_cache_dir, jax.config.jax_persistent_cache_min_compile_time_secs
    try:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_compilation_cache_dir", None)
        compilation_cache.reset_cache()
        with programs.kept_programs():
            jax.jit(lambda a: a * 3.25 + 1)(np.arange(7.0))
        assert list(tmp_path.rglob("*-cache")) and jax.config.jax_compilation_cache_dir is None
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "mine"))
        with programs.kept_programs():
            assert jax.config.jax_compilation_cache_dir == str(tmp_path / "mine")
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "mine")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", worth)
        compilation_cache.reset_cache()


@pytest.mark.slow
def test_training_fits_and_is_repeatable() -> None:
    bundle = Bundle.of(arcs(), np.zeros(2))
    seen = []
    first, cautions = learn_bundles(
        [bundle], recipe=SMALL, seed=3, report=lambda step, steps, losses: seen.append((step, steps, losses))
    )
    again, _ = learn_bundles([bundle], recipe=SMALL, seed=3)
    np.testing.assert_array_equal(first[0].model.flow.weights, again[0].model.flow.weights)
    assert not cautions and seen[-1][0] == seen[-1][1] == SMALL.steps and seen[-1][2][0] < 0.5 * seen[0][2][0]
    x, v = (np.concatenate(part) for part in zip(*arcs(), strict=True))
    cosine = (first[0].predict(x) * v).sum(1) / (
        np.linalg.norm(first[0].predict(x), axis=1) * np.linalg.norm(v, axis=1) + 1e-12
    )
    assert np.mean(1 - cosine[5:-5]) < 0.15


def _clockless(*attractors: tuple[float, float]) -> StableField:
    """A field that moves at no speed anybody has shown."""
    field = stable_field(attractors, bend=0.1, seed=3)
    frequencies = spread_normal(24, 2, seed=1) / 0.4
    return replace(field, model=field.model._replace(speed=Speed(frequencies, np.zeros(48), np.zeros(()), np.ones(()))))


@pytest.mark.parametrize("seconds", [(1.0,), (4.0,), (1.0, 2.0, 3.0)])
def test_a_clock_says_when_demonstrations_came_by_on_average_and_leaves_the_way_alone(seconds) -> None:
    """One way, ever slower, in a time of its own each."""
    field, start = _clockless((0.0, 0.0)), np.array([0.4, 0.3])
    times = np.linspace(0, 3, 500)
    way, share = field.simulate(start, t=times), np.linspace(0, 1, 200)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    at = length[-1] * (1 - (1 - share) ** 2)
    x = np.column_stack([np.interp(at, length, column) for column in way.T])
    frame = UnitBox(field.centre, field.scale, field.pace, np.ones(2, dtype=bool), 1.0)
    bundle = Bundle.of([(x, np.gradient(x, one * share, axis=0)) for one in seconds], np.zeros(2), frame=frame)
    one, early = (on_time(field, [bundle], count=100 * len(seconds), haste=haste) for haste in (0.0, 0.2))
    assert one.model.flow is field.model.flow
    asked = np.linspace(0, 1, 50)
    shown = np.column_stack([np.interp(asked, share, column) for column in x.T])
    far = np.linalg.norm(one.simulate(start, t=asked * np.mean(seconds)) - shown, axis=1)
    assert np.sqrt((far**2).mean()) < 0.02
    left = [np.linalg.norm(each.simulate(start, t=[0.0, 0.8 * np.mean(seconds)])[-1]) for each in (one, early)]
    assert left[1] < 0.5 * left[0]


def test_a_clock_is_not_taken_from_ways_that_end_elsewhere() -> None:
    field = _clockless((-0.4, 0.0), (0.4, 0.0))
    x = np.linspace([-0.35, 0.0], [0.4, 0.0], 30)
    assert field.basin(x[0]) == 0
    frame = UnitBox(field.centre, field.scale, 1.0, np.ones(2, dtype=bool), 1.0)
    bundle = Bundle.of([(x, np.ones_like(x))], field.attractors[1], frame=frame)
    assert on_time(field, [bundle], count=50, haste=0.0) is field
    # Nor from one that ends at the goal, and gets there another way: it began beside it, and took its time.
    turn = np.linspace(0, 2 * np.pi, 60)[:, None]
    round_it = field.attractors[0] + 0.2 * np.hstack([np.cos(turn) - 1, np.sin(turn)]) + [[0.001, 0.0]]
    bundle = Bundle.of([(round_it, np.gradient(round_it, 0.05, axis=0))], field.attractors[0], frame=frame)
    assert field.basin(round_it[0]) == 0
    assert on_time(field, [bundle], count=60, haste=0.0) is field


@pytest.mark.slow
def test_who_looks_on_sees_the_field_grow_and_changes_nothing() -> None:
    motions, recipe = _crossing_motions(), replace(SMALL, steps=20, layers=2)
    seen: list[Growing] = []
    goals = np.array([bundle[0][0][-1] for bundle in motions])
    steps: list[tuple[str, int, int]] = []
    with told(lambda *one: steps.append(one)):
        watched = learn_motions(motions, goals, recipe=recipe, watch=seen.append)
    stages, done, total = zip(*steps, strict=True)
    assert set(stages) == {"learning"} and len(set(total)) == 1 and len(done) == 30
    assert list(done) == sorted(set(done)) and done[-1] == total[0]
    assert np.isnan(seen[0].loss) and seen[9].loss < seen[1].loss  # the first is the field before any step
    names = [part.name for part in seen]
    assert names == ["lifted"] * 11 + ["map"] * 11 + ["goals"] * 11  # motions that cross first
    for part in seen:
        assert all(np.isfinite(one.model.flow.weights).all() for one in part.fields)
        assert len(part.samples) == len(part.labels) == len(part.phases)
    assert [one.n_attractors for one in seen[11].fields] == [2] and len(seen[0].fields) == 2
    # The last of each is what was learned.
    assert np.array_equal(seen[21].fields[0].model.flow.weights, watched.map.model.flow.weights)
    assert np.array_equal(seen[10].fields[1].model.flow.weights, watched.lifted[1].model.flow.weights)
    plain = learn_motions(motions, goals, recipe=recipe)
    assert np.array_equal(plain.map.model.flow.weights, watched.map.model.flow.weights)
    assert np.array_equal(plain.lifted[1].model.flow.weights, watched.lifted[1].model.flow.weights)


def _crossing_motions() -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """Two bundles that cross, to two goals."""
    t = np.linspace(0.0, 1.0, 60)[:, None]
    found = []
    for sign in (1.0, -1.0):
        start = np.array([[-1.0, -0.6 * sign]]) + np.array([[0.0, 0.1 * k] for k in (-1, 0, 1)])[:, None]
        end = np.array([1.0, 0.6 * sign])
        found.append([((1 - t) * one + t * end, np.broadcast_to(end - one, (60, 2)).copy()) for one in start])
    return found


@pytest.mark.slow
def test_double_precision_and_other_dimensions() -> None:
    """Both precisions start from the same numbers and go the same way; only rounding is different."""
    bundle = Bundle.of(arcs(dimension=3), np.zeros(3))
    (double,), (single,) = (
        learn_bundles([bundle], recipe=replace(SMALL, steps=20), dtype=dtype)[0] for dtype in (np.float64, np.float32)
    )
    fine, coarse = double.model.flow.weights, single.model.flow.weights
    assert 0 < np.abs(fine - coarse).max() < 0.02 * np.abs(fine).max()
    x = np.concatenate(bundle.x) * bundle.frame.scale + bundle.frame.centre
    assert ((double.potential_gradient(x) * double.predict(x)).sum(1)[:-1] <= 0).all()
    np.testing.assert_array_equal(double.predict(double.attractors), 0)


@pytest.mark.slow
def test_the_papers_recipe_uses_positions_alone_and_finds_the_speed_afterwards() -> None:
    bundle = Bundle.of(spirals(0.3), np.zeros(2))
    recipe = replace(PAPER, layers=4, features=12, steps=200, batch=100)
    fields, _ = learn_bundles([bundle], recipe=recipe, target=LaplacianTarget())
    x, v = (np.concatenate(part) for part in zip(*spirals(0.3), strict=True))
    ratio = np.linalg.norm(fields[0].predict(x), axis=1) / np.linalg.norm(v, axis=1)
    assert 0.7 < np.median(ratio) < 1.4


@pytest.mark.slow
def test_poor_data_never_give_a_field_of_nans() -> None:
    t = np.linspace(0, 1, 5)[:, None]
    straight = (1 - t) * np.array([[1.0, 0.0]])
    speed = np.broadcast_to([-1.0, 0.0], straight.shape)
    paths = [(straight, speed), (straight, speed), (straight[:1], speed[:1]), (straight[:2], speed[:2])]
    bundle = Bundle.of(paths, np.zeros(2))
    assert len(bundle.x) == 3
    fields, _ = learn_bundles([bundle], recipe=replace(SMALL, steps=20))
    assert np.isfinite(fields[0].predict(np.random.default_rng(0).normal(size=(50, 2)))).all()


def test_bad_bundles_are_refused_in_words() -> None:
    x = np.zeros((1, 2))
    with pytest.raises(DataError, match="two or more distinct samples"):
        Bundle.of([(x, x)], np.zeros(2))
    with pytest.raises(DataError, match="two or more distinct samples"):
        Bundle.of([(np.ones((9, 2)), np.ones((9, 2)))], np.zeros(2))
    line = np.linspace(0, 1, 9)[:, None] * np.ones(2)
    with pytest.raises(DataError, match="velocities that are all zero"):
        Bundle.of([(line, 0 * line)], np.zeros(2))
    with pytest.raises(DataError, match="NaN"):
        Bundle.of([(line, line * np.nan)], np.zeros(2))
    with pytest.raises(DataError, match="like the attractor"):
        Bundle.of([(line, line)], np.zeros(3))
    with pytest.raises(DataError, match="at least 2 dimensions"):
        Bundle.of([(line[:, :1], line[:, :1])], np.zeros(1))
    with pytest.raises(ValueError, match=r"Recipe\.steps"):
        Recipe(steps=0)
    with pytest.raises(ValueError, match="Expected a loss"):
        Recipe(velocity=False, position=0)


def test_doubts_have_names() -> None:
    one = Bundle.of(arcs(count=1), np.zeros(2))
    assert "few-trajectories" in {c.name for c in doubts(one)}
    away = Bundle.of(arcs(count=4), np.array([-3.0, 0.0]))
    assert {"attractor-outside", "unfinished"} <= {c.name for c in doubts(away)}
    t = np.linspace(-1, 1, 200)[:, None]
    there, back = (t * np.ones(2), np.ones((200, 2))), (-t * np.ones(2), -np.ones((200, 2)))
    assert crossings([Bundle.of([there, back], np.zeros(2))])[0].share > 0.5
    assert not doubts(Bundle.of(spirals(0.3), np.zeros(2)))


def eight(count: int = 3, samples: int = 120) -> list[tuple[np.ndarray, np.ndarray]]:
    """A figure eight that begins and ends at the tip of a lobe, in the origin, and crosses itself on the way."""
    t = np.linspace(0, 1, samples)
    s = 10 * t**3 - 15 * t**4 + 6 * t**5
    paths = []
    for k in range(count):
        x = np.column_stack([np.cos(2 * np.pi * s) - 1, np.sin(4 * np.pi * s) / 2]) + 0.02 * k * (1 - s)[:, None]
        paths.append((x, np.gradient(x, t, axis=0)))
    return paths


def test_crossings_say_who_where_and_how_much() -> None:
    bundle = Bundle.of(eight(), np.zeros(2))
    (one,) = crossings([bundle])
    assert one.first == one.second == 0 and one.share > 0.02
    t = np.linspace(1, 0, 200)[:, None]
    across, down = t * [2.0, 0.0] + [-1.0, 0.0], t * [0.0, 2.0] + [0.0, -1.0]
    motions = [[(across, np.full((200, 2), [-1.0, 0.0]))], [(down, np.full((200, 2), [0.0, -1.0]))]]
    frame = UnitBox.around(motions)
    places = np.array([[-1.0, 0.0], [0.0, -1.0]])
    found = crossings([Bundle.of(m, p, frame=frame) for m, p in zip(motions, places, strict=True)])
    assert (found[0].first, found[0].second) == (0, 1)
    np.testing.assert_allclose(found[0].place, [0, 0], atol=0.05)
    assert not crossings([Bundle.of(arcs(), np.zeros(2))])


def test_the_guide_knows_a_smooth_field_and_doubts_peoples_ways() -> None:
    bundle = Bundle.of(spirals(1.0, count=6), np.zeros(2))
    known = guide([bundle])
    assert known.smooth
    frame = bundle.frame
    true = (known.x * frame.scale + frame.centre) @ np.array([[-1.0, 1.0], [-1.0, -1.0]]) / (frame.scale * frame.pace)
    sure = known.weight > 0.9
    assert sure.mean() > 0.5 and np.abs(known.v - true)[sure].max() < 0.1
    assert not guide([Bundle.of(arcs(), np.zeros(2))]).smooth


def test_lifted_paths_do_not_cross_and_fall_to_phase_zero() -> None:
    bundle = Bundle.of(eight(), np.zeros(2))
    raised = lifted_bundle(bundle, 2.0)
    assert raised.dimension == 3 and not crossings([raised])
    for x, v in zip(raised.x, raised.v, strict=True):
        assert x[0, 2] == pytest.approx(1.0) and x[-1, 2] == pytest.approx(-1.0, abs=0.02)
        assert (np.diff(x[:, 2]) <= 0).all() and (v[:, 2] <= 0).all()
    assert not raised.frame.braked[-1]
    rho = phases_of(eight()[0][0], np.zeros(2))
    assert rho[0] == 1 and rho[-1] < 0.02


def closed(turns: float, samples: int = 200) -> list[tuple[np.ndarray, np.ndarray]]:
    """Round a circle once, or an eight from where it crosses, at even speed, to where it began."""
    t = np.linspace(0, 2 * np.pi, 1000)
    x = np.column_stack([np.sin(t), np.cos(t - (turns - 1) * np.pi / 2) * (np.sin(t) if turns == 2 else 1)])
    length = np.append(0, np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1)))
    even = np.linspace(0, length[-1], samples)
    x = np.column_stack([np.interp(even, length, column) for column in x.T])
    return [(x, np.gradient(x, 3 / (samples - 1), axis=0))]


def test_a_path_comes_back_where_it_crosses_itself_or_ends_where_it_began() -> None:
    assert all(comes_back(Bundle.of(closed(turns), closed(turns)[0][0][-1])) for turns in (1, 2))
    assert comes_back(Bundle.of(eight(), np.zeros(2)))
    # Lifted by its phase it does not; nor do motions that begin in different places, or that turn and wind.
    assert not comes_back(lifted_bundle(Bundle.of(eight(), np.zeros(2)), 2.0))
    assert not any(comes_back(Bundle.of(paths, np.zeros(2))) for paths in (arcs(count=4), spirals(0.3)))


@pytest.mark.slow
@pytest.mark.parametrize("turns", [1, 2], ids=["circle", "eight"])
def test_a_map_is_not_torn_by_a_figure_that_ends_where_it_begins(turns: int) -> None:
    """Its start and its goal cannot be a way's length apart in the latent space: 25 % of the loops arrived at 100 Hz."""
    paths = closed(turns)
    field = learn_motions([paths], paths[0][0][-1:], memory=False)
    certificate = field.certificate(samples=20)
    assert certificate.safe, str(certificate)


@pytest.mark.slow
def test_memory_follows_what_no_map_can() -> None:
    field = learn_motions([eight()], np.zeros((1, 2)), recipe=replace(SMALL, steps=400, layers=6))
    assert field.has_memory and {"crossing"} <= {caution.name for caution in field.warnings}
    assert field.fit.by == "motion" and field.fit.distance < 0.3 * field.map_fit.distance
    plain = learn_motions([arcs(count=4)], np.zeros((1, 2)), recipe=replace(SMALL, steps=2), memory=False)
    assert not plain.has_memory and plain.fit.by == "map"
    with pytest.raises(ValueError, match="a field with memory"):
        plain.motion([1.0, 1.0])


@pytest.mark.slow
def test_models_trained_side_by_side_are_those_trained_alone() -> None:
    one, two = Bundle.of(arcs(), np.zeros(2)), Bundle.of(spirals(0.3), np.zeros(2))
    recipe = replace(SMALL, steps=20, layers=2)
    alone, _ = learn_bundles([one], recipe=recipe, dtype=np.float64)
    beside, _ = learn_bundles([one, two], recipe=recipe, dtype=np.float64)
    weights = alone[0].model.flow.weights
    assert np.abs(weights).max() > 0
    # Two programs round differently, and Adam divides the smallest gradients by themselves.
    np.testing.assert_allclose(beside[0].model.flow.weights, weights, atol=1e-6 * np.abs(weights).max())
    x = np.random.default_rng(0).uniform(0, 1, (20, 2))
    assert np.isfinite(beside[1].predict(x)).all() and np.isfinite(alone[0].predict(x)).all()


@pytest.mark.parametrize("memory", [False, True])
def test_demonstrations_rolled_out_together_are_followed_as_each_alone(memory, monkeypatch):
    found = identify(systems.heart.sample(seed=0, frequency=20.0))
    field = field_of(found, bend=0.2, memory=memory)
    motions = [[(found.demos.x[p], found.demos.v[p]) for p in found.paths(q)] for q in range(found.n_attractors)]
    together = following.followed(field, motions, memory=memory)
    monkeypatch.setattr(following, "TOGETHER", 1)
    alone = following.followed(field, motions, memory=memory)
    assert [one.name for one in together.demonstrations] == [one.name for one in alone.demonstrations]
    for a, b in zip(together.demonstrations, alone.demonstrations, strict=True):
        assert (a.goal, a.arrives) == (b.goal, b.arrives)
        assert np.allclose(
            [a.distance, a.end_error, a.cosine_error], [b.distance, b.end_error, b.cosine_error], rtol=1e-9
        )


@pytest.mark.parametrize("n_paths, expected", [(1, False), (2, False), (3, True)])
def test_fewer_paths_than_d_plus_one_are_no_smooth_field(monkeypatch, n_paths, expected):
    """A single path predicts its own pieces and says nothing of what lies beside it: that comes from the tube."""
    s = np.linspace(0.0, 1.0, 60)[3:, None]
    rise, slope = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2
    ways = [np.array([1.0 + 0.1 * k, 3.0 - 0.2 * k]) for k in range(n_paths)]
    motions = [[((1 - rise) * way, -slope * way) for way in ways]]
    asked = []
    monkeypatch.setattr(learner, "guide", lambda *a, **k: asked.append(True) or guide(*a, **k))
    learn_motions(motions, np.zeros((1, 2)), memory=False, recipe=replace(SMALL, steps=2))
    assert bool(asked) == expected


@pytest.mark.parametrize("passing", [1, 3])
def test_the_slopes_of_a_layer_are_those_of_its_definition(passing: int) -> None:
    from eigenwell.fields.flows import fourier_features, with_slopes

    rng = np.random.default_rng(passing)
    frequencies, weights = rng.normal(size=(6, passing)), rng.normal(size=(4, 12))
    p, mix = rng.normal(size=(passing, 9)), rng.normal(size=(4 * (1 + passing), 9))
    with double_precision(True):

        def ours(weights, p):
            return (mix * jnp.sin(layers.told(frequencies, weights, p))).sum()

        def defined(weights, p):
            return (mix * jnp.sin(with_slopes(frequencies, weights) @ fourier_features(frequencies, p))).sum()

        at = (jnp.asarray(weights), jnp.asarray(p))
        for mine, theirs in zip(jax.grad(ours, (0, 1))(*at), jax.grad(defined, (0, 1))(*at), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
