"""Two witnesses: where paths are of one smooth field, what their ends say and what the field says are both asked.

Each has a probability for every number of attractors, and what it does not know it leaves to all numbers that either of them
names. They err for different reasons, the one where paths were strung together wrongly or stopped early, the other where there
are no samples, so that their product counts: agreement is confidence, disagreement is doubt. A field that lets a path leave
the samples at its end does not know where that is bound for, and is no witness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .._types import IntArray
from ..demonstrations import SHORTEST_PATH, Demonstrations
from ..paths import PathFinding, TrajectoryGraph
from ..paths.beside import LABELS_IN_DOUBT
from ..paths.ends import UNKNOWN
from ..paths.told import Told
from .builder import FlowGraph
from .finding import FlowFinding
from .integration import TINY
from .one_field import FEWEST, NODES, one_field

# Where the ends leave as little doubt as what no model knows there is nothing to ask.
SURE = 1 - 2 * UNKNOWN


def of_one_field(demos: Demonstrations, found: PathFinding) -> bool:
    """Whether the paths are predicted from each other; fewer than d + 1 predict their own pieces along a line."""
    paths = [found.graph.path(k) for k in _evenly(found)]
    paths = [p for p in paths if np.ptp(demos.x[p], axis=0).any()]
    if len(paths) <= demos.dimension:
        return False
    inside = np.concatenate(paths)
    extent = np.ptp(demos.x[inside], axis=0)
    extent = np.where(extent > 0, extent, 1.0)
    x, v = (demos.x - demos.x[inside].mean(axis=0)) / extent, demos.v / extent
    pace = np.sqrt((v[inside] ** 2).sum(axis=1).mean())
    return bool(pace > 0) and one_field([(x[p], v[p] / pace) for p in paths], NODES).smooth


def _evenly(found: PathFinding) -> IntArray:
    """Some paths that are long enough, of all groups alike."""
    length = np.diff(found.graph.offsets)
    whole = np.flatnonzero((length >= SHORTEST_PATH) & (found.graph.group >= 0))
    whole = whole[np.argsort(found.graph.group[whole], kind="stable")]
    return whole[np.unique(np.linspace(0, len(whole) - 1, NODES // FEWEST).round().astype(np.intp))]


def by_two(demos: Demonstrations, paths: PathFinding) -> PathFinding | FlowFinding:
    """What both witnesses say, where the ends of the paths leave a doubt and the paths are of one field.

    Paths that were recovered from unordered samples give way to the field where that has another number, or where their labels
    are in doubt; trajectories that were given stay what they are, and are grouped by where the field takes them.
    """
    doubtful = paths.doubtful_labels > LABELS_IN_DOUBT
    if (paths.grouping.probability >= SURE and not doubtful) or not of_one_field(demos, paths):
        return paths
    field = FlowGraph().build(demos)
    graph = paths.graph
    fate = field.labels[graph.nodes[graph.offsets[1:] - 1]]
    if (fate[graph.group >= 0] < 0).any():
        return paths
    said = agreed(paths, field)
    number = max(said, key=lambda q: said[q])
    offsets, ends_say = demos.offsets, number == paths.grouping.n_groups
    if number != len(field.located) or (ends_say and (offsets is not None or not doubtful)):
        return paths.weighed(said)
    if offsets is None:
        return replace(field, agreed=said[number])
    labels = np.repeat(fate, np.diff(offsets))
    by_field = TrajectoryGraph().build(demos, Told(labels=labels))
    return replace(by_field, grouping=replace(by_field.grouping, probability=said[number], told=""))


def agreed(paths: PathFinding, field: FlowFinding) -> dict[int, float]:
    """Probability of every number of attractors that one of the two has."""
    ends = {paths.grouping.n_groups: paths.grouping.probability}
    ends |= {r.n_groups: r.probability for r in paths.grouping.alternatives}
    share = (1 - UNKNOWN) * field.confidence / max(field.counts.get(len(field.located), 0.0), TINY)
    votes = {q: share * p for q, p in field.counts.items()}
    numbers = sorted(q for q in {*ends, *votes} if q > 0)
    both = [np.prod([_shared(said, q, len(numbers)) for said in (ends, votes)]) for q in numbers]
    return dict(zip(numbers, (np.array(both) / np.sum(both)).tolist(), strict=True))


def _shared(said: Mapping[int, float], q: int, numbers: int) -> float:
    """The probability of a number, with its share of what is not known."""
    return said.get(q, 0.0) + max(1 - sum(said.values()), 0.0) / numbers
