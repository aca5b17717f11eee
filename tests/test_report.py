"""The report: what it says, how big and quick it is, and that a browser draws all of it without a complaint."""

import html
import json
import re
import time

import numpy as np
import pytest
from tests.untrained import field_of

import eigenwell as ew
from eigenwell.demonstrations import Caution
from eigenwell.report import Words, report, write_report
from eigenwell.report.page import _doubt
from eigenwell.report.wording import quantity, surety
from eigenwell.wording import plural


@pytest.fixture(scope="module")
def heart():
    demos = ew.systems.heart.sample(seed=0).shuffled()
    return demos, ew.identify(demos)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, heart):
    """One page per kind of data: plane with a field, space, ten dimensions, doubtful."""
    folder = tmp_path_factory.mktemp("pages")
    kinds = (("space", ew.systems.three_d), ("ten", ew.systems.ten_d), ("doubt", ew.systems.duffing_short))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eigenwell.report.CERTIFIED", 6)  # loops; tests/test_fields.py has many
        typed = "eigenwell report heart.csv -o plane.html"
        write_report(folder / "plane.html", *heart, field_of(heart[1], bend=0.2), title="heart", command=typed)
        for name, system in kinds:
            demos = system.sample(seed=0, frequency=25.0)
            found = ew.identify(demos)
            field = None if name == "doubt" else field_of(found)
            write_report(folder / f"{name}.html", demos, found, field, title=system.name)
        demos = ew.systems.heart.sample(seed=0, frequency=25.0)
        found = ew.identify(demos)
        write_report(folder / "memory.html", demos, found, field_of(found, memory=True, good=False))
        write_report(folder / "goals.html", demos, found, field_of(found), words=Words("goal", "stroke", 1))
    return folder


# --- what it says -------------------------------------------------------------------------------------


def test_opens_with_the_answer(pages):
    text, words = (pages / "plane.html").read_text(), words_of(pages / "plane.html")
    assert words.index("2 attractors") < words.index("Confidence") < words.index("Samples by attractor")
    assert re.search(r"-(1\.000|0\.999)\d* ± 0\.0", words) and "No warnings" in words
    for section in (
        "The graph",
        "The spectrum",
        "The embeddings",
        "uncertainty",
        "The learned field",
        "The certificate",
    ):
        assert section in words
    assert "eigenwell report heart.csv -o plane.html" in text and "numpy" in text


def test_doubts_are_told_in_words_with_what_to_do(pages):
    found = ew.identify(ew.systems.duffing_short.sample(seed=0, frequency=25.0))
    assert "ends-not-at-rest" in {caution.name for caution in found.warnings}
    words = html.unescape(words_of(pages / "doubt.html"))
    for caution in found.warnings:
        assert caution.message in words
    assert "No warnings" not in words and "Record until the motion stops" in words
    assert "Record until" not in words_of(pages / "plane.html")


def test_snapshots_were_not_demonstrated_and_lie_on_no_path(tmp_path):
    """Zigzags through the samples were drawn as if somebody had shown them, and called demonstrations."""
    demos = ew.systems.heart.sample(seed=0, frequency=25.0).shuffled()
    found = ew.identify(demos, graph=ew.FlowGraph(replicates=4))
    write_report(tmp_path / "page.html", found, field_of(found), title="Cells")
    words = words_of(tmp_path / "page.html")
    assert "Every thread and the roll-out from its start" in words and "emonstration" not in words
    (live,) = re.findall(r'id="live-content">(.*?)</script>', (tmp_path / "page.html").read_text())
    (strokes,) = json.loads(live)["strokes"]
    assert len(strokes["x"]) == len(strokes["dots"]) == demos.n_samples and set(strokes["dots"]) == {0, 1}


def test_a_gap_is_where_there_is_one(tmp_path):
    """Four paths to one place: behind the embedding, "gap × 1.0"."""
    lines = [np.outer(np.linspace(1, 0, 30) ** 2, [np.cos(a), np.sin(a)]) for a in (0.1, 1.7, 3.2, 4.8)]
    found = ew.identify(lines, dt=0.02)
    write_report(tmp_path / "page.html", found)
    embedded = (tmp_path / "page.html").read_text().split('id="figures">')[1].split("</script>")[0]
    (shown,) = (figure for figure in json.loads(embedded) if figure["id"] == "spectrum-0")
    (note,) = shown["layout"]["annotations"]
    assert note["x"] == 4.5 and float(note["text"].split()[-1]) > 2


def test_what_is_said_twice_stands_in_one_place():
    said = [Caution("few-trajectories", f"Attractor {q} has 4 trajectories.") for q in (0, 1)]
    item = _doubt(said)
    assert item.count("<li>") == 1 and "Attractor 0 has" in item and "Attractor 1 has" in item


def words_of(page):
    text = page.read_text()
    body = re.sub(r"<script.*?</script>", " ", text[text.index("<body") : text.index("<footer>")], flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def traces_of(page, figure):
    embedded = page.read_text().split('id="figures">')[1].split("</script>")[0]
    return {t.get("name"): t for f in json.loads(embedded) if f["id"] == figure for t in f["data"]}


def test_certificate_and_fit_stand_side_by_side(pages):
    words = words_of(pages / "plane.html")
    assert "stable as tested , and follows the data" in words and "Stable, and stays home" in words
    assert "2 sinks, for 2 attractors" in words and "1 saddle at" in words and "predict at 100 Hz" in words
    assert "worst: demonstration 0 (to attractor 0), 1.0%" in words


def test_a_bad_fit_cannot_be_overlooked(pages):
    words = words_of(pages / "memory.html")
    # Before any figure, in the verdict, and in the table, by name.
    assert words.index("stable as tested , but does not follow the data") < words.index("Samples by attractor")
    assert "Does not follow the data" in words and words.count("demonstration 5 (to attractor 1)") == 3
    assert (
        "1 of 6 end at another attractor than their own" in words
        and 'class="verdict bad"' in (pages / "memory.html").read_text()
    )


def live_of(page):
    return json.loads(page.read_text().split('id="live-content">')[1].split("</script>")[0])


def test_a_planar_field_is_one_picture_in_the_units_of_the_data(pages, heart):
    """It was drawn twice, alive and as streamlines."""
    live, words = live_of(pages / "plane.html"), words_of(pages / "plane.html")
    assert "separatrices" in words and "saddles" in words and 'id="field-0"' not in (pages / "plane.html").read_text()
    middle, half = np.array(live["units"]["middle"]), np.array(live["units"]["half"])
    seen = np.concatenate([np.array(one["x"]) for one in live["strokes"]])
    drawn = middle + half * seen
    assert np.allclose(drawn.min(axis=0), heart[0].x.min(axis=0), atol=1e-2)
    assert np.allclose(drawn.max(axis=0), heart[0].x.max(axis=0), atol=1e-2)
    assert len(live["field"]["saddles"]) == 1


def test_memory_is_drawn_as_motions_and_in_space(pages):
    assert len(live_of(pages / "memory.html")["field"]["lifted"]) == 2
    assert "motions with a memory" in words_of(pages / "memory.html") and "separatrices" not in words_of(
        pages / "memory.html"
    )
    lifted = traces_of(pages / "memory.html", "lifted-0")["motions, with memory"]
    heights = [z for z in lifted["z"] if z is not None]
    assert lifted["type"] == "scatter3d" and max(heights) == 1 and min(heights) < 0.02


def test_one_file_readable_offline(pages):
    for page in pages.iterdir():
        text = page.read_text()
        outside = text.replace(text[text.index("* plotly.js") : text.index('id="figures"')], "")
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', outside)
        assert text.count("plotly.js v") == 1
        assert page.stat().st_size < 8e6


def test_quick_and_small(heart, tmp_path):
    """Under three seconds for 6,006 samples, identification and the certificate of a field not counted."""
    start = time.process_time()
    write_report(tmp_path / "a.html", *heart)
    assert time.process_time() - start < 3


def test_names_cannot_break_the_page(heart):
    page = report(*heart, title="</title><script>alert(1)</script>", command="a && b < c > '\"")
    assert "<script>alert(1)" not in page and "a &amp;&amp; b &lt; c" in page


def test_figures_are_valid_json_without_nan(pages):
    text = (pages / "space.html").read_text()
    embedded = text.split('id="figures">')[1].split("</script>")[0]
    figures = json.loads(embedded, parse_constant=lambda c: pytest.fail(c))
    assert [f["id"] for f in figures][:4] == ["field-0", "samples-0", "graph-0", "spectrum-0"]


def test_one_word_one_count(pages):
    """Goals counted from 1 in the studio were attractors and sub-dynamics from 0 in its report."""
    words = words_of(pages / "goals.html")
    assert "2 goals" in words and "Samples by goal" in words
    assert re.search(r"attractor|sub-dynamics|demonstration|goal 0", words) is None, words
    assert "stroke 1 (to goal 1)" in words and "goal 2" in words
    assert re.search(r"samples 1 -?\d.* 2 -?\d", words), "the table of places counts from 1, too"
    assert Words().said("attractor 0, Demonstration 3") == "attractor 0, Demonstration 3"
    assert Words("goal", "stroke", 1).said("demonstration 0 (to attractor 1)") == "stroke 1 (to goal 2)"
    assert Words("goal", "stroke", 1).said("Sub-dynamics 0, 1 and 3 cross") == "Goals 1, 2 and 4 cross"
    assert Words("goal", "stroke", 1).said("attractor 0 and 2 others") == "goal 1 and 2 others"
    assert Words().said("Sub-dynamics 0 and 1 cross") == "Attractors 0 and 1 cross"


@pytest.mark.slow
def test_a_kernel_graph_has_a_report_of_its_own():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    found = ew.identify(
        demos, graph=ew.spectral.KernelGraph(theta_r=0.4, sigma_f=0.1, eps=0.3, sampling_frequency=20.0)
    )
    text = report(found)
    assert "2 attractors" in text and "settings near the given ones" in text and "Confidence 80 %" in text
    assert "a point for every sample" in text and "straight line here" not in text
    assert "<th>paths</th>" not in text


def test_a_result_is_reported_alone_or_with_its_data():
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    found = ew.identify(demos)
    assert report(found) == report(demos, found)
    with pytest.raises(ew.DataError, match="Call report"):
        report(demos)
    with pytest.raises(ew.DataError, match="third argument"):
        report(found, None, object())


def test_wording():
    assert quantity(1.23456, 0.012, 1.0) == "1.23 ± 0.02"
    assert quantity(-2.0, 0.0, 10.0) == "-2.0000 ± 0.0001"
    assert quantity(-1e-19, 1e-19, 1.0) == "0.00000 ± 0.00001"
    assert quantity(-0.3, 1.0, 10.0) == "0 ± 1"
    assert surety(0.99) == "very sure" and surety(0.0) == "a guess"
    assert plural(1, "attractor") == "1 attractor" and plural(1200, "path") == "1,200 paths"


# --- in a browser -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plane", "space", "ten", "doubt", "memory", "goals"])
def test_browser_draws_everything(browser, pages, name):
    """Light, dark and on a phone: no console error, every plot drawn, nothing wider than the screen."""
    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
    complaints, requests = [], []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("request", lambda r: requests.append(r.url))
    page.goto((pages / f"{name}.html").as_uri())
    page.wait_for_selector("html[data-drawn=yes]", state="attached", timeout=60_000)
    plots = page.evaluate(
        "() => [...document.querySelectorAll('.plot')].map(p => [p.id, p.data?.length ?? 0, !!p.querySelector('.main-svg'),"
        " p.querySelectorAll('.trace path, .trace .point, .scatterlayer path, canvas').length])"
    )
    assert len(plots) >= 5
    assert all(traces > 0 and svg and marks > 0 for _, traces, svg, marks in plots), plots
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()


def test_the_field_comes_first_and_moves(browser, pages):
    """Its picture came 3,900 pixels down: now it is the first, alive, and its goals are dragged."""
    page = browser.new_page(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    page.goto((pages / "goals.html").as_uri())
    page.wait_for_function("() => Number(document.getElementById('live').dataset.frames) > 3")
    place = page.locator("#live").bounding_box()
    assert place["y"] < 900 and page.inner_text("#live-legend").startswith("goal 1")
    assert page.evaluate("() => document.querySelector('.plot').getBoundingClientRect().top") > place["y"]
    page.locator("#live").scroll_into_view_if_needed()
    place = page.locator("#live").bounding_box()
    page.mouse.click(place["x"] + 0.2 * place["width"], place["y"] + 0.3 * place["height"])
    page.wait_for_function("() => Number(document.getElementById('live').dataset.arrived) >= 1")
    picture = "() => document.getElementById('live').toDataURL()"
    # On a wide page no table is cut off.
    cut = "() => [...document.querySelectorAll('.scroll')].filter((s) => s.scrollWidth > s.clientWidth + 1).length"
    assert page.evaluate(cut) == 0
    before = page.evaluate(picture)
    page.click("#live-bar >> text=Stone")
    page.wait_for_function(f"b => ({picture})() !== b", arg=before)
    page.click("#live-bar >> text=Put back")
    assert page.is_hidden("#live-bar >> text=Put back")
    # Rows become lists where there is no room for columns: nothing is cut off or scrolls sideways here either.
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
    assert page.evaluate(cut) == 0
    page.close()
