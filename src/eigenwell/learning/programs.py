"""Compiled training programs, kept on disk: only the first training of a shape on a machine waits for the compiler."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache


@contextmanager
def kept_programs() -> Iterator[None]:
    """Programs compiled inside are kept in `~/.cache/eigenwell`, or where EIGENWELL_CACHE says.

    A cache of JAX's that the user has set up is left alone, and JAX_ENABLE_COMPILATION_CACHE=false keeps nothing.
    """
    config: Any = jax.config
    folder = None if config.jax_compilation_cache_dir else _folder()
    if folder is None:
        yield
        return
    config.update("jax_compilation_cache_dir", str(folder))
    try:
        yield
    finally:
        config.update("jax_compilation_cache_dir", None)
        compilation_cache.reset_cache()


def _folder() -> Path | None:
    """One folder per kind of processor: homes are shared between machines, and a program for another one may crash."""
    try:
        described = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        able = next(line for line in described if line.startswith(("flags", "Features")))
        home = Path(os.environ.get("EIGENWELL_CACHE") or Path.home() / ".cache" / "eigenwell")
        folder = home / "programs" / hashlib.sha256(able.encode()).hexdigest()[:12]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, StopIteration, RuntimeError):
        return None
    return folder
