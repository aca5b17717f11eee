"""Two witnesses: where paths are of one smooth field, what their ends say and what the field says are both asked.

Are they? Each path is predicted from the others. A Gaussian process for every component of the velocity, with a flat prior
on its affine part,

    v(x) = B [1, x] + g(x) + noise,    cov g = alpha^2 exp(-|x - x'|^2 / 2 l^2),

is conditioned on samples of the paths. Length l and noise are those that predict every path best from the others, and
alpha is such that the errors of those predictions are as large as announced: with A the covariance, the error of a path b
that is left out is (A^-1_bb)^-1 (A^-1 v)_b, and (A^-1_bb)^-1 its covariance. Known systems are predicted to a hundredth of their
speed; the ways that people choose, which cross and differ in pace, to .15 to .4 of it.

Each witness has a probability for every number of attractors, and what it does not know it leaves to all numbers that either of
them names. They err for different reasons, the one where paths were strung together wrongly or stopped early, the other where
there are no samples, so that their product counts: agreement is confidence, disagreement is doubt. A field that lets a path
leave the samples at its end does not know where that is bound for, and is no witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import SHORTEST_PATH, DataError, Demonstrations
from ..graphs import PathGraph
from ..paths import Odd, PathFinding, TrajectoryGraph
from ..paths.arrival import AT_REST, full_speed
from ..paths.beside import LABELS_IN_DOUBT
from ..paths.ends import UNKNOWN
from ..paths.told import Told
from ..runge_kutta import returned
from .builder import FlowGraph
from .estimation import NOTABLE
from .field import radial
from .finding import FlowFinding
from .integration import TINY
from .orbits import SHORTEST_TURN, Orbit
from .regression import INDUCING_CHOOSING

LENGTHS = 0.1 * 2.0 ** np.arange(0, 4.5, 0.5)
"""Of the kernel, in boxes: from a tenth, finer than paths are apart, to 1.6, where it is as good as a polynomial."""
NOISES = 10.0 ** np.arange(-5, -1)
"""Variance of the noise in units of alpha^2; less would be lost in rounding."""
ONE_FIELD = NOTABLE
"""Paths that are predicted from each other to this share of the root mean square speed are of one field; errors below it no
longer decide on the kernel."""
AFFINE = LENGTHS[0] ** -2
"""Prior variance of the affine part in units of alpha^2: that of the slopes of the finest kernel, as good as flat."""
NODES, FEWEST = INDUCING_CHOOSING, SHORTEST_TURN
"""Samples that are looked at, and of every path."""
PIECES = FEWEST // 2
"""A path is cut into parts where there are fewer paths than this, so that something can be left out."""

Paths = Sequence[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Process:
    """The process that predicts paths best from each other, at its `nodes` (n, d); `error` is the median of what it misses, in
    units of the velocities."""

    nodes: FloatArray
    length: float
    alpha2: float
    error: float
    inverse: FloatArray
    solved: FloatArray

    @property
    def smooth(self) -> bool:
        """Whether the paths are of one smooth field, and not ways that people chose."""
        return self.error < ONE_FIELD

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The velocity expected at x (n, d), and its variance (n,) in each component."""
        cross = radial(x / self.length, self.nodes / self.length, 0.0) + AFFINE * _affine(x) @ _affine(self.nodes).T
        spread = 1 + AFFINE * (_affine(x) ** 2).sum(1) - ((cross @ self.inverse) * cross).sum(1)
        return cross @ self.solved, self.alpha2 * np.maximum(spread, 0.0)


def one_field(paths: Paths, most: int = 3 * NODES) -> Process:
    """The process of paths (x, v), in a unit box and with a root mean square speed of 1; `most` samples are looked at."""
    x, v, block = nodes(paths, most)
    trend = AFFINE * _affine(x) @ _affine(x).T
    members = [np.flatnonzero(block == k) for k in np.unique(block)]
    best, chosen = np.inf, None
    for length in LENGTHS:
        kernel = radial(x / length, x / length, 0.0) + trend
        for noise in NOISES:
            factor = cho_factor(kernel + noise * np.eye(len(x)), lower=True, check_finite=False)
            inverse = cho_solve(factor, np.eye(len(x)), check_finite=False)
            solved = inverse @ v
            error, total = np.empty_like(v), 0.0
            for mine in members:
                error[mine] = np.linalg.solve(inverse[np.ix_(mine, mine)], solved[mine])
                total += float((solved[mine] * error[mine]).sum())
            misfit = float(np.sqrt((error**2).sum(1) + ONE_FIELD**2).mean())
            if misfit < best:
                miss = float(np.median(np.linalg.norm(error, axis=1)))
                best, chosen = misfit, Process(x, float(length), total / v.size, miss, inverse, solved)
    assert chosen is not None
    return chosen


def nodes(paths: Paths, most: int = 3 * NODES) -> tuple[FloatArray, FloatArray, IntArray]:
    """Samples of all paths, even in length and in time alike, and the block each belongs to."""
    count = max(FEWEST, NODES // len(paths))
    parts = max(1, -(-PIECES // len(paths)))
    xs, vs, blocks = [], [], []
    for k, (x, v) in enumerate(paths):
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        along = length / length[-1] + np.linspace(0, 1, len(x))
        index = np.unique(np.searchsorted(along, np.linspace(0, 2, count)).clip(0, len(x) - 1))
        xs.append(x[index])
        vs.append(v[index])
        blocks.append(k * parts + np.minimum((along[index] * parts / 2).astype(int), parts - 1))
    x, v, block = np.concatenate(xs), np.concatenate(vs), np.concatenate(blocks)
    thin = max(1, -(-len(x) // most))
    return x[::thin], v[::thin], block[::thin]


def _affine(x: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(x)), x])


# Where the ends leave as little doubt as what no model knows there is nothing to ask.
SURE = 1 - 2 * UNKNOWN


def of_one_field(demos: Demonstrations, graph: PathGraph, odd: tuple[Odd, ...] = (), *, turning: bool = False) -> bool:
    """Whether the paths are predicted from each other; fewer than d + 1 predict their own pieces along a line, unless
    these turn."""
    paths = [graph.path(k) for k in _evenly(graph, odd)]
    paths = [p for p in paths if np.ptp(demos.x[p], axis=0).any()]
    if len(paths) <= demos.dimension and not turning:
        return False
    inside = np.concatenate(paths)
    extent = np.ptp(demos.x[inside], axis=0)
    extent = np.where(extent > 0, extent, 1.0)
    x, v = (demos.x - demos.x[inside].mean(axis=0)) / extent, demos.v / extent
    pace = np.sqrt((v[inside] ** 2).sum(axis=1).mean())
    return bool(pace > 0) and one_field([(x[p], v[p] / pace) for p in paths], NODES).smooth


def _evenly(graph: PathGraph, odd: tuple[Odd, ...]) -> IntArray:
    """Some paths that are long enough, of all groups alike; not those that repeat another one, which predict each other."""
    length = np.diff(graph.offsets)
    repeats = [one.number for one in odd if one.kind == "repeats another"]
    whole = np.setdiff1d(np.flatnonzero((length >= SHORTEST_PATH) & (graph.group >= 0)), repeats)
    whole = whole[np.argsort(graph.group[whole], kind="stable")]
    return whole[np.unique(np.linspace(0, len(whole) - 1, NODES // FEWEST).round().astype(np.intp))]


class Second(NamedTuple):
    """What the second witness says: its field, the attractor that every path ends in there, and the probability of every number
    of attractors by both."""

    field: FlowFinding
    fate: IntArray
    said: dict[int, float]

    @property
    def number(self) -> int:
        return max(self.said, key=lambda q: self.said[q])

    @property
    def agrees(self) -> bool:
        """Whether the field has the likeliest number."""
        return self.number == len(self.field.located)

    @property
    def cycles(self) -> list[Orbit]:
        """The field's cycles with the paths that it takes to each; all of them together are as sure as the number."""
        located = self.field.located
        cycles = [q for q in np.unique(self.fate) if q >= 0 and located[q].kind == "cycle"]
        return [
            _orbit(located[q], np.flatnonzero(self.fate == q), self.said[self.number] ** (1 / len(cycles)))
            for q in cycles
        ]

    def trajectories(self, demos: Demonstrations) -> PathFinding | list[Orbit]:
        """Recordings as the field groups them: those that it takes to cycles, or, where there is none, ends."""
        if cycles := self.cycles:
            return cycles
        labels = np.repeat(self.fate, [len(x) for x, _ in demos.trajectories()])
        ends = TrajectoryGraph().build(demos, Told(labels=labels))
        return replace(ends, grouping=replace(ends.grouping, probability=self.said[self.number], told=""))


def second(
    demos: Demonstrations,
    graph: PathGraph,
    ends: Mapping[int, float],
    odd: tuple[Odd, ...] = (),
    *,
    turning: bool = True,
) -> Second | None:
    """The field as a witness beside what the ends of paths say; None where the paths are not of one field, or leave it."""
    if not of_one_field(demos, graph, odd, turning=turning):
        return None
    try:
        field = FlowGraph().build(demos)
    except DataError:
        return None  # too few samples for a field
    fate = field.labels[graph.nodes[graph.offsets[1:] - 1]]
    return None if (fate[graph.group >= 0] < 0).any() else Second(field, fate, agreed(ends, field))


def by_two(demos: Demonstrations, paths: PathFinding) -> PathFinding | FlowFinding | list[Orbit]:
    """What both witnesses say, where the ends of the paths leave a doubt and the paths are of one field.

    Paths that were recovered from unordered samples give way to the field where that has another number, or where their labels
    are in doubt; trajectories that were given stay what they are, and are grouped by where the field takes them. Ends that still
    go round do not say whether they wind in or settle on a cycle: there the field is asked however sure they are.
    """
    grouping, ordered = paths.grouping, demos.offsets is not None
    doubtful = not ordered and paths.doubtful_labels > LABELS_IN_DOUBT
    turning = _go_round(demos, paths)
    if grouping.probability >= SURE and paths.doubtful_labels <= LABELS_IN_DOUBT and not turning:
        return paths
    ends = {grouping.n_groups: grouping.probability} | {r.n_groups: r.probability for r in grouping.alternatives}
    other = second(demos, paths.graph, ends, paths.odd, turning=turning)
    if other is None:
        return paths
    another_kind = turning and any(a.kind == "cycle" for a in other.field.located)
    if not other.agrees or not (other.number != grouping.n_groups or doubtful or another_kind):
        return paths.weighed(other.said)
    return other.trajectories(demos) if ordered else replace(other.field, agreed=other.said[other.number])


def _go_round(demos: Demonstrations, paths: PathFinding) -> bool:
    """Whether one of some paths ends in motion, next to where it came by before in the same direction, this side of its turn."""
    for k in _evenly(paths.graph, paths.odd):
        x, v = (a[paths.graph.path(int(k))] for a in (demos.x, demos.v))
        if np.linalg.norm(v[-1]) > AT_REST * full_speed(v) and returned(x, v[-1], len(x) - 1, 0.5, SHORTEST_TURN):
            return True
    return False


def _orbit(found: Attractor, members: IntArray, sure: float) -> Orbit:
    assert found.curve is not None and found.period is not None  # a cycle
    return Orbit(members, found.curve, found.period, found.standard_error, sure)


def agreed(ends: Mapping[int, float], field: FlowFinding) -> dict[int, float]:
    """Probability of every number of attractors that the ends of paths or the field has."""
    share = (1 - UNKNOWN) * field.confidence / max(field.counts.get(len(field.located), 0.0), TINY)
    votes = {q: share * p for q, p in field.counts.items()}
    numbers = sorted(q for q in {*ends, *votes} if q > 0)
    both = [np.prod([_shared(said, q, len(numbers)) for said in (ends, votes)]) for q in numbers]
    return dict(zip(numbers, (np.array(both) / np.sum(both)).tolist(), strict=True))


def _shared(said: Mapping[int, float], q: int, numbers: int) -> float:
    """The probability of a number, with its share of what is not known."""
    return said.get(q, 0.0) + max(1 - sum(said.values()), 0.0) / numbers
