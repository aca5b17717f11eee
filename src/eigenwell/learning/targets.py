"""Where trajectories should go in the latent space: one straight line each, meeting in the attractor.

A target places every sample of a path on a ray, y_k(n) = r_k rho(n) e_k. Two choices of the directions e_k:

* `LaplacianTarget`, the paper's: the embedding of K joined paths, whose directions sum to zero, carried onto
  the data by the best linear map. Right when trajectories surround the attractor.
* `RayTarget`, ours: each trajectory's own ray from its start. Adding phantom paths to the join
  leaves the theorem intact and frees the directions, so demonstrations that arrive from one side need
  no tearing of space. `winding.SpiralTarget`, the default, winds these rays where the data wind.

The profile rho, from 1 at the start to 0 at the attractor, is a function: `arc_length`, `elapsed`, `eigenvector`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._types import BoolArray, FloatArray
from ..demonstrations import DataError

FINE = 0.02
"""What is finer than a fiftieth is nothing: an axis beside the widest one, which stretched to full size would be noise; a
speed beside the fastest, whose direction is not worth learning; two places in boxes, which are the same."""
BESIDE = 0.1
"""What is so near a path, in boxes, looks like it: the width of the tube, and between two places whose ways are compared."""
APART = 0.15
"""Samples of one motion are on different strands where their lengths to go differ by more than this, in boxes, and four times
their distance: more than any corner short of a hairpin, less than any loop."""


@dataclass(frozen=True, eq=False)
class UnitBox:
    """Unit coordinates: x = centre + scale * x_unit, v = scale * pace * v_unit.

    One motion fills the box [-.5, .5]^d at a root mean square speed of 1. Several motions learned together are scaled by
    their typical extent, not by the box of them all, so that a length means the same whatever else is learned.
    """

    centre: FloatArray
    scale: FloatArray
    pace: float
    """Root mean square of |v / scale|, in boxes per unit of time."""
    braked: BoolArray
    """(d,), true for the axes along which speed is limited: all but a phase."""
    reach: float
    """Extent of all data in units of `scale`, the widest axis; 1 for one motion."""

    @classmethod
    def around(cls, motions: Sequence[Sequence[tuple[FloatArray, FloatArray]]]) -> UnitBox:
        """The frame of some motions, each given as its paths (x, v)."""
        boxes = [
            (np.min([np.min(x, 0) for x, _ in paths], 0), np.max([np.max(x, 0) for x, _ in paths], 0))
            for paths in motions
        ]
        low, high = np.min([box[0] for box in boxes], 0), np.max([box[1] for box in boxes], 0)
        extent = np.sqrt(np.mean([(top - bottom) ** 2 for bottom, top in boxes], 0))
        scale = np.maximum(extent, FINE * extent.max())
        speeds = np.concatenate([v for paths in motions for _, v in paths])
        pace = float(np.sqrt(((speeds / scale) ** 2).sum(-1).mean()))
        if not pace > 0:
            raise DataError("Expected samples that move, got velocities that are all zero. Pass v, dt or time.")
        reach = max(1.0, float(((high - low) / scale).max()))
        return cls((low + high) / 2, scale, pace, np.ones(len(scale), dtype=bool), reach)


@dataclass(frozen=True, eq=False)
class Bundle:
    """The trajectories of one sub-dynamics in the unit coordinates of a frame."""

    x: tuple[FloatArray, ...]
    v: tuple[FloatArray, ...]
    attractor: FloatArray
    frame: UnitBox
    embedding: tuple[FloatArray, ...] | None = None

    @property
    def top_speed(self) -> float:
        """Largest |v| of a sample in the data's units, with unit time."""
        scale = np.where(self.frame.braked, self.frame.scale, 0.0)
        return max(float(np.linalg.norm(scale * v, axis=1).max()) for v in self.v)

    @classmethod
    def of(
        cls,
        paths: Sequence[tuple[FloatArray, FloatArray]],
        attractor: FloatArray,
        embedding: Sequence[FloatArray] | None = None,
        frame: UnitBox | None = None,
    ) -> Bundle:
        """Scale paths, given as (x, v) in order of time, and drop samples that repeat their predecessor.

        `frame` is the paths' own when not given.
        """
        attractor = np.asarray(attractor, dtype=np.float64)
        kept = [_moving(np.asarray(x, dtype=np.float64)) for x, _ in paths]
        usable = [k for k, keep in enumerate(kept) if keep.sum() >= 2]
        if not usable:
            raise DataError(
                f"Expected at least one trajectory of two or more distinct samples, got {len(paths)} without any. "
                "Check that the samples move and that trajectories were not cut to single points."
            )
        xs = [np.asarray(paths[k][0], dtype=np.float64)[kept[k]] for k in usable]
        vs = [np.asarray(paths[k][1], dtype=np.float64)[kept[k]] for k in usable]
        dimension = attractor.shape[-1]
        if attractor.ndim != 1 or any(
            a.shape[1:] != (dimension,) or a.shape != b.shape for a, b in zip(xs, vs, strict=True)
        ):
            raise DataError(
                f"Expected paths of shape (T, {dimension}) like the attractor, x and v alike, got "
                f"{[a.shape for a in xs][:3]} and {[b.shape for b in vs][:3]}."
            )
        if dimension < 2:
            raise DataError("Expected at least 2 dimensions, got 1. Add a second coordinate, for example the velocity.")
        if not all(np.isfinite(a).all() for a in (*xs, *vs, attractor)):
            raise DataError(
                "Expected finite positions, velocities and attractor, got NaN or infinity. Remove those samples."
            )
        frame = UnitBox.around([list(zip(xs, vs, strict=True))]) if frame is None else frame
        return cls(
            x=tuple((a - frame.centre) / frame.scale for a in xs),
            v=tuple(b / (frame.scale * frame.pace) for b in vs),
            attractor=(attractor - frame.centre) / frame.scale,
            frame=frame,
            embedding=None if embedding is None else tuple(np.asarray(embedding[k])[kept[k]] for k in usable),
        )

    @property
    def dimension(self) -> int:
        return int(self.attractor.shape[0])

    def paths(self) -> list[Bundle]:
        """Each path alone."""
        return [replace(self, x=(x,), v=(v,), embedding=None) for x, v in zip(self.x, self.v, strict=True)]


def _moving(x: FloatArray) -> np.ndarray:
    if x.ndim != 2 or len(x) == 0:
        return np.zeros(len(x), dtype=bool)
    return np.concatenate([[True], np.linalg.norm(np.diff(x, axis=0), axis=1) > 0])


def arc_to_go(x: FloatArray, attractor: FloatArray) -> FloatArray:
    """Length of the rest of the path at every sample, the gap from its last sample to the attractor included."""
    steps = np.linalg.norm(np.diff(x, axis=0), axis=1)
    rest = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])
    return rest + float(np.linalg.norm(x[-1] - attractor))


def phases_of(x: Any, attractor: FloatArray) -> FloatArray:
    """rho at every sample of a path in the data's units; a path without length has phase 0."""
    rest = arc_to_go(np.asarray(x, dtype=np.float64), attractor)
    return np.asarray(rest / rest[0]) if rest[0] > 0 else rest


def lifted_bundle(bundle: Bundle, lift: float) -> Bundle:
    """The bundle in (x, rho), which no longer crosses itself: zdot = (v, -|v| / L), rho = length still to go / L.

    The coordinate along the path is what the paper's embedding adds to the state; here it is memory that a controller
    carries. The phase spans `lift` boxes; speed is limited in x alone.
    """
    frame = bundle.frame
    raised = UnitBox(
        np.append(frame.centre, 0.5),
        np.append(frame.scale, 1 / lift),
        frame.pace,
        np.append(frame.braked, False),
        frame.reach,
    )
    xs, vs = [], []
    for x, v in zip(bundle.x, bundle.v, strict=True):
        # Lengths as in the data, where axes are not scaled apart.
        rest = arc_to_go(x * frame.scale, bundle.attractor * frame.scale)
        rate = -np.linalg.norm(v * frame.scale, axis=1) / rest[0]
        xs.append(np.column_stack([x, lift * (rest / rest[0] - 0.5)]))
        vs.append(np.column_stack([v, lift * rate]))
    return Bundle(tuple(xs), tuple(vs), np.append(bundle.attractor, -0.5 * lift), raised)


def on_other_strand(rest: FloatArray, other: FloatArray, distance: FloatArray) -> BoolArray:
    """Whether places with so much length to go, so far from each other, are on different strands of a motion."""
    return np.abs(rest - other) > APART + 4 * distance


def travel_times(x: FloatArray, v: FloatArray) -> FloatArray:
    """Time at every sample, from the positions and velocities alone: dt = 2 |dx| / (|v_i| + |v_i+1|).

    A pause would take for ever; speeds count as at least 1 % of the fastest.
    """
    speed = np.linalg.norm(v, axis=1)
    speed = np.maximum(speed, 0.01 * max(float(speed.max()), np.finfo(float).tiny))
    dt = 2 * np.linalg.norm(np.diff(x, axis=0), axis=1) / (speed[:-1] + speed[1:])
    return np.concatenate([[0.0], np.cumsum(dt)])


Profile = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""rho of (x, v, attractor): how far each sample still is from the attractor, 1 at the start of its path, towards 0 at the end."""


def arc_length(x: FloatArray, v: FloatArray, attractor: FloatArray) -> FloatArray:
    """rho = length still to go / whole length. psi then moves at the data's own speed along a path."""
    rest = arc_to_go(x, attractor)
    return np.asarray(rest / rest[0])


def elapsed(x: FloatArray, v: FloatArray, attractor: FloatArray) -> FloatArray:
    """rho = time still to go / whole time, the gap to the attractor counted as its share of the length."""
    time, rest = travel_times(x, v), arc_to_go(x, attractor)
    gap = rest[-1] / rest[0]
    return np.asarray(gap + (1 - gap) * (1 - time / time[-1]))


def eigenvector(x: FloatArray, v: FloatArray, attractor: FloatArray) -> FloatArray:
    """rho_n = cos(pi (n - 1/2) / 2N): the first non-constant eigenvector along one of K equal joined paths."""
    return np.asarray(np.cos(np.pi * (np.arange(len(x)) + 0.5) / (2 * len(x))))


class Target(ABC):
    """Latent positions of every sample of every path, relative to the attractor's, and how they wind.

    Examples
    --------
    >>> import eigenwell as ew
    >>> isinstance(ew.learning.RayTarget(), ew.learning.Target)
    True
    """

    profile: Profile

    def place(self, bundle: Bundle) -> tuple[FloatArray, ...]:
        """Latent positions of every sample of every path, relative to the attractor's.

        Parameters
        ----------
        bundle : Bundle
            The paths of one sub-dynamics in unit coordinates.

        Returns
        -------
        tuple of (n_k, d) arrays
        """
        rho = [self.profile(x, v, bundle.attractor) for x, v in zip(bundle.x, bundle.v, strict=True)]
        return tuple(self._placed(bundle, rho))

    def swirl(self, bundle: Bundle) -> FloatArray:
        """Omega, how the latent paths wind around the attractor: skew, zero for straight lines.

        Parameters
        ----------
        bundle : Bundle
            The paths of one sub-dynamics in unit coordinates.

        Returns
        -------
        (d, d) array
        """
        return np.zeros((bundle.dimension, bundle.dimension))

    @abstractmethod
    def _placed(self, bundle: Bundle, rho: list[FloatArray]) -> Iterable[FloatArray]: ...


def starting_directions(bundle: Bundle) -> list[tuple[int, FloatArray]]:
    """For every path the sample that sets its ray, and the unit direction from the attractor to it.

    That is the first sample; but a path that starts on the attractor has no direction there, and takes its farthest.
    """
    directions = []
    for x in bundle.x:
        away = x - bundle.attractor
        distance = np.linalg.norm(away, axis=1)
        anchor = 0 if distance[0] > 0.2 * distance.max() else int(distance.argmax())
        directions.append((anchor, away[anchor] / distance[anchor]))
    return directions


@dataclass(frozen=True)
class RayTarget(Target):
    """y_k(n) = l_k rho(n) e_k, e_k the direction from the attractor to the start, l_k the length of the path.

    With the arc-length profile |dy| = |dx| along the path: psi bends space and need not stretch it.

    Parameters
    ----------
    profile : Profile
        How far along a path a sample is, 1 at the start.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(found, target=ew.learning.RayTarget())  # doctest: +SKIP
    """

    profile: Profile = field(default_factory=lambda: arc_length)

    def _placed(self, bundle: Bundle, rho: list[FloatArray]) -> Iterable[FloatArray]:
        for x, left, (_, direction) in zip(bundle.x, rho, starting_directions(bundle), strict=True):
            yield (arc_to_go(x, bundle.attractor)[0] * left)[:, None] * direction


@dataclass(frozen=True)
class LaplacianTarget(Target):
    """The paper's: y = U A, U the embedding of the joined paths, A the linear map that best brings it onto x - x*.

    Uses the identification's embedding where the bundle carries one, else the closed form for a clique of K
    equal paths: u_k(n) = rho(n) e_k with e_k the corners of a regular simplex in R^(K-1).

    Parameters
    ----------
    profile : Profile
        How far along a path a sample is, 1 at the start.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(found, target=ew.learning.LaplacianTarget())  # doctest: +SKIP
    """

    profile: Profile = field(default_factory=lambda: eigenvector)

    def _placed(self, bundle: Bundle, rho: list[FloatArray]) -> Iterable[FloatArray]:
        if bundle.embedding is not None:
            embedded = np.concatenate(bundle.embedding)
        else:
            corners = np.eye(len(rho)) - 1 / len(rho)
            embedded = np.concatenate([r[:, None] * corner for r, corner in zip(rho, corners, strict=True)])
        away = np.concatenate(bundle.x) - bundle.attractor
        best, *_ = np.linalg.lstsq(embedded, away, rcond=1e-6)
        return np.split(embedded @ best, np.cumsum([len(x) for x in bundle.x])[:-1])
