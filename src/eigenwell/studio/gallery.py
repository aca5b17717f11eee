"""The studio without a server: a folder with ten drawings and what was learned from them, alive, for any file server or disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..files import replacing
from ..report.live import as_json
from . import presets, training
from .identify import DrawnResult, find
from .protocol import Options
from .share import content, whole_page
from .strokes import Stroke, drawing

DRAWINGS = (
    "letter", "ess", "eight", "loop", "crossing", "corner", "pen", "heart", "pendulum", "four_wells",
)  # fmt: skip
"""Presets that are shown, in this order."""
TITLE = "Ten drawings that move"

Progress = Callable[[str, int, int], None]


def write_gallery(folder: Path, drawings: Mapping[str, dict[str, Any]]) -> Path:
    """index.html in `folder`, with these drawings by name; it needs nothing else, and asks nobody for anything."""
    folder.mkdir(parents=True, exist_ok=True)
    links = "\n".join(_link(name, one["title"], presets.picture(name)) for name, one in drawings.items())
    page = whole_page(TITLE, drawings, f'<nav id="gallery" aria-label="Drawings">\n{links}\n</nav>')
    with replacing(folder / "index.html") as temporary:
        temporary.write_text(page, encoding="utf-8")
    return folder / "index.html"


def learned_drawings(progress: Progress) -> dict[str, dict[str, Any]]:
    """The ten drawings with their fields, learned as in the studio; kept for the next time in `~/.cache/eigenwell`."""
    made = {}
    for k, name in enumerate(DRAWINGS):
        progress(name, k, len(DRAWINGS))
        made[name] = drawn(name)
    progress("", len(DRAWINGS), len(DRAWINGS))
    return made


def identified(name: str) -> DrawnResult:
    """What the studio finds in the strokes of a preset."""
    strokes = [Stroke(one["id"], np.array(one["t"]), np.array(one["x"])) for one in presets.strokes_of(name)["strokes"]]
    return find(drawing(strokes), Options())


def drawn(name: str) -> dict[str, Any]:
    """A preset and its field as a page shows them, learned or from where it was kept."""
    shown, home = presets.strokes_of(name), _home()
    recipe = json.dumps([__version__, shown, training.WRITTEN])
    kept = home / f"{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}.json"
    if kept.exists():
        read: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return read
    result = identified(name)
    _, field = training.learned(result, lambda *_: None, lambda _: None)
    made = content(result, field, title=shown["name"])
    kept.parent.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as temporary:
        temporary.write_text(as_json(made), encoding="utf-8")
    return made


def _home() -> Path:
    """Where fields are kept."""
    return Path(os.environ.get("EIGENWELL_CACHE") or Path.home() / ".cache" / "eigenwell") / "gallery"


def _link(name: str, title: str, lines: list[list[int]]) -> str:
    """A small picture that opens a drawing."""
    paths = "".join(f'<polyline points="{" ".join(map(str, line))}"/>' for line in lines)
    picture = f'<svg viewBox="-6 -6 112 112" aria-hidden="true">{paths}</svg>'
    return f'<a id="{name}" href="#{name}">{picture}<span>{escape(title)}</span></a>'
