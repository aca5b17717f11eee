"""The store of a run, a folder: what tasks leave for each other, whole or not at all, checked before it is used again.

A task of a stage leaves arrays `work/<stage>/<task>.<name>.npy`, tables anywhere in the folder, and at last a record
`work/<stage>/<task>.json` with the size and checksum of each. What has no record that fits was never finished.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EigenwellError
from ..files.atomic import replacing

CHUNK = 1 << 22
"""Bytes checked at once."""
_PARSING = threading.Lock()


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
    place = Path("work", stage)
    measures = {}
    for name, array in products.arrays.items():
        file = str(place / f"{task}.{name}.npy")
        measures[file] = put(folder / file, partial(np.save, arr=array, allow_pickle=False))
    for name, table in products.tables.items():
        measures[name] = put(folder / name, partial(write_table, table), lasting=True)  # a part of the result
    record = {"key": key, "run": run, "files": measures, "summary": products.summary}
    # Not awaited on the disk: a record that is lost, or is there without its files, means that the task is done again.
    put(folder / place / f"{task}.json", lambda file: file.write(json.dumps(record).encode()))
    return products.summary


def put(path: Path, write: Callable[[Any], Any], lasting: bool = False) -> list[int]:
    """Write aside, then rename: [size, checksum]. `lasting` files are on the disk before they get their name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("w+b") as file:
        write(file)
        if lasting:
            file.flush()
            os.fsync(file.fileno())
        return _measured(file)


def write_table(table: Any, file: Any) -> None:
    import pyarrow.parquet as pq

    # Coordinates hardly repeat: dictionaries and compression cost more time than they save space.
    pq.write_table(table, file, compression="none", use_dictionary=False, write_statistics=False)


def _measured(file: Any) -> list[int]:
    """Size and checksum of an open file."""
    file.seek(0)
    size = checksum = 0
    while block := file.read(CHUNK):
        size, checksum = size + len(block), zlib.crc32(block, checksum)
    return [size, checksum]


def finished(folder: Path, stage: str, task: str, key: str) -> dict[str, Any] | None:
    """The summary of a task that was finished under this key and whose files are all whole; None otherwise."""
    record = _record(folder, folder / "work" / stage / f"{task}.json", key=key)
    return None if record is None else dict(record["summary"])


def intact(folder: Path, stages: Sequence[str], run: str) -> bool:
    """Whether these stages have left something, all of it in this run, and all of it is whole."""
    left = [list((folder / "work" / stage).glob("*.json")) for stage in stages]
    return all(left) and all(_record(folder, path, run=run) is not None for paths in left for path in paths)


def _record(folder: Path, path: Path, **expected: str) -> dict[str, Any] | None:
    """The record of a task, where it says what is expected and all the task's files are whole."""
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        if any(record[name] != value for name, value in expected.items()):
            return None
        for name, measure in record["files"].items():
            with (folder / name).open("rb") as file:
                if os.fstat(file.fileno()).st_size != measure[0] or _measured(file) != measure:
                    return None
        return record
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return None


def fetch(folder: Path, stage: str, task: str, name: str) -> NDArray[Any]:
    """An array that a task left, memory-mapped: only the rows that are looked at are read."""
    path = folder / "work" / stage / f"{task}.{name}.npy"
    try:
        # The header is read by Python's parser, of which 3.11 allows one at a time.
        with _PARSING:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    except (OSError, ValueError, EOFError) as error:
        raise StageFileLost(f"{stage} {task}: {path} is missing or not whole ({error})") from error


def own(folder: Path, stage: str, *names: str) -> list[NDArray[Any]]:
    """Arrays that a stage of one task left, in memory."""
    return [np.array(fetch(folder, stage, stage, name)) for name in names]


def fetch_all(folder: Path, stage: str, tasks: Sequence[str], name: str, piece: int | None = None) -> NDArray[Any]:
    """The arrays that these tasks left, one after the other; or of each the rows of one piece, by its `bounds`."""
    arrays = [fetch(folder, stage, task, name) for task in tasks]
    if piece is not None:
        ends = [fetch(folder, stage, task, "bounds")[piece : piece + 2] for task in tasks]
        arrays = [array[int(a) : int(b)] for array, (a, b) in zip(arrays, ends, strict=True)]
    return np.concatenate(arrays)


def sweep(folder: Path) -> None:
    """Remove what tasks were writing when they were killed."""
    for suffix in (".npy", ".json", ".parquet"):
        for path in folder.rglob(f".*{suffix}"):
            path.unlink(missing_ok=True)
