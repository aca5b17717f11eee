"""One page: its strokes, its field, what it waits for. Newest work wins; when the page goes, so does all of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from . import protocol
from .protocol import Cancel, Compare, Learn, Load, Message, Options, Pictures, Ping, Preset, Restore, Strokes, Take
from .tickets import Tickets
from .workers import Job, JobQueue

UNREAD = 64
"""Answers that may wait for a page to read them; one that reads none is closed."""
SECONDS = {
    "strokes": 60.0,
    "compare": 60.0,
    "learn": 600.0,
    "certify": 120.0,
    "preset": 30.0,
    "pictures": 30.0,
    "load": 30.0,
    "restore": 30.0,
    "take": 60.0,
}

NOT_LEARNED = "Expected a learned field, there is none for these strokes. Learn one first."


@dataclass(frozen=True, eq=False)
class JobQueues:
    """Where work is done: drawing is answered at once, learning takes seconds, errands (files, presets) in between; and a
    certificate takes its time without keeping anybody waiting."""

    drawing: JobQueue
    learning: JobQueue
    errands: JobQueue
    testing: JobQueue

    def all(self) -> tuple[JobQueue, ...]:
        return self.drawing, self.learning, self.errands, self.testing


@dataclass(frozen=True, eq=False)
class Learned:
    """A field in bytes, the strokes it was learned from, the newest revision that has them, and what its test said."""

    of: Strokes
    rev: int
    field: bytes
    certificate: str | None = None

    def known_as(self, rev: int) -> bool:
        return rev in (self.of.rev, self.rev)


class Session:
    """State of one page between its first message and its last."""

    def __init__(self, queues: JobQueues, tickets: Tickets) -> None:
        self._queues, self._tickets = queues, tickets
        self.outbox: asyncio.Queue[str | None] = asyncio.Queue(UNREAD)
        self._drawn: Strokes | None = None
        self._field: Learned | None = None
        self._in_test: bytes | None = None

    def close(self) -> None:
        """The page is gone: stop its work and forget it."""
        for queue in self._queues.all():
            queue.drop(self)
        self._tickets.forget(self)
        self._drawn = self._field = None

    def take(self, message: Message) -> None:
        """Act on a message; answers go to the outbox, now or later."""
        match message:
            case Strokes():
                self._strokes(message)
            case Learn():
                self._learn(message)
            case Compare():
                self._compare(message)
            case Cancel():
                self._cancel()
            case Preset():
                self._work(self._queues.errands, "preset", "preset", (message.name,), self._loaded)
            case Pictures():
                self._work(self._queues.errands, "pictures", "pictures", (), partial(self.say, "pictures"))
            case Load():
                self._work(self._queues.errands, "load", "load", (message.suffix, message.data), self._loaded)
            case Restore():
                self._restore(message)
            case Take():
                self._take(message)
            case Ping():
                self.say("pong")

    # --- answers --------------------------------------------------------------------------------------

    def say(self, kind: str, body: str = "{}", /, **head: Any) -> None:
        """One answer: type, further fields, and the fields of a JSON object that a worker has written."""
        start = json.dumps({"type": kind} | head, separators=(",", ":"))
        self._put(start if body == "{}" else f"{start[:-1]},{body[1:]}")

    def complain(self, about: str, message: str, rev: int | None = None, **more: Any) -> None:
        self.say("error", about=about, rev=rev, message=message, **more)

    def _put(self, text: str) -> None:
        try:
            self.outbox.put_nowait(text)
        except asyncio.QueueFull:
            # It has not read for a long time. None, in place of the oldest answer, tells the writer to hang up.
            self.outbox.get_nowait()
            self.outbox.put_nowait(None)

    def _loaded(self, body: str) -> None:
        self.say("strokes_loaded", body)

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
            self._queues.drawing.drop(self, "strokes")
            self._queues.learning.drop(self, "learn")
            self.say("empty", rev=rev)
            return
        came = time.perf_counter()

        def done(body: str) -> None:
            self.say("identified", body, rev=rev, ms=_ms(came), field=self._field_of(rev) is not None)
            self._certify(rev)

        self._work(self._queues.drawing, "strokes", "identify", (message.strokes, message.options), done, rev)

    def _learn(self, message: Learn) -> None:
        rev, drawn = message.rev, self._of("learn", message.rev)
        if drawn is None:
            return
        came = time.perf_counter()

        def news(what: tuple[str, str]) -> None:
            self.say(what[0], what[1], rev=rev, ms=_ms(came))

        def done(answer: tuple[str, bytes]) -> None:
            self._field = Learned(drawn, rev, answer[1])
            self.say("learned", answer[0], rev=rev, ms=_ms(came))
            self._certify(rev)

        # The test of an older field would only be in the way; who comes back to that field has it tested again.
        self._queues.testing.drop(self, "certify")
        self._in_test = None
        self._work(
            self._queues.learning, "learn", "learn", (drawn.strokes, drawn.options, message.numbers), done, rev, news
        )

    def _compare(self, message: Compare) -> None:
        rev, drawn = message.rev, self._of("compare", message.rev)
        if drawn is None:
            return

        def done(body: str) -> None:
            self.say("compared", body, rev=rev)

        self._work(self._queues.errands, "compare", "compare", (drawn.strokes,), done, rev)

    def _restore(self, message: Restore) -> None:
        rev, drawn = message.rev, self._of("restore", message.rev)
        if drawn is None:
            return

        def done(answer: tuple[str, bytes]) -> None:
            self._field = Learned(drawn, rev, answer[1])
            self.say("learned", answer[0], rev=rev, restored=True)
            self._certify(rev)

        work = (drawn.strokes, drawn.options, message.numbers, message.data)
        self._work(self._queues.errands, "restore", "restore", work, done, rev)

    def _certify(self, rev: int) -> None:
        """What the test of the field of these strokes said, now or as soon as it is known."""
        field = self._field_of(rev)
        if field is None or self._field is None:
            return
        if self._field.certificate is not None:
            self.say("certified", self._field.certificate, rev=rev)
        elif self._in_test is not field:
            self._in_test = field
            self._work(self._queues.testing, "certify", "certify", (field,), partial(self._tested, field), rev)

    def _tested(self, field: bytes, body: str) -> None:
        self._in_test = None
        if self._field is not None and self._field.field is field:
            self._field = replace(self._field, certificate=body)
            self.say("certified", body, rev=self._field.rev)

    def _cancel(self) -> None:
        self._queues.learning.drop(self, "learn")
        self.say("cancelled", rev=None if self._drawn is None else self._drawn.rev)

    def _take(self, message: Take) -> None:
        rev, drawn = message.rev, self._of("take", message.rev)
        if drawn is None:
            return
        field = self._field_of(rev)
        if message.what in ("model", "onnx", "c", "page") and field is None:
            self.complain("take", NOT_LEARNED, rev)
            return
        # The strokes themselves are the same whatever the graph makes of them.
        options = Options() if message.what in ("csv", "npz") else drawn.options
        work = (drawn.strokes, options, field, message)

        def done(answer: tuple[str, str, bytes]) -> None:
            name, media_type, content = answer
            ticket = self._tickets.issue(self, name, media_type, content)
            self.say("file", what=message.what, name=name, url=f"take/{ticket}", bytes=len(content))

        self._work(self._queues.errands, "take", "take", work, done, rev)

    # --- work -----------------------------------------------------------------------------------------

    def _of(self, about: str, rev: int) -> Strokes | None:
        """The newest strokes, if they are the ones meant and there are any."""
        if self._drawn is None or not self._drawn.strokes:
            self.complain(about, "Expected strokes, there are none. Draw first.", rev)
        elif self._drawn.rev != rev:
            newest = self._drawn.rev
            self.complain(about, f"Expected the newest revision, {newest}, got {rev}. Send the strokes first.", rev)
        else:
            return self._drawn
        return None

    def _field_of(self, rev: int) -> bytes | None:
        return self._field.field if self._field is not None and self._field.known_as(rev) else None

    def _work(
        self,
        queue: JobQueue,
        about: str,
        name: str,
        arguments: tuple[Any, ...],
        done: Callable[[Any], None],
        rev: int | None = None,
        news: Callable[[Any], None] | None = None,
    ) -> None:
        def failed(said: str) -> None:
            if about == "certify":
                self._in_test = None
            self.complain(about, said, rev)

        queue.put(Job(self, about, name, arguments, done, failed, news, limit=SECONDS[about]))


def hello(version: str, presets: list[dict[str, str]]) -> str:
    """The first message of a connection: what the server is, takes and offers."""
    limits = {
        "strokes": protocol.STROKES,
        "samples": protocol.SAMPLES,
        "stroke_samples": protocol.STROKE_SAMPLES,
        "bytes": protocol.MESSAGE_BYTES,
    }
    return json.dumps({"type": "hello", "version": version, "limits": limits, "presets": presets})


def _ms(since: float) -> int:
    return round(1000 * (time.perf_counter() - since))
