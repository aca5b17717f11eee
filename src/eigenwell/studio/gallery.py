"""Pages that move without a server and open from a disk: one drawing to share, or ten in a folder for any file server."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..fields import Field
from ..files import make_folder, replacing
from ..report.live import as_json, bundled
from ..report.numbers import of_field
from ..wording import plural
from . import presets, training
from .identify import DrawnResult, find
from .protocol import Options
from .strokes import Stroke, drawing

DRAWINGS = (
    "letter", "ess", "eight", "loop", "crossing", "corner", "pen", "heart", "pendulum", "four_wells",
)  # fmt: skip
"""Presets that are shown, in this order."""
TITLE = "Ten drawings that move"
SHARED = Path(__file__).parent / "shared"
DIGITS = 4

Progress = Callable[[str, int, int], None]


def write_gallery(folder: Path, drawings: Mapping[str, dict[str, Any]]) -> Path:
    """index.html in `folder`, with these drawings by name; it needs nothing else, and asks nobody for anything."""
    make_folder(folder)
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


# --- one page -----------------------------------------------------------------------------------------


def shared_page(result: DrawnResult, field: Field, colours: Sequence[int] = (), title: str = "") -> str:
    """The page of a drawing and its field; `colours` of the goals, by their number where there are none."""
    goals = plural(field.n_attractors, "goal")
    named = title or f"A flow to {goals}, from {plural(len(result.drawing.ids), 'stroke')}"
    return whole_page(named, {"drawing": content(result, field, colours, named)})


def content(result: DrawnResult, field: Field, colours: Sequence[int] = (), title: str = "") -> dict[str, Any]:
    """What a page shows of a drawing; `step` are the seconds between two samples of a stroke."""
    strokes, step = labelled(result), round(result.drawing.step, 6)
    about = {"title": title, "colours": list(colours), "step": step, "version": __version__}
    return {"field": of_field(field, short=True), "strokes": strokes} | about


def whole_page(title: str, drawings: Mapping[str, dict[str, Any]], gallery: str = "") -> str:
    """One file with these drawings, by name; `gallery` are links to them."""
    page = SHARED.joinpath("page.html").read_text(encoding="utf-8")
    page = (
        page.replace("<!--title-->", escape(title))
        .replace("<!--home-->", _project())
        .replace("<!--gallery-->", gallery)
    )
    embedded = "\n".join(
        f'<script type="application/json" class="drawing" id="drawing-{escape(name, quote=True)}">{as_json(one)}</script>'
        for name, one in drawings.items()
    )
    return page.replace("<!--drawings-->", embedded).replace("/*script*/", bundled("main"))


def _project() -> str:
    """A link to the project, as far as the installed package knows where it lives."""
    try:
        known = metadata("eigenwell").get_all("Project-URL") or []
    except PackageNotFoundError:
        known = []
    for one in known:
        name, _, address = one.partition(", ")
        if name.lower() in ("homepage", "source", "repository", "documentation") and address.startswith("https://"):
            return f'<a href="{escape(address, quote=True)}" rel="noopener">eigenwell</a>'
    return "eigenwell"


def labelled(result: DrawnResult) -> list[dict[str, Any]]:
    """The strokes as the method saw them, each with the number of its goal; samples from a brush have one each."""
    drawn, labels = result.drawing, result.labels
    if drawn.scattered:
        return [{"x": np.round(drawn.demos.x, DIGITS).tolist(), "q": -1, "dots": labels.tolist()}]
    bounds = zip(drawn.offsets[:-1], drawn.offsets[1:], strict=True)
    return [{"x": np.round(drawn.demos.x[a:b], DIGITS).tolist(), "q": int(labels[a])} for a, b in bounds]
