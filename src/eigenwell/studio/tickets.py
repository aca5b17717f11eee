"""Files that wait to be taken away: one-time tickets, kept for a minute, in memory alone."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

SECONDS = 60.0
EACH = 4
"""Tickets a page may hold; the oldest goes when another is issued."""
LETTERS = 43
"""Of a ticket: 32 random bytes in base64."""


@dataclass(frozen=True, eq=False)
class Download:
    owner: object
    name: str
    media_type: str
    content: bytes
    until: float


class Tickets:
    """Downloads by ticket."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._downloads: dict[str, Download] = {}

    def __len__(self) -> int:
        return len(self._downloads)

    def issue(self, owner: object, name: str, media_type: str, content: bytes) -> str:
        self.sweep()
        mine = [ticket for ticket, download in self._downloads.items() if download.owner is owner]
        for ticket in mine[: max(0, len(mine) - EACH + 1)]:
            del self._downloads[ticket]
        ticket = secrets.token_urlsafe(32)
        self._downloads[ticket] = Download(owner, name, media_type, content, self._clock() + SECONDS)
        return ticket

    def redeem(self, ticket: str) -> Download | None:
        """The download, once; None for a ticket that is unknown, used or too old."""
        self.sweep()
        return self._downloads.pop(ticket, None)

    def forget(self, owner: object) -> None:
        for ticket in [t for t, download in self._downloads.items() if download.owner is owner]:
            del self._downloads[ticket]

    def sweep(self) -> None:
        now = self._clock()
        for ticket in [t for t, download in self._downloads.items() if download.until <= now]:
            del self._downloads[ticket]
