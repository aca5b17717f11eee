"""studio: the page to draw on."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from ..errors import missing_extra
from .output import answer, command, note


@command
def studio(
    port: int = 0,
    host: str = "127.0.0.1",
    token: str | None = None,
    static: Path | None = None,
    browser: bool = True,
    as_json: bool = False,
) -> None:
    """Draw demonstrations in the browser and watch them become a stable field."""
    if static is not None:
        _write(static, as_json)
        return
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise missing_extra("The studio", error.name or "a web server", "studio") from error
    from ..studio.access import SHORTEST_TOKEN, is_loopback, new_token
    from ..studio.server import serve

    if token is not None and not re.fullmatch(rf"[A-Za-z0-9_-]{{{SHORTEST_TOKEN},}}", token):
        raise typer.BadParameter(f"expected --token of at least {SHORTEST_TOKEN} letters, digits, - or _")
    if token is None and not is_loopback(host):
        token = new_token()

    def ready(address: str) -> None:
        answer(as_json, {"address": address, "token": token}, f"Studio at {address}")
        if not as_json:
            note("Ctrl-C stops it.")
        if browser:
            import threading
            import webbrowser

            # Some browsers keep their caller waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(host, port, token, ready)


def _write(folder: Path, as_json: bool) -> None:
    """The gallery in a folder, with a line for each drawing that is learned."""
    from ..files import make_folder
    from ..studio.gallery import learned_drawings, write_gallery

    def tell(name: str, done: int, total: int) -> None:
        if name:
            note(f"{done + 1} of {total}: {name}")

    make_folder(folder)  # before the work, not after it
    page = write_gallery(folder, learned_drawings(tell))
    size = page.stat().st_size
    where = f"{page}: open it, or put the folder on any web server ({size / 1e6:.2f} MB)"
    answer(as_json, {"page": str(page), "bytes": size}, where)
