"""compare, sweep: how stable states change between conditions and along a parameter."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Debug, Every, Files, Json, Position, Time, TimeStep, Trajectory, Velocity, read
from .output import cautions, command, note, print_json, progress, table

Picture = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: a .png, .svg or .pdf file.")]


def register(app: typer.Typer) -> None:
    app.command()(compare)
    app.command()(sweep)


@command
def compare(
    file: Files,
    position: Position = None,
    velocity: Velocity = None,
    time: Time = None,
    trajectory: Trajectory = None,
    dt: TimeStep = None,
    every: Every = 1,
    plot: Picture = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Which attractors are the same in two or more files, which moved, appeared or are gone, and whose basin grew."""
    from .. import comparison
    from ..identification import identify

    found = {}
    with progress() as tell:
        for path in file:
            name = path.stem if path.stem not in found else str(path)
            found[name] = identify(read([path], position, velocity, time, trajectory, dt, every), progress=tell)
    compared = comparison.compare(found)
    if as_json:
        print_json({"conditions": compared.conditions, "states": compared.states, "rows": compared.rows()})
    else:
        rows = [
            [
                str(row["state"]),
                row["condition"],
                row["what"] or ("there" if row["attractor"] is not None else "–"),
                _number(row["moved"]),
                _number(row["p_moved"]),
                f"{100 * row['share']:.0f} % ({100 * row['share_low']:.0f} to {100 * row['share_high']:.0f})",
                _number(row["p_share"]),
            ]
            for row in compared.rows()
        ]
        table(["state", "condition", "what", "moved by", "p", f"share of {compared.counted[0]}", "p"], rows, 3)
    _draw(compared, plot)


@command
def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV with names in the first line.")],
    by: Annotated[str, typer.Option("--by", metavar="COLUMN", help="Column of the parameter.")],
    plot: Picture = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """How attractors change along a parameter: branches, births, deaths, splits and oscillations, with intervals."""
    from .. import comparison

    with progress() as tell:
        swept = comparison.sweep(_columns(file), by=by, progress=tell)
    if as_json:
        print_json(
            {
                "parameter": swept.parameter,
                "values": swept.values,
                "n_attractors": swept.n_attractors,
                "events": list(swept.events),
                "rows": swept.rows(),
                "warnings": [str(c) for c in swept.warnings],
            }
        )
    else:
        typer.echo("\n".join(line for line in str(swept).splitlines() if not line.startswith("  !")))
        cautions(swept.warnings)
    _draw(swept, plot)


def _columns(path: Path) -> dict[str, Any]:
    """The columns of a CSV file by name; those that hold no numbers as they are."""
    import numpy as np

    from ..files import MissingFile, UnreadableFile
    from ..files.text import opened

    try:
        with opened(path) as handle:
            names, *rows = list(csv.reader(handle))
    except FileNotFoundError as error:
        raise MissingFile(f"Expected a file at {path}, found nothing there. Check the name.") from error
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UnreadableFile(f"Expected a CSV file with names in the first line at {path}: {error}.") from error
    out = {}
    for name, values in zip(names, zip(*rows, strict=False), strict=False):
        try:
            out[name.strip()] = np.array(values, dtype=np.float64)
        except ValueError:
            out[name.strip()] = np.array(values)
    return out


def _number(value: float) -> str:
    return "" if value != value else f"{value:.2g}"


def _draw(result: Any, path: Path | None) -> None:
    if path is None:
        return
    from .. import plotting

    with plotting.style():
        drawn = result.plot()
        axes = drawn if hasattr(drawn, "figure") else drawn[0]
        axes.figure.savefig(path)
    note(f"drawn to {path}")
