"""The replicates vote: on the number and kinds of attractors, on every fate, and on how well each place is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import SHORTEST_PATH
from ..numbering import by_place
from .bootstrap import Ensemble, matched
from .border import EdgeSink
from .field import Whitening, blend
from .integration import ASKED, LEFT, WANDERING
from .portrait import Portrait, Trap
from .traps import LimitCycle, Sink


def most_frequent(found: Portrait, many: Ensemble, y: FloatArray, number: int | None = None) -> Portrait:
    """The estimate, or, where another number or other kinds come out more often, the nearest field that has these.

    Smoothing hides what is small, and noise makes a small cycle of a weak focus; the replicates, which hold both, vote. Where
    the user has said the `number`, fields with so many count, or else with the next larger number there is.
    """
    counts = many.counts
    q = max(counts, key=lambda n: (counts[n], n == len(found.attractors)))
    tally = Counter(kinds(p) for p in many.portraits)
    if number is not None:
        there = sorted({*counts, len(found.attractors)})
        q = next((n for n in there if n >= number), there[-1])
        if q not in counts:
            return found
    wanted = max((k for k in tally if k[0] == q), key=lambda k: (tally[k], k == kinds(found)))
    if wanted == kinds(found):
        return found
    at, outputs = y[:ASKED], found.field.outputs
    here = found.field(at)
    candidates = [k for k, p in enumerate(many.portraits) if kinds(p) == wanted]
    gaps = [float((((many.replicates[k].field(at) - here) @ outputs) ** 2).sum()) for k in candidates]
    k = candidates[int(np.argmin(gaps))]
    nearest = many.replicates[k]
    for share in (0.0, 0.25, 0.5, 0.75):
        between = blend(nearest.estimate, nearest.field, share)
        tried, _ = many.portraits[k].of(between, y[: len(many.fates[k])])
        if kinds(tried) == wanted:
            return tried
    return many.portraits[k]


def kinds(found: Portrait) -> tuple[int, int]:
    """How many attractors, and how many of them are cycles."""
    return len(found.attractors), sum(isinstance(t, LimitCycle) for t in found.attractors)


def in_order(found: Portrait, frame: Whitening, x: FloatArray) -> Portrait:
    """Attractors by their first coordinate, then the second, ...; equal to a thousandth of the extent is equal."""
    extent = float(np.ptp(x, axis=0).max())
    inside = [t for t, ok in zip(found.traps, found.inside, strict=True) if ok]
    outside = [t for t, ok in zip(found.traps, found.inside, strict=True) if not ok]
    places = frame.leave(np.array([t.place for t in inside]).reshape(-1, frame.forward.shape[1]))
    traps = [inside[k] for k in by_place(places, extent)] + outside
    return replace(found, traps=tuple(traps), inside=tuple(k < len(inside) for k in range(len(traps))))


def reached(found: Portrait, labels: IntArray) -> tuple[Portrait, IntArray]:
    """Without attractors that fewer samples reach than make a path; these samples then end nowhere."""
    reached = np.bincount(labels[labels >= 0], minlength=len(found.attractors)) >= SHORTEST_PATH
    if reached.all():
        return found, labels
    number = np.append(np.where(reached, np.cumsum(reached) - 1, LEFT), [WANDERING, LEFT])
    inside = np.array(found.inside)
    inside[np.flatnonzero(inside)[~reached]] = False
    return replace(found, inside=tuple(inside.tolist())), number[labels]


def fate_odds(found: Portrait, many: Ensemble, y: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """(n, Q + 1) how often each fate came out, the estimate itself counted as one replicate; and how the shares of the fates in
    the replicates that have as many attractors differ from those of the estimate.
    """
    q = len(found.attractors)
    asked = len(many.fates[0])
    end = np.where(labels >= 0, labels, q)
    here = np.bincount(end[:asked], minlength=q + 1) / asked
    odds, spread = np.zeros((len(y), q + 1)), []
    for other, fate in zip(many.portraits, many.fates, strict=True):
        meant = matched(found.attractors, other.attractors)
        mine = np.append(np.where(meant >= 0, meant, q), [q, q]).astype(np.intp)[fate]
        odds[np.arange(asked), mine] += 1
        if len(other.attractors) == q and (meant >= 0).all():
            spread.append(np.bincount(mine, minlength=q + 1) / asked - here)
    # One that was not asked is as sure as those next to it on its side of the border.
    for k in range(q + 1):
        said, silent = np.flatnonzero(end[:asked] == k), asked + np.flatnonzero(end[asked:] == k)
        if len(said) and len(silent):
            near = cKDTree(y[said]).query(y[silent], k=min(SHORTEST_PATH, len(said)))[1].reshape(len(silent), -1)
            odds[silent] = odds[said[near]].mean(axis=1)
    odds[np.arange(len(y)), end] += 1
    return np.asarray(odds / odds.sum(axis=1, keepdims=True)), np.array(spread).reshape(-1, q + 1)


def located(frame: Whitening, q: int, trap: Trap, many: Ensemble, found: Portrait) -> Attractor:
    """Place, standard error over the replicates, and kind of one attractor, in data coordinates."""
    places = [
        other.attractors[int(k)].place
        for other in many.portraits
        for k in np.flatnonzero(matched(found.attractors, other.attractors) == q)
    ]
    place = frame.leave(trap.place[None])[0]
    error = np.zeros_like(place)
    if len(places) > 1:
        error = (np.array(places) @ frame.backward).std(axis=0, ddof=1)
    elif not isinstance(trap, LimitCycle):
        error = np.sqrt(np.diag(frame.backward.T @ trap.error @ frame.backward))
    error = np.hypot(error, frame.beside)
    if isinstance(trap, Sink):
        values = np.sort_complex(np.linalg.eigvals(trap.jacobian)).astype(np.complex128)
        return Attractor(place, error, place, place, place, eigenvalues=values)
    if isinstance(trap, EdgeSink):
        return Attractor(place, error, place, None, place)
    return Attractor(place, error, place, None, place, kind="cycle", period=trap.period, curve=frame.leave(trap.curve))
