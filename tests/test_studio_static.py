"""The studio without a server: what the folder holds, and that it lives when it is opened from a disk."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.untrained import field_of

from eigenwell.studio import gallery, presets, training
from eigenwell.studio.gallery import content

NAMES = ("crossing", "pen", "ess")


@pytest.fixture(scope="module")
def drawings(tmp_path_factory):
    """Three of the ten, with fields without training: with motions that remember, with three goals, with one."""

    def untrained(result, tell, grow):
        tell(0, 1, 0.0)
        return {}, field_of(result.found, bend=0, memory=result.found.n_attractors == 2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "learned", untrained)
        patch.setattr(gallery, "_home", lambda: tmp_path_factory.mktemp("kept"))
        return {name: gallery.drawn(name) for name in NAMES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, drawings):
    out = tmp_path_factory.mktemp("static") / "deep" / "out"
    gallery.write_gallery(out, drawings)
    return out


def test_ten_named_drawings_that_are_examples_of_the_studio():
    listed = {one["name"] for one in presets.listed()}
    assert len(gallery.DRAWINGS) == len(set(gallery.DRAWINGS)) == 10 and set(gallery.DRAWINGS) <= listed


def test_one_file_that_asks_nobody(folder, drawings):
    assert [path.name for path in folder.rglob("*")] == ["index.html"]
    text = (folder / "index.html").read_text()
    assert re.findall(r'<a id="\w+" href="#(\w+)">', text) == list(NAMES)
    assert "default-src 'none'" in text and re.findall(r'(?:src|href)="(?!#|https://)', text) == []
    assert re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|import)\(", text) == []
    embedded = re.findall(r'class="drawing" id="drawing-(\w+)">(.*?)</script>', text)
    assert {name: json.loads(one)["title"] for name, one in embedded} == {n: d["title"] for n, d in drawings.items()}
    # The page itself; benchmarks.studio_page weighs it with what is learned.
    assert len(text) - sum(len(one) for _, one in embedded) < 150_000


def test_what_was_learned_is_kept_and_belongs_to_its_strokes(tmp_path, monkeypatch):
    calls = []

    def untrained(result, tell, grow):
        calls.append(result)
        return {}, field_of(result.found)

    monkeypatch.setattr(training, "learned", untrained)
    monkeypatch.setenv("EIGENWELL_CACHE", str(tmp_path))
    first = gallery.drawn("ess")
    assert gallery.drawn("ess") == json.loads(json.dumps(first)) and len(calls) == 1
    monkeypatch.setattr(training, "WRITTEN", "another recipe")
    gallery.drawn("ess")
    assert len(calls) == 2, "another recipe is learned anew"


def test_strokes_keep_their_clock():
    result = gallery.identified("ess")
    one = content(result, field_of(result.found), title="S")
    way = np.array(one["strokes"][0]["x"])
    assert one["title"] == "S" and len(one["strokes"]) == 3
    assert (len(way) - 1) * one["step"] == pytest.approx(presets.strokes_of("ess")["strokes"][0]["t"][-1], rel=0.05)


def test_the_command_writes_it(tmp_path, monkeypatch, drawings):
    from typer.testing import CliRunner

    from eigenwell.cli.app import app

    monkeypatch.setattr(gallery, "learned_drawings", lambda tell: drawings)
    done = CliRunner().invoke(app, ["studio", "--static", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["bytes"] == (tmp_path / "out" / "index.html").stat().st_size < 1_500_000


def test_a_shared_page_says_what_it_is():
    """It had no title, legend, layers or way home."""
    from eigenwell.studio.gallery import shared_page

    result = gallery.identified("ess")
    text = shared_page(result, field_of(result.found))
    assert "<title>A flow to 1 goal, from 3 strokes · eigenwell</title>" in text
    assert re.search(r'Learned with <a href="https://[^"]+" rel="noopener">eigenwell</a>', text)
    assert "<title>a &lt;b&gt; · eigenwell</title>" in shared_page(result, field_of(result.found), title="a <b>")


# --- in a browser -------------------------------------------------------------------------------------


@pytest.mark.browser
def test_an_audit_of_the_page_finds_nothing(browser, folder):
    """With axe-core, where `npm install` has put it."""
    axe = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is not installed: npm install")
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", bypass_csp=True)
        page.goto((folder / "index.html").as_uri())
        page.wait_for_function("() => Number(document.body.dataset.frames) > 3")
        page.evaluate(axe.read_text())
        assert page.evaluate("axe.run().then(r => r.violations.map(v => [v.impact, v.id]))") == []
        page.close()


@pytest.mark.browser
def test_it_lives_when_opened_from_a_disk_also_under_a_finger(browser, folder, tmp_path):
    context = browser.new_context(
        viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True, offline=True, reduced_motion="reduce"
    )
    page = context.new_page()
    wrong, asked = [], []
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    page.on("request", lambda r: asked.append(r.url))
    page.goto((folder / "index.html").as_uri())
    page.wait_for_function("() => Number(document.body.dataset.frames) > 3")
    assert page.inner_text("h1") == "Two bundles that cross" and "Tap to drop" in page.inner_text("#words")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    # Another drawing has an address of its own; back leads back.
    page.tap("#gallery a >> nth=1")
    page.wait_for_function("() => document.body.dataset.drawing === 'pen'")
    assert page.url.endswith("#pen") and page.inner_text("#legend").count("goal") == 4
    page.go_back()
    page.wait_for_function("() => document.body.dataset.drawing !== 'pen'")
    page.go_forward()
    page.wait_for_function("() => document.body.dataset.drawing === 'pen'")
    # A tap drops a particle, which arrives.
    box = page.locator("#paper").bounding_box()
    page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.15 * box["height"])
    page.wait_for_function("() => Number(document.body.dataset.arrived) >= 1")
    page.tap("#bar >> text=Rain")
    page.wait_for_function("() => Number(document.body.dataset.arrived) > 8")
    # A goal is dragged by a finger, and its flow comes along.
    first = "() => eigenwell.learned.attractors[0]"
    goal = page.evaluate(first)
    x, y = page.evaluate("p => eigenwell.mounted.view.toScreen(p)", goal)
    touch = context.new_cdp_session(page)
    for kind, k in (("touchStart", 0), *(("touchMove", k) for k in range(1, 7)), ("touchEnd", None)):
        points = [] if k is None else [{"x": box["x"] + x + 5 * k, "y": box["y"] + y + 4 * k}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    moved = page.evaluate(first)
    assert np.linalg.norm(np.subtract(moved, goal)) > 0.05
    assert np.linalg.norm(page.evaluate("p => eigenwell.velocity(p)", moved)) < 1e-6
    page.tap("#bar >> text=Put back")
    assert page.evaluate(first) == goal
    for name in ("Stone", "Walls", "Put back", "3-D"):
        page.tap(f"#bar >> text={name}")
    assert page.is_visible("#valley")
    page.wait_for_function(
        # A copy is read: a browser warns of a canvas that is read again and again.
        "() => { const c = document.getElementById('valley'), copy = document.createElement('canvas');"
        " if (!c.width) return false; [copy.width, copy.height] = [c.width, c.height];"
        " const ctx = copy.getContext('2d'); ctx.drawImage(c, 0, 0);"
        " return ctx.getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 !== 3 && v > 0 && v < 255) }"
    )
    page.tap("#bar >> text=3-D")
    assert page.is_hidden("#valley")
    # The arm draws, takes a push, and arrives; the replay does not.
    page.tap("#gallery a >> nth=2")
    page.wait_for_function("() => document.body.dataset.drawing === 'ess'")
    page.tap("#bar >> text=Push")
    pushed = "() => /the flow arrived. The replay ended/.test(document.getElementById('words').textContent)"
    page.wait_for_function(pushed, timeout=60_000)
    # One drawing alone travels as one file.
    with page.expect_download() as download:
        page.tap("#bar >> text=Keep")
    download.value.save_as(tmp_path / "alone.html")
    page.goto((tmp_path / "alone.html").as_uri())
    page.wait_for_function("() => Number(document.body.dataset.frames) > 3")
    assert page.inner_text("h1") == "Letter S" and page.locator("#gallery").count() == 0
    assert page.locator("#bar button").count() == page.locator("#bar button").filter(has_not_text="Keep").count() > 6
    assert wrong == [] and [url for url in asked if not url.startswith(("file:", "blob:"))] == []
    context.close()


@pytest.mark.browser
def test_a_mark_says_what_it_means_there_too(browser, folder):
    page = browser.new_page(viewport={"width": 1000, "height": 700}, reduced_motion="reduce")
    page.goto((folder / "index.html").as_uri() + "#pen")
    page.wait_for_function("() => Number(document.body.dataset.frames) > 3")
    place = "q => { const { view, learned } = eigenwell.mounted; return view.toScreen(learned.attractors[q]) }"
    box = page.locator("#paper").bounding_box()
    x, y = page.evaluate(place, 1)
    page.mouse.move(box["x"] + x - 30, box["y"] + y)
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_selector(".tip:not([hidden])")
    assert page.inner_text(".tip").startswith("Cross: goal 2")
    page.mouse.down()
    assert page.is_hidden(".tip")
    page.mouse.up()
    page.close()
