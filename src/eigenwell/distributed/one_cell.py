"""Everything in one cell: the very function of a single machine, in one task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..demonstrations import Demonstrations, first_occurrence
from ..files.columns import Columns
from ..flow import weigh
from ..paths import SuccessorGraph
from ..paths.builders import distinct, units
from .assemble import PathRows, finish
from .inputs import Part, read_part
from .store import Products


def find_paths(folder: Path, *, parts: Sequence[Part], columns: Columns, offsets: Sequence[int]) -> Products:
    """All parts together, which are small enough; the paths come out as those of the other stages do."""
    rows = [read_part(part, columns) for part in parts]
    x = np.concatenate([r.x for r in rows])
    v = np.concatenate([r.v for r in rows if r.v is not None])
    unit = units(x, v)
    first = first_occurrence(*distinct(x / unit, v / unit))
    evidence = weigh(x[first] / unit, v[first] / unit)
    regular = 0.0 if evidence.snapshots else max(evidence.regular, evidence.needed)
    nodes, bounds, usable, resolution = SuccessorGraph().paths(Demonstrations(x, v))
    path = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    assembled = PathRows(path, nodes, nodes, np.zeros(len(nodes)), x[nodes], v[nodes])
    products = finish(assembled, usable, offsets)
    state = np.hstack([x, v])[nodes]
    again = int((np.diff(state, axis=0) == 0).all(axis=1).sum())  # a repeat stands behind what it repeats
    summary = products.summary | {
        "resolution": resolution,
        "unit": unit.tolist(),
        "repeats": again,
        "regular": regular,
        "asked": evidence.asked,
    }
    return Products(products.arrays, products.tables, summary)
