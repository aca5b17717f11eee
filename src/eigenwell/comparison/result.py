"""What a comparison says: states across conditions, what changed, and the shares of their basins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import repr_html
from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError
from ..results import Identification
from ..wording import SURE, plural
from .page import Tabled

# A state has moved, and a share has changed, where chance alone would do as much once in twenty times: for shares, which
# change together, in any of the states compared (Bonferroni).
LEVEL = 0.05


@dataclass(frozen=True)
class Change:
    """What became of one state in one condition, compared with the first condition.

    Attributes
    ----------
    state : int
        Which.
    condition : str
        Where.
    what : str
        "kept", "moved", "new", "gone", "split" or "merged".
    moved : (d,) array or None
        By how much, where it is in both.
    standard_error : (d,) array or None
        Of that.
    p_moved : float
        Of no motion; NaN where it is not in both.
    p_share : float
        Of the same share of samples in its basin; where numbers of attractors differ, at least the probability that they do not.
    relative : int
        The state it split from or merged with; -1 for none.
    share : str
        What became of its share: "changed"; "may have changed", where one of so many states may do as much by chance; or "".
        Where a state came or went, that is what changed the others' shares, and nothing is said of them.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ew.compare({"a": found, "b": found}).changes[0].what
    'kept'
    """

    state: int
    condition: str
    what: str
    moved: FloatArray | None
    standard_error: FloatArray | None
    p_moved: float
    p_share: float
    relative: int = -1
    share: str = ""

    def __str__(self) -> str:
        by = "" if self.moved is None else f" by {np.linalg.norm(self.moved):.3g} ({_chance(self.p_moved)})"
        said = {
            "kept": "is where it was",
            "moved": f"moved{by}",
            "new": "is new",
            "gone": "is gone",
            "split": f"split off from state {self.relative}",
            "merged": f"merged with state {self.relative}",
        }[self.what]
        share = f"; its share {self.share} ({_chance(self.p_share)})" if self.share else ""
        return f"state {self.state} {said}{share}"


@dataclass(frozen=True, eq=False)
class Comparison(Tabled):
    """What `compare` found; states are numbered as the attractors of the first condition, then as they appear.

    Attributes
    ----------
    conditions : tuple of str
        Their names.
    results : tuple of Identification
        What was found in each.
    states : (S, C) int array
        The attractor that is state s in condition c, -1 where it is not there.
    changes : tuple of Change
        Of every state in every condition but the first.
    shares, low, high : (S + 1, C) arrays
        Share of the samples or paths in each basin, and the interval that holds 90 %; last, those in no basin.
    counted : tuple of str
        What was counted in each condition: "samples" or "paths".

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ew.compare({"control": found, "again": found}).states.tolist()
    [[0, 0], [1, 1]]
    """

    conditions: tuple[str, ...]
    results: tuple[Identification, ...]
    states: IntArray
    changes: tuple[Change, ...]
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    counted: tuple[str, ...]

    @property
    def n_states(self) -> int:
        """S, how many states there are in all conditions together."""
        return len(self.states)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """Doubts: where a number of attractors is unsure, so is what is new or gone there."""
        return tuple(
            Caution(
                "number-in-doubt",
                f"{name} has {plural(r.n_attractors, 'attractor')} with a confidence of {r.confidence:.2f}: what is new, gone, "
                "split or merged beside it is as doubtful, and so are the shares.",
            )
            for name, r in zip(self.conditions, self.results, strict=True)
            if r.confidence < SURE
        )

    def labels(self, condition: str) -> IntArray:
        """The state of every sample of a condition, -1 where it goes to none.

        Parameters
        ----------
        condition : str
            Its name.

        Returns
        -------
        (n,) int array
        """
        c = self._number(condition)
        state = np.full(self.results[c].n_attractors + 1, -1, dtype=np.intp)
        here = self.states[:, c]
        state[here[here >= 0]] = np.flatnonzero(here >= 0)
        return np.asarray(state[self.results[c].labels])

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for every state and condition: place, errors, what changed, share and its interval.

        Returns
        -------
        list of dict
        """
        said = {(change.state, change.condition): change for change in self.changes}
        out = []
        for s in range(self.n_states):
            for c, name in enumerate(self.conditions):
                q, change = int(self.states[s, c]), said.get((s, name))
                row: dict[str, Any] = {"state": s, "condition": name, "attractor": q if q >= 0 else None}
                row["what"] = "" if change is None else change.what
                place = self.results[c].located[q] if q >= 0 else None
                row["kind"] = "" if place is None else place.kind
                for i in range(self.results[c].attractors.shape[1]):
                    row[f"x{i + 1}"] = np.nan if place is None else float(place.position[i])
                    row[f"x{i + 1}_error"] = np.nan if place is None else float(place.standard_error[i])
                far = None if change is None else change.moved
                row["moved"] = np.nan if far is None else float(np.linalg.norm(far))
                row["p_moved"] = np.nan if change is None else change.p_moved
                row |= {"share": self.shares[s, c], "share_low": self.low[s, c], "share_high": self.high[s, c]}
                row["p_share"] = np.nan if change is None else change.p_share
                out.append(row)
        return out

    def plot(self, ax: Any = None) -> Any:
        """Attractors of all conditions in one picture, arrows where they moved; and the shares beside it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw the attractors alone; a new figure with both where left out.

        Returns
        -------
        matplotlib axes
        """
        from ..plotting.changes import plot_comparison

        return plot_comparison(self, ax)

    def _number(self, condition: str) -> int:
        if condition not in self.conditions:
            raise DataError(f"Expected a condition among {', '.join(self.conditions)}, got {condition!r}.")
        return self.conditions.index(condition)

    def _repr_html_(self) -> str:
        head = ["state", *(f"{name}: x*" for name in self.conditions), *(f"{n}: share" for n in self.conditions)]
        table = []
        for s in range(self.n_states):
            places = [
                repr_html.places(r.attractors[[q]], r.uncertainty[[q]])[0]
                if (q := int(self.states[s, c])) >= 0
                else "–"
                for c, r in enumerate(self.results)
            ]
            table.append([str(s), *places, *self._of_share(s)])
        return repr_html.panel(
            str(self).splitlines()[0], "", repr_html.table(head, table), list(map(str, self.warnings))
        )

    def _of_share(self, s: int) -> list[str]:
        """The share of a state in every condition, and where it lies with 90 %."""
        rows = zip(*(100 * part[s] for part in (self.shares, self.low, self.high)), strict=True)
        return [f"{share:.0f} % ({low:.0f} to {high:.0f})" for share, low, high in rows]

    def __repr__(self) -> str:
        return f"Comparison({plural(len(self.conditions), 'condition')}, {plural(self.n_states, 'state')})"

    def __str__(self) -> str:
        numbers = ", ".join(
            f"{name}: {plural(r.n_attractors, 'attractor')}"
            for name, r in zip(self.conditions, self.results, strict=True)
        )
        lines = [f"{plural(self.n_states, 'state')} in {plural(len(self.conditions), 'condition')} ({numbers})"]
        for name in self.conditions[1:]:
            changed = [f"  {change}" for change in self.changes if change.condition == name]
            lines += [f"{name}, compared with {self.conditions[0]}:", *changed] if changed else []
        lines.append(f"share of {self.counted[0]}, and where it lies with 90 %:")
        lines += [f"  state {s}: " + ", ".join(self._of_share(s)) for s in range(self.n_states)]
        lines += ["  no basin: " + ", ".join(self._of_share(-1))] if self.shares[-1].any() else []
        lines += [f"  ! {caution}" for caution in self.warnings]
        return "\n".join(lines)


def _chance(p: float) -> str:
    return "p < 0.001" if p < 1e-3 else f"p = {p:.2g}"
