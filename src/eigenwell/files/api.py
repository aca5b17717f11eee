"""Read files of any format as Demonstrations, and write them."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._types import FloatArray
from ..data_frames import is_frame
from ..demonstrations import Caution, DataError, Demonstrations
from ..errors import MissingExtra
from ..poses import from_poses
from ..progress import log
from .assembly import LONGEST_GAP, Assembled, assemble, clocked, unlike
from .atomic import replacing
from .bags import BAG, is_bag, read_bag
from .columns import listed, natural_order
from .errors import (
    CannotWrite,
    EmptyFile,
    FileError,
    MissingFile,
    PickledFile,
    UnknownColumns,
    UnknownFormat,
    UnreadableFile,
    parsing,
)
from .frames import from_frame
from .h5ad import H5AD
from .json_lines import JSON
from .mat import MAT
from .npz import NPZ
from .parquet import FEATHER, PARQUET, is_lerobot, read_lerobot
from .recording import Format, Names, Recording, Wanted, numbered
from .text import TEXT

FORMATS: tuple[Format, ...] = (TEXT, PARQUET, NPZ, MAT, JSON, FEATHER, BAG, H5AD)

PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")
"""What pickles are called."""
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
Skipped = list[tuple[str, str]]
"""Files that could not be read, and why."""
AnyPath = str | os.PathLike[str]


def read(
    paths: Any,
    *,
    position: Names | None = None,
    velocity: Names | None = None,
    time: str | None = None,
    trajectory: str | None = None,
    task: str | None = None,
    dt: float | None = None,
    every: int = 1,
    longest_gap: int = LONGEST_GAP,
    smooth: bool = True,
    quaternion: str | None = None,
) -> Demonstrations:
    """Demonstrations from one file, several files or a folder (one file per trajectory), a LeRobot data set, a ROS bag.

    Data frames (pandas, polars, Arrow), one or a list of them, are read like files. Several files, or a column of
    trajectories, give trajectories; one file with time gives one trajectory; one with velocities alone gives unordered samples.
    What was read as what is in `.about`, what was guessed or converted in `.warnings`.

    Parameters
    ----------
    paths : str, path, data frame or list of them
        Files, a folder, or data frames.
    position, velocity : str or list of str, optional
        Columns, which are otherwise recognised by their names.
    time, trajectory : str, optional
        Columns, likewise.
    task : str, optional
        The column that says what each sample was meant for (LeRobot's `task_index`): `demos.task`, for
        `identify(demos, labels=demos.task)`.
    dt : float, optional
        The time step where the file has none.
    every : int
        Keeps each n-th sample of every trajectory, and its last.
    longest_gap : int
        Gaps (NaN, empty cells) of up to so many rows are interpolated, longer ones split the recording; 0
        refuses any.
    smooth : bool
        Whether positions are freed of noise where velocities are estimated.
    quaternion : str, optional
        "xyzw" or "wxyz": the order of quaternions in columns without names.

    Returns
    -------
    Demonstrations

    Raises
    ------
    FileError
        For a file that cannot be used; MissingFile, UnknownColumns and others say why.
    MissingExtra
        For a format whose package is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.files.read("recording.csv")  # doctest: +SKIP
    """
    if quaternion not in (None, "xyzw", "wxyz"):
        raise DataError(f"Expected quaternion as 'xyzw' or 'wxyz', got {quaternion!r}.")
    more = {"dt": dt, "every": every, "task": task, "quaternion": quaternion}
    wanted = Wanted.of(position, velocity, time=time, trajectory=trajectory, **more)
    if not (isinstance(every, int) and every >= 1):
        raise DataError(f"Expected every as a whole number >= 1, got {every!r}.")
    if not (isinstance(longest_gap, int) and longest_gap >= 0):
        raise DataError(f"Expected longest_gap as a whole number >= 0, got {longest_gap!r}.")
    given = [paths] if isinstance(paths, str | os.PathLike) or is_frame(paths) else list(paths)
    if not given:
        raise MissingFile("Expected at least one file, got none.")
    recordings: list[Recording] = []
    for number, one in enumerate(given):
        if is_frame(one):
            recordings.append(from_frame(one, wanted, f"data frame {number}" if len(given) > 1 else "the data frame"))
        else:
            recordings.extend(_recordings(Path(one), wanted))
    if task is not None and any(r.task is None for r in recordings):
        raise UnknownColumns(f"Expected a column {task!r} that says the task in every file, found none in some.")
    demos = _demonstrations(recordings, dt, longest_gap, smooth)
    log.info("read %r. %s", demos, demos.about)
    for caution in demos.warnings:
        log.info("%s: %s", caution.name, caution)
    return demos


def read_each(paths: Any, wanted: Wanted) -> tuple[Assembled, Skipped]:
    """Trajectories as they came, one by one, of files or folders; and which files could not be read.

    For the audit, which goes on where `read` stops.
    """
    skipped: Skipped = []
    recordings: list[Recording] = []
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    for one in given:
        try:
            recordings.extend(_recordings(Path(one), wanted, skipped))
        except FileError as error:
            if len(given) == 1:
                raise
            skipped.append((Path(one).name, str(error)))
    if not recordings:
        raise EmptyFile(f"Expected files that can be read, got none. {skipped[0][1] if skipped else ''}".strip())
    # Files unlike most of the others are set aside, so that the rest can be looked at.
    while odd := next(unlike(recordings), None):
        what, do, others = odd
        word = f"it has no {what} where most have them." if do == "lack" else f"it has {what} where most have none."
        skipped += [(r.name, word) for r in others]
        recordings = [r for r in recordings if not any(r is other for other in others)]
    return assemble(recordings, LONGEST_GAP), skipped


def read_positions(path: AnyPath, *, position: Names | None = None) -> FloatArray:
    """The positions (n, d) alone: states to ask a field about."""
    recordings = _recordings(Path(path), Wanted.of(position, dt=None if position else 1.0))
    return np.concatenate([np.asarray(r.x, dtype=np.float64) for r in recordings])


def write(path: AnyPath, demos: Demonstrations) -> None:
    """Write demonstrations in the format the name ends in, every float64 to its last bit.

    Parameters
    ----------
    path : str or path
        The file; its ending chooses the format.
    demos : Demonstrations
        What to write.

    Raises
    ------
    CannotWrite
        When the file cannot be written there.
    UnknownFormat
        For an ending that is not known.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.files.write("heart.csv", ew.systems.heart.sample(seed=0))  # doctest: +SKIP
    """
    target = Path(path)
    form = _format(target)
    if target.suffix.lower() == ".gz":
        raise UnknownFormat(f"Expected a name that does not end in .gz, got {target.name}. Write it plain and pack it.")
    if form.write is None:
        raise CannotWrite(
            f"Expected a format that eigenwell writes, got {target.name}: {form.kind} is only read. Write .npz or .parquet."
        )
    with replacing(target) as temporary:
        form.write(temporary, demos)


def _suffix(path: Path) -> str:
    """What the name ends in, below .gz where text was packed."""
    packed = path.suffix.lower() == ".gz"
    inner = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    return inner if not packed or inner in (*TEXT.suffixes, *JSON.suffixes) else ".gz"


def _format(path: Path) -> Format:
    if path.suffix.lower() in PICKLES:
        raise PickledFile(
            f"Expected a file of numbers, got {path.name}, a pickle: reading it could run code, so eigenwell does not. Load it "
            "where you trust it and save the arrays with np.savez, or pass them to eigenwell directly."
        )
    for form in FORMATS:
        if _suffix(path) in form.suffixes:
            return form
    if path.suffix.lower() in SPREADSHEETS:
        raise UnknownFormat(f"Expected a file of numbers, got the spreadsheet {path.name}. Save its sheet as .csv.")
    known = ", ".join(s for form in FORMATS for s in form.suffixes)
    raise UnknownFormat(f"Expected a file that ends in {known}, got {path.name or str(path)!r}. Rename or convert it.")


def _recordings(path: Path, wanted: Wanted, skipped: Skipped | None = None) -> list[Recording]:
    """One recording of a file; one per file of a folder. With `skipped`, files that cannot be read are listed there."""
    if not stat.S_ISDIR(_mode(path)):
        return [_file(path, wanted)]
    if is_lerobot(path):
        return [read_lerobot(path, wanted)]
    if is_bag(path):
        with parsing(path, BAG.kind):
            return [replace(read_bag(path, wanted), name=path.name)]
    known = {s for form in FORMATS for s in form.suffixes}
    files = sorted(
        (p for p in path.iterdir() if _suffix(p) in known and not p.name.startswith(".")),
        key=lambda p: natural_order(p.name),
    )
    if not files:
        pickled = next((p for p in sorted(path.iterdir()) if p.suffix.lower() in PICKLES), None)
        if pickled is not None:
            _format(pickled)
        raise EmptyFile(f"Expected data files ({', '.join(sorted(known))}) in the folder {path}, found none.")
    out: list[Recording] = []
    for p in files:
        try:
            out.append(_file(p, wanted))
        except (FileError, MissingExtra) as error:
            if skipped is None:
                raise
            skipped.append((p.name, str(error)))
    return out


def _file(path: Path, wanted: Wanted) -> Recording:
    form = _format(path)
    mode = _mode(path)
    if not stat.S_ISREG(mode):
        raise UnreadableFile(f"Expected a file at {path}, got a folder, device or pipe.")
    with parsing(path, form.kind):
        if path.stat().st_size == 0:
            raise EmptyFile(f"Expected data in {path}, got an empty file.")
        recording = form.read(path, wanted)
    if len(recording.x) == 0:
        raise EmptyFile(f"Expected samples in {path}, got none.")
    return replace(recording, name=path.name)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except FileNotFoundError as error:
        raise MissingFile(f"Expected a file or folder at {path}, found nothing there. Check the name.") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableFile(f"Cannot read {path}: {why}.") from error


def _demonstrations(
    recordings: Sequence[Recording], dt: float | None, longest_gap: int, smooth: bool
) -> Demonstrations:
    if len(recordings) == 1 and dt is None:
        alone = recordings[0]
        _, trajectory, cautions = clocked(alone)
        if trajectory is None and alone.v is None:
            raise UnknownColumns(
                f"Expected velocities or time beside the positions in {alone.name}, found neither. {alone.about} "
                "Say which column is the time, time='...' (--time), or the step between rows, dt=0.01 (--dt 0.01)."
            )
        if trajectory is None:
            if alone.orientation is not None:
                aside = "Orientations of unordered samples were left aside; add a column of time."
                cautions += (Caution("orientation-left-aside", aside),)
            # Between which unordered samples to interpolate nobody knows: those with gaps go.
            good = np.asarray(np.isfinite(alone.x if alone.v is None else np.hstack([alone.x, alone.v])).all(axis=1))
            if longest_gap and 0 < good.sum() < len(good):
                said = f"{int((~good).sum())} of {len(good)} samples have no numbers somewhere and were dropped."
                cautions += (Caution("gaps", said),)
            else:
                good[:] = True
            demos = Demonstrations.from_samples(alone.x[good], None if alone.v is None else alone.v[good])
            task = None if alone.task is None else numbered(alone.task[good])
            return _told(replace(demos, task=task), cautions, recordings)
    for what, do, others in unlike(recordings):
        raise UnknownColumns(
            f"Expected {what} in every file or in none; {listed(r.name for r in others)} "
            f"{'have none' if do == 'lack' else 'alone have them'}. Leave those out, or read them apart."
        )
    parts = assemble(recordings, longest_gap)
    timed = None if dt is not None else parts.time or None
    if parts.turns:
        # Linear velocities alone say nothing of how the orientation turns.
        whole = parts.v and all(v.shape[1] == x.shape[1] + 3 for v, x in zip(parts.v, parts.x, strict=True))
        twist = parts.v if whole else None
        demos = from_poses(parts.x, parts.turns, dt=dt, time=timed, names=parts.names, smooth=smooth, twist=twist)
    else:
        demos = Demonstrations.from_trajectories(
            parts.x, parts.v or None, dt=dt, time=timed, names=parts.names, smooth=smooth
        )
    task = numbered(np.concatenate(parts.task)) if parts.task else None
    return _told(replace(demos, task=task), parts.warnings, recordings)


def _told(demos: Demonstrations, warnings: tuple[Caution, ...], recordings: Sequence[Recording]) -> Demonstrations:
    """Doubts about the file before doubts about the data."""
    names = {c.name for c in demos.warnings}
    first = tuple(c for c in warnings if c.name not in names)
    about = " ".join(dict.fromkeys(r.about for r in recordings if r.about))
    return replace(demos, warnings=first + demos.warnings, about=about)
