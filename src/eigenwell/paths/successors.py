"""From unordered samples to chains: which sample comes next.

Consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = dt (v_i + v_j)/2 with a relative residual
O(dt^2); unrelated pairs miss it by about 100 %. Two ways use this. *Halfway meeting* (`meeting`): with one time step for
all and no noise, one nearest-neighbour query finds every successor. *Likelihood*: with noise, gaps or different rates,
the most likely set of links is a sparse assignment problem, with time step and noise re-estimated between rounds.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .assignment import best_links
from .blocks import neighbours
from .candidates import first_guess, likely_links
from .chains import Chains
from .kinematics import Kinematics, estimate, steady
from .meeting import halfway_meeting
from .settings import DEFAULT, PathSettings
from .states import smooth


def match_successors(x: FloatArray, v: FloatArray, s: PathSettings = DEFAULT) -> tuple[Chains, Kinematics, bool]:
    """Chains of consecutive samples, the kinematics they reveal, and whether every link is beyond doubt.

    Samples must be distinct.
    """
    tree = cKDTree(x)
    met = halfway_meeting(x, v, tree, s)
    if met is not None:
        chains, dt = met
        return chains, steady(x, v, chains, dt, s), True
    # Samples in the tree's own order lie near each other in memory, which halves the time of all that follows.
    order = tree.indices.astype(np.intp)
    successor, kin = _most_likely(x[order], v[order], s)
    follows = np.full(len(x), -1, dtype=np.intp)
    linked = np.flatnonzero(successor >= 0)
    follows[order[linked]] = order[successor[linked]]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Chains.of(follows, x), kin.of(back), False


def _most_likely(x: FloatArray, v: FloatArray, s: PathSettings) -> tuple[IntArray, Kinematics]:
    tree = cKDTree(x)
    near = neighbours(tree, x, s.neighbours + 1)
    chains = Chains.of(first_guess(x, v, near, s), x)
    whole = np.arange(1.0, s.most_missing + 1)
    for spans in (np.append(0.5, whole), whole)[: s.rounds]:
        # Half a step is offered once: a chain that took every second sample finds the ones it skipped.
        kin = estimate(x, v, chains, s, tree)
        links = likely_links(x, kin, kin.u, tree, near, spans, s)
        chains = Chains.of(best_links(links.tail, links.head, links.score, len(x), s.tolerance), x)
    for _ in range(s.rounds):
        kin = estimate(x, v, chains, s, tree)
        if not kin.is_noisy(s):
            break
        still_x, still_u = smooth(x, kin, chains, s)
        still_tree = cKDTree(still_x)
        with np.errstate(divide="ignore", invalid="ignore"):
            sharp = estimate(still_x, np.nan_to_num(still_u / kin.dt[:, None]), chains, s, still_tree)
        links = likely_links(still_x, sharp, still_u, still_tree, near, whole, s)
        chains = Chains.of(best_links(links.tail, links.head, links.score, len(x), s.tolerance), x)
    return chains.successor, estimate(x, v, chains, s, tree)
