"""What the user says about snapshots: which attractors are one, how many there are, which samples belong together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError
from ..paths.spanning import components, spanning_tree
from ..paths.told import Told
from ..wording import plural
from .bootstrap import Ensemble
from .cycles import LimitCycle
from .finding import FlowFinding
from .portrait import Trap
from .whitening import Whitening


def as_told(found: FlowFinding, many: Ensemble, alone: dict[int, float], told: Told) -> FlowFinding:
    """The finding with the decision that the user took. `alone`: what the replicates say about the number by themselves."""
    frame = found.field.frame
    if told.resolution is not None:
        places = np.array([a.position for a in found.located]).reshape(-1, len(frame.centre))
        group = within(places, np.array([a.kind == "cycle" for a in found.located], dtype=bool), told.resolution)
        tally = Counter(_number_within(p.attractors, frame, told.resolution) for p in many.portraits)
        counts = {q: tally[q] / len(many.portraits) for q in sorted(tally)}
        return found.joined(group, counts, f"attractors within {told.resolution:g} are one place, by resolution")
    if told.labels is not None:
        return _labelled(found, told.labels)
    if told.n_attractors is None:
        return found
    others = ", ".join(f"{q} in {100 * share:.0f} %" for q, share in alone.items())
    if len(found.located) < told.n_attractors:
        raise DataError(
            f"Expected n_attractors = {told.n_attractors} in some of the fields that fit the samples, got {others}. Take more "
            "samples, or less noisy ones, around the attractors that are missing, or leave n_attractors out."
        )
    said = f"{plural(told.n_attractors, 'attractor')}, by n_attractors; the replicates alone say {others}"
    group = np.arange(len(found.located))
    if len(group) > told.n_attractors:
        from scipy.cluster.hierarchy import fcluster, linkage  # slow to import, and seldom needed

        places = np.array([a.position for a in found.located])
        group = fcluster(linkage(places, "average"), told.n_attractors, "maxclust").astype(np.intp) - 1
        said += "; the nearest were joined"
    return found.joined(group, {told.n_attractors: 1.0}, said)


def within(places: FloatArray, cycles: np.ndarray, distance: float) -> IntArray:
    """Group of every place: points nearer to each other than `distance`, by any number of steps, are one; a cycle is its own."""
    rest = np.flatnonzero(~cycles)
    group = np.empty(len(places), dtype=np.intp)
    if len(rest):
        pairs, length = spanning_tree(places[rest])
        group[rest] = components(pairs[length <= distance], len(rest))
    group[cycles] = int(group[rest].max(initial=-1)) + 1 + np.arange(int(cycles.sum()))
    return group


def _number_within(traps: tuple[Trap, ...], frame: Whitening, distance: float) -> int:
    places = frame.leave(np.array([t.place for t in traps]).reshape(-1, frame.forward.shape[1]))
    cycles = np.array([isinstance(t, LimitCycle) for t in traps], dtype=bool)
    return int(within(places, cycles, distance).max(initial=-1)) + 1


def _labelled(found: FlowFinding, labels: IntArray) -> FlowFinding:
    """Every attractor belongs to the label that most of the samples have which end in it, and samples keep their labels."""
    values, given = np.unique(np.where(labels >= 0, labels, -1), return_inverse=True)
    given = given - int(values[0] < 0)
    values = values[values >= 0]
    votes = np.zeros((len(found.located), len(values)))
    named = (given >= 0) & (found.labels >= 0)
    np.add.at(votes, (found.labels[named], given[named]), 1)
    group = np.where(votes.any(axis=1), votes.argmax(axis=1) if len(votes) else 0, -1)
    lost = np.setdiff1d(np.arange(len(values)), group)
    if len(lost):
        mine = found.labels[given == lost[0]]
        ends = np.append(group, len(values))[mine]
        where = [f"{int((ends == k).sum())} with those of label {values[k]}" for k in np.unique(group[group >= 0])]
        raise DataError(
            f"Expected an attractor for each of {len(values)} labels, got none for label {values[lost[0]]}: of its {len(mine)} "
            f"samples {', '.join([*where, f'{int((mine < 0).sum())} nowhere'])} end. Give them the label they end with, or -1."
        )
    said = f"the attractor of every sample, by labels ({len(values)} of them)"
    out = found.joined(group, {len(values): 1.0}, said)
    number = found.ranks(group)
    mine = np.where(given >= 0, number[given], out.labels)
    astray = int((named & (out.labels != mine)).sum())
    doubt = Caution(
        "labels-disagree",
        f"{astray} of {int(named.sum())} samples with a label are carried to the attractor of another one; they keep theirs.",
    )
    return replace(out, labels=mine, warnings=out.warnings + ((doubt,) if astray else ()))
