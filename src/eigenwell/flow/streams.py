"""Carried samples as the theory's paths: samples of one attractor, threaded along a few solutions of the field."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH
from ..graphs import PathGraph
from .integration import LOOKS, STEPS, carry
from .portrait import Portrait
from .whitening import spread_out


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
