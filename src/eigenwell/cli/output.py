"""What commands print, and how they fail: one line, one exit code."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, get_type_hints

import typer

from ..progress import told
from .options import BAD_DATA, CANNOT_WRITE, IN_DOUBT, INTERNAL, MISSING_EXTRA, OK, OPTIONS, USAGE

EXIT_CODES = {
    OK: "done",
    INTERNAL: "a fault of eigenwell (please report it, with --debug)",
    USAGE: "the command was not understood",
    BAD_DATA: "data or model cannot be used",
    CANNOT_WRITE: "output cannot be written",
    MISSING_EXTRA: "an optional package is missing",
    IN_DOUBT: "the answer is there but a check failed",
}

WRITTEN = {"output", "labels", "keep", "plot", "onnx", "c"}
"""Parameters that name a file to write."""


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command: parameters are called and told of as `OPTIONS` says, those of a dataclass (`options.Source`) one by one.

    Errors become one line on stderr and an exit code; with --json an object on stdout too; with --debug a traceback.
    """

    def parameters(of: Callable[..., Any]) -> Iterator[inspect.Parameter]:
        hints = get_type_hints(of)
        for name, given in inspect.signature(of).parameters.items():
            if dataclasses.is_dataclass(hints[name]):
                groups[name] = hints[name]
                yield from parameters(hints[name])
            else:
                said = OPTIONS.get(f"{function.__name__}.{name}") or OPTIONS[name]
                yield given.replace(annotation=Annotated[hints[name], said], kind=inspect.Parameter.KEYWORD_ONLY)

    groups: dict[str, Any] = {}
    debugged = Annotated[bool, OPTIONS["debug"]]
    asked = [
        *parameters(function),
        inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=debugged),
    ]

    @functools.wraps(function)
    def run(*, debug: bool, **given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in dataclasses.fields(kind)})
        from ..files.atomic import check_writable

        try:
            for name in WRITTEN & given.keys():
                if given[name] is not None:
                    check_writable(given[name])
            with told(_BARS.tell if sys.stderr.isatty() else None):
                function(**given)
        except (typer.Exit, typer.Abort, BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception as error:
            # What the parser raises it also prints: a parameter that does not fit is not our fault.
            if debug or hasattr(error, "format_message"):
                raise
            code = _code(error)
            message = _line(error, code)
            if given.get("as_json"):
                print_json({"error": {"kind": type(error).__name__, "message": message, "exit_code": code}})
            say(f"eigenwell: {message}", err=True, fg="red" if sys.stderr.isatty() else None)
            raise typer.Exit(code) from None
        finally:
            _BARS.clear()

    run.__annotations__ = {one.name: one.annotation for one in asked}
    run.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined]
    return run


def _code(error: Exception) -> int:
    from ..files import CannotWrite

    if isinstance(error, CannotWrite):
        return CANNOT_WRITE
    if isinstance(error, ImportError):
        return MISSING_EXTRA
    return BAD_DATA if isinstance(error, ValueError | OSError | MemoryError) else INTERNAL


def _line(error: Exception, code: int) -> str:
    said = " ".join(str(error).split())
    if isinstance(error, ModuleNotFoundError) and "pip install" not in said:
        said = f'{said}. Install everything with: pip install "eigenwell[all]"'
    if isinstance(error, MemoryError):
        said = "The data do not fit in memory; read fewer samples with --every."
    if code == INTERNAL:
        said = f"{type(error).__name__}: {said}. This is a fault of eigenwell; run again with --debug and report it."
    return said or type(error).__name__


# --- printing -----------------------------------------------------------------------------------------


def interactive() -> bool:
    """Somebody is looking: colours and tables; otherwise plain lines that other programs can read."""
    return sys.stdout.isatty()


def say(line: str, err: bool = False, **style: Any) -> None:
    """A line on stdout or stderr, where no bar is left to run into."""
    _BARS.clear()
    typer.secho(line, err=err, **style)


def answer(as_json: bool, said: Any, *lines: str) -> None:
    """One JSON object, or these lines."""
    if as_json:
        print_json(said)
    for line in () if as_json else lines:
        say(line)


def print_json(value: Any) -> None:
    say(json.dumps(plain(value), allow_nan=False))


def plain(value: Any) -> Any:
    """Numbers, lists and dictionaries; not-a-number becomes null, which JSON has a word for."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def note(message: str) -> None:
    """Something besides the result: on stderr, and only for eyes."""
    if sys.stderr.isatty():
        say(message, err=True, dim=True)


def cautions(warnings: Iterable[Any]) -> None:
    """Doubts, on stderr, so that they never mix with a result in a pipe."""
    for caution in warnings:
        say(f"! {caution}", err=True, fg="yellow" if sys.stderr.isatty() else None)


def offer_audit(demos: Any) -> None:
    """Where recordings look bad, say so and name the command that says why: "3 of 56 recordings look bad: eigenwell audit"."""
    from ..auditing.api import audited
    from ..auditing.episodes import of_demonstrations
    from ..errors import DataError
    from ..wording import plural

    if demos.offsets is None or not sys.stderr.isatty():
        return
    try:
        bad = len(audited(of_demonstrations(demos)).bad)
    except DataError:
        return
    if bad:
        verb = "looks" if bad == 1 else "look"
        note(f"{bad} of {plural(demos.n_trajectories, 'recording')} {verb} bad: eigenwell audit")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers_from: int = 1) -> None:
    """A table for eyes, or tab-separated lines for a pipe. Columns from `numbers_from` on are aligned right."""
    if not interactive():
        say("\t".join(headings))
        for row in rows:
            say("\t".join(row))
        return
    _BARS.clear()
    from rich import box
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for i, heading in enumerate(headings):
        drawn.add_column(heading, justify="right" if i >= numbers_from else "left")
    for row in rows:
        drawn.add_row(*row)
    Console().print(drawn)


def listed(headings: Sequence[str], rows: Sequence[Sequence[Any]], as_json: bool, numbers_from: int = 1) -> None:
    """What there is to choose from: a list of JSON objects, or a table."""
    if as_json:
        print_json([dict(zip(headings, row, strict=True)) for row in rows])
    else:
        table(headings, [tuple(map(str, row)) for row in rows], numbers_from)


class Bars:
    """A bar on stderr for every stage of what takes long, where somebody is looking; gone when something is printed."""

    shown: Any = None
    tasks: dict[str, Any]

    def tell(self, stage: str, done: int, total: int) -> None:
        """As `eigenwell.progress` has it."""
        if self.shown is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self.shown, self.tasks = Progress(*columns, console=Console(stderr=True), transient=True), {}
            self.shown.start()
        if stage not in self.tasks:
            self.tasks[stage] = self.shown.add_task(stage, total=total)
        self.shown.update(self.tasks[stage], completed=done, total=total)

    def clear(self) -> None:
        if self.shown is not None:
            self.shown.stop()
        self.shown = None


_BARS = Bars()
