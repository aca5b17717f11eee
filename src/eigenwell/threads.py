"""Linear algebra on one thread: identification solves thousands of small systems, which more threads only slow down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_held = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS keeps to one thread; sums then come out alike, however many processors there are.

    The limit is the whole process's: of calls side by side the first one sets and lifts it, the others leave it alone.
    """
    if not _held.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1):
            yield
    finally:
        _held.release()


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
