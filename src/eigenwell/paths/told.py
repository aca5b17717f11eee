"""What the user already knows: each item takes the place of exactly one decision about the ends of paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import BoolArray, IntArray
from ..demonstrations import DataError, Demonstrations
from ..wording import plural
from .ends import Ends, Grouping, by_appearance, ends_within, given_groups, group_ends


@dataclass(frozen=True, eq=False)
class Told:
    """`n_attractors`: their number. `resolution`: the distance, in units of the data, below which ends are one place.
    `labels`: the sub-dynamics of every sample, of every path after `for_paths`, -1 for none. `exclude`: numbers of
    trajectories to leave out, of samples where these have no order."""

    n_attractors: int | None = None
    resolution: float | None = None
    labels: IntArray | None = None
    exclude: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        given = [n for n in ("n_attractors", "resolution", "labels") if getattr(self, n) is not None]
        if len(given) > 1:
            raise DataError(
                f"Expected one of n_attractors, resolution and labels, got {' and '.join(given)}: each of them decides "
                "alone which ends are one goal."
            )
        if self.n_attractors is not None and not (isinstance(self.n_attractors, int) and self.n_attractors >= 1):
            raise DataError(f"Expected n_attractors as a whole number >= 1, got {self.n_attractors!r}.")
        if self.resolution is not None and not 0 < self.resolution < np.inf:
            raise DataError(f"Expected resolution as one positive distance, got {self.resolution!r}.")

    def __bool__(self) -> bool:
        return bool(self.exclude) or any(v is not None for v in (self.n_attractors, self.resolution, self.labels))

    @property
    def names_paths(self) -> bool:
        """Whether the user has said which paths count."""
        return self.labels is not None

    def for_paths(self, nodes: IntArray, offsets: IntArray) -> Told:
        """The same with a label for every path: the one most of its samples have."""
        if self.labels is None:
            return self
        value, code = np.unique(self.labels[nodes], return_inverse=True)
        path = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        votes = np.zeros((len(offsets) - 1, len(value)))
        np.add.at(votes, (path, code), 1)
        return replace(self, labels=value[votes.argmax(axis=1)])

    def kept(self, demos: Demonstrations) -> BoolArray:
        """Which samples are not left out: `exclude` names trajectories, or samples where there are none."""
        out = np.ones(demos.n_samples, dtype=bool)
        for k in self.exclude:
            out[k if demos.offsets is None else slice(demos.offsets[k], demos.offsets[k + 1])] = False
        return out

    def excluded(self, n_paths: int) -> BoolArray:
        out = np.zeros(n_paths, dtype=bool)
        out[list(self.exclude)] = True
        if self.labels is not None:
            out |= self.labels < 0
        return out

    def grouping(self, ends: Ends, paths: IntArray) -> Grouping:
        """Groups of the ends of these paths."""
        if self.labels is not None:
            found = given_groups(ends, self.labels[paths])
            return replace(found, told=f"the goal of every path, by labels ({found.n_groups} of them)")
        if self.resolution is not None:
            found = ends_within(ends, self.resolution)
            return replace(found, told=f"ends within {self.resolution:g} are one place, by resolution")
        if self.n_attractors is None:
            return group_ends(ends)
        if len(paths) < self.n_attractors:
            raise DataError(
                f"Expected at least n_attractors = {self.n_attractors} paths, got {len(paths)}: every attractor needs one."
            )
        alone = group_ends(ends)
        found = group_ends(ends, self.n_attractors)
        return replace(
            found,
            told=f"{plural(self.n_attractors, 'attractor')}, by n_attractors; the ends alone say {alone.n_groups} "
            f"with probability {alone.probability:.2f}",
        )


def told_about(
    demos: Demonstrations,
    n_attractors: int | None = None,
    labels: Any = None,
    resolution: float | None = None,
    exclude: Sequence[int | str] = (),
) -> Told:
    """What a user said, checked against the data: labels of samples or of trajectories, trajectories by number or name."""
    number = int(n_attractors) if isinstance(n_attractors, np.integer) else n_attractors
    of_samples = None if labels is None else _sample_labels(demos, labels)
    given = (exclude,) if isinstance(exclude, int | str | np.integer) else tuple(exclude)
    if given and all(isinstance(one, bool | np.bool_) for one in given):  # a mask
        given = tuple(np.flatnonzero(given))
    return Told(number, resolution, of_samples, tuple(_number(demos, one) for one in given))


def _sample_labels(demos: Demonstrations, labels: Any) -> IntArray:
    raw = np.asarray(labels)
    count = demos.n_trajectories
    if raw.ndim != 1 or len(raw) not in (demos.n_samples, count):
        wanted = f"{demos.n_samples} samples" + ("" if count is None else f" or {count} trajectories")
        raise DataError(f"Expected one label for each of {wanted}, got labels of shape {raw.shape}.")
    if raw.dtype.kind not in "iu":  # words, or numbers as floats: numbered as they come, empty ones mean none
        missing = (raw != raw) | (raw == "") if raw.dtype.kind in "fO" else raw == ""
        raw = np.where(missing, -1, by_appearance(np.unique(raw.astype(str), return_inverse=True)[1]))
    if (raw < 0).all():
        raise DataError("Expected labels >= 0 for the samples of known sub-dynamics, got -1 for all of them.")
    if len(raw) != demos.n_samples and demos.offsets is not None:
        raw = np.repeat(raw, np.diff(demos.offsets))
    return raw.astype(np.intp)


def _number(demos: Demonstrations, one: int | str) -> int:
    what, count = ("sample", demos.n_samples) if demos.n_trajectories is None else ("trajectory", demos.n_trajectories)
    if isinstance(one, str):
        if one not in demos.names:
            known = ", ".join(demos.names[:10]) or f"{count} without names; use their numbers"
            raise DataError(f"Expected the name of a recording to exclude, got {one!r}; there are {known}.")
        return demos.names.index(one)
    if not 0 <= int(one) < count:
        raise DataError(f"Expected a {what} 0 to {count - 1} to exclude, got {one!r}.")
    return int(one)


NOTHING = Told()
