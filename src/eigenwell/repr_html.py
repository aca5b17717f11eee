"""What a notebook shows of a result or a field: a small picture and a table, readable on light and on dark paper.

Everything is inline: no script, no font, no network. Text takes the notebook's own colour; the colours of the
sub-dynamics change with the reader's theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ._types import FloatArray, IntArray
from .palette import DARK, LIGHT

MOST_POINTS = 900
"""Dots of the picture: more are not told apart at this size, and each is 40 bytes of the notebook's file."""
SIZE, MARGIN = 220, 12
_STYLE = """<style>
.eigenwell {{ display: flex; flex-wrap: wrap; gap: 1.2em; align-items: flex-start; font-size: 13px; line-height: 1.45; }}
.eigenwell table {{ border-collapse: collapse; margin: .5em 0; }}
.eigenwell th, .eigenwell td {{ text-align: right; padding: .15em .7em; border: 0; background: none; }}
.eigenwell th {{ font-weight: 600; opacity: .75; border-bottom: 1px solid currentColor; }}
.eigenwell .doubt {{ max-width: 46em; margin: .25em 0; }}
.eigenwell svg {{ flex: none; }}
.eigenwell > div {{ flex: 1; min-width: 18em; }}
{light}
@media (prefers-color-scheme: dark) {{ {dark} }}
{jupyter_light}
{jupyter_dark}
</style>"""


def _colours(theme: Any, scope: str = "") -> str:
    pairs = [(f"q{q}", colour) for q, colour in enumerate(theme.colours)] + [("q-1", theme.unassigned)]
    return " ".join(f"{scope}.eigenwell .{name} {{ fill: {colour}; }}" for name, colour in pairs)


STYLE = _STYLE.format(
    light=_colours(LIGHT),
    dark=_colours(DARK),
    # Notebooks that say which theme they show are believed before the system is.
    jupyter_light=_colours(LIGHT, '[data-jp-theme-light="true"] '),
    jupyter_dark=_colours(DARK, '[data-jp-theme-light="false"] '),
)


def panel(title: str, picture: str, table: str, notes: Sequence[str]) -> str:
    """The whole: a picture beside a title, a table and doubts."""
    doubts = "".join(f'<p class="doubt">⚠ {escape(note)}</p>' for note in notes)
    return (
        f'{STYLE}<div class="eigenwell">{picture}<div><strong style="font-size:1.15em">{escape(title)}</strong>'
        f"{table}{doubts}</div></div>"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table of plain text."""
    if not rows:
        return ""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def scatter(x: FloatArray, labels: IntArray, attractors: FloatArray, lines: Sequence[FloatArray] = ()) -> str:
    """Samples in the colours of their sub-dynamics and crosses at the attractors; the first two coordinates, as SVG."""
    if len(x) == 0:
        return ""
    flat = x[:, :2] if x.shape[1] > 1 else np.column_stack([x[:, 0], np.zeros(len(x))])
    low, extent = flat.min(axis=0), np.ptp(flat, axis=0)
    scale = (SIZE - 2 * MARGIN) / max(float(extent.max()), np.finfo(float).tiny)
    height = int(np.ceil(extent[1] * scale)) + 2 * MARGIN
    width = int(np.ceil(extent[0] * scale)) + 2 * MARGIN

    def at(points: FloatArray) -> list[tuple[str, str]]:
        wide = points[:, :2] if points.shape[1] > 1 else np.column_stack([points[:, 0], np.zeros(len(points))])
        across = MARGIN + (wide - low) * scale
        return [(f"{a:.1f}", f"{height - b:.1f}") for a, b in across.tolist()]

    step = max(1, -(-len(x) // MOST_POINTS))
    chosen = np.arange(0, len(x), step)
    dots = [
        f'<circle class="q{_cycled(int(q))}" cx="{a}" cy="{b}" r="1.6"/>'
        for q, (a, b) in zip(labels[chosen], at(flat[chosen]), strict=True)
    ]
    strokes = [
        f'<polyline points="{" ".join(f"{a},{b}" for a, b in at(line))}" fill="none" stroke="currentColor" '
        'stroke-width="1.2" stroke-dasharray="4 2.5"/>'
        for line in lines
    ]
    crosses = [
        f'<path d="M{a} {b}m-5-5l10 10m0-10l-10 10" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"/>'
        for a, b in at(attractors)
    ]
    inside = "".join([*dots, *strokes, *crosses])
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="samples and attractors">{inside}</svg>'
    )


def _cycled(q: int) -> int:
    return q if q < 0 else q % len(LIGHT.colours)


def places(attractors: FloatArray, errors: FloatArray | None) -> list[str]:
    """Each attractor's coordinates with their standard errors; rounding error beside the others reads as zero."""
    small = 1e-9 * np.abs(attractors).max(initial=0.0)
    shown = np.where(np.abs(attractors) < small, 0.0, attractors)
    out = []
    for q, place in enumerate(shown):
        some = place[:4]
        if errors is None:
            numbers = [f"{c:.4g}" for c in some]
        else:
            numbers = [f"{c:.4g} ± {e:.1g}" for c, e in zip(some, errors[q][:4], strict=True)]
        out.append("(" + ", ".join(numbers) + (", …)" if len(place) > 4 else ")"))
    return out
