"""Files into the studio and out of it. A client's file name is never part of a path.

A drawing is one file, exact: a zip with the strokes as they were drawn, the options, the view, and the learned field.

    drawing.json      version, strokes {t, x, and v of a brush}, options, view, goals with their colours
    model.eigenwell   the field, as `field.save` writes it, where one was learned

A model that was saved in Python opens too: its samples are its strokes.
"""

from __future__ import annotations

import base64
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import __version__, files
from .._types import FloatArray
from ..demonstrations import DataError, Demonstrations
from ..fields import Field
from ..identification import identify
from ..models import as_field, load
from .gallery import shared_page
from .identify import DrawnResult
from .presets import fit_to_view
from .protocol import BadMessage, Options, Request, Strokes, parse
from .strokes import Stroke

Read = TypeVar("Read")

SUFFIX = ".eigenwell"
SCHEMA = 1
DRAWING, MODEL = "drawing.json", "model.eigenwell"
LARGEST = 64 * 2**20
"""Bytes in an unpacked file; a recording of a drawing has thousands of rows, and this holds millions."""


# --- drawings -----------------------------------------------------------------------------------------


def written(strokes: Sequence[Stroke], options: Options, field: Field | None, seen: Request) -> tuple[str, str, bytes]:
    """Name, media type and content; `seen` says where the page looks and which colours its goals have."""
    look = seen.look
    said = {
        "schema": SCHEMA,
        "version": __version__,
        "strokes": [_row(stroke) for stroke in strokes],
        "options": asdict(options),
        "view": None if look is None else {"centre": list(look.centre), "zoom": look.zoom},
        "goals": [list(goal) for goal in seen.goals],
    }
    members = {DRAWING: json.dumps(said).encode()} | ({} if field is None else {MODEL: packed(field)})
    return f"eigenwell-drawing{SUFFIX}", "application/octet-stream", _zipped(members)


def read(data: bytes) -> dict[str, Any]:
    """Strokes, options, view and field for the page."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return _of_model(data)
    try:
        members = _unzipped(data)
        said = json.loads(members[DRAWING])
    except (KeyError, ValueError, zipfile.BadZipFile, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("Expected a drawing of the studio, got another file or a damaged one. Save it again.") from None
    if not isinstance(said, dict) or not isinstance(said.get("strokes"), list):
        raise DataError("Expected a drawing with strokes, got something else. Save it again.")
    if said.get("schema") != SCHEMA:
        wanted = f"Expected a drawing of schema {SCHEMA}, got {said.get('schema')!r}."
        raise DataError(f"{wanted} Open it with a newer eigenwell.")
    rows = [{"id": f"s{k}"} | row if isinstance(row, dict) else row for k, row in enumerate(said["strokes"], start=1)]
    try:
        # The same reader that checks what a page sends.
        drawn = parse(json.dumps({"type": "strokes", "rev": 1, "strokes": rows, "options": said.get("options")}))
        seen: dict[str, Any] = {"view": said.get("view"), "goals": said.get("goals")}
        parse(json.dumps({"type": "take", "rev": 1, "what": "studio"} | seen))
    except BadMessage as error:
        raise DataError(str(error)) from None
    assert isinstance(drawn, Strokes)
    strokes, options = [_row(stroke) for stroke in drawn.strokes], asdict(drawn.options)
    return _answer("Drawing", strokes, members.get(MODEL), **seen, options=options)


def _answer(name: str, strokes: list[Any], model: bytes | None, note: str = "", **more: Any) -> dict[str, Any]:
    kept = None if model is None else base64.b64encode(model).decode()
    return {"name": name, "strokes": strokes, "model": kept, "scale": {"note": note}} | more


def _row(stroke: Stroke) -> dict[str, Any]:
    row = {"t": stroke.t.tolist(), "x": stroke.x.tolist()}
    return row if stroke.v is None else row | {"v": stroke.v.tolist()}


def _of_model(data: bytes) -> dict[str, Any]:
    """A model alone: the samples that it keeps are its strokes, at the speed with which it follows them."""
    field = model(data)
    starts = np.flatnonzero(field.phases == 1.0)
    if len(starts) == 0:
        raise DataError("Expected a model with the samples it was learned from, got one without. It cannot be drawn.")
    paths = [field.samples[a:b] for a, b in zip(starts, [*starts[1:], len(field.samples)], strict=True)]
    times = [np.round(_travelled(x, field.predict(x), 1e-4), 5) for x in paths]
    strokes = [{"t": t.tolist(), "x": x.tolist()} for t, x in zip(times, paths, strict=True) if len(x) > 1]
    # Its goals keep their numbers.
    goals = [[*place, q] for q, place in enumerate(field.attractors.tolist())]
    note = "The strokes are the samples that the model keeps, at the speed of its flow."
    return _answer("Model", strokes, data, note, view=None, options=None, goals=goals)


# --- models ---------------------------------------------------------------------------------------------


def packed(field: Field) -> bytes:
    """A model's file."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "eigenwell-model.eigenwell"
        field.save(path)
        return path.read_bytes()


def from_file(data: bytes, name: str, read: Callable[[Path], Read]) -> Read:
    """What `read` makes of a file with these bytes; DataError that does not tell where it was."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            return read(path)
        except ValueError as error:
            raise DataError(str(error).replace(str(path), "the file").replace(path.name, "the file")) from None


def model(data: bytes) -> Field:
    """The planar field in a model's file; DataError or ModelError where there is none."""
    field = from_file(data, "model.eigenwell", lambda path: as_field(load(path)))
    if field.dimension != 2:
        raise DataError(f"Expected a field of the plane, got one in {field.dimension} dimensions. Use it in Python.")
    return field


# --- recordings ---------------------------------------------------------------------------------------


def recording(suffix: str, data: bytes) -> dict[str, Any]:
    """Strokes from the bytes of a data file, whatever format its suffix names."""
    known = [one for form in files.FORMATS for one in form.suffixes]
    if suffix not in known:
        raise DataError(f"Expected a file that ends in {', '.join(known)}, got {suffix}. Rename or convert it.")
    if suffix == ".npz":
        try:
            _unzipped(data, look=False)
        except zipfile.BadZipFile:
            raise DataError("Expected an .npz file, got something else or only a part of it. Save it again.") from None
    demos = from_file(data, f"recording{suffix}", files.read)
    if demos.dimension != 2:
        found = f"Expected positions in 2 dimensions, got {demos.dimension}."
        raise DataError(f"{found} Use `eigenwell identify` on this file.")
    xs, ts, note = _trajectories(demos)
    answer = {"name": f"{suffix[1:].upper()} file"} | fit_to_view(xs, ts)
    answer["scale"]["note"] = f"{note} {answer['scale']['note']}".strip()
    return answer


def _trajectories(demos: Demonstrations) -> tuple[list[FloatArray], list[FloatArray], str]:
    """Positions and times, trajectory by trajectory; those of unordered samples are pieced together first."""
    note = "Times were computed from velocities."
    if demos.offsets is not None:
        paths = np.split(np.arange(demos.n_samples), demos.offsets[1:-1])
        if (time := demos.time) is not None:
            return [demos.x[p] for p in paths], [time[p] for p in paths], ""
    else:
        found = identify(demos)
        paths = [path for q in range(found.n_attractors) for path in found.paths(q)]
        note = f"The file has no order; {len(paths)} paths were pieced together from its samples."
    return [demos.x[p] for p in paths], [_travelled(demos.x[p], demos.v[p]) for p in paths], note


def _travelled(x: FloatArray, v: FloatArray, least: float = 1e-6) -> FloatArray:
    """Times at which a motion with these velocities passes these positions: dt = |dx| / (mean speed).

    The speed is at least a hundredth of the top, and dt at least `least`.
    """
    speed = np.linalg.norm(v, axis=1)
    mean = np.maximum((speed[1:] + speed[:-1]) / 2, 0.01 * float(speed.max()) + 1e-12)
    steps = np.linalg.norm(np.diff(x, axis=0), axis=1) / mean
    return np.concatenate([[0.0], np.cumsum(np.maximum(steps, least))])


# --- to take away -------------------------------------------------------------------------------------


def taken(result: DrawnResult, field: Field | None, what: str, colours: Sequence[int] = ()) -> tuple[str, str, bytes]:
    """Name, media type and content of a file to take away; `colours` are those that the goals have on the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if what in ("csv", "npz"):
            path = folder / f"eigenwell-strokes.{what}"
            files.write(path, result.drawing.demos)
            return path.name, "text/csv" if what == "csv" else "application/octet-stream", path.read_bytes()
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

            # The graphs of the map, the basins, the goals and the motions.
            export_onnx(field, folder / "eigenwell-field.onnx")
            graphs = {path.name: path.read_bytes() for path in sorted(folder.glob("*.onnx"))}
            return "eigenwell-onnx.zip", "application/zip", _zipped(graphs)
        from ..export import export_c

        export_c(field, folder / "eigenwell_field.h", name="field")
        return "eigenwell_field.h", "text/plain", (folder / "eigenwell_field.h").read_bytes()


def _zipped(members: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packing:
        for name, content in members.items():
            # A fixed date: when it was saved is nobody's business.
            packing.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def _unzipped(data: bytes, look: bool = True) -> dict[str, bytes]:
    """What a zip holds, or only whether it may be opened; what unpacks to too much is not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(member.file_size for member in archive.infolist()) / 2**20
        if size > LARGEST / 2**20:
            raise DataError(f"Expected at most {LARGEST // 2**20} MB in the file, got {size:.0f} MB. Thin it first.")
        return {name: archive.read(name) for name in archive.namelist()} if look else {}
