"""One self-contained HTML page from an identification, and a learned field where there is one.

>>> import eigenwell as ew
>>> demos = ew.systems.heart.sample(seed=0)
>>> ew.report.write_report("heart.html", ew.identify(demos))    # doctest: +SKIP
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from ..demonstrations import DataError, Demonstrations
from ..errors import missing_extra
from ..files import replacing
from ..progress import Progress, told
from ..results import Identification
from .close_ups import close_ups
from .field_figures import learned
from .figures import embeddings, fates, graph, samples, spectrum
from .live import section
from .page import page
from .wording import PLAIN, Words, written_in

__all__ = ["Words", "report", "write_report"]

CERTIFIED, RATES = 40, (100.0,)
"""Starts and control rates put to the test for the page; `eigenwell certify` takes more, and more time."""


def report(
    data: Any,
    found: Any = None,
    field: Any = None,
    *,
    title: str = "Demonstrations",
    command: str | None = None,
    progress: bool | Progress = False,
    words: Words = PLAIN,
) -> str:
    """The page as text: the answer first, then the plots, then how it was made. Reads offline.

    `report(found)`, `report(found, field)` for what was also learned, or `report(demos, found, field)`.

    Parameters
    ----------
    data : Identification, DistributedIdentification or Demonstrations
        What identify() found, which holds its data; or the data, and then what was found in them.
    found, field
        Identification and Field, in this order, as far as they are not given before.
    title : str
        Above the page.
    command : str, optional
        The command that makes the page again.
    progress : bool or callable
        True prints how far it is; a function is called as progress(stage, done, total).
    words : Words
        What attractors are called, and the number of the first; as in Python by default.

    Returns
    -------
    str
        HTML with everything it needs.

    Raises
    ------
    MissingExtra
        When plotly is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ew.report.report(found)[:15]
    '<!doctype html>'
    """
    demos, found, field = _given(data, found, field)
    if (
        found.kind == "snapshots"
    ):  # nobody demonstrated anything: what is followed are paths on which samples were strung
        words = replace(words, demonstration="thread")
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise missing_extra("The report", "plotly", "report") from error
    with written_in(words):
        figures = [samples(demos, found), fates(demos, found)]
        if found.n_attractors:
            figures += [graph(demos, found), spectrum(found), embeddings(found), close_ups(demos, found)]
        warnings, certificate, live = found.warnings, None, ""
        if field is not None:
            # What was learned first: it is what people look for.
            figures = [*learned(demos, found, field), *figures]
            warnings = tuple(dict.fromkeys((*found.warnings, *field.warnings)))
            live = section(found, field) if field.dimension == 2 else ""
            with told(progress):
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
            live=live,
        )


def write_report(
    path: str | os.PathLike[str],
    data: Any,
    found: Any = None,
    field: Any = None,
    *,
    title: str = "Demonstrations",
    command: str | None = None,
    progress: bool | Progress = False,
    words: Words = PLAIN,
) -> None:
    """Write the page of `report` to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file, for example "heart.html".
    data, found, field, title, command, progress, words
        As for `report`.

    Raises
    ------
    MissingExtra
        When plotly is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    >>> ew.report.write_report("heart.html", found)  # doctest: +SKIP
    """
    text = report(data, found, field, title=title, command=command, progress=progress, words=words)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _given(data: Any, found: Any, field: Any) -> tuple[Demonstrations, Identification, Any]:
    """(demos, found, field) from `(found)`, `(found, field)` or `(demos, found, field)`."""
    if hasattr(data, "in_memory"):
        if field is not None:
            raise DataError("Expected report(found, field), got a third argument besides. Leave it out.")
        one = data.in_memory()
        return one.demos, one, found
    if not hasattr(found, "in_memory"):
        raise DataError(f"Expected what identify() found, got {type(found).__name__}. Call report(found).")
    return Demonstrations.of(data), found.in_memory(), field
