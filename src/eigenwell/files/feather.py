"""Feather and Arrow IPC files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..demonstrations import Demonstrations
from ..errors import missing_extra
from .errors import unreadable
from .frames import columns_of, from_table
from .recording import Recording, Wanted
from .text import as_columns


@dataclass(frozen=True)
class Feather:
    """A table as pandas, polars and R write it."""

    name: ClassVar[str] = "Feather"
    suffixes: ClassVar[tuple[str, ...]] = (".feather", ".arrow", ".ipc")

    def read(self, path: Path, wanted: Wanted) -> Recording:
        try:
            import pyarrow as pa
            from pyarrow import feather
        except ImportError as error:
            raise missing_extra("Reading Feather", "pyarrow", "files") from error
        try:
            table = feather.read_table(path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable(path, "a Feather table", error) from error
        return from_table(path, columns_of(table), wanted)

    def write(self, path: Path, demos: Demonstrations) -> None:
        try:
            import pyarrow as pa
            from pyarrow import feather
        except ImportError as error:
            raise missing_extra("Writing Feather", "pyarrow", "files") from error
        names, columns = as_columns(demos)
        table = pa.table({n: np.ascontiguousarray(c) for n, c in zip(names, columns, strict=True)})
        feather.write_feather(table, str(path))
