"""Files in and out: every bit comes back, names are recognised, clocks are read right."""

import json

import numpy as np
import pytest
from scipy.io import savemat

import eigenwell as ew
from eigenwell import files

FORMATS = ("csv", "tsv", "parquet", "npz", "mat")


def spirals(n_trajectories=4, length=40, d=2, seed=0):
    """Trajectories of different lengths, with time, whose numbers use all their bits."""
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.01, 0.02, length))
    xs, vs, ts = [], [], []
    for k in range(n_trajectories):
        start, n = rng.standard_normal(d) * 3, length - 3 * k
        decay = np.exp(-t[:n, None])
        xs.append(start * decay)
        vs.append(-start * decay)
        ts.append(t[:n])
    return ew.Demonstrations.from_trajectories(xs, vs, time=ts)


def same_bits(a, b):
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_same(a, b):
    for name in ("x", "v", "time", "offsets"):
        assert same_bits(getattr(a, name), getattr(b, name)), name


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("d", [2, 3, 10])
def test_round_trip_keeps_every_bit(tmp_path, suffix, d):
    for k, demos in enumerate((spirals(d=d), spirals(d=d).shuffled(), spirals(1, d=d))):
        path = tmp_path / f"demos{k}.{suffix}"
        files.write(path, demos)
        assert_same(files.read(path), demos)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("suffix", FORMATS)
def test_extreme_numbers_survive(tmp_path, suffix):
    x = np.array([[5e-324, 1.7976931348623157e308], [-0.0, 0.1], [1 / 3, np.nextafter(1, 2)], [2.0, 3.0]])
    demos = ew.Demonstrations(x, x[::-1].copy())
    files.write(tmp_path / f"a.{suffix}", demos)
    with np.errstate(all="ignore"):
        assert_same(files.read(tmp_path / f"a.{suffix}"), demos)


def test_one_format_to_another_and_back(tmp_path):
    demos = spirals()
    files.write(tmp_path / "0.csv", demos)
    for a, b in zip(FORMATS, FORMATS[1:], strict=False):
        files.write(tmp_path / f"1.{b}", files.read(tmp_path / f"{0 if a == 'csv' else 1}.{a}"))
    assert_same(files.read(tmp_path / "1.mat"), demos)


# --- text ---------------------------------------------------------------------------------------------

ROWS = np.column_stack([np.linspace(0, 1, 9), np.exp(-np.linspace(0, 1, 9)), 2 * np.exp(-np.linspace(0, 1, 9))])


def lines(delimiter, header=None):
    body = "\n".join(delimiter.join(repr(float(v)) for v in row) for row in ROWS)
    return (f"{header}\n" if header else "") + body + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", " , "])
def test_any_delimiter(tmp_path, delimiter):
    (tmp_path / "a.csv").write_text(lines(delimiter, delimiter.join(["t", "x", "y"])))
    demos = files.read(tmp_path / "a.csv")
    assert demos.n_trajectories == 1
    assert np.array_equal(demos.x, ROWS[:, 1:]) and np.array_equal(demos.time, ROWS[:, 0])


def test_comment_header_bom_windows_ends_and_quotes(tmp_path):
    for k, header in enumerate(["# t x y", "# recorded today, 9 o'clock\n# t x y", '\ufeff"t" "x" "y"']):
        (tmp_path / f"{k}.txt").write_bytes(lines(" ", header).replace("\n", "\r\n").encode())
        assert np.array_equal(files.read(tmp_path / f"{k}.txt").x, ROWS[:, 1:])


def test_decimal_comma(tmp_path):
    (tmp_path / "a.csv").write_text(lines(";", "t;x;y").replace(".", ","))
    assert np.array_equal(files.read(tmp_path / "a.csv").x, ROWS[:, 1:])


@pytest.mark.parametrize(
    "names",
    [
        "x,y,vx,vy", "x1,x2,v1,v2", "pos_x,pos_y,vel_x,vel_y", "px,py,vx,vy", "q1,q2,dq1,dq2", "q_0,q_1,qd_0,qd_1",
        "x,y,dx,dy", "x,y,xdot,ydot", "x1,x2,x1_dot,x2_dot", "position_x,position_y,velocity_x,velocity_y",
        "X [m],Y [m],Vx [m/s],Vy [m/s]", "joint_1,joint_2,joint_velocity_1,joint_velocity_2", "pos.x,pos.y,vel.x,vel.y",
        "theta1,theta2,omega1,omega2", "θ1,θ2,ω1,ω2",
    ],
)  # fmt: skip
def test_common_names(tmp_path, names):
    demos = spirals(1).shuffled()
    table = np.hstack([demos.x, demos.v]).tolist()
    (tmp_path / "a.csv").write_text(names + "\n" + "\n".join(",".join(map(repr, row)) for row in table), "utf-8")
    back = files.read(tmp_path / "a.csv")
    assert not back.ordered
    assert np.array_equal(back.x, demos.x) and np.array_equal(back.v, demos.v)


def test_mapping_overrides_names(tmp_path):
    demos = spirals()
    files.write(tmp_path / "a.csv", demos)
    text = (tmp_path / "a.csv").read_text().replace("trajectory,time_s,x1,x2,v1,v2", "bundle,when,a,b,x,y")
    (tmp_path / "a.csv").write_text(text)
    back = files.read(tmp_path / "a.csv", position="a,b", velocity=["x", "y"], time="when", trajectory="bundle")
    assert_same(back, demos)


def test_unknown_header_lists_the_names(tmp_path):
    (tmp_path / "a.csv").write_text("alpha,beta\n1,2\n3,4\n")
    with pytest.raises(files.UnknownColumns, match="alpha, beta"):
        files.read(tmp_path / "a.csv")
    with pytest.raises(files.UnknownColumns, match=r"'gamma'.*alpha, beta"):
        files.read(tmp_path / "a.csv", position=["gamma"])


def test_trajectories_named_by_words_keep_their_order(tmp_path):
    demos = spirals(3)
    names = np.repeat(["zebra", "ape", "cat"], np.diff(demos.offsets))
    rows = [f"{n},{t!r},{a!r},{b!r}" for n, t, (a, b) in zip(names, demos.time.tolist(), demos.x.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("demo,time,x,y\n" + "\n".join(rows))
    back = files.read(tmp_path / "a.csv")
    assert same_bits(back.x, demos.x) and same_bits(back.offsets, demos.offsets)


def test_columns_without_names(tmp_path):
    demos = spirals().shuffled()
    np.savetxt(tmp_path / "a.csv", np.hstack([demos.x, demos.v]), fmt="%.17g", delimiter=",")
    back = files.read(tmp_path / "a.csv")
    assert same_bits(back.x, demos.x) and "columns-guessed" in {c.name for c in back.warnings}
    assert files.read(tmp_path / "a.csv", dt=0.1).dimension == 4
    mapped = files.read(tmp_path / "a.csv", position="2,1", velocity="4,3")
    assert np.array_equal(mapped.x, demos.x[:, ::-1])
    (tmp_path / "b.csv").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(files.UnknownColumns, match="3 columns without names"):
        files.read(tmp_path / "b.csv")


def test_large_text_is_read_in_chunks(tmp_path, monkeypatch):
    demos = spirals(6, 60)
    files.write(tmp_path / "a.csv", demos)
    monkeypatch.setattr("eigenwell.files.text.CHUNK", 7)
    assert_same(files.read(tmp_path / "a.csv"), demos)


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_keeps_each_nth_sample_and_the_last(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("eigenwell.files.text.CHUNK", 11)
    monkeypatch.setattr("eigenwell.files.parquet.ROWS", 11)
    demos = spirals()
    files.write(tmp_path / f"a.{suffix}", demos)
    thin = files.read(tmp_path / f"a.{suffix}", every=7)
    for (x, _), (kept, _) in zip(demos.trajectories(), thin.trajectories(), strict=True):
        index = np.unique(np.append(np.arange(0, len(x), 7), len(x) - 1))
        assert np.array_equal(kept, x[index])
    files.write(tmp_path / f"b.{suffix}", demos.shuffled())
    assert np.array_equal(
        files.read(tmp_path / f"b.{suffix}", every=7).x[:-1],
        demos.shuffled().x[::7][: -1 if demos.n_samples % 7 == 1 else None],
    )


@pytest.mark.slow
def test_memory_is_bounded_by_what_is_kept(tmp_path):
    """A file of 40 MB, of which a thousandth is kept, costs a few megabytes."""
    import tracemalloc

    row = ",".join(["1.2345678901234567"] * 8)
    with (tmp_path / "a.csv").open("w") as handle:
        handle.write("x1,x2,x3,x4,v1,v2,v3,v4\n")
        for k in range(25):
            handle.write("".join(f"{k}.{i:06d}{row[8:]}\n" for i in range(10_000)))
    tracemalloc.start()
    demos = files.read(tmp_path / "a.csv", every=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "a.csv").stat().st_size > 35e6 and demos.n_samples == 251
    assert peak < 30e6


# --- folders and data sets ----------------------------------------------------------------------------


def test_folder_of_one_file_per_trajectory(tmp_path):
    demos = spirals(12)
    for k, ((x, v), a) in enumerate(zip(demos.trajectories(), demos.offsets[:-1], strict=True)):
        t = demos.time[a : a + len(x)]
        files.write(tmp_path / f"demo{k}.csv", ew.Demonstrations(x.copy(), v.copy(), np.array([0, len(x)]), t.copy()))
    (tmp_path / "notes.md").write_text("not data")
    assert_same(files.read(tmp_path), demos)
    some = files.read([tmp_path / "demo0.csv", tmp_path / "demo3.csv"])
    assert some.n_trajectories == 2


def lerobot(folder, demos, names=None, stamps=True):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    (folder / "meta").mkdir(parents=True)
    feature = {"dtype": "float32", "shape": [demos.dimension], "names": names}
    info = {"codebase_version": "v3.0", "fps": 50, "features": {"observation.state": feature}}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    episode = np.repeat(np.arange(demos.n_trajectories), np.diff(demos.offsets))
    for chunk in range(2):
        mine = episode % 2 == chunk if chunk == 0 else episode % 2 == 1
        columns = {
            "observation.state": pa.FixedSizeListArray.from_arrays(
                demos.x[mine].astype(np.float32).ravel(), demos.dimension
            ),
            "action": pa.FixedSizeListArray.from_arrays(demos.v[mine].astype(np.float32).ravel(), demos.dimension),
            "episode_index": episode[mine],
        }
        if stamps:
            columns["timestamp"] = demos.time[mine].astype(np.float32)
        path = folder / "data" / f"chunk-00{chunk}" / "file-000.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table(columns), path)


def test_lerobot(tmp_path):
    demos = spirals(4, 60, d=6)
    lerobot(tmp_path / "a", demos)
    back = files.read(tmp_path / "a")
    assert back.n_trajectories == 4 and back.dimension == 6
    assert "velocities-estimated" in {c.name for c in back.warnings}
    first = next(demos.trajectories())[0]
    assert np.array_equal(next(back.trajectories())[0], first.astype(np.float32).astype(np.float64))


def test_lerobot_names_and_frame_rate(tmp_path):
    demos = spirals(4, 60, d=3)
    lerobot(tmp_path / "a", demos, names=["base", "elbow", "wrist"], stamps=False)
    back = files.read(tmp_path / "a")
    assert back.time[1] == 1 / 50
    picked = files.read(
        tmp_path / "a", position="observation.state.base,observation.state.wrist", dt=0.02, trajectory="episode_index"
    )
    assert picked.dimension == 2


# --- MAT and NPZ layouts ------------------------------------------------------------------------------


def cells(items):
    out = np.empty((len(items), 1), dtype=object)
    for k, item in enumerate(items):
        out[k, 0] = item
    return out


def pieces(demos):
    for (x, v), a in zip(demos.trajectories(), demos.offsets[:-1], strict=True):
        yield x, v, demos.time[a : a + len(x)]


def test_mat_lasa_struct(tmp_path):
    demos = spirals()
    entries = [{"pos": x.T, "vel": v.T, "t": t[None], "acc": x.T, "dt": 0.01} for x, v, t in pieces(demos)]
    savemat(tmp_path / "a.mat", {"demos": cells(entries).T, "dt": 0.01})
    assert_same(files.read(tmp_path / "a.mat"), demos)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("with_velocity", [False, True])
def test_mat_drawn_layouts(tmp_path, wrapped, with_velocity):
    demos = spirals()
    names = ["position", "velocity", "time", "labels"] if with_velocity else ["position", "labels"]
    rows = [
        np.vstack([x.T, v.T, t, np.full(len(x), k)] if with_velocity else [x.T, np.full(len(x), k)])
        for k, (x, v, t) in enumerate(pieces(demos))
    ]
    content = {"demo": cells(rows), "demo_struct": cells(names).T}
    savemat(tmp_path / "a.mat", {"DataStruct": content} if wrapped else content)
    if with_velocity:
        assert_same(files.read(tmp_path / "a.mat"), demos)
    else:
        back = files.read(tmp_path / "a.mat", dt=0.02, smooth=False)
        assert same_bits(back.x, demos.x) and same_bits(back.offsets, demos.offsets)
        with pytest.raises(ew.DataError, match="dt="):
            files.read(tmp_path / "a.mat")


def test_mat_plain_matrices_lying_down(tmp_path):
    demos = spirals(1).shuffled()
    savemat(tmp_path / "a.mat", {"pos": demos.x.T, "vel": demos.v.T})
    back = files.read(tmp_path / "a.mat")
    assert same_bits(back.x, demos.x) and "turned" in {c.name for c in back.warnings}
    savemat(tmp_path / "b.mat", {"data": np.hstack([demos.x, demos.v])})
    assert same_bits(files.read(tmp_path / "b.mat").v, demos.v)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_layouts(tmp_path, save):
    demos = spirals(1)
    save(tmp_path / "a.npz", x=demos.x, v=demos.v, t=demos.time)
    assert_same(files.read(tmp_path / "a.npz"), demos)
    save(tmp_path / "b.npz", x=np.asfortranarray(demos.x), velocity=demos.v)
    assert same_bits(files.read(tmp_path / "b.npz").x, demos.x)
    save(tmp_path / "c.npz", **{n: demos.x[:, i] for i, n in enumerate("xy")}, time=demos.time)
    assert same_bits(files.read(tmp_path / "c.npz").x, demos.x)
    save(tmp_path / "d.npz", x=np.stack([demos.x, demos.x + 1]), t=demos.time)
    assert files.read(tmp_path / "d.npz").n_trajectories == 2


def test_npy_matrix(tmp_path):
    demos = spirals().shuffled()
    np.save(tmp_path / "a.npy", np.hstack([demos.x, demos.v]))
    assert same_bits(files.read(tmp_path / "a.npy").x, demos.x)


def test_uncompressed_members_are_mapped_not_loaded(tmp_path):
    from eigenwell.files.npz import _members

    np.savez(tmp_path / "a.npz", x=np.ones((1000, 2)), v=np.ones((1000, 2)))
    assert all(isinstance(a, np.memmap) for a in _members(tmp_path / "a.npz").values())


# --- time ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "scale", "offset"),
    [
        ("t", 1e9, 0),
        ("t", 1e9, 1.7e18),
        ("t_ms", 1e3, 0),
        ("time [ns]", 1e9, 0),
        ("t", 1e3, 1.7e12),
        ("stamp", 1e6, 0),
        ("t", 1e3, 0),
    ],
)
def test_clocks_that_do_not_count_seconds(tmp_path, name, scale, offset):
    t = np.arange(40) * 0.02
    stamps = (t * scale + offset).astype(np.int64)
    x = np.exp(-t)
    rows = "\n".join(f"{s},{a!r},{2 * a!r}" for s, a in zip(stamps.tolist(), x.tolist(), strict=True))
    (tmp_path / "a.csv").write_text(f"{name},x,y\n{rows}\n")
    demos = files.read(tmp_path / "a.csv")
    assert "time-unit" in {c.name for c in demos.warnings}
    assert np.allclose(demos.time, t, atol=1e-6)
    assert np.allclose(demos.v[10], [-x[10], -2 * x[10]], rtol=1e-2)


def test_velocities_tell_the_unit_of_time(tmp_path):
    demos = spirals(1)
    savez = {"x": demos.x, "v": demos.v, "t": demos.time * 1e3}
    np.savez(tmp_path / "a.npz", **savez)
    assert np.allclose(np.diff(files.read(tmp_path / "a.npz").time), np.diff(demos.time))


def test_seconds_are_left_alone(tmp_path):
    """Slow data, whole seconds, and a named unit come back as they are."""
    for k, (name, step) in enumerate([("t", 1.0), ("time_s", 50.0), ("t", 0.5)]):
        t = step * np.arange(30)
        rows = (
            "\n".join(f"{s!r},{np.exp(-s / 99)!r},{np.sin(s)!r}" for s in t.tolist())
            .replace("np.float64(", "")
            .replace(")", "")
        )
        (tmp_path / f"{k}.csv").write_text(f"{name},x,y\n{rows}\n")
        assert same_bits(files.read(tmp_path / f"{k}.csv").time, t)


def test_time_that_starts_over_splits_trajectories(tmp_path):
    t = np.tile(np.arange(20) * 0.1, 3)
    rows = "\n".join(f"{s},{np.exp(-s)},{k}" for k, s in enumerate(t))
    (tmp_path / "a.csv").write_text(f"t,x,y\n{rows}\n")
    demos = files.read(tmp_path / "a.csv")
    assert demos.n_trajectories == 3 and "split-by-time" in {c.name for c in demos.warnings}


def test_units_that_differ_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("t,x_mm,y_m\n" + "\n".join(f"{k / 10},{k},{k * k}" for k in range(20)))
    assert "mixed-units" in {c.name for c in files.read(tmp_path / "a.csv").warnings}


def test_read_positions(tmp_path):
    demos = spirals(1)
    files.write(tmp_path / "a.csv", demos)
    assert same_bits(files.read_positions(tmp_path / "a.csv"), demos.x)
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    assert files.read_positions(tmp_path / "b.csv").tolist() == [[1, 2], [3, 4]]
