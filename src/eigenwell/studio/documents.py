"""A drawing as one file, exact: a zip with the strokes as they were drawn, the options, the view, and the learned field.

    drawing.json      version, strokes {t, x, and v of a brush}, options, view, goals with their colours
    model.eigenwell   the field, as `field.save` writes it, where one was learned

A model that was saved in Python opens too: its samples are its strokes.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from .. import __version__
from .._types import FloatArray
from ..demonstrations import DataError
from ..fields import Field
from .model_file import model, packed
from .protocol import BadMessage, Options, Strokes, Take, parse
from .strokes import Stroke

SUFFIX = ".eigenwell"
SCHEMA = 1
DRAWING, MODEL = "drawing.json", "model.eigenwell"
LARGEST = 64 * 2**20
"""Bytes in an unpacked file."""


def written(strokes: Sequence[Stroke], options: Options, field: Field | None, seen: Take) -> tuple[str, str, bytes]:
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
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packing:
        # A fixed date: when it was saved is nobody's business.
        packing.writestr(zipfile.ZipInfo(DRAWING, (2020, 1, 1, 0, 0, 0)), json.dumps(said), zipfile.ZIP_DEFLATED)
        if field is not None:
            packing.writestr(zipfile.ZipInfo(MODEL, (2020, 1, 1, 0, 0, 0)), packed(field), zipfile.ZIP_DEFLATED)
    return f"eigenwell-drawing{SUFFIX}", "application/octet-stream", archive.getvalue()


def read(data: bytes) -> dict[str, Any]:
    """Strokes, options, view and field for the page."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return _of_model(data)
    said, kept = _unpacked(data)
    return {
        "name": "Drawing",
        "strokes": [_row(stroke) for stroke in said[0]],
        "options": asdict(said[1]),
        "view": said[2],
        "goals": said[3],
        "model": None if kept is None else base64.b64encode(kept).decode("ascii"),
        "scale": {"note": ""},
    }


def _row(stroke: Stroke) -> dict[str, Any]:
    row = {"t": stroke.t.tolist(), "x": stroke.x.tolist()}
    return row if stroke.v is None else row | {"v": stroke.v.tolist()}


def _unpacked(data: bytes) -> tuple[tuple[tuple[Stroke, ...], Options, Any, Any], bytes | None]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST:
                raise DataError(f"Expected at most {LARGEST // 2**20} MB in the file, got more. It was not made here.")
            said = json.loads(archive.read(DRAWING))
            kept = archive.read(MODEL) if MODEL in archive.namelist() else None
    except (KeyError, ValueError, zipfile.BadZipFile, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("Expected a drawing of the studio, got another file or a damaged one. Save it again.") from None
    if not isinstance(said, dict) or not isinstance(said.get("strokes"), list):
        raise DataError("Expected a drawing with strokes, got something else. Save it again.")
    if said.get("schema") != SCHEMA:
        raise DataError(
            f"Expected a drawing of schema {SCHEMA}, got {said.get('schema')!r}. Open it with a newer eigenwell."
        )
    rows = [{"id": f"s{k}"} | row if isinstance(row, dict) else row for k, row in enumerate(said["strokes"], start=1)]
    try:
        # The same reader that checks what a page sends.
        drawn = parse(json.dumps({"type": "strokes", "rev": 1, "strokes": rows, "options": said.get("options")}))
        seen = parse(
            json.dumps(
                {"type": "take", "rev": 1, "what": "studio", "view": said.get("view"), "goals": said.get("goals")}
            )
        )
    except BadMessage as error:
        raise DataError(str(error)) from None
    assert isinstance(drawn, Strokes) and isinstance(seen, Take)
    return (drawn.strokes, drawn.options, said.get("view"), said.get("goals")), kept


def _of_model(data: bytes) -> dict[str, Any]:
    """A model alone: the samples that it keeps are its strokes, at the speed with which it follows them."""
    field = model(data)
    starts = np.flatnonzero(field.phases == 1.0)
    if len(starts) == 0:
        raise DataError("Expected a model with the samples it was learned from, got one without. It cannot be drawn.")
    paths = [field.samples[a:b] for a, b in zip(starts, [*starts[1:], len(field.samples)], strict=True)]
    strokes = [{"t": _times(field, x).tolist(), "x": x.tolist()} for x in paths if len(x) > 1]
    note = "The strokes are the samples that the model keeps, at the speed of its flow."
    return {
        "name": "Model",
        "strokes": strokes,
        "options": None,
        "view": None,
        # Its goals keep their numbers.
        "goals": [[*place, q] for q, place in enumerate(field.attractors.tolist())],
        "model": base64.b64encode(data).decode("ascii"),
        "scale": {"note": note},
    }


def _times(field: Field, x: FloatArray) -> FloatArray:
    """Times at which the flow would pass these places: dt = |dx| / speed, the speed at least a hundredth of the top."""
    speed = np.linalg.norm(field.predict(x), axis=1)
    mean = np.maximum((speed[1:] + speed[:-1]) / 2, 0.01 * float(speed.max()) + 1e-12)
    steps = np.maximum(np.linalg.norm(np.diff(x, axis=0), axis=1) / mean, 1e-4)
    return np.round(np.concatenate([[0.0], np.cumsum(steps)]), 5)
