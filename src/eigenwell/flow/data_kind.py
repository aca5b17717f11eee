"""Do unordered samples lie on trajectories, or were they taken at scattered places?

On a trajectory a sample has one neighbour ahead and one behind, along its motion and equally far in time. At scattered
places the nearest ahead and the nearest behind are as far as chance has it, and mostly there is none along the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._types import FloatArray
from ..demonstrations import Caution
from ..paths.hashing import sample_hash, smallest

# Samples asked, and their neighbours that are looked at.
ASKED, NEIGHBOURS = 1000, 12
# Along the motion: within twenty degrees of the mean velocity of both. Equally far: within a factor of 1.5.
ALONG, EQUAL = np.cos(0.35), 0.4
# Chance gives a third of the samples such a pair of neighbours (measured: at most 0.34), a trajectory four fifths or more
# (at least 0.76, with a tenth of the samples lost or noise of a tenth of a step). Halfway decides; near it, doubt.
HALFWAY, DOUBT = 0.55, 0.1


@dataclass(frozen=True)
class Evidence:
    """Why samples were taken for trajectories or snapshots.

    Attributes
    ----------
    regular : float
        Share of the samples with a neighbour ahead and one behind, along their motion, equally far in time.
    grid : bool
        Whether the places form a rectangular grid, which no trajectory does.
    said : bool
        True where the user said it, and nothing was measured.

    Examples
    --------
    >>> import eigenwell as ew
    >>> demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled()
    >>> ew.identify(demos).evidence.snapshots
    False
    """

    regular: float = np.nan
    grid: bool = False
    said: bool = False

    @property
    def snapshots(self) -> bool:
        """True for velocities at scattered places, False for trajectories."""
        return self.grid or self.regular < HALFWAY

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """A doubt where the decision is close."""
        if self.said or self.grid or abs(self.regular - HALFWAY) > DOUBT:
            return ()
        taken, other = ("snapshots", "SuccessorGraph()") if self.snapshots else ("trajectories", "FlowGraph()")
        return (
            Caution(
                "kind-in-doubt",
                f"{100 * self.regular:.0f} % of the samples have neighbours ahead and behind at equal times; trajectories "
                f"have more than 76 %, scattered samples less than 34 %. They were taken for {taken}; pass graph={other} for "
                "the other reading.",
            ),
        )

    def __str__(self) -> str:
        if self.said:
            return "as you said"
        if self.grid:
            return "the places form a grid"
        return f"{100 * self.regular:.0f} % of the samples have neighbours ahead and behind at equal times"


def weigh(x: FloatArray, v: FloatArray) -> Evidence:
    """Evidence on distinct unordered samples. The slower half is not asked: at rest, noise is larger than a step."""
    if is_grid(x):
        return Evidence(grid=True)
    speed = np.linalg.norm(v, axis=1)
    fast = np.flatnonzero(speed >= np.median(speed))
    asked = fast[smallest(sample_hash(x[fast], v[fast]), ASKED)]
    near = cKDTree(x).query(x[asked], k=min(NEIGHBOURS + 1, len(x)))[1][:, 1:]
    return Evidence(regular_share(x[asked], v[asked], x[near], v[near]))


def regular_share(x: FloatArray, v: FloatArray, near_x: FloatArray, near_v: FloatArray) -> float:
    """Share of the samples (n, d) with a neighbour (n, k, d) ahead and one behind, along their motion, equally far in time."""
    step = near_x - x[:, None]
    motion = (near_v + v[:, None]) / 2
    tiny = np.finfo(np.float64).tiny
    size, pace = np.linalg.norm(step, axis=2) + tiny, np.linalg.norm(motion, axis=2) + tiny
    ahead = (step * motion).sum(axis=2)
    along = np.abs(ahead) > ALONG * size * pace
    time = ahead / pace**2
    after = np.where(along & (time > 0), time, np.inf).min(axis=1)
    before = np.where(along & (time < 0), -time, np.inf).min(axis=1)
    both = np.isfinite(after) & np.isfinite(before)
    regular = np.abs(np.log(after[both] / before[both])) < EQUAL
    return float(regular.sum() / len(x))


def is_grid(x: FloatArray) -> bool:
    """Whether most places of the box spanned by the values of the coordinates are taken: at least half, twice per axis."""
    values = np.array([len(np.unique(np.round(c / (np.ptp(c) or 1.0), 9))) for c in x.T], dtype=float)
    return bool((values > 1).sum() >= 2 and np.prod(values) <= 2 * len(x))
