"""How far a long call has come: one callback for all of them, `progress(stage, done, total)`.

The loops that take long call `advance`; who asked to be told is kept in a context, so that no function between has to
pass it on.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Progress", "advance", "told"]

Progress = Callable[[str, int, int], None]
"""Called as progress(stage, done, total): a word, and how many of how many steps of it are done."""

log = logging.getLogger("eigenwell")
"""What happens, for who listens: files and audits at INFO, every step of long calls at DEBUG."""
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


def advance(stage: str, done: int, total: int) -> None:
    """Tell whoever asked that `done` of `total` steps of a stage are done.

    Parameters
    ----------
    stage : str
        A word for what is being done.
    done, total : int
        Steps.

    Examples
    --------
    >>> from eigenwell.progress import advance, told
    >>> with told(lambda stage, done, total: print(stage, done, total)):
    ...     advance("replicates", 3, 40)
    replicates 3 40
    """
    log.debug("%s: %d of %d", stage, done, total)
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


@contextmanager
def told(progress: bool | Progress | None) -> Iterator[None]:
    """Within this context, `advance` calls `progress`.

    Parameters
    ----------
    progress : bool or callable
        A function of (stage, done, total); True prints a line to the terminal; False or None leaves things as they are.

    Examples
    --------
    >>> from eigenwell.progress import told
    >>> with told(False):
    ...     pass
    """
    listener = listener_of(progress)
    if listener is None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener_of(progress: bool | Progress | None) -> Progress | None:
    """The function to call for what a user passed as `progress`; None for silence."""
    if callable(progress):
        return progress
    return _print if progress else None


def _print(stage: str, done: int, total: int) -> None:
    end = "\n" if done >= total else ""
    print(f"\r{stage}: {done} of {total}", end=end, file=sys.stderr, flush=True)
