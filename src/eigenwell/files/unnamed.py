"""Which column is what, where none has a name: by what the numbers do, and never without a word.

Time rises from row to row, in steps of about one length. Four columns of unit length are a quaternion. Velocities point where the
rows go. Where two readings fit, both are named, with the option that decides.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._types import FloatArray
from ..demonstrations import Caution
from .columns import Columns, check_count, recognise
from .errors import UnknownColumns
from .recording import Wanted

# Nine of ten steps of a clock are within a factor of two of the usual one; a coordinate that rises speeds up and slows down.
CLOCK, MOST = 2.0, 0.9
# A quaternion has the length 1 to within what files round to.
UNIT = 1e-3
# Cosine between steps and velocities: below the first they have nothing in common, above the second they belong together.
UNRELATED, RELATED = 0.2, 0.8
# Rows are in order of time when a step is this small a share of the distance of two rows at random.
IN_ORDER = 0.25


def unnamed(path: Path, table: FloatArray, wanted: Wanted) -> Columns:
    """Columns called '1', '2', ... of a table (n, c): time where the first rises, poses, positions and velocities."""
    count = table.shape[1]
    check_count(path, count)
    names = tuple(str(i + 1) for i in range(count))
    if wanted.position is not None:
        return recognise(path, names, wanted)
    if wanted.names:
        raise UnknownColumns(
            f"Expected position=[...] beside the other columns in {path}, because its {count} columns have no names; they are "
            "counted from 1."
        )
    clock = count > 1 and _is_clock(table[:, 0])
    if wanted.dt is not None:
        if clock and np.ptp(np.diff(table[:, 0])) <= 1e-6 * abs(table[1, 0] - table[0, 0]):
            raise UnknownColumns(
                f"Expected positions alone in {path} because dt is given, but its first column rises in equal steps and looks "
                "like time. Leave dt out to read it as time, or say position=['1', '2', ...] to read it as a position."
            )
        return _pose(path, names, table, wanted, None) or Columns(names)
    if clock:
        return _after_clock(path, names, table, wanted)
    pose = _pose(path, names, table, wanted, None)
    if pose is not None:
        raise UnknownColumns(
            f"Expected time beside the poses (3 positions and a unit quaternion) in {path}, found none. Pass dt=..., or add a "
            "column of time."
        )
    if count % 2 or count < 4:
        rising = count > 1 and bool((np.diff(table[:, 0]) > 0).all()) and len(table) > 2
        unsure = " Column 1 rises, but by steps of very different length: is it time (time='1')?" if rising else ""
        raise UnknownColumns(
            f"Expected column names in {path}, or 2 d columns (d positions, then d velocities), got {count} columns without "
            f"names.{unsure} Say which is which, counted from 1: position=['1', '2'] with time='3' or velocity=[...], or pass "
            "dt=..."
        )
    half = count // 2
    if _in_order(table[:, :half]) and _related(table[:, :half], table[:, half:]) < UNRELATED:
        raise UnknownColumns(
            f"Expected d positions and then d velocities in the {count} columns of {path}, which have no names, but the last "
            f"{half} do not point where the rows go. If all are positions, pass dt=...; else say position=['1', ...] with "
            "velocity=[...] or time=..., counted from 1."
        )
    return Columns(
        names[:half],
        names[half:],
        warnings=(_guessed(path, f"the first {half} were read as positions, the last {half} as velocities"),),
    )


def _after_clock(path: Path, names: tuple[str, ...], table: FloatArray, wanted: Wanted) -> Columns:
    """Time first; behind it a pose, positions and their velocities, or positions alone."""
    count, time = len(names), table[:, 0]
    half = count // 2
    if (
        count % 2 == 0
        and count >= 4
        and _in_order(table[:, :half])
        and _related(table[:, :half], table[:, half:]) > RELATED
    ):
        raise UnknownColumns(
            f"Column 1 of {path} rises like time, and the last {half} columns point where the first {half} go, like "
            f"velocities. Say which: time='1' with position=['2', ...], or position=['1', ...] with velocity=['{half + 1}', ...]."
        )
    pose = _pose(path, names, table, wanted, names[0])
    if pose is not None:
        return pose
    rest = count - 1
    if rest >= 2 and rest % 2 == 0:
        x, v = table[:, 1 : 1 + rest // 2], table[:, 1 + rest // 2 :]
        if _related(x, v) > RELATED and 0.5 < _slope(x, v, time) < 2.0:
            said = f"column 1, which rises, was read as time, {rest // 2} as positions and the last {rest // 2} as velocities"
            return Columns(names[1 : 1 + rest // 2], names[1 + rest // 2 :], names[0], warnings=(_guessed(path, said),))
    said = "column 1, which rises, was read as time, the others as positions"
    return Columns(names[1:], (), names[0], warnings=(_guessed(path, said),))


def _pose(path: Path, names: tuple[str, ...], table: FloatArray, wanted: Wanted, time: str | None) -> Columns | None:
    """Seven columns of which four are a unit quaternion: position and orientation, in either order."""
    first = 0 if time is None else 1
    if len(names) - first != 7:
        return None
    fits = [j for j in (first, first + 3) if (np.abs(np.linalg.norm(table[:, j : j + 4], axis=1) - 1) < UNIT).all()]
    if len(fits) != 1:
        return None
    at = fits[0]
    place = tuple(n for n in names[first:] if n not in names[at : at + 4])
    order = wanted.quaternion or "xyzw"
    turn = tuple(names[at + order.index(axis)] for axis in "xyzw")
    unsure = "" if wanted.quaternion else "; if w comes first, say quaternion='wxyz' (--quaternion wxyz)"
    said = (
        f"columns {names[at]} to {names[at + 3]}, of unit length, were read as a quaternion in the order "
        f"{', '.join(order)}{unsure}; "
        f"columns {place[0]} to {place[-1]} as the position" + (f", column {time} as time" if time else "")
    )
    return Columns(place, (), time, None, (_guessed(path, said),), None, turn)


def _guessed(path: Path, said: str) -> Caution:
    return Caution("columns-guessed", f"The columns of {path.name} have no names; {said}.")


def _is_clock(column: FloatArray) -> bool:
    """Rises from row to row, by steps of about one length; where it falls, back to where it began."""
    step = np.diff(column)
    if len(step) < 2 or not np.isfinite(step).all():
        return False
    up = step[step > 0]
    if len(up) < MOST * len(step):
        return False
    usual = float(np.median(up))
    falls = column[1:][step <= 0]
    regular = np.mean((up > usual / CLOCK) & (up < usual * CLOCK)) >= MOST
    return bool(regular and (falls <= column[0] + 2 * usual).all())


def _in_order(x: FloatArray) -> bool:
    """Whether neighbouring rows are near each other."""
    if len(x) < 8:
        return False
    other = np.random.default_rng(0).permutation(len(x))
    near = float(np.median(np.linalg.norm(np.diff(x, axis=0), axis=1)))
    return bool(near < IN_ORDER * np.median(np.linalg.norm(x - x[other], axis=1)))


def _related(x: FloatArray, v: FloatArray) -> float:
    """The largest cosine between steps of one to sixteen rows and the mean velocities over them."""
    best = -1.0
    total = np.cumsum(np.vstack([np.zeros(v.shape[1]), v]), axis=0)
    for lag in (1, 4, 16):
        if len(x) > 2 * lag:
            dx, told = x[lag:] - x[:-lag], total[lag + 1 :] - total[1:-lag]
            scale = np.linalg.norm(dx) * np.linalg.norm(told)
            best = max(best, float((dx * told).sum() / scale) if scale > 0 else 0.0)
    return best


def _slope(x: FloatArray, v: FloatArray, time: FloatArray) -> float:
    """dx = slope v dt."""
    told = (v[1:] + v[:-1]) / 2 * np.diff(time)[:, None]
    return float((np.diff(x, axis=0) * told).sum() / max(float((told**2).sum()), np.finfo(float).tiny))
