"""The phase portrait of an estimated field: its sinks, its cycles, the fate of every state, and the carried samples as the
theory's paths, of one attractor each and threaded along a few solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH
from ..graphs import PathGraph
from .border import EdgeSink, edge_sinks, held_fates
from .field import MANY_DIMENSIONS, FlowField, spread_out
from .integration import ASKED, FEW, LEFT, LOOKS, PLACES, STEPS, WANDERING, Carried, Support, carry
from .traps import LimitCycle, Sink, limit_cycle, sinks, without

Trap = Sink | LimitCycle | EdgeSink

# Samples carried one by one; beyond these only those near a border are.
CARRIED = 10 * ASKED


@dataclass(frozen=True, eq=False)
class Portrait:
    """Attractors of one field. Traps outside the data count as leaving: `inside` says which are attractors."""

    field: FlowField
    traps: tuple[Trap, ...]
    inside: tuple[bool, ...]
    support: Support

    @property
    def attractors(self) -> tuple[Trap, ...]:
        return tuple(t for t, ok in zip(self.traps, self.inside, strict=True) if ok)

    def of(self, field: FlowField, scouts: FloatArray) -> tuple[Portrait, Carried]:
        """That of a field like this one: what attracts here is where it is looked for first."""
        places = [t.place for t in self.traps if not isinstance(t, LimitCycle)]
        starts = np.concatenate([np.array(places).reshape(-1, scouts.shape[1]), scouts[:FEW]])
        cycles = [t.curve[0] for t in self.attractors if isinstance(t, LimitCycle)]
        return portrait(field, starts, scouts, self.support, cycles)

    def number(self, fate: IntArray) -> IntArray:
        """Trap numbers turned into attractor numbers, LEFT for traps outside the data."""
        table = np.full(len(self.traps) + 2, LEFT, dtype=np.intp)
        table[np.flatnonzero(self.inside)] = np.arange(sum(self.inside))
        table[WANDERING], table[LEFT] = WANDERING, LEFT
        return table[fate]


def portrait(
    field: FlowField, starts: FloatArray, scouts: FloatArray, support: Support, near: Sequence[FloatArray] = ()
) -> tuple[Portrait, Carried]:
    """What the scouts end in. What fewer than three of them reach is no attractor: nothing could be said about it.

    `near`: states on the cycles of a field like this one, from which its own are looked for first.
    """
    traps: list[Trap] = list(sinks(field, starts))
    for state in near:
        _add_cycles(field, traps, state[None], tries=1)
    fate = np.full(len(scouts), WANDERING, dtype=np.intp)
    end, time = np.array(scouts), np.zeros(len(scouts))
    steps = STEPS
    for look in range(LOOKS):
        wandering = np.flatnonzero(fate == WANDERING)
        if len(wandering) == 0 or field.work.over:
            break
        carried = carry(field, end[wandering], traps, support, steps=steps)
        fate[wandering], end[wandering] = carried.fate, carried.end
        time[wandering] += carried.time
        wandering = wandering[carried.fate == WANDERING]
        _add_sinks(field, traps, end[wandering])
        # What winds into a sink slowly is given time before it is taken for a cycle.
        _add_cycles(field, traps, end[wandering], tries=look)
        steps *= 2
    leaving = np.flatnonzero(fate == LEFT)
    known = [t.place for t in traps if isinstance(t, Sink) and _inside(t, support)]
    for edge in edge_sinks(field, scouts[leaving], support):
        if all(np.linalg.norm(edge.place - p) > edge.radius for p in known):
            traps.append(edge)
    fate[leaving] = held_fates(field, scouts[leaving], traps, support)
    reached = np.bincount(fate[fate >= 0], minlength=len(traps))
    inside = tuple(bool(n >= SHORTEST_PATH) and _inside(t, support) for n, t in zip(reached, traps, strict=True))
    empty = np.empty(0)
    found = Portrait(field, tuple(traps), inside, support)
    return found, Carried(fate, end, time, np.empty((0, scouts.shape[1])), empty.astype(np.intp), empty)


def _inside(trap: Trap, support: Support) -> bool:
    if isinstance(trap, EdgeSink):
        return True
    if isinstance(trap, Sink):
        return bool(support.holds(trap.place[None], float(np.sqrt(np.trace(trap.error))))[0])
    return bool(support.holds(trap.curve).mean() > 0.9)


def _add_sinks(field: FlowField, traps: list[Trap], states: FloatArray) -> None:
    """Sinks next to states still on their way; the regions of all sinks stay apart from each other's places."""
    known = [t.place for t in traps if isinstance(t, Sink)]
    new = [s for s in sinks(field, states[:FEW]) if all(np.linalg.norm(s.place - p) > 1e-3 for p in known)]
    if new:
        traps.extend(new)
        places = np.array([t.place for t in traps if isinstance(t, Sink)])
        traps[:] = [without(t, places) if isinstance(t, Sink) else t for t in traps]


def _add_cycles(field: FlowField, traps: list[Trap], states: FloatArray, tries: int) -> None:
    """Cycles that states still on their way wind onto; a state that winds onto none speaks for those like it."""
    for _ in range(tries):
        for trap in traps:
            states = states[~trap.holds(states)]
        if len(states) == 0:
            return
        cycle = limit_cycle(field, states[0], traps)
        if cycle is None:
            states = states[1:]
        else:
            traps.append(cycle)


def fates(
    found: Portrait, y: FloatArray, most: int = CARRIED, before: tuple[Portrait, Carried] | None = None
) -> tuple[IntArray, FloatArray]:
    """Attractor of every state (or LEFT, WANDERING) and the time it takes to get into its trap.

    `before`: what came of the first of them already, with the same traps in another order.

    Of many states some are carried; along their paths everything shares their fate, and what lies among such places of
    one fate shares it too. Only states with neighbours of different fates are carried themselves, `most` first.
    """
    first = y[:most]
    steps = STEPS * 2**LOOKS
    fate, time = np.empty(len(y), dtype=np.intp), np.empty(len(y))
    if before is not None and before[0].field is found.field and len(y) <= most:
        number = [found.traps.index(t) for t in before[0].traps]
        done = len(before[1].fate)
        fate[:done], time[:done] = np.array([*number, WANDERING, LEFT])[before[1].fate], before[1].time
        later = _carry(found, y[done:], steps, keep=False)
        fate[done:], time[done:] = later.fate, later.time
        return found.number(fate), time
    carried = _carry(found, first, steps, keep=len(y) > most)
    fate[: len(first)], time[: len(first)] = carried.fate, carried.time
    if len(y) > most:
        rest = y[most:]
        marks = np.concatenate([carried.states, carried.end])
        mark_fate = np.concatenate([carried.fate[carried.owner], carried.fate])
        mark_time = np.concatenate([carried.to_go, np.zeros(len(first))])
        if y.shape[1] > MANY_DIMENSIONS:  # fewer along each path, and all ends
            some = np.append(
                np.arange(0, len(carried.states), 1 + len(carried.states) // PLACES), range(-len(first), 0)
            )
            marks, mark_fate, mark_time = marks[some], mark_fate[some], mark_time[some]
        near = cKDTree(marks).query(rest, k=min(6, len(marks)))[1]
        agreed = (mark_fate[near] == mark_fate[near[:, :1]]).all(axis=1)
        at = most + np.flatnonzero(~agreed)[:most]
        fate[most:], time[most:] = mark_fate[near[:, 0]], mark_time[near[:, 0]]
        again = _carry(found, y[at], steps, keep=False)
        fate[at], time[at] = again.fate, again.time
    return found.number(fate), time


def _carry(found: Portrait, x: FloatArray, steps: int, keep: bool) -> Carried:
    """carry(), and what leaves once more, held at the edge, where that has attractors."""
    carried = carry(found.field, x, found.traps, found.support, steps=steps, keep=keep)
    leaving = np.flatnonzero(carried.fate == LEFT)
    carried.fate[leaving] = held_fates(found.field, x[leaving], found.traps, found.support)
    return carried


def streams(found: Portrait, y: FloatArray, labels: IntArray, time: FloatArray) -> PathGraph:
    """Every labelled sample in one path: that of the nearest of a few carried solutions, by the time it has to go.

    Twice d + 1 solutions an attractor, from starts spread out over its samples: d + 1 are the fewest whose embedding has
    d dimensions. Samples within a trap are ordered by their distance from the attractor.
    """
    nodes: list[IntArray] = []
    group: list[int] = []
    for q, trap in enumerate(found.attractors):
        mine = np.flatnonzero(labels == q)
        if len(mine) < SHORTEST_PATH:
            continue
        count = max(1, min(2 * (y.shape[1] + 1), len(mine) // 10))
        owner = _nearest_solution(found, y, mine, count)
        # The curve of a cycle counts like the place of a sink.
        centre = trap.curve if hasattr(trap, "curve") else trap.place[None]
        still = cKDTree(centre).query(y[mine])[0]
        for k in range(count):
            here = np.flatnonzero(owner == k)
            if len(here):
                nodes.append(mine[here[np.lexsort((-still[here], -time[mine[here]]))]])
                group.append(q)
    lengths = [len(p) for p in nodes]
    return PathGraph(
        len(y),
        np.concatenate(nodes) if nodes else np.empty(0, dtype=np.intp),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp),
        np.array(group, dtype=np.intp),
    )


def _nearest_solution(found: Portrait, y: FloatArray, mine: IntArray, count: int) -> IntArray:
    """For every sample of `mine` the one of `count` solutions that passes nearest; solutions with fewer than three
    samples give theirs to the next."""
    starts = y[mine[spread_out(y[mine], count)]]
    carried = carry(found.field, starts, found.traps, found.support, steps=STEPS * 2**LOOKS, keep=True)
    states = np.concatenate([starts, carried.states, carried.end])
    whose = np.concatenate([np.arange(count), carried.owner, np.arange(count)])
    alive = np.ones(count, dtype=bool)
    while True:
        kept = alive[whose]
        owner = whose[kept][cKDTree(states[kept]).query(y[mine])[1]]
        size = np.bincount(owner, minlength=count)
        poor = alive & (size < SHORTEST_PATH)
        if not poor.any() or alive.sum() == 1:
            return np.asarray(owner, dtype=np.intp)
        alive &= ~poor
        if not alive.any():
            alive[int(size.argmax())] = True
