"""Demonstrations: the data at the door, checked once, frozen after.

Two kinds come in. *Unordered samples*: an (n, d) array of positions and one of velocities, in any order.
*Trajectories*: a list of (T_k, d) arrays in order of time, with velocities, or with `dt` or `time` to
estimate them from. Everything after this module trusts what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ._types import BoolArray, FloatArray, IntArray
from .velocities import estimate_velocities

# The fewest nodes of a path for which the theory speaks (the paper's p_k >= 3).
SHORTEST_PATH = 3
# Beyond three decades between axes a Euclidean distance sees one axis alone.
UNIT_SPREAD = 1e3
# Velocities are asked to agree with dx/dt within a factor of two: closer is a matter of filtering, farther of units.
VELOCITY_SCALE = 2.0


@dataclass(frozen=True)
class Caution:
    """A doubt about data or result, in words, with a name that code can look for."""

    name: str
    message: str

    def __str__(self) -> str:
        return self.message


class DataError(ValueError):
    """The data cannot be used as they are; the message says what was expected, what came and what to do."""


@dataclass(frozen=True)
class Truth:
    """What is known of made-up data: for scoring, never read by `identify` or `learn`."""

    labels: IntArray
    attractors: FloatArray


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Positions `x` and velocities `v`, both (n, d).

    `offsets` holds where trajectories begin and end (trajectory k is rows offsets[k]:offsets[k+1]), or is
    None when the order of the samples means nothing. `time` is one number per sample, or None.
    """

    x: FloatArray
    v: FloatArray
    offsets: IntArray | None = None
    time: FloatArray | None = None
    warnings: tuple[Caution, ...] = ()
    truth: Truth | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.x, self.v, self.offsets, self.time):
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
        data: Any,
        v: Any = None,
        *,
        dt: float | None = None,
        time: Any = None,
    ) -> Demonstrations:
        """Whatever a user has: `of(x, v)`, `of([(x1, v1), ...])`, `of([x1, x2, ...], dt=0.01)`, or itself.

        One (n, d) array with `v` alone is unordered samples; with `dt` or `time` it is one trajectory.
        """
        if isinstance(data, Demonstrations):
            return data
        _check_dt(dt)
        if not _is_sequence_of_trajectories(data):
            if dt is None and time is None:
                return cls.from_samples(data, v)
            return cls.from_trajectories(
                [data], None if v is None else [v], dt=dt, time=None if time is None else [time]
            )
        return cls.from_trajectories(data, v, dt=dt, time=time)

    @classmethod
    def from_samples(cls, x: Any, v: Any) -> Demonstrations:
        """Unordered samples: row i of `x` moves with row i of `v`."""
        xs = _matrix(x, "x")
        if v is None:
            raise DataError(
                f"Expected velocities or time, got positions alone, shape {xs.shape}. Pass identify(x, v) for "
                "unordered samples, or identify([x1, x2, ...], dt=...) for trajectories in order of time."
            )
        vs = _matrix(v, "v")
        if xs.shape != vs.shape:
            raise DataError(f"Expected x and v of the same shape, got x {xs.shape} and v {vs.shape}.")
        _check_tall(xs.shape)
        return cls(xs, vs, warnings=_checked(xs, vs))

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Sequence[Any],
        v: Sequence[Any] | None = None,
        *,
        dt: float | None = None,
        time: Sequence[Any] | None = None,
    ) -> Demonstrations:
        """Trajectories in order of time: (x, v) pairs, or positions with `v`, `dt` or `time` (one array each)."""
        _check_dt(dt)
        pairs = [
            t if isinstance(t, tuple | list) and len(t) == 2 and np.ndim(t[0]) == 2 else None for t in trajectories
        ]
        if len(pairs) == 0:
            raise DataError("Expected at least one trajectory, got an empty list.")
        if all(p is not None for p in pairs) and v is None:
            trajectories, v = [p[0] for p in pairs if p], [p[1] for p in pairs if p]
        xs = [_matrix(t, f"trajectory {k}") for k, t in enumerate(trajectories)]
        _check_same_dimension(xs)
        times = _times(xs, time, dt)
        cautions: tuple[Caution, ...] = ()
        if v is None:
            if times is None:
                raise DataError(
                    "Expected velocities or time, got positions alone. Pass dt=..., time=[t1, t2, ...] or pairs "
                    "[(x1, v1), (x2, v2), ...]."
                )
            vs = [estimate_velocities(xk, tk) for xk, tk in zip(xs, times, strict=True)]
            cautions += (
                Caution(
                    "velocities-estimated",
                    "Velocities were estimated from positions and time; pass v if you have them.",
                ),
            )
        else:
            vs = [_matrix(vk, f"velocity of trajectory {k}") for k, vk in enumerate(v)]
            if [a.shape for a in xs] != [a.shape for a in vs]:
                raise DataError(
                    "Expected one velocity per position in every trajectory, got shapes "
                    f"{[a.shape for a in xs][:5]} and {[a.shape for a in vs][:5]}."
                )
            cautions += _check_velocity(xs, vs, times)
        lengths = np.array([len(a) for a in xs])
        x_all, v_all = np.concatenate(xs), np.concatenate(vs)
        _check_tall(x_all.shape)
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
            warnings=cautions + _checked(x_all, v_all),
        )


def _is_sequence_of_trajectories(data: Any) -> bool:
    if isinstance(data, np.ndarray):
        return data.ndim == 3 or (data.dtype == object and data.ndim == 1)
    return isinstance(data, list | tuple) and len(data) > 0 and all(np.ndim(_first(item)) >= 1 for item in data)


def _first(item: Any) -> Any:
    """First row of an array-like: a trajectory's is a vector, a sample's a number."""
    return item[0] if hasattr(item, "__len__") and len(item) else item


_KINDS = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations"}
_NOT_REAL = (
    "Expected {} as an (n, d) array of real numbers, got {} (dtype {}). Convert it with "
    "np.asarray(..., dtype=float), or pass a list of (T, d) arrays for trajectories."
)


def _matrix(a: Any, name: str) -> FloatArray:
    try:
        raw = np.asarray(a)
    except ValueError as error:
        raise DataError(
            f"Expected {name} as an (n, d) array of numbers, got rows of different lengths ({error})."
        ) from error
    if raw.dtype.kind not in "fiubO":
        raise DataError(_NOT_REAL.format(name, _KINDS.get(raw.dtype.kind, "something else"), raw.dtype))
    try:
        raw = raw.astype(np.float64)
    except (ValueError, TypeError):
        raise DataError(_NOT_REAL.format(name, "rows of different lengths or objects", raw.dtype)) from None
    out = np.array(raw, dtype=np.float64, order="C")
    if out.ndim == 1 and out.size:
        raise DataError(
            f"Expected {name} as an (n, d) array with d >= 2, got a vector of length {out.size}. A scalar system needs "
            "its velocity as second coordinate: np.column_stack([q, q_dot])."
        )
    if out.ndim != 2 or out.size == 0:
        raise DataError(f"Expected {name} as a non-empty (n, d) array, got shape {out.shape}.")
    bad = ~np.isfinite(out)
    if bad.any():
        rows = np.flatnonzero(bad.any(axis=1))
        raise DataError(
            f"Expected finite numbers in {name}, got {int(bad.sum())} NaN or infinite entries in {len(rows)} rows "
            f"(first rows: {rows[:5].tolist()}). Drop or interpolate these rows first."
        )
    return out


def _check_tall(shape: tuple[int, ...]) -> None:
    n, d = shape
    if d == 1:
        raise DataError(
            f"Expected d >= 2 coordinates, got shape {shape}. A scalar system needs its velocity as second "
            "coordinate: np.column_stack([q, q_dot])."
        )
    if n <= d:
        hint = "it looks transposed, pass x.T" if n > 1 and d > SHORTEST_PATH else "record more samples"
        raise DataError(f"Expected (n, d) with more samples than coordinates, got shape {shape}; {hint}.")


def _check_dt(dt: float | None) -> None:
    if dt is None:
        return
    try:
        step = float(dt)
    except (TypeError, ValueError):
        step = float("nan")
    if not 0 < step < float("inf"):
        raise DataError(f"Expected dt as one positive number of seconds, got {dt!r}.")


def _check_same_dimension(xs: list[FloatArray]) -> None:
    columns = {a.shape[1] for a in xs}
    if len(columns) > 1:
        if len({a.shape[0] for a in xs}) == 1:
            raise DataError(
                f"Expected trajectories as (T, d) arrays, got shapes {[a.shape for a in xs][:5]}: they look "
                "transposed, pass x.T of each."
            )
        raise DataError(f"Expected the same number of coordinates in every trajectory, got {sorted(columns)}.")


def _times(xs: list[FloatArray], time: Sequence[Any] | None, dt: float | None) -> list[FloatArray] | None:
    if time is None:
        return None if dt is None else [dt * np.arange(len(a), dtype=np.float64) for a in xs]
    shared = isinstance(time, np.ndarray) and time.ndim == 1 and time.dtype != object
    ts = [np.array(t, dtype=np.float64) for t in ([time] * len(xs) if shared else time)]
    if len(ts) != len(xs):
        raise DataError(f"Expected one time array per trajectory ({len(xs)}), got {len(ts)}.")
    for k, (a, t) in enumerate(zip(xs, ts, strict=True)):
        if t.shape != (len(a),):
            raise DataError(f"Expected {len(a)} time stamps for trajectory {k}, got shape {t.shape}.")
        if not np.isfinite(t).all():
            raise DataError(
                f"Expected finite time stamps, got {int((~np.isfinite(t)).sum())} NaN or infinite in trajectory {k}."
            )
        step = np.diff(t)
        if (step <= 0).any():
            at = int(np.argmax(step <= 0))
            what = "repeat" if step[at] == 0 else "run backwards"
            raise DataError(
                f"Expected increasing time stamps, got stamps that {what} at sample {at + 1} of trajectory {k} "
                f"({t[at]:g} then {t[at + 1]:g}). Sort by time and drop repeated stamps."
            )
    return ts


def _check_velocity(xs: list[FloatArray], vs: list[FloatArray], times: list[FloatArray] | None) -> tuple[Caution, ...]:
    """Least-squares slope between v dt and dx: its sign must be +, its size 1 where time is known."""
    dx = np.concatenate([np.diff(a, axis=0) for a in xs])
    v_mid = np.concatenate([(b[1:] + b[:-1]) / 2 for b in vs])
    alignment = np.sum(dx * v_mid) / (np.linalg.norm(dx) * np.linalg.norm(v_mid) + np.finfo(float).tiny)
    if alignment < -0.5:
        raise DataError(
            f"Expected velocities along the motion, got the opposite (alignment of v with dx is {alignment:.2f}). Flip the "
            "sign of v, or reverse the trajectories."
        )
    if times is None:
        return ()
    dt = np.concatenate([np.diff(t) for t in times])[:, None]
    slope = np.sum(dx * v_mid * dt) / (np.sum((v_mid * dt) ** 2) + np.finfo(float).tiny)
    if alignment > 0.5 and not 1 / VELOCITY_SCALE < slope < VELOCITY_SCALE:
        return (
            Caution(
                "velocity-scale",
                f"dx/dt is {slope:.3g} times the given velocities: position, velocity and time are in different units. "
                "Convert them to one set of units.",
            ),
        )
    return ()


def _checked(x: FloatArray, v: FloatArray) -> tuple[Caution, ...]:
    """Checks common to both kinds of data."""
    if not np.any(v):
        raise DataError(
            "Expected velocities, got zeros for every sample. Pass time or dt instead and let them be estimated."
        )
    cautions = []
    spread = np.ptp(x, axis=0)
    still = np.flatnonzero(spread == 0)
    if len(still) == x.shape[1]:
        raise DataError("Expected samples that move, got the same position for every sample.")
    if len(still):
        cautions.append(
            Caution(
                "constant-dimension",
                f"Coordinates {still.tolist()} never change; drop them to work in fewer dimensions.",
            )
        )
    moving = spread[spread > 0]
    if moving.max() > UNIT_SPREAD * moving.min():
        cautions.append(
            Caution(
                "mixed-units",
                f"Coordinates range from {moving.min():.3g} to {moving.max():.3g} in extent: distances see the large ones "
                "alone. Bring all coordinates to comparable units.",
            )
        )
    repeated = len(x) - int(first_occurrence(x, v).sum())
    if repeated:
        cautions.append(
            Caution(
                "duplicated-samples",
                f"{repeated} of {len(x)} samples repeat another one exactly; each is counted once.",
            )
        )
    return tuple(cautions)


def first_occurrence(x: FloatArray, v: FloatArray) -> BoolArray:
    """True for every sample that repeats no earlier one exactly.

    Rows are compared through one random linear functional of (x, v), so that a sort of n numbers does.
    """
    weights = np.random.default_rng(0).standard_normal(2 * x.shape[1])
    key = x @ weights[: x.shape[1]] + v @ weights[x.shape[1] :]
    order = np.argsort(key, kind="stable")
    a, b = order[:-1], order[1:]
    same = key[a] == key[b]
    same[same] = (x[a[same]] == x[b[same]]).all(axis=1) & (v[a[same]] == v[b[same]]).all(axis=1)
    first = np.ones(len(x), dtype=bool)
    first[b[same]] = False
    return first
