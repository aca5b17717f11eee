"""Colours that colour-blind readers can tell apart: Okabe and Ito's, without black, lightened for dark paper."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Background, ink and the colours of the sub-dynamics."""

    name: str
    paper: str
    ink: str
    faint: str
    grid: str
    unassigned: str
    colours: tuple[str, ...]
    potential: tuple[str, str]
    """Deep and high."""

    def colour(self, q: int) -> str:
        return self.unassigned if q < 0 else self.colours[q % len(self.colours)]


LIGHT = Theme(
    "light", "#ffffff", "#1c1e21", "#5b6169", "#e4e6ea", "#9aa0a6",
    ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#56B4E9", "#7A4EAB"),
    ("#c3cfdd", "#fbfcfd"),
)  # fmt: skip
DARK = Theme(
    "dark", "#15171a", "#e8eaed", "#a2a9b1", "#2c3036", "#767d85",
    ("#4397E0", "#F08A4B", "#5FD8A4", "#E29CC5", "#E6B84A", "#9AD2F6", "#B692E0"),
    ("#0b0c0e", "#39414b"),
)  # fmt: skip
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")


def symbol(q: int) -> str:
    """Past the last colour the marks change, so that no two sub-dynamics look alike before the 35th."""
    return SYMBOLS[max(q, 0) // len(LIGHT.colours) % len(SYMBOLS)]
