"""The phase portrait of an estimated field: its sinks, its cycles, and the fate of every state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .carrying import LEFT, WANDERING, Carried, Support, carry
from .cycles import LimitCycle, limit_cycle
from .equilibria import Sink, sinks
from .regression import FlowField

# Newton starts and states carried to find what attracts.
STARTS, SCOUTS = 200, 300
# Steps before the first look at what is still on its way, and how often it is looked at again.
STEPS, LOOKS = 150, 6
# Samples carried one by one; beyond these only those near a border are.
CARRIED = 2500


@dataclass(frozen=True, eq=False)
class Portrait:
    """Attractors of one field. Traps outside the data count as leaving: `inside` says which are attractors."""

    field: FlowField
    traps: tuple[Sink | LimitCycle, ...]
    inside: tuple[bool, ...]
    support: Support

    @property
    def attractors(self) -> tuple[Sink | LimitCycle, ...]:
        return tuple(t for t, ok in zip(self.traps, self.inside, strict=True) if ok)

    def number(self, fate: IntArray) -> IntArray:
        """Trap numbers turned into attractor numbers, LEFT for traps outside the data."""
        table = np.full(len(self.traps) + 2, LEFT, dtype=np.intp)
        table[np.flatnonzero(self.inside)] = np.arange(sum(self.inside))
        table[WANDERING], table[LEFT] = WANDERING, LEFT
        return table[fate]


def portrait(field: FlowField, starts: FloatArray, scouts: FloatArray, support: Support) -> tuple[Portrait, Carried]:
    """What the scouts end in. `starts` are Newton's: sinks that no scout reaches are sinks too."""
    traps: list[Sink | LimitCycle] = list(sinks(field, starts))
    fate = np.full(len(scouts), WANDERING, dtype=np.intp)
    end, time = np.array(scouts), np.zeros(len(scouts))
    steps = STEPS
    for _ in range(LOOKS):
        wandering = np.flatnonzero(fate == WANDERING)
        if len(wandering) == 0:
            break
        carried = carry(field, end[wandering], traps, support, steps=steps)
        fate[wandering], end[wandering] = carried.fate, carried.end
        time[wandering] += carried.time
        wandering = wandering[carried.fate == WANDERING]
        _add_new(field, traps, end[wandering])
        steps *= 2
    inside = tuple(_inside(t, support) for t in traps)
    empty = np.empty(0)
    found = Portrait(field, tuple(traps), inside, support)
    return found, Carried(fate, end, time, np.empty((0, scouts.shape[1])), empty.astype(np.intp), empty)


def _inside(trap: Sink | LimitCycle, support: Support) -> bool:
    if isinstance(trap, Sink):
        return bool(support.holds(trap.place[None], float(np.sqrt(np.trace(trap.error))))[0])
    return bool(support.holds(trap.curve).mean() > 0.9)


def _add_new(field: FlowField, traps: list[Sink | LimitCycle], states: FloatArray) -> None:
    """Sinks and cycles that states still on their way point to."""
    if len(states) == 0:
        return
    known = [t.place for t in traps if isinstance(t, Sink)]
    for sink in sinks(field, states[:50]):
        if all(np.linalg.norm(sink.place - p) > 1e-3 for p in known):
            traps.append(sink)
    left = states
    for _ in range(3):
        for trap in traps:
            left = left[~trap.holds(left)]
        if len(left) == 0:
            return
        cycle = limit_cycle(field, left[0], traps)
        if cycle is None:
            left = left[1:]
        else:
            traps.append(cycle)


def fates(found: Portrait, y: FloatArray) -> tuple[IntArray, FloatArray]:
    """Attractor of every state (or LEFT, WANDERING) and the time it takes to get into its trap.

    Of many states some are carried; along their paths everything shares their fate, and what lies among such places of
    one fate shares it too. Only states with neighbours of different fates are carried themselves.
    """
    first = y[:CARRIED]
    steps = STEPS * 2**LOOKS
    carried = carry(found.field, first, found.traps, found.support, steps=steps, keep=len(y) > CARRIED)
    fate, time = np.empty(len(y), dtype=np.intp), np.empty(len(y))
    fate[: len(first)], time[: len(first)] = carried.fate, carried.time
    if len(y) > CARRIED:
        rest = y[CARRIED:]
        marks = np.concatenate([carried.states, carried.end])
        mark_fate = np.concatenate([carried.fate[carried.owner], carried.fate])
        mark_time = np.concatenate([carried.to_go, np.zeros(len(first))])
        near = cKDTree(marks).query(rest, k=min(6, len(marks)))[1]
        agreed = (mark_fate[near] == mark_fate[near[:, :1]]).all(axis=1)
        at = CARRIED + np.flatnonzero(~agreed)
        fate[CARRIED:], time[CARRIED:] = mark_fate[near[:, 0]], mark_time[near[:, 0]]
        again = carry(found.field, y[at], found.traps, found.support, steps=steps)
        fate[at], time[at] = again.fate, again.time
    return found.number(fate), time
