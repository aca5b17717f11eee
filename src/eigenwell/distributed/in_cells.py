"""Unordered samples, cell by cell: matched as a single machine does, with one time step for all or else by likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..demonstrations import Caution
from ..paths.builders import resolution
from . import assemble, matching, scan, splitting, stitching
from .run import AssembledPaths, Run, numbered, repeated
from .scan import Frame, Whole
from .stages import Task
from .store import Products

BORDERS = Caution(
    "matched-in-cells",
    "The samples are noisy or have several rates, and were matched in cells: where cells meet, links may differ from those "
    "of a single machine. Larger cells (samples_per_cell) have less border.",
)


@dataclass(frozen=True)
class InCells:
    """The way of a run through so many cells."""

    run: Run
    count: int
    whole: Whole

    @cached_property
    def frame(self) -> Frame:
        return self.whole.frame

    @property
    def names(self) -> list[str]:
        return numbered("cell", self.count)

    @property
    def spread2(self) -> float:
        """Variance of a coordinate."""
        return float((self.whole.x.variance / np.square(self.frame.unit)).mean())

    @property
    def extent(self) -> float:
        return float((np.ptp(self.whole.x.box, axis=0) / self.frame.unit).max())

    def paths(self) -> AssembledPaths:
        """Whole paths of all samples."""
        run, by_part = self.run, {"columns": self.run.columns, "frame": self.frame}
        of_all = {"names": run.part_names, "frame": self.frame}
        run.per_part("ask", scan.ask, **by_part)
        run.one("plan", scan.plan, count=self.count, total=run.total, **of_all)
        run.per_part("neighbours", scan.neighbours, **by_part)
        seen = run.one("look", scan.look, **of_all)
        in_doubt = Task("doubt", "doubt", nothing_more)
        if in_doubt.finished(run.cluster.folder, run.cluster.run_key) is None:  # a run that goes on need not try again
            scan.refuse_snapshots(seen)
            if (dt := seen["dt"]) is not None:
                met = self._matched(self._split(dt=dt), dt)
                if met is not None:
                    return met
            run.cluster.stage([in_doubt])
        halo = splitting.HALO * seen["step"]
        copies = self._split(halo=halo)
        found = self._matched(copies)
        assert found is not None  # there is no other way
        facts = found.facts | {"way": "likelihood", "halo": halo}
        return replace(found, warnings=(*found.warnings, BORDERS), facts=facts)

    def _split(self, **reach: float) -> int:
        """How many samples are in the halo of a cell."""
        told = self.run.per_part("split", splitting.split, columns=self.run.columns, frame=self.frame, **reach)
        return sum(s["copies"] for s in told)

    def _matched(self, copies: int, dt: float | None = None) -> AssembledPaths | None:
        """Paths of cells that were matched and stitched; None where the time step tried does not serve all samples."""
        run, names = self.run, self.names
        shared: dict[str, Any] = {"names": run.part_names, "frame": self.frame, "dt": dt}
        cells = enumerate(names)
        told = run.cluster.stage(
            [Task("match", n, matching.match, {"cell": c} | shared, f"cell {c}") for c, n in cells]
        )
        stitched = run.one("stitch", stitching.stitch, names=names, told=told, spread2=self.spread2, dt=dt)
        if not stitched["common"]:
            return None
        motion = {"dt": stitched["dt"], "scales": stitched["scales"]}
        merged = stitched["short"] > 0
        if merged:
            looks = {name: {"name": name, "cell": c} | motion for c, name in enumerate(names)}
            run.cluster.stage([Task("around", n, stitching.look_around, one) for n, one in looks.items()])
        laid = run.one("layout", stitching.layout, names=names, merged=merged, per_bucket=run.cell)
        buckets, reach = numbered("bucket", laid["buckets"]), resolution(*stitched["scales"][:2])
        shared = {"names": names, "dt": stitched["dt"], "frame": self.frame, "reach": reach, "extent": self.extent}
        run.cluster.stage(
            [Task("assemble", n, assemble.assemble, {"bucket": b} | shared) for b, n in enumerate(buckets)]
        )
        facts = {"cells": self.count, "way": "beyond doubt", "dt": stitched["dt"], "halo_copies": copies}
        repeats = repeated(sum(t["repeats"] for t in told), run.total)
        return AssembledPaths(buckets, reach, self.frame.unit, repeats, facts)


def nothing_more(folder: Any) -> Products:
    """Leaves a record of the task and nothing else."""
    return Products()
