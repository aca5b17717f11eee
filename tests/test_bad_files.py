"""Files that cannot be used: one named error, one readable line, no hang, nothing half-written."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

import eigenwell as ew
from eigenwell import files

X = np.random.default_rng(0).standard_normal((30, 2))
SAMPLES = ew.Demonstrations(X, -X)
SUFFIXES = (".csv", ".parquet", ".npz", ".npy", ".mat")


def refused(kind, path, match=None, seconds=5.0, **options):
    """Reading fails with this kind of error, within seconds of work, in one line that names the file."""
    start = time.process_time()
    with pytest.raises(kind, match=match) as caught:
        files.read(path, **options)
    message = str(caught.value)
    assert time.process_time() - start < seconds
    assert isinstance(caught.value, ew.DataError)
    assert "\n" not in message and len(message) < 1500
    return message


def test_missing_empty_and_unknown(tmp_path):
    assert "nope.csv" in refused(files.MissingFile, tmp_path / "nope.csv")
    for suffix in SUFFIXES:
        (tmp_path / f"empty{suffix}").touch()
        refused(files.EmptyFile, tmp_path / f"empty{suffix}")
    (tmp_path / "a.xlsx").write_text("x")
    refused(files.UnknownFormat, tmp_path / "a.xlsx", match=r"\.csv")
    (tmp_path / "header.csv").write_text("x,y,vx,vy\n")
    refused(files.EmptyFile, tmp_path / "header.csv", match="header alone")
    (tmp_path / "blank.csv").write_text("\n\n   \n")
    refused(files.EmptyFile, tmp_path / "blank.csv")
    refused(files.MissingFile, [])


def test_folder_without_data(tmp_path):
    (tmp_path / "readme.md").write_text("nothing here")
    refused(files.EmptyFile, tmp_path, match="found none")
    (tmp_path / "sub.csv").mkdir()
    refused(files.UnreadableFile, tmp_path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_two_gigabytes_of_nothing(tmp_path, suffix):
    path = tmp_path / f"big{suffix}"
    with path.open("wb") as handle:
        handle.truncate(2 << 30)
    refused(files.FileError, path)


def test_text_that_turns_into_nothing(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("x,y,vx,vy\n" + "1,2,3,4\n" * 100)
    with path.open("r+b") as handle:
        handle.truncate(2 << 30)
    refused(files.UnreadableFile, path, match="binary")


@pytest.mark.slow
def test_a_million_columns(tmp_path):
    (tmp_path / "a.csv").write_text(",".join(f"c{i}" for i in range(1_000_000)) + "\n" + "0," * 999_999 + "0\n")
    refused(files.TooLarge, tmp_path / "a.csv", match="4096 columns")
    (tmp_path / "b.csv").write_text(",".join(["1"] * 10_000) + "\n")
    refused(files.TooLarge, tmp_path / "b.csv", match="10000")
    wide = np.zeros((2, 1_000_000), dtype=np.int8)
    np.savez(tmp_path / "b.npz", x=wide[:, :5000].repeat(3000, 0), v=wide[:, :5000].repeat(3000, 0))
    refused(files.TooLarge, tmp_path / "b.npz")


def test_a_million_columns_in_parquet(tmp_path):
    """Written by hand: what counts is the length of the description that the file announces."""
    path = tmp_path / "a.parquet"
    with path.open("wb") as handle:
        handle.write(b"PAR1")
        handle.truncate(300 << 20)
        handle.seek(0, os.SEEK_END)
        handle.write((200 << 20).to_bytes(4, "little") + b"PAR1")
    refused(files.TooLarge, path, match="200 MB")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({f"c{i}": [0.0] for i in range(5000)}), tmp_path / "b.parquet")
    refused(files.TooLarge, tmp_path / "b.parquet", match="5000")


def test_links_devices_and_pipes(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    refused(files.UnreadableFile, tmp_path / "a.csv", match="symbolic links")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(files.UnreadableFile, tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe.csv")
    refused(files.UnreadableFile, tmp_path / "pipe.csv", match="pipe")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    refused(files.UnreadableFile, tmp_path / "zero.csv", match="device")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_garbage(tmp_path, suffix):
    (tmp_path / f"a{suffix}").write_bytes(np.random.default_rng(1).bytes(5000))
    refused(files.FileError, tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".mat"])
def test_truncated(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    files.write(path, SAMPLES)
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.9, 0.99):
        path.write_bytes(whole[: int(share * len(whole))])
        refused(files.FileError, path)


def test_pickles_are_refused(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.system, (f"touch {tmp_path}/exploded",))

    objects = np.array([Bomb(), Bomb()], dtype=object)
    np.savez(tmp_path / "a.npz", x=objects)
    np.save(tmp_path / "a.npy", objects)
    for name in ("a.npz", "a.npy"):
        refused(files.PickledFile, tmp_path / name, match="pickled")
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Bomb()))
    refused(files.UnreadableFile, tmp_path / "b.npz")
    assert not (tmp_path / "exploded").exists()


def test_archives_that_lie_about_their_size(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        head = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }"
        archive.writestr("x.npy", head.ljust(127) + b"\n" + b"\0" * 1000)
    refused(files.UnreadableFile, tmp_path / "a.npz", match="truncated")


def test_hdf5_mat_says_how_to_save(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform".ljust(128) + b"\x89HDF\r\n\x1a\n")
    refused(files.UnreadableFile, tmp_path / "a.mat", match="-v7")


def test_mat_of_something_else(tmp_path):
    savemat(tmp_path / "a.mat", {"name": "hello", "n": 3})
    refused(files.FileError, tmp_path / "a.mat")
    savemat(tmp_path / "b.mat", {"demos": np.arange(6.0)})
    refused(files.UnknownColumns, tmp_path / "b.mat", match="pos, vel, t")
    savemat(
        tmp_path / "c.mat", {"demo": np.zeros((3, 9)), "demo_struct": np.array([["position", "colour"]], dtype=object)}
    )
    refused(files.UnknownColumns, tmp_path / "c.mat", match="colour")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x,y,vx,vy\n1,2,3,4\n1,2,3\n", "'1,2,3' in row 3"),
        ("x,y,vx,vy\n1,2,3,4\n1,two,3,4\n", "two"),
        ("x,y,vx\n1,2,3\n", "one velocity per position"),
    ],
)
def test_broken_rows(tmp_path, text, match):
    (tmp_path / "a.csv").write_text(text)
    refused(files.FileError, tmp_path / "a.csv", match=match)


def test_bad_data_in_good_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,vx,vy\n" + "1,2,3,4\n" * 9 + "nan,2,3,4\n")
    with pytest.raises(ew.DataError, match="finite"):
        files.read(tmp_path / "a.csv", longest_gap=0)
    (tmp_path / "b.csv").write_text("x,y\n" + "1,2\n" * 9)
    with pytest.raises(ew.DataError, match="velocities or time"):
        files.read(tmp_path / "b.csv")
    with pytest.raises(ew.DataError, match="every"):
        files.read(tmp_path / "b.csv", every=0)


# --- writing ------------------------------------------------------------------------------------------


def test_nothing_half_written(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("precious")

    def fails(path, demos):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eigenwell.files.api.FORMATS", (replace(files.FORMATS[0], write=fails),))
    with pytest.raises(files.CannotWrite, match="No space left"):
        files.write(path, SAMPLES)
    assert path.read_text() == "precious" and len(list(tmp_path.iterdir())) == 1


def test_files_that_differ_are_named(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("t,x,y\n0,0,0\n1,1,1\n2,2,3\n")
    (tmp_path / "odd.csv").write_text("x,y\n0,0\n1,1\n2,2\n")
    with pytest.raises(files.FileError, match=r"time in every file or in none; odd\.csv have none"):
        files.read(tmp_path)
    with pytest.raises(files.FileError, match=r"velocities in every file or in none; v\.csv alone have them"):
        (tmp_path / "v.csv").write_text("t,x,y,vx,vy\n0,0,0,1,1\n1,1,1,1,1\n2,2,2,1,1\n")
        files.read([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "v.csv"])
    with pytest.raises(files.FileError, match="'x' twice"):
        files.read(tmp_path / "a.csv", position="x,x")


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(files.CannotWrite, match="folder that exists"):
        files.write(tmp_path / "no" / "a.csv", SAMPLES)
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(files.CannotWrite, match="is a folder"):
        files.write(tmp_path / "dir.csv", SAMPLES)


def test_read_only_folder(request):
    """Root may write anywhere, so that the writer runs as nobody; pytest's own folders are closed to nobody."""
    folder = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(folder))
    folder.chmod(0o555)
    code = (
        "import os, sys\n"
        "from eigenwell.files.atomic import replacing\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    with replacing(sys.argv[1]): pass\n"
        "except ValueError as error: print(type(error).__name__, error)\n"
    )
    target = folder / "a.csv"
    done = subprocess.run([sys.executable, "-c", code, str(target)], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("CannotWrite") and "Permission denied" in done.stdout, done
    assert list(folder.iterdir()) == []


# --- fuzz ---------------------------------------------------------------------------------------------

FUZZ = settings(
    max_examples=150, deadline=4000, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def survives(path):
    """Demonstrations, or a DataError in one line; anything else fails the test."""
    try:
        with np.errstate(all="ignore"):
            files.read(path)
    except ew.DataError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("suffix", SUFFIXES)
@FUZZ
@given(data=st.binary(min_size=1, max_size=400))
def test_fuzz_bytes(tmp_path, suffix, data):
    (tmp_path / f"a{suffix}").write_bytes(data)
    survives(tmp_path / f"a{suffix}")


@FUZZ
@given(text=st.text(alphabet="0123456789.,;-+eEnaif xyvt\t|\"'#\n\r\ufeff", max_size=300))
def test_fuzz_text(tmp_path, text):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    survives(tmp_path / "a.csv")


def valid(suffix, folder):
    path = folder / f"valid{suffix}"
    if not path.exists():
        if suffix == ".npy":
            np.save(path, np.hstack([X, -X]))
        else:
            files.write(path, SAMPLES)
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@FUZZ
@given(edits=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8), cut=st.floats(0.2, 1))
def test_fuzz_damaged_files(tmp_path, suffix, edits, cut):
    """Valid files with bytes changed and an end cut off."""
    content = bytearray(valid(suffix, tmp_path))
    for place, value in edits:
        content[int(place * (len(content) - 1))] = value
    (tmp_path / f"a{suffix}").write_bytes(content[: max(1, int(cut * len(content)))])
    survives(tmp_path / f"a{suffix}")
