"""What a distributed identification found: small things in memory, one row per sample in Parquet files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import repr_html
from .._types import FloatArray, IntArray
from ..attractors import Attractor, embedded
from ..demonstrations import Caution, DataError, Demonstrations
from ..graphs import Clique, PathGraph, thinned
from ..paths import Grouping
from ..results import Identification, Result
from ..spectral import ExactMasses
from ..wording import headline
from .finalize import read_paths
from .inputs import arrow

IN_MEMORY = 200_000
"""Samples that `in_memory` reads, about: plots draw fewer, and training resamples to a tenth of it."""


@dataclass(frozen=True, eq=False, repr=False)
class DistributedIdentification(Result):
    """What `distributed.identify` found; sub-dynamics are numbered as by `eigenwell.identify`, by their attractor.

    It answers what an `Identification` answers (`results.Result`). What has a row for every sample stays in files and is
    read when it is asked for; `in_memory()` is an Identification to plot, to report and to learn from.

    The folder has `labels/part-*.parquet` (sample, label, path, position; a file per input partition, rows in its order),
    `paths.parquet`, `attractors.parquet`, `embeddings/attractor-*.parquet` (sample, path, position, u1, ...) and
    `summary.json`, which is written last.

    Attributes
    ----------
    folder : Path
        Where the files are.
    attractors : (Q, d) array
        Places of the attractors; `located[q]` has the standard error and the single estimates.
    located : tuple of Attractor
        Every attractor with its standard error.
    eigenvalues : tuple of arrays
        Lowest eigenvalues of each graph Laplacian.
    n_samples : int
        Samples of all partitions.
    low, high : (d,) arrays
        The box of the data.
    paths_per_attractor, samples_per_attractor : (Q,) int arrays
        How many of each.
    confidence : float
        0 to 1, how sure the number of attractors is.
    arrived : (Q,) array
        How near to rest a path came at every attractor.
    warnings : tuple of Caution
        Doubts, each with a name and a sentence.
    partitions : tuple of str
        The label file of every input partition, in order.
    grouping : dict
        How the ends of the paths were grouped: low, high, probability and alternatives.
    facts : dict
        How it was found: cells, time step, halo copies, and so on.

    Examples
    --------
    >>> from eigenwell.distributed import DistributedIdentification
    >>> found = DistributedIdentification.open("out")  # doctest: +SKIP
    >>> found.labels.shape == (found.n_samples,)  # doctest: +SKIP
    True
    """

    folder: Path
    attractors: FloatArray
    located: tuple[Attractor, ...]
    eigenvalues: tuple[FloatArray, ...]
    n_samples: int
    low: FloatArray
    high: FloatArray
    paths_per_attractor: IntArray
    samples_per_attractor: IntArray
    confidence: float
    arrived: FloatArray
    warnings: tuple[Caution, ...]
    partitions: tuple[str, ...]
    grouping: dict[str, Any]
    facts: dict[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> DistributedIdentification:
        """A result that was finished earlier.

        Parameters
        ----------
        folder : str or Path
            The `out` of the run.

        Returns
        -------
        DistributedIdentification

        Raises
        ------
        DataError
            Where no finished run is.

        Examples
        --------
        >>> from eigenwell.distributed import DistributedIdentification
        >>> found = DistributedIdentification.open("out")  # doctest: +SKIP
        """
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
            arrived=np.array(said["arrived"]),
            warnings=tuple(Caution(*w) for w in said["warnings"]),
            partitions=tuple(said["partitions"]),
            grouping=said["grouping"],
            facts=said["facts"],
        )

    @property
    def labels(self) -> IntArray:
        """(n,) sub-dynamics of every sample in the order of the input, -1 where unassigned; read when asked for."""
        return self._column("label", None).astype(np.intp)

    @property
    def label_confidence(self) -> FloatArray:
        """(n,) probability that each label is right, given the number of attractors; read when asked for."""
        return self._column("confidence", None).astype(np.float64)

    @property
    def embeddings(self) -> tuple[FloatArray, ...]:
        """Q arrays: the linear coordinates of the samples `members(q)`; read when asked for."""
        return tuple(self.embedding(q)[1] for q in range(self.n_attractors))

    def partition_labels(self, partition: int) -> IntArray:
        """Labels of the samples of one input partition.

        Parameters
        ----------
        partition : int
            Its number, in the order of the input.

        Returns
        -------
        int array
        """
        return self._column("label", partition).astype(np.intp)

    def path_numbers(self, partition: int | None = None) -> IntArray:
        """The number of the path that every sample is in, in the order of the input.

        Parameters
        ----------
        partition : int, optional
            Of this partition alone.

        Returns
        -------
        int array
        """
        return self._column("path", partition).astype(np.intp)

    def positions(self, partition: int | None = None) -> IntArray:
        """The position of every sample along its path, in the order of the input.

        Parameters
        ----------
        partition : int, optional
            Of this partition alone.

        Returns
        -------
        int array
        """
        return self._column("position", partition).astype(np.intp)

    def frame(self) -> Any:
        """The labels as a Dask DataFrame, a partition for every partition of the input.

        Returns
        -------
        dask.dataframe.DataFrame
            With the columns sample, label, path and position.
        """
        import dask.dataframe as dd

        return dd.read_parquet([str(self.folder / name) for name in self.partitions], split_row_groups=False)

    def members(self, q: int) -> IntArray:
        """Samples of sub-dynamics q, path after path in order of time.

        Parameters
        ----------
        q : int
            The sub-dynamics, 0 to Q - 1.

        Returns
        -------
        (n_q,) int array
        """
        return self.embedding(q)[0]

    def paths(self, q: int) -> list[IntArray]:
        """Sample indices of every path of sub-dynamics q, in order of time.

        Parameters
        ----------
        q : int
            The sub-dynamics, 0 to Q - 1.

        Returns
        -------
        list of int arrays
        """
        table = self._embedding_table(q)
        path = table.column("path").to_numpy()
        return np.split(table.column("sample").to_numpy().astype(np.intp), np.flatnonzero(np.diff(path)) + 1)

    def embedding(self, q: int) -> tuple[IntArray, FloatArray]:
        """Sample ids, path after path in order of time, and their places in the linear coordinates.

        Parameters
        ----------
        q : int
            The sub-dynamics, 0 to Q - 1.

        Returns
        -------
        ids, u : (n_q,) int array, (n_q, m) array

        Raises
        ------
        DataError
            For a number that no sub-dynamics has.
        """
        table = self._embedding_table(q)
        columns = [name for name in table.column_names if name.startswith("u")]
        ids = table.column("sample").to_numpy().astype(np.intp)
        return ids, np.column_stack([table.column(c).to_numpy() for c in columns])

    def in_memory(self, most: int = IN_MEMORY) -> Identification:
        """An Identification of the samples that have a path, thinned along the paths to about `most` of them.

        Attractors, confidence and warnings are those of the whole; spectra and embeddings are those of the samples kept,
        which are all of them where they are not more than `most`. Samples without a label are left out.

        Parameters
        ----------
        most : int
            Samples kept, about; starts and ends of paths always are.

        Returns
        -------
        Identification

        Raises
        ------
        DataError
            Where the folder no longer has the paths.
        """
        step = max(1, -(-int(self.samples_per_attractor.sum()) // most))
        samples, positions, velocities, group = [], [], [], []
        for q in range(self.n_attractors):
            ids, x, v, paths = thinned_paths(self, q, step)
            samples += [ids[path] for path in paths]
            positions += [x[path] for path in paths]
            velocities += [v[path] for path in paths]
            group += [q] * len(paths)
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in positions])]).astype(np.intp)
        demos = Demonstrations(np.concatenate(positions), np.concatenate(velocities), offsets=offsets)
        graph = PathGraph(demos.n_samples, np.arange(demos.n_samples), offsets, np.array(group, dtype=np.intp))
        solved = []
        for q, values in enumerate(self.eigenvalues):
            mine = [graph.path(int(k)) for k in graph.paths_of(q)]
            solved.append(embedded(mine, Clique(), ExactMasses(), len(values), demos.dimension))
        return Identification(
            demos=demos,
            labels=graph.labels,
            attractors=self.attractors,
            located=self.located,
            embeddings=tuple(u for _, u in solved),
            spectra=tuple(spectrum for spectrum, _ in solved),
            graph=graph,
            grouping=Grouping(
                graph.group,
                self.grouping["low"],
                self.grouping["high"],
                self.grouping["probability"],
                np.ones(len(graph.group)),
            ),
            arrived=self.arrived,
            confidence=self.confidence,
            label_confidence=self.label_confidence[np.concatenate(samples)],
            warnings=self.warnings,
        )

    def _stage_names(self) -> list[str]:
        place = self.folder / "work" / "assemble"
        names = sorted(p.name.removesuffix(".rows.npy") for p in place.glob("*.rows.npy"))
        if not names:
            raise DataError(f"Expected the paths that identify() left in {place}, found none. Identify again.")
        return names

    def _embedding_table(self, q: int) -> Any:
        self._check(q)
        _, pq = arrow()
        return pq.read_table(self.folder / "embeddings" / f"attractor-{q:05d}.parquet")

    def _column(self, name: str, partition: int | None) -> NDArray[Any]:
        _, pq = arrow()
        wanted = self.partitions if partition is None else (self.partitions[partition],)
        read = [pq.read_table(self.folder / p, columns=[name]).column(0).to_numpy() for p in wanted]
        return np.asarray(np.concatenate(read))

    def _repr_html_(self) -> str:
        places = repr_html.places(self.attractors, self.uncertainty)
        counted = zip(self.paths_per_attractor, self.samples_per_attractor, strict=True)
        rows = [[str(q), places[q], f"{paths:,}", f"{samples:,}"] for q, (paths, samples) in enumerate(counted)]
        return repr_html.panel(
            f"{headline(self.n_attractors, self.confidence)}, {self.n_samples:,} samples",
            "",
            repr_html.table(["", "x* ± std. error", "paths", "samples"], rows),
            [str(caution) for caution in self.warnings],
        )


def thinned_paths(
    found: DistributedIdentification, q: int, every: int
) -> tuple[IntArray, FloatArray, FloatArray, list[IntArray]]:
    """Numbers, x and v of the samples of sub-dynamics q; and every so many of each of its paths, with its start and its end."""
    ids, x, v, paths, _ = read_paths(found.folder, found._stage_names(), q)
    return ids, x, v, [path[thinned(len(path), every)] for path in paths]
