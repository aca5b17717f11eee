"""Tables with named columns: pandas, polars and Arrow, known by what they can do, never imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import TIME_NAMES, TRAJECTORY_NAMES, plain, recognise
from .errors import EmptyFile, UnknownColumns
from .recording import Recording, Wanted

Table = dict[str, NDArray[Any]]


def columns_of(frame: Any) -> Table:
    """Name -> column, lists of one length spread over columns name.0, name.1, ...; an index that is time comes along."""
    names = frame.column_names if hasattr(frame, "column_names") else list(frame.columns)
    out: Table = {}
    index = getattr(frame, "index", None)
    if index is not None and not callable(index):
        called = plain(str(getattr(index, "name", None) or ""))
        dated = np.asarray(index).dtype.kind == "M"
        if dated or called in TIME_NAMES or called in TRAJECTORY_NAMES:
            out[str(index.name or "time")] = np.asarray(index)
    for name in names:
        column = frame.column(name) if hasattr(frame, "column_names") else frame[name]
        out |= spread(str(name), column.to_numpy())
    return out


def spread(name: str, column: NDArray[Any]) -> Table:
    """A column of numbers as it is; one of lists, or a matrix, as many columns; anything else (pictures, words) as it is."""
    if column.dtype == object and len(column) and isinstance(column[0], list | tuple | np.ndarray):
        if len({len(cell) for cell in column}) != 1:
            return {}
        column = np.stack([np.asarray(c) for c in column])
    return {name: column} if column.ndim != 2 else {f"{name}.{i}": part for i, part in enumerate(column.T)}


def from_table(path: Path, table: Mapping[str, NDArray[Any]], wanted: Wanted) -> Recording:
    """Columns by their names; those that hold no numbers count as time or trajectory only."""
    if not table or len(next(iter(table.values()))) == 0:
        raise EmptyFile(f"Expected rows in {path}, got a table without any.")
    single = {wanted.time, wanted.trajectory, wanted.task}
    known = {
        n: c
        for n, c in table.items()
        if _numbers(c).dtype.kind in "fiub" or n in single or plain(n) in (*TIME_NAMES, *TRAJECTORY_NAMES)
    }
    if not known:
        raise UnknownColumns(f"Expected columns of numbers in {path}, found {', '.join(list(table)[:30])}.")
    columns = recognise(path, list(known), wanted)
    numbers = {
        n: _numbers(c) if n not in (columns.time, columns.trajectory, columns.task) else c for n, c in known.items()
    }
    return columns.recording(numbers).thinned(wanted.every)


def from_frame(frame: Any, wanted: Wanted, name: str) -> Recording:
    return replace(from_table(Path(name), columns_of(frame), wanted), name=name)


def _numbers(column: NDArray[Any]) -> NDArray[Any]:
    """Numbers with holes (None, pandas.NA) as floats with NaN; words as they are."""
    if column.dtype != object:
        return column
    try:
        missing = np.array([cell is None or cell != cell or str(cell) == "<NA>" for cell in column])
        return np.where(missing, np.nan, np.where(missing, 0.0, column).astype(np.float64))
    except (ValueError, TypeError):
        return column
