"""Files as people have them: data frames, packed text, JSON, Feather, archives, split clocks, gaps, poses, bags."""

import gzip
import json

import numpy as np
import pytest

import eigenwell as ew
from eigenwell import files, poses
from eigenwell.errors import DataError
from eigenwell.files.columns import recognise
from eigenwell.files.gaps import mend
from eigenwell.files.recording import Wanted

T = np.linspace(0, 2, 81)
X = np.column_stack([np.exp(-2 * T), 1 - np.exp(-2 * T), T * np.exp(-2 * T)])


def table(n=4, named=("x", "y", "z")):
    """n trajectories, one after the other, as columns."""
    out = {"demo": np.repeat(np.arange(n), len(T)), "t": np.tile(T, n)}
    for i, name in enumerate(named):
        out[name] = np.concatenate([X[:, i] + 3 * k for k in range(n)])
    return out


def expected(n=4, d=3):
    return np.concatenate([X[:, :d] + 3 * k for k in range(n)])


def raw(demos):
    return demos.x if demos.raw is None else demos.raw


# --- data frames ----------------------------------------------------------------------------------


def frames():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    return {"pandas": pd.DataFrame(table()), "polars": pl.DataFrame(table()), "arrow": pa.table(table())}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_data_frames_are_read_by_the_names_of_their_columns(kind):
    demos = ew.Demonstrations.of(frames()[kind])
    assert demos.n_trajectories == 4 and demos.dimension == 3
    np.testing.assert_allclose(raw(demos), expected(), atol=1e-12)
    np.testing.assert_allclose(demos.time[: len(T)], T)
    assert demos.about == "Read x, y, z as position, t as time, demo as trajectory."


def test_a_list_of_data_frames_is_one_trajectory_each():
    frame = frames()["pandas"]
    parts = [part for _, part in frame.drop(columns="demo").groupby(frame["demo"])]
    assert ew.Demonstrations.of(parts).n_trajectories == 4
    assert ew.identify(parts).n_attractors == 4


def test_an_index_of_dates_is_time():
    pd = pytest.importorskip("pandas")
    stamps = pd.Timestamp("2024-05-01") + pd.to_timedelta(T, unit="s")
    demos = ew.Demonstrations.of(pd.DataFrame({"x": X[:, 0], "y": X[:, 1]}, index=stamps))
    np.testing.assert_allclose(demos.time - demos.time[0], T, atol=1e-6)


def test_a_frame_whose_columns_say_nothing_is_refused_with_a_sentence():
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="Expected columns of positions"):
        ew.Demonstrations.of(pd.DataFrame({"apples": T, "pears": T}))
    # Positions and velocities given apart need no names.
    assert (
        ew.Demonstrations.of(pd.DataFrame({"a": T, "b": T**2}), pd.DataFrame({"a": 1 + T, "b": 2 * T})).dimension == 2
    )


# --- formats --------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["feather", "jsonl", "ndjson"])
def test_what_is_written_comes_back(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    demos = ew.systems.heart.sample(seed=0)
    files.write(tmp_path / f"a.{suffix}", demos)
    back = files.read(tmp_path / f"a.{suffix}")
    assert (back.x == demos.x).all() and (back.v == demos.v).all() and (back.offsets == demos.offsets).all()


def test_text_packed_with_gzip(tmp_path):
    rows = "\n".join(f"{t},{x},{y}" for t, (x, y, _) in zip(T, X, strict=True))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(f"t,x,y\n{rows}\n".encode()))
    np.testing.assert_allclose(raw(files.read(tmp_path / "a.csv.gz")), X[:, :2])
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"t,x,y\n")[:-6])
    with pytest.raises(files.UnreadableFile, match="gzip"):
        files.read(tmp_path / "b.csv.gz")


def test_nested_json_of_one_record_per_line(tmp_path):
    lines = [
        json.dumps(
            {
                "header": {"stamp": {"sec": 1700000000 + int(t), "nanosec": round(1e9 * (t % 1))}},
                "ee": {"position": list(x)},
            }
        )
        for t, x in zip(T, X, strict=True)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    demos = files.read(tmp_path / "a.jsonl")
    np.testing.assert_allclose(raw(demos), X)
    np.testing.assert_allclose(demos.time - demos.time[0], T, atol=1e-8)


def test_json_columns(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"t": T.tolist(), "position": X.tolist()}))
    np.testing.assert_allclose(raw(files.read(tmp_path / "a.json")), X)


def test_an_archive_with_one_array_for_every_demonstration(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"demo_{k}": X[: 60 + k] + k for k in range(11)})
    demos = files.read(tmp_path / "a.npz", dt=0.025)
    assert demos.n_trajectories == 11
    np.testing.assert_allclose(raw(demos)[demos.offsets[10]], X[0] + 10)  # demo_10 after demo_9


@pytest.mark.parametrize(
    "stamp", ["2024-05-01T12:00:{:09.6f}Z", "2024-05-01 12:00:{:09.6f}", "2024-05-01T14:00:{:012.9f}+02:00"]
)
def test_iso_times(tmp_path, stamp):
    rows = "\n".join(f"{stamp.format(t)},{x},{y}" for t, (x, y, _) in zip(T, X, strict=True))
    (tmp_path / "a.csv").write_text(f"time,x,y\n{rows}\n")
    np.testing.assert_allclose(files.read(tmp_path / "a.csv").time, T, atol=2e-6)


def test_seconds_and_nanoseconds_in_two_columns(tmp_path):
    rows = "\n".join(f"{1700000000 + int(t)},{round(1e9 * (t % 1))},{x},{y}" for t, (x, y, _) in zip(T, X, strict=True))
    (tmp_path / "a.csv").write_text(f"header.stamp.sec,header.stamp.nanosec,x,y\n{rows}\n")
    np.testing.assert_allclose(files.read(tmp_path / "a.csv").time, T, atol=1e-8)


NAMES = {
    "x y z t": ("x y z", "", "t"),
    "ee.position.x ee.position.y ee.position.z ee.velocity.x ee.velocity.y ee.velocity.z time": (
        "ee.position.x ee.position.y ee.position.z", "ee.velocity.x ee.velocity.y ee.velocity.z", "time",
    ),
    "stamp tool0_x tool0_y tool0_z force_x force_y force_z": ("tool0_x tool0_y tool0_z", "", "stamp"),
    "timestamp actual_TCP_pose_0 actual_TCP_pose_1 actual_TCP_speed_0 actual_TCP_speed_1 actual_current_0 actual_current_1": (
        "actual_TCP_pose_0 actual_TCP_pose_1", "actual_TCP_speed_0 actual_TCP_speed_1", "timestamp",
    ),
    "secs nsecs joint_1 joint_2 effort_1 effort_2": ("joint_1 joint_2", "", "secs"),
    "t x y z qx qy qz qw": ("x y z", "", "t"),
    "t pose.position.x pose.position.y pose.orientation.w pose.orientation.x pose.orientation.y pose.orientation.z": (
        "pose.position.x pose.position.y", "", "t",
    ),
}  # fmt: skip


@pytest.mark.parametrize("names", NAMES)
def test_names_that_loggers_give(tmp_path, names):
    columns = recognise(tmp_path, names.split(), Wanted())
    position, velocity, time = NAMES[names]
    assert (" ".join(columns.position), " ".join(columns.velocity), columns.time) == (position, velocity, time)
    if "w" in "".join(n[-1] for n in names.split()):
        assert [n[-1] for n in columns.orientation] == list("xyzw")
    left = set(names.split()) - set(columns.all)
    assert set(columns.aside) == left and all(name in columns.about for name in left)


# --- gaps and angles ------------------------------------------------------------------------------


def test_short_gaps_are_filled_long_ones_split(tmp_path):
    cells = [[f"{v}" for v in (t, x, y)] for t, (x, y, _) in zip(T, X, strict=True)]
    for k in (10, 11, 12):
        cells[k][1] = ""
    for k in range(40, 55):
        cells[k][2] = "nan"
    (tmp_path / "a.csv").write_text("t,x,y\n" + "\n".join(",".join(c) for c in cells))
    demos = files.read(tmp_path / "a.csv")
    assert demos.n_trajectories == 2 and np.diff(demos.offsets).tolist() == [40, 26]
    np.testing.assert_allclose(raw(demos)[10:13], X[10:13, :2], atol=1e-2)
    said = next(c.message for c in demos.warnings if c.name == "gaps")
    assert "3 rows" in said and "15 rows" in said and "1 more" in said
    with pytest.raises(DataError, match="finite"):
        files.read(tmp_path / "a.csv", longest_gap=0)


def test_gaps_of_unordered_samples_are_dropped(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,vx,vy\n" + "".join(f"{x},{y},1,2\n" for x, y, _ in X) + "1,,3,4\n")
    demos = files.read(tmp_path / "a.csv")
    assert demos.n_samples == len(X) and "gaps" in [c.name for c in demos.warnings]


@pytest.mark.parametrize("seed", range(5))
def test_no_row_is_lost_or_made_up_by_mending(seed):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.arange(60.0), 2 * np.arange(60.0)])
    x[rng.random(60) < 0.3] = np.nan
    mended = mend(x, [], 2)
    rows = np.concatenate(mended.rows)
    assert len(rows) + mended.dropped == 60 and len(np.unique(rows)) == len(rows)
    np.testing.assert_allclose(x[rows], np.column_stack([rows, 2 * rows]))  # lines are filled exactly


@pytest.mark.parametrize(("name", "turn"), [("yaw", 2 * np.pi), ("theta_deg", 360.0)])
def test_angles_that_wrap_are_unwrapped(tmp_path, name, turn):
    angle = turn * (0.4 + 0.3 * T)
    wrapped = (angle + turn / 2) % turn - turn / 2
    rows = "\n".join(f"{t},{a},{b}" for t, a, b in zip(T, wrapped, 0.1 * wrapped, strict=True))
    (tmp_path / "a.csv").write_text(f"t,{name},x\n{rows}\n")
    demos = files.read(tmp_path / "a.csv", position=[name, "x"])
    assert np.abs(np.diff(raw(demos)[:, 0])).max() < turn / 10
    assert "unwrapped" in [c.name for c in demos.warnings]


# --- poses ----------------------------------------------------------------------------------------


def turns(rng, goals=3, each=7, noise=0.003):
    """Reaches to one place with different orientations, quaternions with random signs."""
    s = np.clip(np.linspace(-0.1, 1.2, 130), 0, 1)
    rise = (s**3 * (10 - 15 * s + 6 * s**2))[:, None]
    target = poses.exponential(rng.normal(0, 0.6, (goals, 3)))
    position, orientation, label = [], [], []
    for q in range(goals):
        for _ in range(each):
            start, w = rng.uniform(-300, 300, 3), rng.normal(0, 0.3, 3)
            position.append((1 - rise) * start + rng.standard_normal((len(s), 3)))
            shake = (1 - rise) * w + noise * rng.standard_normal((len(s), 3))
            spun = poses.composed(target[q], poses.exponential(shake))
            orientation.append(spun * rng.choice([-1, 1], (len(s), 1)))
            label.append(q)
    return position, orientation, target, np.array(label)


def test_the_exponential_undoes_the_logarithm():
    rng = np.random.default_rng(0)
    q = poses.exponential(rng.normal(0, 1, (50, 3)))
    reference = poses.exponential(rng.normal(0, 1, 3))
    back = poses.composed(reference, poses.exponential(poses.logarithm(q, reference)))
    assert poses.angle_between(q, back).max() < 1e-6
    np.testing.assert_allclose(poses.logarithm(-q, reference), poses.logarithm(q, reference))


@pytest.mark.parametrize("order", ["xyzw", "wxyz"])
def test_goals_that_differ_in_orientation_alone_are_told_apart(order):
    position, orientation, target, label = turns(np.random.default_rng(3))
    given = orientation if order == "xyzw" else [q[:, [3, 0, 1, 2]] for q in orientation]
    found = ew.identify(poses.from_poses(position, given, dt=0.01, order=order))
    assert found.n_attractors == 3
    of_path = found.labels[found.demos.offsets[:-1]]
    assert len({(a, b) for a, b in zip(of_path, label, strict=True)}) == 3
    for q, place in enumerate(poses.orientations(found.attractors, found.demos.chart)):
        true = target[label[np.flatnonzero(of_path == q)[0]]]
        assert np.degrees(poses.angle_between(place, true)[0]) < 1.0


def test_quaternion_columns_of_a_file_are_a_pose(tmp_path):
    position, orientation, _, _ = turns(np.random.default_rng(4), goals=2, each=3)
    for k, (p, q) in enumerate(zip(position, orientation, strict=True)):
        rows = np.column_stack([0.01 * np.arange(len(p)), p, q])
        np.savetxt(tmp_path / f"demo_{k}.csv", rows, delimiter=",", header="t,x,y,z,qx,qy,qz,qw", comments="")
    demos = files.read(tmp_path)
    assert demos.dimension == 6 and demos.chart is not None and demos.names[2] == "demo_2.csv"
    assert "qx, qy, qz, qw as orientation" in demos.about
    back = poses.orientations(raw(demos), demos.chart)
    assert poses.angle_between(back, np.concatenate(orientation)).max() < 1e-6
    assert files.read(tmp_path, position="x,y,z").dimension == 3


def test_what_is_no_orientation_or_turns_too_far_is_refused():
    position, orientation, _, _ = turns(np.random.default_rng(5), goals=1, each=2)
    with pytest.raises(DataError, match="unit quaternions in trajectory 0"):
        poses.from_poses(position, [2 * q for q in orientation], dt=0.01)
    around = [poses.exponential(np.outer(np.linspace(1.5 * np.pi, 0, len(p)), [0, 0, 1])) for p in position]
    with pytest.raises(DataError, match="within half a turn"):
        poses.from_poses(position, around, dt=0.01)


# --- ROS ------------------------------------------------------------------------------------------


def write_bag(folder, kind, storage=None):
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    header, stamp = types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]
    point, vector = types["geometry_msgs/msg/Point"], types["geometry_msgs/msg/Vector3"]
    spin = types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)

    def message(t, x):
        head = header(stamp(1700000000 + int(t), round(1e9 * (t % 1))), "base")
        if kind == "sensor_msgs/msg/JointState":
            return types[kind](head, ["a", "b", "c"], x, np.empty(0), np.empty(0))
        if kind == "geometry_msgs/msg/TransformStamped":
            return types[kind](head, "tool0", types["geometry_msgs/msg/Transform"](vector(*x), spin))
        if kind == "geometry_msgs/msg/TwistStamped":
            return types[kind](head, types["geometry_msgs/msg/Twist"](vector(*x), vector(*x)))
        return types[kind](head, types["geometry_msgs/msg/Pose"](point(*x), spin))

    options = {"version": 9} | ({"storage_plugin": storage} if storage else {})
    with rosbag2.Writer(folder, **options) as writer:
        connection = writer.add_connection("/arm", kind, typestore=store)
        for t, x in zip(T, X, strict=True):
            writer.write(connection, int(1e9 * t), store.serialize_cdr(message(t, x), kind))


@pytest.mark.parametrize(
    "kind", ["geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/TransformStamped", "sensor_msgs/msg/JointState"]
)
def test_a_ros2_bag_is_one_recording(tmp_path, kind):
    write_bag(tmp_path / "bag", kind)
    demos = files.read(tmp_path / "bag")
    assert demos.n_trajectories == 1 and kind in demos.about
    np.testing.assert_allclose(raw(demos)[:, :3], X)
    np.testing.assert_allclose(demos.time - demos.time[0], T, atol=1e-6)


def test_a_bag_stored_as_mcap(tmp_path):
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    write_bag(tmp_path / "bag", "geometry_msgs/msg/PoseStamped", rosbag2.StoragePlugin.MCAP)
    (one,) = (tmp_path / "bag").glob("*.mcap")
    np.testing.assert_allclose(raw(files.read(one))[:, :3], X)


def test_a_ros1_bag(tmp_path):
    rosbag1 = pytest.importorskip("rosbags.rosbag1")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    types, kind = store.types, "sensor_msgs/msg/JointState"
    with rosbag1.Writer(tmp_path / "a.bag") as writer:
        connection = writer.add_connection("/joint_states", kind, typestore=store)
        for k, (t, x) in enumerate(zip(T, X, strict=True)):
            head = types["std_msgs/msg/Header"](
                k, types["builtin_interfaces/msg/Time"](int(t), round(1e9 * (t % 1))), ""
            )
            raw_message = types[kind](head, ["a", "b", "c"], x, np.gradient(X, T, axis=0)[k], np.empty(0))
            writer.write(connection, int(1e9 * t), store.serialize_ros1(raw_message, kind))
    demos = files.read(tmp_path / "a.bag", position="/joint_states")
    np.testing.assert_allclose(raw(demos), X)


def test_a_bag_without_positions_says_what_is_in_it(tmp_path):
    write_bag(tmp_path / "bag", "geometry_msgs/msg/TwistStamped")
    with pytest.raises(files.UnknownColumns, match=r"found /arm \(geometry_msgs/msg/TwistStamped\)"):
        files.read(tmp_path / "bag")
    (tmp_path / "broken.bag").write_bytes(b"#ROSBAG V2.0\nnothing")
    with pytest.raises(files.UnreadableFile, match="ROS bag"):
        files.read(tmp_path / "broken.bag")
