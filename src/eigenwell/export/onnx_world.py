"""What a field is seen through, as ONNX nodes; the equations are those of `fields.warps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..fields.warps import BACK, KNEE, Stretch, Within, World
from ..fields.warps_around import CENTRE, SKIN, SLOW, UNION, Around
from ..fields.warps_moved import Moved
from .graph import GraphBuilder, Value

Back = Callable[[Value], tuple[Value, Value]]
"""c DS^-1 v (n, N) and c (n, 1) of a velocity."""
Brake = Callable[[Value], tuple[Value, Value]]
"""Of a velocity: the share of it that is safe, and what takes a state back from the wrong side."""
FAR = 1e30
"""Stands for walls that are not there: infinity less infinity is no number."""


def enter(g: GraphBuilder, world: World | None, x: Value, knee: Value | None = None) -> tuple[Value, Back]:
    """S(x), and the way back of velocities; coordinates beyond the first N pass.

    What keeps the field home, its innermost warp, is left out without the knee of the field that is asked.
    """
    if world is None:
        return x, lambda v: (v, g.number(1.0))
    n, backs, brakes = len(world.scale), [], []
    rest = x
    x = x.part(0, n)
    for one in world.warps:
        if isinstance(one, Stretch):
            if knee is None:
                continue
            x, back, brake = _walls(g, one, knee, x, hard=False)
        else:
            x, back, brake = _through(g, one, x)
        backs.append(back)
        brakes += [] if brake is None else [brake]

    def leave(v: Value) -> tuple[Value, Value]:
        clock = g.number(1.0)
        for back in reversed(backs):
            v, c = back(v)
            clock = clock * c
        braked = [brake(v) for brake in brakes]
        if braked:
            slow = g.number(1.0).call("Min", *(share for share, _ in braked))
            v, clock = (v * slow).call("Sum", *(more for _, more in braked)), clock * slow
        return v, clock

    return x.concat(rest.part(n, 2**31)), leave


def _through(g: GraphBuilder, one: Any, x: Value) -> tuple[Value, Back, Brake | None]:
    if isinstance(one, Within):
        return _walls(g, one.stretch, g.number(KNEE), x, hard=True)
    return _round(g, one, x) if isinstance(one, Around) else _landmarks(g, one, x)


def _norm(v: Value) -> Value:
    return (v * v).sum(-1).call("Sqrt")


def _least(g: GraphBuilder) -> Value:
    return g.number(float(np.finfo(g.real).tiny))


def _limit(v: Value, low: float, high: float) -> Value:
    return v.call("Max", v.graph.number(low)).call("Min", v.graph.number(high))


def _walls(g: GraphBuilder, one: Stretch, knee: Value, x: Value, *, hard: bool) -> tuple[Value, Back, Brake | None]:
    low, high = (np.nan_to_num(wall, posinf=FAR, neginf=-FAR) for wall in (one.low, one.high))
    below, above = one.margin
    zero, h = g.number(0.0), 1.0 - knee
    under = ((x - (low + below)) / -below).call("Max", zero)
    over = ((x - (high - above)) / above).call("Max", zero)

    def excess(u: Value) -> Value:
        inner = u.call("Min", knee)
        return inner / (1.0 - inner) - inner + (1.0 / (h * h) - 1.0) * (u - inner) * share(u)

    def share(u: Value) -> Value:
        return h / (h + (u - u.call("Min", knee)))

    used = under.call("Max", over)
    left, fall = 1.0 - used.call("Min", knee), share(used)
    shrink = 1.0 / (1.0 + (1.0 / (left * left) - 1.0) * fall * fall)

    def back(v: Value) -> tuple[Value, Value]:
        speed = _norm(v)
        w = v * shrink
        c = (speed + _least(g)) / (_norm(w) + _least(g))
        return w * c, c

    def brake(w: Value) -> tuple[Value, Value]:
        speed = _norm(w)
        ahead = w.call("Greater", zero).call("Where", over, under)
        room = (1.0 - ahead).call("Max", g.number(1 - KNEE))
        share = (room * speed / (w.call("Abs") + _least(g))).call("Min", g.number(1.0))
        slower = share.call("ReduceMin", axes=[-1], keepdims=1)
        out = (under - 1.0).call("Max", zero) - (over - 1.0).call("Max", zero)
        return slower, speed * _limit(out / BACK, -1.0, 1.0)

    return x - below * excess(under) + above * excess(over), back, brake if hard else None


def _gauge(g: GraphBuilder, one: Around, away: Value) -> tuple[Value, Value]:
    """tau (n, 1) and its gradient (n, N)."""
    taus, slopes = [], []
    for centre, shape in zip(one.centres, one.shapes, strict=True):
        b = shape @ (one.centre - centre)
        k = float(1 - b @ b)
        y = away @ shape.T
        along = (y * b).sum(-1)
        root = (along * along + k * (y * y).sum(-1)).call("Sqrt")
        tau = (along + root) / k
        taus.append(tau)
        slopes.append(((tau * b + y) / root) @ shape)
    if len(taus) == 1:
        return taus[0], slopes[0]
    least = taus[0].call("Min", *taus[1:])
    sums = [(least / tau).call("Pow", g.number(UNION)) for tau in taus]
    tau = least * sums[0].call("Sum", *sums[1:]).call("Pow", g.number(-1 / UNION))
    parts = [(tau / own).call("Pow", g.number(UNION + 1)) * slope for own, slope in zip(taus, slopes, strict=True)]
    return tau, parts[0].call("Sum", *parts[1:])


def _round(g: GraphBuilder, one: Around, x: Value) -> tuple[Value, Back, Brake | None]:
    kappa, d = float(one.reach), len(one.centre)
    away = x - one.centre
    off = (away * away).sum(-1).call("Greater", g.number(0.0))
    away = off.call("Where", away, g.constant(CENTRE * np.eye(1, d)))
    tau, slope = _gauge(g, one, away)
    inside, outer = tau / (1 + SKIN), tau.call("Max", g.number(1 + SKIN))
    away = away * (outer / tau)
    near = tau.call("Less", g.number(kappa))
    t = ((outer - 1.0) / (kappa - 1)).call("Min", g.number(1.0))
    phi = t * ((kappa + 1) - t) / outer
    rise = ((kappa + 1) - 2.0 * t) / (kappa - 1)
    bend = (rise - phi) / outer / rise

    def back(v: Value) -> tuple[Value, Value]:
        speed = _norm(v)
        w = (v - bend * (slope * v).sum(-1) * away) / phi
        c = (speed + _least(g)) / (_norm(w) + _least(g))
        return near.call("Where", w * c, v), near.call("Where", c, g.number(1.0))

    def brake(w: Value) -> tuple[Value, Value]:
        speed = _norm(w)
        towards = (-((slope * w).sum(-1))).call("Max", g.number(0.0))
        limit = speed * _norm(slope) * (outer - 1.0) / (SLOW - 1)
        out = speed / _norm(away) * _limit((1.0 - inside) / BACK, 0.0, 1.0)
        return (limit / (towards + _least(g))).call("Min", g.number(1.0)), out * away

    return near.call("Where", one.centre + phi * away, x), back, brake


def _landmarks(g: GraphBuilder, one: Moved, x: Value) -> tuple[Value, Back, Brake | None]:
    d = len(one.shift)
    y = x @ one.matrix.T + one.shift
    steps: list[Value] = []
    for path, force in zip(one.path, one.force, strict=True):
        off = (y.unsqueeze(1) - path) / one.length
        k = (-0.5 * (off * off).sum(-1, keep=False)).call("Exp")
        fall = k.unsqueeze(-1) * off / one.length
        steps.append(g.constant(np.eye(d)) - g.constant(force.T[None]) @ fall)
        y = y + k @ force
    undo = np.linalg.inv(one.matrix).T

    def back(v: Value) -> tuple[Value, Value]:
        for step in reversed(steps):
            v = _solved(step, v, d)
        return v @ undo, g.number(1.0)

    return y, back, None


def _solved(matrix: Value, v: Value, d: int) -> Value:
    """A^-1 v for A = I + E, |E| <= 1/2, by elimination without pivots, which such matrices do not need."""
    flat, last = matrix.reshape([-1, d * d]), v
    a = [[flat.columns([i * d + j]) for j in range(d)] for i in range(d)]
    b = [last.columns([i]) for i in range(d)]
    for k in range(d):
        for i in range(k + 1, d):
            share = a[i][k] / a[k][k]
            for j in range(k + 1, d):
                a[i][j] = a[i][j] - share * a[k][j]
            b[i] = b[i] - share * b[k]
    for k in reversed(range(d)):
        for j in range(k + 1, d):
            b[k] = b[k] - a[k][j] * b[j]
        b[k] = b[k] / a[k][k]
    return b[0].call("Concat", *b[1:], axis=-1)
