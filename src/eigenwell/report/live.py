"""A field that moves in a page of its own: the studio's scripts for one canvas, bundled, and what they show."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import FloatArray
from ..fields import Field
from ..identification import Identification
from .numbers import in_view, of_field
from .wording import words

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MODULES = (
    "palette", "view", "formulas", "warps", "worlds", "waves", "ways", "latent", "model", "regions", "grid", "motions", "field",
    "flow", "backdrop", "particles", "playground", "magnets", "scene", "push", "tips", "valley", "axes", "pen", "mount", "bar",
)  # fmt: skip
"""Of the studio's page, in the order in which they use each other."""
DIGITS = 4
MOST_SAMPLES = 20_000
"""Of strokes that go along; thinned beyond."""


def content(found: Identification, field: Field) -> dict[str, Any]:
    """What a canvas shows of a planar field: its numbers, and the demonstrations as strokes, all of it about [-1, 1]."""
    low, high = found.demos.x.min(axis=0), found.demos.x.max(axis=0)
    middle, half = (low + high) / 2, np.maximum(high - low, 0.02 * (high - low).max()) / 2
    every = max(1, -(-found.demos.n_samples // MOST_SAMPLES))
    if found.kind == "snapshots":  # samples on no path, each with its own fate
        some = slice(None, None, every)
        dots = np.round((found.demos.x[some] - middle) / half, DIGITS)
        strokes = [{"x": dots.tolist(), "q": -1, "dots": found.labels[some].tolist()}]
    else:
        strokes = _strokes(found, middle, half, every)
    units = {"middle": middle.tolist(), "half": half.tolist(), "names": ["x₁", "x₂"]}
    return {"field": in_view(of_field(field), middle, half), "strokes": strokes, "colours": [], "units": units}


def _strokes(found: Identification, middle: FloatArray, half: FloatArray, every: int) -> list[dict[str, Any]]:
    return [
        {"x": np.round((found.demos.x[path[::every]] - middle) / half, DIGITS).tolist(), "q": q}
        for q in range(found.n_attractors)
        for path in (found.paths(q) if found.has_paths else [])
        if len(path) > every
    ]


def section(found: Identification, field: Field) -> str:
    """The field as it moves, for the top of a report."""
    name = words().attractor
    goal = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    if field.by_motion:
        caption = (
            "Particles follow motions with a memory: each carries its phase, the share of its path still to go. Without it the "
            "data would be followed less well; where paths cross there is no one direction."
        )
    else:
        caption = (
            f"Particles follow the field. Along every way its potential falls (level lines) until {goal} is reached."
        )
        if field.n_attractors > 1:
            caption += (
                f" Colours say in which {name} a state ends. Dashed: the separatrices, borders of the basins; diamonds: the "
                "saddles on them."
            )
    return f"""<section id="at-live">
<h2>The learned {"motions" if field.by_motion else "field"}</h2>
<p class="caption">{caption}</p>
<div class="live"><div id="live-bar" class="bar" role="group" aria-label="What is shown, and what is in the way"></div>
<canvas id="live" tabindex="0" role="img" aria-label="The learned flow with the data and particles on their way. Enter
drops a particle, Escape clears them."></canvas>
<p class="note"><span id="live-words" role="status"></span><span id="live-legend" class="legend"></span></p></div>
<script type="application/json" id="live-content">{as_json(content(found, field))}</script>
<script>(() => {{ "use strict";
{bundled("report")}
}})();</script>
</section>"""


def bundled(name: str) -> str:
    """One script of a module in `shared` and all that it uses."""
    studio = files("eigenwell").joinpath("studio")
    folder = {
        one: studio.joinpath("shared" if one in ("axes", "mount", "bar", name) else "page") for one in (*MODULES, name)
    }
    return "\n".join(_module(one, folder[one].joinpath(f"{one}.js")) for one in folder)


def _module(name: str, path: Traversable) -> str:
    """A module as a function of its own, for a page of one file: browsers load no modules from a disk."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', r"const \1 = $\2;", text, flags=re.MULTILINE)
    names = re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, flags=re.MULTILINE)
    text = re.sub(r"^export (?=const|function|class|async)", "", text, flags=re.MULTILINE)
    # What is for readers stays with the source.
    text = re.sub(r"^[ \t]*(//.*|/\*\*(?:(?!\*/)[\s\S])*\*/[ \t]*)\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
    return f"const ${name} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"


def as_json(content: Any) -> str:
    """As a JavaScript value inside a page: no text in it can end the script."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
