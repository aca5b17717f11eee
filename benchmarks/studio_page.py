"""The studio as a hand feels it: from the end of a stroke to its colour, from a click to a drawn field, in a real browser.

python -m benchmarks.studio_page [--strokes N]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.table import Row, report

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
SAMPLES = 200
GOALS = np.array([[0.7, 0.65], [0.3, 0.7], [0.5, 0.3]])
"""In shares of the canvas."""


@contextmanager
def served() -> Iterator[str]:
    """The real server on a free port."""
    command = [sys.executable, "-m", "eigenwell", "studio", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    ) as server:
        assert server.stdout is not None
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            if found is None:
                raise RuntimeError("The studio did not start; run `eigenwell studio` to see why.")
            yield found.group()
        finally:
            server.terminate()


def stroke(k: int) -> np.ndarray:
    """The k-th stroke, in shares of the canvas: a curve to one of three goals that slows down towards it."""
    goal = GOALS[k % 3]
    start = goal + 0.24 * np.array([np.cos(0.4 + 0.5 * k), np.sin(0.4 + 0.5 * k)])
    u = 1 - (1 - np.linspace(0, 1, SAMPLES)[:, None]) ** 2
    side = np.array([-(goal - start)[1], (goal - start)[0]])
    return np.asarray(start + u * (goal - start) + 0.2 * np.sin(np.pi * u) * side)


def eleven(view: str) -> str:
    """Strokes 0 to 10 as CSV, two seconds each, for a canvas that shows x0, y0, x1, y1 of the world."""
    x0, y0, x1, y1 = map(float, view.split())
    rows = ["trajectory,time_s,x,y"]
    for k in range(11):
        world = [x0, y1] + stroke(k) * [x1 - x0, y0 - y1]
        rows += [f"{k},{i / 100},{x},{y}" for i, (x, y) in enumerate(world)]
    return "\n".join(rows)


def marks(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("({...document.body.dataset})")
    return found


def settle(page: Page, strokes: int) -> None:
    page.wait_for_function(
        "n => { const d = document.body.dataset; return Number(d.strokes) === n && d.labelled === d.rev }", arg=strokes
    )


def measure(address: str, repeats: int) -> tuple[float, list[float], float]:
    """Seconds to a page that can be drawn on, from each stroke's end to labels, and from a click to a drawn field."""
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        page.wait_for_selector("body[data-ready-ms]")
        ready = float(marks(page)["readyMs"]) / 1000
        box = page.locator("#paper").bounding_box()
        assert box is not None
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "eleven.csv"
            file.write_text(eleven(page.get_attribute("#stage", "data-view") or ""))
            page.set_input_files("#file", file)
            settle(page, 11)
        waits = []
        for _ in range(repeats):
            points = stroke(11) * [box["width"], box["height"]] + [box["x"], box["y"]]
            page.mouse.move(*points[0])
            page.mouse.down()
            for x, y in points[1:]:
                page.mouse.move(x, y)
            page.mouse.up()
            settle(page, 12)
            waits.append(float(marks(page)["latencyMs"]) / 1000)
            page.keyboard.press("Control+z")
            settle(page, 11)
        page.keyboard.press("Control+Shift+z")
        settle(page, 12)
        page.click("#learn")
        page.wait_for_function("() => document.body.dataset.learnMs !== undefined", timeout=120_000)
        learned = float(marks(page)["learnMs"]) / 1000
        browser.close()
    return ready, waits, learned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strokes", type=int, default=7, help="how often the twelfth stroke is drawn")
    chosen = parser.parse_args()
    with served() as address:
        ready, waits, learned = measure(address, chosen.strokes)
    median = float(np.median(waits))
    rows = [
        Row("page ready to draw on, first load in a fresh browser", "<= 1 s", f"{ready:.2f} s", "", ready <= 1.0),
        Row(
            f"stroke end to labels, a twelfth stroke of {SAMPLES} samples beside eleven from a file, median of {len(waits)}",
            "<= 0.5 s", f"{median:.3f} s", f"slowest {max(waits):.3f} s", median <= 0.5,
        ),
        Row("learning 12 strokes, 3 attractors, click to drawn field", "<= 15 s", f"{learned:.1f} s", "", learned <= 15.0),
    ]  # fmt: skip
    report("studio_page", rows, waits=waits)


if __name__ == "__main__":
    main()
