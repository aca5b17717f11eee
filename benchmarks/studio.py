"""Does the studio's server answer while one draws, and does it stand hostile clients? Without a browser.

Bar: labels of 12 strokes of 200 samples within 0.15 s of the server (0.5 s on the screen, which tests/test_studio_page.py
measures); the final field within 2.5, 4 and 8 s for one, two and four goals and 5 s for a brush, by the processor's clock,
which other work on the machine does not turn; and 10,000 hostile messages that neither end the server nor make it grow.
Particles need no server: the page evaluates the field itself.

    python -m benchmarks.studio
"""

from __future__ import annotations

import json
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
from eigenwell.studio import protocol, training, work
from eigenwell.studio.identify import find
from eigenwell.studio.protocol import Options
from eigenwell.studio.strokes import Stroke
from eigenwell.studio.strokes import drawing as stroke_drawing

MESSAGES = 10_000
REPEATS = 3
GOALS = np.array([[-0.5, -0.4], [0.5, -0.4], [-0.5, 0.5], [0.5, 0.5]])


def timed(count: int, act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> np.ndarray:
    taken = []
    for _ in range(count):
        began = clock()
        act()
        taken.append(clock() - began)
    return np.array(taken)


def drawing() -> list[Row]:
    """What the worker does with a message of strokes, from its text to that of the answer, by the processor's clock."""
    rows = []
    bars = {
        "known order": (0.15, {}),
        "unordered": (0.5, {"order": "unordered"}),
        "kernel graph": (0.5, {"graph": "kernel"}),
    }
    for what, (bar, options) in bars.items():
        text = json.dumps({"type": "strokes", "rev": 1, "strokes": twelve(), "options": options})

        def answered(text: str = text) -> None:
            message = protocol.parse(text)
            assert isinstance(message, protocol.Strokes)
            work.identify(message.strokes, message.options, lambda _: None)

        answered()
        taken = timed(15, answered, time.process_time)
        median, worst = np.median(taken), taken.max()
        reached = f"{1e3 * median:.0f} ms median, {1e3 * worst:.0f} ms worst"
        said = f"12 strokes of 200 samples, {what}: processor time"
        rows.append(Row(said, f"<= {1e3 * bar:.0f} ms", reached, "", bool(median <= bar)))
    return rows


def waits() -> list[Row]:
    """From the pen that was lifted to the final field: what the worker does, in seconds of a processor, compiled before."""
    rows = []
    drawings = [
        (f"{n} goal{'s' * (n > 1)}, {3 * n} strokes", bar, to_goals(n)) for n, bar in ((1, 2.5), (2, 4.0), (4, 8.0))
    ]
    for what, bar, strokes in [*drawings, ("a brush of 300 samples", 5.0, sprayed(300))]:
        taken = []
        for _ in range(1 + REPEATS):
            began = time.process_time()
            answer, _ = training.learned(find(stroke_drawing(strokes), Options()), lambda *_: None, lambda _: None)
            taken.append(time.process_time() - began)
        reached, fit = float(np.median(taken[1:])), answer["fit"]
        beside = f"{taken[0]:.2f} s with compilation; {fit['head']}"
        met = bool(reached <= bar and fit["good"])
        rows.append(
            Row(f"pen-up to final field, {what}: processor seconds", f"<= {bar:g} s", f"{reached:.2f} s", beside, met)
        )
    return rows


def to_goals(count: int) -> list[Stroke]:
    """Three curves to each of some goals, as a hand slows down."""
    u, strokes = 1 - (1 - np.linspace(0, 1, 60)[:, None]) ** 2, []
    for q, goal in enumerate(GOALS[:count]):
        for angle in q + np.array([0.4, 2.5, 4.6]):
            start = goal + 0.35 * np.array([np.cos(angle), np.sin(angle)])
            side = np.array([-(goal - start)[1], (goal - start)[0]])
            line = start + u * (goal - start) + 0.2 * np.sin(np.pi * u) * side
            strokes.append(Stroke(f"s{len(strokes)}", np.linspace(0, 1.5, len(u)), line))
    return strokes


def sprayed(count: int) -> list[Stroke]:
    """Samples in no order, their velocities towards one place with a tenth of noise."""
    rng = np.random.default_rng(0)
    x = rng.uniform([-1.0, -0.8], [1.0, 0.8], (count, 2))
    v = (GOALS[0] - x) @ np.array([[1.2, 0.5], [-0.5, 1.2]]) * (1 + 0.1 * rng.normal(size=(count, 2)))
    return [Stroke("spray", np.arange(float(count)), x, v)]


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
        with studio() as (address, process):
            server = Server(address, process)
            with server.page() as page:
                rows = hostile(server, page)
    report("studio", [*waits(), *drawing(), *rows])


if __name__ == "__main__":
    main()
