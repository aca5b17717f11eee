"""sweep(): stable states along a parameter, from data alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..cells import NAME, is_cells
from ..demonstrations import Caution, DataError, Demonstrations
from ..flow.slices import REPLICATES, Swept
from ..progress import Progress, advance, told
from ..wording import plural
from .branches import Event, branches, events
from .groups import column, parts, samples
from .page import Tabled

# Samples a value needs to be one; where values have fewer (they are noisy, or all different) neighbours are taken together.
FEWEST = 100
# Samples that one value brings; more of one value tell nothing new about the others.
MOST = 4000
# Rows of one value that can be read as data of their own.
SHORT = 10


@dataclass(frozen=True, eq=False)
class Sweep(Tabled):
    """What `sweep` found: states along a parameter, numbered as they appear.

    Attributes
    ----------
    parameter : str
        Its name.
    values : (C,) array
        Of the parameter, in order.
    located : tuple of tuples of Attractor
        The attractors at every value.
    states : (S, C) int array
        The attractor that is state s at value c, -1 where it is not there.
    events : tuple of Event
        Where states are born, die, split, merge, begin to oscillate or come to rest, each with an interval.
    counts : tuple of dict
        How often each number of attractors came out at every value.
    shares : (S + 1, C) array
        Share of the samples nearby in each basin; last, those in none.
    reach : float
        How far apart values still tell about each other.
    warnings : tuple of Caution
        Doubts, each with a name and a sentence.

    Examples
    --------
    >>> import eigenwell as ew
    >>> swept = ew.sweep(frame, by="temperature")  # doctest: +SKIP
    >>> swept.n_attractors  # doctest: +SKIP
    array([2, 2, 2, 1, 1])
    """

    parameter: str
    values: FloatArray
    located: tuple[tuple[Attractor, ...], ...]
    states: IntArray
    events: tuple[Event, ...]
    counts: tuple[dict[int, float], ...]
    shares: FloatArray
    reach: float
    warnings: tuple[Caution, ...] = ()

    @property
    def n_attractors(self) -> IntArray:
        """(C,) how many there are at every value."""
        return np.asarray((self.states >= 0).sum(axis=0))

    @property
    def n_states(self) -> int:
        """S, how many states there are at all values together."""
        return len(self.states)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for every state and value at which it is there.

        Returns
        -------
        list of dict
        """
        out = []
        for s, row in enumerate(self.states):
            for c in np.flatnonzero(row >= 0):
                place = self.located[c][row[c]]
                one: dict[str, Any] = {"state": s, self.parameter: float(self.values[c]), "kind": place.kind}
                for i, (x, error) in enumerate(zip(place.position, place.standard_error, strict=True)):
                    one |= {f"x{i + 1}": float(x), f"x{i + 1}_error": float(error)}
                out.append(one | {"share": float(self.shares[s, c])})
        return out

    def plot(self, axes: Any = None, coordinate: int = 0) -> Any:
        """The bifurcation diagram, and the shares of the basins below it.

        Parameters
        ----------
        axes : pair of matplotlib axes, optional
            Where to draw; a new figure where left out.
        coordinate : int
            The one drawn against the parameter.

        Returns
        -------
        pair of matplotlib axes
        """
        from ..plotting.changes import plot_sweep

        return plot_sweep(self, axes, coordinate)

    def __repr__(self) -> str:
        what = (len(self.values), "value"), (self.n_states, "state"), (len(self.events), "event")
        return f"Sweep({', '.join(plural(*one) for one in what)})"

    def __str__(self) -> str:
        lines = [f"{plural(self.n_states, 'state')} along {plural(len(self.values), 'value')} of {self.parameter}"]
        change = np.flatnonzero(np.diff(self.n_attractors))
        for a, b in zip(np.append(0, change + 1), np.append(change, len(self.values) - 1), strict=True):
            number = plural(int(self.n_attractors[a]), "attractor")
            lines.append(f"  {self.parameter} {self.values[a]:.4g} to {self.values[b]:.4g}: {number}")
        lines += [f"  {event}" for event in self.events]
        lines += [f"  ! {caution}" for caution in self.warnings]
        return "\n".join(lines)


def sweep(
    data: Any,
    results: Sequence[Any] | None = None,
    *,
    by: Any = None,
    basis: str | None = None,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: bool | Progress = False,
) -> Sweep:
    """Stable states along a parameter: branches, births, deaths, splits and the onset of oscillations, with intervals.

    `sweep(values, found_list)` for what identify() found at each value, or data: `sweep(frame, by="temperature")`. One field of
    (x, parameter) is estimated from all samples together, so that each value borrows strength from its neighbours: a few
    hundred samples a value will do, and values may be uneven, repeated or noisy.

    Parameters
    ----------
    data : array, data frame, AnnData
        The values of the parameter, one for each of `results`; or data with a column of values.
    results : sequence of Identification, Demonstrations or (x, v), optional
        One for each value.
    by : str or array, optional
        With data: the column of values, or the value of every sample.
    basis : str, optional
        Of an AnnData object: which embedding to take.
    seed : int
        Of the replicates.
    replicates : int
        Fields that fit re-weighted samples, which say how sure the answer is.
    progress : bool or callable
        True prints how far it is; a function is called as progress(stage, done, total).

    Returns
    -------
    Sweep

    Raises
    ------
    DataError
        For fewer than three values, values that are not numbers, and names that do not exist.

    Examples
    --------
    >>> import eigenwell as ew
    >>> swept = ew.sweep(frame, by="temperature")  # doctest: +SKIP
    >>> print(swept.events[0])  # doctest: +SKIP
    state 0 dies at 1.52 (1.49 to 1.55)
    """
    name, p, demos = _given(data, results, by, basis)
    values, group = _values(p)
    x, v = demos.x, demos.v
    kept = np.concatenate(
        [np.flatnonzero(group == c)[:: max(1, -(-int((group == c).sum()) // MOST))] for c in range(len(values))]
    )
    with told(progress):
        swept = Swept.of(x[kept], v[kept], p[kept], seed, replicates)
        seen = []
        for c, value in enumerate(values):
            seen.append(swept.at(float(value)))
            advance("values", c + 1, len(values))
    states = branches(seen)
    share = np.zeros((len(states) + 1, len(values)))
    for c, a in enumerate(seen):
        part = np.bincount(np.where(a.fates >= 0, a.fates, len(a.located)), minlength=len(a.located) + 1) / len(a.fates)
        share[-1, c] = part[-1]
        here = states[:, c] >= 0
        share[:-1, c][here] = part[states[here, c]]
    found = Sweep(
        name,
        values,
        tuple(a.located for a in seen),
        states,
        events(values, states, seen, swept),
        tuple(a.counts for a in seen),
        share,
        swept.reach,
        demos.warnings + _doubts(name, p, values, group, swept.reach, [a.bounded for a in seen]),
    )
    if is_cells(data):
        data.uns[f"{NAME}_sweep"] = {
            name: values,
            "states": states,
            "shares": share,
            "events": [str(event) for event in found.events],
        }
    return found


def _given(
    data: Any, results: Sequence[Any] | None, by: Any, basis: str | None
) -> tuple[str, FloatArray, Demonstrations]:
    """The parameter's name, its value at every sample, and the samples."""
    if results is not None:
        if by is not None:
            raise DataError("Expected sweep(values, results) or sweep(data, by=...), got both. Leave one out.")
        values = _numbers(np.asarray(data), "values")
        if len(values) != len(results):
            raise DataError(f"Expected one value for each of {len(results)} results, got {len(values)}.")
        demos = [r.in_memory().demos if hasattr(r, "in_memory") else samples(r) for r in results]
        p = np.repeat(values, [d.n_samples for d in demos])
        name = "parameter"
    elif by is None:
        raise DataError(
            "Expected sweep(values, results) or data with by=..., the column of the parameter; got neither."
        )
    else:
        name = by if isinstance(by, str) else "parameter"
        p = _numbers(column(data, by), name)
        unique, group = np.unique(p, return_inverse=True)
        # All rows together where nearly every one has a value of its own.
        apart = group if len(unique) <= len(p) / SHORT else np.zeros(len(p), dtype=np.intp)
        demos = list(parts(data, by, apart, basis))
        p = np.repeat(unique, [d.n_samples for d in demos]) if len(demos) > 1 else p
    dims = {d.dimension for d in demos}
    if len(dims) > 1:
        raise DataError(f"Expected the same coordinates at every value, got dimensions {sorted(dims)}.")
    cautions = tuple(dict.fromkeys(c for d in demos for c in d.warnings))
    x, v = np.concatenate([d.x for d in demos]), np.concatenate([d.v for d in demos])
    return name, p, Demonstrations(x, v, warnings=cautions)


def _numbers(values: Any, name: str) -> FloatArray:
    try:
        out = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise DataError(
            f"Expected numbers for {name}, got {str(values.ravel()[0])!r}. To compare conditions that have names, use compare()."
        ) from None
    if not np.isfinite(out).all():
        raise DataError(
            f"Expected finite numbers for {name}, got {int((~np.isfinite(out)).sum())} that are not. Leave those rows out."
        )
    return out


def _values(p: FloatArray) -> tuple[FloatArray, IntArray]:
    """Values and the one every sample belongs to: those given, or where these have few samples, neighbours together."""
    unique, group = np.unique(p, return_inverse=True)
    if len(unique) == 1:
        raise DataError(
            f"Expected a parameter that varies, got {unique[0]:.6g} throughout. Leave it out and call identify()."
        )
    if len(p) < FEWEST * len(unique):
        # Bins of as many samples, an uneven rest shared out.
        count = max(len(p) // FEWEST, 1)
        ranks = np.argsort(np.argsort(p, kind="stable"), kind="stable")
        group = ranks * count // len(p)
        unique = np.array([p[group == c].mean() for c in range(count)])
    if len(unique) < 3:
        raise DataError(
            f"Expected at least three values of the parameter with {FEWEST} samples each, got {len(unique)}. Two are compared by "
            "compare()."
        )
    return unique, np.asarray(group, dtype=np.intp)


def _doubts(
    name: str, p: FloatArray, values: FloatArray, group: IntArray, reach: float, bounded: list[bool]
) -> tuple[Caution, ...]:
    out = []
    if any(bounded):
        said = f"At {sum(bounded)} of {len(values)} values the motion takes long to settle, and fewer replicates were asked."
        out.append(Caution("bounded", said))
    fewest = int(np.bincount(group).min())
    weight = np.exp(-0.5 * ((p[:, None] - values[None]) / reach) ** 2).sum(axis=0)
    shared = float(np.median(weight)) / (len(p) / len(values))
    if shared > 1.5:
        whom = "all others" if reach > np.ptp(values) else f"those within {reach:.3g} of it"
        said = f"Each value of {name} ({fewest} samples and more) borrows strength from {whom}: one field explains them all."
        out.append(Caution("borrowed", said))
    if len(np.unique(p)) > len(values):
        out.append(Caution("binned", f"{len(np.unique(p))} values of {name} were looked at in {len(values)} places."))
    return tuple(out)
