"""The items in the order of the paper, one run through them, and the files it leaves.

DIR/index.html, DIR/results.json, DIR/figures/NAME.png and NAME.svg. Each file is written whole or not at all; an item
that fails is named and does not lose the others.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from eigenwell.errors import DataError
from eigenwell.files import CannotWrite, make_folder, replacing
from eigenwell.palette import DARK, LIGHT

from .results import Outcome
from .study import FULL, QUICK, Study

Tell = Callable[[int, int, str], None]
"""Called as tell(items done, items in all, what is being done)."""


@dataclass(frozen=True)
class Item:
    """A table or figure: its name, what it shows, where the paper has it. The module of that name makes it."""

    name: str
    title: str
    place: str

    def make(self, study: Study) -> Outcome:
        outcome: Outcome = import_module(f".{self.name.replace('-', '_')}", __package__).make(study)
        return outcome


ITEMS = (
    Item("toy-graphs", "Toy graphs of three, four and five paths", "Figures of section 3, toy graphs"),
    Item("kernel-contour", "The velocity-augmented kernel on ẋ = x", "Figure of section 4, contour of the kernel"),
    Item("two-attractors", "Two attractors: one embedding for each", "Figures of section 5, toy data set"),
    Item("spectra", "Spectrum for one to four attractors", "Figure of section 5, spectrum analysis"),
    Item("heart", "Example 1: heart", "Figures and table of example 1"),
    Item("pendulum", "Example 2: pendulum", "Figures and table of example 2"),
    Item("duffing", "Example 3: Duffing oscillator", "Figures and table of example 3"),
    Item("drawn", "Example 4: drawn by hand", "Figures and table of example 4"),
    Item("zero-velocity", "Example 4: looking for places of rest", "Figure of the quasi-zero-velocity heuristic"),
    Item("learned-fields", "Learned fields of both sub-dynamics", "Figures of section 7, identity and learned field"),
    Item("training", "Loss and training time", "Figure of section 7, Laplacian embedding against EF"),
    Item("lasa-panel", "LASA: fields, embeddings, potentials", "Figures of section 7, LASA panel and potentials"),
    Item("lasa-metrics", "LASA: metrics", "Table and box plots of section 7"),
    Item("slips", "What we could not reproduce and why", "Formulas and figures that do not hold as printed"),
)


@dataclass(frozen=True, eq=False)
class Done:
    """An item after its turn. `outcome` is None where it was skipped (something is not installed) or failed."""

    item: Item
    outcome: Outcome | None
    status: str
    message: str
    seconds: float
    pictures: dict[str, tuple[bytes, bytes]]
    """Of every figure, png for light and for dark paper."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """One run and where it is.

    Attributes
    ----------
    folder : Path
        With page, figures and numbers.
    study : Study
        Its settings.
    done : tuple of Done
        What came out of every item.
    seconds : float
        How long it took.

    Examples
    --------
    >>> from eigenwell_paper import reproduce
    >>> run = reproduce("paper", quick=True)  # doctest: +SKIP
    >>> run.failed  # doctest: +SKIP
    ()
    """

    folder: Path
    study: Study
    done: tuple[Done, ...]
    seconds: float

    @property
    def failed(self) -> list[str]:
        """Items that ended in an error."""
        return [one.item.name for one in self.done if one.status == "failed"]

    @property
    def skipped(self) -> list[str]:
        """Items whose data or packages are missing."""
        return [one.item.name for one in self.done if one.status == "skipped"]

    @property
    def missed(self) -> list[str]:
        """Checks that do not hold."""
        return [
            f"{one.item.name}: {check.what}"
            for one in self.done
            if one.outcome is not None
            for check in one.outcome.checks
            if not check.holds
        ]


def chosen(only: Sequence[str]) -> tuple[Item, ...]:
    """The items asked for, in the order of the paper; all where none is named."""
    known = [item.name for item in ITEMS]
    unknown = [name for name in only if name not in known]
    if unknown:
        raise DataError(f"Expected names of items, got {', '.join(unknown)}; there are {', '.join(known)}.")
    return tuple(item for item in ITEMS if not only or item.name in only)


def reproduce(
    folder: str | Path,
    *,
    only: Sequence[str] = (),
    quick: bool = False,
    seed: int = 0,
    drawing: str | Path | None = None,
    tell: Tell | None = None,
    command: str | None = None,
) -> Reproduction:
    """Make the items and write page, figures and numbers to `folder`.

    Parameters
    ----------
    folder : str or Path
        Where to write.
    only : sequence of str
        Names of items; all of them where empty.
    quick : bool
        Fewer trials and steps.
    seed : int
        Of everything drawn.
    drawing : str or Path, optional
        Strokes drawn by hand, in place of the scripted ones.
    tell : callable, optional
        Called with a sentence about what is being done.
    command : str, optional
        The command that makes the page again.

    Returns
    -------
    Reproduction

    Raises
    ------
    MissingExtra
        When a package it needs is not installed.

    Examples
    --------
    >>> from eigenwell_paper import reproduce
    >>> reproduce("paper", only=["toy_graphs"], quick=True)  # doctest: +SKIP
    """
    from .page import write_page

    items, target = chosen(only), Path(folder)
    make_folder(target / "figures")
    at = [0]

    def say(what: str) -> None:
        if tell is not None:
            tell(at[0], len(items), what)

    study = Study(QUICK if quick else FULL, seed, None if drawing is None else Path(drawing), say)
    if drawing is not None:
        study.drawn  # noqa: B018  a file that cannot be read is said at once, not after half an hour
    began = time.perf_counter()
    done: list[Done] = []
    for k, item in enumerate(items):
        at[0] = k
        say(item.title)
        done.append(_make(item, study, target))
        # After every item: a run that is cut short loses only what it had not reached.
        result = Reproduction(target, study, tuple(done), time.perf_counter() - began)
        with replacing(target / "results.json") as temporary:
            temporary.write_text(json.dumps(numbers(result), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        write_page(target / "index.html", result, command)
    return result


def _make(item: Item, study: Study, folder: Path) -> Done:
    from .drawing import render

    began = time.perf_counter()
    try:
        outcome = item.make(study)
        study.tell(f"{item.name}: drawing")
        pictures = {}
        for figure in outcome.figures:
            (light, drawn), (dark,) = render(figure, LIGHT, "png", "svg"), render(figure, DARK, "png")
            pictures[figure.name] = light, dark
            for suffix, content in (("png", light), ("svg", drawn)):
                with replacing(folder / "figures" / f"{figure.name}.{suffix}") as temporary:
                    temporary.write_bytes(content)
    except CannotWrite:
        raise
    except ImportError as error:
        return Done(item, None, "skipped", _said(error), time.perf_counter() - began, {})
    except Exception as error:  # the other items are worth more than a traceback
        message = f"{type(error).__name__}: {_said(error)}"
        return Done(item, None, "failed", message, time.perf_counter() - began, {})
    return Done(item, outcome, "done", "", time.perf_counter() - began, pictures)


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def numbers(result: Reproduction) -> dict[str, Any]:
    """results.json: everything but `times` is the same for the same seed."""
    from eigenwell import __version__

    study = result.study
    return {
        "eigenwell": __version__,
        "seed": study.seed,
        "quick": study.effort.quick,
        "drawing": None if study.drawing is None else study.drawing.name,
        "items": {one.item.name: _item(one) for one in result.done},
        "times": {
            "seconds": round(result.seconds, 2),
            "items": {
                one.item.name: {
                    "seconds": round(one.seconds, 2),
                    **({} if one.outcome is None else one.outcome.times),
                }
                for one in result.done
            },
        },
    }


def _item(one: Done) -> dict[str, Any]:
    head = {"title": one.item.title, "place": one.item.place, "status": one.status}
    if one.outcome is None:
        return head | {"message": one.message}
    out = one.outcome
    return head | {
        "verdict": out.verdict,
        "checks": {check.what: check.holds for check in out.checks},
        "settings": _plain(out.settings),
        "tables": {
            table.name: {"columns": list(table.columns), "rows": [[_plain(cell) for cell in row] for row in table.rows]}
            for table in out.tables
        },
        "figures": [f"figures/{figure.name}.png" for figure in out.figures],
    }


def _plain(value: Any) -> Any:
    """JSON has no NaN and no NumPy numbers. Ten digits: the last bits of a sum depend on how many threads made it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.10g}") if np.isfinite(value) else None
    return str(value)
