"""Paths beside others: recordings that are unlike them, recovered paths that run on in them, scraps of samples that lie on them.

The tail of a path may have been given to its neighbour, or a pause on the way may have torn it in two. Two states with the same
place and velocity have the same fate, so the lost path belongs to the attractor of the path that runs on. Scraps, paths
too short to be trusted, are mostly slow samples whose velocity is noise: their places alone say on which path they lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import Caution
from .arrival import AT_REST, SAME, PathEnds, full_speed
from .ends import Ends, Grouping
from .evidence import REACH, USUAL_SPREAD
from .settings import DEFAULT

# Links that miss their heading by less than this share of a step are beyond doubt; of others the samples around are asked.
ASKEW = 0.2
TINY = np.finfo(np.float64).tiny
# Sets in which an end at rest that no other shares is no arrival; recordings that are cut off, where pauses hide it.
MISTAKE, CUT = 1 / 16, 0.25
# Labels are worth a word when more than one in twenty may be wrong.
LABELS_IN_DOUBT = 0.05


# --- recovered paths ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tails:
    """Mean place and velocity (m, d) of the last samples of some paths, the numbers of these paths (m,), and the speed (m,)
    below which each is at rest."""

    x: FloatArray
    v: FloatArray
    path: IntArray
    rest: FloatArray


def tails(x: FloatArray, v: FloatArray, offsets: IntArray, which: IntArray, number: IntArray) -> Tails:
    """Tails of the paths at `which`; x and v (n, d) lie path after path, and path k has the number `number[k]`."""
    last = [slice(max(offsets[k], offsets[k + 1] - DEFAULT.half_fit), offsets[k + 1]) for k in which]
    d = x.shape[1]
    places, paces = ([a[s].mean(axis=0) for s in last] for a in (x, v))
    rest = AT_REST * np.array([full_speed(v[offsets[k] : offsets[k + 1]]) for k in which])
    return Tails(np.array(places).reshape(-1, d), np.array(paces).reshape(-1, d), number[which], rest)


def running_on(
    lost: Tails, x: FloatArray, v: FloatArray, offsets: IntArray, number: IntArray, reach: float
) -> tuple[IntArray, FloatArray]:
    """For every tail the number of the other path that runs through it with a velocity like its own, or begins there; else -1.

    Also by how much it misses (m,), 0 to 2: squared distance in units of `reach`, plus squared difference of velocity in units
    of the largest that is alike (at rest all are); the path that misses least is taken. A path's state is the mean of the
    samples around its nearest one, as many as at a tail.
    """
    found, miss = np.full(len(lost.path), -1, dtype=np.intp), np.full(len(lost.path), np.inf)
    half = DEFAULT.half_fit // 2
    for i, near in enumerate(cKDTree(x).query_ball_point(lost.x, reach)):
        samples = np.array(near, dtype=np.intp)
        path = np.searchsorted(offsets, samples, side="right") - 1
        away = np.linalg.norm(x[samples] - lost.x[i], axis=1)
        for k in np.unique(path[number[path] != lost.path[i]]):
            nearest = samples[path == k][np.argmin(away[path == k])]
            around = slice(max(offsets[k], nearest - half), min(offsets[k + 1], nearest + half))
            pace = v[around].mean(axis=0)
            largest = max(DEFAULT.alike * max(np.linalg.norm(pace), np.linalg.norm(lost.v[i])), lost.rest[i], TINY)
            change = np.linalg.norm(pace - lost.v[i]) / largest
            # One that begins where this came to rest, within a fit, was torn off at a corner: its velocity need not be alike.
            if nearest - offsets[k] < DEFAULT.fit and np.linalg.norm(lost.v[i]) <= lost.rest[i]:
                change = min(change, 1.0)
            total = float((away[path == k].min() / reach) ** 2 + change**2)
            # A path that ends here too does not run on.
            if change <= 1 and total < miss[i] and nearest + DEFAULT.half_fit < offsets[k + 1]:
                found[i], miss[i] = number[k], total
    return found, miss


def nearest_paths(
    places: FloatArray, x: FloatArray, path: IntArray, group: IntArray, n_groups: int
) -> tuple[FloatArray, IntArray]:
    """Distance (m, Q) from places (m, d) to the nearest of samples x (n, d) of each group, and the path of that one.

    `path` and `group` (n,) are those of the samples; no group has any of number -1.
    """
    away, owner = np.full((len(places), n_groups), np.inf), np.full((len(places), n_groups), -1, dtype=np.intp)
    for q in np.unique(group[group >= 0]):
        mine = np.flatnonzero(group == q)
        away[:, q], at = cKDTree(x[mine]).query(places)
        owner[:, q] = path[mine[at]]
    return away, owner


def belonging(scrap: IntArray, away: FloatArray, owner: IntArray) -> tuple[IntArray, FloatArray]:
    """The path that each scrap belongs to, and how probable it is that it does to the group of that one.

    `scrap` (m,), ascending, says which scrap some samples are of; `away` and `owner` (m, Q) are what `nearest_paths` says of
    these. For distances a and b to the nearest group and to the next, medians over the scrap, that is b / (a + b).
    """
    path, sure = [], []
    for rows in np.split(np.arange(len(scrap)), np.flatnonzero(np.diff(scrap)) + 1):
        far = np.median(away[rows], axis=0)
        order = np.argsort(far, kind="stable")
        nearest = order[0]
        path.append(owner[rows[away[rows, nearest].argmin()], nearest])
        a, b = far[nearest], far[order[1]] if len(far) > 1 else np.inf
        sure.append(0.5 if a == b else 1 / (1 + a / b))
    return np.array(path, dtype=np.intp), np.array(sure)


def label_confidence(
    x: FloatArray, v: FloatArray, offsets: IntArray, label: IntArray, sure: FloatArray, recovered: bool
) -> FloatArray:
    """Probability (n,) that samples have the label of their path, 0 where that has none.

    x and v lie path after path; `label` and `sure`, how sure that is, are those of the paths (K,). Paths `recovered` from
    unordered samples may have been strung together wrongly.
    """
    of_path = np.repeat(np.arange(len(label)), np.diff(offsets))
    of_samples = np.where(label < 0, 0.0, sure)[of_path]
    return of_samples * link_doubts(x, v, offsets, label[of_path]) if recovered else of_samples


def link_doubts(x: FloatArray, v: FloatArray, offsets: IntArray, label: IntArray) -> FloatArray:
    """Probability (n,) that the links of a path from each sample on to its end are right as far as its label goes.

    x, v and label lie path after path. A link that misses its heading by `ASKEW` and more is doubtful; if it is wrong, the
    label is only where the samples around it, moving alike, have others.
    """
    sure = np.ones(len(x))
    inner = np.ones(len(x), dtype=bool)
    inner[offsets[1:] - 1] = False
    i = np.flatnonzero(inner)
    step, heading = x[i + 1] - x[i], v[i + 1] + v[i]
    size = np.linalg.norm(step, axis=1) * np.linalg.norm(heading, axis=1)
    cosine = (step * heading).sum(axis=1) / np.maximum(size, TINY)
    miss = np.where(cosine > 0, np.sqrt(np.maximum(1 - cosine**2, 0.0)), 1.0)
    askew = np.flatnonzero((miss > ASKEW) & (size > 0))
    if len(askew) and len(np.unique(label)) > 1:
        at = i[askew]
        near = cKDTree(x).query(x[at] + step[askew] / 2, k=min(DEFAULT.neighbours, len(x)))[1]
        mean, pace = heading[askew][:, None] / 2, np.linalg.norm(heading[askew], axis=1)[:, None] / 2
        alike = np.linalg.norm(v[near] - mean, axis=2) < DEFAULT.alike * np.maximum(
            np.linalg.norm(v[near], axis=2), pace
        )
        other = alike & (label[near] != label[at][:, None])
        sure[at] = 1 - other.sum(axis=1) / np.maximum(alike.sum(axis=1), 1) * np.minimum(miss[askew], 1.0)
    for a, b in zip(offsets[:-1], offsets[1:], strict=True):
        sure[a:b] = np.cumprod(sure[a:b][::-1])[::-1]
    return sure


# --- recordings ---------------------------------------------------------------------------------------

Kind = Literal["breaks off", "runs backwards", "repeats another", "ends alone", "jumps"]


@dataclass(frozen=True)
class Odd:
    """A recording that is unlike the others.

    Attributes
    ----------
    number : int
        Which, counted from 0.
    kind : str
        What is odd about it, in a word.
    what : str
        The same in a sentence.
    left_out : bool
        Whether it was left out.
    name : str
        Of the recording, where it has one.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0)).odd
    ()
    """

    number: int
    kind: Kind
    what: str
    left_out: bool
    name: str = ""

    def __str__(self) -> str:
        called = f" ({self.name})" if self.name else ""
        return f"Recording {self.number}{called} {self.what}" + (": left out." if self.left_out else ".")


def odd_cautions(odd: tuple[Odd, ...]) -> tuple[Caution, ...]:
    """One caution for every kind of oddity, with the recordings by number and name."""
    kinds = dict.fromkeys(o.kind for o in odd)
    return tuple(
        Caution("recording-" + kind.replace(" ", "-"), " ".join(str(o) for o in odd if o.kind == kind))
        for kind in kinds
    )


def label_cautions(wrong: float) -> tuple[Caution, ...]:
    """A caution where the labels of many samples are in doubt: a share of those that have one."""
    if wrong <= LABELS_IN_DOUBT:
        return ()
    return (
        Caution(
            "labels-in-doubt",
            f"About {100 * wrong:.0f} % of the labels may be wrong (found.label_confidence says which): paths that run side "
            "by side cannot be told apart there. Pass trajectories in order of time if you have them, or sample more densely.",
        ),
    )


def repeated(x: FloatArray, offsets: IntArray) -> IntArray:
    """For every trajectory the first earlier one it repeats sample by sample, to a millionth of the extent; -1 for none."""
    twin = np.full(len(offsets) - 1, -1, dtype=np.intp)
    tolerance = SAME * float(np.ptp(x, axis=0).max())
    whole = np.flatnonzero(np.diff(offsets) > 0)
    frame = np.hstack([x[offsets[whole]], x[offsets[whole + 1] - 1]])
    for i, j in sorted(cKDTree(frame).query_pairs(2 * tolerance)):
        a, b = (slice(offsets[k], offsets[k + 1]) for k in (whole[i], whole[j]))
        same_length = a.stop - a.start == b.stop - b.start
        if twin[whole[i]] < 0 and twin[whole[j]] < 0 and same_length and np.abs(x[a] - x[b]).max() <= tolerance:
            twin[whole[j]] = whole[i]
    return twin


def lost_odds(ends: PathEnds, paths: IntArray, extent: FloatArray) -> FloatArray:
    """Probability (K,) that an end which no other shares is no arrival, before its place is looked at.

    One set in thirty has such an end whatever else is known. Where others come to rest, one that moves is lost with the share of
    its kinetic energy that is left; where others stand still on their way, one in four was cut off there; and one that sets
    out from an end of others to end at a start of theirs was most likely turned round.
    """
    pace = np.minimum(ends.pace, 1.0)
    others = (pace[paths].sum() - pace) / (len(paths) - 1) if len(paths) > 1 else np.ones(len(pace))
    kept = (1 - MISTAKE / len(paths)) * (1 - pace**2 * np.clip(1 - others, 0.0, 1.0))
    if ends.pauses is not None:
        kept *= 1 - CUT * np.clip((ends.pauses[paths].sum() - ends.pauses) / max(len(paths) - 1, 1), 0.0, 1.0)
    if ends.start is not None:
        turned, chance = _turned(ends.start[paths] / extent, ends.place[paths] / extent)
        kept[paths[turned]] *= chance / (chance + MISTAKE)
    return np.asarray(1 - np.maximum(kept, MISTAKE / 2))


def strays(ends: Ends, group: IntArray) -> IntArray:
    """For every lost end the nearest end of a goal from which it may have strayed, as far as `REACH`; -1 for none."""
    home = np.full(len(group), -1, dtype=np.intp)
    found, lost = np.flatnonzero(group >= 0), np.flatnonzero(group < 0)
    if len(lost) == 0 or len(found) == 0:
        return home
    distance, near = cKDTree(ends.scaled[found]).query(ends.scaled[lost])
    home[lost] = np.where(distance < REACH, found[near], -1)
    return home


def odd_paths(
    ends: PathEnds, paths: IntArray, grouping: Grouping, home: IntArray, extent: FloatArray, lost: FloatArray
) -> tuple[Odd, ...]:
    """What is odd about the recordings: repeated, lost in motion, backwards or in a pause, astray, alone at a goal;
    `lost` (K,) is what `lost_odds` says of them."""
    out = (
        []
        if ends.twin is None
        else [
            Odd(int(k), "repeats another", f"repeats recording {ends.twin[k]}", True)
            for k in np.flatnonzero(ends.usable & (ends.twin >= 0))
        ]
    )
    turned = np.empty(0, dtype=np.intp)
    if ends.start is not None:
        both, chance = _turned(ends.start[paths] / extent, ends.place[paths] / extent)
        turned = paths[both] if chance < MISTAKE else turned
    for i in np.flatnonzero(grouping.group < 0):
        k = int(paths[i])
        if home[i] >= 0:
            out.append(Odd(k, "ends alone", "ends well away from the others of its goal", False))
        elif k in turned:
            out.append(Odd(k, "runs backwards", "runs backwards, from a goal to where others start", True))
        elif ends.pace[k] > AT_REST:
            what = f"breaks off at {100 * ends.pace[k]:.0f} % of its speed, where no other ends"
            out.append(Odd(k, "breaks off", what, True))
        else:
            pausing = ends.pauses is not None and ends.pauses[paths].any()
            what = "ends where no other does" + (", in a pause as others make on the way" if pausing else "")
            out.append(Odd(k, "ends alone", what, True))
    for k in paths[(grouping.group >= 0) & (ends.pace[paths] > AT_REST) & (lost[paths] > AT_REST)]:
        what = f"breaks off at {100 * ends.pace[k]:.0f} % of its speed, on the way to its goal by all that is known"
        out.append(Odd(int(k), "breaks off", what, False))
    size = np.bincount(grouping.group[grouping.group >= 0])
    if len(size) > 1 and (size == 1).sum() <= len(paths) / 4 and size[size > 1].min(initial=len(paths)) >= 3:
        alone = paths[(grouping.group >= 0) & (size[grouping.group] == 1)]
        out += [Odd(int(k), "ends alone", "ends where no other does", False) for k in alone]
    return tuple(sorted(out, key=lambda o: o.number))


def _turned(start: FloatArray, place: FloatArray) -> tuple[IntArray, float]:
    """Paths that start at an end of others, as near as hands scatter, and end among their starts, as near as these are; and how
    likely that is of a path that was not turned round, by how often others do the one or the other: starts may lie anywhere."""
    none = np.empty(0, dtype=np.intp), 1.0
    if len(start) == 0:
        return none
    from_goal = cKDTree(place).query(start)[0] < USUAL_SPREAD
    if (~from_goal).sum() < 2:
        return none
    starts = cKDTree(start[~from_goal])
    to_start = starts.query(place)[0] <= starts.query(start[~from_goal], k=2)[0][:, 1].max()
    both = from_goal & to_start
    # Where many do it, it is how they were recorded: there and back.
    if both.sum() > len(start) / 4:
        return none
    return np.flatnonzero(both), float(from_goal.sum() * to_start.sum() / (1 + len(start)) ** 2)
