"""The light core: how much it installs, and how long the first answer takes with it.

`python -m benchmarks.core` makes an empty environment, installs eigenwell without extras, and measures the size of its
site-packages and the processor time of `import eigenwell` with the first `identify` of Duffing, best of several.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
BARS = {"megabytes": 240.0, "seconds": 0.5}
DATA = """
import sys
import numpy as np
import eigenwell as ew
demos = ew.systems.duffing.sample(seed=0).shuffled()
np.savez(sys.argv[1], x=demos.x, v=demos.v)
"""
# Reading the file is not part of the answer, importing NumPy is.
FIRST = """
import sys, time
begin = time.process_time()
import numpy as np
import eigenwell as ew
imported = time.process_time()
with np.load(sys.argv[1]) as file:
    x, v = file["x"], file["v"]
read = time.process_time()
found = ew.identify(x, v)
end = time.process_time()
assert found.n_attractors == 2
print((end - read) + (imported - begin))
"""


def installed(folder: Path) -> Path:
    """The Python of a new environment with the core alone."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools"], check=True)
    return python


def megabytes(python: Path) -> float:
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    return sum(p.stat().st_size for p in site.rglob("*") if p.is_file() and "__pycache__" not in p.parts) / 1e6


def first_answer(python: Path, repeats: int) -> float:
    """Processor seconds of import and first identify, best of some."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    data = python.parent.parent / "duffing.npz"

    def run(code: str) -> str:
        command = [python, "-c", code, data]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    run(DATA)  # which also compiles the .pyc files
    return min(float(run(FIRST)) for _ in range(repeats))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = installed(Path(folder) / "core")
        size = megabytes(python)
        seconds = first_answer(python, arguments.repeats)
    result = {"python": sys.version.split()[0], "megabytes": size, "seconds": seconds, "bars": BARS}
    print(f"site-packages {size:.0f} MB (bar {BARS['megabytes']:.0f})")
    print(f"import and first identify of Duffing {seconds:.2f} s of a processor (bar {BARS['seconds']} s)")
    (ROOT / "benchmarks" / "results" / "core.json").write_text(json.dumps(result, indent=1) + "\n")
    return int(size > BARS["megabytes"] or seconds > BARS["seconds"])


if __name__ == "__main__":
    sys.exit(main())
