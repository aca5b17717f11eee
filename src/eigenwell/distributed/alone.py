"""Samples that fit in one task: `eigenwell.identify` itself, its answer in the files of a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._types import IntArray
from ..checks import check_samples, check_tall
from ..demonstrations import Demonstrations
from ..files.columns import Columns
from ..graphs import PathGraph
from ..identification import identify
from ..paths.arrival import end_pace
from .inputs import Part, read_part
from .records import bounds_of, spread
from .store import Products
from .tables import embedding_table, label_table, path_table, plain, said
from .trajectories import cautions, in_order, name_hash, stamps


def identify_alone(folder: Path, *, parts: Sequence[Part], columns: Columns) -> Products:
    """All parts together, which are small enough. Positions and velocities are kept, to be identified again in memory."""
    demos, ids = _read(parts, columns)
    found = identify(demos)
    graph = found.graph
    assert isinstance(graph, PathGraph)  # no kernel was asked for
    lengths, heads = graph.lengths, graph.nodes[graph.offsets[:-1]]
    path, position = np.full((2, demos.n_samples), -1, dtype=np.intp)
    path[graph.nodes] = np.repeat(np.arange(graph.n_paths), lengths)
    position[graph.nodes] = spread(0 * lengths, lengths)
    back, sure = np.argsort(ids), found.label_confidence
    tables: dict[str, Any] = {}
    for part in parts:
        rows = back[part.offset : part.offset + part.rows]
        tables |= label_table(part, found.labels[rows], sure[rows], path[rows], position[rows])
    for q in range(found.n_attractors):
        mine, of = found.members(q), graph.paths_of(q)
        tables[f"embeddings/attractor-{q:05d}.parquet"] = embedding_table(
            ids[mine], demos.x[mine], demos.v[mine], of, lengths[of], found.embeddings[q]
        )
    pace = np.array([end_pace(demos.v[graph.path(k)]) for k in range(graph.n_paths)])
    tables["paths.parquet"] = path_table(
        graph.group, lengths, ids[heads], pace, demos.x[heads], demos.x[graph.terminals]
    )
    return Products(
        arrays={"x": demos.x, "v": demos.v} | ({} if demos.offsets is None else {"offsets": demos.offsets}),
        tables=tables,
        summary={
            "low": demos.x.min(axis=0).tolist(),
            "high": demos.x.max(axis=0).tolist(),
            "paths": [len(graph.paths_of(q)) for q in range(found.n_attractors)],
            "samples": [int((found.labels == q).sum()) for q in range(found.n_attractors)],
            "arrived": found.arrived.tolist(),
            "confidence": found.confidence,
            "grouping": said(found.grouping),
            "kind": found.kind,
            "warnings": [[c.name, c.message] for c in found.warnings],
            "located": [plain(a, values) for a, values in zip(found.located, found.eigenvalues, strict=True)],
        },
    )


def _read(parts: Sequence[Part], columns: Columns) -> tuple[Demonstrations, IntArray]:
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
    found = in_order(columns, ids, names, x, v, np.concatenate([stamps(r) for r in rows]))
    lengths = np.unique(found.called, return_counts=True)[1]
    told = columns.warnings + cautions([found.summary]) + check_samples(found.x, found.v)
    return Demonstrations(found.x, found.v, offsets=bounds_of(lengths), warnings=told), found.ids
