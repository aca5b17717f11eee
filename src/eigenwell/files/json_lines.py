"""JSON: one record per line, or one document of records or of columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..data_frames import sample_columns
from ..demonstrations import Demonstrations
from .errors import EmptyFile, UnreadableFile
from .frames import Table, from_table, spread
from .recording import Format, Recording, Wanted
from .text import opened


def _read(path: Path, wanted: Wanted) -> Recording:
    """Records with names, nested ones spread over columns: {"pose": {"position": {"x": 1}}} is pose.position.x."""
    return from_table(path, _table(path), wanted)


def _write(path: Path, demos: Demonstrations) -> None:
    columns = sample_columns(demos)
    with path.open("w", encoding="utf-8") as handle:
        for row in zip(*(c.tolist() for c in columns.values()), strict=True):
            handle.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")


def _table(path: Path) -> Table:
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    with opened(path) as handle:
        whole = bare.suffix.lower() == ".json"
        document = json.load(handle) if whole else [json.loads(line) for line in handle if line.strip()]
    if isinstance(document, dict):
        columns = {str(k): np.array(v) for k, v in document.items() if isinstance(v, list) and v}
        rows = {len(c) for c in columns.values()}
        if not columns:
            raise UnreadableFile(f"Expected columns, lists of numbers with names, or records in {path}, found neither.")
        if len(rows) != 1:
            raise UnreadableFile(f"Expected columns of one length in {path}, got lengths {sorted(rows)[:5]}.")
        return {n: c for k, v in columns.items() for n, c in spread(k, v).items()}
    if not isinstance(document, list) or not all(isinstance(r, dict) for r in document):
        raise UnreadableFile(f"Expected records with names, {{...}}, in {path}, got {type(document).__name__}.")
    if not document:
        raise EmptyFile(f"Expected records in {path}, got none.")
    flat = [_flat(r) for r in document]
    out: Table = {}
    for n in dict.fromkeys(n for r in flat for n in r):
        column = np.empty(len(flat), dtype=object)
        column[:] = [r.get(n) for r in flat]
        out |= spread(n, column)
    return out


def _flat(record: dict[str, Any], begin: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            out |= _flat(value, f"{begin}{key}.")
        elif isinstance(value, list):
            out |= {f"{begin}{key}.{i}": item for i, item in enumerate(value)}
        else:
            out[f"{begin}{key}"] = value
    return out


JSON = Format((".jsonl", ".ndjson", ".json"), "JSON", _read, _write)
