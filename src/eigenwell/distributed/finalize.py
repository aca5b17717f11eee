"""From assembled paths to the result: sub-dynamics, their spectra and attractors, and a label for every row of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import eigenpairs_for, sub_dynamics
from ..checks import check_samples, check_tall
from ..demonstrations import Demonstrations
from ..files.columns import Columns
from ..graphs import Clique, PathGraph
from ..identification import identify
from ..numbering import canonical_order
from ..paths.arrival import Block, PathEnds, end_pace, extent_of, path_ends
from ..paths.beside import label_confidence, odd_cautions
from ..paths.builders import sets_off, whole_enough
from ..paths.grading import grade_blocks
from ..spectral import ExactMasses
from .inputs import Part, read_part
from .records import bounds_of, column, spread
from .result import doubts, embedding_table, grouped, label_rows, label_table, path_table, plain
from .store import Products, fetch, fetch_all, own
from .trajectories import cautions, in_order, name_hash, stamps

SAMPLES_PER_TASK = 200_000
"""Samples of the sub-dynamics that one task solves, about."""


def identify_alone(folder: Path, *, parts: Sequence[Part], columns: Columns) -> Products:
    """All parts together, which are small enough for `eigenwell.identify` itself. Positions and velocities are kept, to be
    identified again in memory."""
    demos, ids = _together(parts, columns)
    found = identify(demos)
    graph = found.graph
    assert isinstance(graph, PathGraph)  # no kernel was asked for
    lengths, heads = graph.lengths, graph.nodes[graph.offsets[:-1]]
    path, position = np.full((2, demos.n_samples), -1, dtype=np.intp)
    path[graph.nodes], position[graph.nodes] = np.repeat(np.arange(graph.n_paths), lengths), spread(0, lengths)
    rows = label_rows(ids, found.labels, found.label_confidence, path, position)
    tables = {f"labels/{p.name}.parquet": label_table(rows[p.offset : p.offset + p.rows]) for p in parts}
    pace = np.array([end_pace(demos.v[graph.path(k)]) for k in range(graph.n_paths)])
    places = demos.x[heads], demos.x[graph.terminals]
    tables["paths.parquet"] = path_table(graph.group, lengths, ids[heads], pace, *places)
    for q, embedding in enumerate(found.embeddings):
        mine, of = found.members(q), graph.paths_of(q)
        tables |= embedding_table(q, ids[mine], demos.x[mine], demos.v[mine], of, lengths[of], embedding)
    kept = {name: a for name in ("x", "v", "offsets") if (a := getattr(demos, name)) is not None}
    counted = {"paths": found.paths_per_attractor, "samples": found.samples_per_attractor, "arrived": found.arrived}
    summary = {name: count.tolist() for name, count in counted.items()} | {
        "box": [demos.x.min(axis=0).tolist(), demos.x.max(axis=0).tolist()],
        "confidence": found.confidence,
        "grouping": grouped(found.grouping),
        "kind": found.kind,
        "warnings": doubts(found.warnings),
        "located": [plain(a, values) for a, values in zip(found.located, found.eigenvalues, strict=True)],
    }
    return Products(arrays=kept, tables=tables, summary=summary)


def _together(parts: Sequence[Part], columns: Columns) -> tuple[Demonstrations, IntArray]:
    """The samples as a single machine would get them, and the number of each in the input."""
    rows = [read_part(part, columns) for part in parts]
    x = np.concatenate([r.x for r in rows])
    v = np.concatenate([r.v for r in rows if r.v is not None]) if columns.velocity else None
    ids = np.arange(len(x))
    if columns.trajectory is None:
        demos = Demonstrations.from_samples(x, v)
        return Demonstrations(demos.x, demos.v, warnings=columns.warnings + demos.warnings), ids
    check_tall(x.shape)
    names = name_hash(np.concatenate([r.trajectory for r in rows if r.trajectory is not None]))
    found, summary = in_order(columns, ids, names, x, v, np.concatenate([stamps(r) for r in rows]))
    ids, x, v = (column(found, name) for name in ("id", "x", "v"))
    told = columns.warnings + cautions([summary]) + check_samples(x, v)
    lengths = np.unique(found["called"], return_counts=True)[1]
    return Demonstrations(x, v, offsets=bounds_of(lengths), warnings=told), ids


def survey(folder: Path, *, names: Sequence[str], trusted_ends: bool) -> Products:
    """All paths by their keys: where each is, whether it counts, how large the box of those is that do, and the usual step of
    trajectories."""
    tables = [np.array(fetch(folder, "assemble", name, "paths")) for name in names]
    table = np.concatenate(tables)
    by_path = np.argsort(table["path"], kind="stable")
    bucket = np.repeat(np.arange(len(tables)), [len(t) for t in tables])[by_path]
    begin = np.concatenate([bounds_of(t["samples"])[:-1] for t in tables])[by_path]
    table, step = table[by_path], 0.0
    if trusted_ends:
        corners = np.stack([table[name] for name in ("start", "low", "high", "end")], axis=1)
        moves = sets_off(corners.reshape(-1, corners.shape[2]), 4 * np.arange(len(table) + 1))
        usable = column(table, "usable") & moves
        steps = fetch_all(folder, "assemble", names, "steps")
        step = float(np.median(steps)) if len(steps) else 0.0
    else:
        usable = whole_enough(column(table, "distinct"))
    extent = extent_of(table["box_low"], table["box_high"], table["noise"], usable)
    arrays = {"paths": table, "bucket": bucket, "begin": begin, "usable": usable}
    return Products(arrays, summary={"extent": extent.tolist(), "step": step})


def measure(folder: Path, *, index: int, name: str, extent: Sequence[float]) -> Products:
    """What the paths of a bucket say of their ends."""
    ends = path_ends(_block(folder, name, index), fetch(folder, "survey", "survey", "usable"), np.array(extent))
    return Products({f.name: a for f in fields(PathEnds) if (a := getattr(ends, f.name)) is not None})


def grade(
    folder: Path,
    *,
    names: Sequence[str],
    extent: Sequence[float],
    resolution: float,
    size: float,
    unit: FloatArray,
    trusted_ends: bool,
) -> Products:
    """Which paths share an attractor, and the numbers under which sub-dynamics and paths appear in the result."""
    table, bucket = own(folder, "survey", "paths", "bucket")
    starts, ends, length, first = (column(table, name) for name in ("start", "end", "samples", "first"))
    there = {p.name.split(".")[1] for p in (folder / "work" / "measure").glob(f"{names[0]}.*.npy")}
    back = np.argsort(np.argsort(bucket, kind="stable"))
    graded = grade_blocks(
        lambda: (_block(folder, name, k) for k, name in enumerate(names)),
        PathEnds(**{a: fetch_all(folder, "measure", names, a)[back] for a in there}),
        np.array(extent),
        resolution,
        trusted_ends=trusted_ends,
        unit=unit,
    )
    group, order = canonical_order(starts, ends, graded.group, first, size)
    # Scraps that lie on paths get their label, and stay out of the embedding.
    renumbered = np.empty(graded.grouping.n_groups, dtype=np.intp)
    renumbered[graded.group[group >= 0]] = group[group >= 0]
    labels = np.where(graded.labels >= 0, renumbered[graded.labels], -1)
    samples = np.bincount(labels[labels >= 0], weights=length[labels >= 0]).astype(np.intp)
    paths = path_table(*(a[order] for a in (labels, length, first, column(table, "pace"), starts, ends)))
    # Paths by their keys in earlier stages; the order of the result is `order`.
    arrays = {"label": labels, "sure": graded.sure, "group": group, "number": np.argsort(order), "order": order}
    summary = {
        "paths": np.bincount(group[group >= 0]).tolist(),
        "samples": samples.tolist(),
        "arrived": graded.arrived[np.argsort(renumbered)].tolist(),
        "confidence": graded.grouping.probability,
        "grouping": grouped(graded.grouping),
        "eigenpairs": eigenpairs_for(starts.shape[1], group),
        "warnings": doubts([*graded.warnings, *odd_cautions(graded.odd)]),
    }
    return Products(arrays, {"paths.parquet": paths}, summary)


def _block(folder: Path, name: str, index: int) -> Block:
    """The paths of one bucket, which lie one after the other, with their numbers."""
    table, bucket = (fetch(folder, "survey", "survey", a) for a in ("paths", "bucket"))
    number = np.flatnonzero(bucket == index)
    rows = fetch(folder, "assemble", name, "rows")
    return Block(column(rows, "x"), column(rows, "v"), bounds_of(table["samples"][number]), number)


def batches(samples: Sequence[int]) -> list[list[int]]:
    """Sub-dynamics in runs of about SAMPLES_PER_TASK samples."""
    run = (np.cumsum(samples) - 1) // SAMPLES_PER_TASK
    return [np.flatnonzero(run == k).tolist() for k in np.unique(run)]


def solve(folder: Path, *, names: Sequence[str], which: Sequence[int], eigenpairs: int) -> Products:
    """Spectrum, embedding and attractor of some sub-dynamics; a table of each, a row per sample."""
    group, order = own(folder, "grade", "group", "order")
    table, bucket, begin = own(folder, "survey", "paths", "bucket", "begin")
    length = column(table, "samples")
    located: list[dict[str, Any]] = []
    tables: dict[str, Any] = {}
    for q in which:
        number = np.flatnonzero(group[order] == q)
        mine = order[number]
        files = {b: fetch(folder, "assemble", names[b], "rows") for b in np.unique(bucket[mine])}
        rows = np.concatenate([files[bucket[k]][begin[k] : begin[k] + length[k]] for k in mine])
        ids, x, v = (column(rows, name) for name in ("id", "x", "v"))
        paths = np.split(np.arange(len(rows)), bounds_of(length[mine])[1:-1])
        spectrum, embedding, place = sub_dynamics(x, v, paths, Clique(), ExactMasses(), eigenpairs)
        tables |= embedding_table(q, ids, x, v, number, length[mine], embedding)
        located.append(plain(place, spectrum.eigenvalues))
    return Products(tables=tables, summary={"located": located})


def tell(folder: Path, *, index: int, name: str, unit: FloatArray, recovered: bool, offsets: Sequence[int]) -> Products:
    """What there is to say of the samples of a bucket, in the order of the input, with `bounds` of its partitions."""
    labels, sure, number = own(folder, "grade", "label", "sure", "number")
    block = _block(folder, name, index).scaled(unit)
    confidence = label_confidence(block.x, block.v, block.offsets, labels[block.number], sure[block.number], recovered)
    ids, label = fetch(folder, "assemble", name, "rows")["id"], labels[block.path]
    told = label_rows(ids, label, confidence, number[block.path], spread(0, np.diff(block.offsets)))
    summary = {"wrong": float((1 - confidence[label >= 0]).sum()), "labelled": int((label >= 0).sum())}
    return Products({"told": told, "bounds": np.searchsorted(told["sample"], offsets)}, summary=summary)


def label(folder: Path, *, part: Part, names: Sequence[str]) -> Products:
    """A row [sample, label, confidence, path, position] for every row of a partition, in its order."""
    rows = fetch_all(folder, "tell", names, "told", part.index)
    assert len(rows) == part.rows
    return Products(tables={f"labels/{part.name}.parquet": label_table(rows[np.argsort(rows["sample"])])})
