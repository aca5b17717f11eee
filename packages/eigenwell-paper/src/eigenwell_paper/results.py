"""What one table or figure of the paper came to: values beside the printed ones, pictures, a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eigenwell.palette import Theme

Cell = str | float | int | None
"""None is a value that nobody printed or measured."""


@dataclass(frozen=True)
class Table:
    """Rows of cells; a column whose name ends in % holds shares as percentages."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        wrong = {len(row) for row in self.rows} - {len(self.columns)}
        if wrong:
            raise ValueError(f"Expected rows of {len(self.columns)} cells in table {self.name!r}, got {sorted(wrong)}.")


@dataclass(frozen=True)
class Figure:
    """A picture that can be drawn on light or dark paper; `draw` returns a matplotlib figure."""

    name: str
    caption: str
    draw: Callable[[Theme], Any] = field(compare=False)


@dataclass(frozen=True)
class Check:
    """Something that eigenwell must reach."""

    what: str
    holds: bool


@dataclass(frozen=True)
class Outcome:
    """All of one item. `times` and `timing` hold what the clock said: it alone differs from run to run."""

    verdict: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    checks: tuple[Check, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    times: dict[str, float] = field(default_factory=dict)
    timing: str = ""


def shown(value: Cell, column: str = "") -> str:
    """A cell as a reader wants it."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if column.endswith("%"):
        if 0 < abs(value) < 0.1:
            return f"{value:.2g} %" if abs(value) > 1e-12 else "0 %"
        return f"{value:.2f}".rstrip("0").rstrip(".") + " %"
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0 and abs(value) < 1e-3:
        if abs(value) < 1e-14:
            return "0"
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
