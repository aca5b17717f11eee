"""Doubts for somebody who drew: every caution of the library in the studio's words, or none where it is no news."""

from __future__ import annotations

from collections.abc import Sequence

from ..demonstrations import Caution
from ..report.wording import Words, remedy

# True of every drawing, and no news to whoever drew it.
_UNREMARKABLE = {
    "velocities-estimated", "duplicated-samples", "repeated-stamps", "velocity-scale", "mixed-units", "dependent-velocities",
    "fewer-dimensions", "kind-in-doubt", "empty-nodes", "misfit",
}  # fmt: skip
# Where the library's sentence speaks of recordings, the page speaks of strokes.
_DRAWN = {
    "few-trajectories": "Fewer than three strokes lead to some goal. One more shows the flow more of the ways there.",
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
    "loop-fails": "Followed in steps as coarse as the pen's events, some particles overshoot. A hundred steps a second are "
    "enough, and that is what the certificate tests.",
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


def doubts(cautions: Sequence[Caution], goals: int = 0) -> list[dict[str, str]]:
    """Warnings for somebody who drew; each with its name, and a remedy where there is one."""
    said: dict[str, str] = {}
    for caution in cautions:
        if caution.name == "labels-in-doubt" and goals == 1:
            continue  # there is but one goal to belong to
        if caution.name not in _UNREMARKABLE and caution.name not in said:
            other = _ODD if caution.name.startswith("recording-") else f"{caution.message} {remedy(caution)}".strip()
            said[caution.name] = _DRAWN.get(caution.name, _WORDS.said(other))
    return [{"name": name, "text": text} for name, text in said.items()]
