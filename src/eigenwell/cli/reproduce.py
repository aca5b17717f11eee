"""reproduce: the paper's tables and figures, made anew."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from ..errors import missing_extra
from .output import IN_DOUBT, MISSING_EXTRA, answer, command, table


@command
def reproduce(
    only: list[str] | None = None,
    quick: bool = False,
    out: Path = Path("reproduction"),
    seed: int = 0,
    drawing: Path | None = None,
    list_items: bool = False,
    as_json: bool = False,
) -> None:
    """Every table and figure of the paper beside what eigenwell gets: a page, figures and results.json."""
    try:
        from eigenwell_paper import ITEMS
        from eigenwell_paper import reproduce as make
    except ModuleNotFoundError as error:
        if error.name != "eigenwell_paper":
            raise
        raise missing_extra("Reproducing the paper", "eigenwell-paper", "reproduce") from error

    if list_items:
        table(("name", "what", "where"), [(item.name, item.title, item.place) for item in ITEMS], numbers_from=3)
        return
    names = [part.strip() for text in only or [] for part in text.split(",") if part.strip()]
    unknown = sorted(set(names) - {item.name for item in ITEMS})
    if unknown:
        known = ", ".join(item.name for item in ITEMS)
        raise typer.BadParameter(f"expected names of items with --only, got {', '.join(unknown)}; there are {known}.")
    typed, page = " ".join(["eigenwell", *sys.argv[1:]]), out / "index.html"
    with _progress() as tell:
        done = make(out, only=names, quick=quick, seed=seed, drawing=drawing, tell=tell, command=typed)
    made = len(done.done) - len(done.failed) - len(done.skipped)
    said = {"page": str(page), "seconds": round(done.seconds, 1)}
    said |= {"items": {one.item.name: one.status for one in done.done}}
    said |= {name: getattr(done, name) for name in ("failed", "skipped", "missed")}
    answer(as_json, said, f"{page}: {made} of {len(done.done)} items in {done.seconds:.0f} s")
    if not as_json:
        for one in done.done:
            if one.outcome is None:
                typer.secho(f"! {one.item.name} {one.status}: {one.message}", err=True)
        for what in done.missed:
            typer.secho(f"! does not hold: {what}", err=True)
    if done.failed or done.missed:
        raise typer.Exit(IN_DOUBT)
    if done.skipped:
        raise typer.Exit(MISSING_EXTRA)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A bar when somebody is looking; otherwise a line for everything that is begun, for the log of a long run."""
    if not sys.stderr.isatty():

        def line(done: int, total: int, what: str) -> None:
            typer.echo(f"[{min(done + 1, total)}/{total}] {what}", err=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)
