"""Files as other people keep trajectories, written from known ones: read right or a sentence, also when damaged.

python -m benchmarks.audit --parts readers
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

import eigenwell as ew
from benchmarks.recordings import rise
from benchmarks.table import Row

DT, COUNT = 0.01, 6


def truth(d: int = 2, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Some reaches of different lengths with their velocities."""
    rng, out = np.random.default_rng(seed), []
    for k in range(COUNT):
        t = np.arange(80 + 7 * k) * DT
        s, ds = rise(t / t[-1])
        start, goal, bend = rng.normal(size=(3, d)) + np.array([[4.0], [0.0], [0.0]])
        s, ds = s[:, None], ds[:, None] / t[-1]
        out.append((start * (1 - s) + goal * s + bend * s * (1 - s), (goal - start + bend * (1 - 2 * s)) * ds))
    return out


def poses(order: str) -> list[np.ndarray]:
    """(T, 7) tables of positions and unit quaternions."""
    out = []
    for k, (x, _) in enumerate(truth(3)):
        q = ew.poses.exponential(np.linspace(0, 1, len(x))[:, None] * [0.3, -0.5, 0.1 * k])
        q = q if order == "xyzw" else q[:, [3, 0, 1, 2]]
        out.append(np.hstack([x, q]))
    return out


def folder_of(
    write: Callable[[Path, np.ndarray], None], suffix: str, tables: list[np.ndarray]
) -> Callable[[Path], Path]:
    def make(root: Path) -> Path:
        for k, table in enumerate(tables):
            write(root / f"demo_{k}{suffix}", table)
        return root

    return make


def text(delimiter: str, header: str = "") -> Callable[[Path, np.ndarray], None]:
    def write(path: Path, table: np.ndarray) -> None:
        np.savetxt(path, table, delimiter=delimiter, header=header, comments="", fmt="%.17g")

    return write


def rostopic(path: Path, table: np.ndarray) -> None:
    """rostopic echo -p of a geometry_msgs/PoseStamped."""
    head = ["%time", "field.header.seq", "field.header.stamp", "field.header.frame_id"]
    head += [f"field.pose.position.{a}" for a in "xyz"] + [f"field.pose.orientation.{a}" for a in "xyzw"]
    lines = [",".join(head)]
    for i, row in enumerate(table):
        stamp = 1_700_000_000_000_000_000 + round(i * DT * 1e9)
        lines.append(",".join([str(stamp + 1234), str(i), str(stamp), "base_link", *(repr(float(c)) for c in row)]))
    path.write_text("\n".join(lines) + "\n")


def point(path: Path, table: np.ndarray) -> None:
    """rostopic echo -p of a geometry_msgs/Point."""
    lines = ["%time,field.x,field.y,field.z"]
    lines += [
        f"{1_700_000_000_000_000_000 + round(i * DT * 1e9)}," + ",".join(repr(float(c)) for c in row)
        for i, row in enumerate(table)
    ]
    path.write_text("\n".join(lines) + "\n")


def mat(value: Callable[[], dict[str, Any]]) -> Callable[[Path], Path]:
    def make(root: Path) -> Path:
        savemat(root / "set.mat", value())
        return root / "set.mat"

    return make


def cells(items: list[Any]) -> np.ndarray:
    out = np.empty((1, len(items)), dtype=object)
    for k, item in enumerate(items):
        out[0, k] = item
    return out


def stack(a: np.ndarray) -> Callable[[Path], Path]:
    def make(root: Path) -> Path:
        np.save(root / "set.npy", a)
        return root / "set.npy"

    return make


def timed(tables: list[np.ndarray]) -> list[np.ndarray]:
    return [np.hstack([np.arange(len(t))[:, None] * DT, t]) for t in tables]


XY = [x for x, _ in truth()]
XYZ = [x for x, _ in truth(3)]
BOTH = [np.hstack(pair) for pair in truth()]
EVEN = np.array([x[:80] for x in XY])
Layout = tuple[Callable[[Path], Path], dict[str, Any], int]
LAYOUTS: dict[str, Layout] = {
    "rostopic poses": (folder_of(rostopic, ".csv", poses("xyzw")), {}, 6),
    "rostopic points": (folder_of(point, ".csv", XYZ), {}, 3),
    "text with time": (folder_of(text(" "), ".txt", timed(XY)), {}, 2),
    "text with time and velocities": (folder_of(text("\t"), ".dat", timed(BOTH)), {}, 2),
    "text of positions and velocities": (folder_of(text(","), ".csv", BOTH), {}, 2),
    "text of poses": (folder_of(text(","), ".csv", timed(poses("xyzw"))), {}, 6),
    "text of poses, quaternion first": (
        folder_of(text(","), ".csv", [t[:, [3, 4, 5, 6, 0, 1, 2]] for t in poses("wxyz")]),
        {"dt": DT, "quaternion": "wxyz"},
        6,
    ),
    "npy (1, T, d)": (folder_of(lambda p, t: np.save(p, t[None]), ".npy", XY), {"dt": DT}, 2),
    "npy (T, d)": (folder_of(np.save, ".npy", XY), {"dt": DT}, 2),
    "npy (d, T)": (folder_of(lambda p, t: np.save(p, t.T), ".npy", XY), {"dt": DT}, 2),
    "npy (K, T, d)": (stack(EVEN), {"dt": DT}, 2),
    "npy (K, d, T)": (stack(np.swapaxes(EVEN, 1, 2)), {"dt": DT}, 2),
    "MAT cells (d, T)": (mat(lambda: {"trajs": cells([x.T for x in XY])}), {"dt": DT}, 2),
    "MAT cells (T, d)": (mat(lambda: {"trajs": cells(XY)}), {"dt": DT}, 2),
    "MAT cells in cells": (mat(lambda: {"data": cells([cells([x.T]) for x in BOTH])}), {}, 2),
    "MAT structs": (
        mat(lambda: {"rec": np.array([{"pos": x.T, "time": np.arange(len(x)) * DT} for x in XY], dtype=object)}),
        {},
        2,
    ),
}


def same(demos: ew.Demonstrations, d: int, layout: str) -> bool:
    """Six trajectories of the right dimension with the right places, and the right time."""
    wanted = EVEN if "K," in layout else (XYZ if d != 2 else XY)
    if demos.n_trajectories != COUNT or demos.dimension != d:
        return False
    places = demos.x if demos.raw is None else demos.raw
    assert demos.offsets is not None
    for k, (a, b) in enumerate(zip(demos.offsets[:-1], demos.offsets[1:], strict=True)):
        x = places[a:b, : len(wanted[k][0])]
        if x.shape != np.shape(wanted[k]) or not np.allclose(x, wanted[k], atol=1e-6):
            return False
    return demos.time is None or bool(np.isclose(np.median(np.diff(demos.time)), DT, rtol=1e-3))


def damaged(rng: np.random.Generator, data: bytes) -> bytes:
    """Cut short, some bytes changed, a stretch missing, or a stretch twice."""
    kind, n = rng.integers(4), len(data)
    a = int(rng.integers(n))
    b = min(n, a + int(rng.integers(1, max(2, n // 4))))
    if kind == 0:
        return data[:a]
    if kind == 1:
        raw = bytearray(data)
        for i in rng.integers(0, n, int(rng.integers(1, 20))):
            raw[i] = int(rng.integers(256))
        return bytes(raw)
    return data[:a] + data[b:] if kind == 2 else data[:b] + data[a:]


def readers(versions: int) -> list[Row]:
    """Every layout read right; damaged versions read as what they are, with a word, or refused with a sentence."""
    right, outcome = 0, Counter[str]()
    base: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as top:
        for name, (make, options, d) in LAYOUTS.items():
            root = Path(top) / name.replace(" ", "_").replace(",", "")
            root.mkdir()
            demos = ew.files.read(make(root), **options)
            base[name] = {c.name for c in demos.warnings}
            good = same(demos, d, name)
            right += good
            print(f"  {name}: {'right' if good else 'WRONG'}", flush=True)
        refused = 0
        for suffix in (".pkl", ".pickle", ".pt"):
            path = Path(top) / f"set{suffix}"
            path.write_bytes(pickle.dumps(XY))
            try:
                ew.files.read(path)
            except ew.files.PickledFile:
                refused += 1
        rng = np.random.default_rng(0)
        names = list(LAYOUTS)
        for version in range(versions):
            name = names[version % len(names)]
            make, options, d = LAYOUTS[name]
            root = Path(top) / "damaged"
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            path = make(root)
            files = [path] if path.is_file() else sorted(path.iterdir())
            victim = files[int(rng.integers(len(files)))]
            victim.write_bytes(damaged(rng, victim.read_bytes()))
            try:
                demos = ew.files.read(path, **options)
            except ew.EigenwellError as error:
                outcome["refused" if "\n" not in str(error) else "crash"] += 1
                continue
            except Exception as error:
                print(f"  CRASH {name}: {type(error).__name__} {error}")
                outcome["crash"] += 1
                continue
            told = {c.name for c in demos.warnings} - base[name]
            shape_right = demos.dimension == d and demos.n_trajectories == COUNT
            if same(demos, d, name):
                outcome["right"] += 1
            elif shape_right or told:
                outcome["numbers changed, structure right or told"] += 1
            else:
                print(f"  SILENT {name}: {demos}")
                outcome["silent"] += 1
    bad = outcome["silent"] + outcome["crash"]
    said = ", ".join(f"{k} {v}" for k, v in sorted(outcome.items()))
    all_right = f"{right} of {len(LAYOUTS)}, pickles refused {refused} of 3"
    return [
        Row("layouts read right", "all, pickles refused", all_right, "", right == len(LAYOUTS) and refused == 3),
        Row("damaged versions", "0 silent misreads, 0 crashes", f"{bad} of {versions}", said, bad == 0),
    ]
