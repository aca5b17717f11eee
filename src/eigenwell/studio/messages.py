"""Sentences for the page: why so many attractors, what the certificate says, and the Python lines that do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..demonstrations import Caution
from ..fields import Certificate, Field
from ..fields.fit import GOOD
from ..identification import Identification
from ..report.wording import Words, remedy
from ..wording import plural
from .protocol import Options

if TYPE_CHECKING:
    from .identify import KernelSettings

REMEMBERS = "So particles remember their goal, and how far along they are."
NEVER_RESTS = (
    "A goal is where a motion comes to rest. What goes round and round has none, until you say where it should stop."
)
PIXEL = 1e-3
"""Of a drawing: what is nearer on a screen is the same place."""
CLOSE = 0.2
"""Another number this likely makes the answer a close call."""


def why(found: Identification, options: Options) -> str:
    """One or two sentences: what was counted, and what would have to change for another answer."""
    grouping, count = found.grouping, found.n_attractors
    if found.kind == "snapshots":
        return _why_flow(found)
    if grouping is None:
        parts = "one connected part" if count == 1 else f"{count} separate parts"
        return (
            f"The kernel graph falls into {parts}, and every part counts as one goal. "
            "Move the sliders: the number changes with sigma, theta_r and eps, and nothing says which is right."
        )
    ends = len(grouping.group)
    if options.order == "unordered":
        begin = f"From samples without order, {plural(ends, 'path')} could be pieced together, and end at "
    else:
        begin = f"{plural(ends, 'stroke')} {'ends' if ends == 1 else 'end'} at "
    begin += "one place." if count == 1 else f"{count} places."
    if ends == 1:
        return f"{begin} One stroke alone cannot show whether others would end there too; draw more."
    if count == ends:
        return f"{begin} Every one has its own: no two ends lie within {grouping.high:.2g} of each other. Draw more to each."
    if grouping.rival is not None and grouping.rival.probability > CLOSE:
        return (
            f"{begin} But that is a close call: {plural(grouping.rival.n_groups, 'place')} would explain the ends almost as "
            "well. Draw to the same spot, and slow down before you lift."
        )
    spot = f"within {grouping.low:.2g}" if grouping.low > PIXEL * np.ptp(found.demos.x) else "at the very same spot"
    apart = "and no end lies outside" if count == 1 else f"and the places are {grouping.high:.2g} or more apart"
    return f"{begin} Ends that belong together lie {spot}, {apart}."


def _why_flow(found: Identification) -> str:
    """Of samples from a brush, which are on no path."""
    share = f"{100 * found.confidence:.0f} % of the flows that fit them as well"
    if found.n_attractors == 0:
        return "The flow of these samples comes to rest nowhere among them. Spray towards a place from all sides."
    places = "one place" if found.n_attractors == 1 else f"{found.n_attractors} places"
    left = int((found.labels < 0).sum())
    out = f" {plural(left, 'sample')} {'is' if left == 1 else 'are'} carried out of the picture." if left else ""
    return f"Every sample is carried along the flow that all of them show. It comes to rest at {places}, and so do {share}.{out}"


def telling(found: Identification) -> bool:
    """Whether its confidence means something: some goal was drawn to twice, so that ends could be compared.

    How widely a graph of the sliders' falls apart says nothing about whether it is the right graph.
    """
    return found.kind == "snapshots" or (found.grouping is not None and len(found.grouping.group) > found.n_attractors)


def unsure(found: Identification) -> str:
    """In place of it, where no confidence means anything yet."""
    return "as the sliders have it" if found.kind == "graph" else "too early to say how sure"


def where_to_stop(numbers: Sequence[int], count: int) -> str:
    """The question about strokes that go round, by their numbers."""
    if len(numbers) == 1:
        which = "This" if count == 1 else f"Stroke {numbers[0]}"
        return f"{which} goes round and never rests. Where should it stop?"
    which = "These strokes" if len(numbers) == count else f"Strokes {', '.join(map(str, numbers))}"
    return f"{which} go round and never rest. Where should they stop?"


CERTIFIED, RATES = 20, (100.0,)
"""Starts put to the test for the certificate, at the rate of a usual controller: a second, or a few."""


def certified(field: Field) -> dict[str, Any]:
    """Put to the test, and what came of it."""
    certificate = field.certificate(samples=CERTIFIED, rates=RATES)
    return {"holds": certificate.holds, "words": tested(certificate)}


def tested(certificate: Certificate) -> str:
    """What was put to the test, and what came of it."""
    starts = f"{sum(loop.starts for loop in certificate.loops):,} starts in and around the drawn area"
    tried = f"ut to the test from {starts}, a hundred steps a second: "
    if not certificate.holds:
        found = "; ".join(_PLAINLY[one.name](certificate) for one in certificate.verdicts if not one.holds)
        return f"P{tried}{found}. Draw smoother strokes, or more of them."
    goals, between = len(certificate.attractors), len(certificate.saddles)
    whom = {1: "the goal", 2: "both goals"}.get(goals, f"all {goals} goals")
    still = (
        f" Besides, it stands still at {plural(between, 'place')} on the borders, and nowhere else." if between else ""
    )
    return (
        f"Stable at {whom}, by construction. P{tried}every one arrived where its colour says, always downhill.{still}"
    )


def _arrived(certificate: Certificate) -> str:
    return f"{100 * min(loop.arrived for loop in certificate.ran):.0f} % of the particles arrived"


# What a test found, for somebody who drew; the report has the numbers.
_PLAINLY: dict[str, Callable[[Certificate], str]] = {
    "stable": lambda _: "at some place the flow changes too abruptly to be sure of it",
    "arrives": _arrived,
    "where basin said": lambda _: "some particles ended at another goal than their colour said",
    "stays home": lambda _: "some particles run far out of the picture before they come back",
    "follows": lambda _: "it does not follow all of your strokes",
}


def remembering(field: Field) -> str | None:
    """Why particles do; None where they follow the map."""
    if not field.by_motion:
        return None
    if any(caution.name == "crossing" for caution in field.warnings):
        return f"Strokes cross, and one map cannot point two ways. {REMEMBERS}"
    return f"Without a memory particles would not follow these strokes as well. {REMEMBERS}"


def followed(field: Field, strokes: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """How well particles follow the strokes: good or not, a share, a headline and words that name the worst stroke."""
    fit = field.fit
    assert fit is not None
    # A way to another attractor is no following at all.
    share = float(np.mean([max(0.0, 1 - one.distance) if one.arrives else 0.0 for one in fit.demonstrations]))
    worst = fit.worst
    number = strokes[fit.demonstrations.index(worst)][1] if strokes else 1
    alone = len(strokes) == 1
    them, how = ("it", "from its start") if alone else ("them", "from their starts")
    how += "" if fit.by == "map" else ", each remembering how far along it is"
    aside = f"{100 * worst.distance:.1f} % of the drawing's size beside it"
    if not strokes:
        what = "the paths are those that the samples were threaded on"
    elif worst.arrives:
        what = f"they run {aside}" if alone else f"stroke {number} least: {aside}"
    else:
        what = "they end at another goal" if alone else f"stroke {number} worst of all: it ends at another goal"
    if fit.good:
        mine = "your stroke" if alone else "your strokes" if strokes else "the samples"
        head, words = f"Follows {mine}: {100 * share:.0f} %.", f"Particles follow {them} {how}; {what}."
    else:
        missed = sum(not one.arrives or one.distance > GOOD for one in fit.demonstrations)
        of = f"{missed} of {plural(len(fit.demonstrations), 'stroke' if strokes else 'path')}"
        head = f"Does not follow {'your stroke' if alone else of}."
        words = f"Particles follow {them} to {100 * share:.0f} %, {how}; {what}."
    return {"good": fit.good, "share": round(share, 4), "head": head, "words": words}


def python_lines(options: Options, kernel: KernelSettings, recipe: str, scattered: bool = False) -> str:
    """The same in Python, from the CSV file that the studio hands out."""
    lines = ["import eigenwell as ew", "", 'demos = ew.files.read("eigenwell-strokes.csv")']
    if options.graph == "kernel":
        settings = ", ".join(f"{name}={getattr(kernel, name)!r}" for name in ("theta_r", "sigma_f", "eps", "sigma"))
        some = f"demos = demos.take(range(0, demos.n_samples, {kernel.every}))  # a kernel graph of all is slow"
        lines += [some] if kernel.every > 1 else []
        lines += [
            f"graph = ew.spectral.KernelGraph({settings})",
            "found = ew.identify(demos, graph=graph)",
            "print(found)",
        ]
        return "\n".join([*lines, "# A kernel graph has no paths to learn from: ew.identify(demos) finds them.", ""])
    unordered = "demos.x, demos.v, graph=ew.SuccessorGraph())  # the order is not used"
    asked = unordered if options.order == "unordered" else "demos)"
    return (
        "\n".join(lines)
        + f"""
found = ew.identify({"demos, graph=ew.FlowGraph(replicates=20))" if scattered else asked}
print(found)

from eigenwell.learning import Recipe

field = ew.learn(found, recipe=Recipe({recipe}))
path = field.simulate(demos.x[0], duration=5.0)
field.save("eigenwell-model.eigenwell")
"""
    )


# --- doubts -------------------------------------------------------------------------------------------

# True of every drawing, or said by the certificate, and no news to whoever drew it.
_UNREMARKABLE = {
    "velocities-estimated", "duplicated-samples", "repeated-stamps", "velocity-scale", "mixed-units", "dependent-velocities",
    "fewer-dimensions", "kind-in-doubt", "empty-nodes", "misfit", "loop-fails",
}  # fmt: skip
# Where the library's sentence speaks of recordings, the page speaks of strokes.
_DRAWN = {
    "few-trajectories": "A goal has fewer than three strokes. One more shows the flow more of the ways there.",
    "ends-not-at-rest": "Some strokes seem to be moving where they end. Slow down before you lift the pen.",
    "jumps": "A stroke jumps: the pointer lost contact on its way. Delete that stroke and draw it again.",
    "crossing": "Strokes run across each other at some places. A map has one direction at each place, so that the learned one "
    "takes a middle way there; draw them apart, and it can follow all.",
    "poor-fit": "Particles do not follow some strokes. Draw those more smoothly, or closer to others that go to the same place.",
    "unassigned-samples": "Some samples hang together with too few others to tell where they belong; those parts of strokes are "
    "dashed. Known order and the paths lose none.",
    "broken-paths": "Some paths that were pieced together break off in motion and are left out. With known order there is "
    "nothing to piece together.",
    "closed-orbit": "A stroke comes back to its own track at full speed: such a motion never rests. Stop it at a goal, "
    "or delete it.",
    "two-candidates": "Two numbers of goals explain almost equally well where the strokes end. Draw some more to each goal.",
    "duplicated-trajectory": "A stroke repeats another one and counts twice; delete one of them.",
    "attractor-outside": "A goal lies outside the strokes that lead to it. Draw them up to where they should end.",
    "short-trajectory": "A stroke is so short that it says little about the way. Draw it longer, or delete it.",
    "unfinished": "Strokes end away from the goal they belong to. Draw them up to it, or delete them.",
    "training-unsound": "Learning met numbers that are not finite and left those steps out. Learn again, or draw more simply.",
    "cycles-left-out": "Some strokes go round and round. No goal can stand for them, and they are left out.",
    "samples-unknown": "This model came without the strokes it was learned from.",
    "constant-dimension": "All strokes run along one axis; draw across it too.",
    "labels-in-doubt": "Which goal some strokes belong to is not certain. Draw them up to it.",
    "recording-ends-alone": "A stroke ends by itself, away from the others. Draw more to that place, or draw it up to a goal.",
    "recording-breaks-off": "A stroke stops in full motion. Draw it to where it should end, and slow down before you lift.",
    "recording-ends-well-away-from-the-others-of-its-goal": "A stroke ends well away from its goal. Draw it up to it.",
    "recording-ends-where-no-other-does": "A stroke ends where no other does. Draw more to that place, or draw it up to a goal.",
    "recording-runs-backwards": "A stroke begins where others end: it runs backwards. Draw it the other way.",
    "recording-repeats-another": "A stroke repeats another one and counts twice; delete one of them.",
    "bounded": "There is too much to look at all of it; some was left out.",
    "too-thin": "The samples lie far apart, and what the flow does between them is a guess. Spray more of them.",
    "labels-disagree": "Some samples are carried to another goal than the one they were given.",
    "unrelated": "Velocities of neighbours have nothing to do with each other. Spray along the flow you have in mind.",
    "reversed": "Most samples run away from each other: they look as if they were drawn backwards.",
    "leaving": "Some samples are carried out of the picture, and end nowhere in it.",
    "wandering": "Some samples settle nowhere: the flow that they show goes round, or stands still.",
    "number-in-doubt": "Flows that fit the samples as well rest at other numbers of places. Spray more, towards the goals.",
    "at-the-edge": "A goal lies at the edge of what you sprayed. Spray around it, from all sides.",
    "still": "Nothing moves in one direction of what you sprayed, and the flow there is a guess.",
    "cycles-in-doubt": "Whether some of it goes round for ever or comes to rest cannot be told. Spray more, where it turns.",
    "no-attractor": "Nothing attracts: every sample leaves the picture. Spray towards a place from all sides.",
}
# Whatever else is odd about one of several.
_ODD = "One stroke is unlike the others. Draw it again, or delete it."
_WORDS = Words("goal", "stroke", 1)


def doubts(cautions: Sequence[Caution], goals: int = 0, early: bool = False) -> list[dict[str, str]]:
    """Warnings for somebody who drew; each with its name, and a remedy where there is one.

    With one goal there is but one to belong to; `early`: that more strokes are wanted was just said, and is no fault of any.
    """
    untold = {"labels-in-doubt" if goals == 1 else "", "few-trajectories" if early else ""}
    said: dict[str, str] = {}
    for caution in cautions:
        if caution.name in untold:
            continue
        if caution.name not in _UNREMARKABLE and caution.name not in said:
            other = _ODD if caution.name.startswith("recording-") else f"{caution.message} {remedy(caution)}".strip()
            said[caution.name] = _DRAWN.get(caution.name, _WORDS.said(other))
    return [{"name": name, "text": text} for name, text in said.items()]
