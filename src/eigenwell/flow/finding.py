"""What FlowGraph found, and the same with what the user says: which attractors are one, how many there are, which samples belong
together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import Caution, DataError
from ..graphs import PathGraph
from ..paths.spanning import components, spanning_tree
from ..paths.told import Told
from ..wording import plural
from .bootstrap import Ensemble
from .exits import Exit
from .field import FlowField, Whitening
from .portrait import Trap
from .traps import LimitCycle

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
        in four. Where samples leave nobody knows where to: another attractor lies there one time in two where all of them do,
        and less often where only so many do as chance carries over the edge, sqrt(n) of n."""
        if self.agreed is not None:
            return self.agreed
        at_edge = sum(a.kind == "point" and a.eigenvalues is None for a in self.located)
        leaving = sum(len(e.samples) for e in self.exits)
        beyond = leaving / (leaving + np.sqrt(len(self.labels))) if self.located else 1.0
        seen = AT_THE_EDGE**at_edge * (1 - beyond / 2)
        return float(self.counts.get(len(self.located), 0.0) * self.known * seen * self.asked)

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


def as_told(found: FlowFinding, many: Ensemble, alone: dict[int, float], told: Told) -> FlowFinding:
    """The finding with the decision that the user took. `alone`: what the replicates say about the number by themselves."""
    frame = found.field.frame
    if told.resolution is not None:
        places = np.array([a.position for a in found.located]).reshape(-1, len(frame.centre))
        group = within(places, np.array([a.kind == "cycle" for a in found.located], dtype=bool), told.resolution)
        tally = Counter(_number_within(p.attractors, frame, told.resolution) for p in many.portraits)
        counts = {q: tally[q] / len(many.portraits) for q in sorted(tally)}
        return found.joined(group, counts, f"attractors within {told.resolution:g} are one place, by resolution")
    if told.labels is not None:
        return _labelled(found, told.labels)
    if told.n_attractors is None:
        return found
    others = ", ".join(f"{q} in {100 * share:.0f} %" for q, share in alone.items())
    if len(found.located) < told.n_attractors:
        raise DataError(
            f"Expected n_attractors = {told.n_attractors} in some of the fields that fit the samples, got {others}. Take more "
            "samples, or less noisy ones, around the attractors that are missing, or leave n_attractors out."
        )
    said = f"{plural(told.n_attractors, 'attractor')}, by n_attractors; the replicates alone say {others}"
    group = np.arange(len(found.located))
    if len(group) > told.n_attractors:
        from scipy.cluster.hierarchy import fcluster, linkage  # slow to import, and seldom needed

        places = np.array([a.position for a in found.located])
        group = fcluster(linkage(places, "average"), told.n_attractors, "maxclust").astype(np.intp) - 1
        said += "; the nearest were joined"
    return found.joined(group, {told.n_attractors: 1.0}, said)


def within(places: FloatArray, cycles: np.ndarray, distance: float) -> IntArray:
    """Group of every place: points nearer to each other than `distance`, by any number of steps, are one; a cycle is its own."""
    rest = np.flatnonzero(~cycles)
    group = np.empty(len(places), dtype=np.intp)
    if len(rest):
        pairs, length = spanning_tree(places[rest])
        group[rest] = components(pairs[length <= distance], len(rest))
    group[cycles] = int(group[rest].max(initial=-1)) + 1 + np.arange(int(cycles.sum()))
    return group


def _number_within(traps: tuple[Trap, ...], frame: Whitening, distance: float) -> int:
    places = frame.leave(np.array([t.place for t in traps]).reshape(-1, frame.forward.shape[1]))
    cycles = np.array([isinstance(t, LimitCycle) for t in traps], dtype=bool)
    return int(within(places, cycles, distance).max(initial=-1)) + 1


def _labelled(found: FlowFinding, labels: IntArray) -> FlowFinding:
    """Every attractor belongs to the label that most of the samples have which end in it, and samples keep their labels."""
    values, given = np.unique(np.where(labels >= 0, labels, -1), return_inverse=True)
    given = given - int(values[0] < 0)
    values = values[values >= 0]
    votes = np.zeros((len(found.located), len(values)))
    named = (given >= 0) & (found.labels >= 0)
    np.add.at(votes, (found.labels[named], given[named]), 1)
    group = np.where(votes.any(axis=1), votes.argmax(axis=1) if len(votes) else 0, -1)
    lost = np.setdiff1d(np.arange(len(values)), group)
    if len(lost):
        mine = found.labels[given == lost[0]]
        ends = np.append(group, len(values))[mine]
        where = [f"{int((ends == k).sum())} with those of label {values[k]}" for k in np.unique(group[group >= 0])]
        raise DataError(
            f"Expected an attractor for each of {len(values)} labels, got none for label {values[lost[0]]}: of its {len(mine)} "
            f"samples {', '.join([*where, f'{int((mine < 0).sum())} nowhere'])} end. Give them the label they end with, or -1."
        )
    said = f"the attractor of every sample, by labels ({len(values)} of them)"
    out = found.joined(group, {len(values): 1.0}, said)
    number = found.ranks(group)
    mine = np.where(given >= 0, number[given], out.labels)
    astray = int((named & (out.labels != mine)).sum())
    doubt = Caution(
        "labels-disagree",
        f"{astray} of {int(named.sum())} samples with a label are carried to the attractor of another one; they keep theirs.",
    )
    return replace(out, labels=mine, warnings=out.warnings + ((doubt,) if astray else ()))
