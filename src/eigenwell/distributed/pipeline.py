"""The stages of a run, one after the other, each from the files of the last."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Caution, DataError
from ..paths.beside import label_cautions
from . import assemble, finalize, matching, scan, stitching, trajectories
from .result import DistributedIdentification, attractor_table, doubts
from .run import Run
from .store import Products, intact, put, write_table

TIME = Caution(
    "time-not-used",
    "The column of time was not used, because no column tells trajectories apart: the samples were taken as unordered. "
    "Say trajectory=... if there is one.",
)
BORDERS = Caution(
    "matched-in-cells",
    "The samples are noisy or have several rates, and were matched in cells: where cells meet, links may differ from those "
    "of a single machine. Larger cells (samples_per_cell) have less border.",
)


@dataclass(frozen=True)
class AssembledPaths:
    """The buckets of the assembled paths, the unit of every column, and how they were found; of trajectories the ends are known,
    of recovered paths how near two that are one may be."""

    names: list[str]
    unit: FloatArray
    warnings: tuple[Caution, ...]
    facts: dict[str, Any]
    resolution: float | None = None


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
        found = run.one("alone", finalize.identify_alone, parts=run.parts, columns=columns)
        found["warnings"] = doubts(time) + found["warnings"]
        return _finished(run, found, {"cells": 1, "way": "alone"}, ["alone"])
    cells = -(-run.total // run.cell)
    drawn = max(scan.PER_CELL * cells, scan.FEWEST) / run.total
    whole = scan.Whole.of(run.per_part("scan", scan.scan, columns=columns, drawn=drawn))
    warnings = columns.warnings + whole.check() + time
    paths = _in_cells(run, cells, whole) if columns.trajectory is None else _known(run, cells)
    found = _graded(run, replace(paths, warnings=warnings + paths.warnings), whole)
    return _finished(run, found, paths.facts, ["grade", "solve", "label"])


def _known(run: Run, buckets: int) -> AssembledPaths:
    """Trajectories, sorted out by their names."""
    run.per_part("sort", trajectories.sort, columns=run.columns, buckets=buckets)
    names, shared = _numbered("bucket", buckets), {"names": run.part_names, "columns": run.columns, "total": run.total}
    told = run.each("assemble", trajectories.assemble, names, {"bucket": range(buckets)}, **shared)
    warnings = trajectories.cautions(told) + _repeated(sum(t["repeats"] for t in told), run.total)
    names = [n for n, t in zip(names, told, strict=True) if t["paths"]]
    unit = np.ones(len(run.columns.position))
    return AssembledPaths(names, unit, warnings, {"cells": buckets, "way": "trajectories"})


def _in_cells(run: Run, cells: int, whole: scan.Whole) -> AssembledPaths:
    """Unordered samples, matched as a single machine does, with one time step for all or else by likelihood."""
    by_part, of_all = {"columns": run.columns, "whole": whole}, {"names": run.part_names, "whole": whole}
    run.per_part("ask", scan.ask, **by_part)
    run.one("plan", scan.plan, count=cells, total=run.total, **of_all)
    run.per_part("neighbours", scan.neighbours, **by_part)
    seen = run.one("look", scan.look, **of_all)
    if not intact(run.folder, ["doubt"], run.key):  # a run that goes on need not try again
        scan.refuse_snapshots(seen)
        if (dt := seen["dt"]) is not None and (met := _matched(run, cells, whole, dt=dt)) is not None:
            return met
        run.one("doubt", _nothing_more)
    halo = matching.HALO * seen["step"]
    found = _matched(run, cells, whole, halo=halo)
    assert found is not None  # there is no other way
    return replace(found, warnings=(*found.warnings, BORDERS), facts=found.facts | {"way": "likelihood", "halo": halo})


def _matched(run: Run, count: int, whole: scan.Whole, dt: float | None = None, **halo: float) -> AssembledPaths | None:
    """Paths of cells that were matched and stitched; None where the time step tried does not serve all samples."""
    cells, cell = _numbered("cell", count), {"cell": range(count)}
    split = run.per_part("split", matching.split, columns=run.columns, whole=whole, dt=dt, **halo)
    told = run.each("match", matching.match, cells, cell, names=run.part_names, whole=whole, dt=dt)
    spread2 = float((np.array(whole.variance[: whole.dimension]) / np.square(whole.unit)).mean())
    about = {"spread2": spread2, "per_bucket": run.cell, "dt": dt}
    stitched = run.one("stitch", stitching.stitch, names=cells, told=told, **about)
    if not stitched["common"]:
        return None
    buckets, reach = _numbered("bucket", stitched["buckets"]), float(stitched["scales"][0])
    extent = float((np.ptp(whole.places, axis=0) / whole.unit).max())
    shared = {"names": cells, "whole": whole, "reach": reach, "extent": extent}
    run.each("assemble", assemble.assemble, buckets, {"bucket": range(len(buckets))}, **shared)
    copies = sum(s["copies"] for s in split)
    facts = {"cells": count, "way": "beyond doubt", "dt": stitched["dt"], "halo_copies": copies}
    return AssembledPaths(buckets, whole.unit, _repeated(sum(t["repeats"] for t in told), run.total), facts, reach)


def _graded(run: Run, paths: AssembledPaths, whole: scan.Whole) -> dict[str, Any]:
    """Attractors of the assembled paths, and a label for every row: what the summary says."""
    names, known, box = paths.names, paths.resolution is None, whole.places
    seen = run.one("survey", finalize.survey, names=names, trusted_ends=known)
    bucket, extent = {"index": range(len(names)), "name": names}, seen["extent"]
    run.each("measure", finalize.measure, names, bucket, extent=extent)
    about = {
        "resolution": paths.resolution or seen["step"],
        "size": float(np.ptp(box, axis=0).max()),
        "unit": paths.unit,
    }
    found = run.one("grade", finalize.grade, names=names, extent=extent, trusted_ends=known, **about)
    which = finalize.batches(found["samples"])
    called = [f"attractors-{q[0]:05d}" for q in which]
    solved = run.each("solve", finalize.solve, called, {"which": which}, names=names, eigenpairs=found["eigenpairs"])
    offsets = [*(p.offset for p in run.parts), run.total]
    told = run.each("tell", finalize.tell, names, bucket, unit=paths.unit, recovered=not known, offsets=offsets)
    wrong = sum(d["wrong"] for d in told) / max(sum(d["labelled"] for d in told), 1)
    run.per_part("label", finalize.label, names=names)
    return found | {
        "box": box.tolist(),
        "located": [one for s in solved for one in s["located"]],
        "warnings": doubts(paths.warnings) + found["warnings"] + doubts(label_cautions(wrong)),
        "kind": "trajectories",
    }


def _finished(run: Run, found: dict[str, Any], facts: dict[str, Any], stages: list[str]) -> DistributedIdentification:
    """The summary, which says that everything is there: all tables are on the disk before."""
    table = attractor_table(found["located"], found["paths"], found["samples"])
    put(run.folder / "attractors.parquet", partial(write_table, table), lasting=True)
    said = ("located", "paths", "samples", "arrived", "confidence", "grouping", "kind", "warnings")
    summary = {name: found[name] for name in said} | {
        "low": found["box"][0],
        "high": found["box"][1],
        "n_samples": run.total,
        "partitions": [f"labels/{name}.parquet" for name in run.part_names],
        "inputs": [{"file": p.path, "rows": p.rows, "first_sample": p.offset} for p in run.parts],
        "facts": facts | {"run": run.key},
        "stages": stages,
    }
    text = json.dumps(summary, indent=1).encode()
    put(run.folder / "summary.json", lambda handle: handle.write(text), lasting=True)
    return DistributedIdentification.open(run.folder)


def _nothing_more(folder: Any) -> Products:
    """Leaves a record of the task and nothing else."""
    return Products()


def _numbered(what: str, count: int) -> list[str]:
    return [f"{what}-{k:05d}" for k in range(count)]


def _repeated(count: int, total: int) -> tuple[Caution, ...]:
    said = f"{count} of {total} samples repeat another one exactly; each is counted once."
    return (Caution("duplicated-samples", said),) if count else ()
