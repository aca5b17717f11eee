"""CSV and its kin: any delimiter, header or none, read in chunks."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data_frames import sample_columns
from ..demonstrations import Demonstrations
from .columns import Columns, check_count, recognise
from .errors import EmptyFile, TooLarge, UnreadableFile, unreadable
from .recording import MOST_COLUMNS, Recording, Wanted
from .thinning import Block, Thinner
from .time_units import is_date, since_first
from .unnamed import unnamed

CHUNK = 50_000
"""Rows parsed at once."""
LONGEST_LINE = 1 << 20
"""Characters; the widest table allowed, written with all digits, has a tenth of it."""
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class _Layout:
    delimiter: str | None
    header: tuple[str, ...] | None
    header_rows: int
    decimal_comma: bool


@dataclass(frozen=True)
class Text:
    """One row per sample, one column per number; names in the first line, or none."""

    name: ClassVar[str] = "CSV"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt", ".dat")

    def read(self, path: Path, wanted: Wanted) -> Recording:
        with opened(path) as handle:
            try:
                return _read(_lines(handle, path), path, wanted)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise unreadable(path, "a gzip file", error) from error
            except UnicodeDecodeError as error:
                raise UnreadableFile(
                    f"Expected text in {path}, got bytes that are not UTF-8. Is it a CSV file?"
                ) from error

    def write(self, path: Path, demos: Demonstrations) -> None:
        """Every float with the fewest digits that give it back exactly."""
        columns = sample_columns(demos)
        with path.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.writer(handle, lineterminator="\n")
            writer.writerow(columns)
            for a in range(0, demos.n_samples, CHUNK):
                writer.writerows(zip(*(c[a : a + CHUNK].tolist() for c in columns.values()), strict=True))


def opened(path: Path) -> IO[str]:
    """A text file, or one packed with gzip, to read."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline=None)
    return path.open(encoding="utf-8-sig", newline=None)


def _read(lines: Iterator[str], path: Path, wanted: Wanted) -> Recording:
    head = list(islice(lines, 20))
    comments = [line.lstrip("# \t") for line in takewhile(lambda line: line.startswith("#"), head)]
    body = head[len(comments) :]
    if not body:
        raise EmptyFile(f"Expected rows of numbers in {path}, got an empty file.")
    layout = _sniff(body, comments)
    count = len(_split(body[-1], layout))
    check_count(path, max(count, len(layout.header or ())))
    if layout.header is None:
        names = tuple(str(i + 1) for i in range(count))
        # What columns without names are, their numbers say: all of them are read first.
        columns = recognise(path, names, wanted) if wanted.position else Columns(names)
        if wanted.position is None and count > 1 and is_date(_split(body[0], layout)[0]):
            columns = Columns(names[1:], (), names[0])
    else:
        names, columns = layout.header, recognise(path, layout.header, wanted)
        body = body[layout.header_rows :]
    if not body:
        raise EmptyFile(f"Expected rows of numbers in {path}, got a header alone.")
    dated = columns.time is not None and is_date(_split(body[0], layout)[names.index(columns.time)])
    kept = _parse(chain(body, lines), names, columns, layout, path, wanted.every, dated)
    table = dict(zip(columns.all, kept["table"].T, strict=True))
    if layout.header is None and wanted.position is None and not dated:
        columns = unnamed(path, kept["table"], wanted)
    recording = columns.recording(table)
    return replace(recording, time_name="time_s") if dated else recording


def _lines(handle: IO[str], path: Path) -> Iterator[str]:
    """Lines with something on them, none endless, none binary; of the comments those above the data."""
    started = False
    while line := handle.readline(LONGEST_LINE):
        if "\0" in line:
            raise UnreadableFile(f"Expected text in {path}, got binary data. Is it a CSV file?")
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            raise TooLarge(
                f"Expected lines of at most {MOST_COLUMNS} columns in {path}, got one of more than {LONGEST_LINE} characters: "
                "one row per sample, one column per coordinate. If the file is transposed, turn it first."
            )
        if line.strip() and not (started and line.startswith("#")):
            started = started or not line.startswith("#")
            yield line


def _sniff(body: list[str], comments: list[str]) -> _Layout:
    """The delimiter that cuts the first lines into the same number of pieces, most pieces first."""

    def pieces(delimiter: str | None) -> int:
        counts = {len(line.strip().split(delimiter)) for line in body}
        return counts.pop() if len(counts) == 1 else 0

    delimiter = max((*_DELIMITERS, None), key=lambda c: (pieces(c) > 1, c == ";", pieces(c)))
    if pieces(delimiter) <= 1:
        # Ragged lines: the parser will say where; guess by the last line.
        delimiter = max((*_DELIMITERS, None), key=lambda c: len(body[-1].strip().split(c)))
    decimal_comma = delimiter in (";", "\t") and "," in body[-1] and "." not in body[-1]
    layout = _Layout(delimiter, None, 0, decimal_comma)
    first = _split(body[0], layout)
    # A first row of which no cell is a number is a header; one that mixes them is data with ids that are words.
    if any(first) and not any(_is_number(cell) for cell in first):
        return replace(layout, header=_distinct(first), header_rows=1)
    # Or the last comment above the data, where it has a name for every column.
    named = _split(comments[-1], layout) if comments else []
    return replace(layout, header=_distinct(named)) if len(named) == len(first) else layout


def _split(line: str, layout: _Layout) -> list[str]:
    text = line.strip("\r\n")
    if layout.delimiter is None:
        return [cell.strip('"') for cell in text.split()]
    row = next(csv.reader([text], delimiter=layout.delimiter), [])
    return [(cell.replace(",", ".") if layout.decimal_comma else cell).strip() for cell in row]


def _number(cell: str) -> float:
    return float(cell) if cell.strip() else float("nan")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Repeated or empty names get their place appended, so that each can be asked for."""
    seen: set[str] = set()
    out = []
    for i, name in enumerate(names):
        unique = name if name and name not in seen else f"{name}#{i + 1}"
        seen.add(unique)
        out.append(unique)
    return tuple(out)


def _parse(
    lines: Iterator[str], names: tuple[str, ...], columns: Columns, layout: _Layout, path: Path, every: int, dated: bool
) -> Block:
    """The wanted columns (positions, velocities, time, number of the trajectory), chunk by chunk."""
    wanted = [names.index(n) for n in columns.all]
    codes: dict[str, float] = {}
    converters: dict[int | str, Callable[[str], float]] = {}
    for name in (columns.trajectory, columns.task):
        if name is not None:  # ids may be words: number them as they come
            converters[names.index(name)] = lambda cell: codes.setdefault(cell.strip(), float(len(codes)))
    if dated and columns.time is not None:
        converters[names.index(columns.time)] = since_first()
    # An empty cell is a gap. Cell by cell is slow: only where a chunk has one.
    gaps = converters | {names.index(n): _number for n in columns.position + columns.velocity}
    if layout.decimal_comma:
        lines = (line.replace(",", ".") for line in lines)
    thinner = Thinner(every)
    row = 1 + (layout.header is not None)
    while chunk := list(islice(lines, CHUNK)):
        try:
            try:
                part = _table(chunk, layout, wanted, converters)
            except ValueError:
                part = _table(chunk, layout, wanted, gaps)
        except (ValueError, IndexError, OverflowError) as error:
            raise UnreadableFile(
                f"Expected {len(names)} numbers in every row of {path}, got something else in the rows from {row} on "
                f"({' '.join(str(error).split())[:160]}). Repair or drop that row."
            ) from error
        thinner.add({"table": part}, part[:, -1] if columns.trajectory else None)
        row += len(chunk)
    return thinner.result()


def _table(
    chunk: list[str], layout: _Layout, wanted: list[int], converters: dict[int | str, Callable[[str], float]]
) -> NDArray[Any]:
    more: dict[str, Any] = {"ndmin": 2, "quotechar": '"', "encoding": None, "comments": None}
    return np.asarray(
        np.loadtxt(chunk, delimiter=layout.delimiter, usecols=wanted, converters=converters or None, **more)
    )
