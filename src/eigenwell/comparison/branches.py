"""Attractors along a parameter: which is which from value to value, and where one is born, dies, splits, merges or begins to
oscillate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..flow.slices import STEPS, AtValue, Swept
from .conditions import tracked
from .matching import Basins, between
from .shares import TAIL

# Values beside a change within which it is looked for.
BESIDE = 3


@dataclass(frozen=True)
class Event:
    """Where the states change along a parameter.

    Attributes
    ----------
    what : str
        "born", "dies", "splits", "merges" (with a state), "oscillates" or "comes to rest"; "leaves the data" where it goes on
        beyond the samples, or "enters the data" from there.
    state : int
        Which.
    value : float
        Of the parameter, most likely.
    low, high : float
        The interval that holds it with 90 %.
    relative : int
        The state it splits from or merges with; -1 for none.

    Examples
    --------
    >>> import eigenwell as ew
    >>> print(ew.comparison.Event("dies", 0, 1.5, 1.4, 1.6))
    state 0 dies at 1.5 (1.4 to 1.6)
    """

    what: str
    state: int
    value: float
    low: float
    high: float
    relative: int = -1

    def __str__(self) -> str:
        whom = {"splits": f" off from state {self.relative}", "merges": f" with state {self.relative}"}
        # Two digits of what is not known.
        known = 1 - math.floor(math.log10(self.high - self.low)) if self.high > self.low else 6
        value, low, high = (f"{round(p, known) + 0.0:.10g}" for p in (self.value, self.low, self.high))
        does = "is born" if self.what == "born" else self.what
        return f"state {self.state} {does}{whom.get(self.what, '')} at {value} ({low} to {high})"


def branches(seen: Sequence[AtValue]) -> IntArray:
    """(S, C) the attractor that is state s at each value: as they appear, and those that appear together by their place, as
    identify numbers attractors."""
    states = tracked([Basins(a.places, a.fates, cKDTree(a.scouts)) for a in seen])

    def first(row: IntArray) -> tuple[int, list[float]]:
        c = int(np.flatnonzero(row >= 0)[0])
        return c, list(seen[c].located[row[c]].position)

    return np.array(sorted(states, key=first), dtype=np.intp).reshape(-1, len(seen))


def events(values: FloatArray, states: IntArray, seen: list[AtValue], swept: Swept) -> tuple[Event, ...]:
    """Births, deaths, splits, merges, and where a rest becomes a cycle or a cycle comes to rest, by value."""
    out: list[Event] = []
    last = len(values) - 1
    for s, row in enumerate(states):
        there = row >= 0
        for c in range(last):
            if there[c] and there[c + 1]:
                kinds = [seen[k].located[row[k]].kind for k in (c, c + 1)]
                if kinds[0] != kinds[1]:
                    what = "oscillates" if kinds[0] == "point" else "comes to rest"
                    at = _lost(values, row, seen, swept, c, forward=kinds[0] == "point")
                    out.append(_event(what, s, at, values[c : c + 2]))
            elif there[c] != there[c + 1]:
                out.append(_end(values, states, seen, swept, s, c))
    return tuple(sorted(out, key=lambda e: e.value))


def _end(values: FloatArray, states: IntArray, seen: list[AtValue], swept: Swept, s: int, c: int) -> Event:
    """State s ends between values c and c + 1, or begins there; on its own, or parting from another.

    With the least asymmetry of an estimate, of two that part one seems whole and the other born: which of them, chance decides,
    and some replicates decide otherwise.
    """
    dies = bool(states[s, c] >= 0)
    here, there = (c, c + 1) if dies else (c + 1, c)
    gap, place = values[c : c + 2], seen[here].places[states[s, here]]
    if seen[here].located[states[s, here]].kind != "point":
        return _event("dies" if dies else "born", s, None, gap)
    # What happens, fields that are smoothed say; where, those that are hardly.
    stop = values[_beyond(here, 1 if dies else -1, len(values))]
    stay = [
        k
        for k in np.flatnonzero((states[:, here] >= 0) & (states[:, there] >= 0))
        if k != s and seen[here].located[states[k, here]].kind == "point"
    ]
    if stay:
        where = [seen[here].places[states[k, here]] for k in stay]
        k = int(np.argmin([np.linalg.norm(w - place) for w in where]))
        other, partner, middle = int(stay[k]), where[k], seen[there].places[states[stay[k], there]]
        whole = np.isclose(_lost(values, states[other], seen, swept, c, forward=dies, smoothed=True), stop)
        if between(middle, place, partner) or not whole.all():
            a, b = max(c + 1 - BESIDE, 0), min(c + BESIDE, len(values) - 1)
            at = swept.parts(place, partner, *(values[[a, b]] if dies else values[[b, a]]))
            inside = (at > values[a]) & (at < values[b])
            if 2 * inside.sum() > len(at):
                return _event("merges" if dies else "splits", s, at[inside], gap, other)
    beyond = np.isclose(_lost(values, states[s], seen, swept, c, forward=dies, smoothed=True), stop)
    if 2 * beyond.sum() > len(beyond):
        # By most fields the rest goes on, where none of the samples goes.
        return _event("leaves the data" if dies else "enters the data", s, None, gap)
    at = _lost(values, states[s], seen, swept, c, forward=dies)
    return _event("dies" if dies else "born", s, at, gap)


def _beyond(here: int, step: int, count: int) -> int:
    """A few values on, or the last."""
    return min(max(here + BESIDE * step, 0), count - 1)


def _lost(
    values: FloatArray,
    row: IntArray,
    seen: list[AtValue],
    swept: Swept,
    c: int,
    *,
    forward: bool,
    smoothed: bool = False,
) -> FloatArray:
    """Where the rest that is there at value c (forward) or c + 1 is lost, by the loose fields, or where most of them do not have
    it and where it is asked, by the smoothed ones; looked for a few values beyond."""
    step = 1 if forward else -1
    here = c if forward else c + 1
    # From where it is sure to be there: a few values back, as far as it is one state at rest.
    start = here
    for k in range(here - step, here - BESIDE * step, -step):
        if not 0 <= k < len(values) or row[k] < 0 or seen[k].located[row[k]].kind != "point":
            break
        start = k
    place, stop = seen[start].places[row[start]], values[_beyond(here, step, len(values))]
    if not smoothed:
        at = swept.lost(place, values[start], stop, swept.loose)
        if 2 * len(at) > len(swept.loose):
            return at
    return swept.lost(place, values[start], stop, [b.field for b in swept.many])


def _event(what: str, s: int, at: FloatArray | None, gap: FloatArray, relative: int = -1) -> Event:
    """The median of the replicates and the interval that holds 90 %; the gap between two values where nothing is followed."""
    if at is None or len(at) == 0:
        return Event(what, s, float(gap.mean()), float(gap[0]), float(gap[1]), relative)
    # The truth is as one replicate more: of R in order, the k-th has it below with a probability of k / (R + 1).
    low, middle, high = np.quantile(at, [TAIL, 0.5, 1 - TAIL], method="weibull")
    margin = (gap[1] - gap[0]) / STEPS  # no finer is looked
    return Event(what, s, float(middle), float(low - margin), float(high + margin), relative)
