"""FlowGraph: from velocities at scattered places to attractors, fates and paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, Caution, DataError, Demonstrations, first_occurrence
from ..paths.blocks import sample_hash
from ..paths.builders import check_places
from ..paths.told import NOTHING, Told
from ..wording import plural
from .bootstrap import REPLICATES, ensemble, replicates, third
from .border import EdgeSink
from .estimation import estimate
from .exits import backwards, exits, unrelated
from .field import FlowField, Whitening, Work
from .finding import EstimatedField, FlowFinding, as_told
from .integration import ASKED, FEW, LEFT, Support, Walls
from .portrait import CARRIED, Portrait, fates, portrait, streams
from .traps import sinks
from .votes import fate_odds, in_order, kinds, located, most_frequent, reached

# Kernel evaluations spent on the portrait of the estimate, on fates, and twice as many on replicates: a second each. What
# never settles takes any number.
WORK = 3e8
# Samples next to a sink that are asked whether they end in it: twice as many as must.
NEXT_TO = 2 * SHORTEST_PATH


@dataclass(frozen=True)
class FlowGraph:
    """Snapshots: velocities measured at scattered places, in no order.

    The field between the samples is estimated, every sample carried along it, and what attracts is what they end in. There is
    no threshold to set.

    Parameters
    ----------
    replicates : int
        Fields that fit re-weighted samples, which say how sure the answer is.
    seed : int
        The same seed gives the same replicates, in whatever order the samples come.
    low, high : float or sequence of float, optional
        Walls that nothing crosses, one for all coordinates or one each (-inf, inf for none): concentrations are not negative.
        What would leave through a wall slides along it, to an attractor inside or on it.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.toggle_switch.snapshots(200, seed=0)
    >>> found = ew.identify(demos, graph=ew.FlowGraph(replicates=20))  # doctest: +SKIP
    """

    replicates: int = REPLICATES
    seed: int = 0
    low: float | Sequence[float] | None = None
    high: float | Sequence[float] | None = None

    def build(self, demos: Demonstrations, told: Told = NOTHING) -> FlowFinding:
        """The field of some samples, its attractors and the fate of every sample.

        Parameters
        ----------
        demos : Demonstrations
            Their order is not used.
        told : Told
            What the user knows.

        Returns
        -------
        FlowFinding

        Raises
        ------
        DataError
            For too few samples, and for more attractors than they show.
        """
        kept = told.kept(demos)
        index = np.flatnonzero(kept)
        index = index[first_occurrence(demos.x[index], demos.v[index])]
        distinct = int(first_occurrence(demos.x[index], np.zeros_like(demos.x[index])).sum())
        _check_enough(len(index), demos.dimension)
        check_places(distinct, len(index), demos.dimension, str(distinct))
        # An order that the values alone decide: every sum is the same to the last digit however the samples came.
        order = index[np.argsort(sample_hash(demos.x[index], demos.v[index]), kind="stable")]
        x, v = demos.x[order], demos.v[order]
        seen = estimate(x, v)
        first = _next_to_sinks(seen.field, seen.y)
        order, x, v, y, w = order[first], x[first], v[first], seen.y[first], seen.v[first]
        frame, work = seen.frame, Work()
        likely = [(p, replace(f, work=work)) for p, f in seen.fields]
        field = likely[0][1]
        support = Support.of(y, field.length, walls=self._walls(frame, demos))
        work.left = WORK
        found, carried = portrait(field, y[:ASKED], y[:ASKED], support)
        # As many samples are asked as the work allows to follow to their ends; where it does not reach for all, a few.
        affordable, bounded = int(WORK * min(ASKED, len(y)) / (WORK - work.left)), work.over
        if bounded:
            work.left = WORK
            affordable = FEW
            found, carried = portrait(field, y[:ASKED], y[:affordable], support)
        first_look = found, carried
        work.left = 2 * WORK
        scouts = y[: min(ASKED, max(2 * affordable // third(self.replicates), FEW))]
        others = replicates(likely, y, w, self.seed, self.replicates)
        many = ensemble(others, self.replicates, scouts, found, told.n_attractors)
        bounded |= work.over
        work.left = WORK
        found = most_frequent(found, many, y, told.n_attractors)
        found = in_order(found, frame, x)
        made = len(many.portraits)
        alone, asked = many.counts, (made + 1) / (made + 2) if made < third(self.replicates) else 1.0
        if told.n_attractors is not None:
            many = many.having(len(found.attractors))
        work.left = WORK
        labels, time = fates(found, y, min(CARRIED, affordable), first_look)
        bounded |= work.over
        found, labels = reached(found, labels)
        odds, spread = fate_odds(found, many, y, labels)
        places = tuple(located(frame, q, trap, many, found) for q, trap in enumerate(found.attractors))
        graph = streams(found, y, labels, time)
        # Back to the order of the samples; one that repeats another shares its fate.
        back = np.zeros(demos.n_samples, dtype=np.intp)
        again = np.setdiff1d(np.flatnonzero(kept), order)
        if len(again):
            back[again] = cKDTree(np.hstack([x, v])).query(np.hstack([demos.x[again], demos.v[again]]))[1]
        back[order] = np.arange(len(order))
        cut = f"{len(many.portraits)} of {self.replicates} replicates, {len(scouts)} samples in each"
        finding = FlowFinding(
            graph=replace(graph, n_samples=demos.n_samples, nodes=order[graph.nodes]),
            located=places,
            labels=np.where(kept, np.maximum(labels, -1)[back], -1),
            fates=np.where(kept[:, None], odds[back], np.eye(odds.shape[1])[-1]),
            exits=tuple(replace(e, samples=order[e.samples]) for e in exits(found, frame, y, labels)),
            counts=alone,
            spread=spread,
            known=seen.known,
            asked=asked,
            field=EstimatedField(frame, found.field),
            warnings=seen.warnings
            + unrelated(field, y, w)
            + _doubts(labels, {} if told else alone, found, many.portraits, cut if bounded else "")
            + backwards(found, y, labels),
        )
        return as_told(finding, many, alone, told)

    def _walls(self, frame: Whitening, demos: Demonstrations) -> Walls | None:
        if self.low is None and self.high is None:
            return None
        d = demos.dimension
        ends = (-np.inf if self.low is None else self.low), (np.inf if self.high is None else self.high)
        try:
            low, high = (np.broadcast_to(np.asarray(e, dtype=np.float64), (d,)) for e in ends)
        except ValueError:
            raise DataError(
                f"Expected low and high as one number or {d}, one for each coordinate, got {ends}."
            ) from None
        if not (low < high).all():
            raise DataError(f"Expected low below high in every coordinate, got {ends}.")
        beyond = (demos.x < low) | (demos.x > high)
        if beyond.any():
            raise DataError(
                f"Expected all samples between low and high, got {int(beyond.any(axis=1).sum())} beyond. Move the walls, or "
                "leave these samples out."
            )
        return Walls(frame, low, high)


def _check_enough(n: int, dimension: int) -> None:
    # An affine field and as many samples again to see noise by; ten lets a plane show anything at all.
    needed = max(10, 4 * (dimension + 1))
    if n < needed:
        raise DataError(
            f"Expected at least {needed} distinct samples to estimate a field in {dimension}-D, got {n}. Record more samples, "
            "or project to fewer dimensions."
        )


def _next_to_sinks(field: FlowField, y: FloatArray) -> IntArray:
    """The order in which samples are asked: those next to a sink first, so that none is missed because few end in it."""
    at = np.concatenate([y[:ASKED], *(b.inducing for b in field.blocks)])
    places = [s.place for s in sinks(field, at)]
    near = cKDTree(y).query(places, k=min(NEXT_TO, len(y)))[1].ravel() if places else np.empty(0, dtype=np.intp)
    last = np.ones(len(y), dtype=bool)
    last[near] = False
    return np.concatenate([np.unique(near), np.flatnonzero(last)])


def _doubts(
    labels: IntArray, counts: dict[int, float], found: Portrait, others: Sequence[Portrait] = (), cut: str = ""
) -> tuple[Caution, ...]:
    """What is not sure about the number of attractors, by the `counts` where the data decided; about their kind, by the portraits
    of `others`; and about the fates. `cut` says what was asked where not all was."""
    n, left, wandering = len(labels), int((labels == LEFT).sum()), int((labels < LEFT).sum())
    q, cycles = kinds(found)
    so_many, most = plural(q, "attractor"), counts.get(q, 0.0)
    rest = ", ".join(f"{k} in {100 * share:.0f} %" for k, share in counts.items() if k != q)
    edge = sum(isinstance(t, EdgeSink) and not t.wall for t in found.attractors)
    # A weak focus and a small cycle look alike: where another kind comes out more often than one time in ten.
    of = [kinds(p)[1] == cycles for p in others if len(p.attractors) == q]
    same = sum(of) / len(of) if of else 1.0
    said = [
        (left, "leaving", f"{left} of {n} samples are carried out of the data and have label -1: what attracts them, if "
         "anything, lies where there are no samples."),
        (wandering, "wandering", f"{wandering} of {n} samples settle nowhere and have label -1: the motion is chaotic, "
         "undamped or too slow."),
        (counts and most < 0.9, "number-in-doubt", f"{so_many} in {100 * most:.0f} % of the replicates, {rest}. More "
         "samples, or less noise in the velocities, would tell."),
        (edge, "at-the-edge", f"{edge} of {q} attractors lie at the edge of the data: samples that move there stop or leave, "
         "which cannot be told apart. Sample beyond the edge if that is possible."),
        (q == 0, "no-attractor", "Nothing attracts within the data: every sample leaves them."),
        (same < 0.9, "cycles-in-doubt", f"{cycles} of {so_many} {'is a cycle' if cycles == 1 else 'are cycles'} in "
         f"{100 * same:.0f} % of the replicates that have as many, another number in the rest: a weak focus and a small cycle "
         "look alike."),
        (cut, "bounded", f"The motion takes long to settle, and was followed for as many evaluations as are allowed: {cut}; "
         f"{wandering} of {n} samples had not arrived. Fewer dimensions, or samples with less noise, settle sooner."),
    ]  # fmt: skip
    return tuple(Caution(name, text) for true, name, text in said if true)
