"""The server: a static page, one WebSocket, and files to take away. Starlette on uvicorn, with time limits and a prompt end."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from .. import __version__
from . import presets
from .access import AccessControl, AccessRules, is_loopback
from .process import NICE
from .protocol import MESSAGE_BYTES, BadMessage, parse
from .session import Session, Tickets, hello
from .workers import JobQueue, Worker

PAGE = Path(__file__).parent / "page"
SESSIONS = 32
"""Pages at a time: a class. Strokes are answered in a tenth of a second, one page after the other; learning takes turns."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
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


class PageFile(NamedTuple):
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
    for path in sorted(folder.glob("*.*")):
        content = path.read_bytes().replace(b"<!--modules-->", ahead.encode())
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        files[f"/{path.name}"] = PageFile(content, MEDIA_TYPES[path.suffix], tag)
    return files | {"/": files["/index.html"]}


class Studio:
    """What the handlers share: the page, the queues, the tickets, and who is here."""

    def __init__(self, rules: AccessRules, ready: Callable[[], None]) -> None:
        self.ready, self.rules, self.files, self.tickets = ready, rules, page_files(), Tickets()
        self.sessions: set[Session] = set()
        self.queues: dict[str, JobQueue] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                WebSocketRoute("/ws", self.connected),
                Route("/take/{ticket}", self.taken, methods=["GET"]),
                Route("/{path:path}", self.page, methods=["GET"]),
            ],
            middleware=[Middleware(AccessControl, rules=self.rules)],
            lifespan=self.lifespan,
        )

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        folder = tempfile.mkdtemp(prefix="eigenwell-studio-")
        self.queues = {kind: JobQueue(Worker(kind, folder)) for kind in NICE}
        sweeping = asyncio.create_task(self._sweep())
        for queue in self.queues.values():
            queue.open()
        self.ready()
        try:
            yield
        finally:
            sweeping.cancel()
            for queue in self.queues.values():
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
        known = request.headers.get("if-none-match") == file.tag
        content, status = (None, 304) if known else (file.content, 200)
        response = Response(content, status, headers, None if known else file.media_type)
        if self.rules.shown_in(request.scope["query_string"]):
            assert self.rules.token is not None
            response.set_cookie(self.rules.cookie, self.rules.token, httponly=True, samesite="strict", path="/")
        return response

    async def taken(self, request: Request) -> Response:
        download = self.tickets.redeem(request.path_params["ticket"])
        if download is None:
            return PlainTextResponse("This file was taken already, or is too old. Ask for it again.\n", 404, HEADERS)
        kept = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{download.name}"'}
        return Response(download.content, media_type=download.media_type, headers=HEADERS | kept)

    # --- WebSocket ------------------------------------------------------------------------------------

    async def connected(self, page: WebSocket) -> None:
        await page.accept()
        if len(self.sessions) >= SESSIONS:
            await page.close(1013, f"The studio serves {SESSIONS} pages at a time; close one of them.")
            return
        session = Session(self.queues, self.tickets)
        self.sessions.add(session)
        writing = asyncio.create_task(_write(page, session))
        try:
            await session.outbox.put(hello(__version__, presets.listed()))
            await _read(page, session, writing)
        finally:
            self.sessions.discard(session)
            session.close()
            writing.cancel()


async def _read(page: WebSocket, session: Session, writing: asyncio.Task[None]) -> None:
    """Messages from the page until it goes."""
    while not writing.done():
        message = await page.receive()
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


async def _write(page: WebSocket, session: Session) -> None:
    """Answers to the page, one after the other; None hangs up."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            text = await session.outbox.get()
            if text is None:
                await page.close(1008, "The page does not read its answers.")
                return
            await page.send_text(text)


# --- on the network -----------------------------------------------------------------------------------

HEADER_SECONDS = 10.0
"""A connection that has not finished its first request by then is closed; uvicorn itself would wait for ever."""
CONNECTIONS = 400
"""Open at once; a browser opens six, and a class opens the page together.
The next ones are closed, so that they cannot use up the file descriptors."""


class PromptProtocol(H11Protocol):
    """HTTP that closes connections whose first request does not come."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._late = asyncio.get_running_loop().call_later(HEADER_SECONDS, self._give_up)
        if len(self.connections) > CONNECTIONS:
            transport.abort()

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._late.cancel()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._late.cancel()
        super().connection_lost(exc)


def serve(host: str, port: int, token: str | None, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. `ready` gets the address to open, once the server answers."""
    bound = bind(host, port)
    number = bound.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = own_address()
    address = f"http://{shown}:{number}/" + (f"?token={token}" if token else "")
    config = uvicorn.Config(
        Studio(AccessRules(host, number, token), lambda: ready(address)).app(),
        http=PromptProtocol,
        log_level="error",  # what clients do wrong is told to them, and not to the terminal
        access_log=False,
        server_header=False,
        # A message somewhat over the limit is answered with words; one far over it ends the connection unread.
        ws_max_size=2 * MESSAGE_BYTES,
        ws_per_message_deflate=False,  # nothing is far away, and compression bombs stay out
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=16 * 1024,
    )
    # Whoever comes before it answers waits in line: the socket listens already.
    bound.listen(CONNECTIONS)
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        bound.close()


def own_address() -> str:
    """The address under which others on the network reach this machine, as far as it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # set aside for documents; UDP sends nothing until it is told to
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; ValueError in words where the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        other = "Choose another --port, or 0 for any free one." if is_loopback(host) else "Check --host and --port."
        raise ValueError(f"Cannot listen on {host} port {port}: {error.strerror or error}. {other}") from None
    return bound
