"""Access control: the right Host, the right Origin, and a token where the server is open to a network."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SHORTEST_TOKEN = 16
"""Letters. What somebody types may be guessed; sixteen random ones may not."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class AccessRules:
    """Who may use the server. `host` is the address the server was told to listen on; a token is asked for where there is one."""

    host: str
    port: int
    token: str | None = None

    @property
    def cookie(self) -> str:
        # Cookies do not know ports: two studios on one machine must not overwrite each other's.
        return f"eigenwell-studio-{self.port}"

    def host_allowed(self, host: str) -> bool:
        """The Host header names this server; a name that somebody else's DNS points here does not.

        A server that listens on every address goes by any address and not by any name, because names can be rebound.
        """
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "80")
        if port != str(self.port):
            return False
        if name.lower() in LOOPBACK or name.lower() in (self.host.lower(), f"[{self.host.lower()}]"):
            return True
        if is_loopback(self.host):
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def origin_allowed(self, origin: str, host: str) -> bool:
        """A page that this server gave out, under the name it was asked for."""
        return origin.lower() == f"http://{host.lower()}"

    def known(self, query: bytes, cookies: str) -> bool:
        """Whether the request shows the token, in its cookie or (the first time) in its address."""
        if self.token is None:
            return True
        return self.shown_in(query) or self._matches(_cookie(cookies, self.cookie))

    def shown_in(self, query: bytes) -> bool:
        if self.token is None:
            return False
        try:
            given = parse_qs(query.decode("ascii"), max_num_fields=8).get("token", [""])
        except ValueError:
            return False
        return self._matches(given[0])

    def _matches(self, given: str) -> bool:
        # In constant time, so that answers do not tell how much of a guess was right.
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())


def _cookie(cookies: str, name: str) -> str:
    try:
        found = SimpleCookie(cookies).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


class AccessControl:
    """ASGI middleware: refuses before anything else reads the request."""

    def __init__(self, app: App, rules: AccessRules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        refusal = self._refusal(scope)
        if refusal is None:
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it was accepted: HTTP 403
            return None
        status, text = refusal
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
        headers += [(b"content-length", str(len(text.encode())).encode()), (b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text.encode()})
        return None

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        values: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            values.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts, origins = values.get(b"host", []), values.get(b"origin", [])
        if len(hosts) != 1 or not self._rules.host_allowed(hosts[0]):
            return 421, "This is not the name of this server. Open the address that `eigenwell studio` printed.\n"
        # Browsers send Origin with every WebSocket; a request without one is no page of ours.
        if len(origins) > 1 or (scope["type"] == "websocket" and not origins):
            return 403, "Expected one Origin.\n"
        if origins and not self._rules.origin_allowed(origins[0], hosts[0]):
            return 403, "Another page may not talk to this server.\n"
        if not self._rules.known(scope["query_string"], "; ".join(values.get(b"cookie", []))):
            return 401, "This server wants its token: open the whole address that `eigenwell studio` printed.\n"
        return None
