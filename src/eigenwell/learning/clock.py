"""When a field is where: its clock, fitted to when the demonstrations were where they were.

The factor s > 0 of a field changes neither its ways nor its proof: with any s a roll-out takes the same way, earlier or later.
So it is found after the ways, by what is asked of it. A roll-out comes to places x_n, even in length, at the times t_n;
where log s becomes larger by delta it is there at

    T_n = sum_(m <= n) (t_m - t_(m-1)) exp(-delta(x_m)),

and the demonstration from the same start, at the same share of its own way to the goal, was there at t'_n. To first order
the mean squared error in time of the roll-outs is the mean over the demonstrations and their time of

    v_n^2 (T_n - t'_n)^2,

v_n the speed of the demonstrations there. It is least for the mean of the times at which those that differ came by. The
velocities alone say another clock, the mean speed at each place: its errors add up along the way, and it knows nothing of
ways that are shorter than those shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from .._types import FloatArray
from ..fields import StableField
from ..fields.flows import fourier_features, window
from .following import TOGETHER, even, rolled
from .targets import BESIDE, FINE, Bundle, arc_to_go, travel_times

Matched = tuple[FloatArray, FloatArray, FloatArray, float]
"""Places of a roll-out, when it is there, when its demonstration was, and the duration of those to this goal on average."""


def on_time(field: StableField, group: Sequence[Bundle], *, count: int, haste: float) -> StableField:
    """The field with the clock that `group` was shown with, by about `count` places on its ways.

    What the velocities say is corrected by as little as that takes: errors in FINE boxes are weighed against changes of the
    weights. On its way it gets ahead, at the goal by the share `haste` of the time it took: where demonstrations last longer or
    shorter, a roll-out that lags misses its goal, one that leads waits there.
    """
    total = sum(len(bundle.x) for bundle in group)
    matched = [each for bundle in group for each in _matched(field, bundle, count // total)]
    if not matched:
        return field
    places, mine, shown, usual = (np.stack(column) for column in zip(*matched, strict=True))
    speed = field.model.speed
    middle = (0.5 * (places[:, 1:] + places[:, :-1])).reshape(-1, field.dimension).T
    phi = (window(speed.window, middle) * fourier_features(speed.frequencies, middle)).T
    rows = np.column_stack([phi, np.ones(len(phi))]).reshape(len(places), -1, len(phi.T) + 1)
    spans, steps = np.diff(mine), np.diff(shown)
    share = np.linspace(0, 1, places.shape[1])[1:]
    wanted = shown[:, 1:] * (1 - haste * share)
    length = np.linalg.norm(np.diff(places, axis=1), axis=2)
    # v times the root of the share of all time; v as if the demonstration had lasted as long as others to its goal.
    weight = length / usual[:, None] * np.sqrt(shown[:, -1:] / (steps * len(places)))
    known = np.append(speed.weights, speed.offset)
    ridge = FINE * np.eye(len(known))[:-1]

    def taken(clock: FloatArray) -> FloatArray:
        return np.asarray(spans * np.exp(rows @ (known - clock)))

    def errors(clock: FloatArray) -> FloatArray:
        late = np.cumsum(taken(clock), axis=1) - wanted
        return np.concatenate([(weight * late).ravel(), ridge @ (clock - known)])

    def slopes(clock: FloatArray) -> FloatArray:
        late = -np.cumsum(taken(clock)[..., None] * rows, axis=1)
        return np.concatenate([(weight[..., None] * late).reshape(-1, len(clock)), ridge])

    clock = least_squares(errors, known, slopes, method="lm").x
    speed = speed._replace(weights=clock[:-1], offset=np.asarray(clock[-1]))
    return replace(field, model=field.model._replace(speed=speed))


def _matched(field: StableField, bundle: Bundle, count: int) -> list[Matched]:
    """Of every demonstration whose roll-out ends at its goal and is beside it all the way: one of another way says no clock."""
    times = [travel_times(x, v) for x, v in zip(bundle.x, bundle.v, strict=True)]
    usual = float(np.mean([time[-1] for time in times]))
    near = np.linalg.norm(field.to_unit(field.attractors) - bundle.attractor, axis=1).argmin()
    matched = []
    for k in range(0, len(times), TOGETHER):
        some, mine = bundle.x[k : k + TOGETHER], times[k : k + TOGETHER]
        longest = max(time[-1] for time in mine) / field.pace
        ways = rolled(field, field.from_unit(np.array([x[0] for x in some])), [longest] * len(some))
        for x, time, asked, way in zip(some, mine, *ways, strict=True):
            if np.linalg.norm(field.attractors - way[-1], axis=1).argmin() != near:
                continue
            # A path that was cut off before its goal says nothing of the rest.
            rest = arc_to_go(x, bundle.attractor)
            places, passed = even(field.to_unit(way), asked * field.pace, count, 1 - rest[-1] / rest[0])
            there, shown = even(x, time, count)
            if ((places - there) ** 2).sum(1).mean() < BESIDE**2:
                matched.append((places, passed, shown, usual))
    return matched
