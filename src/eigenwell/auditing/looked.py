"""The episodes that are looked at, and the faults found so far: what every check takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from .._types import BoolArray, FloatArray
from .episodes import Episode, Episodes
from .faults import Fault, fault
from .measures import Rests, rests
from .tails import Judged


@dataclass(frozen=True, eq=False)
class Looked:
    """Episodes with their quaternions on one side, how large they usually are, where each rests, and its faults."""

    episodes: Episodes
    size: float
    rested: list[Rests]
    out: list[list[Fault]] = field(repr=False)

    @classmethod
    def at(cls, episodes: Episodes) -> Looked:
        items = episodes.items
        size = max(float(np.median([np.linalg.norm(e.extent) for e in items])), np.finfo(float).tiny)
        return cls(episodes, size, [rests(e, size) for e in items], [[] for _ in items])

    @property
    def items(self) -> tuple[Episode, ...]:
        return self.episodes.items

    @cached_property
    def moves(self) -> BoolArray:
        """Episodes that move at all."""
        return np.array([r.middle != (0, len(e)) for e, r in zip(self.items, self.rested, strict=True)])

    @cached_property
    def ways(self) -> FloatArray:
        """Lengths of the ways, by samples some way apart: noise adds less."""
        return np.array([travelled(e.x, max(1, len(e) // 50)) for e in self.items])

    @cached_property
    def times(self) -> FloatArray:
        """Times between the rests at both ends, less the longest rest between; of the usual step at least."""
        spans = zip(self.items, self.rested, self.moves, strict=True)
        return np.array([max(r.spans(e.t)[3] if moves else 0.0, e.step) for e, r, moves in spans])

    def of(self, *names: str) -> BoolArray:
        """Episodes that have one of these faults."""
        return np.array([any(f.name in names for f in faults) for faults in self.out])

    def accuse(self, k: SupportsIndex, key: str, found: Judged, **said: Any) -> None:
        """Episode k has the fault that these numbers show."""
        self.blame(k, key, float(found.value[k]), found.threshold, float(found.confidence[k]), **said)

    def blame(
        self,
        k: SupportsIndex,
        key: str,
        value: float = 1.0,
        threshold: float = 0.5,
        confidence: float = 1.0,
        **said: Any,
    ) -> None:
        self.out[k].append(fault(key, value, threshold, confidence, **said))


def travelled(x: FloatArray, lag: int) -> float:
    some = np.vstack([x[::lag], x[-1:]])
    return float(np.linalg.norm(np.diff(some, axis=0), axis=1).sum())
