"""What the ends of paths say: which paths share an attractor, which broke off, which go round for ever.

Asked of blocks of whole paths: one machine has one block, many have one in every task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import SHORTEST_PATH, Caution, DataError
from ..graphs import PathGraph
from .arrival import AT_REST, Block, PathEnds
from .beside import Odd, Tails, belonging, lost_odds, nearest_paths, odd_paths, running_on, strays, tails
from .ends import Ends, Grouping, Reading
from .evidence import REACH
from .settings import DEFAULT
from .told import NOTHING, Told

# A second reading of the ends is a doubt when one in five such answers would be it.
RIVAL = 0.2
# Ends of recovered paths that fewer share than this part of the largest group may be places where they were torn.
FEW = 0.25


@dataclass(frozen=True)
class Graded:
    """Sub-dynamics of every path, -1 for none; `arrived` (Q,) says of every attractor how near to rest a path came there: 1 less
    its speed, as a share of that on the way, or less what it had to go, as a share of a tenth of the box, whichever is more.

    `labels` says the same of all paths, scraps of samples too that lie on paths of one group; `sure` (K,) is the probability of
    each of them. `alternatives` are other readings, likewise; `odd` the recordings that are unlike the others.
    """

    group: IntArray
    labels: IntArray
    sure: FloatArray
    grouping: Grouping
    arrived: FloatArray
    warnings: tuple[Caution, ...]
    alternatives: tuple[Reading, ...] = ()
    odd: tuple[Odd, ...] = ()


def grade_blocks(
    blocks: Callable[[], Iterable[Block]],
    ends: PathEnds,
    extent: FloatArray,
    resolution: float,
    *,
    trusted_ends: bool,
    unit: FloatArray | float = 1.0,
    twin: IntArray | None = None,
    told: Told = NOTHING,
) -> Graded:
    """Sub-dynamics of paths whose samples come in `blocks`, which may be asked for several times.

    `ends` and `extent` are those of `path_ends` and `extent_of`. `resolution` is in units of the columns, `unit` (d,); blocks
    are in the user's.
    """

    def units() -> Iterable[Block]:
        return (block.scaled(unit) for block in blocks())

    def beside(which: IntArray) -> IntArray:
        """Which path runs on where these end, of all blocks the one that misses least."""
        parts = [tails(b.x, b.v, b.offsets, np.flatnonzero(np.isin(b.number, which)), b.number) for b in units()]
        lost = Tails(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Tails)))
        found, least = np.full(len(which), -1, dtype=np.intp), np.full(len(which), np.inf)
        row = np.searchsorted(which, lost.path)
        for block in units():
            heir, miss = running_on(lost, block.x, block.v, block.offsets, block.number, resolution)
            better = miss < least[row]
            found[row[better]], least[row[better]] = heir[better], miss[better]
        return found

    def hosts(scraps: IntArray, group: IntArray) -> tuple[IntArray, FloatArray]:
        """The path each scrap belongs to, of all blocks the nearest, and how probable that is; a few of its samples are asked."""
        wanted = set(scraps.tolist())
        parts = sorted(
            (
                (k, b.x[np.unique(np.linspace(start, stop - 1, DEFAULT.fit).astype(np.intp))])
                for b in units()
                for k, start, stop in zip(b.number.tolist(), b.offsets[:-1], b.offsets[1:], strict=True)
                if k in wanted
            ),
            key=lambda part: part[0],
        )
        owner, places = (
            np.repeat([k for k, _ in parts], [len(x) for _, x in parts]),
            np.concatenate([x for _, x in parts]),
        )
        size = len(places), int(group.max()) + 1
        away, path = np.full(size, np.inf), np.full(size, -1, dtype=np.intp)
        for b in units():
            here, near = nearest_paths(places, b.x, b.path, group[b.path], size[1])
            path = np.where(here < away, near, path)
            away = np.minimum(here, away)
        return belonging(owner, away, path)

    return grade_paths(
        replace(ends, twin=twin, pauses=ends.pauses if trusted_ends else None),
        extent=extent,
        trusted_ends=trusted_ends,
        told=told,
        heirs_of=None if trusted_ends else beside,
        hosts_of=None if trusted_ends else hosts,
    )


def grade_paths(
    ends: PathEnds,
    *,
    extent: FloatArray,
    trusted_ends: bool,
    told: Told = NOTHING,
    heirs_of: Callable[[IntArray], IntArray] | None = None,
    hosts_of: Callable[[IntArray, IntArray], tuple[IntArray, FloatArray]] | None = None,
) -> Graded:
    """Group the ends of the usable paths, by the model of `evidence`; `extent` (d,) is the size of the data's box.

    `heirs_of` says of paths which other one runs on where they end, -1 for none: a recovered path may have lost its tail.
    `hosts_of` says of paths too short to be trusted, given the groups of all, to which of the others each belongs, and how
    probably.
    """
    ends = ends.beside_others()
    usable = ends.usable & ~told.excluded(len(ends.pace))
    twin = np.full(len(ends.pace), -1) if ends.twin is None else ends.twin
    if told.labels is not None:  # who gives copies different labels says that they are not one recording
        number = np.arange(len(twin))
        alike = np.stack([np.where(twin < 0, number, twin), told.labels])
        _, first, same = np.unique(alike, axis=1, return_index=True, return_inverse=True)
        twin = np.where(first[same.ravel()] == number, -1, first[same.ravel()])
    paths = np.flatnonzero(usable & (twin < 0))
    if len(paths) == 0 and ends.usable.any():
        raise DataError("Expected some recordings to be left, got exclude or labels that leave out all of them.")
    if len(paths) == 0:
        raise DataError(
            f"Expected trajectories of at least {SHORTEST_PATH} samples, found none. Are the velocities those of the "
            "positions, in the same units and with the right sign?"
        )
    way, error = np.minimum(ends.way, REACH), np.minimum(ends.error, REACH)
    grain = ends.grain[paths].min(axis=0)
    grain = np.where(np.isfinite(grain), grain, 0.0)
    measured = Ends(ends.place, extent, way, lost_odds(ends, paths, extent), ends.ahead, error, grain)
    grouping = told.grouping(measured.take(paths), paths)
    heirs = np.full(len(ends.pace), -1, dtype=np.intp)
    if heirs_of is not None and not told.names_paths:
        size = np.append(np.bincount(grouping.group[grouping.group >= 0]), 0)
        few = paths[size[grouping.group] <= (max(1, FEW * size.max()) if size.max() > 1 else 0)]
        heirs[few] = heirs_of(few) if len(few) else -1
        # An end is none where others run on through all ends of its group.
        torn = (heirs >= 0) & ~np.isin(heirs, few)
        for q in np.unique(grouping.group[torn[paths]]):
            mine = paths[grouping.group == q]
            if q >= 0 and not torn[mine].all():
                torn[mine] = False
        heirs[~torn] = -1
        if torn.any():
            paths = paths[~torn[paths]]
            grouping = told.grouping(measured.take(paths), paths)
    home = strays(measured.take(paths), grouping.group)

    def of_paths(by_end: IntArray) -> IntArray:
        group = np.full(len(ends.pace), -1, dtype=np.intp)
        group[paths] = np.where(by_end < 0, by_end[home] * (home >= 0) - (home < 0), by_end)
        for later in (twin * usable - ~usable, heirs):
            follows = np.flatnonzero(later >= 0)
            group[follows] = group[later[follows]]
        return group

    group = of_paths(grouping.group)
    scraps, host, belongs = np.flatnonzero(~ends.usable), np.empty(0, dtype=np.intp), np.empty(0)
    if hosts_of is None or len(scraps) == 0 or group.max() < 0 or told.names_paths:
        scraps = host
    else:
        host, belongs = hosts_of(scraps, group)
        clear = belongs >= 1 - RIVAL
        scraps, host, belongs = scraps[clear], host[clear], belongs[clear]

    def with_scraps(group: IntArray) -> IntArray:
        out = group.copy()
        out[scraps] = group[host]
        return out

    labels = with_scraps(group)
    sure = np.full(len(ends.pace), grouping.membership.min())
    sure[paths] = np.where(grouping.group < 0, 0.5, grouping.membership)
    sure[heirs >= 0] = sure[heirs[heirs >= 0]]
    sure[scraps] = sure[host] * belongs
    slowest = np.full(grouping.n_groups, np.inf)
    kept = grouping.group >= 0
    under_way = np.maximum(ends.pace, np.minimum(ends.way / REACH, 1.0))
    np.minimum.at(slowest, grouping.group[kept], under_way[paths[kept]])
    alternatives = tuple(Reading(with_scraps(of_paths(r.group)), r.probability) for r in grouping.alternatives)
    odd = odd_paths(ends, paths, grouping, home, extent, measured.lost) if trusted_ends and not told.names_paths else ()
    doubts = [
        *_broken(int((heirs >= 0).sum()), 0 if trusted_ends else int((group[paths] < 0).sum()), int(usable.sum()))
    ]
    doubts += _doubts(ends, group, labels, grouping, slowest)
    return Graded(group, labels, sure, grouping, 1 - np.minimum(slowest, 1.0), tuple(doubts), alternatives, odd)


def _broken(taken: int, lost: int, total: int) -> list[Caution]:
    said = []
    if taken:
        said.append(
            f"{taken} of {total} recovered paths break off where another path runs on, and count to its attractor."
        )
    if lost:
        said.append(
            f"{lost} of {total} recovered paths break off in motion where no other path ends; their samples stay unassigned."
        )
    advice = "Pass trajectories in order of time if you have them, or sample more densely."
    return [Caution("broken-paths", " ".join([*said, advice]))] if said else []


def _doubts(
    ends: PathEnds, group: IntArray, labels: IntArray, grouping: Grouping, slowest: FloatArray
) -> list[Caution]:
    cautions = []
    q, dimension = grouping.n_groups, ends.place.shape[1]
    unassigned, total = int(ends.length[labels < 0].sum()), int(ends.length.sum())
    if unassigned:
        cautions.append(
            Caution(
                "unassigned-samples",
                f"{unassigned} of {total} samples lie in fragments too short to trust and have label -1.",
            )
        )
    moving = slowest[slowest > AT_REST]
    if len(moving):
        cautions.append(
            Caution(
                "ends-not-at-rest",
                f"The paths of {len(moving)} of {q} attractors do not end at rest: by their speed or by how they slow down they "
                "may not have arrived, and both number and place of attractors are in doubt. Record until the motion stops.",
            )
        )
    rival = grouping.rival
    if rival is not None and rival.probability > RIVAL:
        cautions.append(
            Caution(
                "two-candidates",
                f"{q} and {rival.n_groups} attractors explain the ends of the paths about as well (probabilities "
                f"{grouping.probability:.2f} and {rival.probability:.2f}); found.alternatives has both. Record more "
                "demonstrations, or say n_attractors=...",
            )
        )
    few = int((np.bincount(group[group >= 0]) < dimension + 1).sum())
    if few:
        cautions.append(
            Caution(
                "few-trajectories",
                f"{few} of {q} sub-dynamics have fewer than d + 1 = {dimension + 1} trajectories, so their "
                f"embedding has fewer than {dimension} dimensions. Record more demonstrations for each attractor.",
            )
        )
    orbits, paths = int(ends.orbit.sum()), len(ends.orbit)
    if orbits == paths:
        raise DataError(
            "Expected motion towards attractors, got closed orbits: every path returns to its own track at full speed. "
            "A periodic motion has no point attractor."
        )
    if orbits:
        cautions.append(
            Caution(
                "closed-orbit",
                f"{orbits} of {paths} paths return to their own track at full speed: periodic motion has no attractor.",
            )
        )
    return cautions


@dataclass(frozen=True)
class PathFinding:
    """A path graph, how its ends were grouped, and what is doubtful about it.

    Attributes
    ----------
    graph : PathGraph
        The paths.
    grouping : Grouping
        How their ends were grouped.
    arrived : (Q,) array
        How near to rest a path came at every attractor: 1 less the slowest end, in units of the speed on the way.
    label_confidence : (n,) array
        Probability that every sample belongs to the group of its path.
    warnings : tuple of Caution
        Doubts.
    alternatives : tuple of Reading
        The group of every path in other readings of the ends.
    odd : tuple of Odd
        Recordings that are unlike the others.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.paths.TrajectoryGraph().build(ew.systems.heart.sample(seed=0, frequency=20.0)).graph.n_paths
    6
    """

    graph: PathGraph
    grouping: Grouping
    arrived: FloatArray
    label_confidence: FloatArray
    warnings: tuple[Caution, ...]
    alternatives: tuple[Reading, ...] = ()
    odd: tuple[Odd, ...] = ()

    @property
    def doubtful_labels(self) -> float:
        """Share of the labels that may be wrong, of the samples that have one."""
        sure = self.label_confidence[self.graph.labels >= 0]
        return float((1 - sure).mean()) if len(sure) else 0.0

    def weighed(self, said: Mapping[int, float]) -> PathFinding:
        """The same with other probabilities of the numbers.

        Parameters
        ----------
        said : mapping
            Probability of every number of attractors.

        Returns
        -------
        PathFinding
        """

        def of(readings: tuple[Reading, ...]) -> tuple[Reading, ...]:
            return tuple(replace(r, probability=said.get(r.n_groups, 0.0)) for r in readings)

        grouping = self.grouping
        sure = said.get(grouping.n_groups, 0.0)
        grouping = replace(grouping, probability=sure, alternatives=of(grouping.alternatives))
        return replace(self, grouping=grouping, alternatives=of(self.alternatives))
