"""From samples to whole paths: which sample comes next, chains linked across gaps and corners.

Consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = dt (v_i + v_j)/2 with a relative residual
O(dt^2); unrelated pairs miss it by about 100 %. Two ways use this. *Halfway meeting* (`kinematics`): with one time step for
all and no noise, one nearest-neighbour query finds every successor. *Likelihood*: with noise, gaps or different rates,
the most likely set of links is a sparse assignment problem, with time step and noise re-estimated between rounds. The same
score of the same problem then links chains, and says which exchanges at crossings make them more likely (`states`).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from .assignment import best_links
from .blocks import neighbours
from .chains import Chains
from .kinematics import Kinematics, estimate, halfway_meeting, steady
from .links import first_guess, likely_links
from .settings import DEFAULT, PathSettings
from .states import link, loosened, smooth, untangled


def recover_paths(x: FloatArray, v: FloatArray, s: PathSettings = DEFAULT) -> tuple[Chains, Kinematics]:
    """All samples in paths, whole ones and the remainders nothing could be done with, and what they tell of the motion.

    Samples must be distinct.
    """
    tree = cKDTree(x, balanced_tree=False, compact_nodes=False)  # quick to build: few will ask
    met = halfway_meeting(x, v, tree, s)
    if met is not None:
        chains, dt = met
        return link_fragments(x, v, chains, steady(x, v, chains, dt, s), s=s)
    return likely_paths(x, v, tree, s)


def likely_paths(x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT) -> tuple[Chains, Kinematics]:
    """The same by likelihood alone; `tree` holds x."""
    # Samples in the tree's own order lie near each other in memory, which halves the time of all that follows.
    order = tree.indices.astype(np.intp)
    x, v = x[order], v[order]
    tree = cKDTree(x)
    chains, kin = most_likely(x, v, tree, s)
    # Where noise, not bending, is what steps miss by, a bend at a crossing is a mistake and no corner.
    mixed_up = kin.is_noisy(s) and min(kin.noise_x, kin.noise_u) > kin.bend
    linked, kin = link_fragments(x, v, loosened(x, chains, kin, s) if mixed_up else chains, kin, learn=True, s=s)
    if mixed_up:
        # What was mixed up at a crossing and broken there is whole after the first round, and the second sees more of it.
        mended = untangled(x, linked, kin, tree, s)
        if mended is not linked:
            linked, kin = link_fragments(x, v, mended, kin, learn=True, s=s)
            linked = untangled(x, linked, kin, tree, s)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Chains(order[linked.order], linked.offsets), kin.of(back)


def link_fragments(
    x: FloatArray,
    v: FloatArray,
    chains: Chains,
    kin: Kinematics,
    *,
    learn: bool = False,
    s: PathSettings = DEFAULT,
) -> tuple[Chains, Kinematics]:
    """Chains linked until no link is worth making.

    Unless there is something to `learn` all links are beyond doubt: they skip no sample and teach the kinematics nothing, and
    only the first and last samples of every chain, as many as a fit takes, are looked at.
    """
    while (linked := link(x, chains, kin, s)) is not None:
        chains, kin = linked, estimate(x, v, linked, s) if learn else kin
    return chains, kin


def most_likely(x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT) -> tuple[Chains, Kinematics]:
    """Chains by likelihood, round after round; `tree` holds x."""
    near = neighbours(tree, x, s.neighbours + 1)
    chains, whole = Chains.of(first_guess(x, v, near, s), x), np.arange(1.0, s.most_missing + 1)
    # Half a step is offered once: a chain that took every second sample finds the ones it skipped. Two rounds each on raw and on
    # smoothed samples: the second sees the time steps and the noise of the first.
    for spans, smoothed in ((np.append(0.5, whole), False), (whole, False), (whole, True), (whole, True)):
        kin = estimate(x, v, chains, s)
        given = x, kin, kin.u, tree
        if smoothed:
            if not kin.is_noisy(s):
                break
            still_x, still_u = smooth(x, kin, chains, s)
            with np.errstate(divide="ignore", invalid="ignore"):
                sharp = estimate(still_x, np.nan_to_num(still_u / kin.dt[:, None]), chains, s, told=kin.dt)
            given = still_x, sharp, still_u, cKDTree(still_x)
        chains = Chains.of(best_links(*likely_links(*given, near, spans, s), len(x), s.floor), x)
    return chains, estimate(x, v, chains, s)


def typical_length(lengths: IntArray) -> int:
    """Length of the chain that the median sample lies in; remainders, however many, hardly move it."""
    by_length = np.sort(lengths)[::-1]
    return int(by_length[np.searchsorted(np.cumsum(by_length), lengths.sum() / 2)])
