"""The command line: parse, call the library, print. Nothing heavy is imported before a command runs."""

import sys

__all__ = ["main"]


def main() -> None:
    """The command `eigenwell`."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        wanted = 'The command line needs typer and rich. Install them with: pip install "eigenwell[cli]"'
        print(f"eigenwell: {wanted}", file=sys.stderr)
        sys.exit(5)
    run()
