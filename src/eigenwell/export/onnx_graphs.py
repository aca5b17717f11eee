"""A field as ONNX graphs: the formulas of `fields`, run on values that write themselves down (`graph`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..fields import REACH, Field, StableField
from ..fields.curves import MOST_STEPS, advance, decisions, longest_step, turning
from ..fields.flows import Flow, linearise, pull, with_slopes
from ..fields.learned import LATE
from ..fields.motion import eased, law
from ..fields.moved import Affine, Moved, Nudge
from ..fields.stable import (
    Speed,
    StableModel,
    Wells,
    Winding,
    braked,
    latent_velocity,
    learned,
    length,
    log_speed,
    potential_at,
    winding,
    wound,
)
from ..fields.warps import Stretch
from .exported import Precision
from .graph import POINTS, Graph, Value
from .tables import Tables, tables

xp: Any = np
"""NumPy, whose functions write nodes for values."""
OPSET, IR_VERSION = 13, 8
"""Of 2021: old enough for the runtimes found on robots, and every operator used has its present form there."""


class Chosen(NamedTuple):
    """One of some stable fields, chosen by an index when the graph runs."""

    model: StableModel
    wells: Wells
    centre: Any
    scale: Any
    gain: Any

    @classmethod
    def of(cls, g: Graph, own: Tables, wells: Tables, index: Value | None, seen: Sequence[StableField]) -> Chosen:
        """`own` holds flow, speed and frame of each, or of the only one; `wells` the attractors of each; `seen` are they."""
        tables = with_slopes(own.flow.frequencies, own.flow.weights) * own.flow.frequencies.shape[2] ** -0.5
        flow = Picked(*(g.pick(part, index) for part in own.flow._replace(weights=tables)))
        weights = own.speed.weights * own.speed.frequencies.shape[1] ** -0.5
        speed = Speed(*(g.pick(part, index) for part in own.speed._replace(weights=weights)))
        centre, scale, gain, brake, knee = (
            g.pick(part, index) for part in (own.centre, own.scale, own.gain, own.brake, own.knee)
        )
        swirls = wells.wells.swirls
        known = wells.wells._replace(swirls=swirls if swirls.any() else swirls[:1])
        world = seen[0].model.world
        if world is not None:
            n = len(world.scale)
            # What keeps a field home is its own, and so is what moves its goals; goals that move do so in Python alone.
            worlds = [each.model.world for each in seen if each.model.world is not None]
            moved = _moved(g, [one for each in worlds for one in each.warps if isinstance(one, Moved)], index)
            mine: dict[type, Callable[[Any], list[Any]]] = {
                Moved: lambda _: moved,
                Stretch: lambda one: [one._replace(knee=knee)],
            }
            warps = tuple(part for one in world.warps for part in mine.get(type(one), lambda one: [one])(one))
            world = world._replace(centre=centre[:n], scale=scale[:n], warps=warps, later=())
        chosen = Wells(*(g.pick(part, index) for part in known))
        return cls(StableModel(flow, speed, None, None, None, None, brake, world), chosen, centre, scale, gain)

    def enter(self, x: Value) -> tuple[Value, Value, Callable[[Value], Any], Callable[[Value], Any]]:
        """The speed s at places x in the data's units, y = psi(S(x)), and of a latent velocity its way back, and c."""
        z, seen = learned(self.model, (x - self.centre[:, None]) / self.scale[:, None])
        y, steps = linearise(self.model.flow, z)
        s = xp.exp(log_speed(self.model.speed, z, waves))

        def finish(w: Value) -> Any:
            return braked(self.model, pull(steps, w), seen)[0] * self.gain[:, None]

        def clock(w: Value) -> Any:
            return np.ones(1) if seen is None else seen.carry(pull(steps, w))[1]

        return s, y, finish, clock


def _moved(g: Graph, each: Sequence[Moved], index: Value | None) -> list[Affine | Nudge]:
    """The affine map and the steps of whichever is asked for; those that have fewer steps, or landmarks, make some by nothing."""
    if index is None or all(one is each[0] for one in each):
        return each[0].parts if each else []
    steps, marks = (max(one.path.shape[axis] for one in each) for axis in (0, 1))
    padded = [[(0, steps - one.path.shape[0]), (0, marks - one.path.shape[1]), (0, 0)] for one in each]
    path, force = (
        np.stack([np.pad(part, by) for part, by in zip(parts, padded, strict=True)])
        for parts in ([one.path for one in each], [one.force for one in each])
    )
    matrix, undo, shift = (
        g.pick(np.stack(parts), index) for parts in zip(*(one.parts[0] for one in each), strict=True)
    )
    length = g.pick(np.stack([one.length for one in each]), index) if steps else None
    nudges = [Nudge(g.pick(path[:, k], index), g.pick(force[:, k], index), length) for k in range(steps)]
    return [Affine(matrix, undo, shift), *nudges]


class Picked(Flow):
    """A flow whose weights have their slopes below them, see `flows.with_slopes`, and are divided by the root of F."""

    @property
    def dimension(self) -> int:
        _, _, passes = self.frequencies.shape
        return int(passes + self.weights.shape[1] // (2 * (1 + passes)))

    def told(self, layer: int, p: Any) -> Any:
        return self.weights[layer] @ waves(self.frequencies[layer], p)


def waves(frequencies: Any, p: Any) -> Any:
    """[cos(W p), sin(W p)]. Not divided by the root of F: runtimes fuse a factor beside a product in single precision."""
    angle = frequencies * p if frequencies.shape[1] == 1 else frequencies @ p
    return xp.concatenate([xp.cos(angle), xp.sin(angle)], axis=0)


def map_model(field: Field, precision: Precision, *, goals: bool = False) -> Any:
    """The graph of the map; with `goals`, of the field of whichever attractor is asked for, too."""
    g, every = Graph(precision.inside), tables([field.map])
    wells, index, seen = every, None, [field.map]
    if goals:
        # Index 0 is the map, q + 1 the field of attractor q alone.
        index = _index(g, _input(g, "goal", np.int64(0)) + 1)
        alone = [_repeated(field.toward(q), field.n_attractors) for q in range(field.n_attractors)]
        wells, seen = tables([field.map, *alone]), [field.map, *alone]
        every = wells if field.goals else every
    x = _states(g, field.dimension, precision)
    one = Chosen.of(g, every, wells, index, seen)
    s, y, finish, _ = one.enter(x)
    rounded = g.pick(wells.attractors.astype(precision.outside).astype(np.float64), index)
    at_rest = xp.abs(x - rounded[:, :, None]).max(1).min(0) < np.finfo(precision.inside).tiny
    velocity = xp.where(at_rest, 0.0, finish(s * latent_velocity(one.wells, y)))
    velocity.T.cast(precision.outside).named("velocity")
    xp.where(at_rest, 0.0, potential_at(one.wells, y)).cast(precision.outside).named("potential")
    d, real = field.dimension, precision.outside
    inputs: Ports = {"x": (real, ["n", d])} | ({"goal": (np.int64, [])} if goals else {})
    return _model(g, field, inputs, {"velocity": (real, ["n", d]), "potential": (real, ["n"])})


def _repeated(one: StableField, times: int) -> StableField:
    """The field of one attractor, written with the same attractor several times over: the same field."""
    model = one.model
    each: dict[str, Any] = {
        name: np.repeat(getattr(model, name), times, axis=0) for name in ("attractors", "swirls", "softening")
    }
    return replace(one, model=model._replace(log_weights=np.zeros(times), **each))


def basin_model(field: Field, precision: Precision) -> Any:
    """The graph of what is asked once, at the start: where x ends, whether it is known, and how a motion begins."""
    g = Graph(precision.inside)
    x = _states(g, field.dimension, precision)
    # NaN belongs nowhere.
    unknown = xp.isnan(x.sum(0)).cast(np.int64)
    if field.n_attractors > 1:
        only = tables([field.map])
        one = Chosen.of(g, only, only, None, [field.map])
        ends = _fate(one.wells, one.enter(x)[1])
        unknown = unknown * (ends + 1) - ends
    (unknown * -1).named("basin")
    # Not near rather than far: NaN is neither, and must not pass for known.
    near = _nearest(field, x)[1] < REACH**2
    xp.logical_not(near).named("far")
    outputs: Ports = {"basin": (np.int64, ["n"]), "far": (np.bool_, ["n"])}
    if field.has_memory:
        start = _nearest(field, x, (LATE * (1 - field.phases)) ** 2)[0]
        g.constant(field.labels)[start].named("start_goal")
        g.constant(field.phases)[start].cast(precision.outside).named("start_phase")
        outputs |= {"start_goal": (np.int64, ["n"]), "start_phase": (precision.outside, ["n"])}
    return _model(g, field, {"x": (precision.outside, ["n", field.dimension])}, outputs)


def _fate(wells: Wells, y: Value) -> Value:
    """The attractor in which each latent state ends, (n,): followed until all are decided, see `curves.fate`."""
    body = y.graph.inner()
    here, ends0 = Value(body, "in0", y.example), Value(body, "in1", y.example.argmin(0))
    nearest, decided, at_rest = decisions(wells, here, 1 + turning(wells))
    undecided = ends0 < 0
    ends = xp.where(xp.logical_and(undecided, decided), nearest, ends0)
    going = xp.logical_and(ends < 0, xp.logical_not(at_rest))
    again = going.cast(np.int64).max(0).cast(np.bool_)
    after = advance(wells, here, longest_step(wells))
    # -1 for every state; whole numbers throughout, since NaN has no place among them.
    begin = y.argmin(0) * 0 - 1
    return y.graph.loop(MOST_STEPS // 4, [y, begin], body, [after, ends], again)[1]


def _nearest(field: Field, x: Value, late: Any = 0.0) -> tuple[Value, Value]:
    """Index of the nearest sample, axes scaled to the box, and the square of its distance: |z|^2 - 2 z s + |s|^2.

    Each sample is farther away by what it is late.
    """
    world = field.map.model.world
    if world is not None:
        scale, centre = field.map.scale[:, None], field.map.centre[:, None]
        x = world.outer.forward((x - centre) / scale) * scale + centre
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    samples = (field.samples - middle) / field.box
    z = (x - middle[:, None]) / field.box[:, None]
    rest = (-2 * samples) @ z + ((samples**2).sum(1) + late)[:, None]
    return rest.argmin(0), rest.min(0) + (z * z).sum(0)


def motion_model(field: Field, precision: Precision) -> Any:
    """The graph of the motions; a radius of 0 says that one begins here."""
    g, d, real = Graph(precision.inside), field.dimension, precision.outside
    x = _states(g, d, precision)
    phase, radius = (_input(g, name, np.ones(POINTS)).cast(precision.inside) for name in ("phase", "radius"))
    heading = _input(g, "heading", np.ones((POINTS, d + 1))).cast(precision.inside).T
    goal = None if field.n_attractors == 1 else _index(g, _input(g, "goal", np.int64(0)))
    own = tables(field.lifted)
    one = Chosen.of(g, own, own, goal, field.lifted)
    s, y, finish, clock = one.enter(xp.concatenate([x, phase[None]], axis=0))
    away = y - one.wells.goals.T
    r = length(away)
    begins = radius < np.finfo(precision.inside).tiny
    radius, heading = xp.where(begins, r, radius), xp.where(begins, away / r, heading)
    aim = heading
    if own.wells.swirls.any():
        known = winding(own.wells.swirls[:, 0])
        aim = wound(Winding(*(g.pick(part, goal) for part in known)), heading, one.wells.window, r, radius)
    ease = eased(clock(s * latent_velocity(one.wells, y)))
    zdot = finish(law(one.wells, y, s, aim, ease))
    # The attractor as it was rounded rests too, once nothing is left of the path.
    gap = xp.abs(x - g.pick(field.attractors.astype(real).astype(np.float64), goal)[:, None]).max(0)
    left = phase - g.pick(np.maximum([one.attractors[0, -1] for one in field.lifted], 0.0), goal)
    tiny = np.finfo(precision.inside).tiny
    zdot = xp.where(xp.logical_and(gap < tiny, left < tiny), 0.0, zdot)
    zdot[:d].T.cast(real).named("velocity")
    zdot[d].cast(real).named("phase_rate")
    heading.T.cast(precision.inside).named("heading_out")
    radius.cast(precision.inside).named("radius_out")
    kept: Ports = {"heading": (precision.inside, ["n", d + 1]), "radius": (precision.inside, ["n"])}
    inputs: Ports = {"x": (real, ["n", d]), "phase": (real, ["n"]), "goal": (np.int64, []), **kept}
    out: Ports = {"velocity": (real, ["n", d]), "phase_rate": (real, ["n"])}
    return _model(g, field, inputs, out | {f"{name}_out": port for name, port in kept.items()})


# --- graphs -------------------------------------------------------------------------------------------

Ports = dict[str, tuple[Any, list[Any]]]
"""Names of inputs or outputs: their type and shape."""


def _input(g: Graph, name: str, example: Any) -> Value:
    return Value(g, name, np.asarray(example))


def _states(g: Graph, d: int, precision: Precision) -> Value:
    """The input "x" (n, d), in columns."""
    return _input(g, "x", np.zeros((POINTS, d))).cast(precision.inside).T


def _index(g: Graph, index: Value) -> Any:
    """`index`, or one that no table has: a negative one would count from the end."""
    return xp.where(index < 0, 2**31, index)


def _model(g: Graph, field: Field, inputs: Ports, outputs: Ports) -> Any:
    from onnx import helper

    given, made = (
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
            for name, (kind, shape) in ports.items()
        ]
        for ports in (inputs, outputs)
    )
    model = helper.make_model(
        helper.make_graph(g.nodes, "eigenwell", given, made, g.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="eigenwell",
        producer_version=__version__,
    )
    helper.set_model_props(model, {"attractors": json.dumps(field.attractors.tolist())})
    return model
