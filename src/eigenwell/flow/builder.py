"""FlowGraph: from velocities at scattered places to attractors, fates and paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import SHORTEST_PATH, Caution, DataError, Demonstrations, first_occurrence
from ..graphs import PathGraph
from ..paths.builders import check_places
from ..paths.hashing import sample_hash
from .bootstrap import ASKED, REPLICATES, Ensemble, ensemble, matched, replicates
from .border import EdgeSink
from .cycles import LimitCycle
from .equilibria import Sink, sinks
from .estimation import estimate
from .exits import Exit, backwards, exits, unrelated
from .field import FlowField, blend
from .integration import LEFT, WANDERING, Support, Walls
from .portrait import SCOUTS, STARTS, Portrait, Trap, fates, portrait
from .streams import streams
from .whitening import Whitening

# Neighbours among the samples asked in every replicate that say the fate of a sample that was not.
NEIGHBOURS = 3
# Samples next to a sink that are asked whether they end in it: twice as many as must.
NEXT_TO = 2 * SHORTEST_PATH
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

    Attributes
    ----------
    graph : PathGraph
        Samples threaded along solutions of the estimated field, grouped by attractor.
    located : tuple of Attractor
        By place.
    labels : (n,) int array
        Attractor of every sample, -1 where it leaves the data or never settles.
    fates : (n, Q + 1) array
        Probability of each attractor, and last that of leaving or ending elsewhere.
    counts : dict
        Share of the replicates that have so many attractors.
    exits : tuple of Exit
        Regions through which samples leave the data.
    spread : (R, Q + 1) array
        The shares of the fates in the replicates that have as many attractors, less their mean.
    known : float
        Share of the field's variance between the samples that they determine.
    field : EstimatedField
        The estimated field.
    warnings : tuple of Caution
        Doubts.

    Examples
    --------
    >>> import eigenwell as ew
    >>> finding = ew.FlowGraph().build(ew.systems.toggle_switch.snapshots(200, seed=0))  # doctest: +SKIP
    """

    graph: PathGraph
    located: tuple[Attractor, ...]
    labels: IntArray
    fates: FloatArray
    counts: dict[int, float]
    exits: tuple[Exit, ...]
    spread: FloatArray
    known: float
    field: EstimatedField
    warnings: tuple[Caution, ...]

    @property
    def seen(self) -> float:
        """How much of what decides the number lies among the samples: an attractor at their edge may as well be a place where
        they leave, one time in four, and where all of them leave nobody knows where to: one time in two."""
        at_edge = sum(a.kind == "point" and a.eigenvalues is None for a in self.located)
        return AT_THE_EDGE**at_edge if self.located else 0.5


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

    def build(self, demos: Demonstrations) -> FlowFinding:
        """The field of some samples, its attractors and the fate of every sample.

        Parameters
        ----------
        demos : Demonstrations
            Their order is not used.

        Returns
        -------
        FlowFinding

        Raises
        ------
        DataError
            For too few samples.
        """
        index = np.flatnonzero(first_occurrence(demos.x, demos.v))
        distinct = int(first_occurrence(demos.x[index], np.zeros_like(demos.x[index])).sum())
        _check_enough(len(index), demos.dimension)
        check_places(distinct, len(index), demos.dimension, str(distinct))
        # An order that the values alone decide: every sum is the same to the last digit however the samples came.
        order = index[np.argsort(sample_hash(demos.x[index], demos.v[index]), kind="stable")]
        x, v = demos.x[order], demos.v[order]
        seen = estimate(x, v)
        first = _next_to_sinks(seen.field, seen.y)
        order, x, v, y, w = order[first], x[first], v[first], seen.y[first], seen.v[first]
        frame, field = seen.frame, seen.field
        walls = self._walls(frame, demos)
        support = Support.of(y, field.length, walls=walls)
        found, _ = portrait(field, y[:STARTS], y[:SCOUTS], support)
        others = replicates(seen.fields, y, w, self.seed, self.replicates)
        many = ensemble(others, self.replicates, y[:ASKED], found, support)
        found = _most_frequent(found, many, y, support)
        found = _in_order(found, frame, x)
        labels, time = fates(found, y)
        found, labels = _reached(found, labels)
        odds, spread = _fate_odds(found, many, y, labels)
        places = tuple(located(frame, q, trap, many, found) for q, trap in enumerate(found.attractors))
        graph = streams(found, y, labels, time)
        # Back to the order of the samples; one that repeats another shares its fate.
        back = np.empty(demos.n_samples, dtype=np.intp)
        both = np.hstack([x, v])
        back[:] = cKDTree(both).query(np.hstack([demos.x, demos.v]))[1] if len(index) < demos.n_samples else 0
        back[order] = np.arange(len(order))
        return FlowFinding(
            graph=replace(graph, n_samples=demos.n_samples, nodes=order[graph.nodes]),
            located=places,
            labels=np.maximum(labels, -1)[back],
            fates=odds[back],
            exits=tuple(replace(e, samples=order[e.samples]) for e in exits(found, frame, y, labels)),
            counts=many.counts,
            spread=spread,
            known=seen.known,
            field=EstimatedField(frame, found.field),
            warnings=seen.warnings
            + unrelated(field, y, w)
            + _doubts(labels, many, found)
            + backwards(found, y, labels),
        )

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
        beyond = (demos.x < low) | (demos.x > high)
        if (low >= high).any() or beyond.any():
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
    at = np.concatenate([y[:STARTS], *(b.inducing for b in field.blocks)])
    places = [s.place for s in sinks(field, at)]
    near = cKDTree(y).query(places, k=min(NEXT_TO, len(y)))[1].ravel() if places else np.empty(0, dtype=np.intp)
    last = np.ones(len(y), dtype=bool)
    last[near] = False
    return np.concatenate([np.unique(near), np.flatnonzero(last)])


def _most_frequent(found: Portrait, many: Ensemble, y: FloatArray, support: Support) -> Portrait:
    """The estimate, or, where another number or other kinds come out more often, the nearest field that has these.

    Smoothing hides what is small, and noise makes a small cycle of a weak focus; the replicates, which hold both, vote.
    """
    counts = many.counts
    q = max(counts, key=lambda n: (counts[n], n == len(found.attractors)))
    tally = Counter(kinds(p) for p in many.portraits)
    wanted = max((k for k in tally if k[0] == q), key=lambda k: (tally[k], k == kinds(found)))
    if wanted == kinds(found):
        return found
    at, outputs = y[:SCOUTS], found.field.outputs
    here = found.field(at)
    candidates = [b for b, p in zip(many.replicates, many.portraits, strict=True) if kinds(p) == wanted]
    nearest = min(candidates, key=lambda b: float((((b.field(at) - here) @ outputs) ** 2).sum()))
    for share in (0.0, 0.25, 0.5, 0.75):
        between = blend(nearest.estimate, nearest.field, share)
        tried, _ = portrait(between, y[:STARTS], y[:SCOUTS], support)
        if kinds(tried) == wanted:
            return tried
    return portrait(nearest.field, y[:STARTS], y[:SCOUTS], support)[0]


def kinds(found: Portrait) -> tuple[int, int]:
    """How many attractors, and how many of them are cycles."""
    return len(found.attractors), sum(isinstance(t, LimitCycle) for t in found.attractors)


def _in_order(found: Portrait, frame: Whitening, x: FloatArray) -> Portrait:
    """Attractors by their first coordinate, then the second, ...; equal to a thousandth of the extent is equal."""
    extent = float(np.ptp(x, axis=0).max())
    inside = [t for t, ok in zip(found.traps, found.inside, strict=True) if ok]
    outside = [t for t, ok in zip(found.traps, found.inside, strict=True) if not ok]
    places = frame.leave(np.array([t.place for t in inside]).reshape(-1, frame.forward.shape[1]))
    order = np.lexsort(np.round(places / (1e-3 * extent)).T[::-1]).tolist() if inside else []
    traps = [inside[k] for k in order] + outside
    return replace(found, traps=tuple(traps), inside=tuple(k < len(inside) for k in range(len(traps))))


def _reached(found: Portrait, labels: IntArray) -> tuple[Portrait, IntArray]:
    """Without attractors that fewer samples reach than make a path; these samples then end nowhere."""
    reached = np.bincount(labels[labels >= 0], minlength=len(found.attractors)) >= SHORTEST_PATH
    if reached.all():
        return found, labels
    number = np.append(np.where(reached, np.cumsum(reached) - 1, LEFT), [WANDERING, LEFT])
    inside = np.array(found.inside)
    inside[np.flatnonzero(inside)[~reached]] = False
    return replace(found, inside=tuple(inside.tolist())), number[labels]


def _fate_odds(found: Portrait, many: Ensemble, y: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """(n, Q + 1) how often each fate came out, the estimate itself counted as one replicate; and how the shares of the fates
    differ among those that have as many attractors."""
    q = len(found.attractors)
    asked = min(ASKED, len(y))
    odds, shares = np.zeros((asked, q + 1)), []
    for other, fate in zip(many.portraits, many.fates, strict=True):
        meant = matched(found.attractors, other.attractors)
        table = np.append(np.where(meant >= 0, meant, q), [q, q]).astype(np.intp)
        odds[np.arange(asked), table[fate]] += 1
        if len(other.attractors) == q and (meant >= 0).all():
            shares.append(np.bincount(table[fate], minlength=q + 1) / asked)
    spread = np.array(shares).reshape(-1, q + 1)
    end = np.where(labels >= 0, labels, q)
    odds = np.concatenate([odds, np.zeros((len(y) - asked, q + 1))])
    # One that was not asked is as sure as those next to it on its side of the border.
    for k in range(q + 1):
        said, silent = np.flatnonzero(end[:asked] == k), asked + np.flatnonzero(end[asked:] == k)
        if len(said) and len(silent):
            near = cKDTree(y[said]).query(y[silent], k=min(NEIGHBOURS, len(said)))[1].reshape(len(silent), -1)
            odds[silent] = odds[said[near]].mean(axis=1)
    odds[np.arange(len(y)), end] += 1
    return np.asarray(odds / odds.sum(axis=1, keepdims=True)), spread - spread.mean(axis=0) if shares else spread


def located(frame: Whitening, q: int, trap: Trap, many: Ensemble, found: Portrait) -> Attractor:
    """Place, standard error over the replicates, and kind of one attractor, in data coordinates."""
    places = [
        other.attractors[int(k)].place
        for other in many.portraits
        for k in np.flatnonzero(matched(found.attractors, other.attractors) == q)
    ]
    place = frame.leave(trap.place[None])[0]
    if len(places) > 1:
        error = (np.array(places) @ frame.backward).std(axis=0, ddof=1)
    else:
        error = (
            np.sqrt(np.diag(frame.backward.T @ trap.error @ frame.backward))
            if not isinstance(trap, LimitCycle)
            else 0 * place
        )
    if isinstance(trap, Sink):
        values = np.sort_complex(np.linalg.eigvals(trap.jacobian)).astype(np.complex128)
        return Attractor(place, error, place, place, place, eigenvalues=values)
    if isinstance(trap, EdgeSink):
        return Attractor(place, error, place, None, place)
    return Attractor(place, error, place, None, place, kind="cycle", period=trap.period, curve=frame.leave(trap.curve))


def _doubts(labels: IntArray, many: Ensemble, found: Portrait) -> tuple[Caution, ...]:
    cautions = []
    n, left, wandering = len(labels), int((labels == LEFT).sum()), int((labels < LEFT).sum())
    if left:
        cautions.append(
            Caution(
                "leaving",
                f"{left} of {n} samples are carried out of the data and have label -1: what attracts them, if anything, "
                "lies where there are no samples.",
            )
        )
    if wandering:
        cautions.append(
            Caution(
                "wandering",
                f"{wandering} of {n} samples settle nowhere and have label -1: the motion is chaotic, undamped or too slow.",
            )
        )
    counts = many.counts
    q = len(found.attractors)
    if counts.get(q, 0.0) < 0.9:
        others = ", ".join(f"{k} in {100 * share:.0f} %" for k, share in counts.items() if k != q)
        cautions.append(
            Caution(
                "number-in-doubt",
                f"{q} attractors in {100 * counts.get(q, 0.0):.0f} % of the replicates, {others}. More samples, or less "
                "noise in the velocities, would tell.",
            )
        )
    edge = sum(isinstance(t, EdgeSink) and not t.wall for t in found.attractors)
    if edge:
        cautions.append(
            Caution(
                "at-the-edge",
                f"{edge} of {q} attractors lie at the edge of the data: samples that move there stop or leave, which cannot "
                "be told apart. Sample beyond the edge if that is possible.",
            )
        )
    if q == 0:
        cautions.append(Caution("no-attractor", "Nothing attracts within the data: every sample leaves them."))
    return tuple(cautions)
