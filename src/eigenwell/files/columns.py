"""Which column is what, by the names people give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from ..demonstrations import Caution
from .errors import TooLarge, UnknownColumns
from .recording import MOST_COLUMNS, Recording, Wanted, numbered

_UNITS = r"mm|cm|m|km|in|rad|deg|s|ms|us|ns|sec|secs|seconds|milliseconds|microseconds|nanoseconds"
_UNIT = re.compile(rf"(?:_({_UNITS})|[ _]*[\[(]\s*([^\])]+?)\s*[\])])$")
_AXIS = r"(x|y|z|\d+)"
_STEMS = "pos|position|positions|p|q|x|theta|θ|angle|joint|joints|joint_pos|joint_position|state|observation_state|s|j"
_POSITION = re.compile(rf"(?:(?:{_STEMS})_?)?{_AXIS}")
_RATES = (
    "v|vel|velocity|velocities|d|dot|dx|dq|xd|qd|xdot|qdot|x_dot|q_dot|dtheta|thetadot|theta_dot|joint_vel|"
    "joint_velocity|joint_v|vx|vq|twist|speed|omega|ω"
)
_VELOCITY = re.compile(
    rf"(?:(?:{_RATES})_?){_AXIS}|(?:(?:{_STEMS})_?)?{_AXIS}_?(?:dot|vel|velocity|d|p|/dt|_dt)|d{_AXIS}_?/?_?dt"
)
TIME_NAMES = (
    "time", "t", "timestamp", "timestamps", "stamp", "seconds", "secs", "sec", "clock", "header_stamp", "datetime",
    "elapsed", "elapsed_time", "zeit",
)  # fmt: skip
# Seconds and nanoseconds in two columns, as ROS and C clocks keep them: what the names end in.
_SPLIT = (("sec", "nanosec"), ("secs", "nsecs"), ("sec", "nsec"), ("s", "ns"), ("seconds", "nanoseconds"))
_QUATERNION = re.compile(r"(?P<of>.*?)_?(?:q|quat|quaternion|orientation|rot|rotation|o)_?(?P<axis>[xyzw])")
# Words in names of things that are neither positions nor velocities.
_ASIDE = re.compile(
    r"(?:^|_)(?:force|torque|wrench|effort|current|acc|accel|acceleration|imu|gyro|mag|cov|covariance|action|reward|temp|"
    r"voltage|pixel|image|index|id|quat|quaternion|orientation|gripper|target|desired|cmd|command)(?:_|$|\d)"
)
_MOVING = re.compile(r"(?:^|_)(?:vel|velocity|velocities|twist|speed|linear|v|qd|dq|dot)(?:_|$|\d)")
_PLACED = re.compile(
    r"(?:^|_)(?:pos|position|positions|pose|translation|tcp|ee|eef|tool|tool0|state|joint|joints|q)(?:_|$|\d)"
)
_ANGLE = re.compile(
    r"(?:.*_)?(?:theta|θ|yaw|roll|pitch|angle|phi|psi|heading|joint|joints|joint_pos|joint_position|q|j)_?\d*"
)
TRAJECTORY_NAMES = (
    "trajectory", "traj", "trajectory_id", "traj_id", "trajectory_index", "episode", "episode_index", "episode_id",
    "demo", "demo_id", "demonstration", "demonstration_id", "run", "run_id", "trial", "trial_id", "stroke", "stroke_id",
    "id", "sequence", "rollout",
)  # fmt: skip
TURN = {False: 2 * np.pi, True: 360.0}
"""A full turn, in radians or where the name says degrees."""
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
    nanoseconds: str | None = None
    orientation: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    task: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        single = (self.time, self.nanoseconds, self.task, self.trajectory)
        return self.position + self.velocity + self.orientation + tuple(n for n in single if n)

    @property
    def about(self) -> str:
        """One line: what was read as what, and what was left aside."""
        clock = " and ".join(n for n in (self.time, self.nanoseconds) if n)
        several = {w: listed(names) for w in ("position", "velocity", "orientation") if (names := getattr(self, w))}
        read = several | {"time": clock, "trajectory": self.trajectory, "task": self.task}
        left = f"; left aside: {listed(self.aside)}" if self.aside else ""
        return f"Read {', '.join(f'{names} as {what}' for what, names in read.items() if names)}{left}."

    def recording(self, table: Mapping[str, NDArray[Any]]) -> Recording:
        """The rows of a table of these columns."""

        def stacked(names: tuple[str, ...]) -> FloatArray | None:
            return np.column_stack([table[n] for n in names]).astype(np.float64) if names else None

        time, name = (None, "") if self.time is None else (table[self.time], self.time)
        if time is not None and self.nanoseconds is not None:
            whole = np.asarray(time, dtype=np.float64)
            time, name = whole - whole[:1] + 1e-9 * np.asarray(table[self.nanoseconds], dtype=np.float64), "time_s"
        x = stacked(self.position)
        assert x is not None
        wrap = tuple((i, TURN[unit(n) == "deg"]) for i, n in enumerate(self.position) if _ANGLE.fullmatch(plain(n)))
        trajectory, task = (table[n] if n else None for n in (self.trajectory, self.task))
        # Whole numbers are what the file calls its trajectories and tasks; anything else is numbered as it appears.
        ids = (
            () if trajectory is None or trajectory.dtype.kind not in "iu" else tuple(dict.fromkeys(trajectory.tolist()))
        )
        if task is not None:
            task = task.astype(np.intp) if task.dtype.kind in "iu" else numbered(task)
        group = None if trajectory is None else numbered(trajectory)
        more = (name, self.warnings, stacked(self.orientation), wrap, self.about)
        return Recording(x, stacked(self.velocity), time, group, *more, task=task, ids=ids)


def unit(name: str) -> str | None:
    """The unit a name ends in: 'x_mm', 'time [ns]'."""
    found = _UNIT.search(name.strip().lower())
    return None if found is None else found.group(1) or found.group(2)


def are_units(cells: Sequence[str]) -> bool:
    """Whether a row says units, mm, [m/s], (s), or nothing at all: half of what it says are units that we know."""
    said = [cell.strip().lower() for cell in cells if cell.strip() not in ("", "-", "1")]
    known = rf"(?:{_UNITS}|k|hz|n|nm|pa|bar|kg|px|°|°c|%|a\.u\.)"
    units = [bool(re.fullmatch(rf"[\[(].*[\])]|{known}(?:[/*·]{known})?[²³^\d]*", cell)) for cell in said]
    return bool(said) and 2 * sum(units) >= len(said)


def plain(name: str) -> str:
    """Lower case, without unit, words joined by '_'."""
    # rostopic echo -p writes %time, field.header.stamp, field.pose.position.x, ...
    bare = _UNIT.sub("", name.strip().lower()).removeprefix("%").removeprefix("field.")
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
    asked = (wanted.position or ()) + (wanted.velocity or ())
    twice = [n for k, n in enumerate(asked) if n in asked[:k]]
    if twice:
        raise UnknownColumns(
            f"Expected a column of its own for every coordinate, got {twice[0]!r} twice. Name each once."
        )
    taken = set(wanted.names)
    free = [n for n in names if n not in taken]
    time, nanoseconds = (wanted.time, None) if wanted.time else _clock(free)
    trajectory = wanted.trajectory or _first_of([n for n in free if n != time], TRAJECTORY_NAMES)
    rest = [n for n in free if n not in (time, nanoseconds, trajectory)]
    orientation = () if wanted.position else _quaternion(rest)
    rest = [n for n in rest if n not in orientation]
    position = (
        wanted.position or tuple(n for n in rest if _POSITION.fullmatch(plain(n))) or _prefixed(rest, moving=False)
    )
    rest = [n for n in rest if n not in position]
    velocity = wanted.velocity or tuple(n for n in rest if _VELOCITY.fullmatch(plain(n)))
    if not velocity and not wanted.position:
        velocity = _prefixed(rest, moving=True)
        velocity = velocity if len(velocity) == len(position) else ()
    if not velocity and not wanted.position and {wanted.dt, time, trajectory} == {None}:
        velocity = _of_a_field(position, rest)
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
    aside = tuple(n for n in rest if n not in velocity)
    return Columns(position, velocity, time, trajectory, _mixed(position), nanoseconds, orientation, aside, wanted.task)


def _clock(names: Sequence[str]) -> tuple[str | None, str | None]:
    """The column of time, and that of its nanoseconds where seconds and these stand apart."""
    by_plain = {re.sub(r"[\s.\-/]+", "_", n.strip().lower()).strip("_"): n for n in reversed(names)}
    for whole, part in _SPLIT:
        for key, name in by_plain.items():
            stem = key.removesuffix(whole)
            if key.endswith(whole) and (not stem or stem.endswith("_")) and stem + part in by_plain:
                return name, by_plain[stem + part]
    return _first_of(names, TIME_NAMES), None


def _quaternion(names: Sequence[str]) -> tuple[str, ...]:
    """Four columns x, y, z, w of one orientation, in that order, wherever w stands in the file."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _QUATERNION.fullmatch(plain(name)):
            stem = plain(name)[: -len(match["axis"])]
            found.setdefault(stem, {})[match["axis"]] = name
    whole = [axes for axes in found.values() if set(axes) == set("xyzw")]
    return tuple(whole[0][axis] for axis in "xyzw") if whole else ()


def _prefixed(names: Sequence[str], moving: bool) -> tuple[str, ...]:
    """Columns of one thing by a name of its own: tool0_x, tool0_y; ee.position.x; actual_TCP_pose_0 .. 5.

    All columns with one beginning that end in x, y, z or in numbers; of several beginnings the one that speaks of a position
    (or a velocity), then the first.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        if (match := re.fullmatch(rf"(.+?)_?{_AXIS}", plain(name))) and not _ASIDE.search(plain(name)):
            groups.setdefault(match[1], []).append(name)
    fitting = {stem: g for stem, g in groups.items() if len(g) > 1 and bool(_MOVING.search(stem)) == moving}
    ranked = sorted(fitting, key=lambda stem: not (_MOVING if moving else _PLACED).search(stem))
    return tuple(fitting[ranked[0]]) if ranked else ()


def _of_a_field(position: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """u, v(, w) beside x, y(, z), as fields are written: without time these can be nothing but velocities."""
    by_plain = {plain(n): n for n in reversed(names)}
    components = "uvw"[: len(position)]
    fits = len(position) > 1 and [plain(n) for n in position] == list("xyz"[: len(position)])
    return tuple(by_plain[c] for c in components) if fits and by_plain.keys() >= set(components) else ()


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
    said = (
        f"The position columns name different units ({', '.join(sorted(units))}): distances add them up as they are. "
    )
    return (Caution("mixed-units", said + "Bring all coordinates to one unit."),)


def natural_order(name: str) -> list[tuple[int, int | str]]:
    """demo2 before demo10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", name.lower()) if part]
