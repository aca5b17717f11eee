"""A field as the bytes of a model's file, and back: what the page keeps over a reload, and what a drawing's file holds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..demonstrations import DataError
from ..fields import Field
from ..models import as_field, load


def packed(field: Field) -> bytes:
    """A model's file."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "eigenwell-model.eigenwell"
        field.save(path)
        return path.read_bytes()


def model(data: bytes) -> Field:
    """The planar field in a model's file; DataError or ModelError where there is none."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.eigenwell"
        path.write_bytes(data)
        try:
            field = as_field(load(path))
        except ValueError as error:
            raise DataError(str(error).replace(str(path), "the file").replace(path.name, "the file")) from None
    if field.dimension != 2:
        raise DataError(f"Expected a field of the plane, got one in {field.dimension} dimensions. Use it in Python.")
    return field
