"""Draw, learn and photograph the studio: python -m docs.make_studio_image [FILE]. Needs Chromium and playwright."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from tests.browsers import FLAGS, chromium, served

IMAGE = Path(__file__).parent / "images" / "studio.png"
# Starts, goal and bend of three bundles, in shares of the canvas; the first two cross.
BUNDLES = (
    (((0.10, 0.20), (0.09, 0.30), (0.14, 0.12), (0.10, 0.40)), (0.72, 0.66), 0.22),
    (((0.90, 0.24), (0.91, 0.34), (0.86, 0.16)), (0.26, 0.70), -0.22),
    (((0.36, 0.12), (0.44, 0.09), (0.64, 0.12)), (0.52, 0.30), 0.45),
)
DROPS = ((0.30, 0.50), (0.80, 0.45), (0.62, 0.86))
# The same particles on every run.
STEADY = "let seed = 7; Math.random = () => (seed = (16807 * seed) % 2147483647) / 2147483647"


def strokes() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    u = 1 - (1 - np.linspace(0, 1, 70)[:, None]) ** 2
    drawn = []
    for starts, goal, bend in BUNDLES:
        for start in np.array(starts):
            way = np.array(goal) - start
            side = np.array([-way[1], way[0]])
            bow = bend * np.sin(np.pi * u) + 0.02 * rng.normal() * np.sin(2 * np.pi * u)
            # A hand does not end twice at the same pixel.
            drawn.append(start + u * (way + rng.normal(0, 0.003, 2)) + bow * side)
    return drawn


def photograph(address: str, file: Path) -> None:
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=1.5, color_scheme="light")
        page.add_init_script(STEADY)
        page.add_init_script("localStorage.setItem('eigenwell-studio-met', 'yes')")
        page.goto(address)
        box: Any = page.locator("#paper").bounding_box()
        place = lambda share: np.array(share) * [box["width"], box["height"]] + [box["x"], box["y"]]  # noqa: E731
        for stroke in strokes():
            page.mouse.move(*place(stroke[0]))
            page.mouse.down()
            for share in stroke[1:]:
                page.mouse.move(*place(share))
            page.mouse.up()
        # It learns by itself.
        page.wait_for_selector("body[data-field=current][data-state=ready]", timeout=400_000)
        page.wait_for_function("() => document.body.dataset.certified === document.body.dataset.rev", timeout=200_000)
        page.wait_for_timeout(2500)
        page.keyboard.press("p")
        for share in DROPS:
            page.mouse.click(*place(share))
        page.evaluate("document.getElementById('hint').textContent = ''")
        page.wait_for_timeout(700)
        page.screenshot(path=file)
        # 256 colours are plenty for lines on paper, and a third of the bytes.
        Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
        browser.close()


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGE
    with served() as address:
        photograph(address, file)
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
