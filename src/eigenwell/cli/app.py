"""The application and its entry point."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from .. import __version__
from . import output
from .audit import audit
from .changes import compare, sweep
from .data import convert, datasets
from .identify import demo, identify, report
from .models import certify, export, learn, predict, simulate
from .options import OK, USAGE
from .reproduce import reproduce
from .studio import studio

COMMANDS = (
    demo, identify, report, audit, compare, sweep, learn, predict, simulate, certify, export,
    datasets, convert, reproduce, studio,
)  # fmt: skip

_EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in output.EXIT_CODES.items()) + "."

app = typer.Typer(
    name="eigenwell",
    help="How many attractors, where, which sample belongs to which; and a provably stable field to follow them.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"eigenwell {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None: ...


for _one in COMMANDS:
    app.command()(_one)


def run() -> None:
    """Run a command; a closed pipe (`| head`) and Ctrl-C end it without a word."""
    asked = sys.argv[1:] or ["--help"]
    try:
        code = app(asked, prog_name="eigenwell", standalone_mode=False)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        # What the parser refuses: an unknown option, a missing argument. One line, and where to read on.
        if not hasattr(error, "format_message"):
            raise
        typer.echo(f"eigenwell: {error.format_message()} Try 'eigenwell {_command(asked)}--help'.", err=True)
        sys.exit(getattr(error, "exit_code", USAGE))
    sys.exit(code if isinstance(code, int) else OK)


def _command(asked: list[str]) -> str:
    known = {info.name or getattr(info.callback, "__name__", "") for info in app.registered_commands}
    return f"{asked[0]} " if asked[0] in known else ""
