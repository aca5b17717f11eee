"""The paper made anew: the whole quick run once, the same numbers twice, failures that lose nothing."""

import copy
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
import typer
from matplotlib import rcParams
from matplotlib.image import imread
from scipy.io import savemat
from typer.testing import CliRunner

import eigenwell as ew
from eigenwell.cli import reproduce as reproduce_command
from eigenwell.learning import PAPER, Recipe
from eigenwell_paper import ITEMS, QUICK, Study, Table, drawing, drawn_fields, handwriting, reproduce, rivals, run
from eigenwell_paper.baselines import clustering, euclideanizing
from eigenwell_paper.comparison import _printed_right
from eigenwell_paper.printed import CLUSTERED, LASA_METRICS, LASA_SHAPES, euclideanizing_flows
from eigenwell_paper.results import shown
from eigenwell_paper.study import with_ends

CHEAP = ("two-attractors", "zero-velocity", "lasa-panel")
PNG = b"\x89PNG"


@pytest.fixture(scope="module", autouse=True)
def small():
    """Small models, one LASA shape, one setting of the paper's graph, rough figures: every item is still made, and every check
    holds."""
    effort = replace(
        QUICK,
        kernels=QUICK.kernels[1:2],
        widths=QUICK.widths[:1],
        trials=2,
        iterations=8,
        steps=120,
        epochs=40,
        rollouts=2,
        panel=("Angle",),
    )
    little = Recipe(layers=6, features=16, batch=100)
    published = euclideanizing.PublishedSettings(layers=4, features=40, hidden=30, samples=200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "QUICK", effort)
        for name, rough in {"CELLS": 16, "DOTS": 60, "DENSITY": 0.4, "LAYOUT": None}.items():
            patch.setattr(drawing, name, rough)
        for name, rough in {"svg.fonttype": "none", "xtick.labelbottom": False, "ytick.labelleft": False}.items():
            patch.setitem(rcParams, name, rough)
        patch.setattr(euclideanizing, "PublishedSettings", lambda: published)
        for module in (drawn_fields, handwriting):
            patch.setattr(module, "Recipe", lambda: little)
            patch.setattr(module, "PAPER", replace(PAPER, layers=4, features=24))
        yield


@pytest.fixture(scope="module")
def quick(tmp_path_factory, small):
    """All items, as the command makes them."""
    return reproduce(tmp_path_factory.mktemp("reproduce"), quick=True, command="eigenwell reproduce --quick")


@pytest.fixture(scope="module")
def numbers(quick):
    return json.loads((quick.folder / "results.json").read_text())


@pytest.fixture(scope="module")
def page(quick):
    return (quick.folder / "index.html").read_text()


def columns(table, *names):
    return list(zip(*([row[table["columns"].index(name)] for row in table["rows"]] for name in names), strict=True))


# --- the quick run ------------------------------------------------------------------------------------


def test_every_item_is_made_and_every_check_holds(quick):
    assert [one.item for one in quick.done] == list(ITEMS)
    assert quick.failed == quick.skipped == quick.missed == []


def test_every_figure_is_a_file_and_on_the_page(quick, page):
    for one in quick.done:
        assert one.outcome.figures
        for figure in one.outcome.figures:
            png = (quick.folder / "figures" / f"{figure.name}.png").read_bytes()
            ink = imread(BytesIO(png))[..., :3].min(axis=2)
            assert (ink < 0.5).mean() > 0.002, "an empty picture"
            assert "<svg" in (quick.folder / "figures" / f"{figure.name}.svg").read_text()[:2000]
            light, dark = one.pictures[figure.name]
            assert light == png and dark.startswith(PNG) and dark != light
            assert f'href="figures/{figure.name}.svg"' in page
    assert not list(quick.folder.rglob(".*")), "temporary files stay behind"


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.sources, self.open = set(), set(), [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        self.links.add(attributes.get("href"))
        self.sources += [attributes[name] for name in ("src", "srcset") if name in attributes]
        if tag not in ("meta", "link", "img", "source", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_reads_in_light_and_dark(page):
    seen = Elements()
    seen.feed(page)
    assert seen.open == []
    assert all(source.startswith("data:image/png;base64,") for source in seen.sources)
    assert {item.name for item in ITEMS} <= seen.ids
    assert {f"#{item.name}" for item in ITEMS} <= seen.links
    assert "http" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", page)
    assert "prefers-color-scheme: dark" in page and "@media (max-width" in page
    assert "A quick run" in page


@pytest.mark.parametrize("name", ["heart", "pendulum", "duffing", "drawn"])
def test_eigenwell_is_right_where_the_paper_was(numbers, name):
    item = numbers["items"][name]
    rows = item["tables"]["clusters"]["rows"]
    ours = [row for k, row in enumerate(rows) if k < 2]
    assert [row[2:6] for row in ours] == [[100, 0, 100, 0], [0, 100, 0, 100]]
    methods = {row[0] for row in rows} - {""}
    assert {"the paper's kernel graph", "Kernel K-means", "Spectral Clustering", "Gaussian Mixture"} < methods
    errors = columns(item["tables"]["attractors"], "method", "here %")
    assert all(error <= 100 * CLUSTERED[name].attractor_error for _, error in errors[:2])


def test_printed_values_stand_beside_ours(numbers):
    table = numbers["items"]["heart"]["tables"]["clusters"]
    printed = columns(table, "method", "printed A %", "printed B %")
    assert printed[4] == ("Kernel K-means", 58.42, 41.58) and printed[8] == ("Gaussian Mixture", 12.71, 87.29)
    metrics = numbers["items"]["lasa-metrics"]["tables"]["metrics"]
    angle = columns(metrics, "source", "Angle")
    assert angle[0] == ("printed", LASA_METRICS["velocity_rmse"][0])
    assert dict(angle)["EF, original code, measured"] == euclideanizing_flows()["Angle"]["test_cosine_error"]


def test_peers_that_beat_the_print_are_named(numbers):
    """Spectral clustering gets heart right with fifty neighbours; the paper printed less."""
    heart = numbers["items"]["heart"]
    assert "Peers that do better here than printed" in heart["verdict"]
    tried = heart["settings"]["share_right_of_every_setting"]["Spectral Clustering"]
    assert len(tried) == len(QUICK.neighbours) and "Spectral Clustering" in heart["verdict"]


def test_slips_come_with_evidence(numbers):
    rows = numbers["items"]["slips"]["tables"]["slips"]["rows"]
    assert len(rows) >= 8
    assert all(re.search(r"\d", evidence) for _, evidence, _ in rows)
    said = " ".join(printed for printed, _, _ in rows)
    assert all(word in said for word in ("γ(g)", "filter", "λ_min", "Duffing", "l/g"))


def test_the_clock_is_kept_apart(numbers):
    times = numbers["times"]["items"]
    assert set(times) == set(numbers["items"])
    assert "seconds" not in json.dumps(numbers["items"])


def test_a_repeated_run_gives_the_same_numbers(quick, numbers, tmp_path):
    """From the items that are cheap, one of them trained; the same seed, another folder."""
    again = reproduce(tmp_path, only=CHEAP, quick=True)
    twice = json.loads((tmp_path / "results.json").read_text())
    once = copy.deepcopy(numbers)
    once["items"] = {name: item for name, item in once["items"].items() if name in CHEAP}
    once.pop("times"), twice.pop("times")
    assert once == twice
    by_name = {one.item.name: one.pictures for one in quick.done}
    assert all(one.pictures == by_name[one.item.name] for one in again.done)


# --- what can go wrong --------------------------------------------------------------------------------


@pytest.fixture
def command():
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command()(reproduce_command.reproduce)

    def call(*args):
        return CliRunner().invoke(app, ["reproduce", *map(str, args)])

    return call


@pytest.mark.slow
def test_an_item_that_fails_does_not_lose_the_others(command, tmp_path, monkeypatch):
    from eigenwell_paper import two_attractors

    def broken(study):
        raise RuntimeError("a wire came loose")

    monkeypatch.setattr(two_attractors, "make", broken)
    done = command("--only", "two-attractors,spectra", "--quick", "--out", tmp_path / "a", "--json")
    assert done.exit_code == 6, done.output
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["items"] == {"two-attractors": "failed", "spectra": "done"} and answer["failed"] == ["two-attractors"]
    assert "a wire came loose" in (tmp_path / "a" / "index.html").read_text()
    assert json.loads((tmp_path / "a" / "results.json").read_text())["items"]["two-attractors"]["status"] == "failed"


@pytest.mark.slow
def test_without_lasa_the_rest_runs_and_says_what_to_install(command, tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENWELL_LASA", "")
    monkeypatch.setenv("EIGENWELL_CACHE", str(tmp_path / "none"))
    monkeypatch.setattr("eigenwell.datasets.handwriting.importlib.util.find_spec", lambda name: None)
    done = command("--only", "lasa-panel", "--only", "spectra", "--quick", "--out", tmp_path / "a")
    assert done.exit_code == 5, done.output
    assert "1 of 2 items" in done.output and "eigenwell[lasa]" in done.output
    assert "eigenwell[lasa]" in (tmp_path / "a" / "index.html").read_text()


@pytest.mark.slow
def test_a_check_that_does_not_hold_is_said(command, tmp_path, monkeypatch):
    from eigenwell_paper import spectra

    monkeypatch.setattr(spectra, "_relevant", lambda values: 1)
    done = command("--only", "spectra", "--quick", "--out", tmp_path / "a")
    assert done.exit_code == 6 and "does not hold: spectra" in done.output
    assert "does not hold" in (tmp_path / "a" / "index.html").read_text()


def test_names_and_places_are_checked_first(command, tmp_path):
    done = command("--only", "hart", "--out", tmp_path / "a")
    assert done.exit_code == 2 and not (tmp_path / "a").exists()
    with pytest.raises(ew.DataError, match="heart"):
        run.chosen(["hart"])
    (tmp_path / "file").write_text("")
    assert command("--only", "spectra", "--out", tmp_path / "file").exit_code == 4
    assert command("--drawing", tmp_path / "none.mat", "--out", tmp_path / "b").exit_code == 3


def test_items_can_be_listed(command):
    done = command("--list")
    assert done.exit_code == 0 and all(item.name in done.output for item in ITEMS)


# --- a drawing of one's own ---------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.slow
def test_a_drawing_in_either_layout(tmp_path, wrapped):
    demos = ew.datasets.pen_strokes(1)
    cells = np.empty((demos.n_trajectories, 1), dtype=object)
    for k, (x, v) in enumerate(demos.trajectories()):
        cells[k, 0] = x.T if wrapped else np.vstack([x.T, v.T])
    names = np.array([["position"]] if wrapped else [["position", "velocity"]], dtype=object)
    content = {"demo": cells, "demo_struct": names}
    savemat(tmp_path / "own.mat", {"DataStruct": content} if wrapped else content)
    done = reproduce(
        tmp_path / "out", only=["zero-velocity"] if wrapped else ["drawn"], quick=True, drawing=tmp_path / "own.mat"
    )
    assert done.failed == done.skipped == done.missed == []
    numbers = json.loads((tmp_path / "out" / "results.json").read_text())
    assert numbers["drawing"] == "own.mat" and str(tmp_path) not in json.dumps(numbers)
    if not wrapped:
        assert "The drawing in own.mat" in (tmp_path / "out" / "index.html").read_text()


def test_truth_of_a_drawing_is_where_its_ends_lie():
    demos = ew.datasets.pen_strokes(3, n_attractors=3)
    truth = with_ends(demos).truth
    assert len(truth.attractors) == 3
    assert (np.diff(truth.attractors[:, 0]) > 0).all()
    owner = [demos.truth.labels[truth.labels == q] for q in range(3)]
    assert all(len(np.unique(labels)) == 1 for labels in owner)


# --- the rivals ---------------------------------------------------------------------------------------


def test_clusters_are_named_like_the_sub_dynamics_they_cover():
    truth = np.array([0, 0, 0, 1, 1, 1])
    labels = np.array([7, 7, 3, 3, 3, -1])
    matched = rivals.matched(labels, truth)
    assert matched.tolist() == [0, 0, 1, 1, 1, -1]
    assert rivals.shares(matched, truth) == [(100, 0), pytest.approx((100 / 3, 200 / 3))]
    assert rivals.matched(np.full(6, -1), truth).tolist() == [-1] * 6


def test_kernel_k_means_never_loses_similarity_and_keeps_the_best_start():
    demos = ew.systems.pendulum.sample(0, frequency=3.0)
    kernel = clustering.gaussian_kernel(clustering.features(demos), 1.0)
    held = [together for _, together in clustering.kernel_k_means_steps(kernel, 2, seed=1)]
    assert (np.diff(held) >= -1e-3 * held[-1]).all() and len(held) > 1
    best = clustering.best_kernel_k_means(kernel, 2, restarts=4)
    assert set(np.unique(best)) == {0, 1}


def test_iterations_of_the_mixture_end_where_the_mixture_ends():
    demos = ew.systems.pendulum.sample(0, frequency=3.0)
    data = clustering.features(demos)
    steps = clustering.gaussian_mixture_steps(data, 2, seed=0, iterations=60)
    assert len(steps) == 60 and np.array_equal(steps[-1], steps[-2])
    assert not np.array_equal(steps[0], steps[-1])


def test_what_a_printed_table_implies():
    assert _printed_right(CLUSTERED["heart"].ours) == 1.0
    # Cluster 1 holds 79.04 % A and all of A: its size is .5 / .7904, and .2096 of it is wrong.
    assert _printed_right(CLUSTERED["heart"].spectral) == pytest.approx(1 - 0.2096 * 0.5 / 0.7904)
    # Two clusters of one composition tell nothing apart.
    assert _printed_right(CLUSTERED["heart"].mixture) == 0.5


def test_the_original_scores_cover_every_shape():
    scores = euclideanizing_flows()
    assert len(scores) == 30 and set(LASA_SHAPES) <= set(scores)


# --- the frame ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (None, "", "–"),
        (58.42, "A %", "58.42 %"),
        (100.0, "A %", "100 %"),
        (0.0043, "e %", "0.0043 %"),
        (6006, "", "6,006"),
        (0.0, "", "0"),
        (1.0e-5, "", "1.0e-05"),
        (1e-17, "", "0"),
        ("word", "A %", "word"),
    ],
)
def test_cells_read_well(value, column, text):
    assert shown(value, column) == text


def test_a_ragged_table_is_refused():
    with pytest.raises(ValueError, match="2 cells"):
        Table("t", "", ("a", "b"), ((1, 2), (3,)))


def test_a_study_reads_its_drawing_once(tmp_path):
    study = Study(QUICK, 0)
    assert study.drawn is study.drawn
