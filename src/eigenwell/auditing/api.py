"""audit(): which episodes of a set are bad, why, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from ..data_frames import Framed
from ..progress import log
from ..wording import plural
from . import alone, goals, together
from .episodes import Episodes
from .faults import TRIM, Fault
from .looked import Looked
from .measures import unflipped
from .starts import never_shown
from .units import units

__all__ = ["Audit", "Goal", "Verdict", "audit"]


@dataclass(frozen=True)
class Verdict:
    """What was found of one episode: its faults, the worst first, its goal (-1 for none), times and rests.

    Attributes
    ----------
    episode : int
        Its number in the set.
    name : str
        Of its file, or empty.
    faults : tuple of Fault
        The worst first; empty for a good episode.
    goal : int
        Which goal it reaches, -1 for none.
    samples : int
        How many it has.
    seconds : float
        How long it takes.
    moving : tuple of int
        The rows [a, b) between the rests at its start and end.

    Examples
    --------
    >>> import eigenwell as ew
    >>> first = ew.audit(ew.systems.heart.sample(seed=0, frequency=20.0)).verdicts[0]
    >>> first.keep, first.faults
    (True, ())
    """

    episode: int
    name: str
    faults: tuple[Fault, ...]
    goal: int
    samples: int
    seconds: float
    moving: tuple[int, int]

    @property
    def keep(self) -> bool:
        """Whether it can be learned from: it has no fault, or only rests that can be cut off."""
        return all(f.action == TRIM for f in self.faults)


@dataclass(frozen=True, eq=False)
class Goal:
    """A place that episodes reach, and the numbers of those that do.

    Attributes
    ----------
    place : (d,) array
        The median of where they end.
    episodes : tuple of int
        Their numbers.

    Examples
    --------
    >>> import eigenwell as ew
    >>> [len(goal.episodes) for goal in ew.audit(ew.systems.heart.sample(seed=0, frequency=20.0)).goals]
    [3, 3]
    """

    place: FloatArray
    episodes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Audit(Framed):
    """What `audit` found: a verdict for every episode, the goals, what is missing, and a list to keep.

    Attributes
    ----------
    verdicts : tuple of Verdict
        One for every episode.
    goals : tuple of Goal
        Places that episodes reach.
    missing : tuple of str
        What the set lacks: sure goals, goals with fewer than three episodes, starts that are never shown.
    skipped : tuple of (str, str)
        Recordings that could not be looked at, and why.
    source : Episodes
        What was looked at.
    confidence : float
        How sure it is at how many places the episodes end, as `identify` says; 0 where no goals were found.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.audit(ew.systems.heart.sample(seed=0, frequency=20.0))
    Audit(6 episodes, 2 goals, nothing wrong)
    """

    verdicts: tuple[Verdict, ...]
    goals: tuple[Goal, ...]
    missing: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    source: Episodes
    confidence: float

    @property
    def bad(self) -> tuple[Verdict, ...]:
        """Episodes with a fault, the worst first."""
        faulty = [v for v in self.verdicts if v.faults]
        return tuple(sorted(faulty, key=lambda v: (v.keep, -max(f.severity for f in v.faults), v.episode)))

    @property
    def keep(self) -> tuple[int, ...]:
        """Numbers of the episodes to keep: those without a fault that a cut does not mend."""
        return tuple(v.episode for v in self.verdicts if v.keep)

    @property
    def headline(self) -> str:
        """ "3 of 56 episodes look bad, 2 goals"."""
        n, count = len(self.verdicts), plural(len(self.goals), "goal")
        if not self.bad:
            return f"{plural(n, 'episode')}, {count}, nothing wrong"
        return f"{len(self.bad)} of {plural(n, 'episode')} {'looks' if len(self.bad) == 1 else 'look'} bad, {count}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists and dictionaries, as `--json` prints it.

        Returns
        -------
        dict
        """
        plain = ("episode", "name", "goal", "samples")
        episodes = [
            {name: getattr(v, name) for name in plain}
            | {"seconds": v.seconds if self.source.timed else None, "moving": list(v.moving)}
            | {"keep": v.keep, "faults": [asdict(f) | {"action": f.action} for f in v.faults]}
            for v in self.verdicts
        ]
        return {
            "episodes": episodes,
            "goals": [{"place": g.place.tolist(), "episodes": list(g.episodes)} for g in self.goals],
            "confidence": self.confidence,
            "keep": list(self.keep),
            "missing": list(self.missing),
            "skipped": [{"name": name, "message": why} for name, why in self.skipped],
        }

    def _frame_columns(self) -> dict[str, NDArray[Any]]:
        rows = [(v, f) for v in self.verdicts for f in v.faults or (None,)]
        of_episodes = ("episode", "name", "goal", "samples", "seconds", "keep")
        columns = {name: np.array([getattr(v, name) for v, _ in rows]) for name in of_episodes}
        for name, none in (("name", ""), ("message", ""), ("action", ""), ("severity", 0.0), ("confidence", np.nan)):
            as_called = "fault" if name == "name" else name
            columns[as_called] = np.array([none if f is None else getattr(f, name) for _, f in rows])
        return columns

    def __repr__(self) -> str:
        return f"Audit({self.headline})"

    def __str__(self) -> str:
        lines = [self.headline]
        for v in self.bad:
            called = f"{v.episode} ({v.name})" if v.name else str(v.episode)
            lines += [f"  {called}: {f.name}: {f.message}" for f in v.faults]
        lines += [f"  skipped {name}: {why}" for name, why in self.skipped]
        return "\n".join([*lines, *(f"  ! {said}" for said in self.missing)])


def audit(data: Any, v: Any = None, *, dt: float | None = None, time: Any = None) -> Audit:
    """Which episodes of a set of demonstrations are bad, in what way, and which to keep.

    Every fault is a number per episode that is too large for its like: the threshold comes from the other episodes of the
    set (`eigenwell.auditing.tails`), with their number accounted for, so that a good set gets no complaint.

    Parameters
    ----------
    data : Demonstrations, list of arrays, path or list of paths
        Trajectories, or files as `files.read` reads them; files that cannot be read are listed in `skipped`.
    v : list of arrays, optional
        Velocities of the shapes of the positions.
    dt : float, optional
        The sampling step.
    time : list of arrays, optional
        The time of every sample.

    Returns
    -------
    Audit

    Raises
    ------
    DataError
        For unordered samples, and where no episode can be used.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> s = np.linspace(0, 1, 60)[:, None]
    >>> rise = s**3 * (10 - 15 * s + 6 * s**2)
    >>> starts = np.random.default_rng(0).normal(size=(20, 2)) + [5, 0]
    >>> reaches = [start * (1 - rise) for start in starts]
    >>> reaches[7] = reaches[7][:30]
    >>> print(ew.audit(reaches, dt=0.05).bad[0].faults[0].name)
    cut-off
    """
    from .reading import collect

    return audited(data if isinstance(data, Episodes) else collect(data, v, dt=dt, time=time))


def audited(episodes: Episodes) -> Audit:
    """The audit of episodes that have been collected."""
    quaternions = episodes.quaternions
    towards = episodes.items[0].x[0]
    straight = replace(episodes, items=tuple(replace(e, x=unflipped(e, quaternions, towards)) for e in episodes.items))
    looked = Looked.at(straight)
    items, rested = looked.items, looked.rested
    other_units = units(looked)
    tiny = together.short(looked)
    covered = alone.stuck(looked)
    alone.flipped(looked, episodes)
    alone.torn(looked, covered)
    alone.idle(looked, covered)
    alone.velocities(looked)
    healthy = ~tiny & looked.moves & np.array([len(e) >= 3 for e in items])
    healthy[other_units] = False
    ends, speeds = together.ends_of(looked)
    found = goals.Goals.none(ends, "There are too few episodes to find goals.")
    if healthy.sum() > 1:
        found = goals.find(items, healthy, ends, speeds < together.MOVING)
    together.arrivals(looked, found, speeds, healthy)
    together.taken_over(looked, found, speeds)
    arrived = healthy & ~looked.of("cut-off", "no-goal", "backwards") & (found.of >= 0)
    together.tasks(looked, found, arrived)
    group = np.where(arrived, found.of, -1)
    together.pace(looked, group)
    points = np.array([together.along(e.x, r) for e, r in zip(items, rested, strict=True)])
    together.ways(looked, points, group, arrived & ~looked.of("jump", "frozen", "time-gap"))
    together.repeats(looked, points)
    verdicts = []
    for e, faults, goal, rest, moves in zip(items, looked.out, group, rested, looked.moves, strict=True):
        worst_first = tuple(sorted(faults, key=lambda f: (f.action == TRIM, -f.severity)))
        # Rows to keep when rests are cut off: the motion and one sample on either side.
        moving = (max(rest.start - 1, 0), min(rest.stop + 1, len(e))) if moves else (0, len(e))
        verdicts.append(Verdict(e.number, e.name, worst_first, int(goal), len(e), float(e.t[-1] - e.t[0]), moving))
    reached = tuple(
        Goal(place, tuple(v.episode for v in verdicts if v.goal == q)) for q, place in enumerate(found.places)
    )
    lacks = [found.doubt] if found.doubt else []
    lacks += [] if straight.timed else ["There are no times: durations are counted in samples."]
    for q, goal in enumerate(reached):
        if len(goal.episodes) < 3:
            count = plural(len(goal.episodes), "episode")
            lacks.append(f"Goal {q} is reached by {count} only; record at least three.")
    lacks += never_shown(np.array([e.x[0] for e in items]), group, looked.size)
    result = Audit(tuple(verdicts), reached, tuple(lacks), episodes.skipped, episodes, found.confidence)
    log.info("audit: %s", result.headline)
    return result
