"""A reader of MAT files, versions 4 to 7, in plain Python.

SciPy's reader trusts its input: damaged bytes make it read past its tables and take the interpreter down with it.
This one checks every length before it believes it, and maps numbers from the file instead of loading them.
Numbers become arrays, text becomes str, cells become lists, structs become lists of dictionaries.
"""

from __future__ import annotations

import math
import mmap
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LARGEST = 2 << 30
"""Bytes of one variable: MATLAB's own limit for these versions."""
_DEEPEST = 16
_MOST = 1 << 16
"""Variables of a file, and cells of a variable: a file of many more is a file of something else, and slow to find out."""
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TYPES |= {16: "u1", 17: "u2", 18: "u4"}
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_ENCODINGS = {2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _CHAR = 1, 2, 3, 4


class Damaged(Exception):
    """The bytes do not say what they should."""


@dataclass
class Bytes:
    """A view of the file and a place in it."""

    view: memoryview
    order: str
    at: int = 0

    def take(self, count: int) -> memoryview:
        if count < 0 or self.at + count > len(self.view):
            raise Damaged(f"{count} bytes wanted, {len(self.view) - self.at} left")
        self.at += count
        return self.view[self.at - count : self.at]

    def element(self) -> tuple[int, memoryview]:
        """Type and data of the next element; those of up to four bytes have a short form."""
        first = self.whole()
        if first >> 16:
            size, kind = first >> 16, first & 0xFFFF
            if size > 4:
                raise Damaged("a short element is too long")
            return kind, self.take(4)[:size]
        data = self.take(self.whole())
        if first != _COMPRESSED:
            self.at = min(self.at + -len(data) % 8, len(self.view))
        return first, data

    def whole(self) -> int:
        return int.from_bytes(self.take(4), "little" if self.order == "<" else "big")

    def numbers(self) -> Any:
        kind, data = self.element()
        if kind not in _TYPES:
            raise Damaged(f"numbers of type {kind}")
        dtype = np.dtype(self.order + _TYPES[kind])
        return np.frombuffer(data, dtype, len(data) // dtype.itemsize)

    def text(self) -> str:
        return bytes(self.element()[1]).decode("latin-1")

    def inside(self, view: memoryview) -> Bytes:
        return Bytes(view, self.order)


def load(path: Path) -> dict[str, Any]:
    """Variables by name. Raises Damaged on anything that is not a MAT file of these versions."""
    with path.open("rb") as handle:
        view = memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
    if len(view) < 4 or 0 in bytes(view[:4]):
        return dict(_version_4(view))
    if len(view) < 128 or bytes(view[126:128]) not in (b"IM", b"MI"):
        raise Damaged("no MAT header")
    stream = Bytes(view, "<" if bytes(view[126:128]) == b"IM" else ">", 128)
    out: dict[str, Any] = {}
    for _ in range(_MOST):
        if stream.at == len(view):
            return out
        kind, data = stream.element()
        if kind == _COMPRESSED:
            kind, data = stream.inside(_inflated(data, stream.order)).element()
        if kind == _MATRIX:
            name, value = _matrix(stream.inside(data))
            out[name] = value
    raise Damaged("too many variables")


def _inflated(data: memoryview, order: str) -> memoryview:
    """Decompressed, but never more than the element inside announces."""
    machine = zlib.decompressobj()
    head = machine.decompress(data, 8)
    if len(head) < 8:
        raise Damaged("a compressed element is cut off")
    size = Bytes(memoryview(head), order, 4).whole()
    if size > LARGEST:
        raise Damaged(f"a variable of {size} bytes")
    return memoryview(head + machine.decompress(machine.unconsumed_tail, size))


def _matrix(stream: Bytes, depth: int = 0) -> tuple[str, Any]:
    if depth > _DEEPEST:
        raise Damaged("cells nested too deep")
    if len(stream.view) == 0:
        return "", np.empty((0, 0))
    flags = stream.numbers()
    shape = tuple(int(n) for n in stream.numbers())
    name = stream.text()
    if len(flags) == 0 or len(shape) < 2 or min(shape) < 0:
        raise Damaged("a variable without class or size")
    kind, count = int(flags[0]) & 0xFF, math.prod(shape)
    if kind in _CLASSES:
        return name, _numbers(stream, shape, np.dtype(_CLASSES[kind]), bool(int(flags[0]) & 0x800))
    if kind == _CHAR:
        encoding, data = stream.element()
        return name, bytes(data).decode(_ENCODINGS.get(encoding, "latin-1"), "replace")
    if count > _MOST:
        raise Damaged(f"{count} cells")
    if kind == _CELL:
        return name, [_nested(stream, depth) for _ in range(count)]
    if kind in (_STRUCT, _OBJECT):
        if kind == _OBJECT:
            stream.text()
        width = int(stream.numbers()[:1].sum())
        names = stream.text()
        fields = [names[i : i + width].split("\0")[0] for i in range(0, len(names), width)] if width > 0 else []
        return name, [{field: _nested(stream, depth) for field in fields} for _ in range(count if fields else 0)]
    return name, None  # sparse matrices, functions, classes: nothing to draw samples from


def _nested(stream: Bytes, depth: int) -> Any:
    kind, data = stream.element()
    if kind != _MATRIX:
        raise Damaged(f"a cell of type {kind}")
    return _matrix(stream.inside(data), depth + 1)[1]


def _numbers(stream: Bytes, shape: tuple[int, ...], dtype: np.dtype[Any], imaginary: bool) -> Any:
    """Stored in the smallest type that holds them; column after column."""
    values = stream.numbers()
    if len(values) != math.prod(shape):
        raise Damaged(f"{len(values)} numbers for shape {shape}")
    if imaginary:
        values = values + 1j * stream.numbers()
        return values.reshape(shape, order="F")
    return values.reshape(shape, order="F").astype(dtype, copy=False)


def _version_4(view: memoryview) -> Any:
    """20 bytes of header (type, rows, columns, imaginary, length of name), a name, the numbers."""
    stream = Bytes(view, "<")
    for _ in range(_MOST):
        if stream.at == len(view):
            return
        head = np.frombuffer(stream.take(20), "<i4")
        if not 0 <= head[0] < 5000:
            head = head.byteswap()
        form, rows, columns, imaginary, length = (int(n) for n in head)
        thousand, precision, kind = form // 1000, form // 10 % 10, form % 10
        types = ("f8", "f4", "i4", "i2", "u2", "u1")
        known = thousand in (0, 1) and precision < len(types) and kind <= 2 and imaginary in (0, 1)
        if not known or min(rows, columns) < 0 or length < 2:
            raise Damaged("no MAT header")
        name = bytes(stream.take(length)).decode("latin-1").split("\0")[0]
        dtype = np.dtype("<>"[thousand] + types[precision])
        data = stream.take(rows * columns * dtype.itemsize)
        if imaginary:
            stream.take(len(data))
        if kind == 0 and not imaginary:
            yield name, np.frombuffer(data, dtype).reshape((rows, columns), order="F")
