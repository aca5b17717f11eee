"""Serve the studio with uvicorn: sockets, time limits, shutdown."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from .access import AccessRules, is_loopback
from .protocol import MESSAGE_BYTES
from .server import Studio

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


class Announcing(uvicorn.Server):
    """Calls `ready` once it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def serve(host: str, port: int, token: str | None, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. `ready` gets the address to open, once the server answers."""
    bound = bind(host, port)
    number = bound.getsockname()[1]
    rules = AccessRules(host, number, token)
    config = uvicorn.Config(
        Studio(rules).app(),
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
    shown = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = own_address()
    address = f"http://{shown}:{number}/" + (f"?token={token}" if token else "")
    server = Announcing(config, lambda: ready(address))
    try:
        server.run(sockets=[bound])
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
