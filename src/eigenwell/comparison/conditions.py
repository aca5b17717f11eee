"""compare(): the same attractors in two or more conditions: kept, moved, new, gone, split, merged; and their basins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaincc

from .._types import FloatArray, IntArray
from ..cells import NAME, is_cells
from ..demonstrations import DataError
from ..flow import FlowGraph
from ..identification import identify
from ..results import Identification
from . import shares
from .groups import conditions, parts
from .matching import Basins, Seen, between, match
from .result import LEVEL, Change, Comparison

# Units differ where the spread of one condition is this many times that of the other: no treatment does that.
OTHER_UNITS = 30.0


def compare(results: Any, *, by: Any = None, basis: str | None = None, seed: int = 0) -> Comparison:
    """The same attractors in two or more conditions: what is kept, moved, new or gone, and whose basin grew.

    `compare({"control": found_a, "treated": found_b})`, or `compare(adata, by="condition")` for cells, which takes the
    answer back as `obs["eigenwell_state"]` and `uns["eigenwell_compare"]`, or `compare(frame, by="condition")`.

    Parameters
    ----------
    results : mapping, AnnData, data frame or (x, v)
        Name -> what identify() found, at least two; or data with a column of conditions. The first is what the others are
        compared with: of categories (pandas, AnnData) the first, else the first by its name.
    by : str or array, optional
        With data: the column of conditions, or the condition of every sample.
    basis : str, optional
        Of an AnnData object: which embedding to take.
    seed : int
        Of the draws behind intervals and tests.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        For one condition, conditions in other dimensions or units, and names that do not exist.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> print(ew.compare({"control": found, "treated": found}).changes[1])
    state 1 is where it was
    """
    data = results
    if by is not None:
        names, group = conditions(data, by)
        column = f"{by!r}" if isinstance(by, str) else "by"
        _check_several(len(names), f"{column} has one value, {names[0]}" if len(names) else "there are no rows")
        of_cells = FlowGraph() if is_cells(data) else None
        results = {}
        for name, part in zip(names, parts(data, by, group, basis), strict=True):
            try:
                results[name] = identify(part, graph=of_cells)
            except DataError as error:
                raise DataError(f"In condition {name!r}: {error}") from error
    elif not isinstance(results, Mapping):
        raise DataError(
            f"Expected a dictionary of conditions, as {{'control': found, 'treated': other}}, got {type(results).__name__}. "
            "Or pass data and by=..."
        )
    found = _checked(results)
    compared = _compared(tuple(map(str, results)), found, seed)
    if by is not None and is_cells(data):
        state = np.full(len(group), -1, dtype=np.intp)
        for c, name in enumerate(compared.conditions):
            state[group == c] = compared.labels(name)
        data.obs[f"{NAME}_state"] = np.where(state >= 0, state.astype(str), "leaves")
        data.uns[f"{NAME}_compare"] = {
            "conditions": list(compared.conditions),
            "states": compared.states,
            "shares": compared.shares,
            "low": compared.low,
            "high": compared.high,
            "changes": [f"{change.condition}: {change}" for change in compared.changes],
        }
    return compared


def _compared(names: tuple[str, ...], found: tuple[Identification, ...], seed: int) -> Comparison:
    scale = np.sqrt(np.mean([r.demos.x.var(axis=0) for r in found], axis=0))
    basins = [Basins.of(r, np.where(scale > 0, scale, 1.0)) for r in found]
    states = tracked(basins)
    draws = [shares.drawn(r, seed + c) for c, r in enumerate(found)]
    share, low, high = (np.zeros((len(states) + 1, len(found))) for _ in range(3))
    of_state: dict[tuple[int, int], FloatArray] = {}
    for c, r in enumerate(found):
        counts, _ = shares.counted(r)
        for s in range(len(states) + 1):
            q = int(states[s, c]) if s < len(states) else r.n_attractors
            of_state[s, c] = draws[c][:, q] if q >= 0 else np.zeros(shares.DRAWS)
            if q >= 0:
                share[s, c] = counts[q] / max(counts.sum(), 1)
                low[s, c], high[s, c] = shares.interval(of_state[s, c])
    changes: list[Change] = []
    for c in range(1, len(found)):
        for s in range(len(states)):
            a, b = int(states[s, 0]), int(states[s, c])
            if a >= 0 or b >= 0:
                p_share = shares.differ(of_state[s, 0], of_state[s, c])
                if found[0].n_attractors != found[c].n_attractors:
                    p_share = max(p_share, shares.as_many(found[0], found[c]))
                changes.append(_change(s, c, names[c], states, basins, found, p_share))
    changes = [replace(change, share=_share(change, changes)) for change in changes]
    counted = tuple(shares.counted(r)[1] for r in found)
    return Comparison(names, found, states, tuple(changes), share, low, high, counted)


def _share(change: Change, changes: list[Change]) -> str:
    """What is said of a share, of so many that were compared; where states came or went, nothing."""
    beside = [other.what for other in changes if other.condition == change.condition]
    if change.p_share >= LEVEL or not {"kept", "moved"}.issuperset(beside):
        return ""
    return "changed" if change.p_share * len(changes) < LEVEL else "may have changed"


def _change(
    s: int,
    c: int,
    name: str,
    states: IntArray,
    basins: list[Basins],
    found: tuple[Identification, ...],
    p_share: float,
) -> Change:
    a, b = int(states[s, 0]), int(states[s, c])
    if a >= 0 and b >= 0:
        before, after = found[0].located[a], found[c].located[b]
        moved = after.position - before.position
        error = np.hypot(after.standard_error, before.standard_error)
        size = np.maximum(error, np.finfo(np.float64).tiny)
        p = 1.0 if not moved.any() else float(gammaincc(len(moved) / 2, 0.5 * ((moved / size) ** 2).sum()))
        return Change(s, name, "moved" if p < LEVEL else "kept", moved, error, p, p_share)
    # The state that was, or is now, where this one is not.
    here, there, present = (c, 0, b) if b >= 0 else (0, c, a)
    place = basins[here].places[present]
    fate = int(basins[there].fate(place[None])[0])
    other = int(np.flatnonzero(states[:, there] == fate)[0]) if fate >= 0 else -1
    kind = ("new", "split") if b >= 0 else ("gone", "merged")
    partner = int(states[other, here]) if other >= 0 else -1
    if partner >= 0 and between(basins[there].places[fate], place, basins[here].places[partner]):
        return Change(s, name, kind[1], None, None, np.nan, p_share, other)
    return Change(s, name, kind[0], None, None, np.nan, p_share)


def tracked(basins: list[Basins]) -> IntArray:
    """(S, C) the attractor that is state s in each condition, one after the other; each state is looked for where it was last
    seen."""
    last: list[Seen] = []
    rows: list[list[int]] = []
    for c, here in enumerate(basins):
        owner = match(last, here)
        for q in range(len(here.places)):
            s = int(owner[q])
            if s < 0:
                s = len(rows)
                rows.append([-1] * len(basins))
                last.append(Seen(here, q))
            rows[s][c], last[s] = q, Seen(here, q)
    return np.array(rows, dtype=np.intp).reshape(-1, len(basins))


def _check_several(n: int, what: str) -> None:
    if n < 2:
        raise DataError(f"Expected at least two conditions to compare, but {what}. For one, identify() has the answer.")


def _checked(results: Mapping[str, Any]) -> tuple[Identification, ...]:
    _check_several(len(results), f"got {list(results)}")
    for name, one in results.items():
        if not hasattr(one, "in_memory"):
            raise DataError(
                f"Expected what identify() found for {name!r}, got {type(one).__name__}. Call identify() first, or pass by=..."
            )
    found = tuple(r.in_memory() for r in results.values())
    dims = {name: r.demos.dimension for name, r in zip(results, found, strict=True)}
    if len(set(dims.values())) > 1:
        raise DataError(f"Expected conditions of one dimension, got {dims}. Take the same coordinates in all of them.")
    spread = np.array([r.demos.x.std(axis=0) for r in found])
    for i in range(spread.shape[1]):
        low, high = int(spread[:, i].argmin()), int(spread[:, i].argmax())
        if spread[low, i] > 0 and spread[high, i] > OTHER_UNITS * spread[low, i]:
            a, b = list(results)[low], list(results)[high]
            raise DataError(
                f"Expected conditions in one unit, got coordinate {i + 1} spread {spread[high, i] / spread[low, i]:.0f} times "
                f"wider in {b!r} than in {a!r}. Convert one of them."
            )
    return found
