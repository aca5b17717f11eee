"""What every field is asked: states and times, checked once, refused in words; and to be saved."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from .._types import FloatArray

P = ParamSpec("P")
R = TypeVar("R")
Question = Callable[Concatenate[Any, Any, P], R]
"""A method, of itself and of states."""
SAMPLES, FINEST, MOST = 201, 0.01, 20_001
"""States returned by `simulate(duration=...)`, start and end included: at least, at what step of unit time, and at most."""

FARTHEST = 1e100
"""Of a coordinate: squares of it are numbers still, in boxes as small as 1e-50 too."""


def check_states(x: Any, dimension: int) -> tuple[FloatArray, bool]:
    """Query states as (n, d), and whether a single one was asked."""
    try:
        states = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected states as numbers, (n, {dimension}) or ({dimension},), got {type(x).__name__}."
        ) from error
    single = states.ndim == 1
    if states.ndim not in (1, 2) or states.shape[-1] != dimension:
        raise ValueError(
            f"Expected states of dimension {dimension}, as ({dimension},) or (n, {dimension}), got shape {states.shape}."
            " Query the field in the space it was learned in."
        )
    known = np.abs(states) <= FARTHEST
    if not known.all():
        bad = 0 if single else int(np.argwhere(~known)[0][0])
        raise ValueError(
            f"Expected finite states, got NaN, infinity or a number beyond {FARTHEST:g} (first in row {bad}). Remove or "
            "repair it."
        )
    return states.reshape(-1, dimension), single


def of_states(answer: str = "") -> Callable[[Question[P, R]], Question[P, R]]:
    """A question to many states (n, d), asked with one (d,) or with many: of one, the one answer. `answer` goes into its text."""

    def made(question: Question[P, R]) -> Question[P, R]:
        name = question.__code__.co_varnames[1]

        @wraps(question)
        def ask(self: Any, *given: Any, **named: Any) -> Any:
            states, alone = check_states(given[0] if given else named.pop(name, None), self.dimension)
            # From very far away squares are infinite, and what they are divided into is zero.
            with np.errstate(over="ignore"):
                said: Any = question(self, states, *given[1:], **named)
            one = said[0] if alone else said
            return one if one.ndim else one.item()

        if answer:
            kind = f"(d,) or (n, d) array\n\n        Returns\n        -------\n        {answer}\n"
            ask.__doc__ = f"{question.__doc__}\n\n        Parameters\n        ----------\n        x : {kind}"
        return cast("Question[P, R]", ask)

    return made


def check_state(x: Any, dimension: int) -> FloatArray:
    """One state (d,)."""
    states, single = check_states(x, dimension)
    if not single:
        raise ValueError(f"Expected one state ({dimension},), got {len(states)}. Ask for each by itself.")
    return np.asarray(states[0])


def check_times(duration: float | None, t: Any, pace: float = 0.0) -> FloatArray:
    """Rising times that begin at the start of the roll-out; for a duration, so many that the path has no kinks."""
    if (duration is None) == (t is None):
        raise ValueError("Expected either duration=... or t=..., got both or none. Pass one of them.")
    if t is None:
        assert duration is not None
        if not (np.isfinite(duration) and duration > 0):
            raise ValueError(f"Expected a finite duration > 0, got {duration}.")
        return np.linspace(0.0, duration, min(max(SAMPLES, int(duration * pace / FINEST) + 1), MOST))
    times = np.asarray(t, dtype=np.float64)
    if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise ValueError(
            f"Expected t as rising finite times (n,), got shape {times.shape}. Sort it; t[0] is the time of x0."
        )
    return times


def check_step(dt: Any) -> float:
    """A time step."""
    if not isinstance(dt, (int, float, np.integer, np.floating)) or not (np.isfinite(dt) and dt > 0):
        raise ValueError(f"Expected a time step dt > 0, got {dt!r}. Time runs forwards.")
    return float(dt)


def check_index(q: Any, count: int, what: str) -> int:
    """An index 0..count-1 of something."""
    if isinstance(q, (bool, np.bool_)) or not isinstance(q, (int, np.integer)) or not 0 <= q < count:
        raise ValueError(f"Expected {what} 0 to {count - 1}, got {q!r}. The field has {count}.")
    return int(q)


class Saved:
    """A field that `models` can write."""

    def save(self: Any, path: Any, *, overwrite: bool = False) -> None:
        """Write one file; eigenwell.load(path) brings the same numbers back.

        Parameters
        ----------
        path, overwrite
            As in `eigenwell.models.save`.

        Examples
        --------
        >>> field.save("duffing.eigenwell")  # doctest: +SKIP
        """
        from ..models import save

        save(self, path, overwrite=overwrite)
