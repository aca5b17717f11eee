"""Files as other people keep trajectories: read right, with a word on what was guessed, or refused with a sentence."""

import logging
import pickle

import numpy as np
import pytest
from scipy.io import savemat

import eigenwell as ew
from eigenwell import files

DT = 0.01


def reaches(d=2, count=4):
    rng, out = np.random.default_rng(d), []
    for k in range(count):
        s = np.linspace(0, 1, 60 + 5 * k)[:, None]
        rise = s**3 * (10 - 15 * s + 6 * s**2)
        start, bend = rng.normal(size=(2, d)) + np.array([[3.0], [0.0]])
        x = start * (1 - rise) + bend * rise * (1 - rise)
        out.append((x, np.gradient(x, DT, axis=0)))
    return out


def positions(demos):
    places = demos.x if demos.raw is None else demos.raw
    return np.split(places, demos.offsets[1:-1])


def same(demos, wanted):
    got = positions(demos)
    return len(got) == len(wanted) and all(np.allclose(a[:, : b.shape[1]], b) for a, b in zip(got, wanted, strict=True))


def told(demos):
    return " ".join(str(c) for c in demos.warnings if c.name in ("columns-guessed", "turned"))


def saved(root, arrays):
    for k, a in enumerate(arrays):
        np.save(root / f"{k}.npy", a)
    return root


XS = [x for x, _ in reaches()]


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: x[None], lambda x: x.T, lambda x: x.T[None]])
def test_folders_of_arrays(tmp_path, shape):
    demos = files.read(saved(tmp_path, [shape(x) for x in XS]), dt=DT)
    assert same(demos, XS)


def test_stacks_of_trajectories_whichever_axis_is_time(tmp_path):
    stack = np.array([x[:60] for x in XS])
    for name, a in (("a", stack), ("b", np.swapaxes(stack, 1, 2))):
        np.save(tmp_path / f"{name}.npy", a)
        assert same(files.read(tmp_path / f"{name}.npy", dt=DT), list(stack))
    assert "was turned" in told(files.read(tmp_path / "b.npy", dt=DT))
    np.save(tmp_path / "c.npy", np.swapaxes(stack, 0, 1))
    with pytest.raises(files.UnknownColumns, match="time, trajectory, coordinate"):
        files.read(tmp_path / "c.npy", dt=DT)


@pytest.mark.parametrize("velocities", [False, True])
def test_a_first_column_that_rises_is_time(tmp_path, velocities):
    for k, (x, v) in enumerate(reaches()):
        columns = [DT * np.arange(len(x))[:, None], x, *([v] if velocities else [])]
        np.savetxt(tmp_path / f"{k}.txt", np.hstack(columns))
    demos = files.read(tmp_path)
    assert same(demos, XS) and "column 1, which rises, was read as time" in told(demos)
    assert demos.time[1] - demos.time[0] == pytest.approx(DT) and (demos.noise is None) == velocities


def test_columns_that_could_be_two_things_are_asked_about(tmp_path):
    x = np.column_stack([np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2])
    np.save(tmp_path / "a.npy", np.hstack([x, np.gradient(x, DT, axis=0)]))  # a line at one speed rises like a clock
    with pytest.raises(files.UnknownColumns, match=r"time='1'.*velocity="):
        files.read(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.column_stack([DT * np.arange(50), x]))
    with pytest.raises(files.UnknownColumns, match="looks like time"):
        files.read(tmp_path / "b.npy", dt=DT)
    walk = np.random.default_rng(0).normal(size=(4, 200)).cumsum(axis=1).T
    np.save(tmp_path / "c.npy", walk)  # four positions are not two and their velocities
    with pytest.raises(files.UnknownColumns, match="do not point where the rows go"):
        files.read(tmp_path / "c.npy")
    assert files.read(tmp_path / "c.npy", dt=DT).dimension == 4


def test_shuffled_positions_and_velocities_are_read_as_ever(tmp_path):
    demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    np.save(tmp_path / "a.npy", np.hstack([demos.x, demos.v]))
    assert np.array_equal(files.read(tmp_path / "a.npy").x, demos.x)


@pytest.mark.parametrize("first", ["position", "quaternion"])
@pytest.mark.parametrize("order", [None, "wxyz"])
def test_seven_columns_with_a_unit_quaternion_are_a_pose(tmp_path, first, order):
    for k, (x, _) in enumerate(reaches(3)):
        q = ew.poses.exponential(np.linspace(0, 1, len(x))[:, None] * [0.4, 0.1 * k, 0.2])
        q = q[:, [3, 0, 1, 2]] if order else q
        parts = [x, q] if first == "position" else [q, x]
        np.savetxt(tmp_path / f"{k}.csv", np.hstack([DT * np.arange(len(x))[:, None], *parts]), delimiter=",")
    demos = files.read(tmp_path, quaternion=order)
    assert demos.dimension == 6 and same(demos, [x for x, _ in reaches(3)]) and demos.chart is not None
    assert ("w, x, y, z" if order else "x, y, z, w; if w comes first") in told(demos)
    turn = ew.poses.orientations(demos.x[:1], demos.chart)
    assert abs(abs(turn[0, 3]) - 1) < 1e-6  # no rotation at the start
    with pytest.raises(ew.DataError, match="'xyzw' or 'wxyz'"):
        files.read(tmp_path, quaternion="xwyz")


def test_rostopic_echo(tmp_path):
    for k, (x, _) in enumerate(reaches(3)):
        pose = [f"field.pose.position.{a}" for a in "xyz"] + [f"field.pose.orientation.{a}" for a in "xyzw"]
        lines = [",".join(["%time", *(f"field.header.{a}" for a in ("seq", "stamp", "frame_id")), *pose])]
        for i, row in enumerate(x.tolist()):
            stamp = 1_700_000_000_000_000_000 + i * 10_000_000
            lines.append(f"{stamp + 99},{i},{stamp},world,{row[0]!r},{row[1]!r},{row[2]!r},0,0,0,1")
        (tmp_path / f"{k}.csv").write_text("\n".join(lines))
    demos = files.read(tmp_path)
    assert same(demos, [x for x, _ in reaches(3)]) and demos.dimension == 6
    assert np.median(np.diff(demos.time[:60])) == pytest.approx(DT, rel=1e-3)
    assert "nanoseconds" in " ".join(map(str, demos.warnings)) and "%time as time" in demos.about


def cells(items):
    out = np.empty((1, len(items)), dtype=object)
    out[0, :] = [None] * len(items)
    for k, item in enumerate(items):
        out[0, k] = item
    return out


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ({"a": cells([x.T for x in XS])}, {"dt": DT}),
        ({"a": cells(XS)}, {"dt": DT}),
        ({"a": cells([cells([x]) for x in XS])}, {"dt": DT}),
        ({"a": cells([np.vstack([x.T, v.T]) for x, v in reaches()])}, {}),
        ({"a": np.array([{"x": x.T, "t": DT * np.arange(len(x))} for x in XS], dtype=object)}, {}),
        ({"a": np.array([{"x": x, "xd": v} for x, v in reaches()], dtype=object)}, {}),
        ({"demos": cells([x.T for x in XS])}, {"dt": DT}),
    ],
)
def test_cells_and_structs_of_trajectories(tmp_path, content, options):
    savemat(tmp_path / "a.mat", content)
    assert same(files.read(tmp_path / "a.mat", **options), XS)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ({"a": cells([np.zeros((2, 5)), np.zeros((7, 3))])}, "with one d"),
        ({"a": cells([np.eye(4), np.eye(4)])}, "square"),
        ({"a": cells(XS), "b": cells(XS)}, "found a, b"),
        ({"a": np.array([{"force": x} for x in XS], dtype=object)}, "found force"),
    ],
)
def test_cells_that_are_unclear_are_asked_about(tmp_path, content, match):
    savemat(tmp_path / "a.mat", content)
    with pytest.raises(files.UnknownColumns, match=match):
        files.read(tmp_path / "a.mat", dt=DT)


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".pt"])
def test_pickles_are_refused_with_a_sentence(tmp_path, suffix):
    (tmp_path / f"a{suffix}").write_bytes(pickle.dumps(XS))
    for path in (tmp_path / f"a{suffix}", tmp_path):
        with pytest.raises(files.PickledFile, match="could run code"):
            files.read(path)


# --- frames, logger, messages -------------------------------------------------------------------------


def test_demonstrations_and_results_are_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    table = demos.frame()
    assert isinstance(table, pandas.DataFrame) and list(table) == ["trajectory", "time_s", "x1", "x2", "v1", "v2"]
    found = ew.identify(demos)
    assert (found.frame().label == found.labels).all()
    assert isinstance(found.frame(polars.DataFrame), polars.DataFrame)
    again = ew.identify(table)
    assert again.n_attractors == 2 and np.array_equal(again.demos.x, demos.x)
    table.loc[0, "x1"] = 7.0  # a frame is its reader's own
    assert demos.x[0, 0] != 7.0


def test_snapshots_are_frames_with_fates():
    found = ew.identify(ew.systems.heart.snapshots(400, seed=0), graph=ew.FlowGraph())
    table = found.frame(dict)
    assert {"label", "fate0", "leaves"} <= set(table) and "trajectory" not in table


def test_the_logger_tells_what_was_read(tmp_path, caplog):
    files.write(tmp_path / "a.csv", ew.systems.heart.sample(seed=0, frequency=20.0))
    with caplog.at_level(logging.INFO, logger="eigenwell"):
        files.read(tmp_path / "a.csv")
    assert "as position" in caplog.text


def test_jumps_are_told_in_english():
    x = [np.linspace(0, 1, 50)[:, None] * np.ones(2) for _ in range(3)]
    x[1] = x[1] + 5.0 * (np.arange(50) > 20)[:, None]
    said = next(str(c) for c in ew.Demonstrations.of(x, dt=0.1).warnings if c.name == "jumps")
    assert "trajectory 1 once after sample 20" in said


def test_a_pipeline_that_scales_positions_alone_is_noticed():
    pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    demos = ew.systems.duffing.sample(seed=0).shuffled()
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), ew.AttractorIdentifier())
    with pytest.raises(ew.DataError, match="x was scaled"):
        scaled.fit(demos.x, demos.v)
    assert ew.AttractorIdentifier().fit(3 * demos.x - 1, 3 * demos.v).n_attractors_ == 2
