"""What makes people trust the studio, in numbers: first drawings, colours, the folder without a server, no dead ends.

`python -m benchmarks.studio_page --parts hands colours static sequences` prints it.
"""

from __future__ import annotations

import functools
import json
import tempfile
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page
from tests.browsers import served
from tests.studio_hands import DONE, FEWER_FRAMES, Between, Pretended, wander

from benchmarks.table import RESULTS, Row
from eigenwell.studio import gallery, messages, presets, training
from eigenwell.studio.identify import identified
from eigenwell.studio.protocol import Options
from eigenwell.studio.strokes import Stroke

PIXEL = 2 / 750
"""Of the world, on a canvas 750 pixels high."""
SURE = 0.9
"""From here on the page says "very sure"."""
PATIENCE = 400_000
"""Milliseconds until a page counts as stuck: a machine with other work is late, and a dead end stays one."""
PAGE, SEED = 20, 502
"""Random sequences one after the other on one page, which keeps its strokes and its history over them."""


# --- first drawings ---------------------------------------------------------------------------------------


def hand(rng: np.random.Generator, knots: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """A hand along knots, at rest at both ends, 60 events a second, a pixel of tremor and whole pixels."""
    from scipy.interpolate import CubicSpline

    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    share = np.linspace(0, 1, max(12, int(60 * seconds)))
    way = CubicSpline(length / length[-1], knots)(share**3 * (10 - 15 * share + 6 * share**2))
    steady = np.minimum(1, 6 * (1 - share))[:, None]  # a hand that has stopped is still
    shaken = way + 0.5 * PIXEL * rng.normal(size=way.shape) * steady
    return seconds * share, np.round(shaken / PIXEL) * PIXEL


def to_goals(rng: np.random.Generator, count: int) -> tuple[list[np.ndarray], int]:
    """Two to four strokes to each of some goals, their ends off by 5 to 20 pixels; one goal may have a single stroke."""
    goals: list[np.ndarray] = []
    while len(goals) < count:
        place = rng.uniform([-1.0, -0.7], [1.0, 0.7])
        if all(np.linalg.norm(place - other) > 0.55 for other in goals):
            goals.append(place)
    radius, lines = rng.uniform(5, 20) * PIXEL, []
    for goal in goals:
        turn, strokes = rng.uniform(0, 2 * np.pi), int(rng.integers(1 if count == 1 else 2, 5))
        for k in range(strokes):
            angle = turn + 2 * np.pi * k / strokes + rng.uniform(-0.5, 0.5)
            start = goal + rng.uniform(0.4, 0.8) * np.array([np.cos(angle), np.sin(angle)])
            off = radius * np.sqrt(rng.uniform()) * np.array([np.cos(a := rng.uniform(0, 2 * np.pi)), np.sin(a)])
            end = goal + off
            side = np.array([-(end - start)[1], (end - start)[0]])
            lines.append(np.array([start, (start + end) / 2 + rng.uniform(-0.3, 0.3) * side, end]))
    return lines, count


def figure(rng: np.random.Generator, name: str) -> tuple[list[np.ndarray], int]:
    """A loop, an eight or a letter, one to three times to one place."""
    knots = np.array([place.split() for place in presets.WRITTEN[name][1].split(", ")], dtype=np.float64)
    knots = rng.uniform(0.6, 1.0) * knots
    times = int(rng.integers(1, 4))
    return [
        knots + 0.02 * rng.normal(size=knots.shape) * np.append(np.ones(len(knots) - 1), 0.3)[:, None]
        for _ in range(times)
    ], 1


def circle(rng: np.random.Generator) -> tuple[list[np.ndarray], int]:
    """Round and round, three turns: no goal, and a question."""
    angle = np.linspace(0, 6 * np.pi, 40)
    size, times = rng.uniform(0.25, 0.5), int(rng.integers(1, 4))
    return [
        np.column_stack([size * np.cos(angle + a), size * np.sin(angle + a)]) for a in rng.uniform(0, 6, size=times)
    ], 0


def hands(tries: int) -> list[Row]:
    """First drawings as people make them, magnets off: the number of goals, and whether one is ever sure of a wrong one."""
    rng = np.random.default_rng(25)
    kinds = ["1", "2", "3", "4", "1", "2", "3", "4", "loop", "eight", "letter", "circle"]
    right, wrong, sure = 0, [], []
    for k in range(tries):
        kind = kinds[k % len(kinds)]
        lines, count = (
            circle(rng) if kind == "circle" else to_goals(rng, int(kind)) if kind.isdigit() else figure(rng, kind)
        )
        strokes = []
        for n, line in enumerate(lines):
            t, x = hand(rng, line, 1.2 * len(line) / 3 if len(line) < 6 else 3.0)
            strokes.append(Stroke(f"s{n}", t, x))
        answer = identified(strokes, Options())
        if answer["n_attractors"] == count:
            right += 1
            continue
        wrong.append(
            f"{kind} goals read as {answer['n_attractors']}"
            if kind.isdigit()
            else f"{kind} read as {answer['n_attractors']}"
        )
        if (answer["confidence"] or 0) >= SURE:
            sure.append(wrong[-1])
    share = right / tries
    return [
        Row(
            f"{tries} first drawings by a hand: the right number of goals",
            ">= 95 %",
            f"{share:.1%}",
            "; ".join(wrong),
            share >= 0.95,
        ),
        Row("of those, wrong and very sure", "none", str(len(sure)), "; ".join(sure), not sure),
    ]


def examples() -> list[Row]:
    """Every drawing that the studio offers, learned as it does: followed, and its certificate holds."""
    bad = []
    names = [one["name"] for one in presets.listed() if not one["name"].startswith("lasa-")]
    for name in names:
        answer, field = training.learned(gallery.identified(name), lambda *_: None, lambda _: None)
        certificate = messages.certified(field)
        if not (certificate["holds"] and answer["fit"]["good"]):
            bad.append(
                f"{name}: {answer['fit']['head']} {'' if certificate['holds'] else certificate['words']}".strip()
            )
    what = f"{len(names)} examples: followed, and the certificate holds"
    return [Row(what, "all", str(len(names) - len(bad)), "; ".join(bad), not bad)]


# --- without a server -------------------------------------------------------------------------------------

COLOURS = """places => { const { learned, view } = eigenwell.mounted, box = view.box(0);
    const { regions } = learned.seen(null, box, 1 / view.scale);
    let same = 0, arrived = 0;
    for (const [u, v] of places) { const at = [box[0] + u * (box[2] - box[0]), box[1] + v * (box[3] - box[1])];
      const way = learned.way(at);
      same += regions.at(...at) === way.q; arrived += Boolean(way.arrived) }
    return [same, arrived] }"""


def colours(browser: Browser, folder: Path, places: int) -> list[Row]:
    """Everywhere in the pictures of the gallery: the colour of a place is where a particle dropped there ends."""
    rng, same, arrived, worst = np.random.default_rng(0), 0, 0, []
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    each = places // len(gallery.DRAWINGS)
    for name in gallery.DRAWINGS:
        page.goto(f"{(folder / 'index.html').as_uri()}#{name}")
        page.wait_for_function("name => document.body.dataset.drawing === name && eigenwell.learned", arg=name)
        held, ended = page.evaluate(COLOURS, rng.uniform(size=(each, 2)).tolist())
        same, arrived = same + held, arrived + ended
        if held < each:
            worst.append(f"{name} {held} of {each}")
    page.close()
    total = each * len(gallery.DRAWINGS)
    return [
        Row(
            f"colour is fate, at {total:,} places of the gallery",
            ">= 99.9 %",
            f"{same / total:.2%}",
            "; ".join(worst),
            same >= 0.999 * total,
        ),
        Row("and a particle dropped there arrives", "all", f"{arrived:,}", "", arrived == total),
    ]


def static(browser: Browser, folder: Path) -> list[Row]:
    """The folder's size, how it opens from a disk and from a file server, what it asks for, and frames a second."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    handler = functools.partial(_Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows = [Row("size of the static folder", "<= 1.5 MB", f"{size:.2f} MB", "", size <= 1.5)]
    for what, address in (
        ("a disk", (folder / "index.html").as_uri()),
        ("a file server", f"http://127.0.0.1:{server.server_address[1]}/"),
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        wrong: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda e, wrong=wrong: wrong.append(str(e)))
        page.on("console", lambda m, wrong=wrong: wrong.append(m.text) if m.type == "error" else None)
        page.on("request", lambda r, asked=asked: asked.append(r.url))
        page.goto(address)
        page.wait_for_function("() => Number(document.body.dataset.frames) > 10")
        rate, spent = frames(page)
        beyond = [url for url in asked if not url.startswith((address.rsplit("/", 1)[0], "data:", "blob:"))]
        fine = not wrong and not beyond
        rows.append(
            Row(f"opens from {what}: errors and requests to others", "none", str(len(wrong) + len(beyond)), "", fine)
        )
        rows.append(Row("frames a second there", ">= 50", f"{rate:.0f}", f"{spent:.1f} ms each", rate >= 50))
        page.close()
    server.shutdown()
    page, each = browser.new_page(viewport={"width": 1280, "height": 800}), {}
    for name in gallery.DRAWINGS:
        page.goto(f"{(folder / 'index.html').as_uri()}#{name}")
        page.reload()
        page.wait_for_function("() => Number(document.body.dataset.frames) > 10")
        each[name] = frames(page)[1]
    page.close()
    worst = max(each, key=lambda name: each[name])
    what = "processor time of a frame on the page's main thread, the dearest of ten drawings"
    rows.append(Row(what, f"<= {1000 / 50:.0f} ms", f"{each[worst]:.1f} ms", worst, each[worst] <= 1000 / 50))
    return rows


def frames(page: Page, seconds: int = 3) -> tuple[float, float]:
    """Frames in the best of some seconds, since others work on the machine, too; and milliseconds of the processor that the
    page's main thread spends on one of them."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def now() -> tuple[float, int]:
        told = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return told["TaskDuration"], page.evaluate("() => Number(document.body.dataset.frames)")

    page.wait_for_timeout(2000)  # its scripts are compiled by then
    told = []
    for _ in range(1 + seconds):
        page.wait_for_timeout(1000)
        told.append((time.perf_counter(), *now()))
    when, spent, count = np.diff(np.array(told), axis=0).T
    return float((count / when).max()), 1000 * float(spent.sum() / max(count.sum(), 1))


class _Quiet(SimpleHTTPRequestHandler):
    """A plain file server that does not talk."""

    def log_message(self, *args: Any) -> None:
        pass


def without_server(browser: Browser, places: int, part: str) -> list[Row]:
    """What is measured on the folder; the ten fields are learned the first time, and kept."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gallery.write_gallery(folder, gallery.learned_drawings(lambda *_: None))
        return static(browser, folder) if part == "static" else colours(browser, folder, places)


# --- no dead end ------------------------------------------------------------------------------------------


def sequences(browser: Browser, tries: int, more: bool, steps: int = 8) -> list[Row]:
    """Undo, redo, clear, example, open, reload, server gone, in any order: it comes to rest, and nothing is complained about.

    Every fourth page talks to a real server, whose training is a few steps: what it learns is coarse, and comes as late, and as
    much out of turn, as it does. The others talk to one that answers at once. `more`: others than those that were kept, and
    the results are of all of them.
    """
    kept = RESULTS / "studio_page-sequences.json"
    before = json.loads(kept.read_text())["rows"] if more and kept.exists() else []
    done = int(before[0]["what"].split()[0]) if before else 0
    stuck, complaints = list[str](), list[str]()
    with served(EIGENWELL_STUDIO_STEPS="6") as address:
        for first in range(done, done + tries, PAGE):
            rng = np.random.default_rng([SEED, first])
            server = Between() if first // PAGE % 4 == 3 else Pretended()
            page = browser.new_context(viewport={"width": 960, "height": 600}).new_page()
            page.on("pageerror", lambda e: complaints.append(str(e)))
            page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
            page.add_init_script("localStorage.setItem('eigenwell-studio-met', 'yes')")
            page.add_init_script(FEWER_FRAMES)
            server.between(page)
            page.goto(address)
            page.wait_for_selector("body[data-ready-ms]")
            for _ in range(min(PAGE, done + tries - first)):
                did = wander(page, server, rng, steps)
                try:
                    page.wait_for_function(DONE, timeout=PATIENCE)
                except Exception:
                    stuck.append(", ".join(did))
                    print("stuck after", did, page.evaluate("({...document.body.dataset})"))
            page.context.close()
    rows = []
    for k, (what, found) in enumerate((("stuck at the end", stuck), ("errors in the console", complaints))):
        count = len(found) + (int(before[k]["reached"]) if before else 0)
        said = "; ".join([*([before[k]["beside"]] if before and before[k]["beside"] else []), *found[:3]])
        rows.append(
            Row(f"{done + tries} random sequences of {steps} steps: {what}", "none", str(count), said, not count)
        )
    return rows
