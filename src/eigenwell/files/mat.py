"""MATLAB files: LASA structs, the two `demo` layouts of hand-drawn data, cells of trajectories, plain matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Demonstrations
from .arrays import as_arrays, from_arrays
from .cells import joined, trajectories
from .columns import check_count, listed
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
    if "demos" in content and any(isinstance(item, dict) and "pos" in item for item in _items(content["demos"])):
        return _lasa(path, content["demos"])
    for inside in _items(content.get("DataStruct"))[:1]:
        content = inside if isinstance(inside, dict) else content
    if "demo" in content and "demo_struct" in content:
        return _drawn(path, content["demo"], content["demo_struct"])
    one_by_one = trajectories(path, content, wanted)
    if one_by_one is not None:
        return one_by_one
    if "demos" in content:
        return _lasa(path, content["demos"])
    arrays = {name: a for name, a in content.items() if isinstance(a, np.ndarray)}
    flat = {name: a.reshape(-1) if a.ndim == 2 and 1 in a.shape else a for name, a in arrays.items()}
    return from_arrays(path, flat, wanted)


def _write(path: Path, demos: Demonstrations) -> None:
    from scipy.io import savemat

    with path.open("wb") as handle:
        savemat(handle, as_arrays(demos), do_compression=False)


def _matrix(path: Path, value: Any, what: str) -> FloatArray:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub" or value.ndim != 2 or value.size == 0:
        raise UnknownColumns(f"Expected {what} of {path} as a matrix of numbers, one column per sample.")
    check_count(path, value.shape[0])
    return np.asarray(value.T, dtype=np.float64)


def _items(value: Any) -> list[Any]:
    """Entries of cells or of a struct array, cells of single structs opened."""
    entries = value if isinstance(value, list) else [value]
    return [e[0] if isinstance(e, list) and len(e) == 1 else e for e in entries]


def _lasa(path: Path, demos: Any) -> Recording:
    """Cells or struct array `demos` with fields pos (d, T), vel, t."""
    items = [item if isinstance(item, dict) else {} for item in _items(demos)]
    if not items or any("pos" not in item for item in items):
        names = sorted({name for item in items for name in item})
        raise UnknownColumns(f"Expected structs with fields pos, vel, t as demos in {path}, found {listed(names)}.")
    x = [_matrix(path, item["pos"], "pos") for item in items]
    v = [_matrix(path, item["vel"], "vel") for item in items] if all("vel" in item for item in items) else None
    time = None
    if all("t" in item for item in items):
        time = [np.asarray(_matrix(path, item["t"], "t").reshape(-1)) for item in items]
    return joined(path, x, v, time)


def _drawn(path: Path, demo: Any, struct: Any) -> Recording:
    """Cells `demo` (rows, T); `demo_struct` names the rows: position (d), velocity (d), time (1), labels (1)."""
    names = [str(name).strip().lower() for name in _items(struct)]
    if "position" not in names or not set(names) <= {"position", "velocity", "time", "labels"}:
        raise UnknownColumns(
            f"Expected demo_struct in {path} to name position, velocity, time, labels; found {listed(names)}."
        )
    found: dict[str, list[Any]] = {name: [] for name in ("position", "velocity", "time", "labels")}
    widths = [name in ("position", "velocity") for name in names]
    for k, cell in enumerate(_items(demo)):
        rows = _matrix(path, cell, f"demo {k}")
        d, left = divmod(rows.shape[1] - widths.count(False), widths.count(True))
        if d < 1 or left:
            raise UnknownColumns(
                f"Expected rows for {', '.join(names)} in every demo of {path}, got {rows.shape[1]} rows in demo {k}."
            )
        ends = np.cumsum([d if wide else 1 for wide in widths])
        for name, wide, part in zip(names, widths, np.split(rows, ends[:-1], axis=1), strict=True):
            found[name].append(part if wide else part[:, 0])
    if not found["position"]:
        raise EmptyFile(f"Expected demonstrations in {path}, got an empty demo.")
    return joined(path, found["position"], found["velocity"] or None, found["time"] or None)


MAT = Format((".mat",), "a MAT file", _read, _write)
