"""ROS 1 and ROS 2 bags and MCAP files: one recording each, from the topic that tells where things are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from ..errors import missing_extra
from .errors import EmptyFile, UnknownColumns
from .recording import Format, Recording, Wanted

Row = tuple[list[float], list[float], list[float]]
"""Position, orientation x, y, z, w, velocity; empty where a message has none."""


def _xyz(v: Any) -> list[float]:
    return [float(v.x), float(v.y), float(v.z)]


def _pose(place: Any, turn: Any) -> Row:
    return _xyz(place), [*_xyz(turn), float(turn.w)], []


# What is read of each type of message; of several topics the type that stands first wins.
_READERS: dict[str, Callable[[Any], Row]] = {
    "geometry_msgs/msg/PoseStamped": lambda m: _pose(m.pose.position, m.pose.orientation),
    "geometry_msgs/msg/PoseWithCovarianceStamped": lambda m: _pose(m.pose.pose.position, m.pose.pose.orientation),
    "nav_msgs/msg/Odometry": lambda m: _pose(m.pose.pose.position, m.pose.pose.orientation),
    "geometry_msgs/msg/TransformStamped": lambda m: _pose(m.transform.translation, m.transform.rotation),
    "sensor_msgs/msg/JointState": lambda m: ([float(p) for p in m.position], [], [float(v) for v in m.velocity]),
    "geometry_msgs/msg/PointStamped": lambda m: (_xyz(m.point), [], []),
}
_TWIST = "geometry_msgs/msg/TwistStamped"


def read_bag(path: Path, wanted: Wanted) -> Recording:
    """PoseStamped, TransformStamped, JointState, PointStamped or Odometry; TwistStamped beside them is their velocity."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise missing_extra("Reading ROS bags", "rosbags", "ros") from error
    # A file of a ROS 2 bag is described by the folder that it lies in.
    whole = path.parent if path.suffix in (".mcap", ".db3") and is_bag(path.parent) else path
    with AnyReader([whole], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        return _recording(path, reader, wanted)


def is_bag(folder: Path) -> bool:
    """Whether this folder is a ROS 2 bag."""
    return (folder / "metadata.yaml").is_file()


def _recording(path: Path, reader: Any, wanted: Wanted) -> Recording:
    known = [c for c in reader.connections if c.msgtype in _READERS]
    asked = wanted.position[0] if wanted.position and len(wanted.position) == 1 else None
    topics = {c.topic: c.msgtype for c in reader.connections}
    if asked is not None:
        known = [c for c in known if c.topic == asked]
    if not known:
        raise UnknownColumns(
            f"Expected a topic of PoseStamped, TransformStamped or JointState in {path}, found "
            f"{', '.join(f'{t} ({k})' for t, k in list(topics.items())[:20]) or 'none'}. Say which: position='/topic'."
        )
    ranks = list(_READERS)
    best = min(known, key=lambda c: (ranks.index(c.msgtype), -c.msgcount))
    rivals = {c.topic for c in known if c.msgtype == best.msgtype}
    if len(rivals) > 1 and asked is None:
        raise UnknownColumns(
            f"Expected one topic of {best.msgtype} in {path}, found {', '.join(sorted(rivals))}. Say which: position='/topic'."
        )
    chosen = [c for c in known if c.topic == best.topic]
    time, rows, frames = _messages(reader, chosen, lambda message, kind: _READERS[kind](message))
    if not rows:
        raise EmptyFile(f"Expected messages on {best.topic} of {path}, got none.")
    widths = {len(r[0]) for r in rows}
    if len(widths) != 1 or 0 in widths:
        raise UnknownColumns(
            f"Expected as many coordinates in every message on {best.topic} of {path}, got {sorted(widths)}."
        )
    x, turns, v = (np.array([r[i] for r in rows]) if all(len(r[i]) for r in rows) else None for i in range(3))
    assert x is not None
    velocity = v if v is not None and v.shape == x.shape and np.any(v) else None
    used = {best.topic}
    about = f"Read {best.topic} ({best.msgtype}) as position" + (" and orientation" if turns is not None else "")
    if v is None and x.shape[1] == 3 and (twist := _twist(reader, time, frames)) is not None:
        topic, measured = twist
        velocity = measured if turns is not None else measured[:, :3]
        used.add(topic)
        about += f", {topic} ({_TWIST}) as velocity"
    aside = sorted(t for t in topics if t not in used)
    about += (f"; left aside: {', '.join(aside[:20])}" if aside else "") + "."
    angles = tuple((i, 2 * np.pi) for i in range(x.shape[1])) if best.msgtype.endswith("JointState") else ()
    return Recording(x, velocity, time, None, "time [ns]", (), turns, angles, about).thinned(wanted.every)


def _messages(
    reader: Any, connections: list[Any], row: Callable[[Any, str], Any]
) -> tuple[NDArray[Any], list[Any], set[str]]:
    """Nanoseconds of all messages of these connections, a row of each, in order of time, and the frames they are in.

    A header nobody filled in has the time of arrival.
    """
    stamps, rows, frames = [], [], set()
    for connection, received, raw in reader.messages(connections):
        message = reader.deserialize(raw, connection.msgtype)
        stamps.append(int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec) or received)
        rows.append(row(message, connection.msgtype))
        frames.add(message.header.frame_id)
    order = np.argsort(np.array(stamps), kind="stable")
    return np.array(stamps)[order], [rows[i] for i in order], frames


def _twist(reader: Any, time: Any, frames: set[str]) -> tuple[str, FloatArray] | None:
    """Topic and twist (T, 6) at these times, of the only TwistStamped in the same frame that lasts as long; else None."""
    found = [c for c in reader.connections if c.msgtype == _TWIST]
    if len({c.topic for c in found}) != 1:
        return None
    stamps, rows, theirs = _messages(reader, found, lambda m, _: [*_xyz(m.twist.linear), *_xyz(m.twist.angular)])
    if theirs != frames or len(rows) < 2:
        return None
    t, asked = stamps - time[0], time - time[0]
    step = float(np.median(np.diff(t)))
    if t[0] > asked[0] + 2 * step or t[-1] < asked[-1] - 2 * step:
        return None
    return found[0].topic, np.column_stack([np.interp(asked, t, column) for column in np.array(rows).T])


BAG = Format((".bag", ".mcap", ".db3"), "a ROS bag", read_bag)
