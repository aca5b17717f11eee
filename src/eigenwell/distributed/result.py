"""What a distributed identification found: small things in memory, one row per sample in Parquet files; how these are written,
however it was found, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..attractors import Attractor, embedded
from ..demonstrations import Caution, DataError, Demonstrations
from ..graphs import Clique, PathGraph, thinned
from ..identification import identify
from ..paths import Grouping
from ..results import Identification, Result
from ..spectral import ExactMasses
from .inputs import arrow
from .records import Records, bounds_of, column, packed, spread

IN_MEMORY = 200_000
"""Samples that `in_memory` reads, about: plots draw fewer, and training resamples to a tenth of it."""


@dataclass(frozen=True, eq=False, repr=False)
class DistributedIdentification(Result):
    """What `distributed.identify` found; sub-dynamics are numbered as by `eigenwell.identify`, by their attractor.

    It answers what an `Identification` answers (`results.Result`). What has a row for every sample stays in files and is
    read when it is asked for; `in_memory()` is an Identification to plot, to report and to learn from.

    The folder has `labels/part-*.parquet` (sample, label, confidence, path, position; a file per input partition, rows in its
    order), `paths.parquet`, `attractors.parquet`, `embeddings/attractor-*.parquet` (sample, path, position, x1, ..., v1, ...,
    u1, ...) and `summary.json`, which is written last.

    Attributes
    ----------
    folder : Path
        Where the files are.
    attractors, located, eigenvalues, n_samples, confidence, arrived, warnings, kind
        As for what `eigenwell.identify` finds.
    low, high : (d,) arrays
        The box of the data.
    paths_per_attractor, samples_per_attractor : (Q,) int arrays
        How many of each.
    partitions : tuple of str
        The label file of every input partition, in order.
    grouping : dict or None
        How the ends of the paths were grouped: low, high, probability and alternatives; None where no ends were.
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
    grouping: dict[str, Any] | None
    facts: dict[str, Any]
    kind: str

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
        """
        place = Path(folder)
        try:
            said = json.loads((place / "summary.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(
                f"Expected the result of a finished run in {place}, found no whole summary.json. Run identify() again with "
                "the same folder; it goes on from the stages that are finished."
            ) from error
        located = tuple(unplain(one) for one in said["located"])
        plain: dict[str, Any] = {name: np.array(said[name]) for name in ("low", "high", "arrived")}
        plain |= {name: said[name] for name in ("n_samples", "confidence", "grouping", "facts", "kind")}
        return cls(
            folder=place,
            attractors=np.array([a.position for a in located]).reshape(len(located), len(said["low"])),
            located=located,
            eigenvalues=tuple(np.array(one["of_graph"]) for one in said["located"]),
            paths_per_attractor=np.array(said["paths"], dtype=np.intp),
            samples_per_attractor=np.array(said["samples"], dtype=np.intp),
            warnings=tuple(Caution(*w) for w in said["warnings"]),
            partitions=tuple(said["partitions"]),
            **plain,
        )

    @property
    def labels(self) -> IntArray:
        """(n,) sub-dynamics of every sample in the order of the input, -1 where unassigned; read when asked for."""
        return self.column("label").astype(np.intp)

    @property
    def label_confidence(self) -> FloatArray:
        """(n,) probability that each label is right, given the number of attractors; read when asked for."""
        return self.column("confidence").astype(np.float64)

    @property
    def embeddings(self) -> tuple[FloatArray, ...]:
        """Q arrays: the linear coordinates of the samples `members(q)`; read when asked for."""
        return tuple(_columns(self._table(q), "u") for q in range(self.n_attractors))

    def column(self, name: str, partition: int | None = None) -> NDArray[Any]:
        """What the files of labels say of every sample, in the order of the input.

        Parameters
        ----------
        name : str
            "label", "confidence", "path" (its number) or "position" (along its path); -1 for samples in no path.
        partition : int, optional
            Of this partition of the input alone.

        Returns
        -------
        (n,) array
        """
        _, pq = arrow()
        wanted = self.partitions if partition is None else (self.partitions[partition],)
        read = [pq.read_table(self.folder / p, columns=[name]).column(0).to_numpy() for p in wanted]
        return np.asarray(np.concatenate(read))

    def frame(self) -> Any:
        """The files of labels as a Dask DataFrame, a partition for every partition of the input.

        Returns
        -------
        dask.dataframe.DataFrame
            With the columns sample, label, confidence, path and position.
        """
        import dask.dataframe as dd

        return dd.read_parquet([str(self.folder / name) for name in self.partitions], split_row_groups=False)

    def members(self, q: int) -> IntArray:
        return np.concatenate(self.paths(q))

    def paths(self, q: int) -> list[IntArray]:
        table = self._table(q)
        return _by_path(table, table.column("sample").to_numpy().astype(np.intp))

    def in_memory(self, most: int = IN_MEMORY) -> Identification:
        """An Identification to plot, to report and to learn from.

        Samples that one task took on are identified again, all of them. Of more than `most`, and of those that were matched in
        cells, it has the samples with a path, thinned along the paths: attractors, confidence and warnings are those of the
        whole, spectra and embeddings those of the samples kept.

        Parameters
        ----------
        most : int
            Samples kept, about; starts and ends of paths always are.

        Returns
        -------
        Identification
        """
        alone = self.folder / "work" / "alone"
        if alone.is_dir() and (self.n_samples <= most or self.kind == "snapshots"):
            arrays = {p.name.split(".")[1]: np.load(p) for p in alone.glob("*.npy")}
            return identify(Demonstrations(**arrays, warnings=self.warnings))
        step = max(1, -(-int(self.samples_per_attractor.sum()) // most))
        ids, x, v, group = [], [], [], []
        for q in range(self.n_attractors):
            table = self._table(q)
            kept = [path[thinned(len(path), step)] for path in _by_path(table, np.arange(table.num_rows))]
            rows = np.concatenate(kept)
            ids.append(table.column("sample").to_numpy()[rows])
            x.append(_columns(table, "x")[rows])
            v.append(_columns(table, "v")[rows])
            group += [(q, len(path)) for path in kept]
        owner, lengths = np.array(group, dtype=np.intp).T
        demos = Demonstrations(np.concatenate(x), np.concatenate(v), offsets=bounds_of(lengths))
        graph = PathGraph(demos.n_samples, np.arange(demos.n_samples), bounds_of(lengths), owner)
        solved = []
        for q, values in enumerate(self.eigenvalues):
            mine = [graph.path(int(k)) for k in graph.paths_of(q)]
            solved.append(embedded(mine, Clique(), ExactMasses(), len(values), demos.dimension))
        grouping = None
        if self.grouping is not None:
            reading = {name: self.grouping[name] for name in ("low", "high", "probability")}
            grouping = Grouping(graph.group, **reading, membership=np.ones(len(graph.group)))
        same = ("attractors", "located", "arrived", "confidence", "warnings")
        return Identification(
            demos=demos,
            labels=graph.labels,
            embeddings=tuple(u for _, u in solved),
            spectra=tuple(spectrum for spectrum, _ in solved),
            graph=graph,
            grouping=grouping,
            label_confidence=self.label_confidence[np.concatenate(ids)],
            **{name: getattr(self, name) for name in same},
        )

    def _table(self, q: int) -> Any:
        self._check(q)
        _, pq = arrow()
        return pq.read_table(self.folder / _of_attractor(q))


def _columns(table: Any, letter: str) -> FloatArray:
    """The columns x1, x2, ... of a table."""
    names = [name for name in table.column_names if name.rstrip("0123456789") == letter]
    return np.column_stack([table.column(name).to_numpy() for name in names])


def _by_path(table: Any, rows: NDArray[Any]) -> list[NDArray[Any]]:
    return np.split(rows, np.flatnonzero(np.diff(table.column("path").to_numpy())) + 1)


# --- what is written ----------------------------------------------------------------------------------


def table(**columns: Any) -> Any:
    """An Arrow table; of a matrix (n, d) called x the columns x1, x2, ..."""
    flat: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        parts = {name: values} if np.ndim(values) == 1 else {f"{name}{i + 1}": c for i, c in enumerate(values.T)}
        flat |= {one: np.ascontiguousarray(c) for one, c in parts.items()}
    return arrow()[0].table(flat)


def label_rows(ids: IntArray, label: IntArray, sure: NDArray[Any], path: IntArray, position: IntArray) -> Records:
    """What is found of samples, in the order of the input: label, how sure, path, and where it is in the path."""
    label, path, sure = label.astype(np.int32), path.astype(np.int32), sure.astype(np.float32)
    return packed(sample=ids, label=label, confidence=sure, path=path, position=position)[np.argsort(ids)]


def label_table(rows: Records) -> Any:
    return table(**{name: column(rows, name) for name in rows.dtype.names or ()})


def path_table(
    label: IntArray, samples: IntArray, first: IntArray, pace: FloatArray, start: FloatArray, end: FloatArray
) -> Any:
    """A row per path, in the order of the result."""
    said = {"label": label, "samples": samples, "first_sample": first, "end_pace": pace}
    return table(path=np.arange(len(label)), **said, start_x=start, end_x=end)


def embedding_table(
    q: int, ids: IntArray, x: FloatArray, v: FloatArray, number: IntArray, length: IntArray, embedding: FloatArray
) -> dict[str, Any]:
    """Samples of sub-dynamics q, path after path: where they are, how they move, and their linear coordinates."""
    path, position = np.repeat(number, length), spread(0, length)
    return {_of_attractor(q): table(sample=ids, path=path, position=position, x=x, v=v, u=embedding)}


def _of_attractor(q: int) -> str:
    return f"embeddings/attractor-{q:05d}.parquet"


def attractor_table(located: Sequence[dict[str, Any]], paths: Sequence[int], samples: Sequence[int]) -> Any:
    """A row per attractor."""
    place, error = (np.array([one[name] for one in located]) for name in ("position", "standard_error"))
    counted = {"paths": np.array(paths), "samples": np.array(samples)}
    return table(label=np.arange(len(located)), **counted, x=place, error_x=error)


def plain(attractor: Attractor, eigenvalues: FloatArray) -> dict[str, Any]:
    """An attractor and the eigenvalues of its graph, as JSON has them; complex numbers as pairs."""
    out: dict[str, Any] = {"of_graph": eigenvalues.tolist()}
    for name, value in vars(attractor).items():
        pairs = np.stack([value.real, value.imag], axis=-1) if np.iscomplexobj(value) else value
        out[name] = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
    return out


def unplain(said: dict[str, Any]) -> Attractor:
    """The attractor that `plain` wrote."""
    arrays: dict[str, Any] = {k: np.array(a) if isinstance(a, list) else a for k, a in said.items() if k != "of_graph"}
    if arrays["eigenvalues"] is not None:
        arrays["eigenvalues"] = arrays["eigenvalues"] @ [1, 1j]
    return Attractor(**arrays)


def doubts(warnings: Sequence[Caution]) -> list[list[str]]:
    return [[c.name, c.message] for c in warnings]


def grouped(grouping: Grouping | None) -> dict[str, Any] | None:
    """How the ends were grouped, as JSON has it."""
    if grouping is None:
        return None
    others = [{"attractors": r.n_groups, "probability": r.probability} for r in grouping.alternatives]
    return {name: getattr(grouping, name) for name in ("low", "high", "probability")} | {"alternatives": others}
