"""One self-contained HTML page of a comparison or a sweep: the answer, the picture, the table."""

from __future__ import annotations

import io
import os
from html import escape
from typing import Any

from .. import repr_html
from ..files import replacing


def write_page(path: str | os.PathLike[str], title: str, result: Any) -> None:
    """Whole or not at all. `result` has rows(), plot() and a text of its own."""
    from .. import plotting

    with plotting.style():
        drawn = result.plot()
        picture = io.StringIO()
        (drawn if hasattr(drawn, "figure") else drawn[0]).figure.savefig(picture, format="svg")
    rows = result.rows()
    head = list(rows[0]) if rows else []
    table = repr_html.table(head, [[_cell(row[name]) for name in head] for row in rows])
    svg = picture.getvalue()
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title>{repr_html.STYLE}"
        "<style>body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "svg{max-width:100%;height:auto}.wide{overflow-x:auto}</style>"
        f"<h1>{escape(title)}</h1><pre>{escape(str(result))}</pre>{svg[svg.index('<svg') :]}"
        f'<div class="eigenwell wide">{table}</div></html>\n'
    )
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
