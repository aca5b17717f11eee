"""What can be wrong with a file. Each error is a DataError whose message is one line."""

from __future__ import annotations

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
