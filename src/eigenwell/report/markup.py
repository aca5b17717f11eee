"""Small pieces of HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML; all but the first column are numbers."""

    # Each cell knows its heading: where there is no room for columns, a row becomes a list of both.
    names = [escape(re.sub(r"<[^>]*>", "", heading), quote=True) for heading in headings]
    head = "".join(f"<th{_number(k)}>{heading}</th>" for k, heading in enumerate(headings))

    def line(row: Sequence[str]) -> str:
        cells = (f'<td{_number(k)} data-of="{names[k]}">{cell}</td>' for k, cell in enumerate(row))
        return f"<tr>{''.join(cells)}</tr>"

    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(line, rows))}</tbody></table>"


def _number(column: int) -> str:
    return ' class="n"' if column else ""


def dot(q: int) -> str:
    return f'<span class="dot" data-q="{q}"></span>'


def judged(good: bool, yes: str, no: str) -> str:
    return f'<span class="yes">{yes}</span>' if good else f'<span class="no">{no}</span>'
