"""MATLAB files: plain matrices, structs or cells of trajectories (LASA's `demos`), and the `demo` layout of hand-drawn data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..demonstrations import Demonstrations
from .arrays import POSITIONS, VELOCITIES, as_arrays, from_arrays, joined, of_tables, upright
from .columns import TIME_NAMES, check_count, listed, plain
from .errors import EmptyFile, UnknownColumns, UnreadableFile
from .mat_reader import load
from .recording import Format, Recording, Wanted


def _read(path: Path, wanted: Wanted) -> Recording:
    return _recording(path, wanted).thinned(wanted.every)


def _recording(path: Path, wanted: Wanted) -> Recording:
    with path.open("rb") as handle:
        head = handle.read(128)
    if b"MATLAB 7.3" in head or head.startswith(b"\x89HDF"):
        raise UnreadableFile(
            f"Expected a MAT file of version 4 to 7 in {path}, got version 7.3 (HDF5). In MATLAB: save(..., '-v7')."
        )
    content = load(path)
    for inside in list(_leaves(content.get("DataStruct")))[:1]:
        content = inside if isinstance(inside, dict) else content
    if "demo" in content and "demo_struct" in content:
        return _drawn(path, content["demo"], content["demo_struct"])
    found = {n: one for n, value in content.items() if (one := _one_by_one(path, n, value, wanted)) is not None}
    found = {"demos": found["demos"]} if "demos" in found else found
    if len(found) > 1:
        raise UnknownColumns(
            f"Expected one variable with trajectories in {path}, found {listed(found)}. Save the one you mean alone."
        )
    if found:
        return next(iter(found.values()))
    if "demos" in content:
        raise UnknownColumns(f"Expected structs with fields pos, vel, t as demos in {path}, found none.")
    arrays = {name: a for name, a in content.items() if isinstance(a, np.ndarray)}
    flat = {name: a.reshape(-1) if a.ndim == 2 and 1 in a.shape else a for name, a in arrays.items()}
    return from_arrays(path, flat, wanted)


def _write(path: Path, demos: Demonstrations) -> None:
    from scipy.io import savemat

    with path.open("wb") as handle:
        savemat(handle, as_arrays(demos), do_compression=False)


def _leaves(value: Any) -> Iterator[Any]:
    """What is in cells, and in cells in cells."""
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _is_table(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.ndim == 2 and value.size > 1


def _one_by_one(path: Path, name: str, value: Any, wanted: Wanted) -> Recording | None:
    """Cells, or structs in cells or in an array, as trajectories; None where a variable has neither."""
    if not isinstance(value, list):
        return None
    structs = [item for item in _leaves(value) if isinstance(item, dict)]
    if structs:
        return _of_structs(path, name, structs, wanted)
    arrays = [item for item in _leaves(value) if _is_table(item)]
    return of_tables(path, *upright(path, name, arrays), wanted) if arrays else None


def _of_structs(path: Path, name: str, structs: list[dict[str, Any]], wanted: Wanted) -> Recording | None:
    """A struct for each trajectory, its fields named as positions, velocities and time are."""
    fields = {plain(str(key)): str(key) for key in structs[0]}
    tables = [key for key in structs[0] if all(_is_table(item.get(key)) for item in structs)]

    def first(known: tuple[str, ...]) -> str | None:
        return next((fields[k] for k in known if fields.get(k) in tables), None)

    asked = wanted.position[0] if wanted.position and len(wanted.position) == 1 else None
    x_name = asked if asked in tables else first(POSITIONS)
    if x_name is None:
        if not any(map(_is_table, structs[0].values())):
            return None
        raise UnknownColumns(
            f"Expected a field of positions (pos, x, q) in the structs {name} of {path}, found {listed(tables)}. Say which: "
            "position=... (--position)."
        )
    x, cautions = upright(path, f"{name}.{x_name}", [item[x_name] for item in structs])
    v_name, time_name = first(VELOCITIES), first(TIME_NAMES)
    check_count(path, x[0].shape[1])
    v = None if v_name is None else [item[v_name].T if cautions else item[v_name] for item in structs]
    times = None if time_name is None else [np.ravel(item[time_name]) for item in structs]
    read = f"Read {name}.{x_name} as position" + (f", {name}.{time_name} as time." if time_name else ".")
    return replace(joined(path, x, v, times, time_name or ""), warnings=cautions, about=read)


def _drawn(path: Path, demo: Any, struct: Any) -> Recording:
    """Cells `demo` (rows, T); `demo_struct` names the rows: position (d), velocity (d), time (1), labels (1)."""
    names = [str(name).strip().lower() for name in _leaves(struct)]
    if "position" not in names or not set(names) <= {"position", "velocity", "time", "labels"}:
        raise UnknownColumns(
            f"Expected demo_struct in {path} to name position, velocity, time, labels; found {listed(names)}."
        )
    found: dict[str, list[Any]] = {name: [] for name in ("position", "velocity", "time", "labels")}
    widths = [name in ("position", "velocity") for name in names]
    for k, cell in enumerate(_leaves(demo)):
        if not _is_table(cell):
            raise UnknownColumns(f"Expected demo {k} of {path} as a matrix of numbers, one column per sample.")
        check_count(path, len(cell))
        d, left = divmod(len(cell) - widths.count(False), widths.count(True))
        if d < 1 or left:
            raise UnknownColumns(
                f"Expected rows for {', '.join(names)} in every demo of {path}, got {len(cell)} rows in demo {k}."
            )
        ends = np.cumsum([d if wide else 1 for wide in widths])
        for name, wide, part in zip(names, widths, np.split(cell.T, ends[:-1], axis=1), strict=True):
            found[name].append(part if wide else part[:, 0])
    if not found["position"]:
        raise EmptyFile(f"Expected demonstrations in {path}, got an empty demo.")
    return joined(path, found["position"], found["velocity"] or None, found["time"] or None)


MAT = Format((".mat",), "a MAT file", _read, _write)
