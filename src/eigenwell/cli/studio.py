"""studio: the page to draw on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from ..errors import missing_extra
from .options import Json
from .output import command, note, print_json


@command
def studio(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 is any free one.")] = 0,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on. Others than this machine need a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="Ask every page for this token; made up where one is needed.")
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write a gallery that needs no server into this folder instead, and stop. It learns for minutes.",
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    as_json: Json = False,
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
        if as_json:
            print_json({"address": address, "token": token})
        else:
            typer.echo(f"Studio at {address}")
            note("Ctrl-C stops it.")
        if browser:
            import threading
            import webbrowser

            # Some browsers keep their caller waiting until they are closed.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(host, port, token, ready)


def _write(folder: Path, as_json: bool) -> None:
    """The gallery in a folder, with a line for each drawing that is learned."""
    from ..studio.gallery import learned_drawings, write_gallery

    def tell(name: str, done: int, total: int) -> None:
        if name:
            note(f"{done + 1} of {total}: {name}")

    page = write_gallery(folder, learned_drawings(tell))
    size = page.stat().st_size
    if as_json:
        print_json({"page": str(page), "bytes": size})
    else:
        typer.echo(f"{page}: open it, or put the folder on any web server ({size / 1e6:.2f} MB)")
