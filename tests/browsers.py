"""A browser and a studio to point it at, for tests, benchmarks and pictures: one list of flags, one way to start."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
# No request to anybody's servers; WebGL in software, for plots in space on machines without a graphics card.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader",
)  # fmt: skip


def chromium() -> str | None:
    """Where the installed Chromium is; Debian's is installed where we may, None where we may not."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update"], capture_output=True, timeout=300)
        install = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
        subprocess.run(install, capture_output=True, timeout=900)
        found = shutil.which("chromium")
    return found


@contextmanager
def served(module: str = "eigenwell", **environment: str) -> Iterator[str]:
    """The address of a real studio on a free port, or of that of another module (`tests.small_studio`)."""
    command = [sys.executable, "-m", module, "studio", "--no-browser", "--port", "0"]
    settings = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            if found is None:
                raise RuntimeError("The studio did not start; run `eigenwell studio` to see why.")
            yield found.group()
        finally:
            server.terminate()
            server.wait(20)
