"""A field as the bytes of a model's file, and back: what the page keeps over a reload, and what a drawing's file holds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..demonstrations import DataError
from ..fields import Field
from ..models import as_field, load

Read = TypeVar("Read")


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
