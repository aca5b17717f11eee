"""What runs in a worker process. Nothing heavy is imported here: a fresh process reads this first."""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

log = logging.getLogger("eigenwell.studio")

NICE = {"drawing": 0, "learning": 5, "errands": 5, "testing": 10}
"""Whoever draws comes first on a machine with two cores."""
MEMORY = 4 * 2**30
"""Bytes of address space of the process that opens files: a file that unpacks to more is refused, not swapped in."""


class WorkStopped(Exception):
    """The work was cancelled, or its process was ended because of newer work."""


def main(connection: Connection, kind: str, folder: str) -> None:
    """Serve jobs until the other end closes, which it also does by dying."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_IGN)  # they reach the whole group; the server ends its workers itself
    # One thread for linear algebra: the arrays are small and the cores few.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # models this small are trained before a GPU has woken up
    tempfile.tempdir = folder
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    with suppress(OSError, AttributeError):
        os.nice(NICE[kind])
    if kind == "errands":
        _limit_memory()
    from .work import JOBS

    try:
        while True:
            number, name, arguments = connection.recv()
            if name != "cancel":
                os.makedirs(folder, 0o700, exist_ok=True)  # machines tidy their temporary folders
                _do(connection, number, JOBS[name], arguments)
    except (EOFError, OSError):
        return


def _do(connection: Connection, number: int, job: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    def tell(news: Any) -> None:
        while connection.poll():
            which, name, _ = connection.recv()
            if name == "cancel" and which == number:
                raise WorkStopped
        connection.send(("news", number, news))

    try:
        answer = job(*arguments, tell=tell)
    except WorkStopped:
        connection.send(("stopped", number, None))
    except MemoryError:
        connection.send(("failed", number, "This needs more memory than the studio may use. Send less."))
    except (ValueError, ImportError) as error:
        connection.send(("failed", number, " ".join(str(error).split())))
    except OSError as error:
        if isinstance(error, BrokenPipeError | EOFError):
            raise
        connection.send(("failed", number, f"A file could not be written or read: {error.strerror or error}."))
    except Exception as error:
        log.exception("studio: %s", getattr(job, "__name__", "work"))
        connection.send(("failed", number, f"A fault of eigenwell, please report it: {type(error).__name__}: {error}"))
    else:
        connection.send(("done", number, answer))


def _end_with_parent(folder: str) -> None:
    """A server that is killed cannot end its workers nor tidy up, and one that compiles would not notice for seconds."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
