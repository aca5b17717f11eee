"""The share of each basin, and how sure it is.

What is counted are samples where each is an individual, and paths where they lie on paths. Counts c of a multinomial have
the posterior Dirichlet(c + 1/2) (Jeffreys); for snapshots each draw is moved by what the share does in one replicate of
the field, since a border between basins that is off moves many samples together. How far it is off is known from few
replicates R: such draws are Student's, with R - 1 degrees of freedom.
"""

from __future__ import annotations

import numpy as np

from .._types import FloatArray, IntArray
from ..graphs import PathGraph
from ..results import Identification, Result

DRAWS = 4000
# The interval holds 90 %.
TAIL = 0.05


def counted(found: Result) -> tuple[IntArray, str]:
    """(Q + 1,) how many samples or paths end in each attractor, and last in none; and which of the two was counted."""
    one = found.in_memory()
    if one.kind == "trajectories" and isinstance(one.graph, PathGraph):
        labels, what = one.graph.group, "paths"
    else:
        labels, what = one.labels, "samples"
    counts = np.bincount(np.where(labels >= 0, labels, one.n_attractors), minlength=one.n_attractors + 1)
    return counts.astype(np.intp), what


def drawn(found: Result, seed: int) -> FloatArray:
    """(DRAWS, Q + 1) shares of the basins, and last that of no basin."""
    counts, _ = counted(found)
    rng = np.random.default_rng([seed, len(counts)])
    # Nothing says that any leave where none does.
    alive = np.append(np.ones(len(counts) - 1, dtype=bool), counts[-1] > 0 or len(counts) == 1)
    draws = np.zeros((DRAWS, len(counts)))
    draws[:, alive] = rng.dirichlet(counts[alive] + 0.5, size=DRAWS)
    spread = found.in_memory().spread
    if spread is not None and (made := len(spread)) > 1:
        tails = np.sqrt(made / rng.chisquare(made - 1, size=(DRAWS, 1)))
        draws = np.clip(draws + tails * spread[rng.integers(0, made, DRAWS)], 0, 1)
        draws /= np.maximum(draws.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return draws


def interval(draws: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(draws, [TAIL, 1 - TAIL])
    return float(low), float(high)


def as_many(a: Result, b: Result) -> float:
    """Probability that both have the same number of attractors: that neither has one that the other has not."""
    p, q = (_odds(r.in_memory()) for r in (a, b))
    return sum(share * q.get(number, 0.0) for number, share in p.items())


def _odds(found: Identification) -> dict[int, float]:
    if found.counts:
        return dict(found.counts)
    return {o.n_attractors: o.confidence for o in found.alternatives} | {found.n_attractors: found.confidence}


def differ(a: FloatArray, b: FloatArray) -> float:
    """Two-sided p of no difference, from draws of two shares."""
    more = float((a > b).mean() + 0.5 * (a == b).mean())
    return float(max(2 * min(more, 1 - more), 1 / len(a)))
