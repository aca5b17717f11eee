"""Numbers in sentences."""

from __future__ import annotations

from math import isnan

__all__ = ["SURE", "headline", "plural"]

SURE = 0.9
"""A number of attractors that is less sure is in doubt, and is said to be."""


def plural(count: int, one: str, many: str | None = None) -> str:
    """Say how many: "1 attractor", "2 attractors", "6,006 samples"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def headline(n_attractors: int, confidence: float) -> str:
    """ "2 attractors, confidence 0.98"."""
    sure = "unknown" if isnan(confidence) else f"{confidence:.2f}"
    return f"{plural(n_attractors, 'attractor')}, confidence {sure}"
