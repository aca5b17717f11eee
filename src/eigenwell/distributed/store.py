"""The store of a run, a folder: what tasks leave for each other, whole or not at all, checked before it is used again.

A task of a stage leaves arrays `work/<stage>/<task>.<name>.npy`, tables anywhere in the folder, and at last a record
`work/<stage>/<task>.json` with the size and checksum of each. What has no record that fits was never finished.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EigenwellError

CHUNK = 1 << 22
"""Bytes checked at once."""


class StageFileLost(EigenwellError):
    """A file that a stage has left is gone or is not whole any more; the stage has to make it again."""


@dataclass(frozen=True)
class Products:
    """What a task makes: large arrays by name, tables (pyarrow) by path in the folder, and a summary of plain numbers."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)


def keep(folder: Path, stage: str, task: str, key: str, run: str, products: Products) -> dict[str, Any]:
    """Write everything a task made, its record last; gives the summary back."""
    place = folder / "work" / stage
    place.mkdir(parents=True, exist_ok=True)
    files: dict[str, list[int]] = {}
    for name, array in products.arrays.items():
        path = place / f"{task}.{name}.npy"
        files[str(path.relative_to(folder))] = put(path, partial(_write_array, array))
    for name, table in products.tables.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files[name] = put(path, partial(_write_table, table))
    record = {"key": key, "run": run, "files": files, "summary": products.summary}
    # Not awaited on the disk: a record that is lost, or is there without its files, means that the task is done again.
    put(place / f"{task}.json", lambda handle: handle.write(json.dumps(record).encode()))
    return products.summary


def put(path: Path, write: Callable[[Any], Any], lasting: bool = False) -> list[int]:
    """Write aside, then rename: [size, checksum]. `lasting` files are on the disk before they get their name."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            counted = _Counted(file)
            write(counted)
            if lasting:
                os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return [counted.size, counted.checksum]


class _Counted:
    """A file to write to that keeps count of its bytes and their checksum."""

    def __init__(self, file: Any) -> None:
        self.file, self.size, self.checksum, self.closed = file, 0, 0, False

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            done += self.file.write(view[done:])
        self.size, self.checksum = self.size + len(view), zlib.crc32(view, self.checksum)
        return len(view)

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def _checksum(file: Any) -> list[int]:
    file.seek(0)
    size = checksum = 0
    while block := file.read(CHUNK):
        size, checksum = size + len(block), zlib.crc32(block, checksum)
    return [size, checksum]


def finished(folder: Path, stage: str, task: str, key: str) -> dict[str, Any] | None:
    """The summary of a task that was finished under this key and whose files are all whole; None otherwise."""
    record = _record(folder / "work" / stage / f"{task}.json")
    if record is None or record["key"] != key or not _whole(folder, record):
        return None
    return dict(record["summary"])


def intact(folder: Path, stages: Sequence[str], run: str) -> bool:
    """Whether these stages have left something, all of it in this run, and all of it is whole."""
    for stage in stages:
        records = [_record(path) for path in (folder / "work" / stage).glob("*.json")]
        if not records or not all(r is not None and r["run"] == run and _whole(folder, r) for r in records):
            return False
    return True


def _record(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_bytes())
        return record if {"key", "run", "files", "summary"} <= record.keys() else None
    except (OSError, ValueError, AttributeError):
        return None


def _whole(folder: Path, record: dict[str, Any]) -> bool:
    try:
        for name, measure in record["files"].items():
            path = folder / name
            if path.stat().st_size != measure[0]:
                return False
            with path.open("rb") as file:
                if _checksum(file) != measure:
                    return False
    except OSError:
        return False
    return True


def fetch(folder: Path, stage: str, task: str, name: str) -> NDArray[Any]:
    """An array that a task left, memory-mapped: only the rows that are looked at are read."""
    path = folder / "work" / stage / f"{task}.{name}.npy"
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    except (OSError, ValueError, EOFError) as error:
        raise StageFileLost(f"{stage} {task}: {path} is missing or not whole ({error})") from error


def _write_array(array: NDArray[Any], handle: Any) -> None:
    np.save(handle, array, allow_pickle=False)


def _write_table(table: Any, handle: Any) -> None:
    import pyarrow.parquet as pq

    # Coordinates hardly repeat: dictionaries and compression cost more time than they save space.
    pq.write_table(table, handle, compression="none", use_dictionary=False, write_statistics=False)


def settle(paths: list[Path]) -> None:
    """Return when the files are on the disk."""
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())


def sweep(folder: Path) -> None:
    """Remove what tasks were writing when they were killed."""
    for path in folder.rglob(".*.part"):
        path.unlink(missing_ok=True)
