"""The parts of the fields benchmark about what they cost and how they travel: training, prediction, exports."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import eigenwell as ew
from benchmarks.loops import PATIENCE, Box, Patchwork, drive
from benchmarks.sets import of_system, placed
from benchmarks.table import Row
from benchmarks.warp_fields import learned
from eigenwell import systems
from eigenwell.learning.learner import learn_motions
from eigenwell.learning.recipes import Recipe
from eigenwell.systems import System

THREE = ("GShape", "Sshape", "Angle")
Facts = dict[str, object]


def as_version_one() -> Recipe:
    """What version 0.1 paid for: no guide, no way home, no window."""
    return replace(Recipe().for_motions(), home=0, window=False)


def seconds_of(train: Callable[[], object]) -> float:
    """The second call's: compilation is over."""
    train()
    start = time.perf_counter()
    train()
    return time.perf_counter() - start


def speed_part() -> tuple[list[Row], Facts]:
    motions, goals = placed(THREE, 70.0, (0, 1, 2))
    smooth = systems.three_d.sample(seed=0)
    found = ew.identify(smooth)
    paths = [[(smooth.x[p], smooth.v[p]) for p in found.paths(q)] for q in range(found.n_attractors)]
    rows, facts = [], {}
    for name, these, places in (
        ("three LASA motions", motions, goals),
        ("three wells in 3-D", paths, found.attractors),
    ):
        ours = seconds_of(lambda: learn_motions(these, places, memory=False, toward=False))  # noqa: B023
        theirs = seconds_of(lambda: Patchwork(these, places, as_version_one()))  # noqa: B023
        rows.append(
            Row(
                f"training, Q = 3, {name}, over {len(places)} separate fields of version 0.1, without compilation",
                "<= 1.5",
                f"{ours / theirs:.2f} ({ours:.1f} s)",
                f"{theirs:.1f} s",
                ours <= 1.5 * theirs,
            )
        )
        facts[name] = {"seconds": ours, "separate_seconds": theirs}
    return rows, {"speed": facts}


def spent(calls: Sequence[Callable[[], object]], rounds: int = 5) -> float:
    """Microseconds of processor time of one call, the median of some rounds over all of them."""
    calls[0]()
    taken = []
    for _ in range(rounds):
        begin = time.process_time()
        for call in calls:
            call()
        taken.append((time.process_time() - begin) / len(calls))
    return float(np.median(taken)) * 1e6


def single_part(cache: Path | None = None, states: int = 100, many: int = 100_000) -> tuple[list[Row], Facts]:
    """One state at a time, as a controller asks; beside it a product of 200 x 200 matrices, so that a busy machine shows."""
    rows, facts = [], {}
    square = np.random.default_rng(0).standard_normal((200, 200))
    for name, bar in (("strokes_0", 60), ("duffing", 60), ("joints_0", 150)):
        field = learned(name, cache)
        x = Box.of(field).uniform(np.random.default_rng(0), states)
        times = {"reference": spent([lambda: square @ square] * states)}
        times["predict"] = spent([partial(field.predict, one) for one in x])
        for rate in (100, 1000):
            times[f"advance_{rate}"] = spent([partial(field.advance, one, 1 / rate) for one in x])
        if field.has_memory:
            motions = [field.motion(one) for one in x]
            times["motion"] = spent([partial(m.step, one, 1e-6) for m, one in zip(motions, x, strict=True)])
            times["motion_advance"] = spent([partial(m.advance, one, 1e-2) for m, one in zip(motions, x, strict=True)])
        crowd = Box.of(field).uniform(np.random.default_rng(1), many)
        times["basin_over_predict"] = spent([partial(field.basin, crowd)], 1) / spent(
            [partial(field.predict, crowd)], 1
        )
        said = ", ".join(f"{key} {value:.3g}" for key, value in times.items())
        met = times["predict"] <= bar and times["basin_over_predict"] <= 5
        what = f"{name}, {field.dimension}-D, one state, us of processor; basin of {many:,} over predict"
        rows.append(Row(what, f"predict <= {bar}, basin <= 5", said, "", met))
        facts[name] = times
    return rows, {"single": facts}


def export_part(known: Sequence[System], starts: int) -> tuple[list[Row], Facts]:
    """The loop through the files a robot gets: velocities and basins are the export's own."""
    try:
        import onnxruntime

        from eigenwell.export import FLOAT, export_c, export_onnx
        from eigenwell.export.c_header import compiled, find_compiler
        from eigenwell.export.onnx import beside
    except ImportError as error:
        print(f"exports: left out, {error}")
        return [], {}
    rows, facts = [], {}
    for system in known:
        field, _, duration = of_system(system.name, 0)
        box = Box.of(field)
        x = box.uniform(np.random.default_rng([0, 1]), starts)
        seconds = PATIENCE * duration
        with tempfile.TemporaryDirectory() as folder:
            graph, header = Path(folder) / "field.onnx", Path(folder) / "field.h"
            parity = {"ONNX": export_onnx(field, graph), "C": export_c(field, header)}
            velocity, basin = (onnxruntime.InferenceSession(str(beside(graph, part))) for part in ("", "basin"))

            def onnx_velocity(x: np.ndarray, session: object = velocity) -> np.ndarray:
                return session.run(["velocity"], {"x": x.astype(np.float32)})[0].astype(np.float64)

            said = np.concatenate(
                [basin.run(["basin"], {"x": part.astype(np.float32)})[0] for part in np.array_split(x, 20)]
            )
            ends = {"ONNX": (drive(onnx_velocity, x, field.attractors, box, seconds).ends, said)}
            compiler = find_compiler()
            if compiler is not None:
                with compiled(header, "eigenwell_field", field, FLOAT, compiler) as header_says:
                    went = drive(header_says.velocity, x, field.attractors, box, seconds).ends
                    ends["C"] = (went, header_says.answers(x).basin)
        for kind, (went, basins) in ends.items():
            arrived, right = float((went >= 0).mean()), float((went == basins).mean())
            took = parity[kind].latency_us
            rows.append(
                Row(
                    f"{system.name} through {kind}: loop arrives / where its basin said; one state",
                    "100 % / 99.5 %" + ("; <= 6 us" if kind == "C" else ""),
                    f"{arrived:.2%} / {right:.2%}; {took:.3g} us",
                    "",
                    arrived == 1.0 and right >= 0.995 and (kind != "C" or took <= 6),
                )
            )
            facts[f"{system.name}_{kind}"] = {"arrived": arrived, "as_basin_said": right, "us": took}
    return rows, {"exports": facts}
