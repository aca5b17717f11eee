"""Compare and sweep: matching, shares, branches; and of the flow: slices, exits, walls, the arrow."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.test_cli import run

import eigenwell as ew
from eigenwell.attractors import Attractor
from eigenwell.comparison import Event, shares
from eigenwell.comparison.branches import _event, branches
from eigenwell.comparison.conditions import tracked
from eigenwell.comparison.groups import _Rows
from eigenwell.comparison.matching import Basins, Seen, between, match
from eigenwell.flow.field import lifted, lifted_radial, radial
from eigenwell.flow.integration import DIFFERENCE, TABLEAU, Stepper
from eigenwell.flow.regression import fit_fields, loosened
from eigenwell.flow.slices import AtValue, Swept, follow, parting, sliced


def basins(places, rng, n=400):
    """Samples about some places, each in the basin of the nearest."""
    places = np.asarray(places, dtype=float)
    x = rng.uniform(places.min(0) - 1, places.max(0) + 1, size=(n, places.shape[1]))
    labels = np.linalg.norm(x[:, None] - places, axis=2).argmin(axis=1)
    return Basins(places, labels, cKDTree(x))


# --- matching -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_common_shift_of_half_the_distance_changes_no_match(seed):
    rng = np.random.default_rng(seed)
    places = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.2, 2.1]])
    turn = rng.standard_normal(2)
    moved = places + turn / np.linalg.norm(turn)
    order = rng.permutation(4)
    owner = match([Seen(b := basins(places, rng), q) for q in range(4)], basins(moved[order], rng))
    assert owner.tolist() == order.tolist()
    assert tracked([b, b]).tolist() == [[q, q] for q in range(4)]


def test_one_more_is_new_and_one_less_is_gone():
    rng = np.random.default_rng(0)
    two, three = [[0.0, 0.0], [2.0, 0.0]], [[0.1, 0.0], [2.1, 0.0], [1.0, 3.0]]
    assert tracked([basins(two, rng), basins(three, rng)]).tolist() == [[0, 0], [1, 1], [-1, 2]]
    assert tracked([basins(three, rng), basins(two, rng)]).tolist() == [[0, 0], [1, 1], [2, -1]]
    # A state that comes back is the same.
    assert tracked([basins(three, rng), basins(two, rng), basins(three, rng)])[2].tolist() == [2, -1, 2]


def test_between():
    middle = np.zeros(2)
    assert between(middle, np.array([1.0, 0.2]), np.array([-1.2, 0.0]))
    assert not between(middle, np.array([1.0, 0.2]), np.array([1.2, 0.0]))
    assert not between(middle, np.array([0.1, 0.0]), np.array([-1.2, 0.0]))


@pytest.fixture(scope="module")
def found():
    return {
        "level": ew.identify(ew.systems.duffing.sample(seed=0, frequency=10.0)),
        "tilted": ew.identify(ew.systems.tilted_duffing.sample(seed=1, frequency=10.0)),
    }


def test_compare_says_what_moved(found):
    compared = ew.compare(found)
    assert compared.states.tolist() == [[0, 0], [1, 1]]
    assert [c.what for c in compared.changes] == ["moved", "moved"]
    for change, before, after in zip(
        compared.changes, found["level"].attractors, found["tilted"].attractors, strict=True
    ):
        np.testing.assert_allclose(change.moved, after - before)
    same = ew.compare({"a": found["level"], "b": found["level"]})
    assert all(c.what == "kept" and c.p_moved == 1.0 and c.p_share > 0.5 for c in same.changes)
    assert "state 1 is where it was" in str(same) and repr(same) == "Comparison(2 conditions, 2 states)"
    assert (compared.labels("tilted") == found["tilted"].labels).all()
    assert len(compared.rows()) == 4 and "share" in compared._repr_html_()


def test_numbers_of_states_do_not_depend_on_numbers_of_attractors(found):
    swapped = ew.compare({"a": found["level"], "b": found["tilted"].renumbered([1, 0])})
    assert swapped.states.tolist() == [[0, 1], [1, 0]]


def test_shares_add_up_and_hold_what_was_counted(found):
    counts, what = shares.counted(found["level"])
    assert what == "paths" and counts.tolist() == [3, 3, 0]
    draws = shares.drawn(found["level"], 0)
    np.testing.assert_allclose(draws.sum(axis=1), 1)
    low, high = shares.interval(draws[:, 0])
    assert low < 0.5 < high and shares.differ(draws[:, 0], draws[:, 1]) > 0.5
    assert shares.differ(np.zeros(100), np.ones(100)) == 0.01


def test_compare_refuses_with_a_sentence(found):
    one = found["level"]
    with pytest.raises(ew.DataError, match="at least two conditions"):
        ew.compare({"a": one})
    with pytest.raises(ew.DataError, match="Expected a dictionary of conditions"):
        ew.compare([one, one])
    with pytest.raises(ew.DataError, match="Call identify"):
        ew.compare({"a": one, "b": one.demos})
    in_space = ew.identify(ew.systems.three_d.sample(seed=0, frequency=10.0))
    with pytest.raises(ew.DataError, match="one dimension"):
        ew.compare({"a": one, "b": in_space})
    d = one.demos
    pairs = [(1000 * x, 1000 * v) for x, v in d.trajectories()]
    with pytest.raises(ew.DataError, match="one unit"):
        ew.compare({"a": one, "b": ew.identify(pairs)})
    with pytest.raises(ew.DataError, match="a condition among level, tilted"):
        ew.compare(found).labels("heated")


class Cells:
    def __init__(self, x, v, **obs):
        self.obsm, self.layers, self.varm = {"X_pca": x, "velocity_pca": v}, {}, {}
        self.obs, self.uns = dict(obs), {}


def test_cells_take_the_answer_back():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.5, 1.5, size=(240, 2))
    v = np.stack([x[:, 0] - x[:, 0] ** 3, -x[:, 1]], axis=1)
    cells = Cells(x, v, treated=np.repeat(["no", "yes"], 120))
    compared = ew.compare(cells, by="treated")
    assert compared.conditions == ("no", "yes") and compared.n_states == 2
    assert set(cells.obs["eigenwell_state"]) == {"0", "1"}
    assert cells.uns["eigenwell_compare"]["states"].tolist() == [[0, 0], [1, 1]]
    right = (x[:, 0] > 0).astype(int).astype(str)
    assert (cells.obs["eigenwell_state"] == right).mean() > 0.97
    with pytest.raises(ew.DataError, match="one of the columns"):
        ew.compare(cells, by="heated")


# --- slices and sweeps --------------------------------------------------------------------------------


def folding(n, values, noise=0.0, seed=0):
    """x' = x - x^3 + p, y' = -y: two states until p = 2 / sqrt 27 = 0.385."""
    rng = np.random.default_rng(seed)
    p = np.repeat(values, n)
    x = rng.uniform(-2, 2, size=(len(p), 2))
    v = np.stack([x[:, 0] - x[:, 0] ** 3 + p, -x[:, 1]], axis=1)
    return x, v + noise * rng.standard_normal(v.shape), p


@pytest.fixture(scope="module")
def joint():
    x, v, p = folding(60, np.linspace(0, 0.8, 9))
    return fit_fields(np.column_stack([x, p]), v)[0][1], x


def test_a_slice_is_the_field_where_the_parameter_is_fixed(joint):
    field, x = joint
    here = sliced(field, 0.3)
    at = np.column_stack([x[:40], np.full(40, 0.3)])
    np.testing.assert_allclose(here(x[:40]), field(at), atol=1e-9)
    np.testing.assert_allclose(here.jacobian(x[:40])[1], field.jacobian(at)[1][:, :, :2], atol=1e-8)
    step = 1e-5 * np.array([1.0, 0.0])
    slope = (here(x[:40] + step) - here(x[:40] - step)) / 2e-5
    np.testing.assert_allclose(here.jacobian(x[:40])[1][:, :, 0], slope, atol=1e-4)


def test_a_rest_is_followed_to_its_fold(joint):
    field, _ = joint
    assert follow(field, np.array([-1.0, 0.0]), 0.0, 0.8) == pytest.approx(2 / 27**0.5, abs=0.01)
    assert follow(field, np.array([1.0, 0.0]), 0.0, 0.8) == pytest.approx(0.8)
    assert np.isnan(follow(field, np.array([0.0, 0.0]), 0.0, 0.8))  # a saddle


def test_a_toggle_parts_where_its_symmetric_rest_loses_stability():
    """At p = 2, whatever the way between the two states bends: the rest between them is not on their chord."""
    rng = np.random.default_rng(0)
    x, p = rng.uniform(0, 4, (1200, 2)), rng.uniform(1, 4, 1200)
    v = p[:, None] / (1 + x[:, ::-1] ** 2) - x
    field = fit_fields(np.column_stack([x, p]), v)[0][1]
    one, other = np.array([0.3, 2.7]), np.array([2.7, 0.3])
    assert parting(field, one, other, 3.0, 1.2) == pytest.approx(2.0, abs=0.02)
    # Where nothing parts, or it never stops, an end of the way is the answer.
    assert parting(field, one, other, 1.8, 1.2) == 1.8 and parting(field, one, other, 3.5, 3.0) == 3.0


@pytest.fixture(scope="module")
def swept():
    x, v, p = folding(110, np.linspace(0, 0.8, 7), noise=0.05)
    return ew.sweep({"heat": p, "x1": x[:, 0], "x2": x[:, 1], "v1": v[:, 0], "v2": v[:, 1]}, by="heat", replicates=8)


@pytest.mark.slow
def test_a_sweep_finds_where_a_state_dies(swept):
    assert swept.n_attractors.tolist() == [2, 2, 2, 1, 1, 1, 1]
    (event,) = swept.events
    assert event.what == "dies" and event.low < 2 / 27**0.5 < event.high
    assert event.high - event.low <= 0.8 / 6
    assert any(c.name == "borrowed" for c in swept.warnings)
    np.testing.assert_allclose(swept.shares.sum(axis=0), 1)
    assert "dies at" in str(swept) and len(swept.rows()) == 10
    assert len(swept.frame()) == 10 if pytest.importorskip("pandas") else True


@pytest.mark.slow
def test_a_sweep_is_drawn(swept, found, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    top, below = swept.plot()
    assert below.get_xlabel() == "heat" and top.get_legend() is not None
    assert ew.compare(found).plot().get_xlabel() == "x₁"
    with pytest.raises(ew.DataError, match="coordinate 0 to 1"):
        swept.plot(coordinate=2)
    for one in (swept, ew.compare(found)):
        one.report(tmp_path / "page.html", title="What <changed>")
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert (
            "What &lt;changed&gt;" in text and "<svg" in text and "<table>" in text and "http://localhost" not in text
        )
    plt.close("all")


def test_order_of_the_samples_does_not_matter():
    x, v, p = folding(60, np.linspace(0, 0.8, 4))
    order = np.random.default_rng(1).permutation(len(x))
    a, b = (Swept.of(x[o], v[o], p[o], 0, 1) for o in (np.arange(len(x)), order))
    # Sums of as many samples in blocks differ by rounding.
    np.testing.assert_allclose(a.fitted[0][1].affine, b.fitted[0][1].affine, atol=1e-5)


def test_columns_u_and_v_are_velocities_as_for_identify():
    x, v, p = folding(110, np.linspace(0, 0.5, 3))
    named = {"heat": p, "x": x[:, 0], "y": x[:, 1]}
    of_field, others = (named | {a: v[:, 0], b: v[:, 1]} for a, b in (("u", "v"), ("vx", "vy")))
    one, other = (ew.sweep(data, by="heat", replicates=10) for data in (of_field, others))
    assert str(one) == str(other) and one.rows() == other.rows()
    # With time they may be anything: the pixels of a picture.
    timed = _Rows({"t": 0.1 * np.arange(60)} | {name: column[:60] for name, column in of_field.items()})
    assert "heat, u, v" in ew.Demonstrations.of(timed).about


def test_sweep_refuses_with_a_sentence():
    x, v, p = folding(60, np.linspace(0, 0.8, 4))
    data = {"heat": p, "x1": x[:, 0], "x2": x[:, 1], "v1": v[:, 0], "v2": v[:, 1]}
    with pytest.raises(ew.DataError, match="parameter that varies"):
        ew.sweep(data | {"heat": np.ones(len(p))}, by="heat")
    with pytest.raises(ew.DataError, match="one of the columns heat, x1"):
        ew.sweep(data, by="cold")
    with pytest.raises(ew.DataError, match="use compare"):
        ew.sweep(data | {"heat": np.where(p > 0.2, "hot", "cold")}, by="heat")
    with pytest.raises(ew.DataError, match="at least three values"):
        ew.sweep(data | {"heat": np.where(p > 0.2, 1.0, 0.0)}, by="heat")
    with pytest.raises(ew.DataError, match="one value for each"):
        ew.sweep([1.0, 2.0], [ew.Demonstrations.from_samples(x, v)])
    with pytest.raises(ew.DataError, match="got neither"):
        ew.sweep(data)


def test_an_interval_of_replicates_holds_one_more_as_often_as_it_says():
    rng, gap = np.random.default_rng(0), np.array([0.0, 1e-9])
    draws = rng.standard_gamma(2.0, size=(2000, 25))
    said = [_event("dies", 0, at[1:], gap) for at in draws]
    held = np.mean([e.low <= at[0] <= e.high for e, at in zip(said, draws, strict=True)])
    assert held == pytest.approx(0.9, abs=0.02)


def test_hardly_smoothed_is_the_fit_with_hardly_any_noise_ratio():
    x, v, p = folding(60, np.linspace(0, 0.8, 9), noise=0.1)
    y, n = np.column_stack([x, p]), len(x)
    field, h = fit_fields(y, v)[0][1], np.column_stack([np.ones(n), y])
    loose = loosened(field, y, v)
    for (block, mine), less in zip(field.columns, loose.blocks, strict=True):
        assert less.kernel is block.kernel and len(less.inducing) >= len(block.inducing)
        np.testing.assert_allclose(less.ratios, block.ratios / n)
        bent, weights = less.bent(y, h), less.basis.T @ less.weights
        # Ridge regression on the features: (e + lambda) w is what the samples say of each.
        told = (less.e[:, None] + less.ratios) * weights
        np.testing.assert_allclose(told, bent.T @ v @ field.outputs[:, mine], atol=1e-6 * np.abs(told).max())
    truth = folding(60, np.linspace(0, 0.8, 9))[1]
    left = [np.abs(f(y) - v).mean() for f in (loose, field)]
    assert left[0] < left[1] and np.abs(loose(y) - truth).mean() < 0.05
    # An affine field has nothing to smooth.
    flat = fit_fields(y, np.column_stack([x[:, 0] - 1, -x[:, 1]]))[0][1]
    np.testing.assert_allclose(loosened(flat, y, flat(y))(y), flat(y), atol=1e-6)


def test_an_event_says_what_it_is():
    assert str(Event("splits", 1, 0.5, 0.4, 0.6, 0)) == "state 1 splits off from state 0 at 0.5 (0.4 to 0.6)"
    assert str(Event("dies", 0, -2e-16, -0.03286, 0.02839)) == "state 0 dies at 0 (-0.033 to 0.028)"
    assert str(Event("dies", 0, 1234567.2, 1234500.0, 1234600.0)) == "state 0 dies at 1234570 (1234500 to 1234600)"
    assert str(Event("born", 2, 3.0, 3.0, 3.0)) == "state 2 is born at 3 (3 to 3)"


def at_value(*places):
    """What is seen at one value: rests at these places on a line."""
    put = np.array(places, dtype=float).reshape(-1, 1)
    located = tuple(Attractor(p, 0.01 + 0 * p, p, p, p) for p in put)
    scouts = np.linspace(-3, 3, 60)[:, None]
    fates = np.abs(scouts - put.T).argmin(axis=1) if len(put) else np.full(60, -1)
    return AtValue(located, put, {len(put): 1.0}, scouts, fates)


def test_states_are_numbered_as_they_appear_and_then_by_place():
    seen = [at_value(1.0, -1.0), at_value(-1.1, 1.0), at_value(0.9), at_value(0.9, -1.0, 2.9)]
    assert branches(seen).tolist() == [[1, 0, -1, 1], [0, 1, 0, 0], [-1, -1, -1, 2]]
    assert branches([at_value(), at_value()]).shape == (0, 2)


# --- the commands -------------------------------------------------------------------------------------


def test_commands(found, tmp_path):
    for name, one in found.items():
        ew.files.write(tmp_path / f"{name}.csv", one.demos)
    code, out, _ = run("compare", tmp_path / "level.csv", tmp_path / "tilted.csv", "--json")
    assert code == 0 and json.loads(out)["states"] == [[0, 0], [1, 1]]
    assert "moved" in run("compare", tmp_path / "level.csv", tmp_path / "tilted.csv")[1]
    code, _, err = run("compare", tmp_path / "level.csv")
    assert code == 3 and "at least two conditions" in err and f"eigenwell identify {tmp_path}" in err
    code, _, err = run("sweep", tmp_path / "level.csv", "--by", "heat")
    assert code == 3 and "one of the columns" in err
    assert run("sweep", tmp_path / "none.csv", "--by", "heat")[0] == 3
    code, _, err = run("sweep", tmp_path / "level.csv")
    assert code == 2 and "got 1 with neither" in " ".join(err.replace("│", " ").split())
    code, _, err = run("sweep", tmp_path / "level.csv", tmp_path / "tilted.csv", "--values", "1,2,3")
    assert code == 3 and "one value for each of 2" in err
    code, _, err = run("sweep", tmp_path / "level.csv", "--by", "heat", "--dt", "0.1")
    assert code == 2 and "leave out --dt" in " ".join(err.replace("│", " ").split())
    (tmp_path / "broken.parquet").write_text("no table")
    code, _, err = run("sweep", tmp_path / "broken.parquet", "--by", "heat")
    assert code == 3 and "a table with names" in err


@pytest.mark.slow
def test_sweep_command(tmp_path):
    x, v, p = folding(100, np.linspace(0, 0.8, 5))
    np.savetxt(tmp_path / "a.csv", np.column_stack([p, x, v]), delimiter=",", header="heat,x1,x2,v1,v2", comments="")
    code, out, _ = run("sweep", tmp_path / "a.csv", "--by", "heat", "--plot", tmp_path / "a.png")
    assert code == 0 and "dies at" in out and (tmp_path / "a.png").exists()
    # The same from a table of another kind, and from files of any kind, one for each value.
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(["heat", "x1", "x2", "v1", "v2"], np.column_stack([p, x, v]).T, strict=True))
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert "dies at" in run("sweep", tmp_path / "a.parquet", "--by", "heat")[1]
    levels = np.unique(p)
    for k, level in enumerate(levels):
        demos = ew.Demonstrations.from_samples(x[p == level], v[p == level])
        ew.files.write(tmp_path / f"{k}.npz", demos)
    each = [tmp_path / f"{k}.npz" for k in range(len(levels))]
    assert "dies at" in run("sweep", *each, "--values", ",".join(map(str, levels)))[1]


# --- the flow: steps, exits, walls, arrow -------------------------------------------------------------


def test_the_lifted_kernel_is_the_kernel():
    rng = np.random.default_rng(0)
    u, z = rng.standard_normal((30, 3)), rng.standard_normal((8, 3))
    for tail in (0.0, 0.5):
        np.testing.assert_allclose(lifted_radial(u, lifted(z, tail), tail), radial(u, z, tail), atol=1e-12)


def test_the_pair_is_of_order_five_and_four():
    """Rows sum to the nodes; a rotation is followed with an error of the sixth power of the step."""
    assert [row.sum() for row in TABLEAU] == pytest.approx([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
    assert DIFFERENCE.sum() == pytest.approx(0, abs=1e-15)

    class Turn:
        sharpest = 1e-3

        def __call__(self, x):
            return np.stack([-x[:, 1], x[:, 0]], axis=1)

    errors = []
    for h in (0.4, 0.2):
        path = Stepper(Turn(), np.array([[1.0, 0.0]]))
        path.h[:], path.longest = h, 10.0
        path.advance(np.zeros(1, dtype=int))
        errors.append(np.linalg.norm(path.x[0] - [np.cos(h), np.sin(h)]) if path.time[0] else np.nan)
    assert errors[0] / errors[1] == pytest.approx(64, rel=0.3)


def square(n, field, seed=0):
    x = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    return x, field(x)


def test_those_that_leave_have_a_way_out():
    x, v = square(250, lambda x: x * [1, -1])
    found = ew.identify(x, v, graph=ew.FlowGraph())
    assert found.n_attractors == 0 and len(found.exits) == 2
    assert sorted(np.sign(e.position[0]) for e in found.exits) == [-1, 1]
    for region in found.exits:
        assert (np.sign(x[region.samples, 0]) == np.sign(region.position[0])).mean() > 0.98
        assert region.direction[0] * region.position[0] > 0
    assert sum(len(e.samples) for e in found.exits) == 250 and "exit at" in str(found)


@pytest.mark.slow
def test_a_wall_holds_what_would_leave():
    x, v = square(250, lambda x: np.stack([-0.5 - 0.2 * (x[:, 0] + 1), -x[:, 1]], axis=1))
    assert ew.identify(x, v, graph=ew.FlowGraph()).n_attractors == 0
    found = ew.identify(x, v, low=[-1.0, -np.inf])
    assert found.n_attractors == 1 and not found.exits
    np.testing.assert_allclose(found.attractors[0], [-1, 0], atol=0.15)
    assert found.attractors[0, 0] >= -1 - 1e-9
    with pytest.raises(ew.DataError, match="between low and high"):
        ew.identify(x, v, low=0.0)
    with pytest.raises(ew.DataError, match="one number or 2"):
        ew.identify(x, v, low=[0.0, 0.0, 0.0])


@pytest.mark.slow
def test_velocities_that_point_backwards_are_noticed():
    x, v = square(250, lambda x: np.stack([x[:, 0] * 2 - 4 * x[:, 0] ** 3, -x[:, 1]], axis=1))
    assert "reversed" not in {c.name for c in ew.identify(x, v, graph=ew.FlowGraph()).warnings}
    said = ew.identify(x, -v, graph=ew.FlowGraph()).warnings
    assert "reversed" in {c.name for c in said}
    with pytest.raises(ew.DataError, match="same order"):
        ew.identify(x, np.random.default_rng(0).permutation(v), graph=ew.FlowGraph())


def test_kernels_of_a_field_with_a_parameter_have_its_dimensions():
    x, v, p = folding(40, np.linspace(0, 0.8, 4))
    for probability, field in fit_fields(np.column_stack([x, p]), v):
        assert 0 < probability <= 1 and field.affine.shape == (4, 2)


# --- doubt, and what users pass -----------------------------------------------------------------------


def test_conditions_of_one_system_in_doubt_do_not_differ_for_sure():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, (400, 2))
    a = np.where(np.arange(400) % 2, 1.7, 3.0)[:, None]  # a mixture, in which two thirds of the samples say as little
    v = a / (1 + x[:, ::-1] ** 2) - x + 0.1 * rng.standard_normal((400, 2))
    compared = ew.compare((x, v), by=np.arange(400) % 3)
    doubtful = [r.confidence < 0.9 for r in compared.results]
    assert len(compared.warnings) == sum(doubtful) > 0
    for change in compared.changes:
        c = compared.conditions.index(change.condition)
        if compared.results[0].n_attractors != compared.results[c].n_attractors:
            assert change.p_share >= shares.as_many(compared.results[0], compared.results[c]) > 0.05


def test_two_conditions_have_one_number_as_likely_as_both_say(found):
    a, b = found["level"], found["tilted"]
    assert a.confidence * b.confidence - 1e-12 <= shares.as_many(a, b) <= 1
    one = replace(a, counts={1: 0.4, 2: 0.6})
    assert shares.as_many(one, replace(a, counts={2: 0.5, 3: 0.5})) == pytest.approx(0.3)


def test_a_share_has_changed_where_chance_does_as_much_in_none_of_the_states(found, monkeypatch):
    before, after = found["level"], replace(found["level"])

    def said(counts):
        given = {id(before): [100, 100, 0], id(after): [*counts, 0]}
        monkeypatch.setattr(shares, "counted", lambda r: (np.array(given[id(r)]), "samples"))
        compared = ew.compare({"a": before, "b": after})
        return [(change.share, change.p_share) for change in compared.changes], str(compared)

    same, text = said([100, 100])
    assert [share for share, _ in same] == ["", ""] and "share changed" not in text
    # Eleven in a hundred fewer: once in thirty times by chance, in one of two states once in fifteen.
    maybe, text = said([78, 122])
    assert [share for share, _ in maybe] == ["may have changed"] * 2 and text.count(
        "its share may have changed (p = "
    ) == 2
    assert all(0.025 <= p < 0.05 for _, p in maybe)
    sure, text = said([60, 140])
    assert [share for share, _ in sure] == ["changed"] * 2 and text.count("its share changed (p") == 2


def test_categories_have_an_order():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.5, 1.5, size=(200, 2))
    who = pd.Categorical(np.repeat(["wild type", "mutant"], 100), categories=["wild type", "unseen", "mutant"])
    data = pd.DataFrame({"x1": x[:, 0], "x2": x[:, 1], "v1": x[:, 0] - x[:, 0] ** 3, "v2": -x[:, 1], "who": who})
    compared = ew.compare(data, by="who")
    assert compared.conditions == ("wild type", "mutant")
    np.testing.assert_array_equal(compared.results[0].demos.x, x[:100])
    assert ew.compare((x, -x), by=who).conditions == ("wild type", "mutant")
    assert ew.compare((x, -x), by=np.array(who)).conditions == ("mutant", "wild type")


def test_where_a_state_is_gone_no_share_changed_besides():
    def snapshots(tilt, seed):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1.8, 1.8, (400, 2))
        v = np.column_stack([x[:, 0] - x[:, 0] ** 3 + tilt, -x[:, 1]])
        return ew.identify(x, v + 0.1 * rng.standard_normal(x.shape))

    compared = ew.compare({"two": snapshots(0.0, 0), "one": snapshots(0.7, 1)})
    assert [change.what for change in compared.changes].count("gone") == 1
    assert min(change.p_share for change in compared.changes) < 0.05 and "its share" not in str(compared)


def test_a_sample_without_a_condition_is_refused():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 2))
    by = np.array(["a"] * 30 + ["b"] * 28 + ["", None], dtype=object)
    with pytest.raises(ew.DataError, match="2 of 60 without one"):
        ew.compare((x, -x), by=by)
    with pytest.raises(ew.DataError, match="In condition 'b': Expected at least"):
        ew.compare((x, -x), by=np.array(["a"] * 55 + ["b"] * 5))


@pytest.mark.slow
def test_a_state_that_leaves_the_samples_does_not_die():
    rng = np.random.default_rng(3)
    p = np.repeat(np.linspace(0, 1, 6), 100)
    x = rng.uniform(-1, 1, (600, 2))
    v = np.column_stack([2 * p - x[:, 0], -x[:, 1]]) + 0.05 * rng.standard_normal((600, 2))  # at rest at 2 p
    swept = ew.sweep({"p": p, "x1": x[:, 0], "x2": x[:, 1], "v1": v[:, 0], "v2": v[:, 1]}, by="p", replicates=8)
    assert swept.n_attractors[0] == 1 and swept.n_attractors[-1] == 0
    assert [e.what for e in swept.events] == ["leaves the data"] and "state 0 leaves the data at" in str(swept)
