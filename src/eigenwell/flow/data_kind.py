"""Do unordered samples lie on trajectories, or were they taken at scattered places?

On a trajectory the samples ahead and behind are equally far in time. Places of chance are not, whatever their density and
dimension: look into a tube around a sample, along its motion, and let T be the time to the third nearest sample in it.
Given T, chance puts the two nearer ones anywhere in (-T, T), evenly; a trajectory puts them at -T/2 and T/2. With

    m = min(|t_1|, |t_2|) / T  where t_1 and t_2 have opposite signs, else 0,

chance has the mean 1/6 and a trajectory 1/2, so that 3 m - 1/2 is 0 and 1. No sample need be on a trajectory beyond doubt:
the mean over a thousand shows what noise of a third of a step leaves of it.

Trajectories that were sampled at random times look like chance by this measure, but not when they are read: linked into
paths, each sample lies where the one before it was heading, and scattered samples, whatever path is laid through them, miss
that by half a step and more. So what is not regular is read, and what reads well is a set of trajectories.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray
from ..demonstrations import Caution
from ..paths.arrival import IN_FULL_MOTION, full_speed, on_track
from ..paths.fragments import recover_paths
from .integration import PLACES, TINY

# Neighbours of a sample that are looked at: ten steps of three tracks that run side by side.
NEIGHBOURS = 30
# Half the width of a tube, in units of the distance to the farthest neighbour. Noise asks for wide tubes, tracks close to each
# other for narrow ones; one as wide as its half length has no direction, one of a hundredth holds none but clean samples.
WIDTHS = tuple(0.5**k for k in range(1, 8))
# Chance gives 0 (`benchmarks.snapshots --parts kind`: at most 0.17), noise of three tenths of a step leaves 0.4 (at least 0.26,
# where tracks are a step apart). Between them it is decided; within half of it, doubt.
HALFWAY = 0.2
# Paths are trajectories when half of their steps, of the faster ones, miss their heading by less than this share. Scattered
# samples of a smooth field miss by a half and more, in two dimensions, by an eighth on a narrow front; clean trajectories at
# random times by a hundredth at most. With noise they are known by their regularity.
STRAIGHT = 0.03
# So many samples are read, around the middle: paths among them stay whole, and it takes a second.
READ = 10 * PLACES


@dataclass(frozen=True)
class Evidence:
    """Why samples were taken for trajectories or snapshots.

    Attributes
    ----------
    regular : float
        How regular in time the samples ahead and behind are: 0 by chance, 1 on a trajectory without noise.
    asked : int
        Number of samples that this is a mean over.
    grid : bool
        Whether the places form a rectangular grid, which no trajectory does.
    said : bool
        True where the user said it, and nothing was measured.
    apart : float
        How regular places are across the motion: 0 by chance, more where they keep their distance, as on a turned grid.
    miss : float
        Where they are not regular: the share of a step by which half of the samples, read as paths, miss where they headed.
    one_field : bool
        Whether trajectories were read as samples of one smooth field, because the ends of their paths left a doubt.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    >>> ew.identify(demos).evidence.snapshots
    False
    """

    regular: float = np.nan
    asked: int = PLACES
    grid: bool = False
    said: bool = False
    apart: float = np.nan
    miss: float = np.nan
    one_field: bool = False

    @property
    def needed(self) -> float:
        """Regularity that trajectories have at least. Of few samples chance shows more: its standard deviation for one sample is
        sqrt(1/2), and three standard errors are asked."""
        return max(HALFWAY, float(3 * np.sqrt(0.5 / max(self.asked, 1))))

    @property
    def snapshots(self) -> bool:
        """True for velocities at scattered places, False for trajectories."""
        if self.grid or self.one_field:
            return True
        return not (self.regular >= self.needed or (self.miss <= STRAIGHT and self.apart < HALFWAY))

    @property
    def certainty(self) -> float:
        """Probability of the kind taken: a half where it is just as regular as is needed, 1 from half of `HALFWAY` away on."""
        told = self.said or self.grid or self.one_field or self.miss <= STRAIGHT / 2
        return 1.0 if told else min(1.0, 0.5 + abs(self.regular - self.needed) / HALFWAY)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """A doubt where the decision is close."""
        if self.certainty == 1:
            return ()
        taken, other = ("snapshots", "SuccessorGraph()") if self.snapshots else ("trajectories", "FlowGraph()")
        return (
            Caution(
                "kind-in-doubt",
                f"The samples ahead and behind are {self}; scattered samples have none, trajectories {100 * self.needed:.0f} % "
                f"or more. They were taken for {taken}; pass graph={other} for the other reading.",
            ),
        )

    def __str__(self) -> str:
        if self.said:
            return "as you said"
        if self.one_field:
            return "the ends of their paths leave a doubt, and the paths are of one smooth field"
        if self.grid:
            return "the places form a grid"
        if not self.snapshots and self.regular < self.needed:
            return f"read as paths they miss where they headed by {100 * self.miss:.0f} % of a step"
        return f"{100 * max(self.regular, 0.0):.0f} % as regular in time as on a trajectory without noise"


def weigh(x: FloatArray, v: FloatArray) -> Evidence:
    """Evidence on distinct unordered samples.

    Which of them are asked depends on their speeds alone: not on units, not on orientation.
    """
    if is_grid(x):
        return Evidence(grid=True)
    speed = np.linalg.norm(v, axis=1)
    by_speed = np.argsort(-speed, kind="stable")
    fast = by_speed[: max(1, np.count_nonzero(in_motion(speed)))]
    asked = fast[np.unique(np.linspace(0, len(fast) - 1, PLACES).round().astype(np.intp))]
    tree = cKDTree(x, balanced_tree=False, compact_nodes=False)  # quick to build: few will ask
    near = tree.query(x[asked], k=min(NEIGHBOURS + 1, len(x)))[1][:, 1:]
    along, across = _along_and_across(x[asked], v[asked], x[near], v[near])
    found = Evidence(along - max(across, 0.0), len(asked), apart=across)
    return replace(found, miss=misses(x, v)) if found.snapshots else found


def in_motion(speed: FloatArray) -> BoolArray:
    """Not the slower half, nor what is slow beside the rest: recordings may rest most of their time, and noise is larger than a
    step there."""
    if len(speed) == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(speed >= max(np.median(speed), np.sqrt(np.mean(speed**2)) / 2))


def misses(x: FloatArray, v: FloatArray) -> float:
    """Read as paths, by how much of a step samples miss the heading of the last: the median over the faster half.

    Along a line every heading is met, and says nothing.
    """
    if np.linalg.matrix_rank(x - x.mean(axis=0)) < 2:
        return 1.0
    middle = np.argsort(((x - np.median(x, axis=0)) ** 2).sum(axis=1), kind="stable")[:READ]
    x, v = x[middle], v[middle]
    read, _ = recover_paths(x, v)
    # Individuals along a cycle lie on one curve as well: round and round is no trajectory that anybody can end.
    spans = [read.order[a:b] for a, b in zip(read.offsets[:-1], read.offsets[1:], strict=True)]
    if sum(lap(x[one], v[one]) for one in spans) > len(x) / 2:
        return 1.0
    inside = np.ones(len(read.order), dtype=bool)
    inside[read.offsets[1:] - 1] = False
    i = np.flatnonzero(inside)
    here, there = read.order[i], read.order[i + 1]
    heading = v[there] + v[here]
    fast = in_motion(np.linalg.norm(heading, axis=1))
    return float(np.median(missed((x[there] - x[here])[fast], heading[fast]))) if fast.any() else 1.0


def missed(step: FloatArray, heading: FloatArray) -> FloatArray:
    """By how much of its length each step leaves the heading; more than all of it where it goes back."""
    long = np.linalg.norm(step, axis=1) * np.linalg.norm(heading, axis=1)
    cosine = (step * heading).sum(axis=1) / np.maximum(long, TINY)
    return np.asarray(np.sqrt(np.maximum(1 - np.minimum(cosine, 1.0) ** 2, 0.0)) + (cosine < 0))


def lap(x: FloatArray, v: FloatArray) -> int:
    """How many samples of a path lie between two passages of one place, in full motion and along the same track.

    What a lap leaves open is the longest gap on it, so a step is here the longest that meets its heading.
    """
    step = np.diff(x, axis=0)
    long = np.linalg.norm(step[missed(step, v[1:] + v[:-1]) <= STRAIGHT], axis=1).max(initial=0.0)
    if long == 0:
        return 0
    moving = np.flatnonzero(np.linalg.norm(v, axis=1) >= IN_FULL_MOTION * full_speed(v))
    pairs = cKDTree(x[moving]).query_pairs(2 * long, output_type="ndarray")
    first, last = np.sort(moving[pairs], axis=1).T
    same = on_track(x[first] - x[last], v[first], v[last], long)
    return int((last - first)[same].max(initial=0))


def regularity(x: FloatArray, v: FloatArray, near_x: FloatArray, near_v: FloatArray) -> float:
    """How regular samples (n, d) are among their neighbours (n, k, d; NaN: none) along their motion, beyond any other way.

    Places that keep their distance (a grid that is turned or jittered, a low-discrepancy sequence) are regular in every
    direction. What they show across the motion, towards the farthest neighbour, is taken off.
    """
    along, across = _along_and_across(x, v, near_x, near_v)
    return along - max(across, 0.0)


def _along_and_across(x: FloatArray, v: FloatArray, near_x: FloatArray, near_v: FloatArray) -> tuple[float, float]:
    step = near_x - x[:, None]
    size = np.linalg.norm(step, axis=2)
    size = np.where(np.isfinite(size), size, 0.0)
    reach = size.max(axis=1, initial=0.0)
    # Along the motion: the mean velocity of both, if they move alike.
    motion = (near_v + v[:, None]) / 2
    pace = np.linalg.norm(motion, axis=2) + TINY
    alike = np.linalg.norm(near_v - v[:, None], axis=2) < pace
    ahead = (step * motion).sum(axis=2) / pace
    along = _excess(ahead / pace, ahead, size, reach, alike)
    # Across it: what is left of the step to the farthest neighbour.
    direction = v / (np.linalg.norm(v, axis=1, keepdims=True) + TINY)
    farthest = np.take_along_axis(step, size.argmax(axis=1)[:, None, None], axis=1)[:, 0]
    aside = farthest - (farthest * direction).sum(axis=1, keepdims=True) * direction
    aside /= np.linalg.norm(aside, axis=1, keepdims=True) + TINY
    beside = (step * aside[:, None]).sum(axis=2)
    across = _excess(beside, beside, size, reach, np.isfinite(beside))
    return along, across


def _excess(t: FloatArray, length: FloatArray, size: FloatArray, reach: FloatArray, used: BoolArray) -> float:
    """Mean of 3 m - 1/2 over all samples, in tubes of the width that shows most; `length` is the way that takes time t.

    A tube counts when it holds three samples and the third is farther than the tube is wide: shorter ones have no direction.
    This asks for T alone, and given T, chance is even.
    """
    off = np.sqrt(np.maximum(size**2 - length**2, 0.0))
    best = -np.inf
    for width in WIDTHS:
        inside = used & (off <= width * reach[:, None])
        three = np.argsort(np.where(inside, np.abs(t), np.inf), axis=1, kind="stable")[:, :3]
        if three.shape[1] < 3:
            return 0.0
        times, last = np.take_along_axis(t, three, axis=1), three[:, 2:]
        far = np.where(np.take_along_axis(inside, last, axis=1), np.abs(np.take_along_axis(length, last, axis=1)), 0.0)
        counted = (far[:, 0] >= width * reach) & (far[:, 0] > 0)
        first, second, third = times[counted].T
        m = np.where(first * second < 0, np.minimum(np.abs(first), np.abs(second)) / np.abs(third), 0.0)
        best = max(best, float((3 * m - 0.5).sum() / len(t)))
    return best


def is_grid(x: FloatArray) -> bool:
    """Whether most places of the box spanned by the values of the coordinates are taken: at least half, twice per axis.

    Strokes in whole pixels have few values too, but leave most of the box empty.
    """
    values = np.array([len(np.unique(np.round(c / (np.ptp(c) or 1.0), 9))) for c in x.T], dtype=float)
    if (values > 1).sum() < 2 or np.prod(values) > 2 * len(x):
        return False
    return bool(len(np.unique(x, axis=0)) >= np.prod(values) / 2)
