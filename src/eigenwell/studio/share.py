"""A page to share: one HTML file with the field in it, which moves without a server and opens from a disk."""

from __future__ import annotations

from collections.abc import Sequence
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
    content = {"field": of_field(field), "strokes": labelled(result), "colours": list(colours), "version": __version__}
    page = SHARED.joinpath("page.html").read_text(encoding="utf-8")
    goals = plural(field.n_attractors, "goal")
    named = escape(title or f"A flow to {goals}, from {plural(len(result.drawing.ids), 'stroke')}")
    page = page.replace("<!--title-->", named).replace("<!--home-->", _home())
    return page.replace("/*content*/", as_json(content)).replace("/*script*/", bundled("main"))


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
