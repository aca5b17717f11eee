"""Whatever a user has, as episodes one by one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._types import FloatArray
from ..arguments import is_sequence_of_trajectories
from ..checks import check_dt, matrix
from ..demonstrations import DataError, Demonstrations
from ..files.api import read_each
from ..files.errors import UnknownColumns
from ..files.parquet import is_lerobot, lerobot_columns, task_names
from ..files.recording import Wanted
from ..poses import from_poses
from .episodes import Episodes, of_arrays, of_demonstrations


def collect(data: Any, v: Any = None, *, dt: float | None = None, time: Any = None) -> Episodes:
    """Demonstrations, lists of arrays or of (x, v) pairs, files: as episodes, each as it came."""
    check_dt(dt)
    if isinstance(data, Demonstrations):
        return of_demonstrations(data)
    several = data if isinstance(data, list | tuple) and len(data) > 0 else [data]
    if all(isinstance(one, str | os.PathLike) for one in several):
        return of_files(data, dt=dt)
    if not is_sequence_of_trajectories(data):
        raise DataError(
            "Expected several recordings: Demonstrations of trajectories, a list of (T, d) arrays, or a folder of files; got "
            f"{type(data).__name__}."
        )
    pairs = [isinstance(item, tuple) and len(item) == 2 for item in data]
    if all(pairs) and v is None:
        data, v = [item[0] for item in data], [item[1] for item in data]
    xs = [_table(item, k) for k, item in enumerate(data)]
    vs = None if v is None else [matrix(item, f"velocity of episode {k}") for k, item in enumerate(v)]
    ts = None if time is None else [np.asarray(t, dtype=np.float64) for t in time]
    for what, given in (("velocities", vs), ("times", ts)):
        if given is not None and len(given) != len(xs):
            raise DataError(f"Expected {what} for each of {len(xs)} episodes, got {len(given)}.")
    if ts is None and dt is not None:
        ts = [dt * np.arange(len(x), dtype=np.float64) for x in xs]
    return of_arrays(xs, vs, ts, None, [""] * len(xs))


def _table(item: Any, k: int) -> FloatArray:
    """Positions of one episode; NaN stays, so that the episode can be skipped with a word."""
    try:
        x = np.asarray(item, dtype=np.float64)
    except (TypeError, ValueError):
        x = matrix(item, f"episode {k}")
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2:
        raise DataError(f"Expected episode {k} as a (T, d) array, got shape {x.shape}.")
    return x


def of_files(paths: Any, *, dt: float | None = None, **columns: Any) -> Episodes:
    """Episodes of files, of a folder with one file each, or of a LeRobot data set, which is only read."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    robot = len(given) == 1 and is_lerobot(Path(given[0]))
    wanted = Wanted.of(dt=dt, **columns)
    if robot and wanted.task is None and "task_index" in lerobot_columns(Path(given[0])):
        wanted = replace(wanted, task="task_index")
    try:
        parts, skipped = read_each(given, wanted)
        untimed = not parts.time and not parts.v and dt is None
    except UnknownColumns:
        # Positions alone are enough for most of what is looked at; what remains wrong is said again.
        if dt is not None:
            raise
        parts, skipped = read_each(given, replace(wanted, dt=1.0))
        untimed = True
    ts = parts.time or None
    if dt is not None:
        ts = [dt * np.arange(len(x), dtype=np.float64) for x in parts.x]
    if parts.turns:
        step = 1.0 if ts is None else None
        items = of_demonstrations(from_poses(parts.x, parts.turns, time=ts, dt=step, names=parts.names, smooth=False))
    else:
        tasks = parts.task if len(parts.task) == len(parts.x) else None
        names = [name if not name.startswith("#") else "" for name in parts.names]
        items = of_arrays(parts.x, parts.v or None, ts, tasks, names)
    numbered = tuple(replace(e, number=parts.numbers[e.number]) for e in items.items)
    tasks_said = task_names(Path(given[0])) if robot else {}
    left, timed = tuple(skipped) + items.skipped, not untimed and ts is not None
    return replace(items, items=numbered, timed=timed, skipped=left, tasks=tasks_said)
