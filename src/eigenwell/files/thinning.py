"""Each n-th sample of every trajectory, and its last, while a file streams by: memory for what is kept, no more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import IntArray

Block = dict[str, NDArray[Any]]


class Thinner:
    """Takes blocks of rows one after the other; gives the kept rows back in their order at the end."""

    def __init__(self, every: int) -> None:
        self.every = every
        self._seen: dict[Any, int] = {}
        self._last: dict[Any, tuple[int, Block]] = {}
        self._blocks: list[Block] = []
        self._rows: list[IntArray] = []
        self._start = 0

    def add(self, block: Block, ids: NDArray[Any] | None) -> None:
        n = len(next(iter(block.values())))
        if self.every == 1:
            self._blocks.append(block)
            return
        keep = np.zeros(n, dtype=bool)
        names, counts = np.unique(np.zeros(n) if ids is None else ids, return_counts=True)
        order = np.arange(n) if ids is None else np.argsort(ids, kind="stable")
        for name, mine in zip(names.tolist(), np.split(order, np.cumsum(counts)[:-1]), strict=True):
            seen = self._seen.get(name, 0)
            keep[mine[-seen % self.every :: self.every]] = True
            self._seen[name] = seen + len(mine)
            end = int(mine[-1])
            # The end of a trajectory is where it arrived: held back until a later one replaces it.
            self._last[name] = (self._start + end, {key: a[end : end + 1].copy() for key, a in block.items()})
        self._blocks.append({key: a[keep] for key, a in block.items()})
        self._rows.append(self._start + np.flatnonzero(keep))
        self._start += n

    def result(self) -> Block:
        """The kept rows; nothing where nothing came."""
        if not self._blocks:
            return {}
        if self.every == 1:
            return _stacked(self._blocks)
        rows = np.concatenate([*self._rows, np.array([row for row, _ in self._last.values()], dtype=np.intp)])
        whole = _stacked(self._blocks + [block for _, block in self._last.values()])
        _, order = np.unique(rows, return_index=True)
        return {key: a[order] for key, a in whole.items()}


def _stacked(blocks: list[Block]) -> Block:
    return {key: np.concatenate([block[key] for block in blocks]) for key in blocks[0]}
