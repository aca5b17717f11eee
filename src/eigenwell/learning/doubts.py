"""What is unusual about the data of a field, and about what was learned from them: values, not prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._types import FloatArray
from ..demonstrations import Caution
from ..fields import Field
from ..fields.fit import GOOD, Fit
from ..fields.loops import run_loops
from ..wording import plural
from .crossing import Crossing
from .targets import Bundle, travel_times

LOOPS, LOOP_STEPS = 20, 20_000
"""A short test of what `certificate` tests at length."""

Motions = Sequence[Sequence[tuple[FloatArray, FloatArray]]]
"""For every attractor its paths, each (x, v) in order of time."""


def about_data(bundle: Bundle, name: str = "The motion") -> list[Caution]:
    """What is unusual about the data of one attractor."""
    count, dimension = len(bundle.x), bundle.dimension
    low, high = np.min([x.min(0) for x in bundle.x], axis=0), np.max([x.max(0) for x in bundle.x], axis=0)
    outside = np.maximum(low - bundle.attractor, bundle.attractor - high).max()
    gap = np.median([np.linalg.norm(x[-1] - bundle.attractor) for x in bundle.x])
    few = (
        f"{name} has {plural(count, 'trajectory', 'trajectories')} in {dimension} dimensions; with fewer than {dimension + 1} "
        "the field is stable but says little away from them."
    )
    beyond = f"The attractor of {name.lower()} lies {outside:.0%} of the box outside the data."
    short = f"The trajectories of {name.lower()} end {gap:.0%} of the box away from their attractor."
    found = [
        (count < dimension + 1, "few-trajectories", few),
        (outside > 0.05, "attractor-outside", beyond),
        (gap > 0.1, "unfinished", short),
    ]
    return [Caution(what, words) for so, what, words in found if so]


def about_crossings(found: Sequence[Crossing], memory: bool) -> list[Caution]:
    """Which sub-dynamics cross, where, how much, and what to call."""
    cautions = []
    for one in found:
        place = ", ".join(f"{c:.3g}" for c in one.place)
        if one.first == one.second:
            who, remedy = f"Sub-dynamics {one.first} crosses itself", ""
        else:
            who = f"Sub-dynamics {one.first} and {one.second} cross"
            remedy = f"field.toward({one.first}) follows one of them to its goal, or "
        remedy += (
            "field.motion(x0) follows what was shown." if memory else "learn(..., memory=True) follows what was shown."
        )
        cautions.append(
            Caution(
                "crossing",
                f"{who} around ({place}): {one.share:.1%} of its way meets another that goes elsewhere. The map "
                f"takes a middle way there; {remedy}",
            )
        )
    return cautions


def about_cycles(kinds: Sequence[str]) -> list[Caution]:
    """Sub-dynamics that no field at rest can follow."""
    cycles = ", ".join(str(q) for q, kind in enumerate(kinds) if kind == "cycle")
    words = (
        f"Sub-dynamics {cycles} go round for ever and are not learned: the field has the points alone, and states on a cycle "
        "end at one of them."
    )
    return [Caution("cycles-left-out", words)] if cycles else []


def about_repeats(motions: Motions) -> list[Caution]:
    """Trajectories that are given several times."""
    paths = [np.ascontiguousarray(x).tobytes() for motion in motions for x, _ in motion]
    more = len(paths) - len(set(paths))
    return (
        [Caution("duplicated-trajectory", f"{more} of {len(paths)} trajectories repeat another one.")] if more else []
    )


def about_loops(field: Field, motions: Motions, seed: int = 0) -> list[Caution]:
    """A field on which the plain loop x += dt * predict(x) fails, at the rate of its own data, says so."""
    steps = [np.diff(travel_times(np.asarray(x), np.asarray(v))) for paths in motions for x, v in paths]
    rate = 1 / float(np.median(np.concatenate(steps)))
    low, high = field.samples.min(0), field.samples.max(0)
    starts = np.random.default_rng(seed).uniform(low, high, (LOOPS, field.dimension))
    (loop,) = run_loops(field, starts, rate, np.ones(LOOPS), most=LOOP_STEPS)
    if loop.arrived == 1.0:
        return []
    return [
        Caution(
            "loop-fails",
            f"A loop on predict at the rate of the data, {rate:.3g} steps per unit of time, arrives from {loop.arrived:.0%} of "
            f"{LOOPS} starts. Use smaller steps, or field.advance; see field.certificate().",
        )
    ]


def about_fit(fit: Fit) -> list[Caution]:
    """A field that is stable and does not follow its data says so."""
    if fit.good:
        return []
    missed = [one for one in fit.demonstrations if not one.arrives or one.distance > GOOD]
    names = ", ".join(one.name for one in missed[:5]) + (", ..." if len(missed) > 5 else "")
    wrong = sum(not one.arrives for one in missed)
    ends = f"; {wrong} end at another attractor than their own" if wrong else ""
    return [
        Caution(
            "poor-fit",
            f"The {fit.by} does not follow {len(missed)} of {len(fit.demonstrations)} demonstrations to within {GOOD:.0%} "
            f"of the extent ({names}; worst {fit.worst.distance:.0%}){ends}. It is stable all the same. See field.fit.",
        )
    ]
