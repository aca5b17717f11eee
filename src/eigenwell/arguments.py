"""What users pass for data: which kind it is, and trajectories checked and brought into one table."""

from __future__ import annotations

from collections.abc import Sequence
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
    matrix,
    spread_stamps,
    time_stamps,
)
from .data_frames import is_frame
from .errors import DataError
from .velocities import Smoothed, smoothed

# A rest is where a recording stays within this share of the extent, or within its noise.
STILL = 1e-3


def trajectory_columns(
    trajectories: Sequence[Any],
    v: Sequence[Any] | None,
    dt: float | None,
    time: Sequence[Any] | None,
    names: Sequence[str],
    smooth: bool,
) -> dict[str, Any]:
    """The fields of Demonstrations, from trajectories in order of time; velocities are estimated where there are none."""
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
    vs = None
    if v is not None:
        vs = [matrix(vk, f"velocity of trajectory {k}") for k, vk in enumerate(v)]
        if [a.shape for a in xs] != [a.shape for a in vs]:
            raise DataError(
                "Expected one velocity per position in every trajectory, got shapes "
                f"{[a.shape for a in xs][:5]} and {[a.shape for a in vs][:5]}."
            )
    found = moving_columns(xs, vs, time_stamps(xs, time, dt), names, smooth)
    lengths = np.array([len(a) for a in xs])
    check_tall(found["x"].shape)
    cautions = found["warnings"]
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
    return found | {
        "offsets": np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp),
        "warnings": cautions + check_samples(found["x"], found["v"]),
        "names": tuple(names),
    }


def moving_columns(
    xs: list[FloatArray],
    vs: list[FloatArray] | None,
    times: list[FloatArray] | None,
    names: Sequence[str] = (),
    smooth: bool = True,
) -> dict[str, Any]:
    """Positions, velocities and times of some trajectories, and what is doubtful about them; velocities are estimated, and
    noise taken off the positions, where there are none."""
    cautions = check_jumps(xs, names)
    raw, noise = None, None
    if times is not None:
        times, repeats = spread_stamps(times)
        cautions += repeats
    if vs is not None:
        cautions += check_velocity(xs, vs, times)
    elif times is None:
        raise DataError(
            "Expected velocities or time, got positions alone. Pass dt=..., time=[t1, t2, ...] or pairs "
            "[(x1, v1), (x2, v2), ...]."
        )
    else:
        clean = [smoothed(xk, tk) for xk, tk in zip(xs, times, strict=True)]
        vs, noise = [c.v for c in clean], np.array([c.noise for c in clean])
        if smooth and noise.any():
            raw, xs = np.concatenate(xs), [c.x for c in clean]
        cautions += (_estimated(clean, smooth),)
    time = None if times is None else np.concatenate(times)
    columns = {"x": np.concatenate(xs), "v": np.concatenate(vs), "time": time}
    return columns | {"warnings": cautions, "raw": raw, "noise": noise}


def _estimated(clean: list[Smoothed], smooth: bool) -> Caution:
    noise, window = np.median([c.noise for c in clean]), np.median([c.window for c in clean])
    said = "Velocities were estimated from positions and time; pass v if you have them."
    if noise > 0:
        kept = (
            "positions were smoothed alike, demos.raw has them as they came" if smooth else "positions were left alone"
        )
        said += f" Noise of about {noise:.2g} in a coordinate was averaged over {window:.0f} samples; {kept}."
    return Caution("velocities-estimated", said)


def is_sequence_of_trajectories(data: Any) -> bool:
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


def has_names(data: Any) -> bool:
    """A data frame (pandas, polars, Arrow), or a list of them: its columns say what they are."""
    items = data if isinstance(data, list | tuple) else [data]
    return len(items) > 0 and all(map(is_frame, items))


def _is_table(item: Any) -> bool:
    if hasattr(item, "__array__"):  # arrays, and data frames, whose items are columns
        return np.ndim(np.asarray(item)) >= 2
    return isinstance(item, list | tuple) and len(item) > 0 and np.ndim(item[0]) >= 1


def moving_samples(x: FloatArray, offsets: IntArray | None, noise: FloatArray | None) -> BoolArray:
    """False where a trajectory stands still at its start or end: see `Demonstrations.moving`."""
    out = np.ones(len(x), dtype=bool)
    if offsets is None:
        return out
    extent = STILL * float(np.ptp(x, axis=0).max())
    for k, (a, b) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        reach = max(extent, 4 * float(noise[k])) if noise is not None else extent
        for rows in (np.arange(a, b), np.arange(a, b)[::-1]):
            away = np.linalg.norm(x[rows] - x[rows[0]], axis=1) > reach
            resting = int(np.argmax(away)) if away.any() else len(rows)
            out[rows[: max(resting - 1, 0)]] = False
    return out
