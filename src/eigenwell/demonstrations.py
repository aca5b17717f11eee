"""Demonstrations: the data, checked once as they come in, frozen after.

Two kinds come in. *Unordered samples*: an (n, d) array of positions and one of velocities, in any order.
*Trajectories*: a list of (T_k, d) arrays in order of time, with velocities, or with `dt` or `time` to
estimate them from. Everything after this module trusts what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._types import BoolArray, FloatArray, IntArray
from .annotations import Chart as Chart
from .annotations import Truth
from .arguments import has_names, is_sequence_of_trajectories, moving_samples, trajectory_columns
from .checks import SHORTEST_PATH as SHORTEST_PATH
from .checks import (
    Caution,
    check_dt,
    check_samples,
    check_tall,
    matrix,
)
from .checks import first_occurrence as first_occurrence
from .data_frames import Framed, sample_columns
from .errors import DataError as DataError
from .grids import flattened, of_mapping
from .wording import plural

__all__ = ["Caution", "Demonstrations", "Truth"]


@dataclass(frozen=True, eq=False)
class Demonstrations(Framed):
    """The data, checked once as they come in and frozen after: positions and velocities, in order or not.

    Make them with `of`, `from_samples`, `from_trajectories` or `from_grid`, which check what they get.

    Attributes
    ----------
    x : (n, d) array
        Positions; where velocities were estimated, freed of noise by the same estimate.
    v : (n, d) array
        Velocities.
    offsets : (K + 1,) int array or None
        Trajectory k is rows offsets[k]:offsets[k + 1]; None where the order of the samples means nothing.
    time : (n,) array or None
        The time of every sample.
    warnings : tuple of Caution
        Doubts about the data.
    names : tuple of str
        Of the trajectories (files), or empty.
    raw : (n, d) array or None
        Positions as they came, where x was freed of noise.
    noise : (K,) array or None
        Standard deviation of the noise found in a coordinate of each trajectory.
    chart : Chart or None
        How the last three coordinates are orientations, where they are.
    task : (n,) int array or None
        What each sample was meant for, where a file says it.
    about : str
        What was read as what, of files.
    truth : Truth or None
        What is known of made-up data; never read by `identify` or `learn`.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenwell as ew
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> ew.Demonstrations.of(x, -x)
    Demonstrations(50 samples in 2-D, unordered samples)
    """

    x: FloatArray
    v: FloatArray
    offsets: IntArray | None = None
    time: FloatArray | None = None
    warnings: tuple[Caution, ...] = ()
    names: tuple[str, ...] = ()
    raw: FloatArray | None = None
    noise: FloatArray | None = None
    chart: Chart | None = None
    about: str = ""
    task: IntArray | None = None
    truth: Truth | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.x, self.v, self.offsets, self.time, self.raw, self.noise, self.task):
            if array is not None:
                array.flags.writeable = False

    def _frame_columns(self) -> dict[str, NDArray[Any]]:
        return sample_columns(self) | ({} if self.task is None else {"task": self.task})

    def __repr__(self) -> str:
        count = self.n_trajectories
        kind = "unordered samples" if count is None else plural(count, "trajectory", "trajectories")
        return f"Demonstrations({self.n_samples} samples in {self.dimension}-D, {kind})"

    @property
    def n_samples(self) -> int:
        """n, the number of samples."""
        return len(self.x)

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return int(self.x.shape[1])

    @property
    def ordered(self) -> bool:
        """Whether the samples come as trajectories in order of time."""
        return self.offsets is not None

    @property
    def n_trajectories(self) -> int | None:
        """K, the number of trajectories; None for unordered samples."""
        return None if self.offsets is None else len(self.offsets) - 1

    def trajectories(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Each trajectory in order of time.

        Returns
        -------
        iterator of (x, v)
            Arrays (T_k, d).

        Raises
        ------
        DataError
            For unordered samples.
        """
        if self.offsets is None:
            raise DataError("Expected trajectories, got unordered samples; identify() recovers the paths.")
        for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            yield self.x[a:b], self.v[a:b]

    @cached_property
    def moving(self) -> BoolArray:
        """(n,) False where a trajectory stands still before it sets out or after it has arrived, True for all else.

        Standing still: all samples from there to the end of the recording lie within four standard deviations of noise, or a
        thousandth of the extent, of the outermost one. That one counts as moving: it is where the motion starts or ends.
        """
        return moving_samples(self.x, self.offsets, self.noise)

    def trimmed(self) -> Demonstrations:
        """Trajectories without the rests before and after the motion: what a field is learned from.

        Returns
        -------
        Demonstrations
        """
        if self.offsets is None:
            return self
        keep = np.flatnonzero(self.moving)
        lengths = np.add.reduceat(self.moving, self.offsets[:-1])
        return replace(
            self,
            x=self.x[keep],
            v=self.v[keep],
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp),
            time=None if self.time is None else self.time[keep],
            raw=None if self.raw is None else self.raw[keep],
            task=None if self.task is None else self.task[keep],
            truth=self.truth and Truth(self.truth.labels[keep], self.truth.attractors),
        )

    def shuffled(self, seed: int = 0) -> Demonstrations:
        """The same samples in random order, with time and trajectory forgotten.

        Parameters
        ----------
        seed : int
            Of the order.

        Returns
        -------
        Demonstrations
            Unordered samples.
        """
        return self.take(np.random.default_rng(seed).permutation(self.n_samples))

    def take(self, index: IntArray) -> Demonstrations:
        """The samples at `index`, as unordered samples.

        Parameters
        ----------
        index : int array
            Rows, in the order wanted.

        Returns
        -------
        Demonstrations
            Unordered samples.
        """
        truth = self.truth and Truth(self.truth.labels[index], self.truth.attractors)
        return Demonstrations(self.x[index], self.v[index], warnings=self.warnings, truth=truth)

    def with_truth(self, labels: IntArray, attractors: FloatArray) -> Demonstrations:
        """The same with what is known of made-up data.

        Parameters
        ----------
        labels : (n,) int array
            The attractor of every sample.
        attractors : (Q, d) array
            Their places.

        Returns
        -------
        Demonstrations
        """
        return replace(self, truth=Truth(labels, attractors))

    @classmethod
    def of(
        cls,
        x: Any,
        v: Any = None,
        *,
        dt: float | None = None,
        time: Any = None,
        smooth: bool = True,
    ) -> Demonstrations:
        """Whatever a user has: `of(x, v)`, `of([(x1, v1), ...])`, `of([x1, x2, ...], dt=0.01)`, or itself.

        One (n, d) array with `v` alone is unordered samples; with `dt` or `time` it is one trajectory. A vector is a
        scalar system, a mapping with x, y, u, v (a dictionary, an xarray Dataset) a field on a grid. `smooth=False` keeps
        noisy positions as they are where velocities are estimated.

        Parameters
        ----------
        x : array, list of arrays, Demonstrations, mapping, data frame
            Positions (n, d), or trajectories, or data that hold their velocities.
        v : array or list of arrays, optional
            Velocities, of the shape of x.
        dt : float, optional
            The sampling step of rows in order of time.
        time : array or list of arrays, optional
            The time of every sample.
        smooth : bool
            Whether positions are freed of noise where velocities are estimated.

        Returns
        -------
        Demonstrations

        Raises
        ------
        DataError
            For data that cannot be used, and for arguments that would be ignored.

        Examples
        --------
        >>> import numpy as np
        >>> import eigenwell as ew
        >>> t = np.linspace(0, 5, 100)[:, None]
        >>> ew.Demonstrations.of([np.exp(-t) * [1, 2], np.exp(-t) * [1, -2]], dt=0.05)
        Demonstrations(200 samples in 2-D, 2 trajectories)
        """
        given = {"v": v, "dt": dt, "time": time, "smooth=False": None if smooth else False}
        beside = [name for name, value in given.items() if value is not None]
        if isinstance(x, Demonstrations):
            if beside:
                raise DataError(
                    f"Expected Demonstrations alone, which hold their velocities and times, got {' and '.join(beside)} "
                    "besides. Leave them out, or pass arrays: identify(demos.x, v)."
                )
            return x
        if isinstance(x, Mapping) and v is None and not hasattr(x, "__array__"):
            if beside:
                raise DataError(
                    f"Expected a field on a grid alone, which holds its velocities, got {' and '.join(beside)} besides. "
                    "Leave them out."
                )
            return cls._on_nodes(*of_mapping(x))
        check_dt(dt)
        if v is None and time is None and has_names(x):
            from .files import read

            return read(x, dt=dt, smooth=smooth)
        if not is_sequence_of_trajectories(x):
            if dt is None and time is None:
                return cls.from_samples(x, v)
            return cls.from_trajectories(
                [x], None if v is None else [v], dt=dt, time=None if time is None else [time], smooth=smooth
            )
        return cls.from_trajectories(x, v, dt=dt, time=time, smooth=smooth)

    @classmethod
    def from_samples(cls, x: Any, v: Any) -> Demonstrations:
        """Unordered samples: row i of `x` moves with row i of `v`.

        Parameters
        ----------
        x : (n, d) array
            Positions, in any order.
        v : (n, d) array
            Their velocities.

        Returns
        -------
        Demonstrations

        Raises
        ------
        DataError
            For positions alone, for shapes that differ, and for numbers that are not finite.
        """
        xs = matrix(x, "x")
        if v is None:
            raise DataError(
                f"Expected velocities or time, got positions alone, shape {xs.shape}. Pass identify(x, v) for "
                "unordered samples, or identify([x1, x2, ...], dt=...) for trajectories in order of time."
            )
        vs = matrix(v, "v")
        if xs.shape != vs.shape:
            raise DataError(f"Expected x and v of the same shape, got x {xs.shape} and v {vs.shape}.")
        check_tall(xs.shape)
        return cls(xs, vs, warnings=check_samples(xs, vs))

    @classmethod
    def from_grid(cls, *arrays: Any) -> Demonstrations:
        """A field on a grid, (X, Y, U, V) or (X, Y, Z, U, V, W): nodes with a velocity, as unordered samples.

        Parameters
        ----------
        arrays : arrays
            Coordinates of the nodes and then components of the velocity, all of one shape; NaN where there is
            none.

        Returns
        -------
        Demonstrations
            Unordered samples.

        Raises
        ------
        DataError
            For another number of arrays, or shapes that differ.
        """
        return cls._on_nodes(*flattened(*arrays))

    @classmethod
    def _on_nodes(cls, x: FloatArray, v: FloatArray, cautions: tuple[Caution, ...]) -> Demonstrations:
        demos = cls.from_samples(x, v)
        return replace(demos, warnings=cautions + demos.warnings)

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Sequence[Any],
        v: Sequence[Any] | None = None,
        *,
        dt: float | None = None,
        time: Sequence[Any] | None = None,
        names: Sequence[str] = (),
        smooth: bool = True,
    ) -> Demonstrations:
        """Trajectories in order of time: (x, v) pairs, or positions with `v`, `dt` or `time` (one array each).

        `names` are those of the trajectories. Without `v`, positions are freed of noise and velocities estimated by one
        model (`velocities`); `smooth=False` leaves the positions alone.

        Parameters
        ----------
        trajectories : list of arrays or of (x, v) pairs
            Arrays (T_k, d) in order of time.
        v : list of arrays, optional
            Velocities of the shapes of the positions.
        dt : float, optional
            The sampling step.
        time : list of arrays, optional
            The time of every sample.
        names : sequence of str
            Of the trajectories.
        smooth : bool
            Whether positions are freed of noise where velocities are estimated.

        Returns
        -------
        Demonstrations

        Raises
        ------
        DataError
            For data that cannot be used.
        """
        return cls(**trajectory_columns(trajectories, v, dt, time, names, smooth))
