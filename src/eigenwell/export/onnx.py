"""A field as ONNX graphs: scaler, attractors, basins and speed inside; proved with onnxruntime."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import BoolArray, FloatArray, IntArray
from ..errors import missing_extra
from ..fields import Field, StableField
from ..fields.motion import credited, shortened
from ..fields.simulation import ARRIVED
from ..files import replacing
from ..models import as_field
from .exported import FLOAT, Answers, Parity, ParityError, Precision, Steps
from .onnx_graphs import basin_model, map_model, motion_model
from .parity import prove

MOST_DISTANCES = 2_000_000
"""Held at once when proving: 16 MB."""


def export_onnx(field: Field | StableField, path: str | os.PathLike[str], *, precision: Precision = FLOAT) -> Parity:
    """Write `field` as a graph, with others beside it where there is more to say.

    field.onnx          "x" (n, d) -> "velocity" (n, d), "potential" (n,): the map, for the control loop
    field.basin.onnx    "x" -> "basin" (n,), "far" (n,) of the map; with memory "start_goal" and "start_phase" (n,), with which
                        a motion from x begins. It follows every state to its end: ask once, at the start
    field.toward.onnx   "x", "goal" (one whole number; -1 for the map) -> "velocity", "potential"; of several attractors
    field.motion.onnx   "x", "phase" (n,), "goal", "heading" (n, d + 1), "radius" (n,) -> "velocity", "phase_rate" (n,),
                        "heading_out", "radius_out"; of a field with memory

    A motion begins with zeros for heading and radius, which are double, and is handed back what came out. Move the phase by
    dt * phase_rate, or by the share of the step that was seen, as `fields.motion` does, and keep it within 0 to 1. A graph knows
    no dt: at a low rate take of velocity and rate only so much that a step is no longer than what is left of (x, phase).

    Before they are put at `path` they are run by onnxruntime and compared with NumPy on 10,000 states, and loops on them must
    arrive where `basin` says.

    Parameters
    ----------
    field : Field or StableField
    path : str or path
        The first graph; others are put beside it.
    precision : Precision
        SINGLE, DOUBLE or FLOAT.

    Returns
    -------
    Parity
        What comparing the graphs with NumPy found.

    Raises
    ------
    ParityError
        When the graphs do not say what NumPy says; they are not written.
    MissingExtra
        When onnx or onnxruntime is not installed.

    Examples
    --------
    >>> from eigenwell.export import export_onnx
    >>> export_onnx(field, "field.onnx")  # doctest: +SKIP
    """
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise missing_extra("Export to ONNX", "onnx and onnxruntime", "export") from error
    many, target = as_field(field), Path(path)
    graphs = {"": map_model(many, precision), "basin": basin_model(many, precision)}
    if many.n_attractors > 1:
        graphs["toward"] = map_model(many, precision, goals=True)
    if many.has_memory:
        graphs["motion"] = motion_model(many, precision)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # a single state is too little work to share
    with ExitStack() as stack:
        sessions = {}
        for part, model in graphs.items():
            onnx.checker.check_model(model, full_check=True)
            temporary = stack.enter_context(replacing(beside(target, part)))
            temporary.write_bytes(model.SerializeToString())
            sessions[part] = onnxruntime.InferenceSession(str(temporary), options, providers=["CPUExecutionProvider"])
        try:
            return prove(many, Sessions(many, precision, sessions), target, precision)
        except RuntimeError as error:
            raise ParityError(
                f"Expected onnxruntime to run the exported graph, got: {error}. Nothing was written."
            ) from error


def beside(path: Path, part: str) -> Path:
    """Where a graph goes: field.onnx, field.basin.onnx and so on."""
    return path.with_name(f"{path.stem}.{part}{path.suffix}") if part else path


@dataclass(frozen=True)
class Sessions:
    """Questions to running graphs."""

    field: Field
    precision: Precision
    parts: dict[str, Any]

    def _run(self, part: str, names: list[str], fed: dict[str, Any]) -> list[NDArray[Any]]:
        """Some rows at a time: distances to all samples are held at once."""
        batch = max(16, min(1024, MOST_DISTANCES // len(self.field.samples)))
        parts = []
        for i in range(0, len(fed["x"]), batch):
            given = {
                name: value if name == "goal" else self._given(value[i : i + batch], name)
                for name, value in fed.items()
            }
            parts.append(self.parts[part].run(names, given))
        joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        return [a.astype(np.float64) if a.dtype.kind == "f" else a for a in joined]

    def _given(self, values: NDArray[Any], name: str = "x") -> NDArray[Any]:
        """What a motion keeps is not rounded between steps."""
        return values.astype(self.precision.inside if name in ("heading", "radius") else self.precision.outside)

    def answers(self, x: FloatArray) -> Answers:
        velocity, potential = self._run("", ["velocity", "potential"], {"x": x})
        basin, far = self._run("basin", ["basin", "far"], {"x": x})
        return Answers(velocity, basin.astype(np.intp), far, potential)

    def velocity(self, x: FloatArray) -> FloatArray:
        return self._run("", ["velocity"], {"x": x})[0]

    def toward(self, goal: int, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        fed: dict[str, Any] = {"x": x}
        if "toward" in self.parts:
            fed["goal"] = np.asarray(goal, dtype=np.int64)
        velocity, potential = self._run("toward" if "toward" in self.parts else "", ["velocity", "potential"], fed)
        return velocity, potential

    def begin(self, x: FloatArray) -> tuple[IntArray, FloatArray]:
        goal, phase = self._run("basin", ["start_goal", "start_phase"], {"x": x})
        return goal.astype(np.intp), phase

    def _step(self, goal: int, x: FloatArray, phase: FloatArray, *kept: FloatArray) -> list[FloatArray]:
        heading, radius = kept or (np.zeros((len(x), x.shape[1] + 1)), np.zeros(len(x)))
        fed = {"x": x, "phase": phase, "goal": np.asarray(goal, dtype=np.int64), "heading": heading, "radius": radius}
        return self._run("motion", ["velocity", "phase_rate", "heading_out", "radius_out"], fed)

    def motion(self, steps: Steps) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Velocity and rate at the second step, and the phase once the third is seen."""
        goal, x0, phase0, x, phase, after, dt = steps
        velocity, rate, *_ = self._step(goal, x, phase, *self._step(goal, x0, phase0)[2:])
        velocity, rate = self._shortened(goal, x, phase, velocity, rate, dt)
        scale = self.field.lifted[goal].scale[:-1]
        seen = credited((dt * velocity / scale).T, ((after - x) / scale).T)
        return velocity, rate, phase + seen * dt * rate

    def _shortened(
        self, goal: int, x: FloatArray, phase: FloatArray, velocity: FloatArray, rate: FloatArray, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """What the caller makes of them, as `Motion.step`: a step is no longer than what is left of the way."""
        lifted = self.field.lifted[goal]
        left = (lifted.attractors[0] - np.column_stack([x, phase])) / lifted.scale
        share = shortened((dt * np.column_stack([velocity, rate]) / lifted.scale).T, left.T)
        return velocity * share[:, None], rate * share

    def roll(self, x0: FloatArray, dt: float, steps: int) -> tuple[FloatArray, BoolArray]:
        x, done = x0.copy(), np.zeros(len(x0), dtype=bool)
        goals, phases = self.begin(x0)
        for q in np.unique(goals):
            mine = np.flatnonzero(goals == q)
            kept = self._step(int(q), x[mine], phases[mine])[2:]
            phase, place = phases[mine], self.field.attractors[q]
            scale = self.field.lifted[q].scale[:-1]
            for _ in range(steps):
                near = np.linalg.norm((x[mine] - place) / scale, axis=1) < ARRIVED
                going = ~(near & (np.abs(phase) < 10 * ARRIVED))
                done[mine[~going]] = True
                mine, phase, kept = mine[going], phase[going], [one[going] for one in kept]
                if len(mine) == 0:
                    break
                velocity, rate, *_ = self._step(int(q), x[mine], phase, *kept)
                velocity, rate = self._shortened(int(q), x[mine], phase, velocity, rate, dt)
                x[mine] += dt * velocity
                phase = phase + dt * rate
        return x, done

    def latency(self, x: FloatArray, *, motions: bool) -> float:
        """Microseconds for one state alone, the median of many."""
        part, fed = "", {}
        if motions:
            goal, phase = self.begin(x[:1])
            _, _, heading, radius = self._step(int(goal[0]), x[:1], phase)
            fed = {
                name: self._given(v, name) for name, v in (("phase", phase), ("heading", heading), ("radius", radius))
            }
            part, fed["goal"] = "motion", np.asarray(goal[0], dtype=np.int64)
        session, states, spent = self.parts[part], self._given(x[:200]), []
        for i in range(len(states)):
            start = time.perf_counter()
            session.run(["velocity"], {"x": states[i : i + 1], **fed})
            spent.append(time.perf_counter() - start)
        return float(np.median(spent)) * 1e6
