"""Noise, bending and the usual step are not a cell's own affair: what cells measure is pooled, and all go by it.

With one time step for all the matched cells tell what they saw. By likelihood every round of matching needs the scales
of the last one: pilot cells go through all rounds first, and tell what they measured in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from ..paths.fragments import likely_paths
from ..paths.kinematics import Agree, Measured, Scales
from ..paths.settings import DEFAULT
from .allocator import freed_memory_kept
from .scan import nearest_of_all
from .splitting import read_cell
from .store import Products, fetch

PILOT_LINKS, FEWEST_PILOTS = 4, 2
"""Samples of the pilot cells together, in units of the links that scales are read off; and how many cells at least."""
TABLES = ("links", "far", "paces")


def saved(measured: Measured, number: int) -> dict[str, FloatArray]:
    """What was measured in a round, as arrays to keep."""
    return {f"{table}-{number}": getattr(measured, table) for table in TABLES}


def gathered(folder: Path, stage: str, rounds: Sequence[tuple[str, int]], part: float = np.inf) -> Measured:
    """What cells measured, each in its round, of this share of the samples (`paths.hashing`)."""
    tables = [np.concatenate([fetch(folder, stage, name, f"{table}-{k}") for name, k in rounds]) for table in TABLES]
    return Measured(*(table[table[:, 0] < part] for table in tables))


def typical_step(folder: Path, *, names: Sequence[str]) -> Products:
    """Median distance that the samples asked move until they are nearest to another one ahead."""
    asked, near, distance = nearest_of_all(folder, names)
    d = asked.shape[1] // 2
    ahead = ((near[:, :, :d] - asked[:, None, :d]) * asked[:, None, d:]).sum(axis=2) > 0
    nearest = np.where(ahead & (distance > 0), distance, np.inf).min(axis=1)
    return Products(summary={"step": float(np.median(np.minimum(nearest, distance.max(axis=1))))})


def pilots(cells: int, total: int) -> list[int]:
    """Cells that measure for all, spread over the whole: all of them where the data are small."""
    enough = max(FEWEST_PILOTS, -(-PILOT_LINKS * DEFAULT.measured * cells // total))
    return sorted({round(k) for k in np.linspace(0, cells - 1, min(enough, cells)).tolist()})


def pilot(folder: Path, *, cell: int, names: Sequence[str], spread2: float) -> Products:
    """What the samples at home in one cell measure in every round; the last round is what it ends with."""
    mine = read_cell(folder, names, cell)
    heard: list[Measured] = []

    def listen(measured: Measured) -> Scales:
        tables = (getattr(measured, table) for table in TABLES)
        heard.append(Measured(*(table[mine.home[table[:, 0].astype(np.intp)]] for table in tables)))
        return measured.scales(mine.x.shape[1], spread2)

    if mine.home.any():
        with freed_memory_kept():
            likely_paths(mine.x, mine.v, cKDTree(mine.x), agree=listen)
    arrays: dict[str, FloatArray] = {}
    for k, one in enumerate(heard):
        arrays |= saved(one, k)
    return Products(arrays=arrays, summary={"rounds": len(heard), "dimension": mine.x.shape[1]})


def agree_on(folder: Path, *, names: Sequence[str], told: Sequence[dict[str, int]], spread2: float) -> Products:
    """Scales of every round that all pilot cells went through, and of their ends, read off the links of all of them."""
    heard = [(name, one["rounds"]) for name, one in zip(names, told, strict=True) if one["rounds"]]
    common = min(rounds for _, rounds in heard)
    at = [[(name, k if k < common - 1 else rounds - 1) for name, rounds in heard] for k in range(common)]
    d = told[0]["dimension"]
    return Products(summary={"scales": [list(gathered(folder, "pilot", one).scales(d, spread2)) for one in at]})


def agreed(scales: Sequence[Sequence[float]]) -> Agree:
    """Round after round what was agreed on, and after the last round what stood at its end."""
    rounds = iter([Scales(*one) for one in scales])
    last = Scales(*scales[-1])
    return lambda _: next(rounds, last)
