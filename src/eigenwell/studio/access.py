"""Access control: the right Host, the right Origin, and a token where the server is open to a network."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.requests import HTTPConnection, cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

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
        given = cookie_parser(cookies).get(self.cookie, "")
        return self.token is None or self.shown_in(query) or self._matches(given)

    def shown_in(self, query: bytes) -> bool:
        try:
            return self._matches(parse_qs(query.decode("ascii"), max_num_fields=8).get("token", [""])[0])
        except ValueError:
            return False

    def _matches(self, given: str) -> bool:
        # In constant time, so that answers do not tell how much of a guess was right.
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())


class AccessControl:
    """ASGI middleware: refuses before anything else reads the request."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] in ("http", "websocket")
        refusal = self._refusal(HTTPConnection(scope)) if asked else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it was accepted: HTTP 403
        else:
            headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
            await PlainTextResponse(refusal[1], refusal[0], headers)(scope, receive, send)

    def _refusal(self, asked: HTTPConnection) -> tuple[int, str] | None:
        hosts, origins, cookies = (asked.headers.getlist(name) for name in ("host", "origin", "cookie"))
        if len(hosts) != 1 or not self._rules.host_allowed(hosts[0]):
            return 421, "This is not the name of this server. Open the address that `eigenwell studio` printed.\n"
        # Browsers send Origin with every WebSocket; a request without one is no page of ours.
        if len(origins) > 1 or (asked.scope["type"] == "websocket" and not origins):
            return 403, "Expected one Origin.\n"
        if origins and not self._rules.origin_allowed(origins[0], hosts[0]):
            return 403, "Another page may not talk to this server.\n"
        if not self._rules.known(asked.scope["query_string"], "; ".join(cookies)):
            return 401, "This server wants its token: open the whole address that `eigenwell studio` printed.\n"
        return None
