"""Mean and variance of many parts from those of each, to rounding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import FloatArray


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of every coordinate."""

    count: int
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> Moments:
        if len(x) == 0:
            return cls(0, np.zeros(x.shape[1]), np.zeros(x.shape[1]))
        mean = x.mean(axis=0)
        return cls(len(x), mean, ((x - mean) ** 2).sum(axis=0))

    @classmethod
    def read(cls, said: dict[str, Any]) -> Moments:
        return cls(said["count"], np.array(said["mean"]), np.array(said["squares"]))

    @classmethod
    def pooled(cls, parts: Iterable[Moments]) -> Moments:
        parts = [p for p in parts if p.count]
        count = sum(p.count for p in parts)
        mean = np.sum([p.count * p.mean for p in parts], axis=0) / count
        squares = np.sum([p.squares + p.count * (p.mean - mean) ** 2 for p in parts], axis=0)
        return cls(count, mean, squares)

    @property
    def variance(self) -> FloatArray:
        return self.squares / self.count

    def plain(self) -> dict[str, Any]:
        return {"count": self.count, "mean": self.mean.tolist(), "squares": self.squares.tolist()}
