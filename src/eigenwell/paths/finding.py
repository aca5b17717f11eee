"""What is found of paths: themselves, how their ends are grouped, and what is doubtful."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .._types import FloatArray
from ..demonstrations import Caution
from ..graphs import PathGraph
from .ends import Grouping, Reading
from .odd import Odd


@dataclass(frozen=True)
class PathFinding:
    """A path graph, how its ends were grouped, and what is doubtful about it.

    Attributes
    ----------
    graph : PathGraph
        The paths.
    grouping : Grouping
        How their ends were grouped.
    arrived : (Q,) array
        How near to rest a path came at every attractor: 1 less the slowest end, in units of the speed on the way.
    label_confidence : (n,) array
        Probability that every sample belongs to the group of its path.
    warnings : tuple of Caution
        Doubts.
    alternatives : tuple of Reading
        The group of every path in other readings of the ends.
    odd : tuple of Odd
        Recordings that are unlike the others.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.paths.TrajectoryGraph().build(ew.systems.heart.sample(seed=0, frequency=20.0)).graph.n_paths
    6
    """

    graph: PathGraph
    grouping: Grouping
    arrived: FloatArray
    label_confidence: FloatArray
    warnings: tuple[Caution, ...]
    alternatives: tuple[Reading, ...] = ()
    odd: tuple[Odd, ...] = ()

    @property
    def doubtful_labels(self) -> float:
        """Share of the labels that may be wrong, of the samples that have one."""
        sure = self.label_confidence[self.graph.labels >= 0]
        return float((1 - sure).mean()) if len(sure) else 0.0

    def weighed(self, said: Mapping[int, float]) -> PathFinding:
        """The same with other probabilities of the numbers.

        Parameters
        ----------
        said : mapping
            Probability of every number of attractors.

        Returns
        -------
        PathFinding
        """

        def of(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
            return tuple(replace(r, probability=said.get(r.n_groups, 0.0)) for r in readings)

        grouping = self.grouping
        sure = said.get(grouping.n_groups, 0.0)
        grouping = replace(grouping, probability=sure, alternatives=of(grouping.alternatives))
        return replace(self, grouping=grouping, alternatives=of(self.alternatives))
