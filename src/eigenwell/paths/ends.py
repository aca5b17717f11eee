"""Which paths end at the same attractor: the partition of their ends with most evidence, and the runners-up.

`evidence` weighs a partition; here partitions are proposed. Those along four linkage trees (Ward, average, complete,
single): every cut at one height, and for every spread and price of a goal the best cut of the tree, in which one branch
may be cut finer than another. What is proposed is normalised to a posterior, and summed over partitions into the same number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from .._types import BoolArray, FloatArray, IntArray
from .evidence import EndsModel
from .spanning import components, spanning_tree

# The side of a square whose points have unit radius (root of the summed variances): from radius to extent.
SIDE = np.sqrt(6.0)
# Ends that coincide within the resolution (a step, or four standard deviations of noise) have a quarter of it as spread.
FLOOR = 0.25
# Log prices of a goal for which the best cut of a tree is proposed: the prior's own price depends on the partition.
PRICES = np.array([-2.0, 0.0, 2.0, 4.0, 7.0])
# Beyond so many ends single linkage alone is tried, which needs no K x K table, and cut only where a price says so.
MANY = 250
# One answer in a hundred is wrong for a reason that the model does not know of.
UNKNOWN = 0.01
# Readings less likely than this are not worth telling.
WORTH_TELLING = 0.01
# Ends of a lone attractor lie within this share of the data's radius; only the range of thresholds is read off it.
ATTRACTOR_RADIUS = 0.25


@dataclass(frozen=True)
class Reading:
    """One way to read the ends.

    Attributes
    ----------
    group : (K,) int array
        Of every end.
    probability : float
        Posterior probability of its number of groups.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> [reading.n_groups for reading in found.grouping.alternatives]
    []
    """

    group: IntArray
    probability: float

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1


@dataclass(frozen=True)
class Grouping:
    """How the ends of paths were grouped, and how sure their number is.

    Where low < high, joining all ends within any distance between them gives these groups; on several scales no one distance
    may.

    Attributes
    ----------
    group : (K,) int array
        Of every end.
    low : float
        The widest gap that is bridged inside a group, at least the resolution.
    high : float
        The narrowest gap between two groups.
    probability : float
        That their number is right, by the model of `evidence`.
    alternatives : tuple of Reading
        The best readings with other numbers, the likeliest first.
    told : str
        What the user decided.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> found.grouping.n_groups
    2
    """

    group: IntArray
    low: float
    high: float
    probability: float
    alternatives: tuple[Reading, ...] = ()
    told: str = ""

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    @property
    def confidence(self) -> float:
        """The probability that the number is right."""
        return self.probability

    @property
    def rival(self) -> Reading | None:
        """The likeliest reading with another number, or None."""
        return self.alternatives[0] if self.alternatives else None


def group_ends(ends: FloatArray, resolution: float, radius: float, n_groups: int | None = None) -> Grouping:
    """Groups of ends (K, d). `resolution` is the distance below which ends coincide, `radius` that of the data.

    With `n_groups` the best partition into so many; `probability` is then the share it has among those.
    """
    k, d = ends.shape
    if k == 1:
        return _grouping(ends, np.zeros(1, dtype=np.intp), resolution, radius, 1 - UNKNOWN, ())
    reach = float(np.linalg.norm(ends - ends.mean(axis=0), axis=1).max())
    extent = max(SIDE * radius, reach, np.finfo(np.float64).tiny)
    model = EndsModel.of(k, d, FLOOR * min(resolution, extent), extent)
    group, score = _readings(ends, model, n_groups)
    count = group.max(axis=1) + 1
    posterior = (1 - UNKNOWN) * np.exp(score - logsumexp(score))
    if n_groups is not None:
        best = int(np.argmax(np.where(count == n_groups, posterior, -1.0)))
        share = float(posterior[best] / posterior[count == n_groups].sum())
        return _grouping(ends, group[best], resolution, radius, share, ())
    by_number = np.bincount(count, weights=posterior)
    # Ties and rounding must not depend on the order of the ends: fewer groups first.
    ranked = np.argsort(-np.round(by_number, 12), kind="stable")
    readings = []
    for q in ranked[by_number[ranked] > WORTH_TELLING]:
        mine = np.flatnonzero(count == q)
        readings.append(Reading(group[mine[np.argmax(score[mine])]], float(by_number[q])))
    first, *others = readings
    return _grouping(ends, first.group, resolution, radius, first.probability, tuple(others))


def ends_within(ends: FloatArray, distance: float, radius: float) -> Grouping:
    """Ends nearer to each other than `distance`, by any number of steps, are one: the user has said what near means."""
    pairs, length = spanning_tree(ends)
    return _grouping(ends, components(pairs[length <= distance], len(ends)), distance, radius, 1.0, ())


def given_groups(ends: FloatArray, label: IntArray, resolution: float, radius: float) -> Grouping:
    """Groups as the user has labelled them."""
    return _grouping(ends, by_appearance(label), resolution, radius, 1.0, ())


def by_appearance(label: IntArray) -> IntArray:
    """Labels numbered 0.. by order of first appearance."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.intp)


def _grouping(
    ends: FloatArray, group: IntArray, resolution: float, radius: float, p: float, others: tuple[Reading, ...]
) -> Grouping:
    pairs, length = spanning_tree(ends)
    inside = group[pairs[:, 0]] == group[pairs[:, 1]]
    low = max(resolution, *length[inside].tolist(), np.finfo(np.float64).tiny)
    between = length[~inside]
    high = float(between.min()) if len(between) else max(low, ATTRACTOR_RADIUS * radius)
    return Grouping(group, float(low), high, p, others)


@dataclass(frozen=True)
class _Tree:
    """A linkage tree of K ends: node K + i joins `children[i]`; size, scatter matrix, centre and farthest end of every node."""

    children: IntArray
    size: IntArray
    centre: FloatArray
    scatter: FloatArray
    farthest: FloatArray

    @classmethod
    def of(cls, ends: FloatArray, children: IntArray) -> _Tree:
        k, d = ends.shape
        size, centre = np.ones(2 * k - 1, dtype=np.intp), np.zeros((2 * k - 1, d))
        scatter, far = np.zeros((2 * k - 1, d, d)), np.zeros((2 * k - 1, d))
        centre[:k] = far[:k] = ends
        members = [[i] for i in range(k)]
        for node, (a, b) in enumerate(children.tolist(), start=k):
            size[node] = size[a] + size[b]
            gap = centre[b] - centre[a]
            centre[node] = centre[a] + size[b] / size[node] * gap
            scatter[node] = scatter[a] + scatter[b] + size[a] * size[b] / size[node] * np.outer(gap, gap)
            if k <= MANY:
                members.append(members[a] + members[b])
                tried = ends[members[node]]
            else:  # the farthest of the branches' farthest: right when one end is far from all others
                tried = np.array([far[a], far[b]])
            far[node] = tried[np.argmax(((tried - centre[node]) ** 2).sum(axis=1))]
        return cls(children, size, centre, scatter, far - centre)

    @property
    def n_ends(self) -> int:
        return len(self.children) + 1

    def labels(self, nodes: IntArray) -> IntArray:
        """Group of every end when `nodes` are the groups."""
        owner = np.full(2 * self.n_ends - 1, -1, dtype=np.intp)
        owner[nodes] = nodes
        for node in range(2 * self.n_ends - 2, self.n_ends - 1, -1):
            if owner[node] >= 0:
                owner[self.children[node - self.n_ends]] = owner[node]
        return by_appearance(owner[: self.n_ends])

    def cuts(self, log_p: FloatArray, told: int | None) -> BoolArray:
        """Candidates (c, 2 K - 1): which nodes are groups."""
        k = self.n_ends
        worth = (log_p + gammaln(self.size)[:, None])[:, :, None] + PRICES
        worth = worth.reshape(2 * k - 1, -1)
        best, split = worth.copy(), np.zeros(worth.shape, dtype=bool)
        for node, (a, b) in enumerate(self.children.tolist(), start=k):
            parts = best[a] + best[b]
            split[node] = parts > worth[node]
            best[node] = np.where(split[node], parts, worth[node])
        reached = np.zeros_like(split)
        reached[-1] = True
        for node in range(2 * k - 2, k - 1, -1):
            reached[self.children[node - k]] = reached[node] & split[node]
        proposed = (reached & ~split).T
        levels = range(k) if k <= MANY else ([k - told] if told is not None and told <= k else [])
        return np.unique(np.concatenate([proposed, *(self._level(m)[None] for m in levels)]), axis=0)

    def _level(self, merges: int) -> BoolArray:
        """The groups after so many merges."""
        out = np.zeros(2 * self.n_ends - 1, dtype=bool)
        out[: self.n_ends + merges] = True
        out[self.children[:merges].ravel()] = False
        return out


def _readings(ends: FloatArray, model: EndsModel, told: int | None) -> tuple[IntArray, FloatArray]:
    """Distinct partitions (c, K) along all trees, with their log p (c,)."""
    found: dict[bytes, tuple[IntArray, float]] = {}
    for children in _linkages(ends):
        tree = _Tree.of(ends, children)
        log_p = model.groups(tree.size, tree.scatter, tree.farthest)
        for cut in tree.cuts(log_p, told):
            nodes = np.flatnonzero(cut)
            group = tree.labels(nodes)
            if group.tobytes() not in found:
                score = model.partition(log_p[nodes], tree.size[nodes], tree.centre[nodes])
                found[group.tobytes()] = group, score
    groups, scores = zip(*found.values(), strict=True)
    return np.array(groups), np.array(scores)


def _linkages(ends: FloatArray) -> Iterator[IntArray]:
    """Children (K - 1, 2) of the inner nodes of each tree."""
    k = len(ends)
    if k <= MANY:
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import pdist

        for method in ("ward", "average", "complete", "single"):
            yield linkage(pdist(ends), method)[:, :2].astype(np.intp)
        return
    node = list(range(k))  # of the set every end is in, by the root of that set
    parent = list(range(k))
    children = np.empty((k - 1, 2), dtype=np.intp)
    for i, (a, b) in enumerate(spanning_tree(ends)[0].tolist()):
        a, b = _root(parent, a), _root(parent, b)
        children[i] = node[a], node[b]
        parent[b], node[a] = a, k + i
    yield children


def _root(parent: list[int], a: int) -> int:
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a
