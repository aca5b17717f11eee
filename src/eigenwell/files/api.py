"""Read files of any format as Demonstrations, and write them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError, Demonstrations
from .atomic import replacing
from .errors import EmptyFile, FileError, MissingFile, UnknownColumns, UnknownFormat, UnreadableFile
from .h5ad import H5ad
from .mat import Mat
from .npz import Npz
from .parquet import Parquet, is_lerobot, read_lerobot
from .recording import Format, Recording, Wanted
from .text import Text
from .time_units import seconds

FORMATS: tuple[Format, ...] = (Text(), Parquet(), Npz(), Mat(), H5ad())

Names = Sequence[str] | str
AnyPath = str | os.PathLike[str]


def read(
    paths: AnyPath | Iterable[AnyPath],
    *,
    position: Names | None = None,
    velocity: Names | None = None,
    time: str | None = None,
    trajectory: str | None = None,
    dt: float | None = None,
    every: int = 1,
) -> Demonstrations:
    """Demonstrations from one file, several files or a folder (one file per trajectory), or a LeRobot data set.

    Columns are recognised by their names; `position`, `velocity`, `time` and `trajectory` say otherwise. Several files,
    or a column of trajectories, give trajectories; one file with time gives one trajectory; one with velocities alone
    gives unordered samples. `dt` is the time step where the file has none; `every` keeps each n-th sample of every
    trajectory, and its last. What was guessed or converted is in `.warnings`.
    """
    wanted = Wanted(column_names(position), column_names(velocity), time, trajectory, dt, every)
    if not (isinstance(every, int) and every >= 1):
        raise DataError(f"Expected every as a whole number >= 1, got {every!r}.")
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise MissingFile("Expected at least one file, got none.")
    recordings: list[Recording] = []
    for path in map(Path, given):
        recordings.extend(_recordings(path, wanted))
    return _demonstrations(recordings, dt)


def read_positions(path: AnyPath, *, position: Names | None = None) -> FloatArray:
    """The positions alone, (n, d): states to ask a field about."""
    recordings = _recordings(Path(path), Wanted(column_names(position), dt=None if position else 1.0))
    return np.concatenate([np.asarray(r.x, dtype=np.float64) for r in recordings])


def write(path: AnyPath, demos: Demonstrations) -> None:
    """Write demonstrations in the format the name ends in, every float64 to its last bit."""
    target = Path(path)
    form = _format(target)
    with replacing(target) as temporary:
        form.write(temporary, demos)


def column_names(names: Names | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else tuple(map(str, names))


def _format(path: Path) -> Format:
    for form in FORMATS:
        if path.suffix.lower() in form.suffixes:
            return form
    known = ", ".join(s for form in FORMATS for s in form.suffixes)
    raise UnknownFormat(f"Expected a file that ends in {known}, got {path.name or str(path)!r}. Rename or convert it.")


def _recordings(path: Path, wanted: Wanted) -> list[Recording]:
    """One recording of a file; one per file of a folder."""
    if not stat.S_ISDIR(_mode(path)):
        return [_file(path, wanted)]
    if is_lerobot(path):
        return [read_lerobot(path, wanted)]
    known = {s for form in FORMATS for s in form.suffixes}
    files = sorted(
        (p for p in path.iterdir() if p.suffix.lower() in known and not p.name.startswith(".")),
        key=lambda p: natural_order(p.name),
    )
    if not files:
        raise EmptyFile(f"Expected data files ({', '.join(sorted(known))}) in the folder {path}, found none.")
    return [_file(p, wanted) for p in files]


def _file(path: Path, wanted: Wanted) -> Recording:
    form = _format(path)
    mode = _mode(path)
    if not stat.S_ISREG(mode):
        raise UnreadableFile(f"Expected a file at {path}, got a folder, device or pipe.")
    try:
        if path.stat().st_size == 0:
            raise EmptyFile(f"Expected data in {path}, got an empty file.")
        recording = form.read(path, wanted)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise UnreadableFile(f"Cannot read {path}: {error.strerror or error}.") from error
    if len(recording.x) == 0:
        raise EmptyFile(f"Expected samples in {path}, got none.")
    return recording


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except FileNotFoundError as error:
        raise MissingFile(f"Expected a file or folder at {path}, found nothing there. Check the name.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableFile(f"Cannot read {path}: {why}.") from error


def natural_order(name: str) -> list[tuple[int, int | str]]:
    """demo2 before demo10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name.lower()) if part]


def _demonstrations(recordings: Sequence[Recording], dt: float | None) -> Demonstrations:
    several = len(recordings) > 1
    warnings: tuple[Caution, ...] = ()
    xs: list[FloatArray] = []
    vs: list[FloatArray] = []
    ts: list[FloatArray] = []
    for recording in recordings:
        time, cautions = None, recording.warnings
        if recording.time is not None:
            time, converted = seconds(
                recording.time, recording.time_name, recording.x, recording.v, recording.trajectory
            )
            cautions += converted
        trajectory = recording.trajectory
        if trajectory is None and time is not None:
            trajectory = _restarts(time)
            if trajectory[-1] > 0:
                said = f"Time starts over {trajectory[-1]} times; each start was read as a new trajectory."
                cautions += (Caution("split-by-time", said),)
        warnings += tuple(c for c in cautions if c not in warnings)
        if trajectory is None and not several and dt is None:
            return _warned(Demonstrations.from_samples(recording.x, recording.v), warnings)
        for rows in _groups(trajectory, len(recording.x)):
            xs.append(recording.x[rows])
            if recording.v is not None:
                vs.append(recording.v[rows])
            if time is not None:
                ts.append(time[rows])
    for what, parts in (("velocities", vs), ("time", ts)):
        if parts and len(parts) != len(xs):
            raise UnknownColumns(f"Expected {what} in every file or in none, got them in some.")
    timed = None if dt is not None else ts or None
    return _warned(Demonstrations.from_trajectories(xs, vs or None, dt=dt, time=timed), warnings)


def _warned(demos: Demonstrations, warnings: tuple[Caution, ...]) -> Demonstrations:
    """Doubts about the file before doubts about the data."""
    names = {c.name for c in demos.warnings}
    return replace(demos, warnings=tuple(c for c in warnings if c.name not in names) + demos.warnings)


def _groups(trajectory: IntArray | None, n: int) -> list[IntArray]:
    if trajectory is None:
        return [np.arange(n)]
    order = np.argsort(trajectory, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(trajectory[order])) + 1)


def _restarts(time: FloatArray) -> IntArray:
    """Trajectory numbers of one time column: a new one where time falls back to where it began."""
    step = np.diff(time)
    back = step < 0
    if not back.any():
        return np.zeros(len(time), dtype=np.intp)
    typical = float(np.median(step[~back])) if (~back).any() else 0.0
    fresh = back & (time[1:] <= time[0] + 2 * typical)
    if (fresh != back).any():
        return np.zeros(len(time), dtype=np.intp)
    return np.concatenate([[0], np.cumsum(fresh)]).astype(np.intp)
