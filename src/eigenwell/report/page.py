"""The page: the answer in words, the figures, the certificate, and how it was made."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from ..demonstrations import Caution, Demonstrations
from ..fields import Certificate
from ..identification import Identification
from ..palette import DARK, LIGHT
from ..wording import plural
from .markup import dot, table
from .provenance import provenance
from .traces import Section
from .verdict import headline, verdict
from .wording import quantity, remedy, surety, words

_PACKAGES = ("numpy", "scipy", "jax", "plotly")
_MOST_COORDINATES = 4


def page(
    demos: Demonstrations,
    found: Identification,
    figures: Sequence[Section],
    plotly: str,
    *,
    title: str,
    command: str | None,
    certificate: Certificate | None,
    warnings: Sequence[Caution],
    live: str = "",
) -> str:
    sections = [_answer(demos, found, title, warnings, certificate), live, *map(_section, figures)]
    links = [("live", "Field")] if live else []
    links += [(figure.name, figure.title) for figure in figures]
    if certificate is not None:
        sections.append(verdict(certificate))
        links.append(("certificate", "Certificate"))
    short = {name: name.capitalize() for name in ("samples", "graph", "spectrum", "embeddings")}
    short |= {"attractors": f"{words().attractor.capitalize()}s", "lifted": "Memory"}
    navigation = "".join(
        f'<a href="#at-{name}">{escape(short.get(name, text.split()[-1].title()))}</a>' for name, text in links
    )
    return Template(_resource("page.html")).substitute(
        title=escape(title),
        style=_resource("style.css"),
        navigation=navigation,
        body="\n".join(sections),
        provenance=provenance(_PACKAGES, command),
        plotly=plotly,
        figures=_embedded([{"id": f"{f.name}-{k}", **vars(plot)} for f in figures for k, plot in enumerate(f.plots)]),
        palettes=_embedded({theme.name: asdict(theme) for theme in (LIGHT, DARK)}),
        draw=_resource("draw.js"),
        attractor=words().attractor,
        first=words().first,
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _embedded(value: Any) -> str:
    """JSON inside a script element: `</script>` must not end it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _answer(
    demos: Demonstrations,
    found: Identification,
    title: str,
    warnings: Sequence[Caution],
    certificate: Certificate | None,
) -> str:
    kind = "unordered samples"
    if demos.n_trajectories is not None:
        kind = f"samples in {plural(demos.n_trajectories, 'trajectory', 'trajectories')}"
    names = dict.fromkeys(caution.name for caution in warnings)
    doubts = "".join(_doubt([caution for caution in warnings if caution.name == name]) for name in names)
    below = f'<ul class="doubts">{doubts}</ul>' if doubts else '<p class="none">No warnings.</p>'
    why = ""
    if found.grouping is not None:
        low, high = found.grouping.low, found.grouping.high
        why = f"Ends that belong together lie within {low:.3g}"
        why += f", and the places are {high:.3g} or more apart." if found.n_attractors > 1 else "."
        if found.alternatives:
            others = ", ".join(f"{a.n_attractors} ({_percent(a.confidence)})" for a in found.alternatives[:3])
            why += f" Other readings: {others}."
    often = ", ".join(f"{q} in {share:.0%}" for q, share in (found.counts or {}).items())
    if found.kind == "snapshots":
        kind = f"velocities at scattered places ({found.evidence})"
        why = f"Number of {words().attractor}s in fields that fit re-weighted samples as well: {often}."
    if found.kind == "graph":
        why = "Components of a graph without paths; nothing says how sure their number is."
        if often:
            why = f"Number of components of the kernel graph with settings near the given ones: {often}."
    if found.arrived.min(initial=1.0) < 0.8:
        worst = int(found.arrived.argmin())
        why += f" At {words().one(worst)} the slowest path still moves at {1 - found.arrived[worst]:.0%} of its speed."
    sure = f"Confidence {_percent(found.confidence)}: {surety(found.confidence)}."
    if math.isnan(found.confidence):
        sure = "Confidence unknown."
    return f"""<section id="answer" style="margin-top:0">
<h1>{plural(found.n_attractors, words().attractor)}</h1>
<p class="sure"><b>{sure}</b> {why}</p>
{"" if certificate is None else headline(certificate)}
<p class="source">{escape(title)}: {demos.n_samples:,} {kind}, {demos.dimension} dimensions</p>
<div class="scroll" style="margin-top:1.5rem">{_places(demos, found)}</div>
{below}
</section>"""


def _percent(confidence: float) -> str:
    """Never 100 %: no grouping of a handful of ends is beyond doubt."""
    return "above 99 %" if confidence > 0.99 else f"{100 * confidence:.0f} %"


def _places(demos: Demonstrations, found: Identification) -> str:
    d, extents = demos.dimension, np.ptp(demos.x, axis=0)
    names, shown = [f"x<sub>{i + 1}</sub>" for i in range(d)], min(d, _MOST_COORDINATES)
    given = zip(found.attractors, found.uncertainty, strict=True)
    places = [[quantity(*one) for one in zip(place, error, extents, strict=True)] for place, error in given]
    paths = [[str(count)] if found.has_paths else [] for count in found.paths_per_attractor]
    counts = [[*of, f"{count:,}"] for of, count in zip(paths, found.samples_per_attractor, strict=True)]
    rows = [(f"{dot(q)}{q + words().first}", *places[q][:shown], *counts[q]) for q in range(found.n_attractors)]
    places_table = table((words().attractor, *names[:shown], *(["paths"] if found.has_paths else []), "samples"), rows)
    if shown == d:
        return places_table
    every = table(
        ("", *(words().one(q) for q in range(len(places)))), [(names[i], *(p[i] for p in places)) for i in range(d)]
    )
    return f"{places_table}<details><summary>All {d} coordinates</summary>{every}</details>"


def _doubt(cautions: Sequence[Caution]) -> str:
    """All that is said under one name, in one place."""
    name, todo = cautions[0].name.replace("-", " ").capitalize(), remedy(cautions[0])
    said = " ".join(words().said(caution.message) for caution in cautions)
    return f'<li><b>{escape(name)}.</b> {escape(said)} <span class="do">{escape(todo)}</span></li>'


def _section(figure: Section) -> str:
    several = len(figure.plots) > 1
    plots = "".join(
        f'<div class="panel">{f"<h3>{escape(plot.title)}</h3>" if several else ""}'
        f'<div class="plot" id="{figure.name}-{k}" style="height:{plot.height}px"></div></div>'
        for k, plot in enumerate(figure.plots)
    )
    return f"""<section id="at-{figure.name}">
<h2>{escape(figure.title)}</h2>
<p class="caption">{escape(figure.caption)}</p>
<div class="{"panels" if several else ""}">{plots}</div>
</section>"""
