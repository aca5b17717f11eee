"""From samples to whole paths: which sample comes next, chains linked across gaps and corners, short chains merged.

Consecutive samples of a smooth flow satisfy the trapezoid rule x_j - x_i = dt (v_i + v_j)/2 with a relative residual
O(dt^2); unrelated pairs miss it by about 100 %. Two ways use this. *Halfway meeting* (`kinematics`): with one time step for
all and no noise, one nearest-neighbour query finds every successor. *Likelihood*: with noise, gaps or different rates,
the most likely set of links is a sparse assignment problem, with time step and noise re-estimated between rounds. What
follows are the steps of multi-object tracking. Last, what is left over within the noise of a path joins that path: a pen at
rest scatters samples that have no order, and these make up short chains that nothing continues.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from .assignment import best_links
from .blocks import neighbours
from .chains import Chains
from .kinematics import Agree, Kinematics, estimate, halfway_meeting, state_tree, steady, time_step
from .links import first_guess, likely_links
from .settings import DEFAULT, PathSettings
from .states import cut_doubtful, link, smooth, untangled


def recover_paths(x: FloatArray, v: FloatArray, s: PathSettings = DEFAULT) -> tuple[Chains, Kinematics]:
    """All samples in paths, whole ones and the remainders nothing could be done with, and what they tell of the motion.

    Samples must be distinct.
    """
    tree = cKDTree(x, balanced_tree=False, compact_nodes=False)  # quick to build: few will ask
    met = halfway_meeting(x, v, tree, s)
    if met is not None:
        chains, dt = met
        linked, kin = link_fragments(x, v, chains, steady(x, v, chains, dt, s), s=s)
        return merge_short(x, linked, kin, None, s), kin
    return likely_paths(x, v, tree, s)


def likely_paths(
    x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT, agree: Agree | None = None
) -> tuple[Chains, Kinematics]:
    """The same by likelihood alone; `tree` holds x, `agree` is for samples that are part of a larger whole."""
    # Samples in the tree's own order lie near each other in memory, which halves the time of all that follows.
    order = tree.indices.astype(np.intp)
    x, v = x[order], v[order]
    tree = cKDTree(x)
    told = None if agree is None else lambda measured: agree(measured.renamed(order))
    chains, kin = most_likely(x, v, tree, s, told)
    linked, kin = link_fragments(x, v, cut_doubtful(x, chains, kin, s), kin, tree=tree, s=s, agree=told)
    if kin.is_noisy(s) and min(kin.noise_x, kin.noise_u) > kin.bend:
        # Where noise, not bending, is what steps miss by, a bend at a crossing is a mistake and no corner.
        # What was mixed up at a crossing and broken there is whole after the first round, and the second sees more of it.
        mended = untangled(x, linked, kin, tree, s)
        if told is not None or mended is not linked:  # parts of a whole do the same, whatever each has found
            linked, kin = link_fragments(x, v, mended, kin, tree=tree, s=s, agree=told)
            linked = untangled(x, linked, kin, tree, s)
    merged = merge_short(x, linked, kin, tree, s)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Chains(order[merged.order], merged.offsets), kin.of(back)


def link_fragments(
    x: FloatArray,
    v: FloatArray,
    chains: Chains,
    kin: Kinematics,
    *,
    tree: cKDTree | None = None,
    s: PathSettings = DEFAULT,
    agree: Agree | None = None,
) -> tuple[Chains, Kinematics]:
    """Chains linked.

    Without a `tree` of x all links are beyond doubt: they skip no sample and teach the kinematics nothing, and only the first and
    last samples of every chain, as many as a fit takes, are looked at. Short gaps are closed first, with every chain
    down to single samples; long ones only between real chains.
    """
    states = None if tree is None else state_tree(x, v, kin.dt)
    for gap, shortest in ((1.0, 1), (s.longest_gap / 4, 1), (s.longest_gap, s.half_fit)):
        for _ in range(2):  # the second resolves what the first uncovered
            linked = link(x, chains, kin, gap, shortest, s)
            if linked is None:
                break
            chains, kin = linked, kin if tree is None else estimate(x, v, linked, s, states, agree=agree)
    return chains, kin


def most_likely(
    x: FloatArray, v: FloatArray, tree: cKDTree, s: PathSettings = DEFAULT, agree: Agree | None = None
) -> tuple[Chains, Kinematics]:
    """Chains by likelihood, round after round; `tree` holds x."""
    near = neighbours(tree, x, s.neighbours + 1)

    def matched(x: FloatArray, kin: Kinematics, u: FloatArray, tree: cKDTree, spans: FloatArray) -> Chains:
        links = likely_links(x, kin, u, tree, near, spans, s)
        return Chains.of(best_links(links.tail, links.head, links.score, len(x), s.tolerance), x_given)

    x_given, chains = x, Chains.of(first_guess(x, v, near, s), x)
    dt = time_step(x, v, chains, s)
    states = state_tree(x, v, dt) if np.isfinite(dt).any() else None
    whole = np.arange(1.0, s.most_missing + 1)
    for spans in (np.append(0.5, whole), whole)[: s.rounds]:
        # Half a step is offered once: a chain that took every second sample finds the ones it skipped.
        kin = estimate(x, v, chains, s, states, agree=agree)
        chains = matched(x, kin, kin.u, tree, spans)
    for _ in range(s.rounds):
        kin = estimate(x, v, chains, s, states, agree=agree)
        if not kin.is_noisy(s):
            break
        still_x, still_u = smooth(x, kin, chains, s)
        with np.errstate(divide="ignore", invalid="ignore"):
            sharp = estimate(still_x, np.nan_to_num(still_u / kin.dt[:, None]), chains, s, told=kin.dt, agree=agree)
        chains = matched(still_x, sharp, still_u, cKDTree(still_x), whole)
    return chains, estimate(x, v, chains, s, states, agree=agree)


def merge_short(
    x: FloatArray, chains: Chains, kin: Kinematics, tree: cKDTree | None, s: PathSettings = DEFAULT
) -> Chains:
    """Give every short chain that lies on a path at least twice as long to that path, at its place in it.

    `tree` holds x; without one, it is made when there are short chains.
    """
    lengths = chains.lengths
    samples = np.flatnonzero(short_chains(lengths)[chains.chain_of])
    if len(samples) == 0:
        return chains
    row, near = within_reach(tree or cKDTree(x), x[samples], tolerance(kin, samples, s), s)
    short = samples[row]
    host = hosts(lengths, chains.chain_of[short], short, chains.chain_of[near], s)
    key = np.empty(len(x))
    key[chains.order] = np.arange(len(x)) - chains.offsets[chains.chain_at]
    merged = np.flatnonzero(host != np.arange(chains.n_chains))
    merged = merged[np.argsort(host[merged], kind="stable")]
    for mine in np.split(merged, np.flatnonzero(np.diff(host[merged])) + 1) if len(merged) else []:
        members = chains.members(int(host[mine[0]]))
        samples = np.concatenate([chains.members(int(g)) for g in mine])
        key[samples] = along(x, kin.u[members], samples, members)
    owner = host[chains.chain_of]
    nodes = np.lexsort((key, owner)).astype(np.intp)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(owner[nodes]) != 0]))
    return Chains(nodes, np.append(starts, len(x)).astype(np.intp))


def typical_length(lengths: IntArray) -> int:
    """Length of the chain that the median sample lies in; remainders, however many, hardly move it."""
    by_length = np.sort(lengths)[::-1]
    return int(by_length[np.searchsorted(np.cumsum(by_length), lengths.sum() / 2)])


def short_chains(lengths: IntArray) -> BoolArray:
    """Chains short enough to be merged into another one."""
    return np.asarray(2 * lengths <= typical_length(lengths))


def within_reach(
    tree: cKDTree, places: FloatArray, reach: FloatArray, s: PathSettings = DEFAULT
) -> tuple[IntArray, IntArray]:
    """(row of `places`, sample of the tree) for the nearest few samples within reach."""
    k = min(2 * s.neighbours, tree.n)
    distance, near = (a.reshape(-1, k) for a in tree.query(places, k=k, workers=-1))
    row, column = np.nonzero(distance <= reach[:, None])
    return row, near[row, column]


def hosts(lengths: IntArray, short: IntArray, sample: IntArray, other: IntArray, s: PathSettings = DEFAULT) -> IntArray:
    """For every chain the one that takes it up, itself where none does.

    The arrays say that `sample` of the chain `short` has the chain `other` within its tolerance. The shortest first,
    each to the chain that most of its samples lie on.
    """
    host = np.arange(len(lengths))
    order = np.argsort(short, kind="stable")
    found, start = np.unique(short[order], return_index=True)
    parts = dict(zip(found.tolist(), np.split(order, start[1:]), strict=True)) if len(found) else {}
    for c in found[np.argsort(lengths[found], kind="stable")].tolist():
        samples, others = sample[parts[c]], _last_host(host, other[parts[c]])
        fit = (others != c) & (lengths[others] >= 2 * lengths[c])
        if not fit.any():
            continue
        pairs = np.unique(others[fit] * (samples.max() + 1) + samples[fit])
        chain, hits = np.unique(pairs // (samples.max() + 1), return_counts=True)
        if hits.max() >= s.on_path * lengths[c]:
            host[c] = chain[hits.argmax()]
    return _last_host(host, host)


def _last_host(host: IntArray, chain: IntArray) -> IntArray:
    """Hosts may be taken up themselves, by chains at least twice as long: a few steps up."""
    while (host[chain] != chain).any():
        chain = host[chain]
    return chain


def along(x: FloatArray, u: FloatArray, samples: IntArray, path: IntArray) -> FloatArray:
    """Place of `samples` along the ordered samples of a path, as a real-valued position; `u` are the steps of the path's."""
    nearest = cKDTree(x[path]).query(x[samples])[1]
    step, away = u[nearest], x[samples] - x[path[nearest]]
    ahead = np.clip((away * step).sum(1) / ((step**2).sum(1) + np.finfo(np.float64).tiny), -0.49, 0.49)
    return np.asarray(nearest + ahead)


def tolerance(kin: Kinematics, samples: IntArray, s: PathSettings = DEFAULT) -> FloatArray:
    """How far from a path a sample of it may lie: four standard deviations of noise and two local steps.

    Where velocities are noisy, a slow sample may belong to a fast stretch: then no step is taken to be shorter than usual.
    """
    shortest = max(2 * kin.noise_u, kin.step) if kin.is_noisy(s) else 2 * kin.noise_u
    step = np.maximum(np.linalg.norm(kin.u[samples], axis=1), shortest)
    return np.asarray(s.noise_reach * np.sqrt(2) * kin.noise_x + s.step_reach * step, dtype=np.float64)
