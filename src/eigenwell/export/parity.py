"""Does an exported field say what the library says? Asked at export, on states in and around the data, and in loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..fields import REACH, Around, Field, Motion
from ..fields.curves import ON_TIME
from ..fields.learned import LATE
from ..fields.loops import Loop, run_loops
from .exported import Answers, Parity, ParityError, Precision, Steps

STATES = 10_000
MOTIONS = 500
"""Motions compared, two steps each; NumPy takes them one at a time, and so fewer have to do."""
ADVANCED = 100
"""States advanced in C and in NumPy; motions of each goal are a quarter as many."""
PARTED = 10.0
"""What rounding may grow to, times over, along a solution that crosses the box: neighbours part before they meet."""
LOOPS = 100
"""Starts in the box of the data from which loops on the export must arrive where its `basin` said."""
CROSSING = 200
"""Steps in which such a loop would cross the box at the speed limit."""
CLEAR = 1.05
"""Sizes of what is gone round, from its centre, within which the export is not asked: next to a surface the direction hangs
on the distance from it, and rounding counts a million times."""
MOST_TIES = 1e-3
"""Share of states that may lie on a border between basins, to rounding, and be given to the other side."""


def prove(field: Field, exported: Any, path: Path, precision: Precision) -> Parity:
    """Compare an export, `c_header.Compiled` or `onnx.Sessions`, with the library in everything it says; or a ParityError."""
    x = parity_states(field, precision)
    error, ties = compare(field, x, exported.answers(x), precision)
    error = max(error, compare_toward(field, x, exported, precision))
    if field.has_memory:
        more, moved = compare_motions(field, x, exported, precision)
        error, ties = max(error, more), ties + moved
    return Parity(
        path,
        True,
        len(x),
        error,
        precision.tolerance,
        ties,
        exported.latency(x[:1000], motions=False),
        loop=_loops(field, exported),
        motion_us=exported.latency(x[:1000], motions=True) if field.has_memory else math.nan,
    )


def parity_states(field: Field, precision: Precision, seed: int = 0) -> FloatArray:
    """10,000 states: along the data, in twice their box, and ever closer to the attractors.

    They are rounded to what the export is asked in, so that both sides are asked the same, and in random order.
    """
    rng = np.random.default_rng(seed)
    along, around = int(0.4 * STATES), int(0.4 * STATES)
    near = STATES - along - around
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    states = np.concatenate(
        [
            field.samples[rng.integers(len(field.samples), size=along)]
            + 0.03 * field.box * rng.standard_normal((along, field.dimension)),
            middle + field.box * rng.uniform(-1, 1, (around, field.dimension)),
            field.attractors[rng.integers(field.n_attractors, size=near)]
            + field.box * 10.0 ** rng.uniform(-6, -1, (near, 1)) * rng.standard_normal((near, field.dimension)),
        ]
    )
    return _rounded(rng.permutation(_clear(field, states)), precision)


def _clear(field: Field, states: FloatArray) -> FloatArray:
    """Those on or in what is gone round, moved out of it."""
    states = states.copy()
    for one in field.warps:
        if isinstance(one, Around):
            n = len(one.centre)
            away = states[:, :n] - one.centre
            states[:, :n] = one.centre + np.maximum(CLEAR / one.gauge(away.T)[0], 1.0)[:, None] * away
    return states


_REPORT = "Nothing was written. Please report this model."


def compare(field: Field, x: FloatArray, said: Answers, precision: Precision) -> tuple[float, int]:
    """The map: the largest relative error, and how many states rounding moved across a border; or a ParityError."""
    if ((said.basin < -1) | (said.basin >= field.n_attractors)).any():
        raise ParityError(f"Expected basins 0 to {field.n_attractors - 1} from the export, got others. " + _REPORT)
    ties = _ties(field, x, said, precision)
    worst = _agreement(field.map, field, x, said.velocity, said.potential, precision)
    return worst, ties


def compare_toward(field: Field, x: FloatArray, exported: Any, precision: Precision) -> float:
    """The fields of one attractor each, every state asked of one of them."""
    worst = 0.0
    for q in range(field.n_attractors):
        mine = x[q :: field.n_attractors]
        velocity, potential = exported.toward(q, mine)
        worst = max(worst, _agreement(field.toward(q), field, mine, velocity, potential, precision))
    return worst


def _agreement(
    one: Any, field: Field, x: FloatArray, velocity: FloatArray, potential: FloatArray, precision: Precision
) -> float:
    """The largest error of a stable field's velocity and potential."""
    if not (np.isfinite(velocity).all() and np.isfinite(potential).all()):
        raise ParityError("Expected finite velocities and potentials from the export, got NaN or infinity. " + _REPORT)
    expected, height = one.predict(x), one.potential(x)
    resting = _resting(one, x, precision)
    expected[resting], height[resting] = 0.0, 0.0
    errors = (
        # What the samples get says how large these numbers are for this field.
        _error(velocity / field.box, expected / field.box, one.predict(field.samples) / field.box),
        _error(potential[:, None], height[:, None], one.potential(field.samples)[:, None]),
    )
    return _within(max(errors), len(x), precision)


def _resting(one: Any, x: FloatArray, precision: Precision) -> BoolArray:
    """Attractors as the export rounds them rest there by definition, as the true ones do in NumPy."""
    return np.asarray((x[:, None] == one.attractors.astype(precision.outside)).all(2).any(1))


def _within(worst: float, states: int, precision: Precision) -> float:
    if not worst <= precision.tolerance:
        raise ParityError(
            f"Expected an export that agrees with NumPy to {precision.tolerance:g}, got an error of {worst:.2g} over "
            f"{states} states: this field amplifies rounding. Nothing was written. Calculate in double (FLOAT does, SINGLE "
            "does not), ask less (Precision(..., tolerance=...)), or learn with more decay."
        )
    return worst


def _error(got: FloatArray, expected: FloatArray, typical: FloatArray) -> float:
    largest = np.linalg.norm(typical, axis=1).max()
    size = np.maximum(np.linalg.norm(expected, axis=1), largest)
    return float((np.linalg.norm(got - expected, axis=1) / size).max())


def _ties(field: Field, x: FloatArray, said: Answers, precision: Precision) -> int:
    """States whose basin or far flag differs; each must lie on the border, to rounding."""
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    size = 1 + (((x - middle) / field.box) ** 2).sum(1)
    moved = np.flatnonzero(said.basin != field.basin(x))
    flagged = said.far != field.far(x)
    there = field.map.learned_place(x[flagged])
    distance = np.asarray(cKDTree(field.samples / field.box).query(there / field.box)[0]) ** 2
    wrong = list(x[flagged][np.abs(distance - REACH**2) > precision.tie * size[flagged]])
    # A state on a border has both basins around it, as near as the export can tell states apart.
    around = np.random.default_rng(0).standard_normal((32, field.dimension)) * field.box
    for i in moved[: int(MOST_TIES * len(x)) + 1]:
        if said.basin[i] >= 0 and said.basin[i] not in field.basin(x[i] + precision.blur * np.sqrt(size[i]) * around):
            wrong.append(x[i])
    if wrong:
        raise ParityError(
            f"Expected the basin and the far flag of NumPy, got others at {len(wrong)} of {len(x)} states that lie "
            f"on no border, the first at {wrong[0].tolist()}. " + _REPORT
        )
    ties = len(moved) + int(flagged.sum())
    if ties > MOST_TIES * len(x):
        raise ParityError(
            f"Expected at most {MOST_TIES:.1%} of the states on borders, got {ties} of {len(x)}: this field amplifies "
            "rounding. Nothing was written. Export in more precision."
        )
    return ties


def compare_poses(field: Field, exported: Any, precision: Precision) -> float:
    """States of poses along the data, whose quaternions have either sign, and their twists; or a ParityError."""
    rng = np.random.default_rng(2)
    at = field.samples[rng.integers(len(field.samples), size=MOTIONS)]
    sign = rng.choice([-1, 1], (MOTIONS, 1))
    position, quaternion = (_rounded(a, precision) for a in (at[:, :-3], sign * field.poses.of(at).orientation))
    state, known = exported.state(position, quaternion)
    if not known.all():
        raise ParityError("Expected the poses of the data to be known to the export, got some that are not. " + _REPORT)
    expected = field.poses.states(position, quaternion)
    x = _rounded(expected, precision)
    rates = np.where(_resting(field.map, x, precision)[:, None], 0.0, field.predict(x))
    twist, size = np.hstack(field.poses.twists(x, rates)), np.append(field.box[:-3], np.ones(3))
    errors = _error(state, expected, expected), _error(exported.twist(x) / size, twist / size, twist / size)
    return _within(max(errors), MOTIONS, precision)


def compare_advance(field: Field, exported: Any, precision: Precision) -> float:
    """States after a hundredth of a crossing of the box and after a whole one, by the map and by motions; or a ParityError.

    The solution is the same; how far along it a step of time leads is known to ON_TIME of the step.
    """
    rng = np.random.default_rng(3)
    rounding, worst = float(np.finfo(precision.outside).eps), 0.0

    def apart(there: FloatArray, here: FloatArray) -> FloatArray:
        """In boxes, beyond what rounding to the outer precision leaves of places far from the origin."""
        return np.maximum(np.abs(there - here) - rounding * np.abs(here), 0.0) / field.box

    # On its way across the box a motion takes a thousand steps, and NumPy takes motions one at a time: few have to do.
    for share, motions in ((0.01, ADVANCED // 4), (1.0, ADVANCED // 20)):
        dt = float(np.float32(share * np.linalg.norm(field.box) / field.top_speed))
        at = rng.integers(len(field.samples), size=ADVANCED)
        start = field.samples[at] + 0.1 * field.box * rng.standard_normal((ADVANCED, field.dimension))
        start = _rounded(_clear(field, start), precision)
        gaps = apart(exported.advance(start, dt), field.advance(start, dt))
        for q in range(field.n_attractors if field.has_memory else 0):
            mine = np.flatnonzero(field.labels[at] == q)[:motions]
            begin = _rounded(field.phases[at[mine]], precision)
            went, phase = exported.motion_advance(q, start[mine], begin, dt)
            for x, phase0, there, then in zip(start[mine], begin, went, phase, strict=True):
                motion = field.motion(x, q, phase=float(phase0))
                gap = apart(there, motion.advance(motion.advance(x, dt), dt))
                gaps = np.vstack([gaps, gap, np.full_like(gap, then - motion.phase)])
        worst = max(worst, float(np.abs(gaps).max()) - 2 * ON_TIME * share)
    return _within(worst / PARTED, ADVANCED, precision)


# --- motions ------------------------------------------------------------------------------------------


def compare_motions(field: Field, x: FloatArray, exported: Any, precision: Precision) -> tuple[float, int]:
    """Where motions begin, what they ask off their paths, and how they credit what was seen."""
    ties = _begin_ties(field, x, exported, precision)
    rng = np.random.default_rng(1)
    worst = 0.0
    share = -(-MOTIONS // field.n_attractors)
    dt = float(np.float32(0.01 * np.linalg.norm(field.box) / field.top_speed))
    for q in range(field.n_attractors):
        lifted = field.lifted[q]
        mine = np.flatnonzero(field.labels == q)
        at = mine[rng.integers(len(mine), size=share)]
        start = field.samples[at] + 0.02 * field.box * rng.standard_normal((share, field.dimension))
        start = _rounded(_clear(field, start), precision)
        phase0 = _rounded(field.phases[at], precision)
        # Later on the same path and pushed off it, by up to a fifth of the box.
        phase = _rounded(phase0 * rng.uniform(0, 1, share), precision)
        order = mine[np.argsort(field.phases[mine])]
        there = order[np.clip(np.searchsorted(field.phases[order], phase), 0, len(order) - 1)]
        push = 0.2 * field.box * rng.standard_normal((share, field.dimension)) * rng.uniform(0, 1, (share, 1)) ** 3
        now = _rounded(_clear(field, field.samples[there] + push), precision)
        expected, motions = np.empty((share, field.dimension + 1)), []
        for i in range(share):
            motion = Motion.at(lifted, q, start[i], float(phase0[i]))
            motion.phase = float(phase[i])
            motion.step(now[i], dt)
            assert motion._last is not None
            expected[i] = motion._last[1]
            motions.append(motion)
        after = _rounded(now + dt * rng.uniform(-0.2, 1.2, (share, 1)) * expected[:, :-1], precision)
        for motion, seen in zip(motions, after, strict=True):
            motion.step(seen, dt)
        velocity, rate, credited = exported.motion(Steps(q, start, phase0, now, phase, after, dt))
        got = np.column_stack([velocity, rate]) / lifted.scale
        typical = lifted.predict(np.column_stack([field.samples[mine], field.phases[mine]])) / lifted.scale
        gap = np.abs(credited - [motion.phase for motion in motions]).max()
        worst = max(worst, _within(max(_error(got, expected / lifted.scale, typical), gap), share, precision))
    return worst, ties


def _rounded(values: FloatArray, precision: Precision) -> FloatArray:
    return values.astype(precision.outside).astype(np.float64)


def _begin_ties(field: Field, x: FloatArray, exported: Any, precision: Precision) -> int:
    """Motions that begin with another sample than NumPy's; it must be as near."""
    goal, phase = exported.begin(x)
    mine, begins = field._beginnings(x)
    other = np.flatnonzero((goal != mine) | (np.abs(phase - begins) > 1e-6))
    points = np.column_stack([field.samples / field.box, LATE * field.phases])
    for i in other:
        asked = np.append(field.map.learned_place(x[i : i + 1])[0] / field.box, LATE)
        square = ((points - asked) ** 2).sum(1)
        same = (field.labels == goal[i]) & (np.abs(field.phases - phase[i]) <= 1e-6)
        if not same.any() or square[same].min() - square.min() > precision.tie * (1 + asked @ asked):
            raise ParityError(
                f"Expected a motion from {x[i].tolist()} to begin as NumPy's, got goal {goal[i]} and phase {phase[i]:.3g}. "
                + _REPORT
            )
    return len(other)


# --- loops --------------------------------------------------------------------------------------------


class _Asked:
    """The field as `run_loops` asks for it, with the export's answers in place of NumPy's."""

    def __init__(self, field: Field, exported: Any) -> None:
        self._field, self._exported = field, exported

    def __getattr__(self, name: str) -> Any:
        return getattr(self._field, name)

    def predict(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._exported.velocity(x))

    def basin(self, x: FloatArray) -> IntArray:
        return np.asarray(self._exported.answers(x).basin)


def _loops(field: Field, exported: Any) -> Loop:
    """The user's loop, x += dt * v, on the exported velocity, and motions until they are done; or a ParityError."""
    rng = np.random.default_rng(2)
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    starts = field.map.present_place(middle + field.box / 2 * rng.uniform(-1, 1, (LOOPS, field.dimension)))
    dt = float(np.linalg.norm(field.box)) / field.top_speed / CROSSING
    (loop,) = run_loops(_Asked(field, exported), starts, 1 / dt, np.ones(LOOPS))  # type: ignore[arg-type]
    # An Euler step may cross a border; then NumPy's own loop does, too. Asked only where it matters.
    if loop.arrived < 1 or loop.as_basin_said < 1 - 2 / LOOPS:
        (own,) = run_loops(field, starts, 1 / dt, np.ones(LOOPS))
        if loop.arrived < 1 or loop.as_basin_said < own.as_basin_said - 2 / LOOPS:
            raise ParityError(f"Expected loops on the export to do what NumPy's do, {own}, got {loop}. " + _REPORT)
    if field.has_memory:
        _check_motions(field, exported, starts, dt)
    return loop


def _check_motions(field: Field, exported: Any, starts: FloatArray, dt: float) -> None:
    """Motions on the export are done, or those of NumPy are not either."""
    steps = 10 * CROSSING
    done = exported.roll(starts, dt, steps)[1]
    for x in starts[~done][:1]:
        motion = field.motion(x)
        for _ in range(steps):
            if motion.done:
                raise ParityError(
                    f"Expected a motion from {x.tolist()} to arrive as NumPy's does, got none. " + _REPORT
                )
            x = x + dt * motion.step(x, dt)
