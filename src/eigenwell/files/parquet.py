"""Parquet and Feather tables and LeRobot data sets (v2.1 and v3); Parquet is read row group by row group."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data_frames import sample_columns
from ..demonstrations import Demonstrations
from ..errors import missing_extra
from .columns import Columns, recognise
from .errors import EmptyFile, TooLarge, UnreadableFile, parsing
from .frames import columns_of, from_table
from .recording import Format, Recording, Wanted
from .thinning import Block, Thinner

ROWS = 1 << 16
"""Rows decoded at once."""
NONE: Mapping[str, list[Any]] = {}
LARGEST_FOOTER = 1 << 26
"""Bytes of description; pyarrow decodes all of it before the first row."""


def read_lerobot(folder: Path, wanted: Wanted) -> Recording:
    """A LeRobot data set, v2.1 or v3: every data file of it, `observation.state` as position unless told otherwise."""
    info = _info(folder)
    files = sorted((folder / "data").rglob("*.parquet"))
    if not files:
        raise EmptyFile(
            f"Expected data/chunk-*/*.parquet in the LeRobot data set {folder}, found none. Is it downloaded?"
        )
    named = {key: item.get("names") for key, item in info.get("features", {}).items() if isinstance(item, dict)}
    aliases = {key: names for key, names in named.items() if isinstance(names, list)}
    recording = read_tables(files, wanted, aliases, lerobot=True)
    fps = info.get("fps")
    if recording.time is None and wanted.dt is None and isinstance(fps, int | float) and fps > 0:
        group = np.zeros(len(recording.x)) if recording.trajectory is None else recording.trajectory
        begins = np.diff(group, prepend=-1) != 0
        frame = np.arange(len(group)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
        return replace(recording, time=frame / float(fps), time_name="time_s")
    return recording


def task_names(folder: Path) -> dict[int, str]:
    """Tasks by number, of `meta/tasks.jsonl` (v2.1) or `meta/tasks.parquet` (v3); none where neither can be read."""
    lines, table = folder / "meta" / "tasks.jsonl", folder / "meta" / "tasks.parquet"
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        if lines.is_file():
            rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines() if line.strip()]
            return {int(row["task_index"]): str(row["task"]) for row in rows}
        if table.is_file():
            read = _arrow()[1].read_table(table).to_pydict()
            said: list[Any] = next((values for key, values in read.items() if key != "task_index"), [])
            return {int(i): str(s) for i, s in zip(read["task_index"], said, strict=True)}
    return {}


def lerobot_columns(folder: Path) -> tuple[str, ...]:
    return tuple(_info(folder).get("features", {}))


def is_lerobot(folder: Path) -> bool:
    return (folder / "meta" / "info.json").is_file()


def _info(folder: Path) -> dict[str, Any]:
    path = folder / "meta" / "info.json"
    with parsing(path, "the description of a LeRobot data set (JSON)"):
        info = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(info, dict):
        raise UnreadableFile(f"Expected a JSON object in {path}, got {type(info).__name__}.")
    return info


def read_tables(
    paths: Sequence[Path], wanted: Wanted, aliases: dict[str, list[Any]], lerobot: bool = False
) -> Recording:
    """The wanted columns of tables of one schema, one after the other."""
    _, pq = _arrow()
    thinner = Thinner(wanted.every)
    columns: Columns | None = None
    for path in paths:
        _check_footer(path)
        with parsing(path, "a Parquet table"), pq.ParquetFile(path, memory_map=True) as table:
            if columns is None:
                columns = _recognised(path, numbers_of(table, aliases), wanted, lerobot)
            for block in batches(table, columns, path, aliases=aliases):
                thinner.add(block, block[columns.trajectory] if columns.trajectory else None)
    assert columns is not None
    stack = thinner.result()
    if not stack:
        raise EmptyFile(f"Expected rows in {paths[0]}, got a table without any.")
    return columns.recording(stack)


def _recognised(path: Path, numbers: dict[str, tuple[str, int | None]], wanted: Wanted, lerobot: bool) -> Columns:
    names = list(numbers)
    if not lerobot or wanted.position is not None:
        return recognise(path, names, wanted)
    state = tuple(n for n, (column, _) in numbers.items() if column == "observation.state")
    if not state:
        return recognise(path, names, wanted)
    time, trajectory = (
        said or (name if name in names else None)
        for said, name in ((wanted.time, "timestamp"), (wanted.trajectory, "episode_index"))
    )
    chosen = Wanted(state, wanted.velocity, time, trajectory, task=wanted.task)
    # Only what was chosen: actions and rewards would be mistaken for coordinates.
    return recognise(path, [n for n in names if n in chosen.names], chosen)


def numbers_of(table: Any, aliases: Mapping[str, list[Any]] = NONE) -> dict[str, tuple[str, int | None]]:
    """Name of every column of numbers of an open file -> (column of the table, place in its list or None)."""
    pa, _ = _arrow()
    out: dict[str, tuple[str, int | None]] = {}
    for field in table.schema_arrow:
        kind = field.type
        if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
            if not (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)):
                continue
            size = kind.list_size if pa.types.is_fixed_size_list(kind) else _list_size(table, field.name)
            known = aliases.get(field.name, [])
            for i in range(size):
                label = known[i] if len(known) == size else i
                out[f"{field.name}.{label}"] = (field.name, i)
        elif not pa.types.is_nested(kind):
            out[field.name] = (field.name, None)
    return out


def _list_size(table: Any, name: str) -> int:
    for batch in table.iter_batches(batch_size=1, columns=[name]):
        return len(batch.column(0)[0].as_py() or ())
    return 0


def batches(
    table: Any,
    columns: Columns,
    path: Path,
    groups: Sequence[int] | None = None,
    aliases: Mapping[str, list[Any]] = NONE,
) -> Iterator[Block]:
    """The wanted columns of an open file, of some of its row groups or of all, block by block."""
    numbers = numbers_of(table, aliases)
    needed = sorted({numbers[n][0] for n in columns.all})
    chosen = None if groups is None else list(groups)
    for batch in table.iter_batches(batch_size=ROWS, row_groups=chosen, columns=needed, use_threads=False):
        whole = {name: _array(batch.column(name), name, path) for name in needed}
        out = {}
        for name in columns.all:
            column, place = numbers[name]
            data, single = whole[column], name in (columns.trajectory, columns.time, columns.task)
            if place is not None:
                if data.ndim != 2 or place >= data.shape[1]:
                    raise UnreadableFile(
                        f"Expected lists of one length in column {column!r} of {path}, got several lengths."
                    )
                data = data[:, place]
            if not single and data.dtype.kind not in "fiubM":
                raise UnreadableFile(
                    f"Expected numbers in column {name!r} of {path}, got {data.dtype}. Map another column."
                )
            out[name] = data if single else data.astype(np.float64)
        yield out


def _array(column: Any, name: str, path: Path) -> NDArray[Any]:
    if hasattr(column, "flatten") and hasattr(column.type, "value_type"):
        flat = column.flatten().to_numpy(zero_copy_only=False)
        if len(column) == 0 or len(flat) % len(column):
            raise UnreadableFile(f"Expected lists of one length in column {name!r} of {path}, got several lengths.")
        return np.asarray(flat).reshape(len(column), -1)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _check_footer(path: Path) -> None:
    """A Parquet file ends in the length of its footer and 'PAR1'."""
    size = path.stat().st_size
    with path.open("rb") as handle:
        handle.seek(max(0, size - 8))
        tail = handle.read(8)
    if len(tail) < 8 or tail[4:] != b"PAR1":
        raise UnreadableFile(
            f"Expected a Parquet table in {path}, got a file without its end mark: truncated, or not Parquet."
        )
    footer = int.from_bytes(tail[:4], "little")
    if footer > LARGEST_FOOTER:
        raise TooLarge(
            f"Expected a description of at most {LARGEST_FOOTER >> 20} MB in {path}, got {footer >> 20} MB: far "
            "too many columns. "
            "One row per sample, one column per coordinate."
        )


def _arrow() -> tuple[Any, Any]:
    return pyarrow_for("Reading and writing Parquet", "files")


def pyarrow_for(what: str, extra: str, part: str = "parquet") -> tuple[Any, Any]:
    """pyarrow and its reader of a format, or the pip line of the extra that brings them."""
    try:
        return import_module("pyarrow"), import_module(f"pyarrow.{part}")
    except ImportError as error:
        raise missing_extra(what, "pyarrow", extra) from error


def _write(path: Path, demos: Demonstrations) -> None:
    pa, pq = _arrow()
    pq.write_table(_table(pa, demos), path)


def _read_feather(path: Path, wanted: Wanted) -> Recording:
    """A table as pandas, polars and R write it: Feather and Arrow IPC."""
    _, feather = pyarrow_for("Reading Feather", "files", "feather")
    return from_table(path, columns_of(feather.read_table(path)), wanted)


def _write_feather(path: Path, demos: Demonstrations) -> None:
    pa, feather = pyarrow_for("Writing Feather", "files", "feather")
    feather.write_feather(_table(pa, demos), str(path))


def _table(pa: Any, demos: Demonstrations) -> Any:
    return pa.table({name: np.ascontiguousarray(column) for name, column in sample_columns(demos).items()})


PARQUET = Format((".parquet", ".pq"), "a Parquet table", lambda path, wanted: read_tables([path], wanted, {}), _write)
FEATHER = Format((".feather", ".arrow", ".ipc"), "a Feather table", _read_feather, _write_feather)
