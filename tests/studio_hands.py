"""Hands on the studio's page, in a real browser: fixtures that open it, and what a person does there."""

import json
import re
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest
from tests.browsers import served
from tests.untrained import field_of

import eigenwell as ew
from eigenwell.report.numbers import of_field
from eigenwell.studio import presets, protocol
from eigenwell.studio.identify import find, identified
from eigenwell.studio.messages import REMEMBERS
from eigenwell.studio.strokes import drawing

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
STARTS_A = ((0.15, 0.2), (0.12, 0.32), (0.2, 0.14))
STARTS_B = ((0.85, 0.22), (0.88, 0.34), (0.8, 0.15))

KEY = "eigenwell-studio"

# What moves is painted by software here: twelve pictures a second show that it moves as well as sixty, and leave the processor
# to what is waited for.
FEWER_FRAMES = """{ const next = requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (call) => next(() => setTimeout(() => call(performance.now()), 66)) }"""


@pytest.fixture(scope="session")
def address():
    """The real server on a free port."""
    pytest.importorskip("starlette", reason='the studio needs pip install "eigenwell[studio]"')
    # A fifth of the training: what is learned is coarse, and everything else about it the same.
    with served("tests.small_studio", EIGENWELL_STUDIO_STEPS="60") as where:
        yield where


@pytest.fixture
def visit(browser, address):
    """Opens pages; at the end none of them may have complained or asked anybody but its own server."""
    contexts, complaints, asked = [], [], []

    def open_page(before=None, live=False, **settings):
        context = browser.new_context(
            **{"viewport": DESK, "color_scheme": "light", "accept_downloads": True} | settings
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("request", lambda r: asked.append(r.url))
        own = urlparse(address).netloc
        page.route(lambda url: urlparse(url).netloc != own and not url.startswith("blob:"), lambda route: route.abort())
        if "reduced_motion" not in settings:
            page.add_init_script(FEWER_FRAMES)
        if before:
            before(page)
        # Learning by itself and magnets are tested where they are meant, and not waited for anywhere else.
        kept_choices = f"if (!localStorage.getItem({KEY!r})) localStorage.setItem({KEY!r}, {choices(live)!r})"
        page.add_init_script(f"try {{ {kept_choices} }} catch {{}}")
        page.goto(address)
        page.wait_for_selector("body:not([data-state=connecting])")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [
        url for url in asked if urlparse(url).netloc != urlparse(address).netloc and not url.startswith("blob:")
    ] == []


# --- hands ----------------------------------------------------------------------------------------------


def choices(live):
    return json.dumps({"choices": {"auto": live, "magnets": False}})


def marks(page):
    return page.evaluate("({...document.body.dataset})")


def curve(start, goal, bend, n):
    """A stroke from start to goal in shares of the canvas, slowing down towards its end."""
    start, goal = np.array(start), np.array(goal)
    u = 1 - (1 - np.linspace(0, 1, n)[:, None]) ** 2
    side = np.array([-(goal - start)[1], (goal - start)[0]])
    return start + u * (goal - start) + bend * np.sin(np.pi * u) * side


def on_screen(page, shares):
    box = page.locator("#paper").bounding_box()
    return shares * [box["width"], box["height"]] + [box["x"], box["y"]]


def draw(page, shares):
    points = on_screen(page, shares)
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()


def carry(page, share, by):
    page.mouse.move(*on_screen(page, share))
    page.mouse.down()
    page.mouse.move(*on_screen(page, share + np.array(by)), steps=8)
    page.mouse.up()


def bundles(n=16):
    """Two bundles that cross. The browser takes one event a frame, so that samples cost time."""
    return [curve(s, (0.68, 0.62), 0.25, n) for s in STARTS_A] + [curve(s, (0.3, 0.68), -0.2, n) for s in STARTS_B]


def kept(strokes, live=False):
    """For `visit(before=...)`: the page finds these strokes as if they had been drawn before, a second each."""
    unit = [np.column_stack([2.4 * s[:, 0] - 1.2, 1 - 2 * s[:, 1]]) for s in strokes]
    rows = [{"t": np.linspace(0, 1, len(x)).tolist(), "x": x.tolist()} for x in unit]
    stored = json.dumps(json.dumps({"strokes": rows, "choices": {"auto": live, "magnets": False}}))
    script = f"if (!localStorage.getItem('{KEY}')) localStorage.setItem('{KEY}', {stored})"
    return lambda page: page.add_init_script(script)


def settle(page, strokes):
    """Until these strokes are drawn and their labels painted."""
    page.wait_for_function(
        "n => { const d = document.body.dataset;"
        " return Number(d.strokes) === n && (n === 0 || d.labelled === d.rev) && d.state !== 'thinking' }",
        arg=strokes,
    )


def pause(page, ms):
    """By the page's own clock: whatever it had put off for less than this has been done, however slow the machine."""
    page.evaluate("ms => new Promise(done => setTimeout(done, ms))", ms)


SELDOM = 150
"""Milliseconds between looks at a whole layer, each of which packs its picture."""


def canvas_bytes(page, layer):
    return page.evaluate("id => document.getElementById(id).toDataURL()", layer)


PAINTED = """id => { const c = document.getElementById(id);
    return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0) }"""


def is_painted(page, layer):
    return page.evaluate(PAINTED, layer)


def moves(page, layer):
    """Until a layer looks different from now."""
    wait = "([id, first]) => document.getElementById(id).toDataURL() !== first"
    page.wait_for_function(wait, arg=[layer, canvas_bytes(page, layer)], polling=SELDOM)


def looks(page, layer, expected):
    """Until a layer looks like this, to the pixel."""
    same = "([id, all]) => document.getElementById(id).toDataURL() === all"
    page.wait_for_function(same, arg=[layer, expected], polling=SELDOM)


def learned(page):
    """Until the field of the strokes on screen is there, and nothing is left to do."""
    page.wait_for_selector("body[data-field=current]:not([data-state=learning])", timeout=400_000)
    page.wait_for_function("() => document.body.dataset.learnedRev !== undefined")


def taken(page, what):
    with page.expect_download(timeout=90_000) as download:
        page.click(f"[data-take={what}]")
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def model_of(folder, strokes):
    """The file of a field with these strokes, as Python saves one: with memory, since they cross, and without training."""
    x = [np.column_stack([2.4 * s[:, 0] - 1.2, 1 - 2 * s[:, 1]]) for s in strokes]
    found = ew.identify(x, dt=1 / 40)
    field = field_of(found, bend=0.2, memory=True)
    field.save(folder / "drawn.eigenwell")
    return folder / "drawn.eigenwell", field


def ends(page):
    return np.array(page.evaluate(f"JSON.parse(localStorage.getItem('{KEY}')).strokes.map(s => s.x.at(-1))"))


def stored(page, count):
    pause(page, 350)  # the autosave is a quarter of a second late
    found = ends(page)
    assert len(found) == count
    return found


def beside(spot, dx, dy):
    return spot + np.array([dx, dy])


def view_share(page, place):
    """Where a place of the world is, in shares of the canvas."""
    x0, y0, x1, y1 = map(float, page.get_attribute("#stage", "data-view").split())
    return np.array([(place[0] - x0) / (x1 - x0), (y1 - place[1]) / (y1 - y0)])


# --- a server of a test's own -----------------------------------------------------------------------------


class Between:
    """Stands between a page and its server, and cuts the connection when it is told to.

    `gone` is what happens to the page; while `cut`, nobody answers at all.
    """

    def __init__(self):
        self.socket, self.cut = None, False

    def between(self, page):
        page.route_web_socket(re.compile("/ws"), self._open)

    def gone(self, cut=False):
        self.cut = cut
        self.socket.close()

    def _open(self, socket):
        self.socket = socket
        if self.cut:
            socket.close()
        else:
            self._answer(socket)

    def _answer(self, socket):
        socket.connect_to_server()


class Pretended(Between):
    """Answers a page in place of its server: strokes as the studio does, fields without training, tests when it is told to.

    `visit(before=Pretended().between)`; `silent` kinds of messages are left unanswered. `fit` is told of every field, and
    `memory` says whether it remembers; None: where strokes cross.
    """

    def __init__(self, silent=(), memory=False, bend=0.15, fit=None, certified=True):
        super().__init__()
        self.silent, self.memory, self.bend, self.fit, self.certified = set(silent), memory, bend, fit, certified
        self.heard, self.field, self.drawn = [], None, None

    def _answer(self, socket):
        limits = {"strokes": 200, "samples": 40_000, "stroke_samples": 10_000, "bytes": 4 * 2**20}
        self.say("hello", version="0", limits=limits, presets=presets.listed())
        socket.on_message(lambda text: self._heard(json.loads(text)))

    def say(self, kind, **more):
        self.socket.send(json.dumps({"type": kind} | more))

    def _heard(self, message):
        self.heard.append(message)
        kind = message["type"]
        if kind in self.silent or not hasattr(self, f"_{kind}"):
            return
        getattr(self, f"_{kind}")(message)

    def _preset(self, message):
        self.say("strokes_loaded", **presets.strokes_of(message["name"]))

    def _pictures(self, message):
        self.say("pictures", pictures={name: presets.picture(name) for name in presets.names()})

    def _load(self, message):
        """Whatever the file: reading files is tested elsewhere."""
        self.say("strokes_loaded", **presets.strokes_of("ess"))

    def _strokes(self, message):
        text = json.dumps(message["strokes"])
        parsed = protocol.parse(json.dumps(message))
        if not parsed.strokes:
            self.say("empty", rev=message["rev"])
            return
        self.drawn = parsed
        same = self.field is not None and self.field[0] == text
        self.say("identified", rev=message["rev"], ms=1, field=same, **identified(parsed.strokes, parsed.options))
        if same and self.certified:
            self.certify(message["rev"])

    def _learn(self, message):
        result = find(drawing(self.drawn.strokes), self.drawn.options).numbered(message["numbers"])
        field = field_of(result.found, bend=self.bend, memory=self.memory)
        text = json.dumps(next(m["strokes"] for m in reversed(self.heard) if m["type"] == "strokes"))
        self.field = (text, field)
        if "progress" not in self.silent:
            self.say("progress", rev=message["rev"], step=300, steps=300, loss=0.5)
        fit = {"good": True, "share": 1.0, "head": "Follows your strokes: 100 %.", "words": "Words.", "worst": "s1"}
        self.say("learned", rev=message["rev"], field=of_field(field), memory=REMEMBERS if self.memory else None,
                 fit=fit | (self.fit or {}), warnings=[], model="")  # fmt: skip
        if self.certified:
            self.certify(message["rev"])

    def certify(self, rev, holds=True, words="Put to the test."):
        self.say("certified", rev=rev, holds=holds, words=words)


# --- somebody who tries everything --------------------------------------------------------------------------

DONE = """() => { const d = document.body.dataset;
    if (["thinking", "learning", "connecting", "offline"].includes(d.state)) return false;
    const tested = !document.getElementById("certificate").classList.contains("waiting");
    return d.strokes === "0" || (d.labelled === d.rev && (d.attractors === "0" || (d.field === "current" && tested))) }"""
STEPS = ["draw", "draw", "undo", "undo", "redo", "clear", "example", "open", "reload", "gone"]
FILES = [
    b"x,y",
    b"trajectory,time_s,x,y\n" + b"".join(b"0,%f,%f,0.1\n" % (0.02 * k, 0.9 * (1 - k / 40) ** 2) for k in range(41)),
]
"""Of which the first is none."""


def wander(page, server, rng, steps):
    """Some steps in any order: draw, undo, redo, clear, an example, a file, reload, the server gone. Gives their names."""
    did = []
    for _ in range(steps):
        what = str(rng.choice(STEPS))
        did.append(what)
        if what == "draw":
            goal = np.array([[0.3, 0.6], [0.65, 0.4]])[rng.integers(2)] + 0.003 * rng.normal(size=2)
            draw(page, curve(rng.uniform([0.1, 0.15], [0.8, 0.7]), goal, 0.1, 8))
        elif what in ("undo", "redo", "clear"):
            page.evaluate("id => document.getElementById(id).click()", what)  # a disabled one does nothing
        elif what == "example":
            page.evaluate("k => document.querySelectorAll('#presets-menu button')[k]?.click()", int(rng.integers(6)))
        elif what == "open":
            content = FILES[rng.integers(2)]
            page.set_input_files("#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": content})
        elif what == "reload":
            page.reload()
        else:
            server.gone(cut=bool(rng.integers(2)))
        pause(page, int(rng.choice([0, 0, 30, 150])))
        server.cut &= bool(rng.integers(3))
    # Whoever was cut off need not wait for the next try.
    server.cut = False
    page.evaluate("() => { dispatchEvent(new Event('online')) }")
    return did
