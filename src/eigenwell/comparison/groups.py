"""One data set as several: the rows of a table, or the cells, that have the same value in one column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import from_anndata, is_cells
from ..data_frames import is_frame
from ..demonstrations import DataError, Demonstrations
from ..files.frames import columns_of


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows of a table, as a frame: what `Demonstrations.of` reads by the names of its columns."""

    table: Mapping[str, NDArray[Any]]

    @property
    def columns(self) -> list[str]:
        return list(self.table)

    @property
    def shape(self) -> tuple[int, int]:
        return len(next(iter(self.table.values()))), len(self.table)

    def to_numpy(self) -> NDArray[Any]:
        return np.column_stack(list(self.table.values()))

    def __getitem__(self, name: str) -> _Column:
        return _Column(self.table[name])


@dataclass(frozen=True, eq=False)
class _Column:
    values: NDArray[Any]

    def to_numpy(self) -> NDArray[Any]:
        return self.values


def column(data: Any, by: Any) -> NDArray[Any]:
    """The values of one column: of a table, of the cells' `obs`, or given as an array with one value a sample."""
    if isinstance(by, str):
        names = list(data.obs) if is_cells(data) else list(_table(data))
        if by not in names:
            raise DataError(f"Expected by as one of the columns {', '.join(map(str, names[:30]))}, got {by!r}.")
        return np.asarray(data.obs[by]) if is_cells(data) else _table(data)[by]
    return np.asarray(by)


def conditions(data: Any, by: Any) -> tuple[list[str], NDArray[Any]]:
    """The names of all conditions, in the order of the categories where there are any, and the one of every sample."""
    values = column(data, by)
    missing = np.array([v is None or v != v or v == "" for v in values.tolist()], dtype=bool)
    if missing.any():
        raise DataError(
            f"Expected a condition for every sample, got {int(missing.sum())} of {len(values)} without one. Leave those out."
        )
    names, group = np.unique(values.astype(str), return_inverse=True)
    given = by if not isinstance(by, str) else data.obs[by] if is_cells(data) else data[by]
    categories = getattr(getattr(given, "cat", given), "categories", ())
    order = [name for name in map(str, categories) if name in names] or names.tolist()
    return order, np.array([order.index(name) for name in names])[group]


def samples(data: Any) -> Demonstrations:
    """Of one condition: what `Demonstrations.of` reads, or (x, v)."""
    return Demonstrations.of(*data) if isinstance(data, tuple) and len(data) == 2 else Demonstrations.of(data)


def parts(data: Any, by: Any, group: NDArray[Any], basis: str | None = None) -> Iterator[Demonstrations]:
    """The samples of group 0, 1, ... as demonstrations."""
    table = None if is_cells(data) or not isinstance(by, str) else _table(data)
    whole = None if table is not None else from_anndata(data, basis) if is_cells(data) else samples(data)
    if whole is not None and len(group) != whole.n_samples:
        raise DataError(f"Expected by with one value for each of {whole.n_samples} samples, got {len(group)}.")
    for k in range(int(group.max()) + 1):
        rows = np.flatnonzero(group == k)
        if table is not None:
            yield Demonstrations.of(_Rows({n: c[rows] for n, c in table.items() if n != by}))
        elif whole is not None:
            yield whole.take(rows)


def _table(data: Any) -> dict[str, NDArray[Any]]:
    if isinstance(data, Mapping):
        return {str(name): np.asarray(values) for name, values in data.items()}
    if not is_frame(data):
        raise DataError(
            f"Expected a data frame, a dictionary of columns or an AnnData object with by, got {type(data).__name__}."
        )
    return columns_of(data)
