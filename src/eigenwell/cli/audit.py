"""audit: which episodes are bad."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..wording import plural
from .options import Json, Source, Task
from .output import IN_DOUBT, command, interactive, note, print_json, table

if TYPE_CHECKING:
    from ..auditing import Audit


def _written(flag: str, metavar: str, help: str, *short: str) -> Any:
    """An option that names a file to write."""
    return typer.Option(flag, *short, metavar=metavar, help=help, rich_help_panel="Files to write")


@command
def audit(
    source: Source,
    task: Task = None,
    output: Annotated[
        Path | None, _written("--output", "PAGE", "HTML page with a thumbnail per episode.", "-o")
    ] = None,
    keep: Annotated[Path | None, _written("--keep", "keep.json", "Numbers and rows of the episodes to keep.")] = None,
    trim: Annotated[
        Path | None,
        _written("--trim", "FOLDER", "Copies of the episodes to keep, without the rests at start and end."),
    ] = None,
    split: Annotated[
        Path | None, _written("--split", "FOLDER", "The motions between rests as recordings of their own (subtasks).")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help=f"Exit with {IN_DOUBT} when an episode is bad.")] = False,
    as_json: Json = False,
) -> None:
    """Which episodes are bad, why, and which to keep; files are only read."""
    from ..auditing.api import audited
    from ..auditing.copies import keep_list, write_parts, write_trimmed
    from ..auditing.page import page
    from ..auditing.reading import of_files
    from ..files import replacing

    found = audited(of_files(source.file, task=task, **source.columns))
    written: list[str] = []
    if output is not None:
        with replacing(output) as temporary:
            temporary.write_text(page(found, source.name), encoding="utf-8")
        written.append(f"page: {output}")
    if keep is not None:
        with replacing(keep) as temporary:
            temporary.write_text(json.dumps(keep_list(found)) + "\n", encoding="utf-8")
        written.append(f"list to keep: {keep}")
    for folder, write, what in ((trim, write_trimmed, "trimmed copies"), (split, write_parts, "parts between rests")):
        if folder is not None:
            if len(source.file) > 1:
                raise typer.BadParameter("--trim and --split take one file or one folder")
            made = write(found, source.file[0], folder)
            written.append(f"{what}: {plural(len(made), 'file')} in {folder}")
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)
        for line in written:
            note(line)
    if strict and found.bad:
        raise typer.Exit(IN_DOUBT)


def show(found: Audit) -> None:
    """The headline, the bad episodes, then what is missing."""
    typer.secho(found.headline, bold=interactive())
    rows = [
        (str(v.episode), v.name, f.name, f"{f.confidence:.2f}", f.action, f.message)
        for v in found.bad
        for f in v.faults
    ]
    if rows:
        table(("episode", "file", "fault", "confidence", "do", "what"), rows, numbers_from=99)
    for q, goal in enumerate(found.goals):
        place = ", ".join(f"{c:.4g}" for c in goal.place[:4]) + (", …" if len(goal.place) > 4 else "")
        typer.echo(f"goal {q} at ({place}): {plural(len(goal.episodes), 'episode')}")
    for name, why in found.skipped:
        typer.echo(f"skipped {name}: {why}")
    for said in found.missing:
        typer.echo(said)
    typer.echo(f"keep {len(found.keep)} of {plural(len(found.verdicts), 'episode')}")
