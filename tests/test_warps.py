"""Warps: each S a diffeomorphism with its Jacobian and its inverse, and a field that keeps its promises through it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.test_fields import integrated
from tests.test_motion import by_arrays
from tests.untrained import learned_field

import eigenwell as ew
from eigenwell.errors import DataError
from eigenwell.fields.around import Around, _contact, arranged, check_bodies
from eigenwell.fields.home import MARGIN as HOME
from eigenwell.fields.home import kept_home
from eigenwell.fields.loops import run_loops
from eigenwell.fields.moved import Leads, leads, moved
from eigenwell.fields.single import _entrance
from eigenwell.fields.warps import SKIN, Stretch, Within, World, returning, used


def ball(centre, radius, reach=2.0):
    centre = np.atleast_2d(np.asarray(centre, dtype=float))
    shapes = np.eye(centre.shape[1]) / np.broadcast_to(radius, len(centre))[:, None, None]
    return Around(centre.mean(0), centre, shapes, np.float64(reach))


def flow(d, rng, size=0.5):
    old = rng.uniform(-1, 1, (3, d))
    return moved(
        old,
        old + size * rng.standard_normal((3, d)) / d**0.5,
        np.arange(3),
        Leads(rng.uniform(-1, 1, d), rng.uniform(0, 0.5, 3), 0.3 * rng.standard_normal((3, d))),
        np.full(d, 2.0),
    )


def every_warp(d):
    rng = np.random.default_rng(d)
    turned = np.linalg.qr(rng.standard_normal((d, d)))[0] / np.linspace(0.2, 0.5, d)[:, None]
    margin = np.full((2, d), 0.3)
    return {
        "within": Within(np.full(d, -1.2), np.append(np.full(d - 1, 1.2), np.inf), margin, np.float64(0.4)),
        "stretch": Stretch(np.full(d, -0.8), np.full(d, 0.8), margin, np.float64(0.5)),
        "ball": ball(np.zeros(d), 0.4),
        "thin": ball(np.full(d, 0.1), 0.4, 1.05),
        "ellipsoid": Around(np.full(d, 0.1), np.full((1, d), 0.1), turned[None], np.float64(1.7)),
        "union": ball([np.full(d, 0.1), -np.full(d, 0.1)], [0.5, 0.4]),
        "moved": flow(d, rng),
    }


def places(d, one, count, seed=0):
    """States (d, n) at which S is defined: outside bodies, within hard walls."""
    x = np.random.default_rng(seed).uniform(-1.5, 1.5, (d, count))
    if isinstance(one, Around):
        return x[:, one.gauge(x - one.centre[:, None])[0] > 1 + 1e-4]
    if isinstance(one, Within):
        return x[:, np.maximum(*used(one, x)).max(0) < 1 - SKIN]
    return x


def alone(one):
    """One warp as a world, in the data's units."""
    d = len(one.shift if hasattr(one, "shift") else one[0])
    return World(np.zeros(d), np.ones(d), (one,), np.zeros((1, d)))


def slopes(one, x):
    """S(x), and DS(x) through all parts of a warp."""
    z, seen = alone(one).linearise(x)
    return z, seen.slopes


def pushed(found, w):
    """DS w, by the rows of DS, which are what gradients become."""
    for slope in found:
        rows = [slope.push_gradient(np.broadcast_to(e[:, None], w.shape)) for e in np.eye(len(w))]
        w = np.stack([(row * w).sum(0) for row in rows])
    return w


def pulled(found, w):
    for slope in reversed(found):
        w = slope.pull(w)
    return w


LAWS = [(d, name) for d in (2, 3, 7) for name in every_warp(2)]


@pytest.mark.parametrize("d, name", LAWS)
def test_the_inverse_undoes(d, name):
    one = every_warp(d)[name]
    x = places(d, one, 2000)
    one = alone(one)
    z = one.forward(x)
    # Near a wall the learned world is a thousand margins away: rounding there is of that size.
    assert np.abs(one.inverse(z) - x).max() < 1e-9
    assert np.abs(one.forward(one.inverse(x)) - x).max() < 1e-9


@pytest.mark.parametrize("d, name", LAWS)
def test_the_jacobian_is_that_of_differences_and_nothing_folds(d, name):
    one = every_warp(d)[name]
    x = places(d, one, 300)
    z, found = slopes(one, x)
    one = alone(one)
    np.testing.assert_allclose(z, one.forward(x), rtol=1e-12)
    h = 1e-6
    columns = [(one.forward(x + h * e[:, None]) - one.forward(x - h * e[:, None])) / (2 * h) for e in np.eye(d)]
    jacobian = np.stack(columns, axis=1)
    size = np.linalg.norm(jacobian, axis=(0, 1))
    w = np.random.default_rng(1).standard_normal(x.shape)
    # Where S is of second order continuous alone, differences over the kink are off by h.
    assert np.quantile(np.abs(pushed(found, w) - (jacobian * w).sum(1)).max(0) / size, 0.99) < 1e-4
    np.testing.assert_allclose(pulled(found, pushed(found, w)), w, atol=1e-9)
    turned = one.linearise(x)[1].push_gradient(w)
    np.testing.assert_allclose((turned * w).sum(0), (w * pushed(found, w)).sum(0), atol=1e-9 * size.max())


@pytest.mark.parametrize("d, name", LAWS)
def test_the_determinant_is_positive_everywhere(d, name):
    one = every_warp(d)[name]
    x = places(d, one, 20_000, seed=2)
    found = slopes(one, x)[1]
    jacobian = np.stack([pushed(found, np.broadcast_to(e[:, None], x.shape)) for e in np.eye(d)], axis=1)
    assert np.linalg.det(np.moveaxis(jacobian, -1, 0)).min() > 0


@pytest.mark.parametrize("d, name", LAWS)
def test_the_clock_is_positive_and_the_direction_that_of_the_pull(d, name):
    one = every_warp(d)[name]
    x = places(d, one, 500)
    v = np.random.default_rng(3).standard_normal(x.shape)
    for slope in slopes(one, x)[1]:
        w, c = slope.carry(v)
        assert (c > 0).all()
        np.testing.assert_allclose(w, c * slope.pull(v), rtol=1e-6, atol=1e-12)
        found = slope.brake(w)
        assert found is None or (found[0] > 0).all()


def test_what_is_taken_back_from_the_wrong_side_is_no_faster_than_it_was():
    rng = np.random.default_rng(0)
    w, back = rng.standard_normal((2, 3, 1000))
    back *= 10 ** rng.uniform(-2, 1, 1000)
    slow = rng.uniform(0, 1, 1000)
    v, share = returning(w, slow, back)
    speed, straight = np.linalg.norm(w, axis=0), np.linalg.norm(back, axis=0)
    assert (np.linalg.norm(v, axis=0) <= speed * (1 + 1e-9)).all() and ((share >= 0) & (share <= slow)).all()
    far = straight >= speed  # nothing is left of where it was going
    np.testing.assert_allclose(v[:, far], (back / straight * speed)[:, far], rtol=1e-9)
    assert far.any() and (share[far] < 1e-9).all() and (share[~far] > 0).all()


def test_nothing_changes_beyond_the_reach():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (3, 1000))
    round_it = ball([0.2, 0, 0], 0.5)
    outside = round_it.gauge(x - round_it.centre[:, None])[0] > 2
    np.testing.assert_allclose(round_it.forward(x)[:, outside], x[:, outside], rtol=1e-14)
    walls = Within(np.full(3, -2.0), np.full(3, 2.0), np.full((2, 3), 0.5), np.float64(0.4))
    inner = (np.abs(x) < 1.5).all(0)
    np.testing.assert_array_equal(walls.forward(x)[:, inner], x[:, inner])


def test_a_stretch_is_a_map_of_all_of_space():
    one = every_warp(2)["stretch"]
    x = np.random.default_rng(0).uniform(-50, 50, (2, 1000))
    np.testing.assert_allclose(one.inverse(one.forward(x)), x, atol=1e-12)
    slope = one.linearise(np.sort(x, axis=1))[1].scale
    # Steepest at the knee, (1 - k)^-2, and no stretch at all far away: what is there is moved, and no more.
    assert (slope >= 1).all() and slope.max() <= 4.0
    np.testing.assert_allclose(slope[:, [0, -1]], 1.0, atol=1e-3)


@pytest.mark.parametrize("d, name", LAWS)
def test_one_state_in_plain_numbers_is_the_same(d, name):
    """With a coordinate beside, as a phase is, which passes."""
    one = every_warp(d)[name]
    world = World(np.zeros(d), np.ones(d), (one, every_warp(d)["stretch"]), np.ones((1, d)))
    x, v = np.random.default_rng(5).uniform(-1.8, 1.8, (2, d + 1, 200))
    x[:d, 0] = 0.0
    z, seen = world.linearise(x)
    (w, clock), (braked, share) = seen.carry(v), seen.braked(v)
    small = v[:d]
    for slope in reversed(seen.slopes):
        small = slope.pull(small)
    enter = _entrance(world)
    for i in range(x.shape[1]):
        place, leave, stop, home, *_ = enter(x[:, i].tolist())
        np.testing.assert_allclose(place, z[:, i], rtol=1e-9, atol=1e-12)
        velocity, rate = leave(v[:, i].tolist())
        np.testing.assert_allclose([*velocity, rate], [*w[:, i], clock[i]], rtol=1e-7, atol=1e-10)
        velocity, rate = stop(v[:, i].tolist())
        np.testing.assert_allclose([*velocity, rate], [*braked[:, i], share[i]], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(home(v[:, i].tolist()), [*small[:, i], v[d, i]], rtol=1e-7, atol=1e-10)


def test_landmarks_go_exactly_where_they_belong():
    rng = np.random.default_rng(4)
    for d in (2, 3, 7):
        one = flow(d, rng, 0.7)
        np.testing.assert_allclose(alone(one).forward(one.new.T), one.old.T, atol=1e-12)


def arcs(goal, count=3):
    """Bowed ways of one goal, from starts side by side."""
    t = np.linspace(0, 1, 60)[:, None]
    starts = np.array([[0.0, 0.1 * k] for k in range(count)])
    return [(1 - t) * start + t * goal + np.sin(np.pi * t) * [0.0, 0.6] for start in starts]


def test_a_motion_with_its_goal_moved_keeps_its_look():
    """Start and goal are where they should be, and the ways between as stretch and shear along the way take them."""
    goal, delta, box = np.array([1.0, 0.0]), np.array([0.1, 0.3]), np.ones(2)
    ways = arcs(goal)
    one = moved(goal[None], (goal + delta)[None], np.arange(1), leads([(0, x) for x in ways], goal[None], box, 0), box)
    assert len(one.path) == 0
    for x in ways:
        way = goal - x[0]
        wanted = x + ((x - x[0]) @ way / (way @ way))[:, None] * delta
        np.testing.assert_allclose(alone(one).inverse(x.T).T, wanted, atol=0.02)
    np.testing.assert_allclose(alone(one).inverse(goal[:, None])[:, 0], goal + delta, atol=1e-12)


def test_a_motion_is_not_bent_by_another_goal_that_moves():
    plain = two_goals(memory=True)
    field, x = plain.moved({0: NEW}), np.random.default_rng(0).uniform(-1, 1, (20, 3))
    np.testing.assert_array_equal(field.lifted[1].predict(x), plain.lifted[1].predict(x))
    assert np.abs(field.lifted[0].predict(x) - plain.lifted[0].predict(x)).max() > 0.01


def test_a_place_that_is_passed_is_moved_for_the_map_and_for_every_motion():
    old, new = np.array([-0.2, -0.4]), np.array([-0.3, -0.2])
    field = two_goals(memory=True).moved({0: NEW}, via=[(old, new)])
    for one in (field.map, *field.lifted):
        there = one.learned_place(np.append(new, np.zeros(one.dimension - 2))[None])[0, :2]
        np.testing.assert_allclose(there, old, atol=1e-12)
    np.testing.assert_allclose(field.map.learned_place(field.attractors), field.unwarped.attractors, atol=1e-12)


def test_a_figure_that_ends_where_it_began_is_moved_and_not_torn():
    t = np.linspace(0, 2 * np.pi, 100)[:, None]
    circle = np.hstack([np.cos(t), np.sin(t)])
    goal, delta, box = circle[-1], np.array([0.3, 0.5]), np.full(2, 2.0)
    one = moved(goal[None], (goal + delta)[None], np.arange(1), leads([(0, circle)], goal[None], box, 0), box)
    assert np.linalg.cond(one.matrix) < 3
    np.testing.assert_allclose(alone(one).inverse(goal[:, None])[:, 0], goal + delta, atol=1e-12)


def test_contact_of_balls_is_their_distance():
    eye = np.eye(3)
    assert _contact(np.array([3.0, 0, 0]), eye, eye / 2)[0] == pytest.approx(1.0)
    tall = np.diag([1.0, 1.0, 1 / 5])
    assert _contact(np.array([4.0, 0, 0]), tall, eye)[0] == pytest.approx(2.0, rel=1e-6)
    assert _contact(np.array([0, 0, 9.0]), tall, eye)[0] == pytest.approx(1.5, rel=1e-6)


def test_layers_do_not_overlap():
    bodies = check_bodies([[0, 0], [1.0, 0]], [0.3, 0.4], None, 2)
    open_ = np.full(2, np.inf)
    groups, _ = arranged(bodies, np.array([[0.0, 1.0]]), -open_, open_, np.ones((2, 2)))
    assert len(groups) == 2
    assert groups[0].reach * 0.3 + groups[1].reach * 0.4 <= 1 + 1e-9


# --- fields -------------------------------------------------------------------------------------------


def two_goals(memory=False, bend=0.3, d=2, scale=1.0):
    starts = np.array([[-1.0, -1], [-0.9, -1], [-0.8, -1]])
    goals = np.array([[1.0, 0.5], [-0.5, 1.0]])
    pad = np.zeros((3, d - 2))
    starts, goals = np.hstack([starts, pad]), np.hstack([goals, 0.3 * np.ones((2, d - 2))])
    starts, goals = scale * starts, scale * goals
    ways = [np.linspace(start, goal, 50) for goal in goals for start in starts]
    return learned_field(
        goals, np.concatenate(ways), np.repeat([0, 1], 150), np.tile(np.linspace(1, 0, 50), 6), memory=memory, bend=bend
    )


NEW = [1.2, 0.1]


def everything(field):
    d = field.dimension
    new, low = np.append(NEW, np.full(d - 2, 0.2)), np.append([-2.0, -2.0], np.full(d - 2, -1.0))
    middle = np.append([0.2, -0.3], np.full(d - 2, 0.1))
    return field.moved({0: new}).around(middle, radius=0.2).within(low, None)


@pytest.mark.parametrize("d", [2, 3])
def test_a_warped_field_holds(d):
    plain = two_goals(memory=d == 2, d=d)
    field = everything(plain)
    np.testing.assert_array_equal(field.attractors[0, :2], NEW)
    assert [type(one).__name__ for one in field.warps] == ["Within", "Around", "Moved"]
    certificate, before = (one.certificate(samples=6, rates=(100.0,)) for one in (field, plain))
    assert all(one.holds for one in certificate.verdicts if one.name != "stays home"), str(certificate)
    # Nothing was learned: its motions bow as they like, and through warps no further than before.
    assert certificate.excursion <= HOME
    assert all(
        one.excursion < two.excursion + 0.05 for one, two in zip(certificate.motions, before.motions, strict=True)
    )
    assert certificate.fit is None


def test_potential_falls_and_its_gradient_is_that_of_differences():
    field = everything(two_goals())
    x = field.map.present_place(np.random.default_rng(0).uniform(-1.5, 1.5, (200, 2)))
    gradient, h = field.potential_gradient(x), 1e-6
    differences = [(field.potential(x + h * e) - field.potential(x - h * e)) / (2 * h) for e in np.eye(2)]
    assert np.quantile(np.abs(np.stack(differences, 1) - gradient).max(1), 0.98) < 1e-4
    assert ((gradient * field.predict(x)).sum(1) < 0).all()


def test_sinks_saddles_and_basins_are_images_of_the_learned():
    plain = two_goals()
    field = everything(plain)
    z = np.random.default_rng(0).uniform(-1.5, 1.5, (300, 2))
    np.testing.assert_array_equal(field.basin(field.map.present_place(z)), plain.basin(z))
    np.testing.assert_allclose(field.map.learned_place(field.saddles), plain.saddles, atol=1e-9)
    assert np.abs(field.predict(field.saddles)).max() < 1e-6
    assert field.far(field.map.present_place(z)).tolist() == plain.far(z).tolist()


def test_a_roll_out_solves_the_equation_that_predict_states():
    field = everything(two_goals())
    x0 = field.map.present_place(np.array([[-1.0, -1.0], [0.0, -0.9], [-0.4, -1.3]]))
    t = np.linspace(0, 0.8, 101)
    latent = field.simulate(x0, t=t, memory=False)
    loop = integrated(field.map, x0, t, 0.01)
    assert np.abs(latent - loop).max() < 2e-3
    fallen = np.diff(np.array([field.potential(way) for way in latent]), axis=1)
    assert (fallen <= 1e-12).all()


def test_the_clock_is_slowed_by_what_slows_the_velocity():
    """A short step of `advance` is one of `predict`, beside walls and bodies as well, which brake."""
    field = two_goals().around([0.0, 0.0], radius=0.2).within([-1.3, -1.2], [1.3, 1.3])
    x = np.random.default_rng(0).uniform([-1.3, -1.2], [1.3, 1.3], (2000, 2))
    x = x[np.linalg.norm(x, axis=1) > 0.201]
    v, dt = field.predict(x), 1e-6 / field.map.pace
    one = field.map
    share = one.model.world.linearise(one.to_unit(x).T)[1].braked((v / one.scale).T)[1]
    assert (share < 0.9).sum() > 5
    np.testing.assert_allclose((field.advance(x, dt) - x) / dt, v, atol=1e-3 * np.linalg.norm(v, axis=1).max())


def test_order_does_not_matter_and_unwarped_is_the_learned():
    plain = two_goals()
    one = plain.moved({0: NEW}).around([0.2, -0.3], radius=0.2).within([-2, -2], None)
    other = plain.within([-2, -2], None).around([0.2, -0.3], radius=0.2).moved({0: NEW})
    x = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    np.testing.assert_array_equal(one.predict(x), other.predict(x))
    np.testing.assert_array_equal(one.unwarped.predict(x), plain.predict(x))
    assert one.unwarped.warps == () and plain.unwarped is plain
    again = one.moved({0: [1.1, 0.2]})
    np.testing.assert_array_equal(again.attractors[0], [1.1, 0.2])
    assert len(again.warps) == 3


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("begin", [NEW, [1.0, 0.5]])
def test_a_goal_that_moves_is_followed(begin, kept):
    """By velocities and by states, alone and among many, also from where it was learned, and within walls that were learned."""
    field = two_goals()
    if kept:
        field = replace(field, map=kept_home(field.map, field.samples.min(0), field.samples.max(0)))
    rate, place, dt = np.array([0.3, -0.2]), np.array(begin), 0.01
    ways = [
        lambda now, x: x + dt * now.predict(x),
        lambda now, x: x + dt * now.predict(x, dt),
        lambda now, x: now.advance(x, dt),
        lambda now, x: now.advance(np.tile(x, (40, 1)), dt)[-1],
        lambda now, x: x + dt * now.predict(np.tile(x, (40, 1)))[-1],
    ]
    states = [place.copy() for _ in ways]
    for _ in range(50):
        now = field.moved({0: place}, velocity={0: rate})
        states = [way(now, x) for way, x in zip(ways, states, strict=True)]
        place = place + dt * rate
    np.testing.assert_allclose(states, np.tile(place, (len(ways), 1)), atol=1e-4)
    assert np.linalg.norm(begin - place) > 0.15


def test_a_field_that_stays_home_does_so_with_its_goals_elsewhere():
    """In the world that was learned, where it is proved: in this one the box is bent as the ways are."""
    field = two_goals(bend=0.6)
    field = replace(field, map=kept_home(field.map, field.samples.min(0), field.samples.max(0)))
    field = field.moved({0: [1.6, -0.4], 1: [-0.9, 1.2]})
    starts = field.map.present_place(np.random.default_rng(0).uniform(*field.home, (200, 2)))
    (loop,) = run_loops(field, starts, 20.0, np.ones(200), "advance")
    assert 0 < loop.excursion <= HOME and loop.arrived == 1.0


def test_few_states_are_the_same_as_many_and_motions_too():
    field = everything(two_goals(memory=True))
    x = np.random.default_rng(0).uniform(-1.5, 1.5, (40, 2))
    many = field.predict(x)
    np.testing.assert_allclose(np.stack([field.predict(one) for one in x]), many, atol=1e-9)
    for one in x[:10]:
        motion = field.motion(one, goal=0)
        np.testing.assert_allclose(motion._velocity(one), by_arrays(motion, one), atol=1e-9)


def test_from_inside_a_state_is_taken_out():
    field = two_goals().around([0.0, 0.0], radius=0.3).within([-2, -2], [2, 2])
    x = np.array([[0.0, 0.0], [0.1, 0.05], [-0.29, 0.0], [2.1, 0.0]])
    for _ in range(3000):
        x = x + 0.01 * field.predict(x)
    assert (np.linalg.norm(x[:, None] - field.attractors, axis=2).min(1) < 0.05).all()


def test_no_loop_passes_a_wall_however_fast_the_field_would_be():
    """The limit of speed comes first: walls let a share through of what is left, also where a goal leaves little margin."""
    field = two_goals()
    fast = field.map.model.speed._replace(offset=np.float64(8.0))
    field = replace(field, map=replace(field.map, model=field.map.model._replace(speed=fast, brake=np.ones(2))))
    low, high = np.array([-1.2, -1.2]), np.array([1.02, 1.01])
    fenced, dt = field.within(low, high), 0.05 * float(field.box.min()) / field.speed_limit
    rng = np.random.default_rng(0)
    x = rng.uniform(low, high, (500, 2))
    x[:200] = np.where(rng.random((200, 2)) < 0.5, low + 1e-7, high - 1e-7)
    for _ in range(200):
        v = fenced.predict(x)
        assert np.linalg.norm(v, axis=1).max() <= field.speed_limit * (1 + 1e-9)
        x = x + dt * v
        assert (x > low).all() and (x < high).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_on_a_wall_and_beyond_a_state_comes_back(scale):
    field = two_goals(scale=scale)
    low, high = np.array([-1.3, -1.2]) * scale, np.array([1.2, 1.3]) * scale
    walled = field.within(low, high).around([0.0, 0.0], radius=0.2 * scale)
    edge = np.array(
        [
            [low[0], low[1]],
            [low[0], 0.0],
            [0.0, high[1]],
            [high[0], high[1]],
            [1.5 * high[0], 0.0],
            [-9.0 * scale, 9.0 * scale],
        ]
    )
    skin = 0.2 * scale * np.array([[1.0, 0.0], [0.0, -1.0], [0.6, 0.8], [0.0, 0.0]])
    x, dt = np.concatenate([edge, skin]), 0.01 / field.map.pace
    assert np.linalg.norm(walled.predict(x), axis=1).min() > 0
    after = walled.advance(x, dt)
    assert ((after > low) & (after < high)).all() and (np.linalg.norm(after[-4:], axis=1) > 0.2 * scale).all()
    assert set(walled.basin(x)) <= {0, 1}
    for _ in range(8_000):
        x = x + dt * walled.predict(x)
    assert (np.linalg.norm(x[:, None] - field.attractors, axis=2).min(1) < 0.01 * scale).all()


@pytest.mark.parametrize("which", ["field", "map", "one"])
def test_saved_and_loaded(tmp_path, which):
    field = everything(two_goals(memory=True))
    one = {"field": field, "map": field.map, "one": field.toward(0)}[which]
    ew.models.save(one, tmp_path / "field.eigenwell")
    back = ew.load(tmp_path / "field.eigenwell")
    x = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    np.testing.assert_array_equal(back.predict(x), one.predict(x))
    np.testing.assert_array_equal(back.attractors, one.attractors)
    if which == "field":
        assert len(back.warps) == 3
        np.testing.assert_array_equal(back.simulate(x[:3], 1.0), field.simulate(x[:3], 1.0))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda f: f.moved({2: [0, 0]}), "0 to 1"),
        (lambda f: f.moved({0: [0, 0, 0]}), "2 finite numbers"),
        (lambda f: f.moved({0: "there"}), "2 numbers"),
        (lambda f: f.moved({0: [-0.5, 1.0]}), "different places"),
        (lambda f: f.around([1.0, 0.5], radius=0.1), "goal 0"),
        (lambda f: f.around([0.0, 0.0], radius=0.0), "radius > 0"),
        (lambda f: f.around([0.0, 0.0], radius=-1.0), "radius > 0"),
        (lambda f: f.around([0.0, 0.0, 0.0], radius=1.0), "2 finite numbers"),
        (lambda f: f.around([0.0, 0.0]), "either radius"),
        (lambda f: f.around([0.0, 0.0], axes=np.zeros((2, 2))), "none of them zero"),
        (lambda f: f.around([[0, 0], [0.3, 0], [0.6, 0]], radius=0.2), "larger ball"),
        (lambda f: f.within([-2, -2], [0.5, 2]), "goal 0"),
        (lambda f: f.within([2, 2], [-2, -2]), "low < high"),
        (lambda f: f.within([0, 0, 0], None), "2 numbers"),
        (lambda f: f.within(), "Expected a wall"),
        (lambda f: f.within([-2, -2], [2, 2]).around([-1.9, 0.0], radius=0.3), "within the walls"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(DataError, match=words):
        call(two_goals())


def test_one_wall_may_be_given_alone():
    plain = two_goals()
    low, high = plain.within(low=[None, -2]), plain.within(high=[2, None])
    (below,), (above,) = low.warps, high.warps
    assert below.low.tolist() == [-np.inf, -2] and np.isinf(below.high).all()
    assert above.high.tolist() == [2, np.inf] and np.isinf(above.low).all()
    both, x = low.within(high=[2, None]), plain.samples + 0.3
    assert np.array_equal(both.predict(x), plain.within([None, -2], [2, None]).predict(x))


def test_a_world_passes_what_it_does_not_warp():
    world = World(np.zeros(2), np.ones(2), (ball([0.0, 0.0], 0.3),), np.ones((1, 2)))
    z, seen = world.linearise(np.array([[0.4], [0.0], [0.7]]))
    assert z[2, 0] == 0.7 and z[0, 0] < 0.4
    w, c = seen.carry(np.array([[0.1], [0.2], [-1.0]]))
    assert w[2, 0] == -c[0]


def test_the_fit_of_a_field_elsewhere_says_that_it_is_of_the_learned_one():
    field = two_goals(memory=True)
    other = everything(field)
    assert other.fit.distance == field.fit.distance and other.map_fit.as_learned
    assert str(other.fit) == f"as it was learned, {field.fit}"
    assert str(other.unwarped.fit) == str(field.fit)


def test_advance_takes_one_state_from_beyond_a_wall_as_it_takes_many():
    """Where time stands still in the learned world: such a state is taken for one on the skin of the wall."""
    field = two_goals(memory=True).within([-1.5, -1.5], [1.5, 1.5])
    x = np.array([[2.5, 0.2], [-1.9, 1.7], [0.3, -3.0]])
    many = field.advance(np.repeat(x, 8, axis=0), 0.05)[::8]
    one = np.stack([field.advance(place, 0.05) for place in x])
    np.testing.assert_allclose(one, many, atol=1e-6)
    assert (np.abs(one) <= 1.5).all() and (np.abs(field.motion(x[0]).advance(x[0], 0.05)) <= 1.5).all()
