"""Lines that tests run, module by module: `python -m benchmarks.coverage build/coverage.json`.

Exits with 1 where a module of the core has fewer than 90 %. `make coverage` measures and then calls this.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# NumPy, SciPy, safetensors and threadpoolctl alone: what everything else stands on.
CORE = (
    "annotations", "arguments", "attractors", "cells", "checks", "datasets", "demonstrations", "errors", "fields", "flow",
    "graphs", "grids", "identification", "metrics", "models", "numbering", "paths", "poses", "progress", "repr_html",
    "results", "runge_kutta", "spectral", "systems", "velocities",
)  # fmt: skip
LEAST = 90.0


def rooms(report: dict) -> dict[str, float]:
    """Percentage of the lines of every file that were run, by its path in the package."""
    shares = {}
    for path, one in report["files"].items():
        parts = Path(path).with_suffix("").parts
        inside = "/".join(parts[parts.index("eigenwell") + 1 :])
        shares[inside] = float(one["summary"]["percent_covered"])
    return shares


def main(path: str) -> int:
    shares = rooms(json.loads(Path(path).read_text()))
    core = {name: share for name, share in shares.items() if name.split("/")[0] in CORE}
    poor = {name: share for name, share in core.items() if share < LEAST}
    for name, share in sorted(core.items(), key=lambda one: one[1])[:12]:
        print(f"{share:5.1f} %  {name}")
    print(f"{len(core)} files of the core, {len(poor)} with fewer than {LEAST:.0f} %")
    return bool(poor)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
