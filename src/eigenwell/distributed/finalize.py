"""From assembled paths to the result: sub-dynamics, their spectra and attractors, and a label for every row of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from ..attractors import eigenpairs_for, sub_dynamics
from ..graphs import Clique
from ..numbering import canonical_order
from ..paths.arrival import Block, PathEnds, extent_of, path_ends
from ..paths.beside import label_confidence
from ..paths.builders import sets_off, whole_enough
from ..paths.grading import grade_blocks
from ..paths.odd import odd_cautions
from ..spectral import ExactMasses
from .inputs import Part
from .records import TOLD, bounds_of, column, packed, spread
from .store import Products, fetch, fetch_all
from .tables import embedding_table, label_table, path_table, plain, said

SAMPLES_PER_TASK = 200_000
"""Samples of the sub-dynamics that one task solves, about."""


def survey(folder: Path, *, names: Sequence[str], trusted_ends: bool) -> Products:
    """All paths by their keys: where each is, whether it counts, and how large the box of those is that do."""
    tables = [np.array(fetch(folder, "assemble", name, "paths")) for name in names]
    table = np.concatenate(tables)
    by_path = np.argsort(table["path"], kind="stable")
    bucket = np.repeat(np.arange(len(tables)), [len(t) for t in tables])[by_path]
    begin = np.concatenate([bounds_of(t["samples"])[:-1] for t in tables])[by_path]
    table = table[by_path]
    if trusted_ends:
        corners = np.stack([table[name] for name in ("start", "low", "high", "end")], axis=1)
        moves = sets_off(corners.reshape(-1, corners.shape[2]), 4 * np.arange(len(table) + 1))
        usable = column(table, "usable") & moves
    else:
        usable = whole_enough(column(table, "distinct"))
    extent = extent_of(table["box_low"], table["box_high"], table["noise"], usable)
    arrays = {"paths": table, "bucket": bucket, "begin": begin, "usable": usable}
    return Products(arrays, summary={"extent": extent.tolist()})


def measure(folder: Path, *, index: int, name: str, extent: Sequence[float]) -> Products:
    """What the paths of a bucket say of their ends."""
    ends = path_ends(_block(folder, name, index), fetch(folder, "survey", "survey", "usable"), np.array(extent))
    return Products({f.name: a for f in fields(PathEnds) if (a := getattr(ends, f.name)) is not None})


def grade(
    folder: Path,
    *,
    names: Sequence[str],
    resolution: float,
    size: float,
    extent: Sequence[float],
    trusted_ends: bool,
    unit: Sequence[float],
) -> Products:
    """Which paths share an attractor, and the numbers under which sub-dynamics and paths appear in the result."""
    table, bucket = (np.array(fetch(folder, "survey", "survey", a)) for a in ("paths", "bucket"))
    starts, ends, length, first = (column(table, name) for name in ("start", "end", "samples", "first"))
    there = {p.name.split(".")[1] for p in (folder / "work" / "measure").glob(f"{names[0]}.*.npy")}
    back = np.argsort(np.argsort(bucket, kind="stable"))
    measured = PathEnds(**{a: fetch_all(folder, "measure", names, a)[back] for a in there})
    graded = grade_blocks(
        lambda: (_block(folder, name, k) for k, name in enumerate(names)),
        measured,
        np.array(extent),
        resolution,
        trusted_ends=trusted_ends,
        unit=np.array(unit),
    )
    group, order = canonical_order(starts, ends, graded.group, first, size)
    number = np.argsort(order)
    # Scraps that lie on paths get their label, and stay out of the embedding.
    renumbered = np.empty(graded.grouping.n_groups, dtype=np.intp)
    renumbered[graded.group[group >= 0]] = group[group >= 0]
    labels = np.where(graded.labels >= 0, renumbered[graded.labels], -1)
    samples = np.bincount(labels[labels >= 0], weights=length[labels >= 0]).astype(np.intp)
    return Products(
        # Paths by their keys in earlier stages; the order of the result is `order`.
        arrays={
            "label": labels,
            "sure": graded.sure,
            "group": group,
            "number": number,
            "order": order,
        },
        tables={
            "paths.parquet": path_table(
                *(a[order] for a in (labels, length, first, column(table, "pace"), starts, ends))
            )
        },
        summary={
            "paths": np.bincount(group[group >= 0]).tolist(),
            "samples": samples.tolist(),
            "arrived": graded.arrived[np.argsort(renumbered)].tolist(),
            "confidence": graded.grouping.probability,
            "grouping": said(graded.grouping),
            "eigenpairs": eigenpairs_for(starts.shape[1], group),
            "warnings": [[c.name, c.message] for c in (*graded.warnings, *odd_cautions(graded.odd))],
        },
    )


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
    group, order = (np.array(fetch(folder, "grade", "grade", a)) for a in ("group", "order"))
    table, bucket, begin = (np.array(fetch(folder, "survey", "survey", a)) for a in ("paths", "bucket", "begin"))
    length = column(table, "samples")
    located, tables = [], {}
    for q in which:
        number = np.flatnonzero(group[order] == q)
        mine = order[number]
        rows = np.concatenate(
            [fetch(folder, "assemble", names[bucket[k]], "rows")[begin[k] : begin[k] + length[k]] for k in mine]
        )
        x, v = column(rows, "x"), column(rows, "v")
        paths = np.split(np.arange(len(rows)), bounds_of(length[mine])[1:-1])
        spectrum, embedding, place = sub_dynamics(x, v, paths, Clique(), ExactMasses(), eigenpairs)
        tables[f"embeddings/attractor-{q:05d}.parquet"] = embedding_table(
            column(rows, "id"), x, v, number, length[mine], embedding
        )
        located.append(plain(place, spectrum.eigenvalues))
    return Products(tables=tables, summary={"located": located})


def tell(
    folder: Path, *, index: int, name: str, unit: Sequence[float], recovered: bool, offsets: Sequence[int]
) -> Products:
    """What there is to say of the samples of a bucket, in the order of the input, with `bounds` of its partitions."""
    labels, sure, number = (np.array(fetch(folder, "grade", "grade", a)) for a in ("label", "sure", "number"))
    block = _block(folder, name, index).scaled(np.array(unit))
    confidence = label_confidence(block.x, block.v, block.offsets, labels[block.number], sure[block.number], recovered)
    ids, label, lengths = fetch(folder, "assemble", name, "rows")["id"], labels[block.path], np.diff(block.offsets)
    position = spread(0 * lengths, lengths)
    told = packed(TOLD, id=ids, label=label, confidence=confidence, path=number[block.path], position=position)
    told = told[np.argsort(ids)]
    summary = {"wrong": float((1 - confidence[label >= 0]).sum()), "labelled": int((label >= 0).sum())}
    return Products({"told": told, "bounds": np.searchsorted(told["id"], offsets)}, summary=summary)


def label(folder: Path, *, part: Part, names: Sequence[str]) -> Products:
    """A row [sample, label, confidence, path, position] for every row of a partition, in its order."""
    bounds = [fetch(folder, "tell", name, "bounds")[part.index : part.index + 2] for name in names]
    rows = np.concatenate(
        [fetch(folder, "tell", name, "told")[int(a) : int(b)] for name, (a, b) in zip(names, bounds, strict=True)]
    )
    rows = rows[np.argsort(rows["id"])]
    assert len(rows) == part.rows
    return Products(tables=label_table(part, *(column(rows, name) for name in (TOLD.names or ())[1:])))
