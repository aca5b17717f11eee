"""Write docs/reference/commands.md from the commands themselves: python docs/make_commands.py. A test keeps the two equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from eigenwell.cli.app import app
from eigenwell.cli.output import EXIT_CODES

PAGE = Path(__file__).parent / "reference" / "commands.md"
# They print themselves in every --help and need no row of their own.
_SHARED = {"--json", "--debug", "--help"}


def text() -> str:
    command: Any = typer.main.get_command(app)
    parts = [
        "# Commands",
        "<!-- Made by docs/make_commands.py from the commands' own help; do not edit. -->",
        command.help,
        "Every command takes `--json` (print one JSON object), `--debug` (on an error, show the traceback) and `--help`. "
        "Results go to stdout, warnings and errors to stderr, one line each. In a pipe, tables become tab-separated lines, and "
        "there are no colours and no progress bars. `eigenwell --install-completion` sets up completion for your shell.",
        "| exit code | meaning |\n|---|---|\n"
        + "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()),
    ]
    parts += [_section(name, sub) for name, sub in command.commands.items()]
    return "\n\n".join(parts) + "\n"


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not _SHARED & set(p.opts)]
    usage = " ".join(
        ["eigenwell", name, *map(_usage, arguments), *(_short(p) for p in options if p.required), "[OPTIONS]"]
    )
    rows = [f"| `{_usage(p)}` | {p.help or ''} |" for p in arguments]
    rows += [f"| `{_flag(p)}` | {p.help or ''}{_default(p)} |" for p in options]
    return f"## eigenwell {name}\n\n{command.help}\n\n```\n{usage}\n```\n\n| | |\n|---|---|\n" + "\n".join(rows)


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name or "").upper()
    shown = f"{name}..." if argument.nargs == -1 else name
    return shown if argument.required else f"[{shown}]"


def _flag(option: Any) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    if getattr(option, "is_flag", False):
        return names
    return f"{names} {option.metavar or 'N'}".replace("|", "\\|")  # a bare one would end the cell


def _short(option: Any) -> str:
    return f"{min(option.opts, key=len)} {option.metavar or 'N'}"


def _default(option: Any) -> str:
    shown = option.default
    return f" Default: {shown}." if isinstance(shown, int | float) and not isinstance(shown, bool) else ""


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
