"""Gaps in a recording: rows that are not numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution

LONGEST_GAP = 10
"""Rows in a row that are interpolated; a longer gap splits the recording."""


@dataclass(frozen=True)
class Pieces:
    """Rows of one trajectory, cut at its long gaps, and the numbers of rows that were filled and dropped."""

    rows: list[IntArray]
    filled: int
    dropped: int


def whole(x: FloatArray) -> Pieces:
    return Pieces([np.arange(len(x))], 0, 0)


def mend(x: FloatArray, others: list[FloatArray], longest: int) -> Pieces:
    """Fill gaps of up to `longest` rows of x (T, d) and the `others` in place, by straight lines over the rows; the rest is cut.

    Gaps at the beginning and the end have one side only and are dropped.
    """
    parts = [x, *others]
    bad = np.any([~np.isfinite(a).reshape(len(x), -1).all(axis=1) for a in parts], axis=0)
    if not bad.any():
        return whole(x)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(int)))
    filled, keep = 0, np.ones(len(x), dtype=bool)
    good = np.flatnonzero(~bad)
    cuts = []
    for a, b in edges.reshape(-1, 2):
        if a == 0 or b == len(x) or b - a > longest:
            keep[a:b] = False
            cuts.append(int(a))
            continue
        filled += int(b - a)
        for part in parts:
            flat = part.reshape(len(x), -1)
            for column in flat.T:
                column[a:b] = np.interp(np.arange(a, b), good, column[good])
    rows = [r[keep[r]] for r in np.split(np.arange(len(x)), cuts)]
    return Pieces([r for r in rows if len(r)], filled, int((~keep).sum()))


def told(filled: int, dropped: int, extra_pieces: int, longest: int) -> tuple[Caution, ...]:
    if not filled and not dropped:
        return ()
    said = f"{filled} rows without numbers, in gaps of up to {longest}, were interpolated"
    if dropped:
        said += f"; {dropped} rows in longer gaps or at the ends were dropped"
    if extra_pieces:
        said += f", which split recordings into {extra_pieces} more"
    return (Caution("gaps", said + "."),)
