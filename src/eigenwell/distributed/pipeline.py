"""The stages of a run, one after the other, each from the files of the last."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import FloatArray
from ..demonstrations import Caution, DataError
from ..files.columns import Columns
from ..paths.builders import resolution
from ..paths.odd import label_cautions
from ..paths.settings import DEFAULT
from . import assemble, finalize, matching, merge, one_cell, scales, scan, splitting, stitching, trajectories
from .inputs import Part, arrow
from .moments import Moments
from .result import DistributedIdentification
from .stages import Cluster, Task
from .store import put, settle

_BORDERS = Caution(
    "matched-in-cells",
    "The samples are noisy or have several rates, and were matched in cells: where cells meet, links may differ from those "
    "of a single machine. Larger cells (samples_per_cell) have less border.",
)


_TIME = Caution(
    "time-not-used",
    "The column of time was not used, because no column tells trajectories apart: the samples were taken as unordered. "
    "Say trajectory=... if there is one.",
)


@dataclass(frozen=True)
class AssembledPaths:
    """Where the assembled paths are, and what the grouping of their ends needs besides."""

    names: list[str]
    resolution: float
    trusted_ends: bool
    warnings: tuple[Caution, ...]
    facts: dict[str, Any]
    unit: Sequence[float] | float = 1.0
    recovered: bool = False


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

    def per_part(self, stage: str, function: Any, **arguments: Any) -> list[dict[str, Any]]:
        shared = {"columns": self.columns} | arguments
        tasks = [Task(stage, p.name, function, {"part": p} | shared, p.about) for p in self.parts]
        return self.cluster.stage(tasks)

    def whole(self) -> DistributedIdentification:
        if not self.columns.velocity and self.columns.trajectory is None:
            raise DataError(
                f"Expected velocities, or a column of trajectories beside time, got the columns {list(self.columns.all)}. "
                "Say which they are with velocity=... or trajectory=..."
            )
        cells = max(1, -(-self.total // self.cell))
        drawn = max(scan.PER_CELL * cells, scan.FEWEST) / self.total
        seen = self.per_part("scan", scan.scan, drawn=drawn)
        warnings = self.columns.warnings + scan.check(seen, len(self.columns.position), bool(self.columns.velocity))
        if self.columns.time is not None and self.columns.trajectory is None:
            warnings += (_TIME,)
        filled = [s for s in seen if s["low"] is not None]
        low, high = np.min([s["low"] for s in filled], axis=0), np.max([s["high"] for s in filled], axis=0)
        moments = Moments.pooled(Moments.read(s["moments"]) for s in filled)
        if self.columns.trajectory is not None:
            assembled = self._known()
        elif cells == 1:
            assembled = self._in_one()
        else:
            scan.check_spread(seen, self.total, len(self.columns.position))
            assembled = self._in_cells(cells, float(moments.variance.mean()), float((high - low).max()))
        return self._answer(replace(assembled, warnings=warnings + assembled.warnings), low, high)

    def _known(self) -> AssembledPaths:
        buckets = max(1, -(-self.total // self.cell))
        self.per_part("sort", trajectories.sort, buckets=buckets)
        names = [f"bucket-{b:05d}" for b in range(buckets)]
        shared = {"names": self.part_names, "offsets": self.offsets, "columns": self.columns}
        told = self.cluster.stage(
            [Task("assemble", n, trajectories.assemble, {"bucket": b} | shared) for b, n in enumerate(names)]
        )
        names = [n for n, t in zip(names, told, strict=True) if t["paths"]]
        typical = self.cluster.one(Task("steps", "steps", trajectories.typical_step, {"names": names}))["step"]
        warnings = trajectories.cautions(told) + _repeated(sum(t["repeats"] for t in told), self.total)
        return AssembledPaths(names, typical, True, warnings, {"cells": buckets, "way": "trajectories"})

    def _in_one(self) -> AssembledPaths:
        name = "bucket-00000"
        arguments = {"parts": self.parts, "columns": self.columns, "offsets": self.offsets}
        told = self.cluster.one(Task("assemble", name, one_cell.find_paths, arguments, "all samples"))
        scan.refuse_snapshots(told)
        repeats = _repeated(told["repeats"], self.total)
        return AssembledPaths([name], told["resolution"], False, repeats, {"cells": 1, "way": "one cell"}, told["unit"])

    def _in_cells(self, cells: int, spread2: float, extent: float) -> AssembledPaths:
        """Cells that match as a single machine does: with one time step for all, or else by likelihood."""
        parts = {"names": self.part_names}
        in_doubt = Task("doubt", "doubt", scan.nothing_more)
        self.cluster.one(Task("plan", "plan", scan.plan, parts | {"count": cells}))
        self.per_part("neighbours", scan.neighbours)
        if not self.cluster.has(in_doubt):  # a run that goes on need not try again
            scan.refuse_snapshots(self.cluster.one(Task("kind", "kind", scan.kind, parts)))
            dt = self.cluster.one(Task("step", "step", scan.time_step, parts))["dt"]
            # Repeated samples count in the total but are measured once: up to four copies of everything leave enough.
            share = 4 * DEFAULT.measured / self.total
            by = {"dt": dt, "measured": share}
            met = None if dt is None else self._matched(cells, extent, self._split(dt=dt), by, dt=dt)
            if met is not None:
                return met
            self.cluster.one(in_doubt)
        halo = splitting.HALO * self.cluster.one(Task("step", "wide", scales.typical_step, parts))["step"]
        copies = self._split(halo=halo)
        chosen = scales.pilots(cells, self.total)
        told = self._per_cell("pilot", scales.pilot, chosen, spread2=spread2)
        arguments = {"names": [_cell(c) for c in chosen], "told": told, "spread2": spread2}
        agreed = self.cluster.one(Task("agree", "agree", scales.agree_on, arguments))["scales"]
        found = self._matched(cells, extent, copies, {"scales": agreed}, scales=agreed[-1])
        assert found is not None  # there is no other way
        return replace(
            found, warnings=(*found.warnings, _BORDERS), facts=found.facts | {"way": "likelihood", "halo": halo}
        )

    def _split(self, **reach: float) -> int:
        return sum(s["copies"] for s in self.per_part("split", splitting.split, **reach))

    def _per_cell(self, stage: str, function: Any, cells: Sequence[int], **arguments: Any) -> list[dict[str, Any]]:
        shared = {"names": self.part_names} | arguments
        return self.cluster.stage([Task(stage, _cell(c), function, {"cell": c} | shared, f"cell {c}") for c in cells])

    def _matched(
        self, cells: int, extent: float, copies: int, by: dict[str, Any], **known: Any
    ) -> AssembledPaths | None:
        """Paths of cells that were matched and stitched; None where the time step tried does not serve all samples."""
        names = [_cell(c) for c in range(cells)]
        matched = self._per_cell("match", matching.match, range(cells), **by)
        arguments = {"names": names, "summaries": matched} | known
        told = self.cluster.one(Task("stitch", "stitch", stitching.stitch, arguments))
        if not told["common"]:
            return None
        facts = {"cells": cells, "way": "beyond doubt", "dt": told["dt"], "halo_copies": copies}
        return self._assemble(names, told, extent, facts)

    def _assemble(self, names: list[str], told: dict[str, Any], extent: float, facts: dict[str, Any]) -> AssembledPaths:
        """Whole paths from the chains that were stitched."""
        if told["short_chains"]:
            self._merge(names, told["dt"], told["scales"])
        place = self.cluster.one(
            Task("layout", "layout", assemble.layout, {"merged": told["short_chains"], "per_bucket": self.cell})
        )
        buckets = [f"bucket-{b:05d}" for b in range(place["buckets"])]
        reach = resolution(*told["scales"][:2])
        share = {"names": names, "dt": told["dt"], "offsets": self.offsets, "reach": reach, "extent": extent}
        self.cluster.stage(
            [Task("assemble", n, assemble.assemble, {"bucket": b} | share) for b, n in enumerate(buckets)]
        )
        repeats = _repeated(self.total - told["samples"], self.total)
        return AssembledPaths(buckets, reach, False, repeats, facts, recovered=True)

    def _merge(self, names: list[str], dt: float, scales: list[float]) -> None:
        shared = {"names": names, "dt": dt, "scales": scales}
        where = [(n, {"name": n, "cell": c}) for c, n in enumerate(names)]
        self.cluster.stage([Task("sweep", n, merge.sweep_up, here) for n, here in where])
        self.cluster.stage([Task("around", n, merge.look_around, here | shared) for n, here in where])
        self.cluster.one(Task("merge", "merge", merge.merge, {"names": names}))

    def _answer(self, assembled: AssembledPaths, low: FloatArray, high: FloatArray) -> DistributedIdentification:
        arguments = {
            "names": assembled.names,
            "resolution": assembled.resolution,
            "box": (high - low).tolist(),
            "trusted_ends": assembled.trusted_ends,
            "unit": assembled.unit,
            "recovered": assembled.recovered,
        }
        graded = self.cluster.one(Task("grade", "grade", finalize.grade, arguments))
        shared = {"names": assembled.names, "eigenpairs": graded["eigenpairs"]}
        runs = finalize.batches(graded["samples"])
        solved = self.cluster.stage(
            [
                Task("solve", f"attractors-{r[0]:05d}", finalize.solve, {"which": r} | shared, f"sub-dynamics {r[0]}")
                for r in runs
            ]
        )
        located = [one for s in solved for one in s["located"]]
        about = {"unit": assembled.unit, "recovered": not assembled.trusted_ends}
        doubts = self.cluster.stage(
            [
                Task("sure", name, finalize.how_sure, {"index": k, "name": name} | about)
                for k, name in enumerate(assembled.names)
            ]
        )
        wrong = sum(d["wrong"] for d in doubts) / max(sum(d["labelled"] for d in doubts), 1)
        self.cluster.stage(
            [Task("label", p.name, finalize.label, {"part": p, "names": assembled.names}, p.about) for p in self.parts]
        )
        warnings = [[c.name, c.message] for c in assembled.warnings] + graded["warnings"]
        warnings += [[c.name, c.message] for c in label_cautions(wrong)]
        folder = self.cluster.folder
        self._write_attractors(located, graded)
        # The summary says that everything is there: not before it is on the disk.
        settle([*folder.glob("labels/*.parquet"), *folder.glob("embeddings/*.parquet"), folder / "paths.parquet"])
        summary = {
            "n_samples": self.total,
            "low": low.tolist(),
            "high": high.tolist(),
            "n_attractors": graded["attractors"],
            "confidence": graded["confidence"],
            "arrived": graded["arrived"],
            "grouping": graded["grouping"],
            "paths": graded["paths"],
            "samples": graded["samples"],
            "located": located,
            "warnings": warnings,
            "partitions": [f"labels/{p.name}.parquet" for p in self.parts],
            "inputs": [{"file": p.path, "rows": p.rows, "first_sample": p.offset} for p in self.parts],
            "facts": assembled.facts | {"run": self.cluster.run_key},
        }
        text = json.dumps(summary, indent=1).encode()
        put(folder / "summary.json", lambda handle: handle.write(text), lasting=True)
        return DistributedIdentification.open(folder)

    def _write_attractors(self, located: list[dict[str, Any]], graded: dict[str, Any]) -> None:
        pa, pq = arrow()
        columns: dict[str, Any] = {
            "label": [one["q"] for one in located],
            "paths": graded["paths"],
            "samples": graded["samples"],
        }
        for what, name in (("x", "position"), ("error_x", "standard_error")):
            table = np.array([one[name] for one in located])
            columns |= {f"{what}{i + 1}": column.tolist() for i, column in enumerate(table.T)}
        put(
            self.cluster.folder / "attractors.parquet",
            lambda handle: pq.write_table(pa.table(columns), handle),
            lasting=True,
        )


def _cell(number: int) -> str:
    return f"cell-{number:05d}"


def _repeated(count: int, total: int) -> tuple[Caution, ...]:
    if count == 0:
        return ()
    said = f"{count} of {total} samples repeat another one exactly; each is counted once."
    return (Caution("duplicated-samples", said),)
