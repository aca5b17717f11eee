"""Atomic writes: a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import CannotWrite


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written, before the work and not after it."""
    _temporary(Path(path)).unlink(missing_ok=True)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """A folder to write into, and those it lies in, where they are not there yet."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if target.is_file() else error.strerror or error
        raise CannotWrite(f"Cannot write into {target}: {why}. Give a folder that you may write to.") from error
    return target


def _temporary(target: Path) -> Path:
    """A new, empty file beside a target."""
    if target.is_dir():
        raise CannotWrite(f"Cannot write {target}: it is a folder. Name a file in it; nothing was changed.")
    if not target.parent.is_dir():
        raise CannotWrite(
            f"Cannot write {target}: there is no folder {target.parent}. Make it, or name a folder that exists."
        )
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=target.suffix)
        os.close(handle)
    except OSError as error:
        raise _refused(target, error) from error
    return Path(name)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary name beside `path`, put in its place at the end; on any failure nothing is left and nothing is lost."""
    target = Path(path)
    temporary = _temporary(target)
    try:
        yield temporary
        # mkstemp makes files that only their owner reads; give the mode that open() would have given.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        os.replace(temporary, target)
    except OSError as error:
        raise _refused(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _refused(target: Path, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"Cannot write {target}: {error.strerror or error}. Give a file in a folder that you may write to."
    )
