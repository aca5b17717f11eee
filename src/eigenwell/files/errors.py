"""What can be wrong with a file. Each error is a DataError whose message is one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DataError


class FileError(DataError):
    """A file cannot be used; the message names it, on one line whatever the names in the file hold."""

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else " " for c in message))


class MissingFile(FileError):
    """There is nothing at this path."""


class EmptyFile(FileError):
    """The file or folder is there and holds no samples."""


class UnreadableFile(FileError):
    """Not what its name says: truncated, garbage, a loop of links, a device."""


class UnknownFormat(FileError):
    """No reader for this suffix."""


class UnknownColumns(FileError):
    """Positions, velocities or time could not be told from the names in the file."""


class TooLarge(FileError):
    """More columns, or longer lines, than any recording has."""


class PickledFile(FileError):
    """Pickles run code when read; eigenwell does not read them."""


class CannotWrite(FileError):
    """The output cannot be written there; nothing was left behind."""


def unreadable(path: Path, kind: str, error: BaseException | str) -> UnreadableFile:
    """Any parser's complaint, on one line."""
    said = " ".join(str(error).split()) or type(error).__name__
    return UnreadableFile(
        f"Expected {kind} in {path}, got something else or only a part of it ({said[:200]}). Save it again."
    )


@contextmanager
def parsing(path: Path, kind: str) -> Iterator[None]:
    """Within this, whatever a parser complains of becomes one sentence: what was expected in the file, and what came.

    Parsers of broken files fail in their own ways: in their tables, in types, or in the text that they take for numbers.
    """
    try:
        yield
    except (DataError, ImportError):
        raise
    except MemoryError as error:
        raise TooLarge(
            f"Expected numbers that fit in memory in {path}; they do not. Save without compression, or thin them."
        ) from error
    except OSError as error:
        if error.errno is not None:
            raise UnreadableFile(f"Cannot read {path}: {error.strerror or error}.") from error
        raise unreadable(path, kind, error) from error
    except Exception as error:
        raise unreadable(path, kind, error) from error
