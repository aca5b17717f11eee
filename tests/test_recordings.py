"""Files as people have them: data frames, packed text, JSON, Feather, archives, split clocks, gaps, poses, bags."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from tests.untrained import field_of

import eigenwell as ew
from eigenwell import files, poses
from eigenwell.demonstrations import Chart
from eigenwell.errors import DataError
from eigenwell.files.assembly import mend
from eigenwell.files.columns import recognise
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
    pieces, _, dropped = mend([x], 2)
    rows = np.concatenate(pieces)
    assert len(rows) + dropped == 60 and len(np.unique(rows)) == len(rows)
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


def moved(q, omega, h):
    """The orientation after a time h at angular velocity omega in the base frame."""
    return poses.composed(poses.exponential(h * omega), q)


def test_coordinates_and_angular_velocity_are_two_views_of_one_motion():
    rng = np.random.default_rng(0)
    chart = Chart(poses.exponential(rng.normal(0, 1, 3)), 40.0)
    w = np.concatenate([rng.normal(0, 1, (50, 3)), 1e-4 * rng.normal(0, 1, (10, 3)), np.zeros((1, 3))])
    x, omega = np.hstack([rng.normal(size=(61, 2)), chart.scale * w]), rng.normal(size=(61, 3))
    rates = poses.coordinate_rates(x, omega, chart)
    np.testing.assert_allclose(
        poses.angular_velocity(x, np.hstack([np.zeros((61, 2)), rates]), chart), omega, atol=1e-9
    )
    h, q = 1e-5, poses.orientations(x, chart)
    ahead, behind = (poses.coordinates(x[:, :2], moved(q, omega, s), chart)[:, -3:] for s in (h, -h))
    np.testing.assert_allclose((ahead - behind) / (2 * h), rates, atol=1e-4 * chart.scale)


def pose_field(seed=0):
    """An untrained field on poses: any numbers make a stable one."""
    position, orientation, target, _ = turns(np.random.default_rng(seed), goals=2, each=4)
    found = ew.identify(poses.from_poses(position, orientation, dt=0.01))
    return replace(field_of(found, bend=0.02), chart=found.demos.chart), position, orientation, target


def test_a_field_of_poses_gives_twists_and_unit_quaternions(tmp_path):
    field, position, orientation, target = pose_field()
    away = np.array([poses.angle_between(field.poses.attractors.orientation, np.tile(t, (2, 1))) for t in target])
    assert np.degrees(away.min(axis=1)).max() < 0.2 and set(away.argmin(axis=1)) == {0, 1}
    places, spun = np.array([p[0] for p in position]), np.array([q[0] for q in orientation])
    twist = field.poses.predict(places, spun)
    assert twist.linear.shape == twist.angular.shape == (8, 3)
    np.testing.assert_allclose(field.poses.predict(places, -spun).angular, twist.angular)  # q and -q are one
    rolled = field.poses.simulate(places, spun, t=[0.0, 1e-6])
    np.testing.assert_allclose(np.linalg.norm(rolled.orientation, axis=-1), 1.0)
    np.testing.assert_allclose((rolled.position[:, 1] - places) / 1e-6, twist.linear, rtol=1e-3, atol=1e-2)
    ahead = moved(spun, twist.angular, 1e-6)
    assert poses.angle_between(ahead, rolled.orientation[:, 1]).max() < 1e-6
    one = field.poses.predict(places[0], spun[0])
    np.testing.assert_allclose(one.angular, twist.angular[0])
    at_rest = field.poses.predict(*field.poses.attractors)
    assert np.abs(at_rest.linear).max() < 1e-9 and np.abs(at_rest.angular).max() < 1e-9
    arrived = field.poses.simulate(places, spun, duration=100.0)
    goal = field.poses.basin(places, spun)
    end = poses.angle_between(arrived.orientation[:, -1], field.poses.attractors.orientation[goal])
    assert np.degrees(end).max() < 1.0
    field.save(tmp_path / "pose.safetensors")
    again = ew.load(tmp_path / "pose.safetensors")
    np.testing.assert_array_equal(again.poses.predict(places, spun).angular, twist.angular)


def test_a_certificate_of_poses_loops_on_what_is_called():
    field, *_ = pose_field()
    certificate = field.poses.certificate(samples=4, rates=(20.0,))
    assert certificate.holds and certificate.inner.holds and certificate.arrived == 1.0
    assert 0 < certificate.widest < np.pi / 2 and str(certificate).startswith("holds: 100.0% of 4 loops on poses")
    # Loops that do not arrive, leave the chart, or a field that does not hold in it: each alone is enough.
    inner = replace(certificate.inner, decreasing=0.99)
    for broken in ({"arrived": 0.75}, {"widest": np.pi}, {"inner": inner}):
        other = replace(certificate, **broken)
        assert not other.holds and str(other).startswith("DOES NOT HOLD")


def test_poses_that_a_field_does_not_know_are_refused():
    field, position, _, _ = pose_field()
    far = poses.composed(field.chart.reference, poses.exponential(np.array([0, 0, 0.999 * np.pi])))
    with pytest.raises(DataError, match="within half a turn"):
        field.poses.predict(position[0][0], far)
    with pytest.raises(ValueError, match="one orientation per position"):
        field.poses.predict(position[0][:3], far)
    with pytest.raises(DataError, match="unit quaternions"):
        field.poses.predict(position[0][0], 2 * far)
    with pytest.raises(ValueError, match="learned from poses"):
        _ = replace(field, chart=None).poses


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


@pytest.mark.parametrize("frame", ["base", "tool0"])
def test_a_twist_beside_a_pose_is_its_velocity(tmp_path, frame):
    """Turning about z while moving; stamps of the two topics differ. A twist in another frame is left aside."""
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    vector, name = types["geometry_msgs/msg/Vector3"], "geometry_msgs/msg/{}Stamped"

    def head(t, frame):
        return types["std_msgs/msg/Header"](
            types["builtin_interfaces/msg/Time"](1700000000 + int(t), round(1e9 * (t % 1))), frame
        )

    angle, fast = np.exp(-2 * T), np.linspace(0, 2, 401)
    with rosbag2.Writer(tmp_path / "bag", version=9) as writer:
        pose = writer.add_connection("/pose", name.format("Pose"), typestore=store)
        twist = writer.add_connection("/twist", name.format("Twist"), typestore=store)
        for t, x, a in zip(T, X, angle, strict=True):
            spin = types["geometry_msgs/msg/Quaternion"](*poses.exponential(np.array([0, 0, a])))
            body = types["geometry_msgs/msg/Pose"](types["geometry_msgs/msg/Point"](*x), spin)
            message = types[name.format("Pose")](head(t, "base"), body)
            writer.write(pose, int(1e9 * t), store.serialize_cdr(message, name.format("Pose")))
        for t in fast:
            e = np.exp(-2 * t)
            linear, angular = vector(-2 * e, 2 * e, (1 - 2 * t) * e), vector(0.0, 0.0, -2 * e)
            message = types[name.format("Twist")](head(t, frame), types["geometry_msgs/msg/Twist"](linear, angular))
            writer.write(twist, int(1e9 * t), store.serialize_cdr(message, name.format("Twist")))
    demos = files.read(tmp_path / "bag")
    if frame == "tool0":
        assert "left aside: /twist" in demos.about and "velocities-estimated" in {c.name for c in demos.warnings}
        return
    assert "/twist (geometry_msgs/msg/TwistStamped) as velocity" in demos.about
    true = np.column_stack([-2 * angle, 2 * angle, (1 - 2 * T) * angle, 0 * T, 0 * T, -2 * angle * demos.chart.scale])
    np.testing.assert_allclose(demos.v, true, atol=1e-3)


def test_a_bag_without_positions_says_what_is_in_it(tmp_path):
    write_bag(tmp_path / "bag", "geometry_msgs/msg/TwistStamped")
    with pytest.raises(files.UnknownColumns, match=r"found /arm \(geometry_msgs/msg/TwistStamped\)"):
        files.read(tmp_path / "bag")
    (tmp_path / "broken.bag").write_bytes(b"#ROSBAG V2.0\nnothing")
    with pytest.raises(files.UnreadableFile, match="ROS bag"):
        files.read(tmp_path / "broken.bag")


# --- tasks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "npz"])
def test_a_column_of_tasks_says_which_goal(tmp_path, suffix):
    """Six recordings that end at two places far apart, meant for three goals; tasks are words where a format has words."""
    columns = table(6)
    task = np.repeat([0, 1, 2, 0, 1, 2], len(T))
    words = np.array(["pick", "place", "press"])[task]
    if suffix == "csv":
        rows = zip(*columns.values(), words, strict=True)
        text = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / "a.csv").write_text(f"{','.join(columns)},job\n{text}\n")
    elif suffix == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table(columns | {"job": words}), tmp_path / "a.parquet")
    elif suffix == "jsonl":
        names = [*columns, "job"]
        rows = zip(*(c.tolist() for c in columns.values()), words.tolist(), strict=True)
        (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(dict(zip(names, r, strict=True))) for r in rows))
    else:
        position = np.column_stack([columns[n] for n in "xyz"])
        np.savez(tmp_path / "a.npz", x=position, t=columns["t"], demo=columns["demo"], job=task)
    demos = files.read(tmp_path / f"a.{suffix}", task="job", every=2)
    np.testing.assert_array_equal(demos.task[demos.offsets[:-1]], [0, 1, 2, 0, 1, 2])
    assert len(demos.task) == demos.n_samples
    found = ew.identify(demos, labels=demos.task)
    assert found.n_attractors == 3 and "labels" in found.told[0]
    with pytest.raises(files.UnknownColumns, match="chore"):
        files.read(tmp_path / f"a.{suffix}", task="chore")


def test_the_task_of_a_data_frame_and_of_trimmed_recordings():
    pd = pytest.importorskip("pandas")
    demos = files.read(pd.DataFrame(table() | {"task_index": np.repeat([7, 7, 3, 3], len(T))}), task="task_index")
    np.testing.assert_array_equal(demos.task, np.repeat([0, 0, 1, 1], len(T)))
    assert len(demos.trimmed().task) == demos.trimmed().n_samples
