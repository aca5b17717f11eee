"""Box, mean and variance of many parts from those of each, to rounding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._types import FloatArray


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of every coordinate, its lowest and its highest value."""

    count: int
    mean: FloatArray
    squares: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> Moments:
        mean = x.mean(axis=0)
        return cls(len(x), mean, ((x - mean) ** 2).sum(axis=0), x.min(axis=0), x.max(axis=0))

    @classmethod
    def pooled(cls, parts: Iterable[Moments]) -> Moments:
        parts = list(parts)
        count = sum(p.count for p in parts)
        mean = np.sum([p.count * p.mean for p in parts], axis=0) / count
        squares = np.sum([p.squares + p.count * (p.mean - mean) ** 2 for p in parts], axis=0)
        return cls(
            count, mean, squares, np.min([p.low for p in parts], axis=0), np.max([p.high for p in parts], axis=0)
        )

    @property
    def variance(self) -> FloatArray:
        return self.squares / self.count

    @property
    def box(self) -> FloatArray:
        """(2, d) lowest and highest corner."""
        return np.stack([self.low, self.high])

    def plain(self) -> dict[str, Any]:
        return {name: np.asarray(value).tolist() for name, value in asdict(self).items()}

    @classmethod
    def read(cls, said: dict[str, Any]) -> Moments:
        return cls(said["count"], *(np.array(said[name]) for name in ("mean", "squares", "low", "high")))
