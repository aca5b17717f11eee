"""Sentences for the page: why so many attractors, what the certificate says, and the Python lines that do the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..demonstrations import Caution
from ..fields import Certificate
from ..identification import Identification
from ..report.wording import plural, remedy
from .protocol import Options

if TYPE_CHECKING:
    from .finding import KernelSettings

# True of every drawing, and no news to whoever drew it.
_UNREMARKABLE = {"velocities-estimated", "duplicated-samples"}
# Where the library's sentence speaks of recordings, the page speaks of strokes.
_DRAWN = {
    "few-trajectories": "Fewer than three strokes end at some attractor; draw another one there, and the picture gets surer.",
    "ends-not-at-rest": "Some strokes seem to be moving where they end. Slow down before you lift the pen.",
    "jumps": "A stroke jumps: the pointer lost contact on its way. Delete that stroke and draw it again.",
    "crossing": "Strokes to one attractor run against each other at some places. A field has one direction at each place, so "
    "that the learned one takes a middle way there; draw them apart, and it can follow all.",
    "unassigned-samples": "Some samples hang together with too few others to tell where they belong; those parts of strokes are "
    "dashed. Known order and the paths lose none.",
    "broken-paths": "Some paths that were pieced together break off in motion and are left out. With known order there is "
    "nothing to piece together.",
    "closed-orbit": "A stroke comes back to its own track at full speed: such a motion never rests. Stop it at a goal, "
    "or delete it.",
    "two-candidates": "Two numbers of attractors explain almost equally well where the strokes end. Draw some more to each goal.",
    "duplicated-trajectory": "A stroke repeats another one and counts twice; delete one of them.",
    "constant-dimension": "All strokes run along one axis; draw across it too.",
}
CLOSE = 1.5
"""A limit that may move by less than this factor is drawn where it happens to be, and not in a gap."""
# The library counts sub-dynamics from 0, the page counts attractors from 1.
_COUNTED = re.compile(r"([Ss])ub-dynamics (\d+)")


def why(found: Identification, options: Options) -> str:
    """One or two sentences: what was counted, and what would have to change for another answer."""
    grouping, count = found.grouping, found.n_attractors
    if grouping is None:
        parts = "one connected part" if count == 1 else f"{count} separate parts"
        return (
            f"The kernel graph falls into {parts}, and every part counts as one attractor. "
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
    if grouping.high < CLOSE * grouping.low:
        return (
            f"{begin} But that is a close call: ends up to {grouping.low:.2g} apart count as one place, and with a slightly "
            "different limit the number would change. Draw to the same spot, and slow down before you lift."
        )
    apart = "and no end lies outside" if count == 1 else f"and the places are {grouping.high:.2g} or more apart"
    room = f"{float(f'{grouping.high / grouping.low:.2g}'):g}"
    return (
        f"{begin} Ends that belong together lie within {grouping.low:.2g}, {apart}; the limit between them could move by a "
        f"factor of {room} without changing the number."
    )


def doubts(cautions: Sequence[Caution]) -> list[dict[str, str]]:
    """Warnings for somebody who drew; each with its name, and a remedy where there is one."""
    said: dict[str, str] = {}
    for caution in cautions:
        if caution.name not in _UNREMARKABLE and caution.name not in said:
            text = _DRAWN.get(caution.name) or f"{caution.message} {remedy(caution)}".strip()
            said[caution.name] = _COUNTED.sub(
                lambda match: f"{'B' if match[1] == 'S' else 'b'}undle {int(match[2]) + 1}", text
            )
    return [{"name": name, "text": text} for name, text in said.items()]


def certified(certificates: Sequence[Certificate], attractors: int) -> str:
    """What was put to the test, and what came of it; the first few attractors where the test took long."""
    held, count = sum(c.holds for c in certificates), len(certificates)
    states = sum(c.samples for c in certificates)
    if count < attractors and held == count:
        return (
            f"Stable at all {attractors} attractors, by construction. Put to the test at {count} of them, because it takes "
            "long for strokes as wild as these: every start arrived."
        )
    if held == count:
        whom = {1: "the attractor", 2: "both attractors"}.get(count, f"all {count} attractors")
        return (
            f"Stable at {whom}, by construction. Put to the test from {states:,} starts in three times the drawn area: every "
            "one arrived, and the potential fell at every step."
        )
    arrived, fell = min(c.converged for c in certificates), min(c.monotone for c in certificates)
    return (
        f"Stable by construction, but the test has doubts about {count - held} of {plural(count, 'attractor')}: of {states:,} "
        f"starts in three times the drawn area {arrived:.1%} arrived in its time, and the potential fell all the way for "
        f"{fell:.1%}. Draw smoother strokes, or fewer that cross."
    )


def python_lines(options: Options, kernel: KernelSettings, steps: int) -> str:
    """The same in Python, from the CSV file that the studio hands out."""
    lines = ["import eigenwell as ew", "", 'demos = ew.files.read("eigenwell-strokes.csv")']
    if options.graph == "kernel":
        if kernel.every > 1:
            lines.append(
                f"demos = demos.take(range(0, demos.n_samples, {kernel.every}))  # a kernel graph of all is slow"
            )
        settings = ", ".join(f"{name}={getattr(kernel, name)!r}" for name in ("theta_r", "sigma_f", "eps", "sigma"))
        lines += [f"graph = ew.KernelGraph({settings})", "found = ew.identify(demos, graph=graph)", "print(found)"]
        return "\n".join([*lines, "# A kernel graph has no paths to learn from: ew.identify(demos) finds them.", ""])
    if options.order == "unordered":
        lines.append("found = ew.identify(demos.x, demos.v)  # the order is not used")
    else:
        lines.append("found = ew.identify(demos)")
    lines += [
        "print(found)",
        "",
        "from eigenwell.learning import Recipe",
        "",
        f"field = ew.learn(demos, found, recipe=Recipe(steps={steps}))",
        "path = field.simulate(demos.x[0], duration=5.0)",
        'field.save("eigenwell-model")',
        "",
    ]
    return "\n".join(lines)
