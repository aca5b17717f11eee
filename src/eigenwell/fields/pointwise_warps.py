"""Warps of one planar state at a time, in plain numbers: the inner loop of a controller, as in `pointwise`.

The same numbers as `warps`, `warps_around` and `warps_moved` to rounding; `tests/test_warps.py` compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, hypot, sqrt
from typing import Any

from .warps import BACK, KNEE, TINY, Stretch, Within, World
from .warps_around import CENTRE, SKIN, SLOW, UNION, Around
from .warps_moved import Moved

Back = Callable[[float, float], tuple[float, float, float]]
"""c DS^-1 v and c of a velocity."""
Brake = Callable[[float, float, float], tuple[float, float, float]]
"""Of a velocity and its size: the share of it that is safe, and what takes a state back from the wrong side."""
Through = Callable[[float, float], tuple[float, float, Back]]
Part = Callable[[float, float], tuple[float, float, Back, Brake | None]]
"""S of a state, its Back, and its Brake."""


def planar_world(world: World | None) -> Through | None:
    """Through the whole world, in unit coordinates; None for none, and for goals that move, which batches do."""
    if world is None or world.later or len(world.scale) != 2:
        return None
    parts = [_compiled(one) for one in world.warps]
    (centre_a, centre_b), (scale_a, scale_b) = world.centre.tolist(), world.scale.tolist()

    def through(a: float, b: float) -> tuple[float, float, Back]:
        x, y = a * scale_a + centre_a, b * scale_b + centre_b
        backs, brakes = [], []
        for part in parts:
            x, y, back, brake = part(x, y)
            backs.append(back)
            if brake is not None:
                brakes.append(brake)

        def carry(v: float, w: float) -> tuple[float, float, float]:
            v, w, clock = v * scale_a, w * scale_b, 1.0
            for back in reversed(backs):
                v, w, c = back(v, w)
                clock *= c
            if brakes:
                speed, slow, back_v, back_w = hypot(v, w), 1.0, 0.0, 0.0
                for brake in brakes:
                    share, more_v, more_w = brake(v, w, speed)
                    slow, back_v, back_w = min(slow, share), back_v + more_v, back_w + more_w
                v, w, clock = v * slow + back_v, w * slow + back_w, clock * slow
            return v / scale_a, w / scale_b, clock

        return (x - centre_a) / scale_a, (y - centre_b) / scale_b, carry

    return through


def _compiled(one: Any) -> Part:
    if isinstance(one, Within):
        return _walls(one.stretch, hard=True)
    if isinstance(one, Stretch):
        return _walls(one, hard=False)
    return _round(one) if isinstance(one, Around) else _landmarks(one)


def _unchanged(v: float, w: float) -> tuple[float, float, float]:
    return v, w, 1.0


def _walls(one: Stretch, hard: bool) -> Part:
    (low_a, low_b), (high_a, high_b) = one.low.tolist(), one.high.tolist()
    (below_a, below_b), (above_a, above_b) = one.margin.tolist()
    knee = float(one.knee)
    h = 1.0 - knee
    steep = h**-2 - 1.0

    def bent(x: float, low: float, high: float, below: float, above: float) -> tuple[float, float, float, float]:
        """S, S', and the shares of both margins that are used."""
        under, over = max((low + below - x) / below, 0.0), max((x - high + above) / above, 0.0)
        u = max(under, over)
        if u == 0.0:
            return x, 1.0, 0.0, 0.0
        inner = min(u, knee)
        share = h / (h + u - inner)
        excess = inner / (1.0 - inner) - inner + steep * (u - inner) * share
        slope = 1.0 + ((1.0 - inner) ** -2 - 1.0) * share * share
        return (x - below * excess if under > 0 else x + above * excess), slope, under, over

    def through(x: float, y: float) -> tuple[float, float, Back, Brake | None]:
        x, slope_x, under_x, over_x = bent(x, low_a, high_a, below_a, above_a)
        y, slope_y, under_y, over_y = bent(y, low_b, high_b, below_b, above_b)
        if slope_x == slope_y == 1.0:
            return x, y, _unchanged, None

        def back(v: float, w: float) -> tuple[float, float, float]:
            speed = hypot(v, w)
            v, w = v / slope_x, w / slope_y
            c = (speed + TINY) / (hypot(v, w) + TINY)
            return v * c, w * c, c

        def brake(v: float, w: float, speed: float) -> tuple[float, float, float]:
            left_x = max(1.0 - (over_x if v > 0 else under_x), 1.0 - KNEE)
            left_y = max(1.0 - (over_y if w > 0 else under_y), 1.0 - KNEE)
            slower = min(left_x * speed / (abs(v) + TINY), left_y * speed / (abs(w) + TINY), 1.0)
            out_x = max(under_x - 1.0, 0.0) - max(over_x - 1.0, 0.0)
            out_y = max(under_y - 1.0, 0.0) - max(over_y - 1.0, 0.0)
            back_x, back_y = (speed * min(max(out / BACK, -1.0), 1.0) for out in (out_x, out_y))
            return slower, back_x, back_y

        return x, y, back, brake if hard else None

    return through


def _round(one: Around) -> Part:
    c_x, c_y = one.centre.tolist()
    kappa = float(one.reach)
    offsets = (one.shapes @ (one.centre - one.centres)[:, :, None])[:, :, 0].tolist()
    bodies: Sequence[Any] = list(zip(one.shapes.reshape(-1, 4).tolist(), offsets, strict=True))

    def gauge(p: float, q: float) -> tuple[float, float, float]:
        """tau and its gradient."""
        found = []
        for (a, b, c, d), (b_x, b_y) in bodies:
            y_x, y_y = a * p + b * q, c * p + d * q
            k = 1.0 - b_x * b_x - b_y * b_y
            along = b_x * y_x + b_y * y_y
            root = sqrt(along * along + k * (y_x * y_x + y_y * y_y) + TINY)
            tau = (along + root) / k
            g_x, g_y = (tau * b_x + y_x) / root, (tau * b_y + y_y) / root
            found.append((tau, a * g_x + c * g_y, b * g_x + d * g_y))
        if len(found) == 1:
            return found[0]
        least = min(found)[0]
        tau = least * sum((least / own) ** UNION for own, _, _ in found) ** (-1 / UNION)
        shares = [(tau / own) ** (UNION + 1) for own, _, _ in found]
        return (
            tau,
            sum(share * g for share, (_, g, _) in zip(shares, found, strict=True)),
            sum(share * g for share, (_, _, g) in zip(shares, found, strict=True)),
        )

    def through(x: float, y: float) -> tuple[float, float, Back, Brake | None]:
        p, q = x - c_x, y - c_y
        if p == 0.0 and q == 0.0:
            p = CENTRE
        tau, g_x, g_y = gauge(p, q)
        if tau >= kappa and tau >= SLOW:
            return x, y, _unchanged, None
        inside, outer = tau / (1.0 + SKIN), max(tau, 1.0 + SKIN)
        p, q = p * outer / tau, q * outer / tau

        def brake(v: float, w: float, speed: float) -> tuple[float, float, float]:
            towards = max(-(g_x * v + g_y * w), 0.0)
            slower = min(speed * hypot(g_x, g_y) * (outer - 1.0) / (SLOW - 1.0) / (towards + TINY), 1.0)
            out = speed / hypot(p, q) * min(max((1.0 - inside) / BACK, 0.0), 1.0)
            return slower, out * p, out * q

        if tau >= kappa:
            return x, y, _unchanged, brake
        t = (outer - 1.0) / (kappa - 1.0)
        phi = t * (kappa + 1.0 - t) / outer
        rise = (kappa + 1.0 - 2.0 * t) / (kappa - 1.0)
        bend = (rise - phi) / outer / rise

        def back(v: float, w: float) -> tuple[float, float, float]:
            speed = hypot(v, w)
            along = bend * (g_x * v + g_y * w)
            v, w = (v - along * p) / phi, (w - along * q) / phi
            c = (speed + TINY) / (hypot(v, w) + TINY)
            return v * c, w * c, c

        return c_x + phi * p, c_y + phi * q, back, brake

    return through


def _landmarks(one: Moved) -> Part:
    (m_a, m_b), (m_c, m_d) = one.matrix.tolist()
    shift_x, shift_y = one.shift.tolist()
    l_x, l_y = one.length.tolist()
    steps = [
        list(zip(path.tolist(), force.tolist(), strict=True)) for path, force in zip(one.path, one.force, strict=True)
    ]

    def through(x: float, y: float) -> tuple[float, float, Back, Brake | None]:
        x, y = m_a * x + m_b * y + shift_x, m_c * x + m_d * y + shift_y
        a, b, c, d = m_a, m_b, m_c, m_d
        for landmarks in steps:
            to_x, to_y, s_a, s_b, s_c, s_d = x, y, 1.0, 0.0, 0.0, 1.0
            for (q_x, q_y), (f_x, f_y) in landmarks:
                away_x, away_y = (x - q_x) / l_x, (y - q_y) / l_y
                k = exp(-0.5 * (away_x * away_x + away_y * away_y))
                fall_x, fall_y = k * away_x / l_x, k * away_y / l_y
                to_x += k * f_x
                to_y += k * f_y
                s_a -= f_x * fall_x
                s_b -= f_x * fall_y
                s_c -= f_y * fall_x
                s_d -= f_y * fall_y
            x, y = to_x, to_y
            a, b, c, d = s_a * a + s_b * c, s_a * b + s_b * d, s_c * a + s_d * c, s_c * b + s_d * d
        whole = a * d - b * c

        def back(v: float, w: float) -> tuple[float, float, float]:
            return (d * v - b * w) / whole, (a * w - c * v) / whole, 1.0

        return x, y, back, None

    return through
