"""What the page may say: every message is checked here, once, and becomes a frozen value.

Pure functions; nothing else in the studio looks at what a client sent.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from .._types import FloatArray
from ..errors import EigenwellError
from .strokes import Stroke

MESSAGE_BYTES = 4 * 2**20
"""Of one message. A full set of strokes takes 1 MB; a recording of 100,000 rows in a file takes 3 MB."""
STROKES = 200
SAMPLES = 40_000
"""Events of all strokes together: minutes of drawing with the fastest pen. They are resampled to a few thousand."""
STROKE_SAMPLES = 10_000
"""Events of one stroke."""
FARTHEST = 1e4
"""Largest coordinate, in world units; the canvas is about 2 wide, and squares of these still keep all their digits."""
LONGEST = 1e9
"""Largest time stamp, in seconds; browsers count from the opening of the page or from 1970 in milliseconds."""
NAME = 64
"""Letters in an identifier or the name of a preset."""
WHOLE = 2**53
"""Largest whole number that JavaScript counts exactly."""

Order = Literal["known", "unordered"]
Kind = Literal["paths", "kernel"]
TAKEN = ("studio", "csv", "npz", "model", "onnx", "c", "report", "page")
"""What can be taken away."""


class BadMessage(EigenwellError, ValueError):
    """A message that cannot be used: what it was about, its revision where it has one, and what to do."""

    def __init__(self, message: str, about: str = "message", rev: int | None = None) -> None:
        super().__init__(message)
        self.about, self.rev = about, rev


@dataclass(frozen=True)
class Options:
    """How samples become a graph; None leaves the choice to eigenwell."""

    order: Order = "known"
    graph: Kind = "paths"
    sigma: float | None = None
    theta_r: float | None = None
    eps: float | None = None

    @property
    def in_use(self) -> Options:
        """Without sliders that move nothing."""
        return self if self.graph == "kernel" else Options(self.order, self.graph)


@dataclass(frozen=True, eq=False)
class Strokes:
    rev: int
    strokes: tuple[Stroke, ...]
    options: Options

    def same_as(self, other: Strokes) -> bool:
        """The same drawing, looked at in the same way; only the revision may be another."""
        return (
            self.options.in_use == other.options.in_use
            and len(self.strokes) == len(other.strokes)
            and all(a.same_as(b) for a, b in zip(self.strokes, other.strokes, strict=True))
        )


Numbers = tuple[int, ...]
"""For each goal of the page, in the order of its numbers there, its place from left to right; empty where that is it."""


@dataclass(frozen=True)
class Look:
    """Where the page looks: the middle of the picture in world units, and how much closer than all strokes need."""

    centre: tuple[float, float]
    zoom: float


@dataclass(frozen=True)
class Request:
    """Any other message: what is asked for, and what comes with it.

    kind     learn; compare, the paper's method beside ours; cancel; preset; pictures of the presets, asked for when their menu
             opens; load, a file; restore, a model's file that the page has kept with these strokes; take away; ping
    rev      of the strokes that it is about
    name     of a preset, or of what is taken away; of a file the suffix, which is all that is left of its name
    data     the file
    numbers  of the goals
    look, goals     of what is taken away: where the page looks, and x, y and colour of every goal, as the page has them
    """

    kind: str
    rev: int = 0
    name: str = ""
    data: bytes = b""
    numbers: Numbers = ()
    look: Look | None = None
    goals: tuple[tuple[float, float, float], ...] = ()


Message = Strokes | Request


def parse(text: str) -> Message:
    """The message in a text from the page, or BadMessage."""
    most, size = MESSAGE_BYTES // 2**20, len(text) / 2**20
    if size > most:
        raise BadMessage(f"Expected a message of at most {most} MB, got {size:.1f} MB. Send less.")
    try:
        said = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = "too many brackets inside each other" if isinstance(error, RecursionError) else str(error)
        raise BadMessage(f"Expected a message in JSON, got something else ({why[:100]}).") from None
    if not isinstance(said, dict):
        raise BadMessage(f"Expected a JSON object with a type, got {_shown(said)}.")
    kind = said.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        raise BadMessage(f"Expected a type among {', '.join(_READERS)}, got {_shown(kind)}. Reload the page.")
    try:
        return _READERS[kind](said)
    except BadMessage as error:
        raise BadMessage(str(error), kind, _rev_or_none(said)) from None


# --- one reader per type ------------------------------------------------------------------------------


def _strokes(said: dict[str, Any]) -> Strokes:
    rows: Any = said.get("strokes")
    _expect(isinstance(rows, list), "strokes as a list, got {}.", rows)
    _expect(len(rows) <= STROKES, "at most {} strokes, got {}. Delete some.", STROKES, len(rows))
    strokes = tuple(_stroke(row, number) for number, row in enumerate(rows, start=1))
    total = sum(len(stroke.t) for stroke in strokes)
    _expect(total <= SAMPLES, "at most {} samples in all, got {}. Delete some strokes.", SAMPLES, total)
    own = len({stroke.id for stroke in strokes}) == len(strokes)
    _expect(own, "a name of its own for every stroke, got one twice. Reload the page.")
    return Strokes(_rev(said), strokes, _options(said.get("options")))


def _stroke(row: Any, number: int) -> Stroke:
    _expect(isinstance(row, dict), "stroke {} as an object with id, t and x, got {}.", number, row)
    t, x, v = row.get("t"), row.get("x"), row.get("v")
    both = isinstance(t, list) and isinstance(x, list) and len(t) == len(x) > 0
    _expect(both, "stroke {} with as many times t as positions x, at least one.", number)
    few = len(t) <= STROKE_SAMPLES
    _expect(few, "at most {} samples in stroke {}, got {}. Draw shorter.", STROKE_SAMPLES, number, len(t))
    times = _numbers(t, LONGEST, f"times in stroke {number}")
    places = _rows(x, 2, f"positions of stroke {number} as pairs [x, y]")
    fast = (
        None if v is None else _rows(v, 2, f"velocities of stroke {number} as pairs [vx, vy], one for every position")
    )
    _expect(fast is None or len(fast) == len(t), f"as many velocities of stroke {number} as positions.")
    return Stroke(_name(row.get("id"), "the id of a stroke"), times, places, fast)


def _options(said: Any) -> Options:
    if said is None:
        return Options()
    _expect(isinstance(said, dict), "options as an object, got {}.", said)
    order, graph = said.get("order", "known"), said.get("graph", "paths")
    _expect(order in ("known", "unordered"), "order 'known' or 'unordered', got {}.", order)
    _expect(graph in ("paths", "kernel"), "graph 'paths' or 'kernel', got {}.", graph)
    limits = {"sigma": (1e-6, FARTHEST), "theta_r": (1e-6, math.pi), "eps": (1e-9, 1 - 1e-9)}
    return Options(order, graph, **{name: _within(said, name, *limit) for name, limit in limits.items()})


def _load(said: dict[str, Any]) -> Request:
    name: Any = said.get("name")
    _expect(isinstance(name, str), "a file with its name and its content in base64.")
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    plain = suffix.isascii() and suffix.isalnum() and len(suffix) <= 10
    _expect(plain, "a file whose name ends in .eigenwell, .csv, .parquet, .npz or .mat. Rename or convert it.")
    return Request("load", name=f".{suffix}", data=_file(said))


def _file(said: dict[str, Any]) -> bytes:
    data: Any = said.get("base64")
    _expect(isinstance(data, str), "a file in base64, got {}.", data)
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise BadMessage("Expected the file in base64, got something else. Load it again.") from None


def _take(said: dict[str, Any]) -> Request:
    what: Any = said.get("what")
    _expect(what in TAKEN, f"one of {', '.join(TAKEN)}, got {{}}.", what)
    look, goals = _look(said.get("view")), _goals(said.get("goals"))
    return Request("take", _rev(said), what, numbers=_numbering(said), look=look, goals=goals)


def _numbering(said: dict[str, Any]) -> Numbers:
    given: Any = said.get("numbers")
    if given is None:
        return ()
    whole = isinstance(given, list) and all(type(q) is int for q in given) and sorted(given) == list(range(len(given)))
    _expect(whole, "numbers as a list with each of 0, 1, ... once.")
    return tuple(given)


def _goals(said: Any) -> tuple[tuple[float, float, float], ...]:
    rows = _rows([] if said is None else said, 3, f"goals as a list of at most {STROKES} triples [x, y, colour]")
    _expect(len(rows) <= STROKES, "at most {} goals, got {}.", STROKES, len(rows))
    return tuple((x, y, colour) for x, y, colour in rows.tolist())


def _look(said: Any) -> Look | None:
    if said is None:
        return None
    seen = (
        [[*said["centre"], said.get("zoom")]]
        if isinstance(said, dict) and isinstance(said.get("centre"), list)
        else None
    )
    x, y, zoom = _rows(seen, 3, "view as an object with centre [x, y] and zoom")[0].tolist()
    _expect(zoom > 0, "zoom > 0, got {}.", zoom)
    return Look((x, y), zoom)


_READERS: dict[str, Callable[[dict[str, Any]], Message]] = {
    "strokes": _strokes,
    "learn": lambda said: Request("learn", _rev(said), numbers=_numbering(said)),
    "compare": lambda said: Request("compare", _rev(said)),
    "cancel": lambda said: Request("cancel"),
    "preset": lambda said: Request("preset", name=_name(said.get("name"), "the name of a preset")),
    "pictures": lambda said: Request("pictures"),
    "load": _load,
    "restore": lambda said: Request("restore", _rev(said), data=_file(said), numbers=_numbering(said)),
    "take": _take,
    "ping": lambda said: Request("ping"),
}


# --- values -------------------------------------------------------------------------------------------


def _expect(fine: bool, what: str, *values: Any) -> None:
    """BadMessage with these values in its words, each short whatever it is."""
    if not fine:
        raise BadMessage(f"Expected {what.format(*map(_shown, values))}")


def _rev(said: dict[str, Any]) -> int:
    rev = _rev_or_none(said)
    if rev is None:
        raise BadMessage(f"Expected rev as a whole number from 0, got {_shown(said.get('rev'))}.")
    return rev


def _rev_or_none(said: dict[str, Any]) -> int | None:
    rev = said.get("rev")
    return rev if type(rev) is int and 0 <= rev <= WHOLE else None


def _name(value: Any, what: str) -> str:
    fine = isinstance(value, str) and 0 < len(value) <= NAME and value.isprintable()
    _expect(fine, f"{what} of 1 to {NAME} letters, got {{}}.", value)
    return str(value)


def _rows(rows: Any, width: int, what: str) -> FloatArray:
    """A list of lists of so many numbers."""
    fine = isinstance(rows, list) and all(isinstance(row, list) and len(row) == width for row in rows)
    _expect(fine, f"the {what}.")
    return _numbers([number for row in rows for number in row], FARTHEST, what).reshape(-1, width)


def _numbers(values: list[Any], largest: float, what: str) -> FloatArray:
    # bool is an int to isinstance, and a string of digits a number to NumPy: both are mistakes here.
    _expect(all(type(value) in (float, int) for value in values), f"numbers for {what}, got something else.")
    # Compared before they become floats: a whole number may be too large for one.
    near = all(-largest <= value <= largest for value in values)
    _expect(near, f"{what} between -{largest:g} and {largest:g}, got larger ones.")
    return np.array(values, dtype=np.float64)


def _within(said: dict[str, Any], name: str, least: float, most: float) -> float | None:
    value: Any = said.get(name)
    if value is None:
        return None
    fine = type(value) in (int, float) and least <= value <= most
    _expect(fine, f"{name} between {least:.3g} and {most:.3g}, got {{}}.", value)
    return float(value)


def _shown(value: Any) -> str:
    """A value in a message, short whatever it is; containers are named and not written out."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > WHOLE:
        return "a huge number"
    shown = json.dumps(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
