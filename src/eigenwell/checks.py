"""What data must be like, and the sentences for data that are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ._types import BoolArray, FloatArray
from .errors import DataError
from .wording import plural

# The fewest nodes of a path for which the theory speaks (the paper's p_k >= 3).
SHORTEST_PATH = 3
# Beyond three decades between axes a Euclidean distance sees one axis alone.
UNIT_SPREAD = 1e3
# No motion that is sampled at all takes steps this much longer than 98 % of its others.
JUMP = 20.0
# Velocities are asked to agree with dx/dt within a factor of two: closer is a matter of filtering, farther of units.
VELOCITY_SCALE = 2.0

# Squares of numbers between these are numbers, with room for sums of them.
SMALLEST, LARGEST = 1e-150, 1e150
# Columns are copies when what tells them apart is this small a share of the whole.
COPIED = 1e-9
# Velocities that agree with the motion in direction by less than this, at any of these lags and over so many steps, belong
# to something else: with noise as large as the motion itself the cosine at lag 16 is still above 0.9.
UNRELATED, LAGS, MANY_STEPS = 0.2, (4, 16), 50


@dataclass(frozen=True)
class Caution:
    """A doubt about data or result, in words, with a name that code can look for.

    Parameters
    ----------
    name : str
        Short, with hyphens: "velocities-estimated".
    message : str
        A sentence or two: what is doubtful and what to do.

    Examples
    --------
    >>> import eigenwell as ew
    >>> print(ew.demonstrations.Caution("noisy", "The samples are noisy."))
    The samples are noisy.
    """

    name: str
    message: str

    def __str__(self) -> str:
        return self.message


_KINDS = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations"}
_NOT_REAL = (
    "Expected {} as an (n, d) array of real numbers, got {} (dtype {}). Convert it with "
    "np.asarray(..., dtype=float), or pass a list of (T, d) arrays for trajectories."
)


def matrix(a: Any, name: str) -> FloatArray:
    if isinstance(a, str | PathLike):
        raise DataError(
            f"Expected {name} as an (n, d) array, got the text {str(a)!r}. A file is read first: ew.files.read({str(a)!r})."
        )
    if isinstance(a, Iterator):
        raise DataError(f"Expected {name} as arrays or a list of them, got a generator. Pass list(...) of it.")
    if np.ma.isMaskedArray(a) and np.ma.is_masked(a):
        raise DataError(
            f"Expected {name} without gaps, got {int(np.ma.getmaskarray(a).sum())} masked entries. Drop these rows first."
        )
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
    if out.ndim == 1 and out.size:  # a scalar system: one coordinate
        out = out[:, None]
    if out.ndim != 2 or out.size == 0:
        raise DataError(f"Expected {name} as a non-empty (n, d) array, got shape {out.shape}.")
    check_finite(out, f"numbers in {name}")
    return out


def check_finite(table: FloatArray, what: str) -> None:
    """Refuse NaN and infinity in an (n, d) table, with how many there are and where."""
    bad = ~np.isfinite(table)
    if bad.any():
        rows = np.flatnonzero(bad.any(axis=1))
        raise DataError(
            f"Expected finite {what}, got {int(bad.sum())} NaN or infinite entries in {len(rows)} rows "
            f"(first rows: {rows[:5].tolist()}). Drop or interpolate these rows first."
        )


def check_tall(shape: tuple[int, ...]) -> None:
    n, d = shape
    if n <= d:
        hint = "it looks transposed, pass x.T" if n > 1 and d > SHORTEST_PATH else "record more samples"
        raise DataError(f"Expected (n, d) with more samples than coordinates, got shape {shape}; {hint}.")


def check_dt(dt: float | None) -> None:
    if dt is None:
        return
    try:
        step = float("nan") if isinstance(dt, str) else float(dt)
    except (TypeError, ValueError):
        step = float("nan")
    if not 0 < step < float("inf"):
        raise DataError(f"Expected dt as one positive number of seconds, got {dt!r}.")


def check_same_dimension(xs: list[FloatArray]) -> None:
    columns = {a.shape[1] for a in xs}
    if len(columns) > 1:
        if len({a.shape[0] for a in xs}) == 1 and xs[0].shape[0] < min(columns):
            raise DataError(
                f"Expected trajectories as (T, d) arrays, got shapes {[a.shape for a in xs][:5]}: they look "
                "transposed, pass x.T of each."
            )
        raise DataError(f"Expected the same number of coordinates in every trajectory, got {sorted(columns)}.")


def time_stamps(xs: list[FloatArray], time: Sequence[Any] | None, dt: float | None) -> list[FloatArray] | None:
    if time is not None and dt is not None:
        raise DataError(
            "Expected dt or time, got both. Pass time alone; dt is for samples at equal steps without stamps."
        )
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
        if (step < 0).any():
            at = int(np.argmax(step < 0))
            raise DataError(
                f"Expected increasing time stamps, got stamps that run backwards at sample {at + 1} of trajectory {k} "
                f"({t[at]:g} then {t[at + 1]:g}). Sort by time, or split the recording there."
            )
        if len(t) > 1 and not step.any():
            raise DataError(f"Expected increasing time stamps, got {t[0]:g} for every sample of trajectory {k}.")
    return ts


def spread_stamps(ts: list[FloatArray]) -> tuple[list[FloatArray], tuple[Caution, ...]]:
    """Stamps without repeats: samples that share one are spread evenly over the time until the next.

    Loggers that round to milliseconds, or write a burst at once, repeat stamps; the samples were taken one after the other.
    """
    out, repeated = [], 0
    for t in ts:
        new = np.concatenate([[True], np.diff(t) > 0])
        if new.all():
            out.append(t)
            continue
        repeated += int((~new).sum())
        first = np.flatnonzero(new)
        count = np.diff(np.append(first, len(t)))
        gap = np.diff(t[first])
        # The last burst has no next stamp: it is as long, sample for sample, as the recording on average.
        length = np.append(gap, count[-1] * gap.sum() / max(len(t) - count[-1], 1))
        within = np.arange(len(t)) - np.repeat(first, count)
        out.append(t + within * np.repeat(length / count, count))
    if not repeated:
        return out, ()
    said = f"{repeated} time stamps repeat the one before; these samples were spread evenly over the time to the next."
    return out, (Caution("repeated-stamps", said),)


def check_jumps(xs: list[FloatArray], names: Sequence[str] = ()) -> tuple[Caution, ...]:
    """Steps twenty times longer than nearly all others of their trajectory: recordings pasted together, or lost frames."""
    found = []
    for k, x in enumerate(xs):
        if len(x) < 20:
            continue
        step = np.linalg.norm(np.diff(x, axis=0), axis=1)
        usual = np.quantile(step, 0.98)
        jumps = np.flatnonzero(step > JUMP * usual) if usual > 0 else np.empty(0, dtype=np.intp)
        if len(jumps):
            called = f"{k} ({names[k]})" if names else str(k)
            often = "once" if len(jumps) == 1 else f"{len(jumps)} times, first"
            found.append(f"{called} {often} after sample {jumps[0]}")
    if not found:
        return ()
    more = f" and {plural(len(found) - 10, 'more trajectory', 'more trajectories')}" if len(found) > 10 else ""
    said = (
        f"Jumps by more than {JUMP:.0f} usual steps: trajectory {', trajectory '.join(found[:10])}{more}. That looks like "
        "several recordings in one. Split them there, leave them out with exclude=, or pass unordered samples."
    )
    return (Caution("jumps", said),)


def check_velocity(xs: list[FloatArray], vs: list[FloatArray], times: list[FloatArray] | None) -> tuple[Caution, ...]:
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
    related = max(alignment, *(_alignment(xs, vs, lag) for lag in LAGS))
    if len(dx) >= MANY_STEPS and related < UNRELATED:
        raise DataError(
            f"Expected velocities along the motion, got velocities that have nothing to do with it (alignment of v with dx is "
            f"{related:.2f} at best). Are these columns velocities? Leave them out, and they are estimated from time."
        )
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


def _alignment(xs: list[FloatArray], vs: list[FloatArray], lag: int) -> float:
    """Cosine between what the samples moved by in `lag` steps and the mean velocity over these: noise averages out."""
    moved = [a[lag:] - a[:-lag] for a in xs if len(a) > lag]
    sums = [np.cumsum(np.vstack([np.zeros(b.shape[1]), b]), axis=0) for b in vs if len(b) > lag]
    if not moved:
        return -1.0
    dx, v = np.concatenate(moved), np.concatenate([c[lag + 1 :] - c[1:-lag] for c in sums])
    return float(np.sum(dx * v) / (np.linalg.norm(dx) * np.linalg.norm(v) + np.finfo(float).tiny))


def check_squares(x: FloatArray, v: FloatArray) -> None:
    """Refuse units in which distances cannot be calculated."""
    for what, table in (("positions", x), ("velocities", v)):
        size = float(np.abs(table).max())
        if size and not SMALLEST < size < LARGEST:
            raise DataError(f"Expected {what} whose squares are numbers, got up to {size:.3g}. Choose another unit.")


def check_samples(x: FloatArray, v: FloatArray) -> tuple[Caution, ...]:
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
    cautions += _copied_columns(x, v)
    repeated = len(x) - int(first_occurrence(x, v).sum())
    if repeated:
        cautions.append(
            Caution(
                "duplicated-samples",
                f"{repeated} of {len(x)} samples repeat another one exactly; each is counted once.",
            )
        )
    return tuple(cautions)


def _copied_columns(x: FloatArray, v: FloatArray) -> list[Caution]:
    """Velocity columns that are multiples of each other while the positions are not: one column was read twice."""
    if x.shape[1] < 2 or np.linalg.matrix_rank(v, tol=COPIED * np.linalg.norm(v)) == v.shape[1]:
        return []
    centred = x - x.mean(axis=0)
    if np.linalg.matrix_rank(centred, tol=COPIED * np.linalg.norm(centred)) <= np.linalg.matrix_rank(
        v, tol=COPIED * np.linalg.norm(v)
    ):
        return []
    said = "The velocity columns are copies or multiples of each other, and the positions are not: was one column read twice?"
    return [Caution("dependent-velocities", said)]


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
