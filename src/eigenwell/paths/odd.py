"""Recordings that are unlike the others: which, in what way, and whether they are left out of the count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import Caution
from .arrival import AT_REST, SAME, PathEnds
from .ends import Ends, Grouping
from .evidence import REACH, USUAL_SPREAD

# Sets in which an end at rest that no other shares is no arrival; recordings that are cut off, where pauses hide it.
MISTAKE, CUT = 1 / 16, 0.25
# Labels are worth a word when more than one in twenty may be wrong.
LABELS_IN_DOUBT = 0.05

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
    ends: PathEnds, paths: IntArray, grouping: Grouping, home: IntArray, extent: FloatArray
) -> tuple[Odd, ...]:
    """What is odd about the recordings: repeated, lost in motion, backwards or in a pause, astray, alone at a goal."""
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
    lost = lost_odds(ends, paths, extent)
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
