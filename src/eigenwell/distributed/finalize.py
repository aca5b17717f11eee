"""From assembled paths to the result: sub-dynamics, their spectra and attractors, and a label for every row of the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import eigenpairs_for, sub_dynamics
from ..graphs import Clique
from ..numbering import canonical_order
from ..paths.beside import Tails, label_confidence, lying_on, nearest_path, running_on, tails
from ..paths.builders import box_of, whole_enough
from ..paths.grading import PathEnds, bound_for, grade_paths, last_place, way_left
from ..paths.odd import odd_cautions
from ..spectral import ExactMasses
from .inputs import Part, arrow
from .records import column
from .store import Products, fetch

SAMPLES_PER_TASK = 200_000
"""Samples of the sub-dynamics that one task solves, about."""


def grade(
    folder: Path,
    *,
    names: Sequence[str],
    resolution: float,
    box: Sequence[float],
    trusted_ends: bool,
    unit: Sequence[float] | float = 1.0,
    recovered: bool = False,
) -> Products:
    """Which paths share an attractor, and the numbers under which sub-dynamics and paths appear in the result."""
    tables = [np.array(fetch(folder, "assemble", name, "paths")) for name in names]
    bucket = np.repeat(np.arange(len(tables)), [len(t) for t in tables])
    begin = np.concatenate([np.cumsum(t["samples"]) - t["samples"] for t in tables])
    table = np.concatenate(tables)
    by_path = np.argsort(table["path"], kind="stable")
    table, bucket, begin = table[by_path], bucket[by_path], begin[by_path]
    starts, ends, pace = column(table, "start"), column(table, "end"), column(table, "pace")
    length, first = column(table, "samples"), column(table, "first")

    numbers = [np.flatnonzero(bucket == k) for k in range(len(names))]

    def each() -> Iterator[tuple[FloatArray, FloatArray, IntArray, IntArray]]:
        buckets = (_bucket(folder, name, mine, length) for name, mine in zip(names, numbers, strict=True))
        return ((x / unit, v / unit, offsets, mine) for x, v, offsets, mine in buckets)

    def on_paths(scraps: IntArray, paths: IntArray) -> list[IntArray]:
        """The rule of one machine, bucket by bucket."""
        parts = [(x[np.repeat(mine, np.diff(o))], n[mine]) for x, _, o, n in each() for mine in [np.isin(n, scraps)]]
        samples, owner = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        least, nearest = np.full(len(samples), np.inf), np.full(len(samples), -1, dtype=np.intp)
        for x, _, o, n in each():
            path = np.repeat(n, np.diff(o))
            whole = np.isin(path, paths)
            distance, near = nearest_path(samples, x[whole], path[whole])
            nearest = np.where(distance < least, near, nearest)
            least = np.minimum(distance, least)
        offsets = np.concatenate([[0], np.cumsum(length[owner])]).astype(np.intp)
        found = lying_on(samples, offsets, least, nearest, resolution)
        return [found[k] for k in np.argsort(owner)]

    def beside(which: IntArray) -> IntArray:
        """The rule of one machine, bucket by bucket: each holds whole paths, one after the other."""
        found, least = np.full(len(which), -1, dtype=np.intp), np.full(len(which), np.inf)
        parts = [tails(x, v, o, np.flatnonzero(np.isin(n, which)), n) for x, v, o, n in each()]
        lost = Tails(*(np.concatenate([getattr(p, a) for p in parts]) for a in ("x", "v", "path", "rest")))
        row = np.searchsorted(which, lost.path)
        for x, v, offsets, number in each():
            heir, miss = running_on(lost, x, v, offsets, number, resolution)
            better = miss < least[row]
            found[row[better]], least[row[better]] = heir[better], miss[better]
        return found

    usable = whole_enough(column(table, "distinct")) if recovered else column(table, "usable")
    corners = [box_of(x, offsets, usable[number]) for x, _, offsets, number in each()]
    extent = np.max([high for _, high in corners], axis=0) - np.min([low for low, _ in corners], axis=0)
    extent = np.where(extent > 0, extent, 1.0)
    way, error, last, ahead = np.empty(len(pace)), np.empty(len(pace)), np.empty(ends.shape), np.empty(ends.shape)
    for x, v, offsets, number in each():
        spans = list(zip(offsets[:-1], offsets[1:], strict=True))
        way[number] = [way_left(x[a:b] / extent, v[a:b] / extent) for a, b in spans]
        for k, (a, b) in zip(number, spans, strict=True):
            ahead[k], error[k] = bound_for(x[a:b] / extent, v[a:b] / extent)
        last[number] = [last_place(x[a:b]) for a, b in spans]
    graded = grade_paths(
        PathEnds(
            place=last * unit,
            pace=pace,
            way=way,
            orbit=column(table, "orbit"),
            length=length,
            usable=usable,
            ahead=ahead,
            error=error,
            start=starts,
            pauses=column(table, "pause") if trusted_ends else None,
        ),
        extent=extent * unit,
        trusted_ends=trusted_ends,
        running_on=None if trusted_ends else beside,
        lying_on=None if trusted_ends else on_paths,
    )
    group, order = canonical_order(starts, ends, graded.group, first, float(max(box)))
    number = np.empty(len(order), dtype=np.intp)
    number[order] = np.arange(len(order))
    counts = np.bincount(group[group >= 0], minlength=graded.grouping.n_groups)
    # Scraps that lie on paths get their label, and stay out of the embedding.
    renumbered = np.empty(len(counts), dtype=np.intp)
    renumbered[graded.group[group >= 0]] = group[group >= 0]
    before = np.argsort(renumbered)
    labels = np.where(graded.labels >= 0, renumbered[graded.labels], -1)
    samples = np.bincount(labels[labels >= 0], weights=length[labels >= 0]).astype(np.intp)
    grouping = graded.grouping
    reading = {"low": grouping.low, "high": grouping.high, "probability": grouping.probability}
    others = [{"attractors": r.n_groups, "probability": r.probability} for r in grouping.alternatives]
    return Products(
        # Paths in the order of their names in earlier stages (`key`); the order of the result is `order`.
        arrays={
            "key": column(table, "path"),
            "label": labels,
            "sure": graded.sure,
            "sorted": np.where(group < 0, len(counts), group)[order],
            "number": number,
            "order": order,
            "bucket": bucket,
            "begin": begin,
            "length": length,
        },
        tables={"paths.parquet": _path_table(order, labels, length, first, starts, ends, pace)},
        summary={
            "attractors": graded.grouping.n_groups,
            "paths": counts.tolist(),
            "samples": samples.tolist(),
            "arrived": graded.arrived[before].tolist(),
            "confidence": graded.grouping.probability,
            "grouping": reading | {"alternatives": others},
            "eigenpairs": eigenpairs_for(starts.shape[1], group),
            "warnings": [[c.name, c.message] for c in (*graded.warnings, *odd_cautions(graded.odd))],
        },
    )


def _bucket(
    folder: Path, name: str, number: IntArray, length: IntArray
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """x, v and offsets of the paths of one bucket, which lie one after the other, and their numbers as they were given."""
    rows = fetch(folder, "assemble", name, "rows")
    offsets = np.concatenate([[0], np.cumsum(length[number])]).astype(np.intp)
    return column(rows, "x"), column(rows, "v"), offsets, number


def _path_table(
    order: IntArray, labels: IntArray, length: IntArray, first: IntArray, starts: FloatArray, ends: FloatArray,
    pace: FloatArray,
) -> Any:  # fmt: skip
    pa, _ = arrow()
    columns = {
        "path": np.arange(len(order)),
        "label": labels[order],
        "samples": length[order],
        "first_sample": first[order],
        "end_pace": pace[order],
    }
    columns |= {f"start_x{i + 1}": c for i, c in enumerate(starts[order].T)}
    columns |= {f"end_x{i + 1}": c for i, c in enumerate(ends[order].T)}
    return pa.table({name: np.ascontiguousarray(column) for name, column in columns.items()})


def batches(samples: Sequence[int]) -> list[list[int]]:
    """Sub-dynamics in runs of about SAMPLES_PER_TASK samples."""
    run = (np.cumsum(samples) - 1) // SAMPLES_PER_TASK
    return [np.flatnonzero(run == k).tolist() for k in np.unique(run)]


def read_paths(
    folder: Path, names: Sequence[str], q: int
) -> tuple[IntArray, FloatArray, FloatArray, list[IntArray], IntArray]:
    """ids, x, v, the paths as index arrays into them, and the paths' numbers, of one sub-dynamics in the result's order."""
    sorted_labels, order, bucket, begin, length, number = (
        fetch(folder, "grade", "grade", a) for a in ("sorted", "order", "bucket", "begin", "length", "number")
    )
    mine = np.array(order[slice(*np.searchsorted(sorted_labels, [q, q + 1]))])
    parts = []
    for k in mine.tolist():
        rows = fetch(folder, "assemble", names[int(bucket[k])], "rows")
        parts.append(rows[int(begin[k]) : int(begin[k]) + int(length[k])])
    rows = np.concatenate(parts)
    bounds = np.concatenate([[0], np.cumsum(length[mine])])
    paths = [np.arange(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    return column(rows, "id"), column(rows, "x"), column(rows, "v"), paths, number[mine]


def solve(folder: Path, *, names: Sequence[str], which: Sequence[int], eigenpairs: int) -> Products:
    """Spectrum, embedding and attractor of some sub-dynamics; embeddings are tables, a row per sample."""
    pa, _ = arrow()
    located, tables = [], {}
    for q in which:
        ids, x, v, paths, number = read_paths(folder, names, q)
        spectrum, embedding, place = sub_dynamics(x, v, paths, Clique(), ExactMasses(), eigenpairs)
        lengths = np.array([len(p) for p in paths])
        columns = {
            "sample": ids,
            "path": np.repeat(number, lengths),
            "position": np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths),
        }
        columns |= {f"u{i + 1}": np.ascontiguousarray(u) for i, u in enumerate(embedding.T)}
        tables[f"embeddings/attractor-{q:05d}.parquet"] = pa.table(columns)
        said = {k: None if a is None else np.asarray(a).tolist() for k, a in asdict(place).items()}
        located.append(said | {"q": q, "eigenvalues": spectrum.eigenvalues.tolist()})
    return Products(tables=tables, summary={"located": located})


def how_sure(folder: Path, *, index: int, name: str, unit: Sequence[float] | float, recovered: bool) -> Products:
    """How sure the label of every sample of a bucket is, along its paths."""
    labels, sure, bucket, length = (
        np.array(fetch(folder, "grade", "grade", a)) for a in ("label", "sure", "bucket", "length")
    )
    mine = np.flatnonzero(bucket == index)
    x, v, offsets, _ = _bucket(folder, name, mine, length)
    of_samples = label_confidence(x / unit, v / unit, offsets, labels[mine], sure[mine], recovered)
    labelled = np.repeat(labels[mine] >= 0, length[mine])
    summary = {"wrong": float((1 - of_samples[labelled]).sum()), "labelled": int(labelled.sum())}
    return Products(arrays={"sure": of_samples.astype(np.float32)}, summary=summary)


def label(folder: Path, *, part: Part, names: Sequence[str]) -> Products:
    """A row [sample, label, confidence, path, position] for every row of a partition, in its order."""
    pa, _ = arrow()
    keys, labels, numbers, begin = (
        np.array(fetch(folder, "grade", "grade", a)) for a in ("key", "label", "number", "begin")
    )
    sure = np.zeros(part.rows, dtype=np.float32)
    path = np.full(part.rows, -1, dtype=np.intp)
    position = np.full(part.rows, -1, dtype=np.intp)
    for name in names:
        bounds = fetch(folder, "assemble", name, "bounds")
        rows = fetch(folder, "assemble", name, "back")[int(bounds[part.index]) : int(bounds[part.index + 1])]
        at = rows["id"] - part.offset
        path[at], position[at] = np.searchsorted(keys, rows["path"]), rows["position"]
        sure[at] = fetch(folder, "sure", name, "sure")[begin[path[at]] + position[at]]
    assert (path >= 0).all()
    table = pa.table(
        {
            "sample": part.offset + np.arange(part.rows),
            "label": labels[path].astype(np.int32),
            "confidence": sure,
            "path": numbers[path].astype(np.int32),
            "position": position,
        }
    )
    return Products(tables={f"labels/{part.name}.parquet": table}, summary={"rows": part.rows})
