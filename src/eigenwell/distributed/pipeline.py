"""The stages of a run, one after the other, each from the files of the last."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

from ..demonstrations import Caution, DataError
from ..paths.odd import label_cautions
from . import alone, finalize, scan, tables, trajectories
from .in_cells import InCells
from .result import DistributedIdentification
from .run import AssembledPaths, Run, numbered, plain, repeated
from .stages import Task
from .store import put, write_table

TIME = Caution(
    "time-not-used",
    "The column of time was not used, because no column tells trajectories apart: the samples were taken as unordered. "
    "Say trajectory=... if there is one.",
)


def identified(run: Run) -> DistributedIdentification:
    """Stage after stage, and the summary at last."""
    columns = run.columns
    if not columns.velocity and columns.trajectory is None:
        raise DataError(
            f"Expected velocities, or a column of trajectories beside time, got the columns {list(columns.all)}. "
            "Say which they are with velocity=... or trajectory=..."
        )
    time = (TIME,) if columns.time is not None and columns.trajectory is None else ()
    if run.total <= run.cell:
        found = run.one("alone", alone.identify_alone, parts=run.parts, columns=columns)
        found["warnings"] = plain(time) + found["warnings"]
        return _finished(run, found, {"cells": 1, "way": "alone"}, ["alone"])
    cells = -(-run.total // run.cell)
    drawn = max(scan.PER_CELL * cells, scan.FEWEST) / run.total
    whole = scan.Whole.of(run.per_part("scan", scan.scan, columns=columns, drawn=drawn))
    warnings = columns.warnings + whole.check() + time
    assembled = InCells(run, cells, whole).paths() if columns.trajectory is None else _known(run, cells)
    found = _graded(run, replace(assembled, warnings=warnings + assembled.warnings), whole)
    return _finished(run, found, assembled.facts, ["grade", "solve", "label"])


def _known(run: Run, buckets: int) -> AssembledPaths:
    """Trajectories, sorted out by their names."""
    run.per_part("sort", trajectories.sort, columns=run.columns, buckets=buckets)
    names = numbered("bucket", buckets)
    shared = {"names": run.part_names, "columns": run.columns, "total": run.total}
    told = run.cluster.stage(
        [Task("assemble", n, trajectories.assemble, {"bucket": b} | shared) for b, n in enumerate(names)]
    )
    names = [n for n, t in zip(names, told, strict=True) if t["paths"]]
    step = run.one("steps", trajectories.typical_step, names=names)["step"]
    warnings = trajectories.cautions(told) + repeated(sum(t["repeats"] for t in told), run.total)
    unit = [1.0] * len(run.columns.position)
    return AssembledPaths(names, step, unit, warnings, {"cells": buckets, "way": "trajectories"}, trusted_ends=True)


def _graded(run: Run, assembled: AssembledPaths, whole: scan.Whole) -> dict[str, Any]:
    """Attractors of the assembled paths, and a label for every row: what the summary says."""
    names, unit = assembled.names, assembled.unit
    low, high = whole.x.box
    extent = run.one("survey", finalize.survey, names=names, trusted_ends=assembled.trusted_ends)["extent"]
    buckets = [(name, {"index": k, "name": name}) for k, name in enumerate(names)]
    run.cluster.stage([Task("measure", n, finalize.measure, one | {"extent": extent}) for n, one in buckets])
    graded = run.one(
        "grade",
        finalize.grade,
        names=names,
        resolution=assembled.resolution,
        size=float((high - low).max()),
        extent=extent,
        trusted_ends=assembled.trusted_ends,
        unit=unit,
    )
    shared = {"names": names, "eigenpairs": graded["eigenpairs"]}
    runs = finalize.batches(graded["samples"])
    solved = run.cluster.stage(
        [
            Task("solve", f"attractors-{r[0]:05d}", finalize.solve, {"which": r} | shared, f"attractor {r[0]}")
            for r in runs
        ]
    )
    about = {"unit": unit, "recovered": not assembled.trusted_ends, "offsets": run.offsets}
    doubts = run.cluster.stage([Task("tell", n, finalize.tell, one | about) for n, one in buckets])
    wrong = sum(d["wrong"] for d in doubts) / max(sum(d["labelled"] for d in doubts), 1)
    run.per_part("label", finalize.label, names=names)
    return graded | {
        "low": low.tolist(),
        "high": high.tolist(),
        "located": [one for s in solved for one in s["located"]],
        "warnings": plain(assembled.warnings) + graded["warnings"] + plain(label_cautions(wrong)),
        "kind": "trajectories",
    }


def _finished(run: Run, found: dict[str, Any], facts: dict[str, Any], stages: list[str]) -> DistributedIdentification:
    """The summary, which says that everything is there: all tables are on the disk before."""
    folder = run.cluster.folder
    table = tables.attractor_table(found["located"], found["paths"], found["samples"])
    put(folder / "attractors.parquet", partial(write_table, table), lasting=True)
    said = ("low", "high", "located", "paths", "samples", "arrived", "confidence", "grouping", "kind", "warnings")
    summary = {name: found[name] for name in said} | {
        "n_samples": run.total,
        "partitions": [f"labels/{name}.parquet" for name in run.part_names],
        "inputs": [{"file": p.path, "rows": p.rows, "first_sample": p.offset} for p in run.parts],
        "facts": facts | {"run": run.cluster.run_key},
        "stages": stages,
    }
    text = json.dumps(summary, indent=1).encode()
    put(folder / "summary.json", lambda handle: handle.write(text), lasting=True)
    return DistributedIdentification.open(folder)
