"""Time stamps in seconds, whatever unit the file has them in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..demonstrations import Caution
from .columns import unit

_SCALES = {"milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_NAMED = {
    "s": "seconds", "sec": "seconds", "secs": "seconds", "seconds": "seconds",
    "ms": "milliseconds", "milliseconds": "milliseconds",
    "us": "microseconds", "µs": "microseconds", "microseconds": "microseconds",
    "ns": "nanoseconds", "nanoseconds": "nanoseconds",
}  # fmt: skip
# Seconds since 1970 for the years 2001 to 2096: a stamp in this range, times 1, 1e3, 1e6 or 1e9, is wall-clock time.
_EPOCH = (1e9, 4e9)
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]")
_ZONE = re.compile(r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?)$")
# 1.5.2024 12:30:00,25, 5/1/2024 12:30:00 PM, 12:30:00.25 and 30:00.25, as spreadsheets and stopwatches write them.
_WRITTEN = re.compile(
    r"(?:(?P<a>\d{1,2})(?P<between>[./-])(?P<b>\d{1,2})[./-](?P<year>\d{4})[ T]+)?"
    r"(?:(?P<hour>\d{1,2}):)?(?P<minute>\d{1,2}):(?P<second>\d{1,2}(?:[.,]\d*)?) *(?P<half>[AaPp][Mm])?"
)
_LONGEST_STEP = 10.0
# Whole numbers two or more apart are not seconds: nobody records a motion at less than one sample in two seconds.
_STEPS = ((2, 1e3, "milliseconds"), (1e3, 1e5, "microseconds"), (1e5, np.inf, "nanoseconds"))


def date(text: str) -> np.datetime64:
    """An ISO date and time, 2024-05-01T12:30:00.25Z, with any number of digits and a zone or none; or a day and a time of it
    as people write them, where one with slashes begins with its month; or a time alone. NaT for none of these."""
    cell = text.strip().strip('"')
    if (written := _WRITTEN.fullmatch(cell)) is not None:
        return _as_written(written)
    cell = cell.replace(" ", "T", 1)
    zone = _ZONE.search(cell)
    try:
        stamp = np.datetime64(cell[: zone.start()] if zone else cell, "ns")
    except ValueError:
        return np.datetime64("NaT")
    if zone and zone["hours"]:
        offset = np.timedelta64(int(zone["hours"]) * 60 + int(zone["minutes"] or 0), "m")
        stamp = stamp - offset if zone["sign"] == "+" else stamp + offset
    return stamp


def _as_written(said: re.Match[str]) -> np.datetime64:
    first, second = (int(said[name] or 1) for name in ("a", "b"))
    month, day = (first, second) if said["between"] == "/" and first <= 12 else (second, first)
    hour, half = int(said["hour"] or 0), (said["half"] or "").lower()
    hour = hour % 12 + 12 * (half == "pm") if half else hour
    whole, _, part = said["second"].replace(",", ".").partition(".")
    try:
        begin = np.datetime64(f"{said['year'] or 1970}-{month:02d}-{day:02d}", "ns")
    except ValueError:
        return np.datetime64("NaT")
    seconds = 3600 * hour + 60 * int(said["minute"]) + int(whole)
    return begin + np.timedelta64(10**9 * seconds + int(f"{part:0<9}"[:9]), "ns")


def is_date(text: str) -> bool:
    cell = text.strip().strip('"')
    return bool(_DATE.match(cell) or _WRITTEN.fullmatch(cell)) and not np.isnat(date(text))


def since_first() -> Callable[[str], float]:
    """Turns ISO dates into seconds since the first of them, which keeps their nanoseconds."""
    first: list[np.datetime64] = []

    def convert(text: str) -> float:
        stamp = date(text)
        if np.isnat(stamp):
            raise ValueError(f"expected a date and time, got {text!r}")
        if not first:
            first.append(stamp)
        return float((stamp - first[0]) / np.timedelta64(1, "ns")) * 1e-9

    return convert


def seconds(
    time: NDArray[Any], name: str, x: FloatArray, v: FloatArray | None, trajectory: IntArray | None
) -> tuple[FloatArray, tuple[Caution, ...]]:
    """`time` in seconds, and what was done to it. Stamps in seconds come back untouched, bit for bit.

    The unit is taken from the column's name, else from wall-clock stamps, else from velocities (dx/dt must be v), else
    from the step of whole numbers.
    """
    if time.dtype.kind in "OUST" and len(time) and is_date(str(time[0])):
        convert = since_first()
        return np.array([convert(str(cell)) for cell in time]), ()
    if np.issubdtype(time.dtype, np.datetime64):
        time, name = time.astype("datetime64[ns]").astype(np.int64), "time [ns]"
    said = _NAMED.get(unit(name) or "")
    found = said or _measured(time, x, v, trajectory)
    if found is None or found == "seconds":
        return np.asarray(time, dtype=np.float64), ()
    scaled = np.asarray((time - time[0]).astype(np.float64) * _SCALES[found])
    why = "as the name of the column says" if said else "judged by their size"
    caution = Caution(
        "time-unit",
        f"Time stamps are {found}, {why}, and were turned into seconds. Name the column time_s to leave them alone.",
    )
    return scaled, (caution,)


def _measured(time: NDArray[Any], x: FloatArray, v: FloatArray | None, trajectory: IntArray | None) -> str | None:
    stamps = np.asarray(time, dtype=np.float64)
    if len(stamps) < 2 or not np.isfinite(stamps).all():
        return None
    same = np.ones(len(stamps) - 1, bool) if trajectory is None else np.diff(trajectory) == 0
    step = np.diff(stamps)
    same &= step > 0
    if not same.any():
        return None
    size, typical = float(np.median(stamps)), float(np.median(step[same]))
    for found, scale in (("seconds", 1.0), *_SCALES.items()):
        if _EPOCH[0] <= size * scale <= _EPOCH[1] and typical * scale < _LONGEST_STEP:
            return found
    if v is not None:
        return _from_velocity(np.diff(x, axis=0)[same], (v[1:] + v[:-1])[same] / 2, step[same])
    whole = bool((stamps == np.round(stamps)).all())
    return next((found for low, high, found in _STEPS if whole and low <= typical < high), None)


def _from_velocity(dx: FloatArray, v: FloatArray, step: FloatArray) -> str | None:
    """dx = v dt holds for one unit of time; a factor of two is left to noise."""
    if not (np.isfinite(dx).all() and np.isfinite(v).all()):
        return None
    moved = v * step[:, None]
    scale = float(np.sum(dx * moved) / max(float(np.sum(moved**2)), np.finfo(np.float64).tiny))
    return next((found for found, factor in _SCALES.items() if factor / 2 < scale < factor * 2), None)
