"""One way to print and keep what was measured."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """What was measured, the bar, what was reached, the comparison in the same run, and whether the bar is met."""

    what: str
    bar: str
    reached: str
    beside: str
    met: bool


def report(name: str, rows: list[Row], **facts: object) -> None:
    """Print a table and write benchmarks/results/<name>.json."""
    print(f"\n{name}")
    for row in rows:
        print(f"  [{'met' if row.met else 'NOT MET'}] {row.what}: {row.reached}  (bar {row.bar})")
        if row.beside:
            print(f"        beside it: {row.beside}")
    RESULTS.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "numpy": np.__version__}
    content = {"machine": machine, "rows": [asdict(r) for r in rows], **facts}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1, default=float) + "\n")
