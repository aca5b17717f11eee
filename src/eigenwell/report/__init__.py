"""One self-contained HTML page from an identification, and a learned field where there is one.

>>> import eigenwell as ew
>>> demos = ew.systems.heart.sample(seed=0)
>>> ew.report.write_report("heart.html", demos, ew.identify(demos))    # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import Any

from ..demonstrations import Demonstrations
from ..errors import missing_extra
from ..files import replacing
from ..identification import Identification
from .close_ups import close_ups
from .field_figures import learned
from .figures import embeddings, fates, graph, samples, spectrum
from .page import page

__all__ = ["report", "write_report"]

CERTIFIED, RATES = 40, (100.0,)
"""Starts and control rates put to the test for the page; `eigenwell certify` takes more, and more time."""


def report(
    demos: Demonstrations,
    found: Identification,
    field: Any = None,
    *,
    title: str = "Demonstrations",
    command: str | None = None,
) -> str:
    """The page as text: the answer first, then the plots, then how it was made. Reads offline."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise missing_extra("The report", "plotly", "report") from error
    figures = [samples(demos, found), fates(demos, found)]
    if found.n_attractors:
        figures += [graph(demos, found), spectrum(found), embeddings(found), close_ups(demos, found)]
    warnings, certificate = found.warnings, None
    if field is not None:
        figures += learned(demos, found, field)
        warnings = tuple(dict.fromkeys((*found.warnings, *field.warnings)))
        certificate = field.certificate(samples=CERTIFIED, rates=RATES)
    return page(
        demos,
        found,
        [figure for figure in figures if figure is not None],
        get_plotlyjs(),
        title=title,
        command=command,
        certificate=certificate,
        warnings=warnings,
    )


def write_report(
    path: str | os.PathLike[str],
    demos: Demonstrations,
    found: Identification,
    field: Any = None,
    *,
    title: str = "Demonstrations",
    command: str | None = None,
) -> None:
    """Write the page to `path`, whole or not at all."""
    text = report(demos, found, field, title=title, command=command)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
