"""One page: its strokes, its field, what it waits for. Newest work wins; when the page goes, so does all of it."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from . import protocol
from .protocol import Message, Options, Request, Strokes
from .workers import Job, JobQueue

UNREAD = 64
"""Answers that may wait for a page to read them; one that reads none is closed."""

Work = tuple[Any, ...]
Told = Callable[[Any], None]

NOT_LEARNED = "Expected a learned field, there is none for these strokes. Learn one first."


WORK = {
    "identify": ("drawing", 60.0),
    "learn": ("learning", 600.0),
    "certify": ("testing", 120.0),
    "compare": ("errands", 60.0),
    "preset": ("errands", 30.0),
    "pictures": ("testing", 30.0),  # whoever chooses an example does not wait for the pictures of the others
    "load": ("errands", 30.0),
    "restore": ("errands", 30.0),
    "take": ("errands", 60.0),
}
"""Of every job: the queue it waits in, and the seconds after which it is given up. Drawing is answered at once, learning takes
seconds, errands (files, presets) in between; and a certificate takes its time without keeping anybody waiting."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A field in bytes, the strokes it was learned from, the newest revision that has them, and what its test said."""

    of: Strokes
    rev: int
    field: bytes
    certificate: str | None = None


@dataclass(frozen=True, eq=False)
class Download:
    owner: object
    name: str
    media_type: str
    content: bytes
    until: float


class Tickets:
    """Files that wait to be taken away: one-time tickets, kept for a minute, in memory alone."""

    SECONDS = 60.0
    EACH = 4
    """Tickets a page may hold; the oldest goes when another is issued."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._downloads: dict[str, Download] = {}

    def __len__(self) -> int:
        return len(self._downloads)

    def issue(self, owner: object, name: str, media_type: str, content: bytes) -> str:
        mine = [ticket for ticket, download in self._downloads.items() if download.owner is owner][1 - self.EACH :]
        self._keep(lambda ticket, download: download.owner is not owner or ticket in mine)
        ticket = secrets.token_urlsafe(32)
        self._downloads[ticket] = Download(owner, name, media_type, content, self._clock() + self.SECONDS)
        return ticket

    def redeem(self, ticket: str) -> Download | None:
        """The download, once; None for a ticket that is unknown, used or too old."""
        self.sweep()
        return self._downloads.pop(ticket, None)

    def forget(self, owner: object) -> None:
        self._keep(lambda _, download: download.owner is not owner)

    def sweep(self) -> None:
        self._keep(lambda *_: True)

    def _keep(self, wanted: Callable[[str, Download], bool]) -> None:
        now, held = self._clock(), self._downloads.items()
        self._downloads = {ticket: one for ticket, one in held if one.until > now and wanted(ticket, one)}


class Session:
    """State of one page between its first message and its last."""

    def __init__(self, queues: Mapping[str, JobQueue], tickets: Tickets) -> None:
        self._queues, self._tickets = queues, tickets
        self.outbox: asyncio.Queue[str | None] = asyncio.Queue(UNREAD)
        self._drawn: Strokes | None = None
        self._field: Learned | None = None
        self._in_test: bytes | None = None

    def close(self) -> None:
        """The page is gone: stop its work and forget it."""
        for queue in self._queues.values():
            queue.drop(self)
        self._tickets.forget(self)
        self._drawn = self._field = None

    def take(self, message: Message) -> None:
        """Act on a message; answers go to the outbox, now or later."""
        if isinstance(message, Strokes):
            return self._strokes(message)
        match message.kind:
            case "ping":
                self.say("pong")
            case "cancel":
                self._queues["learning"].drop(self, "learn")
                self.say("cancelled", rev=None if self._drawn is None else self._drawn.rev)
            case "pictures":
                told = partial(self.say, "pictures")
                self._work("pictures", (), told, news=told)
            case "preset":
                self._work("preset", (message.name,), partial(self.say, "strokes_loaded"))
            case "load":
                self._work("load", (message.name, message.data), partial(self.say, "strokes_loaded"))
            case _:
                self._about_strokes(message)
        return None

    # --- answers --------------------------------------------------------------------------------------

    def say(self, kind: str, body: str = "{}", /, **head: Any) -> None:
        """One answer: type, further fields, and the fields of a JSON object that a worker has written."""
        start = json.dumps({"type": kind} | head, separators=(",", ":"))
        try:
            self.outbox.put_nowait(start if body == "{}" else f"{start[:-1]},{body[1:]}")
        except asyncio.QueueFull:
            # It has not read for a long time. None, in place of the oldest answer, tells the writer to hang up.
            self.outbox.get_nowait()
            self.outbox.put_nowait(None)

    def complain(self, about: str, message: str, rev: int | None = None) -> None:
        self.say("error", about=about, rev=rev, message=message)

    # --- messages -------------------------------------------------------------------------------------

    def _strokes(self, message: Strokes) -> None:
        rev = message.rev
        if self._drawn is not None and rev <= self._drawn.rev:
            self.complain("strokes", f"Expected a revision after {self._drawn.rev}, got {rev}. Reload the page.", rev)
            return
        self._drawn = message
        # What is being learned goes on: it is a field of these strokes but the last, and newer learning overtakes it.
        if self._field is not None and self._field.of.same_as(message):
            self._field = replace(self._field, rev=rev)
        if not message.strokes:
            self._queues["drawing"].drop(self, "strokes")
            self._queues["learning"].drop(self, "learn")
            self.say("empty", rev=rev)
            return

        def done(body: str) -> None:
            self.say("identified", body, rev=rev, field=self._field_of(rev) is not None)
            self._certify(rev)

        self._work("identify", (message.strokes, message.options), done, rev)

    def _about_strokes(self, message: Request) -> None:
        """What needs the newest strokes: they must be the ones meant, and there must be some."""
        kind, rev, drawn = message.kind, message.rev, self._drawn
        if drawn is None or not drawn.strokes:
            return self.complain(kind, "Expected strokes, there are none. Draw first.", rev)
        if drawn.rev != rev:
            newest = f"Expected the newest revision, {drawn.rev}, got {rev}. Send the strokes first."
            return self.complain(kind, newest, rev)
        if kind == "compare":
            return self._work("compare", (drawn.strokes,), partial(self.say, "compared", rev=rev), rev)
        if kind == "take":
            return self._take(message, drawn)

        def news(what: tuple[str, str]) -> None:
            self.say(*what, rev=rev)

        def done(answer: tuple[str, bytes]) -> None:
            self._field = Learned(drawn, rev, answer[1])
            self.say("learned", answer[0], rev=rev, restored=kind == "restore")
            self._certify(rev)

        work: Work = (drawn.strokes, drawn.options, message.numbers)
        if kind == "restore":
            return self._work("restore", (*work, message.data), done, rev)
        # The test of an older field would only be in the way; who comes back to that field has it tested again.
        self._queues["testing"].drop(self, "certify")
        self._in_test = None
        return self._work("learn", work, done, rev, news)

    def _certify(self, rev: int) -> None:
        """What the test of the field of these strokes said, now or as soon as it is known."""
        field = self._field_of(rev)
        if field is None or self._field is None:
            return
        if self._field.certificate is not None:
            self.say("certified", self._field.certificate, rev=rev)
        elif self._in_test is not field:
            self._in_test = field
            self._work("certify", (field,), partial(self._tested, field), rev)

    def _tested(self, field: bytes, body: str) -> None:
        self._in_test = None
        if self._field is not None and self._field.field is field:
            self._field = replace(self._field, certificate=body)
            self.say("certified", body, rev=self._field.rev)

    def _take(self, message: Request, drawn: Strokes) -> None:
        what, field = message.name, self._field_of(message.rev)
        if what in ("model", "onnx", "c", "page") and field is None:
            return self.complain("take", NOT_LEARNED, message.rev)
        # The strokes themselves are the same whatever the graph makes of them.
        options = Options() if what in ("csv", "npz") else drawn.options

        def done(answer: tuple[str, str, bytes]) -> None:
            ticket = self._tickets.issue(self, *answer)
            self.say("file", what=what, name=answer[0], url=f"take/{ticket}", bytes=len(answer[2]))

        return self._work("take", (drawn.strokes, options, field, message), done, message.rev)

    # --- work -----------------------------------------------------------------------------------------

    def _field_of(self, rev: int) -> bytes | None:
        field = self._field
        return field.field if field is not None and rev in (field.of.rev, field.rev) else None

    def _work(self, name: str, work: Work, done: Told, rev: int | None = None, news: Told | None = None) -> None:
        # An identification is an answer to strokes.
        about = "strokes" if name == "identify" else name

        def failed(said: str) -> None:
            if name == "certify":
                self._in_test = None
            self.complain(about, said, rev)

        queue, limit = WORK[name]
        self._queues[queue].put(Job(self, about, name, work, done, failed, news, limit=limit))


def hello(version: str, presets: list[dict[str, str]]) -> str:
    """The first message of a connection: what the server is, takes and offers."""
    sizes = {"strokes": "STROKES", "samples": "SAMPLES", "stroke_samples": "STROKE_SAMPLES", "bytes": "MESSAGE_BYTES"}
    limits = {name: getattr(protocol, size) for name, size in sizes.items()}
    return json.dumps({"type": "hello", "version": version, "limits": limits, "presets": presets})
