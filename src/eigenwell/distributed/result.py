"""What a distributed identification found: small things in memory, one row per sample in Parquet files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import Caution, DataError
from .inputs import arrow


@dataclass(frozen=True, eq=False)
class DistributedIdentification:
    """Sub-dynamics are numbered as by `eigenwell.identify`, by the position of their attractor.

    The folder has `labels/part-*.parquet` (sample, label, path, position; a file per input partition, rows in its order),
    `paths.parquet`, `attractors.parquet`, `embeddings/attractor-*.parquet` (sample, path, position, u1, ...) and
    `summary.json`, which is written last.
    """

    folder: Path
    attractors: FloatArray
    located: tuple[Attractor, ...]
    eigenvalues: tuple[FloatArray, ...]
    n_samples: int
    low: FloatArray
    high: FloatArray
    """The box of the data."""
    paths_per_attractor: IntArray
    samples_per_attractor: IntArray
    confidence: float
    arrived: float
    warnings: tuple[Caution, ...]
    partitions: tuple[str, ...]
    """The label file of every input partition, in order."""
    facts: dict[str, Any]
    """How it was found: cells, time step, halo copies, and so on."""

    @classmethod
    def open(cls, folder: str | Path) -> DistributedIdentification:
        """A result that was finished earlier."""
        place = Path(folder)
        try:
            said = json.loads((place / "summary.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(
                f"Expected the result of a finished run in {place}, found no whole summary.json. Run identify() again with "
                "the same folder; it goes on from the stages that are finished."
            ) from error
        located = tuple(
            Attractor(
                *(
                    None if one[name] is None else np.array(one[name])
                    for name in ("position", "standard_error", "by_intersection", "by_affine_fit", "by_mean_end")
                )  # type: ignore[arg-type]
            )
            for one in said["located"]
        )
        return cls(
            folder=place,
            attractors=np.array([a.position for a in located]),
            located=located,
            eigenvalues=tuple(np.array(one["eigenvalues"]) for one in said["located"]),
            n_samples=said["n_samples"],
            low=np.array(said["low"]),
            high=np.array(said["high"]),
            paths_per_attractor=np.array(said["paths"], dtype=np.intp),
            samples_per_attractor=np.array(said["samples"], dtype=np.intp),
            confidence=said["confidence"],
            arrived=said["arrived"],
            warnings=tuple(Caution(*w) for w in said["warnings"]),
            partitions=tuple(said["partitions"]),
            facts=said["facts"],
        )

    @property
    def n_attractors(self) -> int:
        return len(self.attractors)

    @property
    def uncertainty(self) -> FloatArray:
        """(Q, d) standard errors of the attractors."""
        return np.array([a.standard_error for a in self.located])

    def labels(self, partition: int | None = None) -> IntArray:
        """Labels of one input partition, or of all in the order of the input (a number per sample, in memory)."""
        return self._column("label", partition)

    def paths(self, partition: int | None = None) -> IntArray:
        """Path of every sample."""
        return self._column("path", partition)

    def positions(self, partition: int | None = None) -> IntArray:
        """Place of every sample along its path."""
        return self._column("position", partition)

    def frame(self) -> Any:
        """The labels as a Dask DataFrame, a partition for every partition of the input."""
        import dask.dataframe as dd

        return dd.read_parquet([str(self.folder / name) for name in self.partitions], split_row_groups=False)

    def embedding(self, q: int) -> tuple[IntArray, FloatArray]:
        """Sample ids, path after path in order of time, and their places in the linear coordinates."""
        if not 0 <= q < self.n_attractors:
            raise DataError(f"Expected a sub-dynamics 0 to {self.n_attractors - 1}, got {q}.")
        _, pq = arrow()
        table = pq.read_table(self.folder / "embeddings" / f"attractor-{q:05d}.parquet")
        columns = [name for name in table.column_names if name.startswith("u")]
        return table.column("sample").to_numpy(), np.column_stack([table.column(c).to_numpy() for c in columns])

    def _column(self, name: str, partition: int | None) -> IntArray:
        _, pq = arrow()
        wanted = self.partitions if partition is None else (self.partitions[partition],)
        read = [pq.read_table(self.folder / p, columns=[name]).column(0).to_numpy() for p in wanted]
        return np.concatenate(read).astype(np.intp)

    def __repr__(self) -> str:
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        return (
            f"DistributedIdentification({self.n_attractors} attractors of {self.n_samples} samples, "
            f"confidence {self.confidence:.2f}{doubts})"
        )
