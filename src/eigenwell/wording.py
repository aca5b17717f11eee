"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["plural"]


def plural(count: int, one: str, many: str | None = None) -> str:
    """Say how many: "1 attractor", "2 attractors", "6,006 samples"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
