"""From samples to whole paths: chains linked across gaps and corners, zipped where they overlap, crumbs absorbed.

The same steps as in multi-object tracking.
"""

from __future__ import annotations

from scipy.spatial import cKDTree

from .._types import FloatArray
from .absorbing import Fragments, absorb
from .chains import Chains
from .kinematics import Kinematics, estimate
from .linking import cut_doubtful, link
from .settings import DEFAULT, PathSettings
from .zipping import zip_chains


def join_fragments(
    x: FloatArray, v: FloatArray, chains: Chains, kin: Kinematics, *, beyond_doubt: bool, s: PathSettings = DEFAULT
) -> Fragments:
    """All samples in paths: whole ones, and the remainders nothing could be done with."""
    tree = None
    if not beyond_doubt:
        chains, tree = cut_doubtful(x, chains, kin, s), cKDTree(x)
    chains, kin = link_fragments(x, v, chains, kin, tree=tree, s=s)
    return absorb(x, chains, kin, tree, s)


def link_fragments(
    x: FloatArray,
    v: FloatArray,
    chains: Chains,
    kin: Kinematics,
    *,
    tree: cKDTree | None = None,
    s: PathSettings = DEFAULT,
) -> tuple[Chains, Kinematics]:
    """Chains linked, and with a `tree` of x also zipped where they skip samples.

    Without one all links are beyond doubt: they skip no sample and teach the kinematics nothing, and only the first and
    last samples of every chain, as many as a fit takes, are looked at. Short gaps are closed first, with every chain
    down to single samples; long ones only between real chains.
    """

    def joined(chains: Chains, kin: Kinematics, gap: float, shortest: int) -> tuple[Chains, Kinematics, bool]:
        linked = link(x, chains, kin, gap, shortest, s)
        if linked is None:
            return chains, kin, False
        return linked, kin if tree is None else estimate(x, v, linked, s, tree), True

    longest = s.longest_gap
    for gap in (longest / 32, longest / 16, longest / 8, longest / 4):
        for _ in range(2):
            chains, kin, changed = joined(chains, kin, gap, 1)
            if not changed:
                break
    for _ in range(4):  # each round resolves what the last one uncovered; more than two are rare
        before = chains.n_chains
        zipped = None if tree is None else zip_chains(x, chains, kin, tree, s)
        if zipped is not None:
            chains, kin = zipped, estimate(x, v, zipped, s, tree)
        for gap in (longest / 8, longest / 4, longest / 2):
            chains, kin, _ = joined(chains, kin, gap, s.real_chain)
        if chains.n_chains == before:
            break
    chains, kin, _ = joined(chains, kin, longest, s.real_chain)
    return chains, kin
