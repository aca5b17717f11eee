"""A run: the input, the cluster, and what its ways to paths hand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..demonstrations import Caution
from ..files.columns import Columns
from .inputs import Part
from .stages import Cluster, Task


@dataclass(frozen=True)
class Run:
    """`cell` is the number of samples that one task takes on."""

    cluster: Cluster
    parts: list[Part]
    columns: Columns
    cell: int

    @property
    def total(self) -> int:
        return self.parts[-1].offset + self.parts[-1].rows

    @property
    def offsets(self) -> list[int]:
        return [p.offset for p in self.parts] + [self.total]

    @property
    def part_names(self) -> list[str]:
        return [p.name for p in self.parts]

    def one(self, stage: str, function: Any, **arguments: Any) -> dict[str, Any]:
        """A stage of one task."""
        return self.cluster.stage([Task(stage, stage, function, arguments)])[0]

    def per_part(self, stage: str, function: Any, **arguments: Any) -> list[dict[str, Any]]:
        return self.cluster.stage([Task(stage, p.name, function, {"part": p} | arguments, p.about) for p in self.parts])


@dataclass(frozen=True)
class AssembledPaths:
    """Where the assembled paths are, and what the grouping of their ends needs besides."""

    names: list[str]
    resolution: float
    unit: list[float]
    warnings: tuple[Caution, ...]
    facts: dict[str, Any]
    trusted_ends: bool = False


def numbered(what: str, count: int) -> list[str]:
    return [f"{what}-{k:05d}" for k in range(count)]


def plain(warnings: Sequence[Caution]) -> list[list[str]]:
    return [[c.name, c.message] for c in warnings]


def repeated(count: int, total: int) -> tuple[Caution, ...]:
    said = f"{count} of {total} samples repeat another one exactly; each is counted once."
    return (Caution("duplicated-samples", said),) if count else ()
