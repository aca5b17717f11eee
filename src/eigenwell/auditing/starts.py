"""Starts that are never shown: places where episodes begin, and goals that none of them goes to from there."""

from __future__ import annotations

import numpy as np

from .._types import FloatArray, IntArray
from ..paths.spanning import components, spanning_tree
from ..wording import plural
from .tails import excess, judged

# Places to start from are this far apart, in usual sizes of an episode, or farther.
APART = 0.1
# A place to start from, and a goal, that at least so many episodes show.
SHOWN = 3


def never_shown(starts: FloatArray, goal: IntArray, size: float) -> tuple[str, ...]:
    """Sentences about goals that are never reached from a place where others start, where most pairs of the two are shown.

    Places to start from are the groups that remain when the edges of the spanning tree of all starts that are too long for
    their like are cut.
    """
    if len(starts) < 2 * SHOWN or goal.max(initial=-1) < 1:
        return ()
    edges, length = spanning_tree(starts)
    place = components(edges[~judged(length / size, APART, excess).bad], len(starts))
    count = np.zeros((place.max() + 1, goal.max() + 1), dtype=int)
    np.add.at(count, (place[goal >= 0], goal[goal >= 0]), 1)
    count = count[count.sum(axis=1) >= SHOWN]
    kept = [p for p in range(place.max() + 1) if (place[goal >= 0] == p).sum() >= SHOWN]
    # A goal of its own for every start is how such a set is meant; most pairs shown and a few not is a gap.
    if len(count) < 2 or (count > 0).sum() <= count.size / 2:
        return ()
    said = []
    for row, p in enumerate(kept):
        where = ", ".join(f"{c:.3g}" for c in np.median(starts[place == p], axis=0)[:4])
        for q in np.flatnonzero((count[row] == 0) & (count.sum(axis=0) >= SHOWN)):
            n = plural(int(count[row].sum()), "episode")
            said.append(
                f"Goal {q} is never reached from the start near ({where}), where {n} to other goals begin; record some."
            )
    return tuple(said[:20])
