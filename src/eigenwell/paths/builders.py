"""Builders of path graphs: from known trajectories, and from unordered samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .._types import BoolArray, FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, DataError, Demonstrations, first_occurrence
from ..graphs import PathGraph
from .arrival import AT_REST, STILL, Block, boxes, extent_of, path_ends, rests
from .beside import label_confidence, repeated
from .blocks import sample_hash, share
from .evidence import USUAL_SPREAD
from .fragments import recover_paths, typical_length
from .grading import PathFinding, grade_blocks
from .settings import DEFAULT, PathSettings
from .states import smooth
from .told import NOTHING, Told


@dataclass(frozen=True)
class TrajectoryGraph:
    """Paths in the order the user gave; only the grouping of their ends is unknown.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    >>> ew.identify(demos, graph=ew.paths.TrajectoryGraph()).n_attractors
    2
    """

    def build(self, demos: Demonstrations, told: Told = NOTHING) -> PathFinding:
        """The trajectories as paths, grouped by the attractor they end in.

        Parameters
        ----------
        demos : Demonstrations
            Trajectories.
        told : Told
            What the user has decided.

        Returns
        -------
        PathFinding

        Raises
        ------
        DataError
            For unordered samples.
        """
        if demos.offsets is None:
            raise DataError("TrajectoryGraph expects trajectories, got unordered samples; use SuccessorGraph.")
        steps = moving_steps(demos.x, demos.v, demos.offsets, demos.n_samples)
        nodes = np.arange(demos.n_samples, dtype=np.intp)
        usable = (np.diff(demos.offsets) >= SHORTEST_PATH) & sets_off(demos.x, demos.offsets)
        typical = float(np.median(steps)) if len(steps) else 0.0
        return _grouped(demos, nodes, demos.offsets, usable, typical, trusted_ends=True, told=told)


@dataclass(frozen=True)
class SuccessorGraph:
    """Paths recovered from unordered samples by matching successors. No parameter to set.

    Samples that repeat another one exactly carry no information on order; they follow the one they repeat.

    Parameters
    ----------
    settings : PathSettings
        There to be studied (`benchmarks.ablation`), not to be tuned.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    >>> ew.identify(demos, graph=ew.SuccessorGraph()).n_attractors
    2
    """

    settings: PathSettings = DEFAULT

    def build(self, demos: Demonstrations, told: Told = NOTHING) -> PathFinding:
        """Paths of some samples, grouped by the attractor they end in.

        Parameters
        ----------
        demos : Demonstrations
            Their order is not used.
        told : Told
            What the user has decided.

        Returns
        -------
        PathFinding

        Raises
        ------
        DataError
            For too few samples, or at a handful of places.
        """
        unit = units(demos.x, demos.v)
        first = first_occurrence(*distinct(demos.x / unit, demos.v / unit))
        index = np.flatnonzero(first)
        x, v = demos.x[index] / unit, demos.v[index] / unit
        few = x[: max(100, 10 * demos.dimension)]  # so many places are enough
        places = int(first_occurrence(few, np.zeros_like(few)).sum())
        if places < len(few):
            places = int(first_occurrence(x, np.zeros_like(x)).sum())
        check_places(places, len(x), demos.dimension, str(places))
        found, kin = recover_paths(x, v, self.settings)
        reach = kin.step
        still = smooth(x, kin, found, self.settings)[1] / kin.dt[:, None] if kin.is_noisy(self.settings) else v
        offsets = cut_at_rests(x[found.order], still[found.order], found.offsets, reach)
        usable = whole_enough(np.diff(offsets), self.settings)
        nodes, offsets = _with_repeats(demos, index[found.order], offsets, first)
        return _grouped(demos, nodes, offsets, usable, reach, trusted_ends=False, told=told, unit=unit)


def units(x: FloatArray, v: FloatArray) -> FloatArray:
    """One unit (d,) for each column, so that radians beside millimetres are as near as they should be.

    The spread of its places, or of its velocities over the usual time, whichever is more: a column that only trembles is not
    blown up. Powers of two: nothing is rounded.
    """
    places, paces = x.std(axis=0), v.std(axis=0)
    moving = (places > 0) & (paces > 0)
    time = float(np.median(places[moving] / paces[moving])) if moving.any() else 0.0
    spread = np.maximum(places, time * paces)
    return np.asarray(2.0 ** np.round(np.log2(np.where(spread > 0, spread, 1.0))))


def distinct(
    x: FloatArray, v: FloatArray, centre: FloatArray | None = None, pace: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """The same, rounded to a billionth of their spread: samples of a motion that has converged differ by less.

    `centre` and top speed `pace` are those of the whole, of which x and v may be a part.
    """
    pace = pace or float(np.abs(v).max()) or 1.0
    middle: FloatArray = x.mean(axis=0) if centre is None else centre
    return np.round(x - middle, 9), np.round(v / pace, 9)


def check_places(places: int, samples: int, dimension: int, got: str) -> None:
    """Refuse samples at a handful of places: these are labels or switches, not positions of a motion."""
    if places <= dimension + 1 or places < min(10, samples):
        raise DataError(
            f"Expected more than {max(9, dimension + 1)} distinct positions in {dimension}-D, got {got}. Record more samples, "
            "or pass trajectories in order of time."
        )


def moving_steps(x: FloatArray, v: FloatArray, offsets: IntArray, total: int, s: PathSettings = DEFAULT) -> FloatArray:
    """Lengths of the steps along trajectories, without pauses; of a share of them where there are very many.

    `total` is the number of samples of the whole, of which x and v may be a part.
    """
    same = np.ones(max(len(x) - 1, 0), dtype=bool)
    same[offsets[1:-1] - 1] = False
    same &= share(sample_hash(x, v), s.measured / total)[:-1]
    step = np.linalg.norm(np.diff(x, axis=0)[same], axis=1)
    return np.asarray(step[step > 0])


def sets_off(x: FloatArray, offsets: IntArray) -> BoolArray:
    """Paths that move at all: at least a twentieth as far as half of them do, or else away from where they were.

    A recording that never set out trembles about one place, and says nothing of a goal.
    """
    spans = zip(offsets[:-1], offsets[1:], strict=True)
    reach = np.array([np.ptp(x[a:b], axis=0) if b > a else 0 * x[0] for a, b in spans])
    usual = np.median(reach, axis=0)
    away = np.abs(x[offsets[1:] - 1] - x[offsets[:-1]])
    far = (reach >= usual / 20) & (usual > 0) | (away > reach / 2) & (reach > 0)
    return np.asarray(far.any(axis=1) | (usual == 0).all())


def whole_enough(lengths: IntArray, s: PathSettings = DEFAULT) -> BoolArray:
    """Paths that are trajectories and not remainders of some."""
    return np.asarray(lengths >= max(SHORTEST_PATH, s.remainder * typical_length(lengths)))


def cut_at_rests(x: FloatArray, v: FloatArray, offsets: IntArray, reach: float) -> IntArray:
    """Offsets of recovered paths, cut where they rest on the way between two places that are one; x and v lie path after path.

    A motion that comes back to where it rested before is several motions, there and back: of unordered samples nobody knows
    where one recording ended and the next began, and a rest is an end. A path that stops in a corner and goes on to another
    place stays whole: two places are one when they are as near as hands scatter. A path that slows down within `reach` of a
    sample at rest has come to rest there too: that sample may have gone to another one.
    """
    still = x[stands(v, v)]
    tree = cKDTree(still) if len(still) else None
    return cut_on_return(x, v, offsets, float(np.ptp(x, axis=0).max()), lambda place: beside_one(tree, place, reach))


def stands(v: FloatArray, among: FloatArray) -> BoolArray:
    """Samples that stand still, by the top speed of the samples they are among."""
    top = np.quantile(np.linalg.norm(among, axis=1), 0.9)
    return np.asarray(np.linalg.norm(v, axis=1) <= STILL * top)


def beside_one(tree: cKDTree | None, place: FloatArray, reach: float) -> BoolArray:
    """Whether a point of the tree lies within reach of each place."""
    if tree is None or len(place) == 0:
        return np.zeros(len(place), dtype=bool)
    return np.asarray(tree.query(place, distance_upper_bound=reach)[0] <= reach)


def cut_on_return(
    x: FloatArray, v: FloatArray, offsets: IntArray, extent: float, rested: Callable[[FloatArray], BoolArray]
) -> IntArray:
    """Offsets cut at the slowest places that are `rested`, in paths of which two rests or ends are near each other: each may be
    off by as much as hands scatter."""
    spans = list(zip(offsets[:-1], offsets[1:], strict=True))
    slow = np.concatenate([np.empty(0, np.intp), *(a + rests(v[a:b], AT_REST) for a, b in spans)])
    slow, cuts = slow[rested(x[slow])], []
    for a, b in spans:
        mine = slow[slice(*np.searchsorted(slow, [a, b]))]
        if len(mine) and len(cKDTree(x[[a, *mine, b - 1]]).query_pairs(2 * USUAL_SPREAD * extent)):
            cuts.append(mine + 1)
    return np.sort(np.concatenate([offsets, *cuts])).astype(np.intp)


def _with_repeats(
    demos: Demonstrations, nodes: IntArray, offsets: IntArray, first: BoolArray
) -> tuple[IntArray, IntArray]:
    """Put every repeated sample right behind the one it repeats."""
    repeats = np.flatnonzero(~first)
    if len(repeats) == 0:
        return nodes, offsets
    both = np.hstack([demos.x, demos.v])
    return _beside(nodes, offsets, repeats, cKDTree(both[nodes]).query(both[repeats])[1], behind=True)


def _beside(
    nodes: IntArray, offsets: IntArray, more: IntArray, position: IntArray, *, behind: bool
) -> tuple[IntArray, IntArray]:
    """Paths with `more` nodes put behind the ones at `position`, or before them."""
    path = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.argsort(np.concatenate([np.arange(len(nodes)), position + (0.5 if behind else -0.5)]), kind="stable")
    counts = np.bincount(np.concatenate([path, path[position]]), minlength=len(offsets) - 1)
    return np.concatenate([nodes, more])[order], np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def _with_scraps(x: FloatArray, nodes: IntArray, offsets: IntArray, scraps: BoolArray) -> tuple[IntArray, IntArray]:
    """Paths without the scraps, whose samples are put before the nearest ones of the others: ends stay what they were."""
    of_scrap = np.repeat(scraps, np.diff(offsets))
    kept, moved = nodes[~of_scrap], nodes[of_scrap]
    length = np.diff(offsets)[~scraps]
    left = np.concatenate([[0], np.cumsum(length)]).astype(np.intp)
    return _beside(kept, left, moved, cKDTree(x[kept]).query(x[moved])[1], behind=False)


def _grouped(
    demos: Demonstrations,
    nodes: IntArray,
    offsets: IntArray,
    usable: BoolArray,
    resolution: float,
    trusted_ends: bool,
    told: Told,
    unit: FloatArray | float = 1.0,
) -> PathFinding:
    block = Block(demos.x[nodes], demos.v[nodes], offsets, np.arange(len(usable)))
    extent = extent_of(*boxes(block), usable)
    graded = grade_blocks(
        lambda: [block],
        path_ends(block, usable, extent, pauses=trusted_ends),
        extent,
        resolution,
        trusted_ends=trusted_ends,
        unit=unit,
        twin=repeated(demos.x, offsets) if trusted_ends else None,
        told=told.for_paths(nodes, offsets),
    )
    sure = np.zeros(demos.n_samples)
    here = block.scaled(unit)
    sure[nodes] = label_confidence(here.x, here.v, offsets, graded.labels, graded.sure, recovered=not trusted_ends)
    group, alternatives = graded.group, graded.alternatives
    scraps = (group < 0) & (graded.labels >= 0)
    if scraps.any():
        nodes, offsets = _with_scraps(demos.x / unit, nodes, offsets, scraps)
        group, alternatives = group[~scraps], tuple(replace(r, group=r.group[~scraps]) for r in alternatives)
    graph = PathGraph(demos.n_samples, nodes, offsets, group)
    return PathFinding(graph, graded.grouping, graded.arrived, sure, graded.warnings, alternatives, graded.odd)
