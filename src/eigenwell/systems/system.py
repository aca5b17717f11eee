"""A system: its field, its attractors, the experiment that samples it and the places of snapshots."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .. import runge_kutta
from .._types import FloatArray, IntArray
from ..demonstrations import DataError, Demonstrations

Field = Callable[[FloatArray], FloatArray]
Design = Callable[["System", int, np.random.Generator], FloatArray]


@dataclass(frozen=True, eq=False)
class System:
    """A vector field with known attractors, and the experiment that samples it.

    Starts are drawn from `box` and kept until every attractor has its share, so that any seed gives a valid experiment; which
    attractor a start belongs to is read off the integrated trajectory.

    Parameters
    ----------
    name : str
        Of the system.
    field : callable
        v = field(x), for x (n, d).
    attractors : (Q, d) array
        Places of stable rest.
    box : (2, d) array
        From which starts are drawn.
    duration : float
        Of a trajectory.
    frequency : float
        Samples per unit of time.
    n_per_attractor : int
        Trajectories to each.
    settling : float
        How long a start is followed to see where it ends.
    cycles : tuple of (m, d) arrays
        Closed curves, one per limit cycle; labels count the places first.
    region : (2, d) array, optional
        In which snapshots are taken; by default the box.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.systems.duffing.dimension
    2
    """

    name: str
    field: Field
    attractors: FloatArray
    box: FloatArray
    duration: float
    frequency: float
    n_per_attractor: int = 3
    # Long enough for every trajectory to have chosen its attractor, where `duration` is not.
    settling: float = 60.0
    cycles: tuple[FloatArray, ...] = ()
    region: FloatArray | None = None

    @property
    def places(self) -> FloatArray:
        """(Q, d) one place for each attractor: itself, or the mean of its cycle over a period."""
        return np.array([*self.attractors, *(curve.mean(axis=0) for curve in self.cycles)]).reshape(-1, self.dimension)

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return int(self.attractors.shape[1])

    def sample(
        self,
        seed: int = 0,
        *,
        n_per_attractor: int | None = None,
        duration: float | None = None,
        frequency: float | None = None,
    ) -> Demonstrations:
        """Trajectories from random starts, grouped by attractor, with exact velocities and `truth`.

        Parameters
        ----------
        seed : int
            Of the starts.
        n_per_attractor : int, optional
            Trajectories to each attractor.
        duration : float, optional
            Of a trajectory.
        frequency : float, optional
            Samples per unit of time.

        Returns
        -------
        Demonstrations

        Examples
        --------
        >>> import eigenwell as ew
        >>> ew.systems.heart.sample(seed=0, frequency=20.0)
        Demonstrations(1206 samples in 2-D, 6 trajectories)
        """
        share = n_per_attractor or self.n_per_attractor
        duration, frequency = duration or self.duration, frequency or self.frequency
        starts, owner = self._starts(np.random.default_rng(seed), share)
        n_steps = round(duration * frequency)
        states = integrate(self.field, starts, 1 / frequency, n_steps)
        x = [np.ascontiguousarray(states[:, k]) for k in range(len(starts))]
        demos = Demonstrations.from_trajectories(x, [self.field(xk) for xk in x], dt=1 / frequency)
        return demos.with_truth(np.repeat(owner, n_steps + 1), self.places)

    def snapshots(
        self,
        n: int,
        seed: int = 0,
        *,
        noise: float = 0.0,
        position_noise: float = 0.0,
        design: Design | None = None,
    ) -> Demonstrations:
        """Velocities at scattered places, with `truth`: the fate of the place without noise, -1 where it leaves for good.

        Parameters
        ----------
        n : int
            Places.
        seed : int
            Of places and noise.
        noise : float
            Standard deviation of each velocity component in units of the median speed.
        position_noise : float
            That of each coordinate in units of the region's shortest side.
        design : callable, optional
            Where: uniform, clustered or front.

        Returns
        -------
        Demonstrations
            Unordered samples.

        Examples
        --------
        >>> import eigenwell as ew
        >>> ew.systems.toggle_switch.snapshots(100, noise=0.2)
        Demonstrations(100 samples in 2-D, unordered samples)
        """
        rng = np.random.default_rng(seed)
        x = (design or uniform)(self, n, rng)
        v = self.field(x)
        labels = self.fate(x)
        x = x + position_noise * np.ptp(self.domain, axis=1).min() * rng.standard_normal(x.shape)
        v = v + noise * np.median(np.linalg.norm(v, axis=1)) * rng.standard_normal(v.shape)
        return Demonstrations.from_samples(x, v).with_truth(labels, self.places)

    @property
    def domain(self) -> FloatArray:
        """(d, 2) where snapshots are taken."""
        return self.box if self.region is None else self.region

    def fate(self, x: FloatArray) -> IntArray:
        """The attractor every state (n, d) ends in: places first, then cycles, -1 for none of them.

        Parameters
        ----------
        x : (n, d) array
            States.

        Returns
        -------
        (n,) int array
        """
        width = float(np.ptp(self.domain, axis=1).max())
        x, left = np.array(x, dtype=np.float64), np.arange(len(x))
        # What is within a hundredth of an attractor stays there, and what is a hundred widths away does not come back.
        for _ in range(math.ceil(self.settling)):
            x[left] = integrate(self.field, x[left], 1.0, 1, keep_all=False, finest=0.04)[-1]
            gap = self._gaps(x[left]).min(axis=0, initial=np.inf)
            left = left[(gap > 0.01 * width) & (np.abs(x[left] - self.domain.mean(axis=1)).max(axis=1) < 100 * width)]
        gaps = self._gaps(x)
        near = gaps.min(axis=0, initial=np.inf) < 0.05 * width
        return np.where(near, gaps.argmin(axis=0), -1) if len(gaps) else np.full(len(x), -1, dtype=np.intp)

    def _gaps(self, x: FloatArray) -> FloatArray:
        """(Q, n) distances to every attractor."""
        gaps = [np.linalg.norm(x - place, axis=1) for place in self.attractors]
        gaps += [cKDTree(curve).query(x)[0] for curve in self.cycles]
        return np.array(gaps).reshape(len(gaps), len(x))

    def _starts(self, rng: np.random.Generator, share: int) -> tuple[FloatArray, IntArray]:
        kept: list[list[FloatArray]] = [[] for _ in self.places]
        for _ in range(100):
            drawn = rng.uniform(self.box[:, 0], self.box[:, 1], size=(8 * share * len(kept), self.dimension))
            # A start whose trajectory still wanders lies on a separatrix, or belongs to an attractor not listed.
            fate = self.fate(drawn)
            for q, group in enumerate(kept):
                group.extend(drawn[fate == q][: share - len(group)])
            if all(len(group) == share for group in kept):
                return np.concatenate(kept), np.repeat(np.arange(len(kept)), share)
        raise DataError(f"Found no {share} starts for every attractor of {self.name} in its box; widen the box.")


def uniform(system: System, n: int, rng: np.random.Generator) -> FloatArray:
    """Places spread evenly over the region.

    Parameters
    ----------
    system : System
        In whose region.
    n : int
        Places.
    rng : numpy.random.Generator
        The source of chance.

    Returns
    -------
    (n, d) array

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.systems.uniform(ew.systems.duffing, 50, np.random.default_rng(0)).shape
    (50, 2)
    """
    low, high = system.domain.T
    return rng.uniform(low, high, size=(n, system.dimension))


def clustered(system: System, n: int, rng: np.random.Generator) -> FloatArray:
    """Places in twenty Gaussian clusters of unequal size, some of them overlapping, and a tenth spread evenly.

    Parameters
    ----------
    system, n, rng
        As for `uniform`.

    Returns
    -------
    (n, d) array

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.systems.duffing.snapshots(50, seed=0, design=ew.systems.clustered).n_samples
    50
    """
    low, high = system.domain.T
    centre = rng.uniform(low, high, size=(20, system.dimension))
    owner = rng.choice(20, size=n, p=rng.dirichlet(np.full(20, 3.0)))
    x = centre[owner] + 0.08 * (high - low) * rng.standard_normal((n, system.dimension))
    spread = rng.random(n) < 0.1
    x[spread] = uniform(system, int(spread.sum()), rng)
    # Folded back at the border, where clipping would pile samples up.
    x = np.where(x < low, 2 * low - x, np.where(x > high, 2 * high - x, x))
    return np.asarray(np.clip(x, low, high))


def front(system: System, n: int, rng: np.random.Generator) -> FloatArray:
    """One sample per individual: all start in the middle tenth of the region and are seen once, at a random time.

    Parameters
    ----------
    system, n, rng
        As for `uniform`.

    Returns
    -------
    (n, d) array

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.systems.duffing.snapshots(50, seed=0, design=ew.systems.front).n_samples
    50
    """
    low, high = system.domain.T
    middle, width = (low + high) / 2, high - low
    step = 1 / system.frequency
    steps = round(min(system.settling, system.duration) / step)
    x = middle + 0.1 * width * rng.standard_normal((n, system.dimension))
    seen = np.sort(rng.integers(0, steps, size=n, endpoint=True))
    # The longest waits run longest: states still to be seen are advanced together.
    at = 0
    for now in np.unique(seen):
        waiting = slice(int(np.searchsorted(seen, now)), n)
        x[waiting] = integrate(system.field, x[waiting], step, int(now - at), keep_all=False)[-1]
        at = now
    return np.asarray(x[rng.permutation(n)])


def integrate(
    field: Field, x0: FloatArray, dt: float, n_steps: int, *, keep_all: bool = True, finest: float = 0.01
) -> FloatArray:
    """Classical Runge-Kutta for many starts at once.

    Parameters
    ----------
    field : callable
        v = field(x), for x (k, d).
    x0 : (k, d) array
        Starts.
    dt : float
        Time between the states returned.
    n_steps : int
        How many of them after the starts.
    keep_all : bool
        False returns the last alone.
    finest : float
        The longest substep.

    Returns
    -------
    (n_steps + 1, k, d) array

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> ew.systems.integrate(lambda x: -x, np.ones((1, 1)), 1.0, 1)[-1].round(4)
    array([[0.3679]])
    """
    substeps = max(1, int(np.ceil(dt / finest)))
    h = dt / substeps
    x = np.array(x0, dtype=np.float64)
    states = [x]
    for _ in range(n_steps):
        for _ in range(substeps):
            x = runge_kutta.step(field, x, h)
        if keep_all:
            states.append(x)
    return np.stack(states if keep_all else [x])
