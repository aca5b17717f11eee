"""Trajectories kept one by one: cells in a MAT file, cells in cells, struct arrays with fields of their own."""

from __future__ import annotations

from collections.abc import Iterator
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
            table, lengths, cautions = _upright(path, name, arrays)
            found[name] = of_table(path, table, np.repeat(np.arange(len(lengths)), lengths), cautions, wanted)
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


def _upright(path: Path, name: str, arrays: list[NDArray[Any]]) -> tuple[FloatArray, list[int], tuple[Caution, ...]]:
    """All arrays one below the other, a row for each sample: the side of one length is that of the coordinates."""
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
    return np.concatenate(upright), [len(a) for a in upright], (told,) if turned else ()


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
    x, lengths, cautions = _upright(path, f"{name}.{x_name}", [item[x_name] for item in structs])
    v = _beside(structs, fields, VELOCITIES, lengths, x.shape[1], bool(cautions))
    time_name = next((fields[k] for k in TIME_NAMES if k in fields), None)
    times = None if time_name is None else [np.ravel(np.asarray(item.get(time_name))) for item in structs]
    if times is not None and [len(t) for t in times] != lengths:
        raise UnknownColumns(f"Expected times as long as positions in the structs {name} of {path}.")
    return Recording(
        x,
        v,
        None if times is None else np.concatenate(times),
        np.repeat(np.arange(len(lengths)), lengths),
        time_name or "",
        cautions,
        about=f"Read {name}.{x_name} as position" + (f", {name}.{time_name} as time." if time_name else "."),
    )


def _beside(
    structs: list[dict[str, Any]],
    fields: dict[str, str],
    known: tuple[str, ...],
    lengths: list[int],
    d: int,
    turned: bool,
) -> FloatArray | None:
    """Velocities of the shapes of the positions, where there are such."""
    for key in (fields[k] for k in known if k in fields):
        parts = [item.get(key) for item in structs]
        if all(_is_table(p) for p in parts):
            upright = [np.asarray(p, dtype=np.float64) for p in parts]
            upright = [p.T if turned else p for p in upright]
            if [p.shape for p in upright] == [(n, d) for n in lengths]:
                return np.concatenate(upright)
    return None
