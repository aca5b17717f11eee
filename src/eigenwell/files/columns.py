"""Which column is what, by the names people give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..demonstrations import Caution
from .errors import TooLarge, UnknownColumns
from .recording import MOST_COLUMNS, Wanted

_UNITS = r"mm|cm|m|km|in|rad|deg|s|ms|us|ns|sec|secs|seconds|milliseconds|microseconds|nanoseconds"
_UNIT = re.compile(rf"(?:_({_UNITS})|[ _]*[\[(]\s*([^\])]+?)\s*[\])])$")
_AXIS = r"(x|y|z|\d+)"
_STEMS = "pos|position|positions|p|q|x|theta|angle|joint|joints|joint_pos|joint_position|state|observation_state|s|j"
_POSITION = re.compile(rf"(?:(?:{_STEMS})_?)?{_AXIS}")
_RATES = (
    "v|vel|velocity|velocities|d|dot|dx|dq|xd|qd|xdot|qdot|x_dot|q_dot|dtheta|thetadot|theta_dot|joint_vel|"
    "joint_velocity|joint_v|vx|vq|twist|speed"
)
_VELOCITY = re.compile(
    rf"(?:(?:{_RATES})_?){_AXIS}|(?:(?:{_STEMS})_?)?{_AXIS}_?(?:dot|vel|velocity|d|p|/dt|_dt)|d{_AXIS}_?/?_?dt"
)
TIME_NAMES = ("time", "t", "timestamp", "timestamps", "stamp", "seconds", "secs", "sec", "clock", "header_stamp")
TRAJECTORY_NAMES = (
    "trajectory", "traj", "trajectory_id", "traj_id", "trajectory_index", "episode", "episode_index", "episode_id",
    "demo", "demo_id", "demonstration", "demonstration_id", "run", "run_id", "trial", "trial_id", "stroke", "stroke_id",
    "id", "sequence", "rollout",
)  # fmt: skip
SHOWN = 30
"""Names listed in an error: enough to find the right one, few enough to read."""


@dataclass(frozen=True)
class Columns:
    """Names, as they stand in the file, of what each column is."""

    position: tuple[str, ...]
    velocity: tuple[str, ...] = ()
    time: str | None = None
    trajectory: str | None = None
    warnings: tuple[Caution, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return self.position + self.velocity + tuple(n for n in (self.time, self.trajectory) if n)


def unit(name: str) -> str | None:
    """The unit a name ends in: 'x_mm', 'time [ns]'."""
    found = _UNIT.search(name.strip().lower())
    return None if found is None else found.group(1) or found.group(2)


def plain(name: str) -> str:
    """Lower case, without unit, words joined by '_'."""
    bare = _UNIT.sub("", name.strip().lower())
    return re.sub(r"[\s.\-]+", "_", bare).strip("_")


def check_count(path: Path, count: int) -> None:
    if count > MOST_COLUMNS:
        raise TooLarge(
            f"Expected at most {MOST_COLUMNS} columns in {path}, got {count}: one row per sample, one column per coordinate. "
            "If the file is transposed, turn it first."
        )


def recognise(path: Path, names: Sequence[str], wanted: Wanted) -> Columns:
    """What every column is: as the user said, else by its name."""
    check_count(path, len(names))
    missing = [n for n in wanted.names if n not in names]
    if missing:
        raise UnknownColumns(f"Expected a column {missing[0]!r} in {path}, found {listed(names)}.")
    taken = set(wanted.names)
    free = [n for n in names if n not in taken]
    time = wanted.time or _first_of(free, TIME_NAMES)
    trajectory = wanted.trajectory or _first_of([n for n in free if n != time], TRAJECTORY_NAMES)
    rest = [n for n in free if n not in (time, trajectory)]
    position = wanted.position or tuple(n for n in rest if _POSITION.fullmatch(plain(n)))
    rest = [n for n in rest if n not in position]
    velocity = wanted.velocity or tuple(n for n in rest if _VELOCITY.fullmatch(plain(n)))
    if not position:
        raise UnknownColumns(
            f"Expected columns of positions (x, y / x1, x2 / q1, q2 / pos_x, pos_y) in {path}, found {listed(names)}. Say which: "
            "position=[...], velocity=[...], time=..., trajectory=... (on the command line --position x,y --velocity vx,vy)."
        )
    if velocity and len(velocity) != len(position):
        raise UnknownColumns(
            f"Expected one velocity per position in {path}, got positions {list(position)} and velocities {list(velocity)}. "
            "Say which belong together with position=[...] and velocity=[...]."
        )
    return Columns(position, velocity, time, trajectory, _mixed(position))


def unnamed(path: Path, count: int, wanted: Wanted) -> Columns:
    """Columns without names, called '1', '2', ...: positions then velocities, or positions alone when `dt` is given."""
    check_count(path, count)
    names = tuple(str(i + 1) for i in range(count))
    if wanted.position is not None:
        return recognise(path, names, wanted)
    if wanted.names:
        raise UnknownColumns(
            f"Expected position=[...] beside the other columns in {path}, because its {count} columns have no names; they are "
            f"counted from 1."
        )
    if wanted.dt is not None:
        return Columns(names)
    if count % 2 or count < 4:
        raise UnknownColumns(
            f"Expected column names in {path}, or 2 d columns (d positions, then d velocities), got {count} columns without "
            "names. Say which is which, counted from 1: position=['1', '2'] with time='3' or velocity=[...], or pass dt=..."
        )
    half = count // 2
    told = Caution(
        "columns-guessed",
        f"The columns of {path.name} have no names; the first {half} were read as positions, the last {half} as velocities.",
    )
    return Columns(names[:half], names[half:], warnings=(told,))


def listed(names: Iterable[str]) -> str:
    """The names found, the first thirty of them."""
    shown = list(names)
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return (", ".join(n[:40] for n in shown[:SHOWN]) or "no columns") + more


def _first_of(names: Sequence[str], known: Sequence[str]) -> str | None:
    by_plain = {plain(n): n for n in reversed(names)}
    return next((by_plain[k] for k in known if k in by_plain), None)


def _mixed(position: Sequence[str]) -> tuple[Caution, ...]:
    units = {u for u in map(unit, position) if u}
    if len(units) < 2:
        return ()
    return (
        Caution(
            "mixed-units",
            f"The position columns name different units ({', '.join(sorted(units))}): distances add them up as they are. "
            "Bring all coordinates to one unit.",
        ),
    )
