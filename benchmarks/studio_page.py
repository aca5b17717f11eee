"""The studio as a hand feels it, in a real browser: labels, the first moving flow, the final field, scattered ends, frames.

python -m benchmarks.studio_page [--strokes N] [--parts ready flow ... sequences]
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright
from tests.browsers import FLAGS, chromium, served
from tests.studio_hands import curve, draw, marks, settle

import eigenwell as ew
from benchmarks import studio_trust
from benchmarks.table import Row, report

SAMPLES = 200
GOALS = np.array([[0.7, 0.65], [0.3, 0.7], [0.5, 0.3]])
"""In shares of the canvas."""
PAGE = Path(ew.__file__).parent / "studio" / "page"


def stroke(k: int, samples: int = SAMPLES, goals: int = 3) -> np.ndarray:
    """The k-th stroke: a curve to one of the goals."""
    goal = GOALS[k % goals]
    way = np.array([np.cos(0.4 + 0.5 * k), np.sin(0.4 + 0.5 * k)])
    return curve(goal + 0.24 * way, goal, 0.2, samples)


def as_csv(strokes: list[np.ndarray], view: str) -> str:
    """Strokes two seconds each, for a canvas that shows x0, y0, x1, y1 of the world."""
    x0, y0, x1, y1 = map(float, view.split())
    rows = ["trajectory,time_s,x,y"]
    for k, shares in enumerate(strokes):
        world = [x0, y1] + shares * [x1 - x0, y0 - y1]
        rows += [f"{k},{2 * i / len(world)},{x},{y}" for i, (x, y) in enumerate(world)]
    return "\n".join(rows)


def visit(browser: Browser, address: str, *, live: bool, width: int = 1280, height: int = 800) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
    page.set_default_timeout(120_000)
    choices = json.dumps({"choices": {"auto": live}})
    page.add_init_script(f"localStorage.setItem('eigenwell-studio', {choices!r})")
    page.goto(address)
    page.wait_for_selector("body[data-ready-ms]")
    return page


def load(page: Page, strokes: list[np.ndarray]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "strokes.csv"
        file.write_text(as_csv(strokes, page.get_attribute("#stage", "data-view") or ""))
        page.set_input_files("#file", file)
        settle(page, len(strokes))


def learned(page: Page) -> None:
    page.wait_for_function("() => document.body.dataset.learnedRev === document.body.dataset.rev", timeout=300_000)


def ready(browser: Browser, address: str, repeats: int) -> list[Row]:
    """First load in a fresh browser; labels of a twelfth stroke beside eleven."""
    page = visit(browser, address, live=False)
    took = float(marks(page)["readyMs"]) / 1000
    load(page, [stroke(k) for k in range(11)])
    waits = []
    for _ in range(repeats):
        draw(page, stroke(11))
        page.wait_for_function("() => document.body.dataset.labelled === document.body.dataset.rev")
        waits.append(float(marks(page)["latencyMs"]) / 1000)
        page.click("#undo")
        if marks(page)["strokes"] == "12":  # its end had snapped: a step of its own
            page.click("#undo")
        settle(page, 11)
    median, slowest = float(np.median(waits)), f"slowest {max(waits):.3f} s"
    page.close()
    size = sum(f.stat().st_size for f in PAGE.iterdir() if f.suffix in (".js", ".css")) / 1000
    what = f"stroke end to labels, a twelfth stroke of {SAMPLES} samples, median of {repeats}"
    return [
        Row("page ready to draw on, first load in a fresh browser", "<= 1 s", f"{took:.2f} s", "", took <= 1.0),
        Row(what, "<= 0.15 s", f"{median:.3f} s", slowest, median <= 0.15),
        Row("script and style of the page", "<= 330 KB", f"{size:.0f} KB", "", size <= 330),
    ]


def flow(browser: Browser, address: str, repeats: int) -> list[Row]:
    """Six strokes, live: from the end of the sixth to something that moves, and to the final field."""
    page = visit(browser, address, live=True)
    load(page, [stroke(k, 60, 2) for k in range(5)])
    learned(page)  # the program is compiled
    first, final = [], []
    for _ in range(repeats):
        draw(page, stroke(5, 60, 2))
        page.wait_for_function("() => document.body.dataset.labelled === document.body.dataset.rev")
        learned(page)
        found = marks(page)
        first.append(float(found["flowMs"]) / 1000)
        final.append(float(found["finalMs"]) / 1000)
        while marks(page)["strokes"] == "6":
            page.click("#undo")
        learned(page)
    page.close()
    rows = []
    for what, bar, took in (("the first moving flow", 1.0, first), ("the final field", 4.0, final)):
        median = float(np.median(took))
        said = f"stroke end to {what}, six strokes, two goals, warmed up, median of {repeats}"
        rows.append(Row(said, f"<= {bar:g} s", f"{median:.2f} s", f"slowest {max(took):.2f} s", median <= bar))
    return rows


def scatter(browser: Browser, address: str, tries: int) -> list[Row]:
    """Four strokes to one goal from four sides, their ends scattered: uniformly in a disc, as a hand misses."""
    page = visit(browser, address, live=False)
    rng = np.random.default_rng(2026)
    box = page.locator("#paper").bounding_box()
    assert box is not None
    size = np.array([box["width"], box["height"]])
    rows = []
    for radius in (10, 15, 20):
        right = 0
        for _ in range(tries):
            turn = rng.uniform(0, 2 * np.pi)
            for k in range(4):
                angle = turn + k * np.pi / 2 + rng.uniform(-0.4, 0.4)
                off = radius * np.sqrt(rng.uniform()) * np.array([np.cos(t := rng.uniform(0, 2 * np.pi)), np.sin(t)])
                goal = np.array([0.5, 0.48])
                start = goal + rng.uniform(200, 280) * np.array([np.cos(angle), np.sin(angle)]) / size
                draw(page, curve(start, goal + off / size, rng.uniform(-0.2, 0.2), 14))
                settle(page, k + 1)
            right += marks(page)["attractors"] == "1"
            page.click("#clear")
            settle(page, 0)
        share = right / tries
        what = f"four strokes to one goal, ends in a disc of {radius} px: one goal"
        rows.append(Row(what, ">= 90 %", f"{share:.0%} of {tries}", "", share >= 0.9))
    page.close()
    return rows


def crossing(browser: Browser, address: str, particles: int) -> list[Row]:
    """Twelve strokes that cross, to four goals: where particles end, and the page's numbers against Python's."""
    page = visit(browser, address, live=True)
    said: list[dict[str, Any]] = []

    def listen(socket: Any) -> None:
        socket.on(
            "framereceived", lambda text: said.append(json.loads(text)) if '"type":"learned"' in text[:40] else None
        )

    page.on("websocket", listen)
    page.reload()
    page.wait_for_selector("body[data-ready-ms]")
    goals = np.array([[0.3, 0.25], [0.7, 0.25], [0.7, 0.72], [0.3, 0.72]])
    lines = [
        curve(goals[(q + 2) % 4] + 0.1 * np.array([np.cos(a), np.sin(a)]), goals[q], 0.25, 60)
        for q in range(4)
        for a in (0.0, 2.1, 4.2)
    ]
    load(page, lines)
    learned(page)
    field = ew.models.as_field(_model(said[-1]["model"]))
    rng = np.random.default_rng(0)
    low, high = field.samples.min(axis=0), field.samples.max(axis=0)
    starts = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (particles, 2))
    check = """async ([numbers, starts]) => { const { learnedOf } = await import("/field.js"); const learned = learnedOf(numbers);
      const seen = learned.hasMemory ? null : learned.seen(null, [-2, -2, 2, 2]);
      return starts.map((at) => { const told = seen ? learned.map.basin(at) : learned.beginning(at).q, way = learned.way(at);
        const end = way.x.at(-1), goal = learned.attractors[told];
        return [told, way.arrived && Math.hypot(end[0] - goal[0], end[1] - goal[1]) < 0.02 * Math.max(...learned.box)] }) }"""
    ended = page.evaluate(check, [said[-1]["field"], starts.tolist()])
    there = sum(bool(arrived) for _, arrived in ended)
    python = [field.motion(at).goal if field.has_memory else int(field.basin(at)) for at in starts]
    same = sum(told == q for (told, _), q in zip(ended, python, strict=True))
    numbers = """async ([numbers, starts]) => { const { learnedOf } = await import("/field.js");
      const learned = learnedOf(numbers);
      return starts.map((at) => Array.from(learned.map.velocity(at, [0, 0]))) }"""
    v = field.predict(starts)
    off = float(
        np.abs(np.array(page.evaluate(numbers, [said[-1]["field"], starts.tolist()])) - v).max() / np.abs(v).max()
    )
    page.close()
    dropped = f"twelve strokes, four goals, {particles} particles: end where the page said"
    return [
        Row(dropped, "all", f"{there}", "", there == particles),
        Row("and that is where Python says", "all", f"{same}", "", same == particles),
        Row("velocities in the page against Python's, of the top speed", "<= 1e-5", f"{off:.1e}", "", off <= 1e-5),
    ]


def _model(text: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.eigenwell"
        file.write_bytes(base64.b64decode(text))
        return ew.load(file)


def frames(browser: Browser, address: str, seconds: int) -> list[Row]:
    """Frames a second while 2,000 particles of the flow run, on a screen large enough for so many."""
    page = visit(browser, address, live=True, width=1920, height=1200)
    load(page, [stroke(k, 60, 2) for k in range(6)])
    learned(page)
    page.wait_for_timeout(1500)
    counted = page.evaluate(
        """seconds => new Promise((done) => { let n = 0; const from = performance.now();
        const frame = (now) => { n++; if (now - from < 1000 * seconds) requestAnimationFrame(frame);
          else done([n / seconds, Number(document.body.dataset.flowing)]) }; requestAnimationFrame(frame) })""",
        seconds,
    )
    page.close()
    return [
        Row(
            f"frames a second while {counted[1]:,} flow particles run",
            ">= 40",
            f"{counted[0]:.0f}",
            "",
            counted[0] >= 40,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strokes", type=int, default=7, help="how often a stroke is drawn for each median")
    parser.add_argument("--tries", type=int, default=20, help="drawings for every scatter")
    parser.add_argument("--drawings", type=int, default=60, help="first drawings by a hand")
    parser.add_argument("--places", type=int, default=10_000, help="where colour and fate are compared")
    parser.add_argument("--sequences", type=int, default=500, help="random sequences of steps")
    parser.add_argument("--more", action="store_true", help="that many others than those in the results, added to them")
    parts: dict[str, Callable[[Browser, str], list[Row]]] = {
        "ready": lambda browser, address: ready(browser, address, chosen.strokes),
        "flow": lambda browser, address: flow(browser, address, max(3, chosen.strokes // 2)),
        "scatter": lambda browser, address: scatter(browser, address, chosen.tries),
        "crossing": lambda browser, address: crossing(browser, address, 200),
        "frames": lambda browser, address: frames(browser, address, 5),
        "hands": lambda browser, address: studio_trust.hands(chosen.drawings),
        "examples": lambda browser, address: studio_trust.examples(),
        "colours": lambda browser, address: studio_trust.without_server(browser, chosen.places, "colours"),
        "static": lambda browser, address: studio_trust.without_server(browser, chosen.places, "static"),
        "sequences": lambda browser, address: studio_trust.sequences(browser, chosen.sequences, chosen.more),
    }
    parser.add_argument("--parts", nargs="+", choices=list(parts), default=list(parts), help="only some of it")
    chosen = parser.parse_args()
    whole = set(chosen.parts) == set(parts)
    rows = []
    with served() as address, sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        for name in chosen.parts:
            rows += (some := parts[name](browser, address))
            if not whole:  # results of the whole are not replaced by those of a part
                report(f"studio_page-{name}", some)
        browser.close()
    if whole:
        report("studio_page", rows)


if __name__ == "__main__":
    main()
