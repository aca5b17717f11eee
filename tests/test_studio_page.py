"""The studio's page against its server in a real browser: draw, see, learn, drop, keep, on a desk and on a phone."""

import ast
import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.studio_hands import (
    DESK,
    KEY,
    PAINTED,
    PHONE,
    beside,
    bundles,
    canvas_bytes,
    carry,
    curve,
    draw,
    ends,
    is_painted,
    kept,
    learned,
    looks,
    marks,
    model_of,
    moves,
    on_screen,
    pause,
    settle,
    stored,
    taken,
    view_share,
)

import eigenwell as ew
from eigenwell import palette

PAGE = Path(ew.__file__).parent / "studio" / "page"
pytestmark = pytest.mark.browser


# --- without a browser ----------------------------------------------------------------------------------


def test_colours_are_the_library_s():
    script = (PAGE / "palette.js").read_text()
    for theme in (palette.LIGHT, palette.DARK):
        block = re.search(rf'name: "{theme.name}".*?\]', script, re.DOTALL).group()
        assert tuple(ast.literal_eval(re.search(r"colours: (\[.*\])", block).group(1))) == theme.colours
        for part in ("paper", "ink", "faint", "grid", "unassigned"):
            assert f'{part}: "{getattr(theme, part)}"' in block


def test_small_and_plain():
    """Script and style under 330 KB, nothing from elsewhere, nothing that a strict content policy or a hostile text could use."""
    files = [f for f in PAGE.iterdir() if f.is_file()]
    assert sum(f.stat().st_size for f in files if f.suffix in (".js", ".css")) < 330_000
    for file in files:
        text = file.read_text()
        assert not re.search(r"(?:src|href|import|from|url)\W{1,3}(?:https?:)?//", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            file.name
        )
    pytest.importorskip("starlette", reason='the studio needs pip install "eigenwell[studio]"')
    from eigenwell.studio.server import page_files

    page = page_files()["/"].content.decode()
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*src=)", page)
    preloaded = set(re.findall(r'modulepreload" href="([^"]+)"', page))
    assert preloaded == {f.name for f in files if f.suffix == ".js"}


# --- in a browser ---------------------------------------------------------------------------------------


def test_loads_at_once_with_the_network_cut(visit):
    sizes, took = [], []
    page = visit(before=lambda page: page.on("response", lambda r: sizes.append(len(r.body()))))
    page.wait_for_selector("body[data-state=empty]")
    weight = sum(sizes)
    assert 0 < weight < 420_000
    assert "Draw a few strokes that end at the same place" in page.inner_text("#empty")
    for _ in range(3):  # the best of three: others work on this machine, too
        page.reload()
        page.wait_for_selector("body[data-state=empty]")
        took.append(int(marks(page)["readyMs"]))
    print(f"\nready {min(took)} ms after it was asked for, {weight / 1000:.0f} KB")
    # Beside another worker; alone, `benchmarks.studio_page` asks for one second.
    assert min(took) < 2000


def test_draw_undo_redo_delete_move_clear(visit):
    page = visit()
    for k, stroke in enumerate(bundles(), start=1):
        draw(page, stroke)
        settle(page, k)
    assert page.inner_text(".count").split() == ["2", "goals"]
    assert page.inner_text("#sure-words") and len(page.inner_text("#why")) > 20
    assert page.locator("#attractors li").count() == 2 and page.is_hidden("#empty")
    page.click("#know summary")
    assert page.locator("#spectrum circle").count() > 2 and page.locator("#embedding polyline").count() == 3
    assert "R²" in page.inner_text("#embedding figcaption")

    page.keyboard.press("Control+z")
    settle(page, 5)
    page.keyboard.press("Control+Shift+z")
    settle(page, 6)
    page.click("#undo")
    page.keyboard.press("Control+y")
    settle(page, 6)
    assert page.is_disabled("#redo") and marks(page)["attractors"] == "2"

    # The Move tool: take hold of a stroke, carry its end away from the others, and there are three places.
    page.keyboard.press("m")
    assert page.get_attribute("button[data-tool=move]", "aria-checked") == "true"
    before = canvas_bytes(page, "scene")
    carry(page, bundles()[3][8], (-0.25, -0.2))
    settle(page, 6)
    assert marks(page)["attractors"] == "3" and canvas_bytes(page, "scene") != before
    page.click("#delete")
    settle(page, 5)
    assert marks(page)["attractors"] == "2" and "selected" not in marks(page)
    page.click("#clear")
    settle(page, 0)
    assert marks(page)["attractors"] == "0" and page.is_visible("#empty")
    page.click("#undo")
    settle(page, 5)
    # In the Draw tool a tap takes hold of a stroke instead of leaving a dot.
    page.keyboard.press("d")
    page.mouse.click(*on_screen(page, bundles()[0][6]))
    page.wait_for_selector("body[data-selected]")
    assert marks(page)["strokes"] == "5"


def test_known_order_and_the_paper_s_kernel(visit):
    page = visit(before=kept(bundles(60)))
    settle(page, 6)
    page.click("#know summary")
    page.click("[data-value=unordered]")
    settle(page, 6)
    assert marks(page)["attractors"] == "2"
    page.click("[data-value=kernel]")
    settle(page, 6)
    assert page.inner_text("#sure-number") == "" and page.is_hidden(".meter"), "sure of what the sliders say?"
    assert page.is_visible("#kernel") and page.is_disabled("#learn") and "Switch" in page.inner_text("#learn-words")
    start = {name: float(page.input_value(f"#{name}-number")) for name in ("sigma", "theta_r", "eps")}
    assert all(value > 0 for value in start.values())
    counts = set()
    for sigma in (start["sigma"] / 8, start["sigma"], start["sigma"] * 15):
        rev = marks(page)["rev"]
        page.fill("#sigma-number", f"{sigma:.3g}")
        page.press("#sigma-number", "Enter")
        page.wait_for_function("r => document.body.dataset.rev !== r", arg=rev)
        settle(page, 6)
        counts.add(marks(page)["attractors"])
    assert len(counts) > 1, "the number does not depend on sigma?"
    rev = marks(page)["rev"]
    page.locator("#eps").focus()
    page.keyboard.press("Home")
    page.wait_for_function("r => document.body.dataset.rev !== r", arg=rev)
    assert float(page.input_value("#eps-number")) == pytest.approx(1e-4)
    page.click("#kernel-reset")
    settle(page, 6)
    assert float(page.input_value("#sigma-number")) == pytest.approx(start["sigma"])
    # The graph comes with the kernel and goes with it.
    assert page.get_attribute("[data-layer=graph]", "aria-pressed") == "true"
    page.click("[data-value=paths]")
    assert page.get_attribute("[data-layer=graph]", "aria-pressed") == "false"
    page.keyboard.press("2")
    assert page.get_attribute("[data-layer=graph]", "aria-pressed") == "true"


def test_files_come_back(visit, tmp_path):
    page = visit(before=kept(bundles()))
    settle(page, 6)
    content = taken(page, "csv")[1]
    file = tmp_path / "mine.csv"
    file.write_bytes(content)
    assert ew.identify(ew.files.read(file)).n_attractors == 2
    page.click("#clear")
    settle(page, 0)
    page.set_input_files("#file", file)
    settle(page, 6)
    assert marks(page)["attractors"] == "2"
    page.click("#theme")
    pause(page, 400)  # the autosave is a quarter of a second late
    page.reload()
    settle(page, 6)
    assert marks(page)["attractors"] == "2"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    # A file that is dropped on the page, and one that is none.
    content = base64.b64encode(content).decode()
    drop = """([name, content]) => { const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name));
        const dropped = new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true});
        document.getElementById('stage').dispatchEvent(dropped) }"""
    page.click("#clear")
    settle(page, 0)
    page.evaluate(drop, ["again.csv", content])
    settle(page, 6)
    page.evaluate(drop, ["picture.csv", base64.b64encode(b"\x89PNG nothing").decode()])
    page.wait_for_selector("#notice:not([hidden])")
    assert marks(page)["strokes"] == "6" and "xpected" in page.inner_text("#notice-words")


def test_all_strokes_are_in_sight(visit):
    """A pen that leaves the canvas stays at its edge; for a stroke that is carried off it the page zooms out."""
    page = visit(before=kept(bundles()[:2]))
    settle(page, 2)
    view = page.get_attribute("#stage", "data-view")

    def ends_in_view():
        rev = marks(page)["rev"]
        page.wait_for_function("n => JSON.parse(localStorage.getItem('eigenwell-studio')).strokes.length === n", arg=3)
        pause(page, 300)  # the autosave is a quarter of a second late
        assert marks(page)["rev"] == rev
        x = page.evaluate("JSON.parse(localStorage.getItem('eigenwell-studio')).strokes.map(s => s.x.at(-1))")
        low, high = np.reshape([float(c) for c in page.get_attribute("#stage", "data-view").split()], (2, 2))
        return (np.array(x) - low) / (high - low)

    draw(page, curve((0.5, 0.3), (1.2, 0.5), 0.1, 12))
    settle(page, 3)
    assert page.get_attribute("#stage", "data-view") == view and ends_in_view()[2, 0] == pytest.approx(1, abs=1e-3)
    page.keyboard.press("m")
    carry(page, np.array([0.5, 0.3]), (0.3, 0))
    settle(page, 3)
    ends = ends_in_view()
    assert page.get_attribute("#stage", "data-view") != view and ends.min() > 0 and ends.max() < 1
    page.click("#clear")
    settle(page, 0)
    assert page.get_attribute("#stage", "data-view") == view


def test_an_idle_page_does_not_overwrite_what_another_kept(visit):
    idle = visit()
    busy = idle.context.new_page()
    busy.goto(idle.url)
    busy.wait_for_selector("body[data-state=empty]")
    draw(busy, bundles()[0])
    settle(busy, 1)
    busy.close(run_before_unload=False)
    idle.reload()
    settle(idle, 1)


def test_broken_memory_does_not_stop_the_page(visit):
    page = visit()
    for broken in ("{", "[1, 2]", "null", '{"strokes": [{"t": [0, "a"], "x": 3}], "choices": 7}'):
        # Leaving a page keeps its strokes: what is broken must be put there before the next one reads it.
        page.add_init_script(f"localStorage.setItem('eigenwell-studio', {json.dumps(broken)})")
        page.reload()
        page.wait_for_selector("body[data-state=empty]")
    draw(page, bundles()[0])
    settle(page, 1)


def test_full_memory_is_said_in_words(visit):
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
    page = visit(before=lambda page: page.add_init_script(full))
    draw(page, bundles()[0])
    settle(page, 1)
    page.wait_for_selector("#notice:not([hidden])")
    assert "Save them" in page.inner_text("#notice-words")


def test_comes_back_after_the_connection_drops(visit):
    sockets, cut = [], []

    def between(socket):
        sockets.append(socket)
        if cut:
            socket.close()
        else:
            socket.connect_to_server()

    def before(page):
        page.route_web_socket(re.compile("/ws"), between)
        kept(bundles()[:3])(page)

    page = visit(before=before)
    settle(page, 3)
    cut.append(True)
    sockets[-1].close()
    page.wait_for_selector("body[data-state=offline]")
    page.wait_for_function("() => /No connection/.test(document.getElementById('connection-words').textContent)")
    page.click("#presets")
    page.locator("#presets-menu button").first.click()
    assert "no connection" in page.inner_text("#notice")
    for width in (PHONE["width"], 640):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == width, "no room for the words"
    page.set_viewport_size(DESK)
    draw(page, bundles()[3])
    assert marks(page)["strokes"] == "4"
    cut.clear()
    page.evaluate("() => { dispatchEvent(new Event('online')) }")  # no need to wait for the next try
    settle(page, 4)
    assert len(sockets) > 1 and marks(page)["attractors"] == "2" and page.is_hidden("#notice")


def test_text_from_the_server_stays_text(visit):
    evil = "<img src=x onerror=document.body.dataset.evil=1><b>bold</b>"
    answer = {
        "type": "identified", "n_attractors": 1, "confidence": 1, "confidence_words": evil, "why": evil, "labels": {"s1": 0},
        "attractors": [{"x": [0, 0], "error": [0.1, 0.2], "colour": 0}], "spectra": [], "embeddings": [], "graph": {"links": []},
        "warnings": [{"name": evil, "text": evil}], "kernel": {}, "python": evil,
    }  # fmt: skip

    def server(socket):
        socket.send(
            json.dumps({"type": "hello", "version": evil, "limits": {}, "presets": [{"name": evil, "title": evil}]})
        )
        for message in (
            "not json",
            "[]",
            json.dumps({"type": "constructor"}),
            json.dumps({"type": "error", "message": evil}),
        ):
            socket.send(message)
        socket.on_message(lambda text: socket.send(json.dumps(answer | {"rev": json.loads(text)["rev"]})))

    page = visit(before=lambda page: page.route_web_socket(re.compile("/ws"), server))
    draw(page, bundles()[0])
    settle(page, 1)
    assert page.inner_text("#why") == evil and page.inner_text("#notice-words") == evil
    assert page.locator("img").count() == 0 and "evil" not in marks(page)


def test_a_phone_with_a_finger(visit):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    finger = page.context.new_cdp_session(page)

    def touch(shares):
        points = [{"x": float(x), "y": float(y)} for x, y in on_screen(page, shares)]
        for kind, at in (("touchStart", points[:1]), *(("touchMove", [p]) for p in points[1:]), ("touchEnd", [])):
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    for k, stroke in enumerate(bundles(), start=1):
        touch(stroke)
        settle(page, k)
    assert marks(page)["attractors"] == "2" and page.evaluate("scrollY") == 0
    page.tap("button[data-tool=move]")
    page.touchscreen.tap(*on_screen(page, bundles()[1][8]))
    page.wait_for_selector("body[data-selected]")
    page.tap("#delete")
    settle(page, 5)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    small = page.evaluate(
        "() => [...document.querySelectorAll('.tools button, header button')].filter(b => b.offsetParent)"
        ".map(b => [b.id || b.dataset.tool, b.offsetWidth, b.offsetHeight]).filter(([, w, h]) => w < 24 || h < 24)"
    )
    assert small == []


def test_keyboard_alone(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.locator("#paper").focus()
    # Steer, pen down, steer, pen up: one stroke.
    page.keyboard.press("Space")
    page.keyboard.down("ArrowRight")
    pause(page, 500)
    page.keyboard.down("ArrowUp")
    pause(page, 400)
    page.keyboard.up("ArrowUp")
    page.keyboard.up("ArrowRight")
    pause(page, 250)
    page.keyboard.press("Space")
    settle(page, 1)
    assert marks(page)["attractors"] == "1"
    # Examples by arrow keys.
    page.locator("#presets").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("() => Number(document.body.dataset.strokes) > 1")
    n = int(marks(page)["strokes"])
    settle(page, n)
    assert marks(page)["attractors"] == "1"
    page.locator("#paper").focus()
    page.keyboard.press("]")
    page.keyboard.press("]")
    chosen = marks(page)["selected"]
    page.keyboard.press("[")
    assert marks(page)["selected"] != chosen
    page.keyboard.press("m")
    rev = int(marks(page)["rev"])
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("r => Number(document.body.dataset.rev) === r", arg=rev + 1)
    page.keyboard.press("Delete")
    settle(page, n - 1)
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert page.is_hidden("#help")
    # Nothing that can be clicked is out of reach, and each says what it is.
    nameless = page.evaluate(
        "() => [...document.querySelectorAll('button, input, canvas[tabindex], progress')]"
        ".filter(n => !n.hidden && n.type !== 'file')"
        ".filter(n => !(n.textContent.trim() || n.ariaLabel || n.labels?.length)).map(n => n.outerHTML)"
    )
    assert nameless == []


def test_contrast_and_an_audit_in_both_themes(visit):
    axe = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
    page = visit(before=kept(bundles()), color_scheme="dark", reduced_motion="reduce")
    settle(page, 6)
    page.click("#know summary")
    page.click("#compare")
    page.wait_for_selector("#compared:not([hidden])")
    if axe.exists():
        page.evaluate(axe.read_text())
    for scheme in ("dark", "light"):
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        pairs = page.evaluate(
            """() => [...document.querySelectorAll('h1, h2, h3, p, button, label, figcaption, text, li, .connection, code, b')]
            .filter(n => n.checkVisibility() && n.textContent.trim() && !n.disabled).map(n => {
              const clear = n => /, 0\\)$|transparent/.test(getComputedStyle(n).backgroundColor);
              let back = n;
              while (back.parentElement && clear(back)) back = back.parentElement;
              const style = getComputedStyle(n);
              return [n.textContent.trim().slice(0, 30), n.namespaceURI.includes('svg') ? style.fill : style.color,
                      getComputedStyle(back).backgroundColor] })"""
        )
        assert len(pairs) > 25
        assert [(text, round(contrast(a, b), 2)) for text, a, b in pairs if contrast(a, b) < 4.5] == []
        if axe.exists():  # npm install
            found = page.evaluate(
                "axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html)]))"
            )
            assert [one for one in found if one[0] in ("serious", "critical")] == []
        page.click("#theme")


def contrast(a, b):
    def light(colour):
        rgb = np.array([float(c) for c in re.findall(r"[\d.]+", colour)[:3]]) / (1 if "srgb" in colour else 255)
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_drop_perturb_and_take_away(visit, tmp_path):
    page = visit(before=kept(bundles()))
    settle(page, 6)
    page.keyboard.press("p")
    page.mouse.click(*on_screen(page, np.array([0.5, 0.3])))
    assert "no flow yet" in page.inner_text("#notice")
    page.click("#notice-close")
    assert page.is_disabled("[data-take=model]")
    file, _ = model_of(tmp_path, bundles(40))
    page.set_input_files("#file", file)
    page.wait_for_selector("body[data-field=current]")
    settle(page, 6)
    assert "strokes" in page.inner_text("#fit-head") and "stroke " in page.inner_text("#fit-words")
    assert "remember" in page.inner_text("#memory") and page.locator("#goals button").count() == 3
    moves(page, "flow")  # and no tinted map behind it where particles remember their goal
    assert is_painted(page, "flow")

    page.emulate_media(reduced_motion="reduce")  # particles arrive at once
    page.mouse.click(*on_screen(page, np.array([0.25, 0.3])))
    page.wait_for_selector('body[data-arrived="1"]')
    assert re.search(r"arrived at goal \d", page.inner_text("#said"))
    carry(page, np.array([0.6, 0.3]), (0.07, -0.1))  # one that is carried on before it is let go
    # Set down it runs at once, and without motion it may have been there before it was carried on: then it arrives twice.
    page.wait_for_function("() => Number(document.body.dataset.arrived) >= 2")
    assert marks(page)["particles"] == "2" and marks(page)["world"] == ""

    for what in ("csv", "npz", "model", "report", "png", "svg"):
        name, content = taken(page, what)
        assert name.startswith("eigenwell") and len(content) > 500, what
        if what == "csv":  # what the method saw: the Python lines give the page's answer again
            (tmp_path / name).write_bytes(content)
            found = ew.identify(ew.files.read(tmp_path / name))
            assert name in page.inner_text("#python") and page.inner_text("#sure-number").endswith(
                f"{found.confidence:.2f}"
            )
        if what == "png":  # two pixels to a point
            assert content.startswith(b"\x89PNG") and int.from_bytes(content[16:20]) >= 2 * 890
        if what == "svg":
            assert content.startswith(b"<svg") and content.count(b'stroke-width="2.4"') == 6
    assert "ew.identify" in page.inner_text("#python")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_function("() => document.getElementById('copy').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == page.text_content("#python")

    page.keyboard.press("d")
    draw(page, curve((0.5, 0.1), (0.5, 0.4), 0.1, 16))
    settle(page, 7)
    page.wait_for_selector("body[data-field=stale]")
    assert page.is_visible("#stale") and page.is_disabled("[data-take=model]")
    # Back at what it was learned from, it is the field of these strokes again, here and on the server.
    page.keyboard.press("Control+z")
    page.wait_for_selector("body[data-field=current]")
    page.click("#know summary")
    page.click("[data-value=kernel]")
    page.wait_for_selector("body[data-field=stale]")
    page.click("[data-value=paths]")
    page.wait_for_selector("body[data-field=current]")
    assert b"<canvas" in taken(page, "page")[1]


def test_quick_with_twelve_strokes(visit, tmp_path):
    """The bar from stroke end to labels is 0.15 s; `python -m benchmarks.studio_page` holds it.

    Here a busy machine is no failure.
    """
    page = visit(reduced_motion="reduce")
    goals, strokes = np.array([[0.7, 0.65], [0.3, 0.7], [0.5, 0.3]]), []
    for k in range(12):
        way = np.array([np.cos(0.4 + 0.5 * k), np.sin(0.4 + 0.5 * k)])
        strokes.append(curve(goals[k % 3] + 0.24 * way, goals[k % 3], 0.2, 110))
    # Eleven strokes by file, in the world's coordinates, two seconds each; the twelfth by hand.
    x0, y0, x1, y1 = map(float, page.get_attribute("#stage", "data-view").split())
    world = [[x0, y1] + s * [x1 - x0, y0 - y1] for s in strokes]
    rows = [f"{k},{i / 100},{x},{y}" for k, w in enumerate(world[:11]) for i, (x, y) in enumerate(w)]
    file = tmp_path / "eleven.csv"
    file.write_text("\n".join(["trajectory,time_s,x,y", *rows]))
    page.set_input_files("#file", file)
    settle(page, 11)
    # To the goal as the page shows it: the view may have moved to hold the file.
    shown = np.array([view_share(page, end) for end in stored(page, 11)])
    goal = shown[np.argmin(np.linalg.norm(shown - goals[2], axis=1))]
    draw(page, curve(goal + strokes[11][0] - goals[2], goal, 0.2, 110))  # two seconds, at an event a frame
    settle(page, 12)
    waited = float(marks(page)["latencyMs"]) / 1000
    stored(page, 12)
    samples = page.evaluate("JSON.parse(localStorage.getItem('eigenwell-studio')).strokes.at(-1).t.length")
    assert samples > 80, "coalesced events were lost"
    page.keyboard.press("Control+z")
    settle(page, 11)
    page.keyboard.press("Control+Shift+z")
    settle(page, 12)
    assert marks(page)["attractors"] == "3"
    print(f"\nstroke end to labels: {waited:.3f} s")
    assert waited < 2.0


# --- goals ----------------------------------------------------------------------------------------------


def test_goals_attract_and_can_be_carried_merged_and_split(visit):
    page = visit(before=kept([curve((0.2, 0.2), (0.6, 0.5), 0.2, 30)]))
    settle(page, 1)
    page.check("#magnets")
    size = np.array([page.locator("#paper").bounding_box()[side] for side in ("width", "height")])
    goal = ends(page)[0]
    spot = view_share(page, goal)
    # Within 25 pixels the end snaps; undo gives the stroke back as it was drawn.
    draw(page, curve((0.2, 0.7), beside(spot, 15 / size[0], 8 / size[1]), 0.1, 14))
    settle(page, 2)
    assert np.allclose(stored(page, 2)[1], goal, atol=1e-2) and marks(page)["attractors"] == "1"
    page.keyboard.press("Control+z")
    settle(page, 2)
    assert np.linalg.norm(stored(page, 2)[1] - goal) > 0.02
    page.keyboard.press("Control+Shift+z")
    settle(page, 2)
    # Beyond, or with the switch off, it does not.
    draw(page, curve((0.2, 0.4), beside(spot, -0.2, 0.25), 0.1, 14))
    settle(page, 3)
    assert marks(page)["attractors"] == "2"
    page.uncheck("#magnets")
    draw(page, curve((0.8, 0.2), beside(spot, 20 / size[0], 0), 0.1, 14))
    settle(page, 4)
    assert np.linalg.norm(stored(page, 4)[3] - goal) > 0.03
    page.keyboard.press("Control+z")
    settle(page, 3)
    page.check("#magnets")
    # A goal is carried elsewhere with its strokes; onto another one, they become one.
    page.keyboard.press("m")
    carry(page, spot, (0.1, -0.1))
    settle(page, 3)
    moved = stored(page, 3)
    assert np.allclose(moved[0], moved[1], atol=1e-2) and np.linalg.norm(moved[0] - goal) > 0.1
    carry(page, beside(spot, 0.1, -0.1), (-0.295, 0.35))
    settle(page, 3)
    assert marks(page)["attractors"] == "1"
    # Of selected strokes only those go: one goal becomes two.
    page.mouse.click(*on_screen(page, curve((0.2, 0.4), beside(spot, -0.2, 0.25), 0.1, 14)[3]))
    assert "selected" in marks(page)
    carry(page, beside(spot, -0.2, 0.25), (0.3, 0.05))
    settle(page, 3)
    assert marks(page)["attractors"] == "2"
    page.keyboard.press("Control+a")
    assert len(marks(page)["selected"].split()) == 3
    page.keyboard.press("Delete")
    settle(page, 0)


def test_a_goal_keeps_its_colour_and_its_number_for_life(visit, tmp_path):
    page = visit(before=kept([curve((0.5, 0.2), (0.7, 0.6), 0.1, 30)]))
    settle(page, 1)
    tint = page.get_attribute("#attractors polygon", "fill")
    place = page.inner_text("#attractors li span").split(" ±")[0]
    draw(page, curve((0.4, 0.2), (0.2, 0.6), 0.1, 14))  # to the left of it
    settle(page, 2)
    tints = [icon.get_attribute("fill") for icon in page.locator("#attractors polygon").all()]
    assert tints[0] == tint and tints[1] != tint and page.inner_text("#attractors li span").startswith(place[:5])
    # Python counts from left to right, and the lines say how to count as here; so are they in what is taken away.
    assert "renumbered([1, 0])" in page.inner_text("#python")
    (tmp_path / "strokes.csv").write_bytes(taken(page, "csv")[1])
    found = ew.identify(ew.files.read(tmp_path / "strokes.csv")).renumbered([1, 0])
    assert found.attractors[0, 0] > found.attractors[1, 0]
    page.keyboard.press("Control+z")
    settle(page, 1)
    assert page.get_attribute("#attractors polygon", "fill") == tint and "renumbered" not in page.inner_text("#python")


def test_toys_explain_order_brush_and_the_paper(visit):
    page = visit(before=kept(bundles(40)))
    settle(page, 6)
    page.click("#know summary")
    page.click("#compare")
    page.wait_for_selector("#compared:not([hidden])")
    assert "2 goals" in page.inner_text("#by-paths-words") and "σ" in page.inner_text("#by-kernel-words")
    assert page.locator("#by-paths polyline").count() == 6
    # The samples leave their strokes, and come back with their labels.
    page.click("[data-value=unordered]")
    page.wait_for_function(PAINTED, arg="paper")
    page.wait_for_selector("#compared", state="hidden")
    page.wait_for_function("() => document.body.dataset.shuffled === '240 240'")
    assert "all 240 samples have the label they had" in page.inner_text("#hint")
    page.click("[data-value=known]")
    page.click("#clear")
    settle(page, 0)
    # A brush leaves samples; each has a fate.
    page.keyboard.press("b")
    assert page.get_attribute("[data-value=samples]", "aria-checked") == "true"
    for start in ((0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8)):
        draw(page, curve(start, (0.5, 0.5), 0.05, 16))
    page.set_default_timeout(60_000)
    settle(page, 4)
    stored(page, 4)
    kept_samples = page.evaluate(
        f"JSON.parse(localStorage.getItem({KEY!r})).strokes.map(s => [s.x.length, s.v.length])"
    )
    assert all(n == m > 20 for n, m in kept_samples)
    assert "carried along the flow" in page.inner_text("#why") and "FlowGraph" in page.inner_text("#python")
    page.keyboard.press("b")
    page.keyboard.press("Control+z")
    settle(page, 3)


# --- where one looks ------------------------------------------------------------------------------------


def test_wheel_keys_and_hand_look_elsewhere_and_back(visit):
    page = visit(before=kept(bundles()[:2]))
    settle(page, 2)
    page.mouse.click(*on_screen(page, np.array([0.5, 0.2])))
    assert "no motion" in page.inner_text("#hint")
    view = page.get_attribute("#stage", "data-view")
    page.mouse.move(*on_screen(page, np.array([0.4, 0.4])))
    page.mouse.wheel(0, -400)
    page.wait_for_function("v => document.getElementById('stage').dataset.view !== v", arg=view)
    assert width(page) < width_of(view) and page.is_visible("#fitted")
    page.keyboard.press("m")
    before = page.get_attribute("#stage", "data-view")
    carry(page, np.array([0.9, 0.9]), (-0.1, 0.0))
    after = page.get_attribute("#stage", "data-view")
    assert width_of(after) == pytest.approx(width_of(before)) and after != before
    # A stroke drawn here lands where it was seen, and stays when the view comes back.
    page.keyboard.press("d")
    draw(page, curve((0.2, 0.3), (0.7, 0.6), 0.1, 14))
    settle(page, 3)
    assert page.get_attribute("#stage", "data-view") == after
    page.keyboard.press("0")
    assert page.get_attribute("#stage", "data-view") == view and page.is_hidden("#fitted")
    angle = np.linspace(0, 2 * np.pi, 30)
    draw(page, np.column_stack([0.5 + 0.15 * np.cos(angle), 0.5 + 0.2 * np.sin(angle)]))
    assert "closed loop" in page.inner_text("#hint")


def width_of(view):
    x0, _, x1, _ = map(float, view.split())
    return x1 - x0


def width(page):
    return width_of(page.get_attribute("#stage", "data-view"))


@pytest.mark.parametrize("touch", [True, False], ids=["finger", "mouse"])
def test_small_windows_show_the_answer_and_the_button(visit, touch):
    """Phones upright and on their side, 320 points wide, and a desk at 200 %: nothing to scroll for, nothing covered."""
    sizes = [(390, 844), (844, 390), (320, 640)] if touch else [(640, 400)]
    page = visit(before=kept(bundles()), has_touch=touch, is_mobile=touch)
    settle(page, 6)
    for size in sizes:
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        page.wait_for_function(
            "w => innerWidth === w && document.getElementById('paper').clientWidth <= w", arg=size[0]
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        for what in ("#count", "#learn", "#clear", "button[data-tool=draw]", "#help-open"):
            seen = page.evaluate(
                """what => { const n = document.querySelector(what), b = n.getBoundingClientRect();
                const hit = document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2);
                return [b.top >= 0 && b.bottom <= innerHeight && b.left >= 0 && b.right <= innerWidth, n.contains(hit)] }""",
                what,
            )
            assert seen == [True, True], what
        assert page.locator("#paper").bounding_box()["height"] > 0.5 * size[1] - 60
        least = 40 if touch else 24
        small = page.evaluate(
            "least => [...document.querySelectorAll('button')].filter(b => b.checkVisibility() && !b.classList.contains('link'))"
            ".map(b => [b.id || b.textContent, b.offsetWidth, b.offsetHeight]).filter(([, w, h]) => w < least || h < least)",
            least,
        )
        assert small == []


# --- live -----------------------------------------------------------------------------------------------


def test_live_learning_keeps_fades_and_comes_back(visit, address, browser, tmp_path):
    """One page, few trainings: the flow grows by itself, is faded and not lost, and survives reload, file and sharing."""
    lines = [curve(start, (0.5, 0.5), 0.1, 40) for start in ((0.2, 0.2), (0.8, 0.25), (0.3, 0.85))]
    page = visit(before=kept(lines[:2], live=True), live=True)
    page.wait_for_selector("body[data-field=growing]", timeout=120_000)
    # Drawing while it learns cancels nothing: what grows is shown, faded, until there is something newer.
    draw(page, curve((0.3, 0.85), view_share(page, ends(page)[0]), 0.1, 20))
    settle(page, 3)
    assert page.is_hidden("#stale")
    learned(page)
    moves(page, "flow")
    assert is_painted(page, "flow") and is_painted(page, "backdrop") and page.is_hidden("#speeds")
    assert page.locator("#loss polyline").count() >= 1
    page.keyboard.press("6")
    assert page.is_visible("#speeds") and is_painted(page, "flow")
    page.keyboard.press("6")
    assert "Follows your strokes" in page.inner_text("#fit-head")
    page.wait_for_function("() => document.body.dataset.certified === document.body.dataset.rev", timeout=200_000)
    assert "holds" in page.inner_text("#certificate")

    # Reload: the same picture, the same field, the same history; nothing is learned again.
    page.keyboard.press("1")
    page.keyboard.press("1")
    pause(page, 400)
    before, steps = canvas_bytes(page, "backdrop"), marks(page)["strokes"]
    page.reload()
    page.wait_for_selector("body[data-field=current]")
    settle(page, int(steps))
    looks(page, "backdrop", before)
    assert page.is_enabled("#undo") and marks(page).get("learnMs") is None, "it was learned again"
    pause(page, 300)

    # A file: another page shows the same, to the pixel, with the field ready to be taken away.
    page.mouse.move(*on_screen(page, np.array([0.4, 0.4])))
    page.mouse.wheel(0, -200)
    pause(page, 500)
    with page.expect_download(timeout=90_000) as download:
        page.click("#save")
    file = tmp_path / "mine.eigenwell"
    download.value.save_as(file)
    before, scene = canvas_bytes(page, "backdrop"), canvas_bytes(page, "scene")
    other = visit()
    other.set_input_files("#file", file)
    other.wait_for_selector("body[data-field=current]")
    looks(other, "backdrop", before)
    looks(other, "scene", scene)
    name, model = taken(other, "model")
    (tmp_path / name).write_bytes(model)
    field = ew.load(tmp_path / name)

    # The page to share: from a disk, without a server, moving, with Python's numbers.
    (tmp_path / "shared.html").write_bytes(taken(other, "page")[1])
    shared = browser.new_context(viewport={"width": 900, "height": 600}, offline=True).new_page()
    wrong = []
    shared.on("pageerror", lambda e: wrong.append(str(e)))
    shared.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    shared.goto((tmp_path / "shared.html").as_uri())
    shared.wait_for_function("() => Number(document.body.dataset.frames) > 5")
    moves(shared, "paper")
    x = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    got = shared.evaluate("x => x.map(p => eigenwell.velocity(p))", x.tolist())
    assert np.abs(np.array(got) - field.predict(x)).max() < 1e-5 * np.abs(field.predict(x)).max()
    shared.mouse.click(300, 200)
    shared.wait_for_function("() => Number(document.body.dataset.arrived) === 1")
    shared.context.close()
    assert wrong == []

    # Off: the field stays as it is, and says that it is old.
    page.uncheck("#auto")
    page.keyboard.press("0")
    draw(page, curve((0.85, 0.8), (0.7, 0.7), 0.2, 14))
    settle(page, 4)
    page.wait_for_selector("body[data-field=stale]")
    assert page.is_visible("#stale")
    # By hand, and given up: the old one stays.
    page.click("#learn")
    page.wait_for_selector("#training:not([hidden])")
    page.evaluate("document.getElementById('cancel').click()")  # it may be done by now, and the button gone
    page.wait_for_selector("body[data-state=ready]")
    page.keyboard.press("Control+z")
    settle(page, 3)


def test_one_click_to_the_first_wonder(visit):
    page = visit(live=True)
    moves(page, "flow")  # the empty page does
    page.click("#try")
    page.wait_for_function("() => Number(document.body.dataset.arrived) > 3", timeout=400_000)
    assert marks(page)["attractors"] == "2" and int(marks(page)["particles"]) > 5
