"""What FlowGraph found, and the same with attractors joined that the user says are one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import Caution
from ..graphs import PathGraph
from .exits import Exit
from .field import FlowField
from .whitening import Whitening

# Chance that an attractor at the edge of the samples is one.
AT_THE_EDGE = 0.75


@dataclass(frozen=True, eq=False)
class EstimatedField:
    """The field that the samples show, as a function of x (n, d); meaningful where there are samples.

    Attributes
    ----------
    frame : Whitening
        From the data's units to those it was estimated in.
    field : FlowField
        The estimate.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.toggle_switch.snapshots(200, seed=0))  # doctest: +SKIP
    >>> found.flow(found.attractors).shape  # doctest: +SKIP
    (2, 2)
    """

    frame: Whitening
    field: FlowField

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.field(self.frame.enter(np.asarray(x, dtype=np.float64))) @ self.frame.backward)


@dataclass(frozen=True, eq=False)
class FlowFinding:
    """What FlowGraph found.

    graph     samples threaded along solutions of the estimated field, grouped by attractor
    located   attractors by place
    labels    (n,) attractor of every sample, -1 where it leaves the data or never settles
    fates     (n, Q + 1) probability of each attractor, and last that of leaving or ending elsewhere
    counts    share of the replicates that have so many attractors
    exits     regions through which samples leave the data
    spread    (R, Q + 1) how the shares of the fates in the replicates that have as many attractors differ from the estimate's
    known     share of the field's variance between the samples that they determine
    asked     1, or where the work was bounded what so few replicates can tell: (n + 1) / (n + 2), Laplace's rule of succession
    told      the decision that the user took, in words
    agreed    the probability of the number by the ends of paths, too, where these were asked
    """

    graph: PathGraph
    located: tuple[Attractor, ...]
    labels: IntArray
    fates: FloatArray
    counts: dict[int, float]
    exits: tuple[Exit, ...]
    spread: FloatArray
    known: float
    asked: float
    field: EstimatedField
    warnings: tuple[Caution, ...]
    told: str = ""
    agreed: float | None = None

    @property
    def confidence(self) -> float:
        """How sure the number is: the share of the replicates that have it, times how much of the field the samples determine and
        how much of what decides lies among them. An attractor at their edge may as well be a place where they leave, one time
        in four, and where all of them leave nobody knows where to: one time in two."""
        if self.agreed is not None:
            return self.agreed
        at_edge = sum(a.kind == "point" and a.eigenvalues is None for a in self.located)
        seen = AT_THE_EDGE**at_edge if self.located else 0.5
        return self.counts.get(len(self.located), 0.0) * self.known * seen * self.asked

    def _busiest(self, group: IntArray) -> IntArray:
        """Of every group the attractor that most samples end in."""
        size = np.bincount(self.labels[self.labels >= 0], minlength=len(group))
        groups = range(int(group.max(initial=-1)) + 1)
        return np.array([max(np.flatnonzero(group == g), key=lambda q: size[q]) for g in groups], dtype=np.intp)

    def ranks(self, group: IntArray) -> IntArray:
        """The number of every group when they are ordered by place, as attractors are; last -1, for none."""
        return np.append(np.argsort(np.argsort(self._busiest(group))), -1)

    def joined(self, group: IntArray, counts: dict[int, float], told: str) -> FlowFinding:
        """With attractors of one `group` (Q,) as one, -1 for none, at the place of the one that most samples end in; `counts` are
        of groups, and `told` says who decided so."""
        total = int(group.max(initial=-1)) + 1
        number = np.append(self.ranks(group)[group], -1)
        columns = np.where(number >= 0, number, total)

        def together(shares: FloatArray) -> FloatArray:
            out = np.zeros((len(shares), total + 1))
            np.add.at(out.T, columns, shares.T)
            return out

        return replace(
            self,
            graph=replace(self.graph, group=number[self.graph.group]),
            located=tuple(self.located[q] for q in np.sort(self._busiest(group))),
            labels=number[self.labels],
            fates=together(self.fates),
            spread=together(self.spread),
            counts=counts,
            told=told,
        )
