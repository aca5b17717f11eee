"""A page of all measurements, from benchmarks/results: what is quoted is what was measured, and no number is typed twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parent.parent
RESULTS = DOCS.parent / "benchmarks" / "results"
PAGE = DOCS / "reference" / "measurements.md"
HEAD = """# Measurements

`make bench` measures all of this and keeps it in `benchmarks/results`, from where this page is made. *Bar* is what was aimed at
before measuring; *beside* is what something else reaches in the same run, or what the number hangs on.
"""


def text() -> str:
    parts = [HEAD]
    for file in sorted(RESULTS.glob("*.json")):
        rows = json.loads(file.read_text(encoding="utf-8")).get("rows")
        if rows:
            lines = [
                f"| {_cell(r['what'])} | {_cell(r['bar'])} | {_cell(r['reached'])} | {_cell(r['beside'])} |"
                for r in rows
            ]
            table = "\n".join(["| what | bar | reached | beside |", "|---|---|---|---|", *lines])
            parts.append(f"## {file.stem.replace('_', ' ').replace('-', ', ')}\n\n{table}\n")
    return "\n".join(parts)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").replace("*", "\\*").replace("<", "\\<")


def write_page(app: Sphinx, config: Any) -> None:
    made = text()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
        PAGE.write_text(made, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", write_page)  # before Sphinx looks for pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
