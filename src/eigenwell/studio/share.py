"""A page to share: one HTML file with the field in it, which moves without a server and opens from a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..fields import Field
from ..report.live import as_json, bundled
from ..report.numbers import of_field
from ..wording import plural

if TYPE_CHECKING:
    from .identify import DrawnResult

SHARED = Path(__file__).parent / "shared"
DIGITS = 4


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
        page.replace("<!--title-->", escape(title)).replace("<!--home-->", _home()).replace("<!--gallery-->", gallery)
    )
    embedded = "\n".join(
        f'<script type="application/json" class="drawing" id="drawing-{escape(name, quote=True)}">{as_json(one)}</script>'
        for name, one in drawings.items()
    )
    return page.replace("<!--drawings-->", embedded).replace("/*script*/", bundled("main"))


def _home() -> str:
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
