"""Small pieces of HTML."""

from __future__ import annotations

from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML; all but the first column are numbers."""

    def line(cells: Sequence[str], tag: str) -> str:
        first, *others = cells
        return f"<tr><{tag}>{first}</{tag}>" + "".join(f'<{tag} class="n">{c}</{tag}>' for c in others) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(headings, 'th')}</thead><tbody>{body}</tbody></table>"


def dot(q: int) -> str:
    return f'<span class="dot" data-q="{q}"></span>'


def judged(good: bool, yes: str, no: str) -> str:
    return f'<span class="yes">{yes}</span>' if good else f'<span class="no">{no}</span>'
