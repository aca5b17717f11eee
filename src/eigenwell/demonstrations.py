"""Demonstrations: the data, checked once as they come in, frozen after.

Two kinds come in. *Unordered samples*: an (n, d) array of positions and one of velocities, in any order.
*Trajectories*: a list of (T_k, d) arrays in order of time, with velocities, or with `dt` or `time` to
estimate them from. Everything after this module trusts what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ._types import BoolArray, FloatArray, IntArray
from .checks import (
    SHORTEST_PATH,
    Caution,
    check_dt,
    check_jumps,
    check_same_dimension,
    check_samples,
    check_tall,
    check_velocity,
    first_occurrence,
    matrix,
    spread_stamps,
    time_stamps,
)
from .errors import DataError
from .grids import flattened, of_mapping
from .velocities import Smoothed, smoothed

__all__ = ["SHORTEST_PATH", "Caution", "DataError", "Demonstrations", "Truth", "first_occurrence"]

# A rest is where a recording stays within this share of the extent, or within its noise.
STILL = 1e-3


@dataclass(frozen=True, eq=False)
class Chart:
    """Orientations as three coordinates: `scale` times the rotation vector from `reference`, a unit quaternion x, y, z, w."""

    reference: FloatArray
    scale: float


@dataclass(frozen=True)
class Truth:
    """What is known of made-up data: for scoring, never read by `identify` or `learn`."""

    labels: IntArray
    attractors: FloatArray


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Positions `x` and velocities `v`, both (n, d).

    `offsets` holds where trajectories begin and end (trajectory k is rows offsets[k]:offsets[k+1]), or is
    None when the order of the samples means nothing. `time` is one number per sample, or None. `names` are those of the
    trajectories (files), or empty.

    Where velocities were estimated, `x` has been freed of noise by the same estimate; `raw` keeps the positions as they
    came (None: x is as it came), and `noise` the standard deviation found in a coordinate of each trajectory. `chart` says how
    the last three coordinates are orientations, where they are; `task` (n,) numbers what each sample was meant for, where a
    file says it; `about`, what was read as what.
    """

    x: FloatArray
    v: FloatArray
    offsets: IntArray | None = None
    time: FloatArray | None = None
    warnings: tuple[Caution, ...] = ()
    names: tuple[str, ...] = ()
    raw: FloatArray | None = None
    noise: FloatArray | None = None
    chart: Chart | None = None
    about: str = ""
    task: IntArray | None = None
    truth: Truth | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.x, self.v, self.offsets, self.time, self.raw, self.noise, self.task):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        kind = "unordered samples" if self.offsets is None else f"{self.n_trajectories} trajectories"
        return f"Demonstrations({self.n_samples} samples in {self.dimension}-D, {kind})"

    @property
    def n_samples(self) -> int:
        return len(self.x)

    @property
    def dimension(self) -> int:
        return int(self.x.shape[1])

    @property
    def ordered(self) -> bool:
        return self.offsets is not None

    @property
    def n_trajectories(self) -> int | None:
        return None if self.offsets is None else len(self.offsets) - 1

    def trajectories(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """(x, v) of each trajectory, in order of time."""
        if self.offsets is None:
            raise DataError("Expected trajectories, got unordered samples; identify() recovers the paths.")
        for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            yield self.x[a:b], self.v[a:b]

    @cached_property
    def moving(self) -> BoolArray:
        """(n,) False where a trajectory stands still before it sets out or after it has arrived, True for all else.

        Standing still: all samples from there to the end of the recording lie within four standard deviations of noise, or a
        thousandth of the extent, of the outermost one. That one counts as moving: it is where the motion starts or ends.
        """
        out = np.ones(self.n_samples, dtype=bool)
        if self.offsets is None:
            return out
        extent = STILL * float(np.ptp(self.x, axis=0).max())
        for k, (a, b) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            reach = max(extent, 4 * float(self.noise[k])) if self.noise is not None else extent
            for rows in (np.arange(a, b), np.arange(a, b)[::-1]):
                away = np.linalg.norm(self.x[rows] - self.x[rows[0]], axis=1) > reach
                resting = int(np.argmax(away)) if away.any() else len(rows)
                out[rows[: max(resting - 1, 0)]] = False
        return out

    def trimmed(self) -> Demonstrations:
        """Trajectories without the rests before and after the motion: what a field is learned from."""
        if self.offsets is None:
            return self
        keep = np.flatnonzero(self.moving)
        lengths = np.add.reduceat(self.moving, self.offsets[:-1])
        return replace(
            self,
            x=self.x[keep],
            v=self.v[keep],
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp),
            time=None if self.time is None else self.time[keep],
            raw=None if self.raw is None else self.raw[keep],
            task=None if self.task is None else self.task[keep],
            truth=self.truth and Truth(self.truth.labels[keep], self.truth.attractors),
        )

    def shuffled(self, seed: int = 0) -> Demonstrations:
        """The same samples in random order, with time and trajectory forgotten."""
        order = np.random.default_rng(seed).permutation(self.n_samples)
        return self.take(order)

    def take(self, index: IntArray) -> Demonstrations:
        """The samples at `index`, as unordered samples."""
        truth = self.truth and Truth(self.truth.labels[index], self.truth.attractors)
        return Demonstrations(self.x[index], self.v[index], warnings=self.warnings, truth=truth)

    def with_truth(self, labels: IntArray, attractors: FloatArray) -> Demonstrations:
        return replace(self, truth=Truth(labels, attractors))

    @classmethod
    def of(
        cls,
        x: Any,
        v: Any = None,
        *,
        dt: float | None = None,
        time: Any = None,
        smooth: bool = True,
    ) -> Demonstrations:
        """Whatever a user has: `of(x, v)`, `of([(x1, v1), ...])`, `of([x1, x2, ...], dt=0.01)`, or itself.

        One (n, d) array with `v` alone is unordered samples; with `dt` or `time` it is one trajectory. A vector is a
        scalar system, a mapping with x, y, u, v (a dictionary, an xarray Dataset) a field on a grid. `smooth=False` keeps
        noisy positions as they are where velocities are estimated.
        """
        if isinstance(x, Demonstrations):
            given = [name for name, value in (("v", v), ("dt", dt), ("time", time)) if value is not None]
            if given:
                raise DataError(
                    f"Expected Demonstrations alone, which hold their velocities and times, got {' and '.join(given)} "
                    "besides. Leave them out, or pass arrays: identify(demos.x, v)."
                )
            return x
        if isinstance(x, Mapping) and v is None and not hasattr(x, "__array__"):
            return cls._on_nodes(*of_mapping(x))
        check_dt(dt)
        if v is None and time is None and _has_names(x):
            from .files import read

            return read(x, dt=dt, smooth=smooth)
        if not _is_sequence_of_trajectories(x):
            if dt is None and time is None:
                return cls.from_samples(x, v)
            return cls.from_trajectories(
                [x], None if v is None else [v], dt=dt, time=None if time is None else [time], smooth=smooth
            )
        return cls.from_trajectories(x, v, dt=dt, time=time, smooth=smooth)

    @classmethod
    def from_samples(cls, x: Any, v: Any) -> Demonstrations:
        """Unordered samples: row i of `x` moves with row i of `v`."""
        xs = matrix(x, "x")
        if v is None:
            raise DataError(
                f"Expected velocities or time, got positions alone, shape {xs.shape}. Pass identify(x, v) for "
                "unordered samples, or identify([x1, x2, ...], dt=...) for trajectories in order of time."
            )
        vs = matrix(v, "v")
        if xs.shape != vs.shape:
            raise DataError(f"Expected x and v of the same shape, got x {xs.shape} and v {vs.shape}.")
        check_tall(xs.shape)
        return cls(xs, vs, warnings=check_samples(xs, vs))

    @classmethod
    def from_grid(cls, *arrays: Any) -> Demonstrations:
        """A field on a grid, (X, Y, U, V) or (X, Y, Z, U, V, W): nodes with a velocity, as unordered samples."""
        return cls._on_nodes(*flattened(*arrays))

    @classmethod
    def _on_nodes(cls, x: FloatArray, v: FloatArray, cautions: tuple[Caution, ...]) -> Demonstrations:
        demos = cls.from_samples(x, v)
        return replace(demos, warnings=cautions + demos.warnings)

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Sequence[Any],
        v: Sequence[Any] | None = None,
        *,
        dt: float | None = None,
        time: Sequence[Any] | None = None,
        names: Sequence[str] = (),
        smooth: bool = True,
    ) -> Demonstrations:
        """Trajectories in order of time: (x, v) pairs, or positions with `v`, `dt` or `time` (one array each).

        `names` are those of the trajectories. Without `v`, positions are freed of noise and velocities estimated by one
        model (`velocities`); `smooth=False` leaves the positions alone.
        """
        check_dt(dt)
        pairs = [
            t if isinstance(t, tuple | list) and len(t) == 2 and np.ndim(np.asarray(t[0])) == 2 else None
            for t in trajectories
        ]
        if len(pairs) == 0:
            raise DataError("Expected at least one trajectory, got an empty list.")
        if all(p is not None for p in pairs) and v is None:
            trajectories, v = [p[0] for p in pairs if p], [p[1] for p in pairs if p]
        elif any(p is not None for p in pairs):
            raise DataError(
                f"Expected (x, v) pairs or positions alone, got {sum(p is not None for p in pairs)} pairs among "
                f"{len(pairs)} trajectories. Give velocities for all of them or for none."
            )
        xs = [matrix(t, f"trajectory {k}") for k, t in enumerate(trajectories)]
        check_same_dimension(xs)
        times = time_stamps(xs, time, dt)
        cautions = check_jumps(xs, names)
        raw, noise = None, None
        if times is not None:
            times, repeats = spread_stamps(times)
            cautions += repeats
        if v is None:
            if times is None:
                raise DataError(
                    "Expected velocities or time, got positions alone. Pass dt=..., time=[t1, t2, ...] or pairs "
                    "[(x1, v1), (x2, v2), ...]."
                )
            clean = [smoothed(xk, tk) for xk, tk in zip(xs, times, strict=True)]
            vs, noise = [c.v for c in clean], np.array([c.noise for c in clean])
            if smooth and noise.any():
                raw, xs = np.concatenate(xs), [c.x for c in clean]
            cautions += (_estimated(clean, smooth),)
        else:
            vs = [matrix(vk, f"velocity of trajectory {k}") for k, vk in enumerate(v)]
            if [a.shape for a in xs] != [a.shape for a in vs]:
                raise DataError(
                    "Expected one velocity per position in every trajectory, got shapes "
                    f"{[a.shape for a in xs][:5]} and {[a.shape for a in vs][:5]}."
                )
            cautions += check_velocity(xs, vs, times)
        lengths = np.array([len(a) for a in xs])
        x_all, v_all = np.concatenate(xs), np.concatenate(vs)
        check_tall(x_all.shape)
        short = np.flatnonzero(lengths < SHORTEST_PATH)
        if len(short) == len(lengths):
            raise DataError(
                f"Expected trajectories of at least {SHORTEST_PATH} samples, got lengths {lengths[:5].tolist()}."
            )
        if len(short):
            cautions += (
                Caution(
                    "short-trajectory",
                    f"{len(short)} of {len(lengths)} trajectories have fewer than {SHORTEST_PATH} samples (first: number "
                    f"{short[0]}); their samples stay unassigned.",
                ),
            )
        return cls(
            x_all,
            v_all,
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp),
            time=None if times is None else np.concatenate(times),
            warnings=cautions + check_samples(x_all, v_all),
            names=tuple(names),
            raw=raw,
            noise=noise,
        )


def _estimated(clean: list[Smoothed], smooth: bool) -> Caution:
    noise, window = np.median([c.noise for c in clean]), np.median([c.window for c in clean])
    said = "Velocities were estimated from positions and time; pass v if you have them."
    if noise > 0:
        kept = (
            "positions were smoothed alike, demos.raw has them as they came" if smooth else "positions were left alone"
        )
        said += f" Noise of about {noise:.2g} in a coordinate was averaged over {window:.0f} samples; {kept}."
    return Caution("velocities-estimated", said)


def _is_sequence_of_trajectories(data: Any) -> bool:
    """A list whose items are tables; a list of rows is one table."""
    if isinstance(data, np.ndarray):
        return data.ndim == 3 or (data.dtype == object and data.ndim == 1)
    if not isinstance(data, list | tuple) or len(data) == 0:
        return False
    # Vectors of different lengths, or fewer than they are long, are scalar trajectories and not rows of one table.
    if all(isinstance(item, np.ndarray) and item.ndim == 1 for item in data):
        lengths = {len(item) for item in data}
        return len(lengths) > 1 or len(data) <= min(lengths) >= SHORTEST_PATH
    return all(_is_table(item) for item in data)


def _has_names(data: Any) -> bool:
    """A data frame (pandas, polars, Arrow), or a list of them: its columns say what they are."""
    items = data if isinstance(data, list | tuple) else [data]
    return len(items) > 0 and all(
        not isinstance(item, np.ndarray)
        and (hasattr(item, "column_names") or (hasattr(item, "columns") and hasattr(item, "to_numpy")))
        for item in items
    )


def _is_table(item: Any) -> bool:
    if hasattr(item, "__array__"):  # arrays, and data frames, whose items are columns
        return np.ndim(np.asarray(item)) >= 2
    return isinstance(item, list | tuple) and len(item) > 0 and np.ndim(item[0]) >= 1
