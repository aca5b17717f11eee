"""Demonstrations from files and into files: CSV, Parquet, NPZ, MAT, folders, LeRobot data sets.

>>> import eigenwell as ew
>>> demos = ew.files.read("recording.csv")                                  # doctest: +SKIP
>>> demos = ew.files.read("folder/", position=["q1", "q2"], time="stamp")   # doctest: +SKIP
>>> ew.files.write("recording.parquet", demos)                              # doctest: +SKIP
"""

from ..errors import MissingExtra
from .api import FORMATS, read, write
from .api import read_positions as read_positions
from .atomic import make_folder as make_folder
from .atomic import replacing as replacing
from .errors import (
    CannotWrite,
    EmptyFile,
    FileError,
    MissingFile,
    PickledFile,
    TooLarge,
    UnknownColumns,
    UnknownFormat,
    UnreadableFile,
)

__all__ = [
    "FORMATS",
    "CannotWrite",
    "EmptyFile",
    "FileError",
    "MissingExtra",
    "MissingFile",
    "PickledFile",
    "TooLarge",
    "UnknownColumns",
    "UnknownFormat",
    "UnreadableFile",
    "read",
    "write",
]
