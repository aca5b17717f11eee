"""Recordings that are unlike the others: which, in what way, and whether they are left out of the count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray, IntArray
from ..demonstrations import Caution
from .ends import Grouping
from .spanning import spanning_tree

if TYPE_CHECKING:
    from .grading import PathEnds

# What more than a quarter of the recordings do is a habit, not an oddity.
FEW = 0.25
# A place belongs to a goal when it is no farther from its ends than twice the widest gap among them.
NEAR = 2.0
# Two recordings are one when no sample differs by more than this share of the extent: what rounding in files leaves.
SAME = 1e-6
# With fewer ends at every other goal than this nothing says which of them is the odd one.
AMONG = 4
# An end this many times farther from the others of its goal than those are from each other is a stray.
STRAY = 5.0
# A lone end at rest is no arrival when three of four rests that others do not share are pauses on the way.
MERE_PAUSES = 0.75

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


def odd_paths(
    ends: PathEnds,
    paths: IntArray,
    twin: IntArray,
    grouped: Callable[[IntArray], Grouping],
    *,
    resolution: float,
    at_rest: float,
    counted: bool,
) -> tuple[tuple[Odd, ...], Grouping, IntArray]:
    """What is odd, the grouping of the ends that count, and the paths they belong to.

    Broken off: still in motion, while most others come to rest, and not where others end. Backwards: at rest where others
    set out, and from a goal that more paths reach. Alone: at rest where no other ends. It is a goal that was reached once,
    unless recordings also rest on the way and every other goal was reached often: then it may have been cut in a pause, and
    is left out; that it was not lowers the probability. A few alone are taken for odd; a quarter of all is how it was meant.
    With `counted` the user has said what counts as a goal.
    """
    odd = [Odd(int(k), "repeats another", f"repeats recording {twin[k]}", True) for k in paths if twin[k] >= 0]
    paths = paths[twin[paths] < 0]
    moving = paths[ends.pace[paths] > at_rest]
    resting = paths[ends.pace[paths] <= at_rest]
    if 0 < len(moving) <= FEW * len(paths):
        settled = grouped(resting)
        lost = [k for k, away in zip(moving, _from_goals(ends, resting, settled, moving), strict=True) if away]
        for k in lost:
            pace = 100 * ends.pace[k]
            odd.append(Odd(int(k), "breaks off", f"breaks off at {pace:.0f} % of its speed, where no other ends", True))
        paths = np.setdiff1d(paths, np.array(lost, dtype=np.intp))
    grouping = grouped(paths)
    turned = _backwards(ends, paths, grouping)
    if 0 < len(turned) <= FEW * len(paths):
        odd += [
            Odd(int(k), "runs backwards", "runs backwards, from a goal to where others start", True) for k in turned
        ]
        paths = np.setdiff1d(paths, turned)
        grouping = grouped(paths)
    size = np.bincount(grouping.group)
    if np.sum(size == 1) <= FEW * len(paths) and len(size) > 1 and np.min(size[size > 1], initial=len(paths)) >= 3:
        alone = paths[size[grouping.group] == 1]
        pauses = 0 if ends.pauses is None else int(ends.pauses[np.setdiff1d(paths, alone)].sum())
        share = pauses / (pauses + len(alone)) if len(alone) else 0.0
        cut = not counted and share >= MERE_PAUSES and bool(np.min(size[size > 1]) >= AMONG)
        what = "ends where no other does" + (", in a pause as others make on the way" if cut else "")
        odd += [Odd(int(k), "ends alone", what, cut) for k in alone]
        if cut:
            paths = np.setdiff1d(paths, alone)
            grouping = grouped(paths)
            grouping = replace(grouping, probability=share * grouping.probability)
    for k in _strays(ends, paths, grouping, resolution):
        odd.append(Odd(int(k), "ends alone", "ends well away from the others of its goal", False))
    return tuple(sorted(odd, key=lambda o: o.number)), grouping, paths


def _from_goals(ends: PathEnds, resting: IntArray, settled: Grouping, moving: IntArray) -> list[bool]:
    """Whether each moving path ends away from every place where others come to rest."""
    distance, _ = cKDTree(ends.place[resting]).query(ends.place[moving])
    return [bool(d > NEAR * settled.low) for d in distance]


def _strays(ends: PathEnds, paths: IntArray, grouping: Grouping, resolution: float) -> list[int]:
    """Paths that were given to a goal but end far from where its others do: of each goal at most the farthest one."""
    out = []
    for q in np.flatnonzero(np.bincount(grouping.group) > AMONG):
        mine = paths[grouping.group == q]
        place = ends.place[mine]
        away = cKDTree(place).query(place, k=2)[0][:, 1]
        far = int(np.argmax(away))
        # The widest gap that has to be bridged among the others.
        usual = spanning_tree(np.delete(place, far, axis=0))[1].max()
        if away[far] > STRAY * max(usual, resolution):
            out.append(int(mine[far]))
    return out


def _backwards(ends: PathEnds, paths: IntArray, grouping: Grouping) -> IntArray:
    """Paths that start where several others end, and end alone, near a start of those."""
    if ends.start is None or len(paths) < 4:
        return np.empty(0, dtype=np.intp)
    size = np.bincount(grouping.group)
    turned = []
    for i, k in enumerate(paths):
        others = np.flatnonzero(np.arange(len(paths)) != i)
        away = np.linalg.norm(ends.place[paths[others]] - ends.start[k], axis=1)
        nearest = others[np.argmin(away)]
        mates = paths[others[grouping.group[others] == grouping.group[nearest]]]
        lonely = size[grouping.group[i]] <= FEW * len(mates) and grouping.group[i] != grouping.group[nearest]
        if not lonely or len(mates) < 3 or away.min() > NEAR * grouping.low:
            continue
        starts = ends.start[mates]
        usual = np.max(cKDTree(starts).query(starts, k=2)[0][:, 1])
        if np.linalg.norm(starts - ends.place[k], axis=1).min() <= NEAR * usual:
            turned.append(k)
    return np.array(turned, dtype=np.intp)
