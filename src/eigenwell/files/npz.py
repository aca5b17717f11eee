"""NumPy archives. Members stored without compression are mapped, not loaded; pickles are refused."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..demonstrations import Demonstrations
from .arrays import as_arrays, from_arrays
from .errors import PickledFile, TooLarge, UnreadableFile, parsing
from .recording import Format, Recording, Wanted

MOST_MEMBERS = 4096


def _read(path: Path, wanted: Wanted) -> Recording:
    """x, v, time_s and offsets (where trajectories begin and end), as written; or any names that tell positions."""
    if path.suffix.lower() == ".npy":
        with path.open("rb") as handle:
            dtype, shape, order = _header(handle, path, path.name)
            _check_size(path, path.name, dtype, shape, path.stat().st_size - handle.tell())
            array = np.memmap(path, dtype=dtype, mode="r", offset=handle.tell(), shape=shape, order=order)
        return from_arrays(path, {"array": array}, wanted).thinned(wanted.every)
    return from_arrays(path, _members(path), wanted).thinned(wanted.every)


def _write(path: Path, demos: Demonstrations) -> None:
    with path.open("wb") as handle:
        np.savez(handle, allow_pickle=False, **as_arrays(demos))


def _members(path: Path) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(path) as archive:
        members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
        if len(members) > MOST_MEMBERS:
            raise TooLarge(
                f"Expected at most {MOST_MEMBERS} arrays in {path}, got {len(members)}. Stack the columns first."
            )
        return {member.filename[:-4]: _member(path, archive, member) for member in members}


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as handle:
        dtype, shape, order = _header(handle, path, member.filename)
        start = handle.tell()
        _check_size(path, member.filename, dtype, shape, member.file_size - start)
        if member.compress_type != zipfile.ZIP_STORED or not np.prod(shape):
            # A declared size is a promise; reading at most that much keeps a lying archive from filling memory.
            raw = handle.read(member.file_size - start)
            return np.frombuffer(raw, dtype=dtype, count=int(np.prod(shape))).reshape(shape, order=order)
    with path.open("rb") as whole:
        # The local header may be longer than the central one says: read its own two lengths.
        whole.seek(member.header_offset + 26)
        extra = int.from_bytes(whole.read(2), "little") + int.from_bytes(whole.read(2), "little")
    offset = member.header_offset + 30 + extra + start
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)


def _header(handle: IO[bytes], path: Path, name: str) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    with parsing(path, f"an array {name}"):
        version = npy.read_magic(handle)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(handle)
    if dtype.hasobject:
        raise PickledFile(
            f"Expected arrays of numbers in {path}, got pickled objects in {name}: reading them could run code. Save "
            "trajectories as one array x with 'offsets', or write them with eigenwell."
        )
    if any(n < 0 for n in shape):
        raise UnreadableFile(f"Expected an array in {name} of {path}, got the shape {shape}.")
    return dtype, shape, "F" if fortran else "C"


def _check_size(path: Path, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], there: int) -> None:
    needed = dtype.itemsize * math.prod(shape)
    if needed != there:
        raise UnreadableFile(
            f"Expected {needed} bytes in {name} of {path} for shape {shape}, got {there}: the file is truncated."
        )


NPZ = Format((".npz", ".npy"), "a NumPy archive (.npz)", _read, _write)
