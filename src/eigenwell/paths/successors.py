"""From unordered samples to chains: which sample comes next.

Consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = dt (v_i + v_j)/2 with a relative residual
O(dt^2); unrelated pairs miss it by about 100 %. Two ways use this. *Halfway meeting* (`meeting`): with one time step for
all and no noise, one nearest-neighbour query finds every successor. *Likelihood*: with noise, gaps or different rates,
the most likely set of links is a sparse assignment problem, with time step and noise re-estimated between rounds.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from .assignment import best_links
from .blocks import neighbours
from .candidates import first_guess, likely_links
from .chains import Chains
from .kinematics import Agree, Kinematics, estimate, state_tree, time_step
from .settings import DEFAULT, PathSettings
from .states import smooth


def most_likely(
    x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT, agree: Agree | None = None
) -> tuple[Chains, Kinematics]:
    """Chains by likelihood, round after round; `tree` holds x."""
    near = neighbours(tree, x, s.neighbours + 1)
    chains = Chains.of(first_guess(x, v, near, s), x)
    dt = time_step(x, v, chains, s)
    states = state_tree(x, v, dt) if np.isfinite(dt).any() else None
    whole = np.arange(1.0, s.most_missing + 1)
    for spans in (np.append(0.5, whole), whole)[: s.rounds]:
        # Half a step is offered once: a chain that took every second sample finds the ones it skipped.
        kin = estimate(x, v, chains, s, states, agree=agree)
        links = likely_links(x, kin, kin.u, tree, near, spans, s)
        chains = Chains.of(best_links(links.tail, links.head, links.score, len(x), s.tolerance), x)
    for _ in range(s.rounds):
        kin = estimate(x, v, chains, s, states, agree=agree)
        if not kin.is_noisy(s):
            break
        still_x, still_u = smooth(x, kin, chains, s)
        with np.errstate(divide="ignore", invalid="ignore"):
            sharp = estimate(still_x, np.nan_to_num(still_u / kin.dt[:, None]), chains, s, told=kin.dt, agree=agree)
        links = likely_links(still_x, sharp, still_u, cKDTree(still_x), near, whole, s)
        chains = Chains.of(best_links(links.tail, links.head, links.score, len(x), s.tolerance), x)
    return chains, estimate(x, v, chains, s, states, agree=agree)
