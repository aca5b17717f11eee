"""Memory that a task frees and takes again all the time stays with it until the task is done.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536: freed memory goes back to the system at once, and every
array has to be handed out and cleared anew. That is right between tasks; within one that makes thousands of arrays of a
few hundred KB it doubles the time.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Names and numbers of glibc's malloc.h, and Dask's threshold.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
DASK_TRIMS, USUAL_MMAP = 1 << 16, 1 << 17
# Bytes kept at most, and the largest array that is kept: what glibc itself allows where nobody interferes.
KEPT, LARGEST_KEPT = 1 << 28, 1 << 25


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Within this, freed memory is kept for the next array; afterwards it goes back to the system. glibc only."""
    libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
    if not hasattr(libc, "mallopt"):
        yield
        return
    libc.mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
    libc.mallopt(TRIM_THRESHOLD, KEPT)
    try:
        yield
    finally:
        libc.mallopt(TRIM_THRESHOLD, DASK_TRIMS)
        libc.mallopt(MMAP_THRESHOLD, USUAL_MMAP)
        libc.malloc_trim(0)
