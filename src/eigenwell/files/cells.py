"""Trajectories kept one by one: cells in a MAT file, cells in cells, struct arrays with fields of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from ..demonstrations import Caution
from .arrays import POSITIONS, VELOCITIES, of_table
from .columns import TIME_NAMES, listed, plain
from .errors import UnknownColumns
from .recording import Recording, Wanted


def trajectories(path: Path, content: dict[str, Any], wanted: Wanted) -> Recording | None:
    """The variable that holds trajectories one by one; None where no variable does."""
    found: dict[str, Recording] = {}
    for name, value in content.items():
        if not isinstance(value, list):
            continue
        structs = [item for item in _leaves(value) if isinstance(item, dict)]
        arrays = [item for item in _leaves(value) if _is_table(item)]
        if structs:
            one = _of_structs(path, name, structs, wanted)
            if one is not None:
                found[name] = one
        elif arrays:
            tables, cautions = _upright(path, name, arrays)
            numbers = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
            found[name] = of_table(path, np.concatenate(tables), numbers, cautions, wanted)
    if len(found) > 1:
        raise UnknownColumns(
            f"Expected one variable with trajectories in {path}, found {listed(found)}. Save the one you mean alone."
        )
    return next(iter(found.values()), None)


def _leaves(value: Any) -> Iterator[Any]:
    """What is in cells, and in cells in cells."""
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _is_table(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.ndim == 2 and value.size > 1


def _upright(path: Path, name: str, arrays: list[NDArray[Any]]) -> tuple[list[FloatArray], tuple[Caution, ...]]:
    """The arrays with a row for each sample: the side of one length is that of the coordinates."""
    rows, columns = {a.shape[0] for a in arrays}, {a.shape[1] for a in arrays}
    if len(rows) > 1 and len(columns) > 1:
        raise UnknownColumns(
            f"Expected {name} in {path} as trajectories (d, T) or (T, d) with one d, got shapes "
            f"{listed(str(a.shape) for a in arrays[:5])}."
        )
    if len(rows) == 1 and len(columns) == 1:
        turned = next(iter(rows)) < next(iter(columns))
        if rows == columns:
            raise UnknownColumns(
                f"Expected {name} in {path} as trajectories (d, T) or (T, d), got square arrays {arrays[0].shape}: either side "
                "could be time. Save each with one more or one fewer sample."
            )
    else:
        turned = len(rows) == 1
    upright = [np.asarray(a.T if turned else a, dtype=np.float64) for a in arrays]
    told = Caution("turned", f"The arrays of {name} in {path.name} were turned, so that each row is a sample.")
    return upright, (told,) if turned else ()


def _of_structs(path: Path, name: str, structs: list[dict[str, Any]], wanted: Wanted) -> Recording | None:
    """A struct for each trajectory, its fields named as positions, velocities and time are."""
    fields = {plain(str(key)): str(key) for key in structs[0]}
    asked = wanted.position[0] if wanted.position and len(wanted.position) == 1 else None
    x_name = asked if asked in structs[0] else next((fields[k] for k in POSITIONS if k in fields), None)
    if x_name is None or any(not _is_table(item.get(x_name)) for item in structs):
        tables = [key for key, value in structs[0].items() if _is_table(value)]
        if not tables:
            return None
        raise UnknownColumns(
            f"Expected a field of positions (pos, x, q) in the structs {name} of {path}, found {listed(tables)}. Say which: "
            "position=... (--position)."
        )
    x, cautions = _upright(path, f"{name}.{x_name}", [item[x_name] for item in structs])
    v: list[FloatArray] | None = None
    for key in (fields[k] for k in VELOCITIES if k in fields):
        parts: list[Any] = [item.get(key) for item in structs]
        if v is None and all(_is_table(p) for p in parts):
            upright = [np.asarray(p.T if cautions else p, dtype=np.float64) for p in parts]
            v = upright if [p.shape for p in upright] == [p.shape for p in x] else None
    time_name = next((fields[k] for k in TIME_NAMES if k in fields), "")
    times = [np.ravel(np.asarray(item.get(time_name))) for item in structs] if time_name else None
    read = f"Read {name}.{x_name} as position" + (f", {name}.{time_name} as time." if time_name else ".")
    return replace(joined(path, x, v, times, time_name), warnings=cautions, about=read)


def joined(
    path: Path,
    x: Sequence[FloatArray],
    v: Sequence[FloatArray] | None,
    time: Sequence[NDArray[Any]] | None,
    time_name: str = "t",
) -> Recording:
    """Trajectories one after the other, which have as many velocities and times as positions."""
    lengths = [len(a) for a in x]
    if len({a.shape[1] for a in x}) != 1:
        raise UnknownColumns(f"Expected the same number of coordinates in every demonstration of {path}.")
    for other in (v, time):
        if other is not None and [len(a) for a in other] != lengths:
            raise UnknownColumns(f"Expected velocities and times as long as positions in {path}.")
    speeds, times = (None if parts is None else np.concatenate(parts) for parts in (v, time))
    return Recording(np.concatenate(x), speeds, times, np.repeat(np.arange(len(x)), lengths), time_name)
