"""CSV and its kin: any delimiter, header or none, read in chunks."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..data_frames import sample_columns
from ..demonstrations import Caution, Demonstrations
from ..wording import plural
from .columns import Columns, are_units, check_count, listed, recognise
from .errors import EmptyFile, TooLarge, UnknownColumns, UnreadableFile, unreadable
from .recording import MOST_COLUMNS, Format, Recording, Wanted
from .thinning import Block, Thinner
from .time_units import is_date, since_first
from .unnamed import unnamed

CHUNK = 50_000
"""Rows parsed at once."""
HEAD = 40
"""Lines that tell the layout: names and whatever a logger writes above them are among the first."""
LONGEST_LINE = 1 << 20
"""Characters; the widest table allowed, written with all digits, has a tenth of it."""
_DELIMITERS = (",", ";", "\t", "|", None)
_MISSING = {"", "na", "n/a", "#n/a", "#na", "nan", "null", "none", "nil", "-", "--", "...", "?"}
"""What programs write where they have no number."""
Converters = dict[int | str, Callable[[str], float]]


@dataclass(frozen=True)
class Layout:
    """How a text is cut into cells, what the columns are called, and how many lines stand above the data."""

    delimiter: str | None
    decimal_comma: bool = False
    names: tuple[str, ...] | None = None
    above: int = 0
    skipped: tuple[str, ...] = ()

    def cells(self, line: str) -> list[str]:
        text = line.strip("\r\n")
        if self.delimiter is None:
            return [cell.strip('"') for cell in text.split()]
        return [cell.strip() for cell in next(csv.reader([text], delimiter=self.delimiter), [])]

    def number(self, cell: str) -> float:
        """A gap where a cell says that it has none; 1,5 where commas are decimal; 1.5D+00 as Fortran writes it."""
        bare = cell.strip().strip('"')
        if bare.lower() in _MISSING:
            return float("nan")
        return float((bare.replace(",", ".") if self.decimal_comma else bare).replace("D", "E"))

    def is_number(self, cell: str) -> bool:
        try:
            self.number(cell)
        except ValueError:
            return False
        return cell.lower() not in _MISSING - {"nan"}


def _write(path: Path, demos: Demonstrations) -> None:
    """Every float with the fewest digits that give it back exactly."""
    columns = sample_columns(demos)
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(columns)
        for a in range(0, demos.n_samples, CHUNK):
            writer.writerows(zip(*(c[a : a + CHUNK].tolist() for c in columns.values()), strict=True))


@contextmanager
def _readable(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a text; what is wrong with its bytes is said in a sentence."""
    try:
        with opened(path) as handle:
            yield _lines(handle, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise unreadable(path, "a gzip file", error) from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"Expected text in {path}, got bytes that are none. Is it a CSV file?") from error


def opened(path: Path) -> IO[str]:
    """A text file, or one packed with gzip: UTF-8, UTF-16 with its mark, or one byte a letter, as older programs write."""
    by = gzip.open if path.suffix.lower() == ".gz" else open
    with by(path, "rb") as handle:
        head = handle.read(1 << 16)
    encoding = "utf-8-sig"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError:
            encoding = "latin-1"
    return by(path, "rt", encoding=encoding, newline=None)


def named_columns(path: Path) -> dict[str, NDArray[Any]]:
    """All columns of a text with names; those that hold no numbers as they are."""
    with _readable(path) as lines:
        layout, rows = _laid_out(lines, path)
        if layout.names is None:
            raise UnreadableFile(f"Expected names of columns in the first line of {path}, got numbers alone.")
        table = zip(*(layout.cells(line) for line in rows), strict=False)
    out: dict[str, NDArray[Any]] = {}
    for name, cells in zip(layout.names, table, strict=False):
        try:
            out[name] = np.array([layout.number(cell) for cell in cells])
        except ValueError:
            out[name] = np.array(cells)
    return out


def _read(path: Path, wanted: Wanted) -> Recording:
    """One row per sample, one column per number; names in the first line, or none."""
    with _readable(path) as lines:
        return _recording(lines, path, wanted)


def _recording(lines: Iterator[str], path: Path, wanted: Wanted) -> Recording:
    layout, rows = _laid_out(lines, path)
    first = next(rows, None)
    if first is None:
        raise EmptyFile(f"Expected rows of numbers in {path}, got a header alone.")
    cells = layout.cells(first)
    if layout.names is None:
        names = tuple(str(i + 1) for i in range(len(cells)))
        # What columns without names are, their numbers say: all of them are read first.
        columns = recognise(path, names, wanted) if wanted.position else Columns(names)
        if wanted.position is None and len(cells) > 1 and is_date(cells[0]):
            columns = Columns(names[1:], (), names[0])
    else:
        names, columns = layout.names, recognise(path, layout.names, wanted)
    twice = [n for n in columns.all if any(m.startswith(f"{n}#") for m in names) and n not in wanted.names]
    if twice:
        raise UnknownColumns(
            f"Expected names that differ in {path}, got {twice[0]!r} more than once. Rename one; as it is, the others are called "
            f"{listed(m for m in names if m.startswith(f'{twice[0]}#'))}."
        )
    at = None if columns.time is None else names.index(columns.time)
    dated = at is not None and at < len(cells) and is_date(cells[at])
    kept = _parse(chain([first], rows), names, columns, layout, path, wanted.every, dated)
    table = dict(zip(columns.all, kept["table"].T, strict=True))
    if layout.names is None and wanted.position is None and not dated:
        columns = unnamed(path, kept["table"], wanted)
    recording = columns.recording(table)
    if layout.skipped:
        said = (
            f"{plural(len(layout.skipped), 'line')} above the data of {path.name}: {' / '.join(layout.skipped)[:120]}"
        )
        recording = replace(recording, warnings=(*recording.warnings, Caution("lines-skipped", f"Skipped {said}.")))
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


def _laid_out(lines: Iterator[str], path: Path) -> tuple[Layout, Iterator[str]]:
    """The layout, and the lines of data."""
    head = list(islice(lines, HEAD))
    comments = [line.lstrip("# \t") for line in takewhile(lambda line: line.startswith("#"), head)]
    body = head[len(comments) :]
    # Spreadsheets say first what divides the columns.
    said = re.match(r"sep=(.)$", body[0].strip()) if body else None
    body = body[1:] if said else body
    if not body:
        raise EmptyFile(f"Expected rows of numbers in {path}, got an empty file.")
    layout = _cut(body, said[1] if said else None)
    cells = [layout.cells(line) for line in body]
    width = len(cells[-1])
    # A row of which no cell is a number is none of data; one that mixes them is data with ids that are words, unless it has
    # another number of cells than the data.
    above = 0
    while above < len(cells) and not (
        any(map(layout.is_number, cells[above]))
        and (len(cells[above]) == width or all(map(layout.is_number, cells[above])))
    ):
        above += 1
    if above == len(cells) > 2:
        raise UnreadableFile(
            f"Expected rows of numbers in {path}, divided by commas, semicolons, tabs, | or blanks, found none in the first "
            f"{len(body)} lines; the last of them is {body[-1].strip()[:80]!r}."
        )
    layout = replace(layout, above=above)
    told = [k for k in range(above) if any(cell.lower() not in _MISSING for cell in cells[k])]
    names, used = _names([cells[k] for k in told])
    if names is None and comments and len(named := layout.cells(comments[-1])) == width:
        names, used = named, 0  # or the last comment above the data, where it has a name for every column
    check_count(path, max(width, len(names or ())))
    skipped = tuple(body[k].strip() for k in told[: len(told) - used] if above < len(body))
    layout = replace(layout, names=None if names is None else _distinct(names), skipped=skipped)
    return layout, chain(body[above:], lines)


def _cut(body: Sequence[str], delimiter: str | None) -> Layout:
    """The delimiter that leaves most numbers in the last line, then one that cuts all lines into as many pieces."""

    def layout(delimiter: str | None) -> Layout:
        # A comma is decimal where no number has a point and where it divides no columns, or stands in quotes.
        last = Layout(delimiter).cells(body[-1])
        comma = "." not in body[-1] and delimiter is not None and any("," in cell for cell in last)
        return Layout(delimiter, comma)

    def fits(one: Layout) -> tuple[int, bool, bool, int]:
        counts = [len(one.cells(line)) for line in body]
        whole = len(set(counts)) == 1 and counts[0] > 1
        return sum(map(one.is_number, one.cells(body[-1]))), whole, one.delimiter is not None, counts[-1]

    return max(map(layout, _DELIMITERS if delimiter is None else (delimiter,)), key=fits)


def _names(above: Sequence[list[str]]) -> tuple[list[str] | None, int]:
    """Names of the columns in the rows above the data, and how many of these rows they take."""
    if not above:
        return None, 0
    last = above[-1]
    if len(above) > 1 and len(above[-2]) == len(last):
        before = above[-2]
        if are_units(last) and any(before):
            return [f"{a} [{b.strip('[]()')}]" if b.strip("-") else a for a, b in zip(before, last, strict=True)], 2
        if len(set(before)) < len(before) and all(before):  # pos, pos, vel, vel above x, y, x, y
            return [f"{a}_{b}".strip("_") for a, b in zip(before, last, strict=True)], 2
    return last, 1


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Repeated or empty names get their place appended, so that each can be asked for."""
    seen: set[str] = set()
    out = []
    for i, name in enumerate(names):
        unique = name if name and name not in seen else f"{name}#{i + 1}"
        seen.add(unique)
        out.append(unique)
    return tuple(out)


def _parse(
    lines: Iterator[str], names: tuple[str, ...], columns: Columns, layout: Layout, path: Path, every: int, dated: bool
) -> Block:
    """The wanted columns (positions, velocities, time, number of the trajectory), chunk by chunk."""
    wanted = [names.index(n) for n in columns.all]
    codes: dict[str, float] = {}
    converters: Converters = {}
    for name in (columns.trajectory, columns.task):
        if name is not None:  # ids may be words: number them as they come
            converters[names.index(name)] = lambda cell: codes.setdefault(cell.strip(), float(len(codes)))
    if dated and columns.time is not None:
        converters[names.index(columns.time)] = since_first()
    # Cell by cell is slow: only where a chunk has gaps, or numbers that only people read.
    gaps = {i: layout.number for i in wanted} | converters
    plain = layout.decimal_comma and layout.delimiter != ","
    thinner = Thinner(every)
    row = 1 + layout.above
    while chunk := list(islice(lines, CHUNK)):
        try:
            try:
                quick = [line.replace(",", ".") for line in chunk] if plain else chunk
                part = _table(quick, layout, wanted, converters)
            except ValueError:
                part = _table(chunk, layout, wanted, gaps)
        except (ValueError, IndexError, OverflowError) as error:
            at = next((k for k, line in enumerate(chunk) if not _good(line, layout, wanted, gaps)), 0)
            raise UnreadableFile(
                f"Expected {len(names)} numbers in every row of {path}, got {chunk[at].strip()[:80]!r} in row {row + at}. "
                "Repair or drop that row."
            ) from error
        thinner.add({"table": part}, part[:, -1] if columns.trajectory else None)
        row += len(chunk)
    return thinner.result()


def _good(line: str, layout: Layout, wanted: Sequence[int], gaps: Converters) -> bool:
    cells = layout.cells(line)
    try:
        return max(wanted) < len(cells) and all(gaps[i](cells[i]) is not None for i in wanted)
    except ValueError:
        return False


def _table(chunk: list[str], layout: Layout, wanted: list[int], converters: Converters) -> NDArray[Any]:
    more: dict[str, Any] = {"ndmin": 2, "quotechar": '"', "encoding": None, "comments": None}
    return np.asarray(
        np.loadtxt(chunk, delimiter=layout.delimiter, usecols=wanted, converters=converters or None, **more)
    )


TEXT = Format((".csv", ".tsv", ".txt", ".dat"), "a table of numbers", _read, _write)
