"""What others can use: a list to keep, copies without the rests, and parts between the rests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..demonstrations import DataError, Demonstrations
from ..files import make_folder, replacing, write
from ..files.parquet import is_lerobot
from ..files.text import opened
from .api import Audit
from .episodes import Episode
from .measures import rests, run_ends

__all__ = ["keep_list", "parts", "write_parts", "write_trimmed"]

PART = 0.05
"""A part between two rests that is shorter than this share of an episode is a twitch, not a subtask."""


def keep_list(found: Audit) -> dict[str, Any]:
    """`keep.json`: numbers of the episodes to "keep" and to "drop", and the "rows" [first, last) of each kept without its rests
    at start and end."""
    kept = [v for v in found.verdicts if v.keep]
    drop = [v.episode for v in found.verdicts if not v.keep]
    return {"keep": [v.episode for v in kept], "drop": drop, "rows": {str(v.episode): list(v.moving) for v in kept}}


def parts(found: Audit) -> dict[int, list[tuple[int, int]]]:
    """The motions between the rests of every episode to keep: its subtasks, as rows [first, last)."""
    items = found.source.items
    size = float(np.median([np.linalg.norm(e.extent) for e in items]))
    out = {}
    for e, v in zip(items, found.verdicts, strict=True):
        if v.keep:
            moving = run_ends(~rests(e, size).still)
            long = [(max(int(a) - 1, 0), min(int(b) + 1, len(e))) for a, b in moving if b - a > max(3, PART * len(e))]
            out[v.episode] = long or [v.moving]
    return out


def write_trimmed(found: Audit, source: Path, folder: Path) -> list[Path]:
    """Copies in `folder` of the episodes of `source` to keep, without the rests at start and end, in the format they came in.

    A DataError for a LeRobot data set, which is only read: its rows are in keep.json.
    """
    return _write(found, source, folder, {v.episode: [v.moving] for v in found.verdicts if v.keep}, "trimmed")


def write_parts(found: Audit, source: Path, folder: Path) -> list[Path]:
    """The parts between rests of `source`, each as a recording of its own; and `subtasks.json`, which says where they are."""
    cut = parts(found)
    make_folder(folder)
    with replacing(folder / "subtasks.json") as temporary:
        temporary.write_text(json.dumps({str(k): rows for k, rows in cut.items()}) + "\n", encoding="utf-8")
    return [folder / "subtasks.json"] + ([] if is_lerobot(source) else _write(found, source, folder, cut, "parts"))


def _write(found: Audit, source: Path, folder: Path, rows: dict[int, list[tuple[int, int]]], called: str) -> list[Path]:
    """One file for each, where each came in one; else one file of all."""
    if is_lerobot(source):
        raise DataError(
            f"Expected files to copy, got the LeRobot data set {source}, which is only read, because its videos would have to be "
            "cut as well. The rows to keep are in keep.json."
        )
    make_folder(folder)
    if folder.resolve() == source.resolve():
        raise DataError(f"Expected another folder than that of the recordings, got {folder}.")
    chosen = [e for e in found.source.items if e.number in rows]
    names = [e.name for e in found.source.items]
    if source.is_dir() and len(set(names)) == len(names) and not any("#" in name for name in names):
        out = []
        for e in chosen:
            for i, (a, b) in enumerate(rows[e.number]):
                stem, suffix = e.name.split(".", 1)
                target = folder / (e.name if len(rows[e.number]) == 1 else f"{stem}_{i}.{suffix}")
                if not _copy(source / e.name, target, a, b, len(e)):
                    _as_table(target, [(e, (a, b))])
                out.append(target)
        return out
    suffix = source.suffix if source.is_file() else Path(chosen[0].name.split("#")[0]).suffix
    target = folder / f"{called}{suffix or '.csv'}"
    _as_table(target, [(e, ab) for e in chosen for ab in rows[e.number]])
    return [target]


def _copy(source: Path, target: Path, a: int, b: int, n: int) -> bool:
    """Rows [a, b) of a table, all its columns as they are; False where rows of the file are not those of the episode."""
    if source.suffix == ".npy":
        array = np.load(source, allow_pickle=False)
        axis = next((i for i, size in enumerate(array.shape) if size == n), None)
        if axis is not None:
            np.save(target, array.take(np.arange(a, b), axis=axis))
        return axis is not None
    if source.suffix in (".csv", ".tsv", ".txt", ".dat"):
        with opened(source) as handle:
            lines = [line for line in handle if line.strip()]
        head = len(lines) - n
        if 0 <= head <= 20 and not any(line.startswith("#") for line in lines[head:]):
            with replacing(target) as temporary:
                temporary.write_text("".join(lines[:head] + lines[head + a : head + b]), encoding="utf-8")
            return True
    if source.suffix in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        table = pq.read_table(source)
        if table.num_rows == n:
            pq.write_table(table.slice(a, b - a), target)
            return True
    return False


def _as_table(target: Path, cuts: list[tuple[Episode, tuple[int, int]]]) -> None:
    xs, ts = [e.x[a:b] for e, (a, b) in cuts], [e.t[a:b] for e, (a, b) in cuts]
    vs = [e.v[a:b] for e, (a, b) in cuts if e.v is not None]
    write(target, Demonstrations.from_trajectories(xs, vs if len(vs) == len(xs) else None, time=ts, smooth=False))
