"""The mathematics of a field as ONNX nodes: psi, the mean of the attractors, speed and brake, basins and motions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..fields import Field, StableField
from ..fields.curves import AT_REST, CHUNK, MOST_STEPS
from ..fields.flows import LOG_SCALE_BOUND
from ..fields.motion import RETURN, WIDTH
from ..fields.stable import TINY
from ..fields.warps import World
from .c_text import wind
from .graph import GraphBuilder, Value
from .onnx_world import Back, enter
from .tables import Tables, tables

Jacobian = list[tuple[Value, Value]]
"""Every layer's scale (n, M) and shear (n, M, P)."""


def repeated(one: StableField, times: int) -> StableField:
    """The field of one attractor, written with the same attractor several times over: the same field."""
    model = one.model
    return replace(
        one,
        model=model._replace(
            attractors=np.repeat(model.attractors, times, axis=0),
            log_weights=np.zeros(times),
            swirls=np.repeat(model.swirls, times, axis=0),
            softening=np.repeat(model.softening, times),
        ),
    )


@dataclass(frozen=True)
class Stable:
    """One of some stable fields, chosen by `index` when the graph runs.

    `these` holds flow, speed and frame of each, or of the only one; `wells` the attractors of each.
    """

    graph: GraphBuilder
    these: Tables
    wells: Tables
    index: Value | None
    world: World | None
    seen: list[Back] = field(default_factory=list)
    """The way back into the world of the states that were asked."""

    @classmethod
    def of_map(cls, graph: GraphBuilder, field: Field) -> Stable:
        """The map alone."""
        only = tables([field.map])
        return cls(graph, only, only, None, field.map.model.world)

    @classmethod
    def of_goal(cls, graph: GraphBuilder, field: Field, index: Value) -> Stable:
        """Index 0 is the map, q + 1 the field of attractor q alone."""
        alone = [repeated(field.toward(q), field.n_attractors) for q in range(field.n_attractors)]
        every = tables([field.map, *alone])
        return cls(graph, every if field.goals else tables([field.map]), every, index, field.map.model.world)

    def _own(self, name: str) -> Value:
        return self.graph.pick(getattr(self.these, name), self.index)

    def _well(self, name: str) -> Value:
        return self.graph.pick(getattr(self.wells, name), self.index)

    def unit(self, x: Value) -> Value:
        z, back = enter(self.graph, self.world, x, self._own("knee"))
        self.seen.append(back)
        return (z - self._own("centre")) / self._own("scale")

    def present(self, free: Value) -> Value:
        """A velocity of the learned world as one of this, in unit coordinates."""
        if self.world is None:
            return free
        n, scale = len(self.world.scale), self._own("scale")
        here = free * scale
        moved, clock = self.seen[-1](here.part(0, n))
        return moved.concat(clock * here.part(n, 2**31)) / scale

    def flow(self, z: Value) -> tuple[Value, Jacobian]:
        """y = psi(z), and the Jacobians of its layers. See `fields.flows` for the equations."""
        c, steps = LOG_SCALE_BOUND, []
        t = self.these
        passes, moves = t.frequencies.shape[3], t.cosines.shape[3] // 2
        rows = 2 * moves
        k2 = self.graph.pick(t.window**2, self.index)
        k4 = self.graph.pick(-4 * t.window**4 / passes, self.index)
        # Coordinates are kept in the order the last layer left them: passing, then moved.
        y, at = z, list(range(t.dimension))
        for layer, (passing, moving) in enumerate(t.splits):
            p, q = y.columns([at.index(i) for i in passing]), y.columns([at.index(i) for i in moving])
            w, tc, ts = (a[:, layer] for a in (t.frequencies, t.cosines, t.sines))
            # One product gives sigma, tau and their slopes: d/dp_i = (theta_s cos - theta_c sin) W_i.
            slope_c = (ts[..., None] * w[:, :, None]).reshape(*ts.shape[:2], -1)
            slope_s = (-tc[..., None] * w[:, :, None]).reshape(*ts.shape[:2], -1)
            weights = np.concatenate([np.concatenate([tc, slope_c], -1), np.concatenate([ts, slope_s], -1)], 1)
            half = p @ self.graph.pick(w.transpose(0, 2, 1) / 2, self.index)
            out = features(half) @ self.graph.pick(weights, self.index)
            sigma, tau = out.part(0, moves), out.part(moves, rows)
            slope = out.part(rows, weights.shape[2]).reshape([-1, rows, passes])
            mean = (p * p).call("ReduceMean", axes=[-1], keepdims=1)
            b = 1.0 / (1.0 + (k2 * mean) * (k2 * mean))
            fade = (k4 * b * b * mean * p).unsqueeze(1)
            squashed = (sigma / c).call("Tanh")
            s = c * squashed
            a = 1.0 / (1.0 + k2 * q * q).call("Sqrt")
            sa = b * s * a
            stretch = sa.call("Exp")
            stretched = q * stretch
            slope_of_s = (b * (1.0 - squashed * squashed)).unsqueeze(-1) * slope.part(0, moves, axis=1) + s.unsqueeze(
                -1
            ) * fade
            slope_of_t = b.unsqueeze(-1) * slope.part(moves, rows, axis=1) + tau.unsqueeze(-1) * fade
            steps.append(
                (stretch * (1.0 - sa * (1.0 - a * a)), (stretched * a).unsqueeze(-1) * slope_of_s + slope_of_t)
            )
            y = p.concat(stretched + b * tau)
            at = [*passing, *moving]
        return y.columns([at.index(i) for i in range(len(at))]), steps

    def pull(self, w: Value, steps: Jacobian) -> Value:
        """J^-1 w, by substitution from the last layer to the first."""
        at = list(range(self.these.dimension))
        for (passing, moving), (scale, shear) in zip(reversed(self.these.splits), reversed(steps), strict=True):
            p, q = w.columns([at.index(i) for i in passing]), w.columns([at.index(i) for i in moving])
            w = p.concat((q - (shear * p.unsqueeze(1)).sum(-1, keep=False)) / scale)
            at = [*passing, *moving]
        return w.columns([at.index(i) for i in range(len(at))])

    def shares(self, y: Value) -> tuple[Value, Value, Value]:
        """e (n, d), a_q (n, Q) and r_q^2 (n, Q)."""
        away = y.unsqueeze(1) - self._well("wells")
        square = (away * away).sum(-1, keep=False) + TINY
        # (r_min / r_q)^p, which cannot overflow.
        ratio = square.call("ReduceMin", axes=[-1], keepdims=1) / square
        power = max(self.these.dimension, 2)
        part = self._well("weights")
        for _ in range(power // 2):
            part = ratio * part
        if power % 2:
            part = part * ratio.call("Sqrt")
        a = part / part.sum(-1)
        return (a.unsqueeze(-1) * away).sum(1, keep=False), a, square

    def turned(self, e: Value, a: Value) -> Value:
        """(I + Omega) e."""
        if not self.wells.swirls.any():
            return e
        d, count = self.these.dimension, self.wells.swirls.shape[1]
        swirls = self.graph.pick(self.wells.swirls.reshape(-1, count, d * d), self.index)
        return e + ((a @ swirls).reshape([-1, d, d]) @ e.unsqueeze(-1)).call("Squeeze", self.graph.constant([-1]))

    def softening(self, a: Value) -> Value:
        return (a * self._well("softening")).sum(-1)

    def speed(self, z: Value) -> Value:
        """s > 0, (n, 1)."""
        t, g = self.these, self.graph
        weights = np.concatenate([t.speed_cosines, t.speed_sines], -1)[..., None]
        half = z @ g.pick(t.speed_frequencies.transpose(0, 2, 1) / 2, self.index)
        mean = g.pick(t.speed_window**2, self.index) * (z * z).call("ReduceMean", axes=[-1], keepdims=1)
        wiggle = features(half) @ g.pick(weights, self.index)
        return (wiggle / (1.0 + mean * mean) + self._own("speed_offset")).call("Exp")

    def limited(self, free: Value) -> Value:
        """m free in the data's units, m = (1 + r^8)^(-1/8), r = |brake * free|, written in the smaller of r and 1/r."""
        free = self.present(free)
        share = free * self._own("brake")
        r = (share * share).sum(-1).call("Sqrt")
        top = r.call("Max", self.graph.number(1.0))
        low = r / top / top
        for _ in range(3):
            low = low * low
        root = 1.0 + low
        for _ in range(3):
            root = root.call("Sqrt")
        return free / (top * root) * self._own("gain")

    def velocity(self, z: Value, y: Value, steps: Jacobian) -> Value:
        e, a, _ = self.shares(y)
        norm = ((e * e).sum(-1) + TINY).call("Sqrt")
        u = -(self.speed(z) * self.turned(e, a) / (norm + self.softening(a)))
        return self.limited(self.pull(u, steps))

    def potential(self, y: Value) -> Value:
        """V, (n,): half the squared power mean of the distances."""
        weights = self.wells.weights / self.wells.weights.sum(1, keepdims=True)
        log_square = self.shares(y)[2].call("Log")
        order = 2 - max(self.these.dimension, 2)
        if order == 0:
            log_mean = (log_square * self.graph.pick(weights, self.index)).sum(-1, keep=False)
            return 0.5 * log_mean.call("Exp")
        logits = (order / 2) * log_square + self.graph.pick(np.log(weights), self.index)
        top = logits.call("ReduceMax", axes=[-1], keepdims=1)
        total = (logits - top).call("Exp").sum(-1)
        return 0.5 * ((2 / order) * (top + total.call("Log"))).call("Exp").call("Squeeze", self.graph.constant([-1]))

    def at_rest(self, x: Value, outside: type) -> Value:
        """True at an attractor as rounded to `outside`, (n, 1)."""
        rounded = self.graph.pick(self.wells.attractors.astype(outside).astype(np.float64), self.index)
        gap = (x.unsqueeze(1) - rounded).call("Abs").call("ReduceMax", axes=[-1], keepdims=0)
        return gap.call("ReduceMin", axes=[-1], keepdims=1).call("LessOrEqual", self.graph.number(0.0))

    def fate(self, y: Value, real: int) -> Value:
        """The attractor in which each latent state ends, (n,): Runge-Kutta 4 until all are decided, see `curves.fate`."""
        from onnx import TensorProto

        body = self.graph.inner()
        inside = replace(self, graph=body)
        y0, ends0 = Value(body, "in0"), Value(body, "in1")
        delta, turn = float(self.wells.longest[0]), float(self.wells.turn[0])

        def slope(at: Value) -> Value:
            e, a, _ = inside.shares(at)
            return inside.turned(e, a)

        e, a, square = inside.shares(y0)
        nearest = square.call("ArgMin", axis=1, keepdims=0)
        own = square.call("ReduceMin", axes=[1], keepdims=0).call("Sqrt")
        mine = nearest.unsqueeze(-1).call("Equal", body.constant(np.arange(self.wells.wells.shape[1])))
        others = mine.call("Where", body.number(0.0), a * square.call("Sqrt")).sum(-1, keep=False)
        decided = (turn * others).call("Less", 0.5 * own + AT_REST)
        undecided = ends0.call("Less", body.constant(0))
        ends = undecided.call("And", decided).call("Where", nearest, ends0)
        moving = (e * e).sum(-1, keep=False).call("Sqrt").call("GreaterOrEqual", body.number(AT_REST))
        going = ends.call("Less", body.constant(0)).call("And", moving)
        again = going.call("Cast", to=TensorProto.INT64).call("ReduceMax", keepdims=0).call("Cast", to=TensorProto.BOOL)
        first = inside.turned(e, a)
        second = slope(y0 - (delta / 2) * first)
        third = slope(y0 - (delta / 2) * second)
        last = slope(y0 - delta * third)
        moved = y0 - (delta / 6) * (first + 2.0 * second + 2.0 * third + last)
        # -1 for every row; whole numbers throughout, since NaN has no place among them.
        begin = y.call("ArgMin", axis=1, keepdims=0) * 0 - 1
        most = MOST_STEPS // CHUNK * (CHUNK // 4)
        kinds = [real, TensorProto.INT64]
        return self.graph.loop(most, [y, begin], body, [moved, ends], again, kinds)[1]


def features(half: Value) -> Value:
    """[cos, sin] of twice the half-angles."""
    sine = half.call("Sin")
    return (1.0 - 2.0 * sine * sine).concat((2.0 * half).call("Sin"))


def motion(
    g: GraphBuilder, field: Field, goal: Value | None, z: Value, heading: Value, radius: Value
) -> tuple[Value, Value, Value]:
    """zdot (n, d + 1) in the data's units, and the heading and radius (n, 1) that the motion keeps. See `fields.motion`.

    A radius of 0 says that the motion begins here.
    """
    own = tables(field.lifted)
    one = Stable(g, own, own, goal, field.map.model.world)
    unit = one.unit(z)
    latent, steps = one.flow(unit)
    y = latent - g.pick(own.wells[:, 0], goal)
    r = ((y * y).sum(-1) + TINY).call("Sqrt")
    begins = radius.call("LessOrEqual", g.number(0.0))
    radius = begins.call("Where", r, radius)
    heading = begins.call("Where", y / r, heading)
    aim = heading
    if own.swirls.any():
        aim = _wound(g, field, goal, heading, (r / radius).call("Log"))
    tau = r * aim - (aim * y).sum(-1) / r * y
    wait = 1.0 / (1.0 + (tau * tau).sum(-1) / WIDTH**2)
    turned = y if not own.swirls.any() else y + y @ g.pick(own.swirls[:, 0].transpose(0, 2, 1), goal)
    u = -(wait * one.speed(unit) * turned / (r + g.pick(own.softening, goal))) + RETURN * tau
    return one.limited(one.pull(u, steps)), heading, radius


def _wound(g: GraphBuilder, field: Field, goal: Value | None, heading: Value, log_ratio: Value) -> Value:
    """exp(Omega ln(r / r0)) heading, by the eigenvectors of i Omega."""
    values, vectors = wind(field)
    angle = log_ratio * g.pick(values, goal)
    cosine, sine = 1.0 - 2.0 * (0.5 * angle).call("Sin") * (0.5 * angle).call("Sin"), angle.call("Sin")
    re, im = heading @ g.pick(vectors.real, goal), -(heading @ g.pick(vectors.imag, goal))
    back_re, back_im = (g.pick(part.transpose(0, 2, 1), goal) for part in (vectors.real, vectors.imag))
    return (re * cosine + im * sine) @ back_re - (im * cosine - re * sine) @ back_im


def nearest(field: Field, x: Value, phases: Any = None, late: float = 0.0) -> tuple[Value, Value]:
    """Index of the nearest sample, axes scaled to the box, and the square of its distance: |z|^2 - 2 z s + |s|^2.

    With phases, each sample is farther away by what it is late.
    """
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    samples = (field.samples - middle) / field.box
    z = (enter(x.graph, field.map.model.world, x)[0] - middle) / field.box
    beside = (samples**2).sum(1) + (0 if phases is None else (late * (1 - phases)) ** 2)
    rest = beside + z @ (-2 * samples.T)
    index = rest.call("ArgMin", axis=1, keepdims=0)
    return index, rest.call("ReduceMin", axes=[1], keepdims=0) + (z * z).sum(-1, keep=False)
