"""Does the studio's server answer while one draws, and does it stand hostile clients? Without a browser.

Bar: labels of 12 strokes of 200 samples within 0.15 s of the server (0.5 s on the screen, which tests/test_studio_page.py
measures), a drawn field within 15 s, and 10,000 hostile messages that neither end the server nor make it grow. Particles
need no server: the page evaluates the field itself.

    python -m benchmarks.studio
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from tests.test_studio_server import HUGE, Page, Server, nasty, read_all, studio, twelve

from benchmarks.table import Row, report

MESSAGES = 10_000


def timed(count: int, act: Callable[[], object]) -> np.ndarray:
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return np.array(taken)


def drawing(page: Page) -> list[Row]:
    rows = []
    bars = {
        "known order": (0.15, {}),
        "unordered": (0.5, {"order": "unordered"}),
        "kernel graph": (0.5, {"graph": "kernel"}),
    }
    for what, (bar, options) in bars.items():
        strokes = twelve()
        page.identify(strokes, **options)
        taken = timed(15, lambda strokes=strokes, options=options: page.identify(strokes, **options))
        median, worst = np.median(taken), taken.max()
        reached = f"{1e3 * median:.0f} ms median, {1e3 * worst:.0f} ms worst"
        rows.append(
            Row(f"12 strokes of 200 samples, {what}", f"<= {1e3 * bar:.0f} ms", reached, "", bool(median <= bar))
        )
    return rows


def learning(page: Page, what: str) -> Row:
    page.identify(twelve())
    began = time.perf_counter()
    page.send(type="learn", rev=page.rev)
    page.read("learned", timeout=120)
    seconds = time.perf_counter() - began
    return Row(f"learn 12 strokes, 3 attractors, {what}", "<= 15 s", f"{seconds:.1f} s", "", seconds <= 15)


def hostile(server: Server, page: Page) -> list[Row]:
    page.identify(twelve())
    before = server.memory()

    def attack(seed: int) -> None:
        rng, count = random.Random(seed), MESSAGES // 4
        while count > 0:
            with suppress(Exception), server.page() as bad:
                threading.Thread(target=read_all, args=(bad.ws,), daemon=True).start()
                while count > 0:
                    bad.ws.send(HUGE[count % 1000] if count % 1000 in HUGE else nasty(rng))
                    count -= 1

    attackers = [threading.Thread(target=attack, args=(seed,)) for seed in range(4)]
    began = time.perf_counter()
    for thread in attackers:
        thread.start()
    good = []
    while any(thread.is_alive() for thread in attackers):
        good.append(timed(1, lambda: page.identify(twelve()))[0])
    seconds = time.perf_counter() - began
    grown = server.memory() - before
    during = f"{1e3 * np.median(good):.0f} ms median of {len(good)}, {1e3 * max(good):.0f} ms worst"
    return [
        Row(
            f"{MESSAGES:,} hostile messages, the server grows by",
            "< 300 MB",
            f"{grown:.0f} MB, {seconds:.1f} s",
            "",
            grown < 300,
        ),
        Row("a good page meanwhile, 12 strokes", "<= 2 s", during, "", bool(np.median(good) <= 2)),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EIGENWELL_CACHE"] = cache
        with studio() as (address, process), Server(address, process).page() as page:
            rows = [learning(page, "as the first thing ever done, compilation included")]
        with studio() as (address, process):
            server = Server(address, process)
            with server.page() as page:
                rows.append(learning(page, "right after a later start"))
                rows += [learning(page, "again"), *drawing(page), *hostile(server, page)]
    report("studio", rows)


if __name__ == "__main__":
    main()
