"""Which paths end at the same attractor: the partition of their ends with most evidence, and the runners-up.

`evidence` weighs a partition; here partitions are proposed. Those along four linkage trees (Ward, average, complete,
single): cuts at one height, and for every spread and price of a goal the best cut of the tree, in which one branch
may be cut finer than another. What is proposed is normalised to a posterior, and summed over partitions into the same number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from scipy.special import gammaln

from .._types import BoolArray, FloatArray, IntArray
from .evidence import Cut, EndsModel, log_sum
from .spanning import components, spanning_tree

# Log prices of a goal for which the best cut of a tree is proposed: the prior's own price depends on the partition.
PRICES = np.array([-8.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 7.0])
# Trees of more ends than this begin where their nearest have been joined: a table of all pairs grows with the square.
MANY = 1000
# Cuts of each tree that are looked at closely: so many at one height, and so many of the best with spreads of their own for the
# coordinates.
CLOSELY = 40
# One answer in a hundred is wrong for a reason that the model does not know of; readings less likely are not worth telling.
UNKNOWN = 0.01


@dataclass(frozen=True)
class Reading:
    """One way to read the ends.

    Attributes
    ----------
    group : (K,) int array
        Of every end, -1 for ends that are no arrival.
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

    Attributes
    ----------
    group : (K,) int array
        Of every end, -1 for ends that are no arrival.
    low : float
        The widest gap that is bridged inside a group.
    high : float
        The narrowest gap between two groups.
    probability : float
        That their number is right, by the model of `evidence`.
    membership : (K,) array
        Probability that an end belongs to its group, given this number of them.
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
    membership: FloatArray
    alternatives: tuple[Reading, ...] = ()
    told: str = ""

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    @property
    def rival(self) -> Reading | None:
        """The likeliest reading with another number, or None."""
        return self.alternatives[0] if self.alternatives else None


@dataclass(frozen=True)
class Ends:
    """What K paths say about their goals.

    `place` (K, d) where they end, in units of the data; `extent` (d,) of the data; `way` (K,) still to go, in units of the
    extent; `lost` (K,) probability that an end which no other shares is no arrival; `ahead` (K, d) how far ahead they are bound
    for, in the same units, and its `error` (K,); `grain` (d,) what places were rounded to.
    """

    place: FloatArray
    extent: FloatArray
    way: FloatArray
    lost: FloatArray
    ahead: FloatArray
    error: FloatArray
    grain: FloatArray

    @property
    def scaled(self) -> FloatArray:
        """Places in the unit box."""
        return np.asarray((self.place - self.place.mean(axis=0)) / self.extent)

    def take(self, which: IntArray) -> Ends:
        """Some of them."""
        of_all = (self.way[which], self.lost[which], self.ahead[which], self.error[which])
        return Ends(self.place[which], self.extent, *of_all, self.grain)


def group_ends(ends: Ends, n_groups: int | None = None) -> Grouping:
    """The likeliest number of groups of ends, and the best partition into so many.

    With `n_groups` the best partition into that many; `probability` is then the share it has among those.
    """
    rounding = ends.grain / ends.extent / np.sqrt(12)
    model = EndsModel(ends.scaled, ends.way, ends.lost / (1 - ends.lost), ends.ahead, ends.error, rounding)
    group, score = _readings(model, n_groups)
    count = group.max(axis=1) + 1
    posterior = np.exp(score - log_sum(score))
    if n_groups is not None:
        mine = count == n_groups
        best = _beyond_doubt(group[mine], posterior[mine])
        share = posterior[mine].max() / posterior[mine].sum()
        return _grouping(ends, best, float(share), _membership(group[mine], posterior[mine], best))
    by_number = np.bincount(count, weights=posterior * (1 - UNKNOWN) * _coverage(group))
    # Ties and rounding must not depend on the order of the ends: fewer groups first.
    ranked = np.argsort(-np.round(by_number, 12), kind="stable")
    readings = []
    for q in ranked[by_number[ranked] > UNKNOWN]:
        mine = count == q
        readings.append(Reading(_beyond_doubt(group[mine], posterior[mine]), float(by_number[q])))
    first, *others = readings
    mine = count == first.n_groups
    sure = _membership(group[mine], posterior[mine], first.group)
    return _grouping(ends, first.group, first.probability, sure, tuple(others))


def _coverage(groups: IntArray) -> FloatArray:
    """Chance (c,) that two more paths would not both end at goals that none of these showed: Good and Turing's estimate.

    Where every goal was reached once the next path is bound for another one, and nobody knows how many there are.
    """
    k = groups.shape[1]
    size = np.array([np.bincount(g + 1, minlength=k + 2)[1:] for g in groups])
    return np.asarray(1 - ((size == 1).sum(axis=1) / (k + 1)) ** 2)


def _beyond_doubt(groups: IntArray, weight: FloatArray) -> IntArray:
    """The likeliest partition of those (c, K) in which no end is lost that may well be none: to leave one out wrongly costs a
    recording, to keep one that strayed little."""
    lost = groups < 0
    doubtful = (weight / weight.sum()) @ lost < 1 - UNKNOWN
    # Where trees propose none, as few of these as there are.
    fewest = (lost & doubtful).sum(axis=1)
    return np.asarray(groups[np.argmax(np.where(fewest == fewest.min(), weight, -1.0))])


def _membership(groups: IntArray, weight: FloatArray, best: IntArray) -> FloatArray:
    """Of every end the weight of the partitions in which it is with the others that it is with in the best one."""
    sure = np.zeros(len(best))
    for group, w in zip(groups, weight / weight.sum(), strict=True):
        table = np.zeros((best.max() + 2, group.max() + 2))
        np.add.at(table, (best, group), 1)
        sure += w * (table.argmax(axis=1)[best] == np.where(group < 0, group.max() + 1, group))
    return sure


def ends_within(ends: Ends, distance: float) -> Grouping:
    """Ends nearer to each other than `distance`, by any number of steps, are one: the user has said what near means."""
    pairs, length = spanning_tree(ends.place)
    group = components(pairs[length <= distance], len(ends.place))
    return _grouping(ends, group, 1.0, np.ones(len(group)))


def given_groups(ends: Ends, label: IntArray) -> Grouping:
    """Groups as the user has labelled them."""
    return _grouping(ends, by_appearance(label), 1.0, np.ones(len(label)))


def by_appearance(label: IntArray) -> IntArray:
    """Labels numbered 0.. by order of first appearance; negative ones stay -1."""
    out = np.full(len(label), -1, dtype=np.intp)
    kept = label >= 0
    if kept.any():
        _, first, inverse = np.unique(label[kept], return_index=True, return_inverse=True)
        out[kept] = np.argsort(np.argsort(first))[inverse]
    return out


def _grouping(ends: Ends, group: IntArray, p: float, sure: FloatArray, others: tuple[Reading, ...] = ()) -> Grouping:
    kept = np.flatnonzero(group >= 0)
    pairs, length = spanning_tree(ends.place[kept])
    inside = group[kept[pairs[:, 0]]] == group[kept[pairs[:, 1]]]
    low = float(max([np.finfo(np.float64).tiny, *length[inside]]))
    high = float(min([np.inf, *length[~inside]]))
    return Grouping(group, low, high, p, sure, others)


@dataclass(frozen=True)
class _Tree:
    """A linkage tree over K leaves: node K + i joins `children[i]`; `leaf` (n,) of every end, `size` of every node."""

    children: IntArray
    leaf: IntArray
    size: IntArray

    @property
    def n_leaves(self) -> int:
        return len(self.children) + 1

    def summed(self, of_leaves: FloatArray) -> FloatArray:
        """Sums over the leaves under every node."""
        k = self.n_leaves
        out = np.concatenate([of_leaves, np.zeros((k - 1, *of_leaves.shape[1:]))])
        for node, (a, b) in enumerate(self.children.tolist(), start=k):
            out[node] = out[a] + out[b]
        return out

    def labels(self, nodes: IntArray) -> IntArray:
        """Group of every end when `nodes` are the groups."""
        first, count, place = self._laid_out
        nodes = nodes[np.argsort(first[nodes])]
        return by_appearance(np.repeat(nodes, count[nodes])[place[self.leaf]])

    @cached_property
    def _laid_out(self) -> tuple[IntArray, IntArray, IntArray]:
        """Leaves in an order in which those under a node stand side by side: the first of every node, how many (2 K - 1,), and
        the place of every leaf (K,)."""
        k = self.n_leaves
        first, count = np.zeros(2 * k - 1, dtype=np.intp), np.ones(2 * k - 1, dtype=np.intp)
        for node, (a, b) in enumerate(self.children.tolist(), start=k):
            count[node] = count[a] + count[b]
        for node in range(2 * k - 2, k - 1, -1):
            a, b = self.children[node - k]
            first[a], first[b] = first[node], first[node] + count[a]
        return first, count, first[:k]

    def cuts(self, log_p: FloatArray, lost: FloatArray, told: int | None) -> BoolArray:
        """Candidates (c, 2 K - 1): which nodes are groups. `lost` (2 K - 1,) is what a node is worth as no goal."""
        k = self.n_leaves
        worth = (log_p + gammaln(self.size)[:, None])[:, :, None] + PRICES
        worth = np.maximum(worth.reshape(2 * k - 1, -1), lost[:, None])
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
        numbers = {*range(1, CLOSELY), *(n - m for n in np.unique(proposed.sum(axis=1)) for m in range(5))}
        levels = {k - n for n in (numbers if told is None else {*numbers, told}) if 1 <= n <= k}
        return np.unique(np.concatenate([proposed, *(self._level(m)[None] for m in sorted(levels))]), axis=0)

    def _level(self, merges: int) -> BoolArray:
        """The groups after so many merges."""
        out = np.zeros(2 * self.n_leaves - 1, dtype=bool)
        out[: self.n_leaves + merges] = True
        out[self.children[:merges].ravel()] = False
        return out


def _readings(model: EndsModel, told: int | None) -> tuple[IntArray, FloatArray]:
    """Distinct partitions (c, K) along all trees, with their log p (c,)."""
    found: dict[bytes, tuple[IntArray, float]] = {}
    moments, best = model.moments(), -np.inf
    proposals = [model.place] if (model.rest == model.place).all() else [model.place, model.rest]
    if model.dimension > 1 and len(model.place) > 2:
        proposals += [_told_apart(place) for place in proposals]
    for tree in (tree for place in proposals for tree in _trees(place)):
        of_leaves = np.zeros((tree.n_leaves, *moments.shape[1:]))
        np.add.at(of_leaves, tree.leaf, moments)
        summed = tree.summed(of_leaves)
        of_nodes = model.groups(summed)
        # Where paths end, or are bound for, whichever explains them better, and how well each is known.
        known = np.zeros((tree.n_leaves, 2, model.dimension + 1))
        np.add.at(known, tree.leaf, model.measured)
        end, _, rest = of_nodes.sum(axis=3).max(axis=2).T
        known = tree.summed(known)[np.arange(len(tree.size)), (rest > end).astype(np.intp)] / tree.size[:, None]
        centre, blur = known[:, :-1], np.sqrt(known[:, -1])
        single = np.full(len(tree.size), -1, dtype=np.intp)
        single[tree.leaf] = np.arange(len(tree.leaf))
        single[tree.size > 1] = -1
        with np.errstate(divide="ignore"):
            odds = np.log(np.where(single >= 0, model.odds[single], 0.0))
        alike = model.given_spread(of_nodes, np.arange(model.dimension))
        cuts = [np.flatnonzero(kept) for kept in tree.cuts(alike, odds, told)]
        # Coordinates may have spreads of their own: asked of the partitions that are best without, which is dear.
        promising = np.argsort([-float(log_sum(alike[nodes].sum(axis=0))) for nodes in cuts], kind="stable")[:CLOSELY]
        for at, nodes in enumerate(cuts):
            group = tree.labels(nodes)
            if group.tobytes() in found:
                continue
            alone = nodes[tree.size[nodes] == 1]
            alone = alone[np.argsort(-odds[alone], kind="stable")]
            nodes = np.concatenate([nodes[tree.size[nodes] > 1], alone])
            cut = Cut(of_nodes[nodes], summed[nodes], tree.size[nodes], centre[nodes], blur[nodes], odds[alone])
            if at in promising:
                scores = np.logaddexp(model.readings(cut), model.in_principal(cut)) - np.log(2)
            else:
                # None shared, along the coordinates or in principal directions, which are taken to be as good.
                given = alike[nodes].sum(axis=0) + np.log(3 / 4)
                scores = model.partition(given, cut, cut.centres, np.zeros(len(alone)))
            # What is less likely than rounding is kept only where so many goals were asked for.
            best = max(best, float(scores.max()))
            worth = scores > best + np.log(np.finfo(np.float64).eps)
            if told is not None:
                worth |= np.isfinite(scores) & (len(nodes) - np.arange(len(scores)) == told)
            for lost in np.flatnonzero(worth):
                kept, score = group.copy(), scores[lost]
                kept[single[alone[:lost]]] = -1
                kept = by_appearance(kept)
                found[kept.tobytes()] = kept, float(score)
    groups, log_p = zip(*found.values(), strict=True)
    return np.array(groups), np.array(log_p)


def _told_apart(place: FloatArray) -> FloatArray:
    """Places in which those coordinates count that tell goals apart, by the square of their spread over the usual distance of
    an end to the next one: large where ends lie in clumps."""
    gap = np.diff(np.sort(place, axis=0), axis=0)
    beside = np.pad(gap, ((1, 1), (0, 0)), constant_values=np.inf)
    spread = place.std(axis=0) + np.finfo(np.float64).tiny
    nearest = np.median(np.minimum(beside[1:], beside[:-1]), axis=0) / spread
    return np.asarray(place / spread / np.maximum(nearest, 1 / len(place) ** 2) ** 2)


def _trees(place: FloatArray) -> Iterator[_Tree]:
    """Trees over the ends, or where there are very many over those joined with their nearest."""
    k = len(place)
    leaf = np.arange(k)
    if k > MANY:
        pairs, _ = spanning_tree(place)
        leaf = components(pairs[: k - MANY], k)
    size = np.bincount(leaf)
    centre = np.zeros((len(size), place.shape[1]))
    np.add.at(centre, leaf, place)
    centre /= size[:, None]
    if len(size) == 1:
        yield _Tree(np.empty((0, 2), dtype=np.intp), leaf, size)
        return
    distance = pdist(centre)
    for method in ("ward", "average", "complete", "single"):
        children = linkage(distance, method)[:, :2].astype(np.intp)
        whole = _Tree(children, leaf, size)
        yield _Tree(children, leaf, whole.summed(size.astype(float)[:, None])[:, 0].astype(np.intp))
