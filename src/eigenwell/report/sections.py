"""What a page is made of: sections with plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .traces import Trace


@dataclass(frozen=True)
class Plot:
    """One Plotly picture. `layout` holds what is special; the page adds fonts, colours and margins."""

    data: list[Trace]
    layout: dict[str, Any]
    height: int
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the page: one wide plot, or several small ones side by side."""

    name: str
    title: str
    caption: str
    plots: tuple[Plot, ...]
