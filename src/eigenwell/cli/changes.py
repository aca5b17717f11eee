"""compare, sweep: how stable states change between conditions and along a parameter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ..errors import DataError
from .options import Source, numbers
from .output import cautions, command, note, print_json, say, table


@command
def compare(source: Source, plot: Path | None = None, as_json: bool = False) -> None:
    """Which attractors are the same in two or more files, which moved, appeared or are gone, and whose basin grew."""
    from .. import comparison
    from ..identification import identify

    if len(source.file) < 2:
        raise DataError(
            f"Expected at least two conditions, a file each, got {source.name}. For one: eigenwell identify {source.file[0]}"
        )
    _checked(plot)
    found = {}
    for path in source.file:
        name = path.stem if path.stem not in found else str(path)
        found[name] = identify(replace(source, file=[path]).read())
    compared = comparison.compare(found)
    if as_json:
        _print(compared, "conditions", "states")
    else:
        rows = [
            [
                str(row["state"]),
                row["condition"],
                row["what"] or ("there" if row["attractor"] is not None else "–"),
                _number(row["moved"]),
                _chance(row["p_moved"]),
                f"{100 * row['share']:.0f} % ({100 * row['share_low']:.0f} to {100 * row['share_high']:.0f})",
                _chance(row["p_share"]),
            ]
            for row in compared.rows()
        ]
        table(["state", "condition", "what", "moved by", "p", f"share of {compared.counted[0]}", "p"], rows, 3)
        cautions(compared.warnings)
    _draw(compared, plot)


@command
def sweep(
    source: Source,
    by: str | None = None,
    values: str | None = None,
    plot: Path | None = None,
    as_json: bool = False,
) -> None:
    """How attractors change along a parameter: branches, births, deaths, splits and oscillations, with intervals."""
    from .. import comparison

    file = source.file
    if (by is None) == (values is None) or (by is not None and len(file) > 1):
        raise typer.BadParameter(
            f"expected one file with --by COLUMN, or several with --values, one for each; got {len(file)} with "
            f"{'both' if by and values else '--by' if by else '--values' if values else 'neither'}"
        )
    cells = by is not None and file[0].suffix == ".h5ad"
    plain = replace(Source(file), position=source.position if cells else None)
    told = [f"--{name}" for name, given in source.columns.items() if given != plain.columns[name]]
    if by is not None and told:
        raise typer.BadParameter(f"--by reads columns by their names; leave out {' and '.join(told)}")
    _checked(plot)
    if values is not None:
        each = [replace(source, file=[path]).read() for path in file]
        swept = comparison.sweep(numbers([values], "--values")[0], each)
    else:
        swept = comparison.sweep(_table(file[0]), by=by, basis=source.position if cells else None)
    if as_json:
        _print(swept, "parameter", "values", "n_attractors", "events")
    else:
        say("\n".join(line for line in str(swept).splitlines() if not line.startswith("  !")))
        cautions(swept.warnings)
    _draw(swept, plot)


def _table(path: Path) -> Any:
    """What holds columns by name: of a CSV file a dictionary, an Arrow table, an AnnData object."""
    from ..files.errors import MissingFile, parsing
    from ..files.h5ad import read_anndata
    from ..files.parquet import pyarrow_for
    from ..files.text import named_columns

    if not path.exists():
        raise MissingFile(f"Expected a file at {path}, found nothing there. Check the name.")
    if path.is_dir():
        raise DataError(f"Expected one table with a column to sweep by, got the folder {path}. Name a file in it.")
    with parsing(path, "a table with names: CSV, Parquet, Feather or .h5ad"):
        if path.suffix == ".h5ad":
            return read_anndata(path)
        if path.suffix in (".parquet", ".feather"):
            return pyarrow_for("Reading tables", "files", path.suffix[1:])[1].read_table(path)
        return named_columns(path)


def _print(found: Any, *asked: str) -> None:
    said = {name: getattr(found, name) for name in asked}
    print_json(said | {"rows": found.rows(), "warnings": [str(c) for c in found.warnings]})


def _number(value: float) -> str:
    return "" if value != value else f"{value:.2g}"


def _chance(p: float) -> str:
    return "< 0.001" if p < 1e-3 else _number(p)


def _checked(plot: Path | None) -> None:
    """Before the work: whether it can be drawn."""
    if plot is not None:
        from ..plotting.canvas import pyplot

        pyplot()
        if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise typer.BadParameter(f"expected --plot with a name that ends in .png, .svg or .pdf, got {plot}")


def _draw(result: Any, path: Path | None) -> None:
    if path is None:
        return
    from .. import plotting
    from ..files import replacing

    with plotting.style(), replacing(path) as temporary:
        drawn = result.plot()
        axes = drawn if hasattr(drawn, "figure") else drawn[0]
        axes.figure.savefig(temporary)
    note(f"drawn to {path}")
