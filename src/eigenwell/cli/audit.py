"""audit: which episodes are bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..wording import plural
from .options import IN_DOUBT, Source
from .output import command, interactive, note, print_json, say, table

if TYPE_CHECKING:
    from ..auditing import Audit


@command
def audit(
    source: Source,
    task: str | None = None,
    output: Path | None = None,
    keep: Path | None = None,
    trim: Path | None = None,
    split: Path | None = None,
    strict: bool = False,
    as_json: bool = False,
) -> None:
    """Which episodes are bad, why, and which to keep; files are only read."""
    from ..auditing.api import audited
    from ..auditing.copies import keep_list, write_parts, write_trimmed
    from ..auditing.page import page
    from ..auditing.reading import of_files
    from ..files import replacing

    found = audited(of_files(source.file, task=task, **source.columns))
    written: list[str] = []
    texts: list[tuple[Path | None, str, Callable[[], str]]] = [
        (output, "page", lambda: page(found, source.name)),
        (keep, "list to keep", lambda: json.dumps(keep_list(found)) + "\n"),
    ]
    for path, what, text in texts:
        if path is not None:
            with replacing(path) as temporary:
                temporary.write_text(text(), encoding="utf-8")
            written.append(f"{what}: {path}")
    for folder, write, what in ((trim, write_trimmed, "trimmed copies"), (split, write_parts, "parts between rests")):
        if folder is not None:
            if len(source.file) > 1:
                raise typer.BadParameter("--trim and --split take one file or one folder")
            count = len(write(found, source.file[0], folder))
            written.append(f"{what}: {plural(count, 'file')} in {folder}")
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
    from ..report.wording import point

    say(found.headline, bold=interactive())
    rows = [
        (str(v.episode), v.name, f.name, f"{f.confidence:.2f}", f.action, f.message)
        for v in found.bad
        for f in v.faults
    ]
    if rows:
        table(("episode", "file", "fault", "confidence", "do", "what"), rows, numbers_from=99)
    for q, goal in enumerate(found.goals):
        say(f"goal {q} at {point(goal.place)}: {plural(len(goal.episodes), 'episode')}")
    for name, why in found.skipped:
        say(f"skipped {name}: {why}")
    for said in found.missing:
        say(said)
    say(f"keep {len(found.keep)} of {plural(len(found.verdicts), 'episode')}")
