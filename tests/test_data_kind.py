"""Trajectories, shuffled, or samples at scattered places: the evidence and its laws."""

import numpy as np
import pytest

import eigenwell as ew
from eigenwell import systems
from eigenwell.flow import data_kind, weigh
from eigenwell.flow.data_kind import NEIGHBOURS, WIDTHS, regularity


def random_turn(d, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def noisy(system, share, seed=0, drop=0.0, **options):
    """Trajectories with noise of a share of a step, shuffled."""
    demos, rng = system.sample(seed=seed, **options), np.random.default_rng(seed)
    step = np.median(np.concatenate([np.linalg.norm(np.diff(x, axis=0), axis=1) for x, _ in demos.trajectories()]))
    speed = np.median(np.linalg.norm(demos.v, axis=1))
    kept = rng.permutation(demos.n_samples)[: round((1 - drop) * demos.n_samples)]
    x = demos.x + share * step * rng.standard_normal(demos.x.shape)
    v = demos.v + share * speed * rng.standard_normal(demos.v.shape)
    return x[kept], v[kept]


def jittered(share, seed=0):
    """Places on a turned grid, each moved by a share of its spacing, in a field of four wells."""
    axis = np.linspace(-2, 2, 30)
    x = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    x = x + share * (axis[1] - axis[0]) * np.random.default_rng(seed).uniform(-1, 1, x.shape)
    x = x @ random_turn(2, seed)
    return x, systems.four_wells.field(x)


# The law of chance.


def test_chance_has_mean_zero_and_variance_one_half():
    t = np.random.default_rng(0).uniform(-1, 1, (200_000, 2))
    m = np.where(t[:, 0] * t[:, 1] < 0, np.abs(t).min(axis=1), 0.0)
    score = 3 * m - 0.5
    assert score.mean() == pytest.approx(0, abs=4 * np.sqrt(0.5 / len(t)))
    assert score.std() == pytest.approx(np.sqrt(0.5), rel=0.01)


def places(kind, d, n, rng):
    if kind == "uniform":
        return rng.uniform(-1, 1, (n, d))
    if kind == "clustered":
        return rng.standard_normal((12, d))[rng.integers(0, 12, n)] + 0.1 * rng.standard_normal((n, d))
    line = np.zeros((n, d))
    line[:, 0] = rng.exponential(1.0, n)
    return line + 1e-3 * rng.standard_normal((n, d))


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "line"])
def test_scattered_places_have_none_whatever_their_density_and_dimension(kind, d):
    rng = np.random.default_rng(d)
    x = places(kind, d, 3000, rng)
    v = np.eye(d)[0] * (1 + 0.5 * x[:, :1]) + 0.1 * rng.standard_normal(x.shape)
    evidence = weigh(x, v)
    # The widest of seven tubes that share most of their samples: three standard errors are hardly ever passed.
    assert abs(evidence.regular) < 3 * np.sqrt(0.5 / evidence.asked)
    assert evidence.snapshots


def test_a_straight_steady_motion_is_all_regular():
    x = np.zeros((400, 2))
    x[:, 0] = np.arange(400.0)
    evidence = weigh(x, np.tile([1.0, 0.0], (400, 1)))
    assert evidence.regular > 0.99  # but for the ends
    assert not evidence.snapshots


# The same by brute force.


def slowly(x, v, near_x, near_v):
    """`regularity`, one sample and one tube after the other."""

    def excess(times, ways, sizes, reaches):
        means = []
        for width in WIDTHS:
            total = 0.0
            for t, way, size, reach in zip(times, ways, sizes, reaches, strict=True):
                off = np.sqrt(np.maximum(size**2 - way**2, 0))
                tube = sorted((abs(a), a, abs(b)) for a, b, o in zip(t, way, off, strict=True) if o <= width * reach)
                if len(tube) < 3 or tube[2][2] < width * reach:
                    continue
                opposite = tube[0][1] * tube[1][1] < 0
                total += 3 * (tube[0][0] / tube[2][0] if opposite else 0.0) - 0.5
            means.append(total / len(times))
        return max(means)

    along, across = ([], [], [], []), ([], [], [], [])
    for k in range(len(x)):
        step = near_x[k] - x[k]
        size = np.linalg.norm(step, axis=1)
        mean = (near_v[k] + v[k]) / 2
        pace = np.linalg.norm(mean, axis=1)
        alike = np.linalg.norm(near_v[k] - v[k], axis=1) < pace
        way = (step * mean).sum(axis=1) / pace
        for table, row in zip(along, ((way / pace)[alike], way[alike], size[alike], size.max()), strict=True):
            table.append(row)
        far = step[size.argmax()]
        aside = far - (far @ v[k]) * v[k] / (v[k] @ v[k])
        way = step @ aside / np.linalg.norm(aside)
        for table, row in zip(across, (way, way, size, size.max()), strict=True):
            table.append(row)
    return excess(*along) - max(excess(*across), 0.0)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_regularity_is_what_a_plain_loop_finds(noise):
    x, v = noisy(systems.duffing, noise, frequency=20.0)
    near = np.argsort(((x[:150, None] - x) ** 2).sum(axis=2), axis=1)[:, 1 : NEIGHBOURS + 1]
    expected = slowly(x[:150], v[:150], x[near], v[near])
    assert regularity(x[:150], v[:150], x[near], v[near]) == pytest.approx(expected, abs=1e-9)


def test_neighbours_that_are_missing_do_not_count():
    x, v = noisy(systems.heart, 0.1, frequency=20.0)
    near = np.argsort(((x[:100, None] - x) ** 2).sum(axis=2), axis=1)[:, 1:13]
    with_none = np.concatenate([x[near], np.full((100, 5, 2), np.nan)], axis=1)
    v_with_none = np.concatenate([v[near], np.full((100, 5, 2), np.nan)], axis=1)
    assert regularity(x[:100], v[:100], with_none, v_with_none) == regularity(x[:100], v[:100], x[near], v[near])


# What does not matter.

CASES = {"trajectories": lambda: noisy(systems.heart, 0.2), "snapshots": lambda: jittered(0.2)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("x_scale, v_scale", [(1e-6, 1e3), (1e6, 1e-3), (7.0, 0.1)])
def test_units_do_not_matter(case, x_scale, v_scale):
    x, v = CASES[case]()
    asked = slice(0, 300)
    near = np.argsort(((x[asked, None] - x) ** 2).sum(axis=2), axis=1)[:, 1 : NEIGHBOURS + 1]
    before = regularity(x[asked], v[asked], x[near], v[near])
    a, b = x_scale * x + 5 * x_scale, v_scale * v
    assert regularity(a[asked], b[asked], a[near], b[near]) == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_turns_do_not_matter(case):
    x, v = CASES[case]()
    turn = random_turn(2, seed=3)
    asked = slice(0, 300)
    near = np.argsort(((x[asked, None] - x) ** 2).sum(axis=2), axis=1)[:, 1 : NEIGHBOURS + 1]
    before = regularity(x[asked], v[asked], x[near], v[near])
    a, b = x @ turn, v @ turn
    assert regularity(a[asked], b[asked], a[near], b[near]) == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_order_does_not_matter(case):
    x, v = CASES[case]()
    order = np.random.default_rng(1).permutation(len(x))
    assert weigh(x[order], v[order]) == weigh(x, v)


# Known cases, both ways.


@pytest.mark.parametrize("noise", [0.2, 0.3])
@pytest.mark.parametrize("system", systems.all_systems, ids=lambda s: s.name)
def test_noisy_trajectories_are_not_taken_for_snapshots(system, noise):
    assert not weigh(*noisy(system, noise, seed=5)).snapshots


def test_nor_with_a_third_of_the_samples_missing():
    assert not weigh(*noisy(systems.heart, 0.2, seed=5, drop=0.3)).snapshots


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.3])
def test_nor_many_that_run_side_by_side(noise):
    assert not weigh(*noisy(systems.pendulum, noise, seed=5, n_per_attractor=20)).snapshots


def test_nor_recordings_of_seven_joints():
    demos, rng = ew.datasets.joint_recordings(5), np.random.default_rng(5)
    step = np.median(np.linalg.norm(np.diff(demos.x, axis=0), axis=1))
    x = demos.x + 0.3 * step * rng.standard_normal(demos.x.shape)
    v = demos.v + 0.3 * np.median(np.linalg.norm(demos.v, axis=1)) * rng.standard_normal(demos.v.shape)
    assert not weigh(x, v).snapshots


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_turned_and_jittered_grids_are_snapshots(share):
    assert weigh(*jittered(share)).snapshots


def test_a_grid_along_the_flow_is_snapshots_even_when_turned():
    axis = np.linspace(-2, 2, 30)
    x = np.stack(np.meshgrid(axis, axis / 2), axis=-1).reshape(-1, 2) @ random_turn(2, 4)
    v = np.tile(np.array([1.0, 0.0]) @ random_turn(2, 4), (len(x), 1))
    assert weigh(x, v).snapshots


def test_individuals_along_one_line_are_snapshots():
    rng = np.random.default_rng(0)
    s = rng.uniform(0, 1, (800, 1))
    x = np.hstack([s, np.sin(3 * s)]) + 1e-3 * rng.standard_normal((800, 2))
    v = np.hstack([1 + 0 * s, 3 * np.cos(3 * s)]) * (0.2 + s)
    assert weigh(x, v).snapshots


# What is said about it.


def test_few_samples_have_to_show_more():
    assert data_kind.Evidence(0.3, asked=1000).snapshots is False
    assert data_kind.Evidence(0.3, asked=20).snapshots is True
    assert data_kind.Evidence(0.9, asked=20).snapshots is False


def test_doubt_is_a_warning_that_names_the_other_reading():
    (caution,) = data_kind.Evidence(0.22).warnings
    assert "trajectories" in str(caution) and "FlowGraph" in str(caution)
    (caution,) = data_kind.Evidence(0.15).warnings
    assert "snapshots" in str(caution) and "SuccessorGraph" in str(caution)
    assert data_kind.Evidence(0.5).warnings == data_kind.Evidence(0.0).warnings == ()


def test_noisy_trajectories_are_identified_as_such():
    x, v = noisy(systems.heart, 0.3, seed=1)
    found = ew.identify(x, v)
    assert (found.kind, found.n_attractors) == ("trajectories", 2)


@pytest.mark.parametrize("seed", range(5))
def test_a_lap_is_what_lies_between_two_passages_of_one_place(seed):
    """Irregular samples of a circle, once round and a little more; a spiral has none, and units and rotation change nothing."""
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 2.2 * np.pi, 300))
    round_ = np.column_stack([np.cos(angle), np.sin(angle)])
    speed = round_[:, ::-1] * [-1, 1]
    once = np.count_nonzero(angle < 2 * np.pi)
    assert 0.9 * once < data_kind.lap(round_, speed) <= 300
    turn = 5 * np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert data_kind.lap(round_ @ turn, 3 * speed @ turn) == data_kind.lap(round_, speed)
    inward = np.exp(-0.2 * angle)[:, None]
    assert data_kind.lap(inward * round_, inward * (speed - 0.2 * round_)) < 0.1 * len(angle)


def test_individuals_along_a_cycle_are_not_one_long_recording():
    said = [ew.identify(systems.van_der_pol.snapshots(500, seed=s, design=systems.front)) for s in (1, 2, 3, 7)]
    assert [found.kinds for found in said] == [("cycle",)] * 4
