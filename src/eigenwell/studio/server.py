"""The server: a static page, one WebSocket, and files to take away. Starlette on uvicorn."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from .. import __version__
from . import presets
from .access import AccessControl, AccessRules
from .protocol import BadMessage, parse
from .session import JobQueues, Session, hello
from .tickets import LETTERS, Tickets
from .workers import JobQueue, Worker

PAGE = Path(__file__).parent / "page"
SESSIONS = 32
"""Pages at a time: a class. Strokes are answered in a tenth of a second, one page after the other; learning takes turns."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str
    tag: str


def page_files(folder: Path = PAGE) -> dict[str, PageFile]:
    """The page, read once: URL path to content. No request ever reaches the file system.

    All modules are asked for at once, and not one after the other as each is found to import the next.
    """
    files = {}
    ahead = "".join(f'<link rel="modulepreload" href="{one.name}">' for one in sorted(folder.glob("*.js")))
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file() and path.suffix in MEDIA_TYPES:
            content = path.read_bytes().replace(b"<!--modules-->", ahead.encode())
            tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            files[f"/{path.relative_to(folder).as_posix()}"] = PageFile(content, MEDIA_TYPES[path.suffix], tag)
    if "/index.html" in files:
        files["/"] = files["/index.html"]
    return files


class Studio:
    """What the handlers share: the page, the queues, the tickets, and who is here."""

    def __init__(self, rules: AccessRules) -> None:
        self.rules, self.files, self.tickets = rules, page_files(), Tickets()
        self.sessions: set[Session] = set()
        self.queues: JobQueues | None = None

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                WebSocketRoute("/ws", self.socket),
                Route("/take/{ticket}", self.taken, methods=["GET"]),
                Route("/{path:path}", self.page, methods=["GET"]),
            ],
            middleware=[Middleware(AccessControl, rules=self.rules)],
            lifespan=self.lifespan,
        )

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        folder = tempfile.mkdtemp(prefix="eigenwell-studio-")
        self.queues = JobQueues(
            *(JobQueue(Worker(kind, folder)) for kind in ("drawing", "learning", "errands", "testing"))
        )
        sweeping = asyncio.create_task(self._sweep())
        for queue in self.queues.all():
            queue.open()
        try:
            yield
        finally:
            sweeping.cancel()
            for queue in self.queues.all():
                queue.close()
            shutil.rmtree(folder, ignore_errors=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(15)
            self.tickets.sweep()

    # --- HTTP -----------------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        file = self.files.get(request.url.path)
        if file is None:
            return PlainTextResponse("Nothing here.\n", 404, HEADERS)
        headers = HEADERS | {"Cache-Control": "no-cache", "ETag": file.tag}
        if request.headers.get("if-none-match") == file.tag:
            response = Response(status_code=304, headers=headers)
        else:
            response = Response(file.content, media_type=file.media_type, headers=headers)
        if self.rules.shown_in(request.scope["query_string"]):
            assert self.rules.token is not None
            response.set_cookie(self.rules.cookie, self.rules.token, httponly=True, samesite="strict", path="/")
        return response

    async def taken(self, request: Request) -> Response:
        ticket = request.path_params["ticket"]
        download = self.tickets.redeem(ticket) if len(ticket) == LETTERS else None
        if download is None:
            return PlainTextResponse("This file was taken already, or is too old. Ask for it again.\n", 404, HEADERS)
        headers = HEADERS | {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{download.name}"',
        }
        return Response(download.content, media_type=download.media_type, headers=headers)

    # --- WebSocket ------------------------------------------------------------------------------------

    async def socket(self, socket: WebSocket) -> None:
        assert self.queues is not None
        await socket.accept()
        if len(self.sessions) >= SESSIONS:
            await socket.close(1013, f"The studio serves {SESSIONS} pages at a time; close one of them.")
            return
        session = Session(self.queues, self.tickets)
        self.sessions.add(session)
        writing = asyncio.create_task(_write(socket, session))
        try:
            await session.outbox.put(hello(__version__, presets.listed()))
            await _read(socket, session, writing)
        finally:
            self.sessions.discard(session)
            session.close()
            writing.cancel()


async def _read(socket: WebSocket, session: Session, writing: asyncio.Task[None]) -> None:
    """Messages from the page until it goes."""
    while not writing.done():
        message = await socket.receive()
        await asyncio.sleep(0)  # a queue that is never empty would not let others have their turn
        if message["type"] != "websocket.receive":
            return
        text = message.get("text")
        if text is None:
            session.complain("message", "Expected a text message in JSON, got bytes.")
        else:
            try:
                session.take(parse(text))
            except BadMessage as error:
                session.complain(error.about, str(error), error.rev)
        # Who sends faster than it reads waits here, and not in this process's memory.
        while session.outbox.qsize() > session.outbox.maxsize // 2 and not writing.done():
            await asyncio.sleep(0.01)


async def _write(socket: WebSocket, session: Session) -> None:
    """Answers to the page, one after the other; None hangs up."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            text = await session.outbox.get()
            if text is None:
                await socket.close(1008, "The page does not read its answers.")
                return
            await socket.send_text(text)
