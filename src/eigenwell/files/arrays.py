"""Named arrays, as NPZ and MAT files hold them, read as positions, velocities, time and trajectories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, Demonstrations
from .columns import TIME_NAMES, TRAJECTORY_NAMES, check_count, listed, natural_order, plain, recognise
from .errors import EmptyFile, UnknownColumns, UnreadableFile
from .recording import Recording, Wanted, numbered
from .unnamed import unnamed

Arrays = Mapping[str, NDArray[Any]]
POSITIONS = ("x", "pos", "position", "positions", "q", "state", "states", "observation_state", "xs")
VELOCITIES = ("v", "vel", "velocity", "velocities", "xdot", "x_dot", "dx", "xd", "qdot", "q_dot", "dq", "qd", "vs")


def as_arrays(demos: Demonstrations) -> dict[str, NDArray[Any]]:
    """x, v, and trajectory offsets and time where there are any."""
    out = {"x": demos.x, "v": demos.v, "offsets": demos.offsets, "time_s": demos.time}
    return {name: array for name, array in out.items() if array is not None}


def from_arrays(path: Path, arrays: Arrays, wanted: Wanted) -> Recording:
    """A matrix of positions (and one of velocities), a vector for every column, or matrices of everything: one, or one each."""
    numeric = {name: a for name, a in arrays.items() if a.dtype.kind in "fiub" and a.ndim <= 3}
    if not any(a.size for a in numeric.values()):
        raise EmptyFile(f"Expected arrays of numbers in {path}, found {_shapes(arrays)}.")
    # A trajectory in a stack of its own, (1, T, d), is a trajectory.
    numeric = {name: a[0] if a.ndim == 3 and len(a) == 1 else a for name, a in numeric.items()}
    matrices = {name: a for name, a in numeric.items() if a.ndim >= 2 and min(a.shape) > 1}
    vectors = {name: a.reshape(-1) for name, a in numeric.items() if a.ndim >= 1 and name not in matrices}
    x_name = _named(matrices, wanted.position, POSITIONS)
    if x_name is not None:
        return _matrices(path, matrices, vectors, x_name, wanted)
    if matrices and wanted.position is None and not _named(vectors, None, POSITIONS):
        names = sorted(matrices, key=natural_order)
        whole = matrices[names[0]]
        if len(names) == 1 and whole.ndim == 3:
            stack, cautions = _stack(path, whole)
            return of_tables(path, list(stack), cautions, wanted)
        if len(names) == 1:
            tables, cautions = upright(path, names[0], [whole])
            return of_table(path, tables[0], None, cautions, wanted)
        # demo_0, demo_1, ...: one matrix for every demonstration.
        if all(a.ndim == 2 for a in matrices.values()) and len({re.sub(r"\d+", "", n) for n in names}) == 1:
            return of_tables(path, *upright(path, listed(names[:1]), [matrices[n] for n in names]), wanted)
    return _columns(path, arrays, vectors, wanted)


def _matrices(path: Path, matrices: Arrays, vectors: Arrays, x_name: str, wanted: Wanted) -> Recording:
    v_name = _named(matrices, wanted.velocity, VELOCITIES)
    x = matrices[x_name]
    v = None if v_name is None else matrices[v_name]
    if v is not None and v.shape != x.shape:
        raise UnknownColumns(f"Expected positions and velocities of one shape in {path}, got {_shapes(matrices)}.")
    time, time_name = _vector({**matrices, **vectors}, wanted.time, TIME_NAMES)
    time = None if time is None else time.reshape(-1)
    if x.ndim == 3:
        check_count(path, x.shape[2])
        if time is not None:
            time = np.tile(time, len(x)) if time.size == x.shape[1] else time
            _check_length(path, "time", time, len(x) * x.shape[1])
        times = None if time is None else np.split(time, len(x))
        return joined(path, list(x), None if v is None else list(v), times, time_name)
    (x,), cautions = upright(path, x_name, [x])
    if v is not None:
        v = np.asarray(v.T if cautions else v, dtype=np.float64)
    check_count(path, x.shape[1])
    trajectory = _trajectory(path, vectors, wanted, len(x))
    task = _vector(vectors, wanted.task, ())[0] if wanted.task else None
    for what, column in (("time", time), ("task", task)):
        _check_length(path, what, column, len(x))
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
    longest = max(map(len, vectors.values()), default=0)
    table = {n: a for n, a in vectors.items() if len(a) == longest}
    if not table:
        raise UnknownColumns(
            f"Expected an array of positions (x, pos, position, q) in {path}, found {_shapes(arrays)}."
        )
    return recognise(path, list(table), wanted).recording(table)


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


# --- one by one ---------------------------------------------------------------------------------------


def upright(path: Path, name: str, arrays: Sequence[NDArray[Any]]) -> tuple[list[FloatArray], tuple[Caution, ...]]:
    """Matrices with a row for each sample, as they may not come from MATLAB: the side of one length is that of the coordinates;
    where both are, the shorter one."""
    rows, columns = {a.shape[0] for a in arrays}, {a.shape[1] for a in arrays}
    said = f"Expected {name} in {path} as trajectories (d, T) or (T, d)"
    if len(rows) > 1 and len(columns) > 1:
        raise UnknownColumns(f"{said} with one d, got shapes {listed(str(a.shape) for a in arrays[:5])}.")
    if len(arrays) > 1 and rows == columns:
        raise UnknownColumns(
            f"{said}, got square arrays {arrays[0].shape}: either side could be time. Save each with one sample more or fewer."
        )
    turned = min(rows) < min(columns) if len(rows) == len(columns) else len(rows) == 1
    what = f"{name} of shape {arrays[0].shape}" if len(arrays) == 1 else f"The arrays of {name}"
    told = f"{what} in {path.name} {'was' if len(arrays) == 1 else 'were'} turned, so that each row is a sample."
    uprights = [np.asarray(a.T if turned else a, dtype=np.float64) for a in arrays]
    return uprights, (Caution("turned", told),) if turned else ()


def of_table(
    path: Path, table: FloatArray, trajectory: IntArray | None, cautions: tuple[Caution, ...], wanted: Wanted
) -> Recording:
    """A table without names, as its numbers say."""
    columns = unnamed(path, table, wanted)
    recording = columns.recording({str(i + 1): column for i, column in enumerate(table.T)})
    given = recording.trajectory if columns.trajectory else trajectory
    return replace(recording, trajectory=given, warnings=recording.warnings + cautions)


def of_tables(path: Path, tables: Sequence[FloatArray], cautions: tuple[Caution, ...], wanted: Wanted) -> Recording:
    """A table without names for each trajectory."""
    numbers = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    return of_table(path, np.concatenate(tables).astype(np.float64), numbers, cautions, wanted)


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
    places, speeds = (None if parts is None else np.concatenate(parts).astype(np.float64) for parts in (x, v))
    assert places is not None
    times = None if time is None else np.concatenate(time)
    return Recording(places, speeds, times, np.repeat(np.arange(len(x)), lengths), time_name)
