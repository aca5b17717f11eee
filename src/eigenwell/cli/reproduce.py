"""reproduce: the paper's tables and figures, made anew."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from ..errors import missing_extra
from .options import IN_DOUBT, MISSING_EXTRA
from .output import answer, command, listed, say


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
        rows = [(item.name, item.title, item.place) for item in ITEMS]
        listed(("name", "what", "where"), rows, as_json, numbers_from=3)
        return
    names = [part.strip() for text in only or [] for part in text.split(",") if part.strip()]
    unknown = sorted(set(names) - {item.name for item in ITEMS})
    if unknown:
        known = ", ".join(item.name for item in ITEMS)
        raise typer.BadParameter(f"expected names of items with --only, got {', '.join(unknown)}; there are {known}.")
    typed, page = " ".join(["eigenwell", *sys.argv[1:]]), out / "index.html"
    done = make(out, only=names, quick=quick, seed=seed, drawing=drawing, tell=_begun, command=typed)
    made = len(done.done) - len(done.failed) - len(done.skipped)
    said = {"page": str(page), "seconds": round(done.seconds, 1)}
    said |= {"items": {one.item.name: one.status for one in done.done}}
    said |= {name: getattr(done, name) for name in ("failed", "skipped", "missed")}
    answer(as_json, said, f"{page}: {made} of {len(done.done)} items in {done.seconds:.0f} s")
    if not as_json:
        for one in done.done:
            if one.outcome is None:
                say(f"! {one.item.name} {one.status}: {one.message}", err=True)
        for what in done.missed:
            say(f"! does not hold: {what}", err=True)
    if done.failed or done.missed:
        raise typer.Exit(IN_DOUBT)
    if done.skipped:
        raise typer.Exit(MISSING_EXTRA)


def _begun(done: int, total: int, what: str) -> None:
    """A line for everything that is begun, for the log of a long run."""
    say(f"[{min(done + 1, total)}/{total}] {what}", err=True)
