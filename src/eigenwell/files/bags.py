"""ROS 1 and ROS 2 bags and MCAP files: one recording each, from the topic that tells where things are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

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
    stamps, rows, frame = [], [], ""
    for connection, received, raw in reader.messages([c for c in known if c.topic == best.topic]):
        message = reader.deserialize(raw, connection.msgtype)
        frame = message.header.frame_id
        stamps.append(_stamp(message, received))
        rows.append(_READERS[connection.msgtype](message))
    if not rows:
        raise EmptyFile(f"Expected messages on {best.topic} of {path}, got none.")
    widths = {len(r[0]) for r in rows}
    if len(widths) != 1 or 0 in widths:
        raise UnknownColumns(
            f"Expected as many coordinates in every message on {best.topic} of {path}, got {sorted(widths)}."
        )
    x, orientation, v = (np.array([r[i] for r in rows]) if all(len(r[i]) for r in rows) else None for i in range(3))
    assert x is not None
    order = np.argsort(np.array(stamps), kind="stable")
    time = np.array(stamps)[order]
    velocity = v[order] if v is not None and v.shape == x.shape and np.any(v) else None
    used = {best.topic}
    about = f"Read {best.topic} ({best.msgtype}) as position" + (" and orientation" if orientation is not None else "")
    if v is None and x.shape[1] == 3 and (twist := _twist(reader, time, frame)) is not None:
        topic, measured = twist
        velocity = measured if orientation is not None else measured[:, :3]
        used.add(topic)
        about += f", {topic} ({_TWIST}) as velocity"
    aside = sorted(t for t in topics if t not in used)
    about += (f"; left aside: {', '.join(aside[:20])}" if aside else "") + "."
    angles = tuple((i, 2 * np.pi) for i in range(x.shape[1])) if best.msgtype.endswith("JointState") else ()
    turns = None if orientation is None else orientation[order]
    found = Recording(x[order], velocity, time, None, "time [ns]", (), turns, angles, about)
    return found.thinned(wanted.every)


def _twist(reader: Any, time: Any, frame: str) -> tuple[str, FloatArray] | None:
    """Topic and twist (T, 6) at these times, of the only TwistStamped in the same frame that lasts as long; else None."""
    found = {c.topic: c for c in reader.connections if c.msgtype == _TWIST}
    if len(found) != 1:
        return None
    (topic, connection), stamps, rows = next(iter(found.items())), [], []
    for _, received, raw in reader.messages([connection]):
        message = reader.deserialize(raw, connection.msgtype)
        if message.header.frame_id != frame:
            return None
        stamps.append(_stamp(message, received))
        rows.append([*_xyz(message.twist.linear), *_xyz(message.twist.angular)])
    if len(rows) < 2:
        return None
    order = np.argsort(np.array(stamps), kind="stable")
    t, values = np.array(stamps)[order] - time[0], np.array(rows)[order]
    step, asked = float(np.median(np.diff(t))), time - time[0]
    if t[0] > asked[0] + 2 * step or t[-1] < asked[-1] - 2 * step:
        return None
    return topic, np.column_stack([np.interp(asked, t, column) for column in values.T])


def _stamp(message: Any, received: int) -> int:
    """Nanoseconds; a header nobody filled in has the time of arrival."""
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec) or received


BAG = Format((".bag", ".mcap", ".db3"), "a ROS bag", read_bag)
