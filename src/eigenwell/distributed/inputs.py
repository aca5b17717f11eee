"""The input in parts: row groups of Parquet files, each small enough for one task, numbered through in their order."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from ..checks import check_finite
from ..demonstrations import DataError
from ..files.columns import Columns, natural_order, recognise
from ..files.errors import EmptyFile, FileError, MissingFile, UnknownColumns, UnreadableFile, parsing
from ..files.parquet import PARQUET, batches, numbers_of, pyarrow_for
from ..files.recording import Wanted

ROWS = 1_000_000
"""Rows of a part, unless a single row group has more: a task holds about ten times the bytes of its rows."""


@dataclass(frozen=True)
class Part:
    """Rows `offset` to `offset + rows` of the whole: some row groups of a file that must not change meanwhile."""

    index: int
    path: str
    groups: tuple[int, int]
    rows: int
    offset: int
    size: int
    changed: int

    @property
    def name(self) -> str:
        return f"part-{self.index:05d}"

    @property
    def about(self) -> str:
        return f"partition {self.index} ({self.path})"


@dataclass(frozen=True, eq=False)
class Rows:
    """Positions, velocities where there are any, and what else the part says of its rows."""

    x: FloatArray
    v: FloatArray | None
    time: NDArray[Any] | None
    trajectory: NDArray[Any] | None


def find_files(data: Any) -> list[Path]:
    """Parquet files of a folder, a pattern, or a list of them."""
    given = [data] if isinstance(data, str | os.PathLike) else list(data)
    if not given:
        raise MissingFile("Expected at least one Parquet file, got none.")
    files: list[Path] = []
    for one in given:
        path, found = Path(one), [Path(one)]
        if path.is_dir():
            found = [p for p in path.rglob("*") if p.suffix in PARQUET.suffixes and not p.name.startswith(".")]
        elif glob.has_magic(str(one)) and not path.exists():
            found = [Path(p) for p in glob.glob(str(one), recursive=True)]
        if not found:
            what = f"Parquet files in the folder {path}" if path.is_dir() else f"files that match {one}"
            raise (EmptyFile if path.is_dir() else MissingFile)(f"Expected {what}, found none.")
        files += sorted(found, key=lambda p: natural_order(str(p)))
    return files


@contextmanager
def _opened(path: Path, number: int) -> Iterator[Any]:
    """A Parquet file; whatever is wrong with it is said with the number of its partition."""
    _, pq = arrow()
    if not path.exists():
        raise MissingFile(f"Expected partition {number} at {path}, found nothing there.")
    try:
        with parsing(path, PARQUET.kind), pq.ParquetFile(path, memory_map=True) as table:
            yield table
    except FileError as error:
        raise type(error)(f"Partition {number}: {error}") from error


def open_parts(files: Sequence[Path], wanted: Wanted, rows: int = ROWS) -> tuple[list[Part], Columns]:
    """The parts of all files, and what their columns are; only the descriptions of the files are read.

    Files without rows have no part.
    """
    parts: list[Part] = []
    columns: Columns | None = None
    offset = 0
    for number, path in enumerate(files):
        with _opened(path, number) as table:
            state = path.stat()
            names = list(numbers_of(table))
            counts = [table.metadata.row_group(g).num_rows for g in range(table.metadata.num_row_groups)]
        if columns is None:
            columns = recognise(path, names, wanted)
        missing = [n for n in columns.all if n not in names]
        if missing:
            raise UnknownColumns(
                f"Expected the columns {list(columns.all)} of {files[0]} in every partition, got none called {missing[0]!r} in "
                f"partition {number} ({path})."
            )
        ends = np.cumsum([0, *counts])
        start = 0
        while start < len(counts):
            # As many row groups as fit, one at least.
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] + rows, side="right")) - 1)
            if size := int(ends[stop] - ends[start]):
                about = (str(path.absolute()), (start, stop), size, offset, state.st_size, state.st_mtime_ns)
                parts.append(Part(len(parts), *about))
            offset, start = offset + size, stop
    assert columns is not None
    if offset == 0:
        raise EmptyFile(f"Expected rows in {files[0]}, got tables without any.")
    return parts, columns


def read_part(part: Part, columns: Columns) -> Rows:
    """The rows of a part, checked: finite numbers, in the number and from the file that was opened."""
    path = Path(part.path)
    if not path.exists():
        raise MissingFile(f"Expected {part.about}, found nothing there: it was there when the run began.")
    with _opened(path, part.index) as table:
        state = path.stat()
        if (state.st_size, state.st_mtime_ns) != (part.size, part.changed):
            raise UnreadableFile(
                f"Expected {path} as it was when the run began, got a file that has changed. Run again."
            )
        blocks = list(batches(table, columns, path, range(*part.groups)))
    if sum(len(block[columns.position[0]]) for block in blocks) != part.rows:
        raise UnreadableFile(f"Expected {part.rows} rows in {part.about}, got another number.")

    whole = {name: np.concatenate([block[name] for block in blocks]) for name in columns.all}
    x = np.column_stack([whole[name] for name in columns.position])
    v = np.column_stack([whole[name] for name in columns.velocity]) if columns.velocity else None
    check_finite(x, f"positions in {part.about}")
    if v is not None:
        check_finite(v, f"velocities in {part.about}")
    return Rows(x, v, *(whole[name] if name else None for name in (columns.time, columns.trajectory)))


def fingerprint(parts: Sequence[Part], columns: Columns, settings: dict[str, Any]) -> str:
    """Changes when a file, its rows or columns, or a setting changes: the work done so far is then of no use."""
    said = json.dumps([[asdict(p) for p in parts], columns.all, settings], sort_keys=True, default=str)
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def written(data: Any, client: Any, folder: Path) -> tuple[list[Path], str]:
    """A Dask DataFrame or Array as Parquet files of the work folder, and a name that changes with it."""
    import dask.dataframe as dd
    from dask.base import tokenize

    if hasattr(data, "chunks"):
        if data.ndim != 2 or data.shape[1] % 2 or data.shape[1] < 4:
            raise DataError(
                f"Expected a Dask Array (n, 2 d) of d positions and then d velocities, got shape {data.shape}."
            )
        names = [f"{letter}{i + 1}" for letter in "xv" for i in range(data.shape[1] // 2)]
        data = dd.from_dask_array(data.rechunk({1: -1}), columns=names)
    name = str(tokenize(data))
    place = folder / "work" / "input" / name
    if not (place / "whole").exists():
        client.compute(data.to_parquet(str(place), write_index=False, compute=False), sync=True)
        (place / "whole").touch()
    return find_files(place), name


def arrow() -> tuple[Any, Any]:
    return pyarrow_for("eigenwell.distributed", "dask")
