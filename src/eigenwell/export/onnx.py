"""A field as one ONNX graph: scaler, attractors, choice of basin and speed inside; proved with onnxruntime."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._types import FloatArray
from ..fields import REACH, MultiAttractorField, StableField
from ..fields.flows import LOG_SCALE_BOUND
from ..files import replacing
from ..files.errors import missing_extra
from ..models import as_multi
from .centred import Centred, centred
from .graph import Graph, Value
from .parity import Answers, Parity, ParityError, compare, parity_states
from .precision import FLOAT, Precision

OPSET, IR_VERSION = 13, 8
"""Of 2021: old enough for the runtimes found on robots, and every operator used has its present form there."""
BATCH = 128
"""Rows per run when proving: distances to all samples are held at once."""


def export_onnx(
    field: MultiAttractorField | StableField, path: str | os.PathLike[str], *, precision: Precision = FLOAT
) -> Parity:
    """Write `field` as a graph from "x" (n, d) to "velocity" (n, d), "basin" (n,), "far" (n,) and "potential" (n,).

    Before it is put at `path` it is run by onnxruntime and compared with NumPy on 10,000 states. A graph has no
    search tree: every state is compared with every sample, n times as many numbers as there are samples at once.
    """
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise missing_extra("Export to ONNX", "onnx and onnxruntime", "export") from error
    many, target = as_multi(field), Path(path)
    model = onnx_model(many, precision)
    onnx.checker.check_model(model, full_check=True)
    with replacing(target) as temporary:
        temporary.write_bytes(model.SerializeToString())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a single state is too little work to share
        session = onnxruntime.InferenceSession(str(temporary), options, providers=["CPUExecutionProvider"])
        x = parity_states(many, precision)
        try:
            error_size, ties = compare(many, x, _ask(session, x, precision), precision)
        except RuntimeError as error:
            raise ParityError(
                f"Expected onnxruntime to run the exported graph, got: {error}. Nothing was written."
            ) from error
        latency = _latency(session, x[:200].astype(precision.outside))
    return Parity(target, True, len(x), error_size, precision.tolerance, ties, latency)


def _ask(session: Any, x: FloatArray, precision: Precision) -> Answers:
    asked = x.astype(precision.outside)
    parts = [session.run(None, {"x": asked[i : i + BATCH]}) for i in range(0, len(x), BATCH)]
    velocity, basin, far, potential = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Answers(velocity.astype(np.float64), basin.astype(np.intp), far, potential.astype(np.float64))


def _latency(session: Any, states: NDArray[Any]) -> float:
    """Median microseconds for all outputs of one state."""
    times = []
    for i in range(len(states)):
        start = time.perf_counter()
        session.run(None, {"x": states[i : i + 1]})
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def onnx_model(field: MultiAttractorField, precision: Precision) -> Any:
    """The graph, as an onnx.ModelProto. All fields are evaluated side by side, (Q, n, d); the basin picks one."""
    from onnx import TensorProto, helper

    g = Graph(precision.inside)
    outside = helper.np_dtype_to_tensor_dtype(np.dtype(precision.outside))
    tables = centred(field)
    rounded = tables.attractors.astype(precision.outside)
    asked = Value(g, "x")
    x = asked.cast(precision.inside).unsqueeze(0)
    away = x - rounded[:, None] - tables.rest(rounded)[:, None]
    dx = away / tables.scale[:, None]
    y, steps = _flow(tables, dx)
    square = (y * y).sum(-1)
    u = -(y + y @ tables.swirl.transpose(0, 2, 1)) / ((square + 1e-30).call("Sqrt") + tables.softening[:, None, None])
    free = _pull(u, tables, steps) * _speed(tables, dx)
    velocity = free * _braking(tables, free) * tables.gain[:, None]
    potential = 0.5 * square
    nearest, distance = _nearest(field, asked.cast(precision.inside))
    basin = g.constant(field.labels.astype(np.int64)).call("Gather", nearest, axis=0)
    # The attractor as rounded to `outside` rests too; elsewhere only the field of the basin counts.
    moving = (x - rounded[:, None]).call("Abs").call("ReduceMax", axes=[-1], keepdims=1).call("Greater", g.number(0.0))
    chosen = basin.unsqueeze(0).call("Equal", g.constant(np.arange(field.n_attractors)[:, None])).unsqueeze(-1)
    counts = moving.call("And", chosen)
    velocity = counts.call("Where", velocity, g.number(0.0)).sum(0, keep=False)
    potential = counts.call("Where", potential, g.number(0.0)).sum(0, keep=False).call("Squeeze", g.constant([-1]))
    velocity.cast(precision.outside).named("velocity")
    basin.named("basin")
    # Not near rather than far: NaN is neither, and must not pass for known.
    distance.call("LessOrEqual", g.number(REACH**2)).call("Not").named("far")
    potential.cast(precision.outside).named("potential")
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        g.nodes,
        "eigenwell",
        [info("x", outside, ["n", field.dimension])],
        [
            info("velocity", outside, ["n", field.dimension]),
            info("basin", TensorProto.INT64, ["n"]),
            info("far", TensorProto.BOOL, ["n"]),
            info("potential", outside, ["n"]),
        ],
        g.constants,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="eigenwell",
        producer_version=__version__,
    )
    helper.set_model_props(model, {"attractors": json.dumps(field.attractors.tolist())})
    return model


def _flow(tables: Centred, y: Value) -> tuple[Value, list[tuple[Value, Value]]]:
    """y = psi(x) - psi(x*), and every layer's scale (Q, n, M) and shear (Q, n, M, P). See `centred` for the equations."""
    c, steps = LOG_SCALE_BOUND, []
    passes, moves = tables.frequencies.shape[3], tables.home.shape[2]
    # Coordinates are kept in the order the last layer left them: passing, then moved.
    at = list(range(tables.dimension))
    for layer, (passing, moving) in enumerate(tables.splits):
        dp, dq = y.columns([at.index(i) for i in passing]), y.columns([at.index(i) for i in moving])
        w, rc, rs = (t[:, layer] for t in (tables.frequencies, tables.cosines, tables.sines))
        # One product gives d sigma, dt and their slopes: d/dp_i = (R_s cos delta - R_c sin delta) W_i.
        slope_fall = (rs[..., None] * w[:, :, None]).reshape(*rs.shape[:2], -1)
        slope_rise = (-rc[..., None] * w[:, :, None]).reshape(*rs.shape[:2], -1)
        weights = np.concatenate([np.concatenate([rc, slope_fall], -1), np.concatenate([rs, slope_rise], -1)], 1)
        at_rest = slope_fall.sum(1, keepdims=True)
        out = _features(dp, w.transpose(0, 2, 1)) @ weights
        change, slope = out.part(0, 2 * moves), out.part(2 * moves, weights.shape[2]) + at_rest
        slope = slope.reshape([len(w), -1, 2 * moves, passes])
        t0, home = tables.squash[:, layer][:, None], tables.home[:, layer][:, None]
        still = np.exp(c * t0)
        d = (change.part(0, moves) / c).call("Tanh")
        dt = d * (1 - t0**2) / (1.0 + d * t0)
        half = (0.5 * c * dt).call("Tanh")
        grown = 2.0 * half / (1.0 - half)  # e^(c dt) - 1, which ONNX has no word for
        scale, t = still * (1.0 + grown), t0 + dt
        bend = ((home + dq) * scale * (1.0 - t * t)).unsqueeze(-1)
        steps.append((scale, bend * slope.part(0, moves, axis=2) + slope.part(moves, 2 * moves, axis=2)))
        y = dp.concat(dq * scale + home * still * grown + change.part(moves, 2 * moves))
        at = [*passing, *moving]
    return y.columns([at.index(i) for i in range(len(at))]), steps


def _features(p: Value, frequencies: FloatArray) -> Value:
    """[cos delta - 1, sin delta], delta = p W: by sines alone, exact near zero."""
    half = p @ (frequencies / 2)
    sine = half.call("Sin")
    return (-2.0 * sine * sine).concat((2.0 * half).call("Sin"))


def _pull(w: Value, tables: Centred, steps: list[tuple[Value, Value]]) -> Value:
    """J^-1 w, by substitution from the last layer to the first."""
    at = list(range(tables.dimension))
    for (passing, moving), (scale, shear) in zip(reversed(tables.splits), reversed(steps), strict=True):
        p, q = w.columns([at.index(i) for i in passing]), w.columns([at.index(i) for i in moving])
        w = p.concat((q - (shear * p.unsqueeze(2)).sum(-1, keep=False)) / scale)
        at = [*passing, *moving]
    return w.columns([at.index(i) for i in range(len(at))])


def _speed(tables: Centred, dx: Value) -> Value:
    weights = np.concatenate([tables.speed_cosines, tables.speed_sines], -1)[..., None]
    features = _features(dx, tables.speed_frequencies.transpose(0, 2, 1))
    return (features @ weights + tables.speed_at_rest[:, None, None]).call("Exp")


def _braking(tables: Centred, free: Value) -> Value:
    """m = (1 + r^8)^(-1/8), r = |brake * free|, written in the smaller of r and 1/r."""
    share = free * tables.brake[:, None]
    r = (share * share).sum(-1).call("Sqrt")
    top = r.call("Max", free.graph.number(1.0))
    low = r / top / top
    for _ in range(3):
        low = low * low
    root = 1.0 + low
    for _ in range(3):
        root = root.call("Sqrt")
    return (top * root).call("Reciprocal")


def _nearest(field: MultiAttractorField, x: Value) -> tuple[Value, Value]:
    """Index of the nearest sample, axes scaled to the box, and the square of its distance: |z|^2 - 2 z s + |s|^2."""
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    samples = (field.samples - middle) / field.box
    z = (x - middle) / field.box
    rest = (samples**2).sum(1) + z @ (-2 * samples.T)
    nearest = rest.call("ArgMin", axis=1, keepdims=0)
    return nearest, rest.call("ReduceMin", axes=[1], keepdims=0) + (z * z).sum(-1, keep=False)
