"""Uploads and downloads: files into the studio and out of it. A client's file name is never part of a path."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import files
from .._types import FloatArray
from ..demonstrations import DataError, Demonstrations
from ..fields import Field
from ..identification import identify
from .identify import DrawnResult
from .model_file import packed
from .share import shared_page
from .viewport import fit_to_view

LARGEST_ZIP = 64 * 2**20
"""Bytes in an unpacked .npz; a recording of a drawing has thousands of rows, and this holds millions."""


def read(suffix: str, data: bytes) -> dict[str, Any]:
    """Strokes from the bytes of a data file, whatever format its suffix names."""
    if suffix not in {known for form in files.FORMATS for known in form.suffixes}:
        known = ", ".join(known for form in files.FORMATS for known in form.suffixes)
        raise DataError(f"Expected a file that ends in {known}, got {suffix}. Rename or convert it.")
    if suffix == ".npz":
        _check_zip(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"recording{suffix}"
        path.write_bytes(data)
        try:
            demos = files.read(path)
        except ValueError as error:
            raise DataError(str(error).replace(str(path), "the file").replace(path.name, "the file")) from None
    if demos.dimension != 2:
        raise DataError(
            f"Expected positions in 2 dimensions, got {demos.dimension}. Use `eigenwell identify` on this file."
        )
    xs, ts, note = _trajectories(demos)
    answer = {"name": f"{suffix[1:].upper()} file"} | fit_to_view(xs, ts)
    if note:
        answer["scale"]["note"] = f"{note} {answer['scale']['note']}".strip()
    return answer


def _check_zip(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile:
        raise DataError("Expected an .npz file, got something else or only a part of it. Save it again.") from None
    if size > LARGEST_ZIP:
        raise DataError(
            f"Expected at most {LARGEST_ZIP // 2**20} MB in the file, got {size // 2**20} MB. Thin it first."
        )


def _trajectories(demos: Demonstrations) -> tuple[list[FloatArray], list[FloatArray], str]:
    """Positions and times, trajectory by trajectory; those of unordered samples are pieced together first."""
    if demos.offsets is not None:
        bounds = list(zip(demos.offsets[:-1], demos.offsets[1:], strict=True))
        xs = [demos.x[a:b] for a, b in bounds]
        if demos.time is not None:
            return xs, [demos.time[a:b] for a, b in bounds], ""
        return xs, [_travelled(demos.x[a:b], demos.v[a:b]) for a, b in bounds], "Times were computed from velocities."
    found = identify(demos)
    paths = [path for q in range(found.n_attractors) for path in found.paths(q)]
    note = f"The file has no order; {len(paths)} paths were pieced together from its samples."
    return [demos.x[p] for p in paths], [_travelled(demos.x[p], demos.v[p]) for p in paths], note


def _travelled(x: FloatArray, v: FloatArray) -> FloatArray:
    """Times at which a motion with these velocities passes these positions: dt = |dx| / (mean speed)."""
    speed = np.linalg.norm(v, axis=1)
    mean = (speed[1:] + speed[:-1]) / 2
    floor = 0.01 * float(speed.max())
    step = np.linalg.norm(np.diff(x, axis=0), axis=1) / np.maximum(mean, floor)
    return np.concatenate([[0.0], np.cumsum(np.maximum(step, 1e-6))])


def write(result: DrawnResult, field: Field | None, what: str, colours: Sequence[int] = ()) -> tuple[str, str, bytes]:
    """Name, media type and content of a file to take away; `colours` are those that the goals have on the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if what == "csv":
            return _written(folder / "eigenwell-strokes.csv", "text/csv", result.drawing.demos)
        if what == "npz":
            return _written(folder / "eigenwell-strokes.npz", "application/octet-stream", result.drawing.demos)
        if what == "report":
            from ..report import Words, write_report

            path, words = folder / "eigenwell-report.html", Words("goal", "stroke", 1)
            title, command = "Drawn in the studio", "eigenwell studio"
            write_report(path, result.found.demos, result.found, field, words=words, title=title, command=command)
            return path.name, "text/html", path.read_bytes()
        assert field is not None
        if what == "model":
            return "eigenwell-model.eigenwell", "application/octet-stream", packed(field)
        if what == "page":
            return "eigenwell-flow.html", "text/html", shared_page(result, field, colours).encode()
        if what == "onnx":
            from ..export import export_onnx

            export_onnx(field, folder / "eigenwell-field.onnx")
            return "eigenwell-onnx.zip", "application/zip", _zipped(sorted(folder.glob("*.onnx")))
        from ..export import export_c

        export_c(field, folder / "eigenwell_field.h", name="field")
        return "eigenwell_field.h", "text/plain", (folder / "eigenwell_field.h").read_bytes()


def _written(path: Path, media_type: str, demos: Demonstrations) -> tuple[str, str, bytes]:
    files.write(path, demos)
    return path.name, media_type, path.read_bytes()


def _zipped(paths: list[Path]) -> bytes:
    """The graphs of the map, the basins, the goals and the motions in one file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(path, path.name)
    return packed.getvalue()
