"""Recordings of several files brought together: time in seconds, gaps mended, one entry for every trajectory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution
from ..wording import plural
from .recording import Recording
from .time_units import seconds

LONGEST_GAP = 10
"""Rows in a row that are interpolated; a longer gap splits the recording."""


@dataclass
class Assembled:
    """Trajectories one by one: positions and, where the files have them, velocities, times, orientations and tasks."""

    x: list[FloatArray] = field(default_factory=list)
    v: list[FloatArray] = field(default_factory=list)
    time: list[FloatArray] = field(default_factory=list)
    turns: list[FloatArray] = field(default_factory=list)
    task: list[FloatArray] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """What the files call each trajectory, else how many came before."""
    warnings: tuple[Caution, ...] = ()


def unlike(recordings: Sequence[Recording]) -> Iterator[tuple[str, str, list[Recording]]]:
    """Of velocities, time and orientations, what some recordings have and others lack: what it is, whether the fewer "have" or
    "lack" it, and those."""
    for what, part in (("velocities", "v"), ("time", "time"), ("orientations", "orientation")):
        have = [r for r in recordings if getattr(r, part) is not None]
        lack = [r for r in recordings if getattr(r, part) is None]
        if have and lack:
            yield (what, "lack", lack) if len(have) > len(lack) else (what, "have", have)


def clocked(recording: Recording) -> tuple[FloatArray | None, IntArray | None, tuple[Caution, ...]]:
    """Time in seconds, trajectory numbers, and what was done: a new trajectory where time starts over."""
    time, trajectory, cautions = None, recording.trajectory, recording.warnings
    if recording.time is not None:
        time, converted = seconds(recording.time, recording.time_name, recording.x, recording.v, trajectory)
        cautions += converted
    if trajectory is None and time is not None:
        trajectory = _restarts(time)
        if trajectory[-1] > 0:
            said = f"Time starts over {plural(int(trajectory[-1]), 'time')}; each start was read as a new trajectory."
            cautions += (Caution("split-by-time", said),)
    return time, trajectory, cautions


def assemble(recordings: Sequence[Recording], longest_gap: int) -> Assembled:
    """The trajectories of all recordings; gaps of up to `longest_gap` rows are filled, longer ones cut."""
    out = Assembled()
    filled = dropped = pieces = unwrapped = 0
    for recording in recordings:
        time, trajectory, cautions = clocked(recording)
        out.warnings += tuple(c for c in cautions if c not in out.warnings)
        task = None if recording.task is None else recording.task.astype(np.float64)
        beside = [(recording.v, out.v), (recording.orientation, out.turns), (time, out.time), (task, out.task)]
        groups = _groups(trajectory, len(recording.x))
        before = max(out.numbers, default=-1) + 1
        for number, rows in enumerate(groups):
            x = recording.x[rows]
            kept = [(into, a[rows].astype(np.float64)) for a, into in beside if a is not None]
            parts, mended, cut = mend([x, *(a for _, a in kept)], longest_gap)
            filled, dropped, pieces = filled + mended, dropped + cut, pieces + len(parts) - 1
            unwrapped += _unwrap(x, recording.angles)
            for part in parts:
                out.x.append(x[part])
                for into, a in kept:
                    into.append(a[part])
                out.numbers.append(recording.ids[number] if recording.ids else before + number)
                out.names.append(recording.name if len(groups) == 1 else f"{recording.name}#{number}")
    if filled or dropped:
        said = f"{filled} rows without numbers, in gaps of up to {longest_gap}, were interpolated"
        said += f"; {dropped} rows in longer gaps or at the ends were dropped" if dropped else ""
        said += f", which split recordings into {pieces} more" if pieces else ""
        out.warnings += (Caution("gaps", said + "."),)
    if unwrapped:
        said = f"{plural(unwrapped, 'jump')} by a full turn in angles {'was' if unwrapped == 1 else 'were'} undone."
        out.warnings += (Caution("unwrapped", said),)
    return out


def mend(parts: list[FloatArray], longest: int) -> tuple[list[IntArray], int, int]:
    """Fill gaps (rows without numbers) of up to `longest` rows in place, by straight lines over the rows; the rest is cut.

    Gaps at the beginning and the end have one side only and are dropped. Gives the rows of every piece, and how many were
    filled and dropped.
    """
    n = len(parts[0])
    bad = np.any([~np.isfinite(a).reshape(n, -1).all(axis=1) for a in parts], axis=0)
    if not (longest and bad.any()):
        return [np.arange(n)], 0, 0
    good, keep, cuts = np.flatnonzero(~bad), np.ones(n, dtype=bool), []
    for a, b in np.flatnonzero(np.diff(bad, prepend=False, append=False)).reshape(-1, 2):
        if a == 0 or b == n or b - a > longest:
            keep[a:b] = False
            cuts.append(int(a))
            continue
        for column in (column for part in parts for column in part.reshape(n, -1).T):
            column[a:b] = np.interp(np.arange(a, b), good, column[good])
    rows = [r[keep[r]] for r in np.split(np.arange(n), cuts)]
    return [r for r in rows if len(r)], int((bad & keep).sum()), int((~keep).sum())


def _unwrap(x: FloatArray, angles: Sequence[tuple[int, float]]) -> int:
    """Undo jumps by a full turn, in place, in angles that stay within one; how many there were."""
    count = 0
    for i, turn in angles:
        step = np.diff(x[:, i])
        if len(step) and np.ptp(x[:, i]) <= turn * (1 + 1e-9) and (jumps := np.abs(step) > 0.75 * turn).any():
            x[:, i] = np.unwrap(x[:, i], period=turn)
            count += int(jumps.sum())
    return count


def _groups(trajectory: IntArray | None, n: int) -> list[IntArray]:
    if trajectory is None:
        return [np.arange(n)]
    order = np.argsort(trajectory, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(trajectory[order])) + 1)


def _restarts(time: FloatArray) -> IntArray:
    """Trajectory numbers of one time column: a new one where time falls back to where it began."""
    step = np.diff(time)
    back = step < 0
    if not back.any() or back.all():  # a clock that only falls is no clock
        return np.zeros(len(time), dtype=np.intp)
    typical = float(np.median(step[~back]))
    fresh = back & (time[1:] <= time[0] + 2 * typical)
    if (fresh != back).any():
        return np.zeros(len(time), dtype=np.intp)
    return np.concatenate([[0], np.cumsum(fresh)]).astype(np.intp)
