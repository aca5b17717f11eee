"""Named arrays, as NPZ and MAT files hold them, read as positions, velocities, time and trajectories."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, Demonstrations
from .columns import TIME_NAMES, TRAJECTORY_NAMES, check_count, natural_order, plain, recognise
from .errors import EmptyFile, UnknownColumns, UnreadableFile
from .recording import Recording, Wanted, numbered
from .unnamed import unnamed

Arrays = Mapping[str, NDArray[Any]]
POSITIONS = ("x", "pos", "position", "positions", "q", "state", "states", "observation_state", "xs")
VELOCITIES = ("v", "vel", "velocity", "velocities", "xdot", "x_dot", "dx", "xd", "qdot", "q_dot", "dq", "qd", "vs")


def as_arrays(demos: Demonstrations) -> dict[str, NDArray[Any]]:
    """x, v, and trajectory offsets and time where there are any."""
    out: dict[str, NDArray[Any]] = {"x": demos.x, "v": demos.v}
    if demos.offsets is not None:
        out["offsets"] = demos.offsets
    if demos.time is not None:
        out["time_s"] = demos.time
    return out


def from_arrays(path: Path, arrays: Arrays, wanted: Wanted) -> Recording:
    """A matrix of positions (and one of velocities), or a vector for every column, or one matrix of everything."""
    numeric = {name: a for name, a in arrays.items() if a.dtype.kind in "fiub" and a.ndim <= 3}
    if not any(a.size for a in numeric.values()):
        raise EmptyFile(f"Expected arrays of numbers in {path}, found {_shapes(arrays)}.")
    # A trajectory in a stack of its own, (1, T, d), is a trajectory.
    numeric = {name: a[0] if a.ndim == 3 and len(a) == 1 else a for name, a in numeric.items()}
    matrices = {name: a for name, a in numeric.items() if a.ndim >= 2 and min(a.shape) > 1}
    vectors = {name: a.reshape(-1) for name, a in numeric.items() if a.ndim >= 1 and name not in matrices}
    x_name = _named(matrices, wanted.position, POSITIONS)
    if x_name is None and len(matrices) == 1 and wanted.position is None and not _named(vectors, None, POSITIONS):
        return _whole(path, next(iter(matrices.values())), wanted)
    if x_name is None and (each := _demonstrations(path, matrices, wanted)) is not None:
        return each
    if x_name is None:
        return _columns(path, arrays, vectors, wanted)
    return _matrices(path, matrices, vectors, x_name, wanted)


def _matrices(path: Path, matrices: Arrays, vectors: Arrays, x_name: str, wanted: Wanted) -> Recording:
    v_name = _named(matrices, wanted.velocity, VELOCITIES)
    x = matrices[x_name]
    v = None if v_name is None else matrices[v_name]
    if v is not None and v.shape != x.shape:
        raise UnknownColumns(f"Expected positions and velocities of one shape in {path}, got {_shapes(matrices)}.")
    time, time_name = _vector({**matrices, **vectors}, wanted.time, TIME_NAMES)
    if x.ndim == 3:
        n_trajectories, length, d = x.shape
        check_count(path, d)
        if time is not None and time.size == length:
            time = np.tile(time.reshape(-1), n_trajectories)
        return Recording(
            _rows(x, d),
            None if v is None else _rows(v, d),
            None if time is None else time.reshape(-1),
            np.repeat(np.arange(n_trajectories), length),
            time_name,
        )
    x, v, cautions = _upright(path, x, v)
    check_count(path, x.shape[1])
    time = None if time is None else time.reshape(-1)
    _check_length(path, "time", time, len(x))
    trajectory = _trajectory(path, vectors, wanted, len(x))
    task = _vector(vectors, wanted.task, ())[0] if wanted.task else None
    _check_length(path, "task", task, len(x))
    return Recording(x, v, time, trajectory, time_name, cautions, task=None if task is None else numbered(task))


def _trajectory(path: Path, vectors: Arrays, wanted: Wanted, n: int) -> IntArray | None:
    if wanted.trajectory is None and "offsets" in vectors:
        offsets = vectors["offsets"]
        if offsets.dtype.kind not in "iu" and (offsets != np.floor(offsets)).any():
            raise UnreadableFile(f"Expected whole numbers in 'offsets' of {path}.")
        whole: IntArray = offsets.astype(np.intp)
        lengths = whole[1:] - whole[:-1]
        if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != n or (lengths <= 0).any():
            raise UnreadableFile(
                f"Expected 'offsets' in {path} to rise from 0 to {n}, one entry more than trajectories."
            )
        return np.repeat(np.arange(len(lengths)), lengths)
    ids, _ = _vector(vectors, wanted.trajectory, TRAJECTORY_NAMES)
    _check_length(path, "trajectory", ids, n)
    return None if ids is None else numbered(ids)


def _whole(path: Path, matrix: NDArray[Any], wanted: Wanted) -> Recording:
    """One matrix that holds everything, its columns without names; three axes are (trajectory, time, coordinate)."""
    trajectory: IntArray | None = None
    if matrix.ndim == 3:
        stack, cautions = _stack(path, matrix)
        flat, trajectory = _rows(stack, stack.shape[2]), np.repeat(np.arange(len(stack)), stack.shape[1])
    else:
        flat, _, cautions = _upright(path, matrix, None)
    return of_table(path, flat, trajectory, cautions, wanted)


def of_table(
    path: Path, table: FloatArray, trajectory: IntArray | None, cautions: tuple[Caution, ...], wanted: Wanted
) -> Recording:
    """A table without names, as its numbers say."""
    columns = unnamed(path, table, wanted)
    recording = columns.recording({str(i + 1): column for i, column in enumerate(table.T)})
    given = recording.trajectory if columns.trajectory else trajectory
    return replace(recording, trajectory=given, warnings=recording.warnings + cautions)


def _stack(path: Path, stack: NDArray[Any]) -> tuple[NDArray[Any], tuple[Caution, ...]]:
    """(trajectory, time, coordinate), whichever of the last two axes is time: along it, steps are small."""
    sizes = [_roughness(stack, axis) for axis in range(3)]
    if sizes[0] < 0.2 * min(sizes[1:]) and stack.shape[0] > 2:
        raise UnknownColumns(
            f"Expected an array (trajectory, time, coordinate) in {path}, got shape {stack.shape} with small steps along the "
            "first axis: it looks like (time, trajectory, coordinate). Save np.swapaxes(a, 0, 1)."
        )
    if stack.shape[1] >= stack.shape[2] or sizes[1] <= sizes[2]:
        return stack, ()
    told = f"The array of shape {stack.shape} in {path.name} was turned: read as (trajectory, coordinate, time)."
    return np.swapaxes(stack, 1, 2), (Caution("turned", told),)


def _roughness(a: NDArray[Any], axis: int) -> float:
    """Mean size of a step along an axis, for the spread of the numbers."""
    if a.shape[axis] < 2:
        return float("inf")
    return float(np.abs(np.diff(a, axis=axis)).mean() / max(float(np.std(a)), np.finfo(float).tiny))


def _columns(path: Path, arrays: Arrays, vectors: Arrays, wanted: Wanted) -> Recording:
    """Every column its own vector: x, y, vx, vy, t."""
    lengths = {len(a) for a in vectors.values()}
    table = vectors if len(lengths) == 1 else {n: a for n, a in vectors.items() if len(a) == max(lengths, default=0)}
    if not table:
        raise UnknownColumns(
            f"Expected an array of positions (x, pos, position, q) in {path}, found {_shapes(arrays)}."
        )
    columns = recognise(path, list(table), wanted)
    return columns.recording(table)


def _demonstrations(path: Path, matrices: Arrays, wanted: Wanted) -> Recording | None:
    """One matrix for every demonstration, all with the same columns: demo_0, demo_1, ...; None where that is not so."""
    names = sorted(matrices, key=natural_order)
    shapes = [matrices[n].shape for n in names]
    widths = {shape[1] for shape in shapes if len(shape) == 2}
    if len(names) < 2 or wanted.position is not None or len(widths) != 1 or any(len(shape) != 2 for shape in shapes):
        return None
    if len({re.sub(r"\d+", "", n) for n in names}) > 1:
        return None
    stacked = np.concatenate([np.asarray(matrices[n], dtype=np.float64) for n in names])
    return of_table(path, stacked, np.repeat(np.arange(len(names)), [shape[0] for shape in shapes]), (), wanted)


def _upright(
    path: Path, x: NDArray[Any], v: NDArray[Any] | None
) -> tuple[FloatArray, FloatArray | None, tuple[Caution, ...]]:
    """One row per sample. MATLAB users often keep one column per sample; more rows than columns is the sign."""
    cautions: tuple[Caution, ...] = ()
    if x.shape[0] < x.shape[1]:
        told = f"Arrays of shape {x.shape} in {path.name} were turned, so that each row is a sample."
        x, v, cautions = x.T, None if v is None else v.T, (Caution("turned", told),)
    return np.asarray(x, dtype=np.float64), None if v is None else np.asarray(v, dtype=np.float64), cautions


def _rows(a: NDArray[Any], width: int) -> FloatArray:
    return np.asarray(a, dtype=np.float64).reshape(-1, width)


def _named(arrays: Arrays, asked: tuple[str, ...] | None, known: tuple[str, ...]) -> str | None:
    if asked is not None:
        return asked[0] if len(asked) == 1 and asked[0] in arrays else None
    by_plain = {plain(name): name for name in arrays}
    return next((by_plain[k] for k in known if k in by_plain), None)


def _vector(arrays: Arrays, asked: str | None, known: tuple[str, ...]) -> tuple[NDArray[Any] | None, str]:
    name = _named(arrays, None if asked is None else (asked,), known)
    return (None, "") if name is None else (arrays[name], name)


def _check_length(path: Path, what: str, vector: NDArray[Any] | None, n: int) -> None:
    if vector is not None and len(vector) != n:
        raise UnknownColumns(f"Expected one {what} per sample in {path} ({n}), got {len(vector)}.")


def _shapes(arrays: Arrays) -> str:
    shown = [f"{name} {a.dtype} {a.shape}" for name, a in list(arrays.items())[:12]]
    return ", ".join(shown) or "nothing"
