"""Poses: positions and orientations, as coordinates in which a straight line is a straight motion.

An orientation is a unit quaternion q, and -q is the same one. About a reference r, the mean of where the motions end, it is
the rotation vector w = Log(r^-1 q), axis times angle, |w| < pi. Coordinates of a pose are (p, scale w); scale turns
radians into the unit of length, so that a full turn counts as much as the extent of the positions. Valid within half a
turn of the reference: beyond it w jumps to the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ._types import FloatArray
from .demonstrations import Chart, Demonstrations
from .errors import DataError

__all__ = ["from_poses", "orientations"]


# Orientations this near to half a turn from the reference have no side: the chart ends.
EDGE = 0.99 * np.pi
# A quaternion is one when its length is 1 to within what files round to.
UNIT = 0.05
# Below this angle series stand for quotients that lose their digits.
SMALL = 1e-3
# Below this sine of half an angle there is no turn, and no axis to divide by.
NO_TURN = 1e-12


def from_poses(
    position: Sequence[FloatArray],
    orientation: Sequence[FloatArray],
    *,
    dt: float | None = None,
    time: Sequence[FloatArray] | None = None,
    names: Sequence[str] = (),
    order: str = "xyzw",
    smooth: bool = True,
    twist: Sequence[FloatArray] | None = None,
) -> Demonstrations:
    """Trajectories of poses: positions (T, d) and unit quaternions (T, 4), `order` "xyzw" or "wxyz", signs as they come.

    `demos.x` holds the d positions and three coordinates of orientation; `orientations` turns these back.

    Parameters
    ----------
    position : list of (T, d) arrays
        Positions of every trajectory.
    orientation : list of (T, 4) arrays
        Unit quaternions, signs as they come.
    dt : float, optional
        The sampling step.
    time : list of (T,) arrays, optional
        Or the time of every sample.
    names : sequence of str
        Of the trajectories.
    order : str
        "xyzw" or "wxyz".
    smooth : bool
        Whether positions are freed of noise.
    twist : list of (T, d + 3) arrays, optional
        Linear and angular velocities in the base frame, in radians per unit of time, where they were measured.

    Returns
    -------
    Demonstrations
        x has the d positions and three coordinates of orientation; `orientations` turns these back.

    Raises
    ------
    DataError
        For quaternions that are not of unit length, and for data that cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.poses import from_poses
    >>> t = np.linspace(0, 4, 80)[:, None]
    >>> turned = np.hstack([0 * t, 0 * t, np.sin(np.exp(-t)), np.cos(np.exp(-t))])
    >>> from_poses([np.exp(-t) * [1, 2, 3]], [turned], dt=0.05).dimension
    6
    """
    if order not in ("xyzw", "wxyz"):
        raise DataError(f"Expected order 'xyzw' or 'wxyz', got {order!r}.")
    turned = [
        unit_quaternions(np.asarray(q, dtype=np.float64), f" in trajectory {k}", order)
        for k, q in enumerate(orientation)
    ]
    positions = [np.asarray(p, dtype=np.float64) for p in position]
    if [len(p) for p in positions] != [len(q) for q in turned]:
        raise DataError("Expected one orientation per position in every trajectory, got different lengths.")
    reference = mean_orientation(np.array([q[-1] for q in turned]))
    extent = float(np.ptp(np.concatenate(positions), axis=0).max(initial=0.0))
    scale = extent / (2 * np.pi) if extent > 0 else 1.0
    xs = [np.hstack([p, scale * logarithm(q, reference)]) for p, q in zip(positions, turned, strict=True)]
    for k, x in enumerate(xs):
        _check_within(x[:, -3:] / scale, k)
    chart, rates = Chart(reference, scale), None
    if twist is not None:
        rates = [
            _rates(x, np.asarray(one, dtype=np.float64), chart, k)
            for k, (x, one) in enumerate(zip(xs, twist, strict=True))
        ]
    demos = Demonstrations.from_trajectories(xs, rates, dt=dt, time=time, names=names, smooth=smooth)
    return replace(demos, chart=chart)


def _rates(x: FloatArray, twist: FloatArray, chart: Chart, k: int) -> FloatArray:
    if twist.shape != x.shape:
        raise DataError(
            f"Expected a twist of {x.shape[1]} numbers (linear, angular) per pose of trajectory {k}, got shape {twist.shape}."
        )
    return np.hstack([twist[:, :-3], coordinate_rates(x, twist[:, -3:], chart)])


def coordinates(position: FloatArray, orientation: FloatArray, chart: Chart) -> FloatArray:
    """Coordinates (n, d + 3) of poses; orientations half a turn or more from the reference have none, and are refused."""
    w = logarithm(orientation, chart.reference)
    widest = float(np.linalg.norm(w, axis=-1).max(initial=0.0))
    if widest > EDGE:
        raise DataError(
            f"Expected orientations within half a turn of where the motions end, got one {np.degrees(widest):.0f} degrees "
            "away: the field knows nothing there. Turn back first."
        )
    return np.concatenate([position, chart.scale * w], axis=-1)


def orientations(x: FloatArray, chart: Chart) -> FloatArray:
    """Unit quaternions (n, 4), x, y, z, w, of coordinates (n, d + 3).

    Parameters
    ----------
    x : (n, d + 3) array
        States of a field learned from poses.
    chart : Chart
        `demos.chart` of the demonstrations.

    Returns
    -------
    (n, 4) array
        Unit quaternions x, y, z, w.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenwell.demonstrations import Chart
    >>> from eigenwell.poses import orientations
    >>> orientations(np.zeros((1, 6)), Chart(np.array([0, 0, 0, 1.0]), 1.0))
    array([[0., 0., 0., 1.]])
    """
    return composed(chart.reference, exponential(np.asarray(x)[..., -3:] / chart.scale))


def angular_velocity(x: FloatArray, xdot: FloatArray, chart: Chart, xp: Any = np) -> FloatArray:
    """omega (n, 3), radians per unit of time in the base frame, of coordinates that move with xdot: omega = R_r J(w) wdot.

    J(w) = I + (1 - cos a)/a^2 [w] + (a - sin a)/a^3 [w]^2, a = |w|, the left Jacobian of the exponential. `xp`: the library
    of the arrays.
    """
    w, rate = x[..., -3:] / chart.scale, xdot[..., -3:] / chart.scale
    a = xp.sqrt((w * w).sum(axis=-1, keepdims=True))
    small = a < SMALL
    safe = xp.where(small, 1.0, a)
    half = xp.sin(safe / 2)
    first = xp.where(small, 0.5 - a**2 / 24, 2 * half * half / safe**2)
    second = xp.where(small, 1 / 6 - a**2 / 120, (safe - xp.sin(safe)) / safe**3)
    once = np.cross(w, rate)
    return rotated(chart.reference, rate + first * once + second * np.cross(w, once))


def coordinate_rates(x: FloatArray, omega: FloatArray, chart: Chart) -> FloatArray:
    """Rates (n, 3) of the coordinates of orientation under omega (n, 3): scale J(w)^-1 R_r^T omega, the inverse of the above.

    J(w)^-1 = I - [w]/2 + (1 - (a/2) cot(a/2))/a^2 [w]^2.
    """
    w = x[..., -3:] / chart.scale
    a = np.linalg.norm(w, axis=-1, keepdims=True)
    small = a < SMALL
    safe = np.where(small, 1.0, a)
    second = np.where(small, 1 / 12 + a**2 / 720, (1 - safe / 2 / np.tan(safe / 2)) / safe**2)
    turned = rotated(_conjugate(chart.reference), omega)
    once = np.cross(w, turned)
    return np.asarray(chart.scale * (turned - once / 2 + second * np.cross(w, once)))


def rotated(q: FloatArray, v: FloatArray) -> FloatArray:
    """Vectors (..., 3) turned by a unit quaternion."""
    once = 2 * np.cross(q[..., :3], v)
    turned: FloatArray = v + q[..., 3:] * once + np.cross(q[..., :3], once)
    return turned


def mean_orientation(q: FloatArray) -> FloatArray:
    """The unit quaternion (4,) nearest to all (n, 4), signs aside: first eigenvector of sum q q^T."""
    return np.asarray(np.linalg.eigh(q.T @ q)[1][:, -1])


def logarithm(q: FloatArray, reference: FloatArray, xp: Any = np) -> FloatArray:
    """Rotation vectors (n, 3) from the reference (4,) to q (n, 4), the short way round; `xp`: the library of the arrays."""
    relative = composed(_conjugate(reference), q).view(type(q))
    relative = xp.where(relative[:, 3:] < 0, -relative, relative)
    sine = xp.sqrt((relative[:, :3] * relative[:, :3]).sum(axis=1, keepdims=True))
    angle = 2 * xp.arctan2(sine, relative[:, 3:])
    turn: FloatArray = relative[:, :3] * xp.where(sine > NO_TURN, angle / xp.maximum(sine, NO_TURN), 2.0)
    return turn


def exponential(w: FloatArray) -> FloatArray:
    """Unit quaternions (..., 4) of rotation vectors (..., 3)."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([w * np.sinc(angle / (2 * np.pi)) / 2, np.cos(angle / 2)], axis=-1)


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angle (n,) in radians of the rotation from a to b, unit quaternions (n, 4)."""
    inner = np.abs((np.atleast_2d(a) * np.atleast_2d(b)).sum(axis=1))
    return np.asarray(2 * np.arccos(np.clip(inner, 0, 1)))


def unit_quaternions(q: FloatArray, where: str = "", order: str = "xyzw") -> FloatArray:
    """Quaternions (n, 4) as x, y, z, w of length 1; what is none is refused."""
    if q.ndim != 2 or q.shape[1] != 4:
        raise DataError(f"Expected unit quaternions as an (n, 4) array{where}, got shape {q.shape}.")
    if order == "wxyz":
        q = q[:, [1, 2, 3, 0]]
    length = np.linalg.norm(q, axis=1)
    if (np.abs(length - 1) > UNIT).any():
        at = int(np.argmax(np.abs(length - 1)))
        raise DataError(
            f"Expected unit quaternions{where}, got one of length {length[at]:.3g} at sample {at}. Are these columns "
            "an orientation?"
        )
    return np.asarray(q / length[:, None])


def _check_within(w: FloatArray, k: int) -> None:
    jump = np.linalg.norm(np.diff(w, axis=0), axis=1).max(initial=0.0)
    widest = float(np.linalg.norm(w, axis=1).max())
    if widest > EDGE or jump > np.pi:
        raise DataError(
            f"Expected orientations within half a turn of where the motions end, got {np.degrees(widest):.0f} degrees in "
            f"trajectory {k}: one chart cannot hold them. Split the recordings by task, or leave orientation out: position=..."
        )


def _conjugate(q: FloatArray) -> FloatArray:
    return np.asarray(q * [-1, -1, -1, 1])


def composed(a: FloatArray, b: FloatArray) -> FloatArray:
    """The orientation `b` seen from `a`: Hamilton product of quaternions x, y, z, w (..., 4), broadcast."""
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - (av * bv).sum(axis=-1, keepdims=True)], axis=-1)
