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
What = Literal["studio", "csv", "npz", "model", "onnx", "c", "report", "page"]
TAKEN: tuple[What, ...] = ("studio", "csv", "npz", "model", "onnx", "c", "report", "page")


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
class Learn:
    rev: int
    numbers: Numbers = ()


@dataclass(frozen=True)
class Compare:
    """The paper's method beside ours, on the same strokes."""

    rev: int


@dataclass(frozen=True)
class Cancel:
    pass


@dataclass(frozen=True)
class Preset:
    name: str


@dataclass(frozen=True)
class Pictures:
    """Small pictures of the presets: asked for when their menu opens."""


@dataclass(frozen=True)
class Load:
    """A file from the page. `suffix` is all that is left of its name."""

    suffix: str
    data: bytes


@dataclass(frozen=True)
class Restore:
    """A model's file that the page has kept with these strokes."""

    rev: int
    data: bytes
    numbers: Numbers = ()


@dataclass(frozen=True)
class Look:
    """Where the page looks: the middle of the picture in world units, and how much closer than all strokes need."""

    centre: tuple[float, float]
    zoom: float


@dataclass(frozen=True)
class Take:
    rev: int
    what: What
    look: Look | None = None
    goals: tuple[tuple[float, float, float], ...] = ()
    """x, y and colour of every goal, as the page has them."""
    numbers: Numbers = ()


@dataclass(frozen=True)
class Ping:
    pass


Message = Strokes | Learn | Compare | Cancel | Preset | Pictures | Load | Restore | Take | Ping


def parse(text: str) -> Message:
    """The message in a text from the page, or BadMessage."""
    if len(text) > MESSAGE_BYTES:
        raise BadMessage(
            f"Expected a message of at most {MESSAGE_BYTES / 2**20:.0f} MB, got {len(text) / 2**20:.1f} MB. Send less."
        )
    try:
        said = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = "too many brackets inside each other" if isinstance(error, RecursionError) else str(error)
        raise BadMessage(f"Expected a message in JSON, got something else ({why[:100]}).") from None
    if not isinstance(said, dict):
        raise BadMessage(f"Expected a JSON object with a type, got {_shown(said)}.")
    kind = said.get("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise BadMessage(f"Expected a type among {', '.join(_READERS)}, got {_shown(kind)}. Reload the page.")
    assert isinstance(kind, str)
    try:
        return read(said)
    except BadMessage as error:
        about = kind if kind != "cancel" and kind != "ping" else "message"
        raise BadMessage(str(error), about, _rev_or_none(said)) from None


# --- one reader per type ------------------------------------------------------------------------------


def _strokes(said: dict[str, Any]) -> Strokes:
    rows = said.get("strokes")
    if not isinstance(rows, list):
        raise BadMessage(f"Expected strokes as a list, got {_shown(rows)}.")
    if len(rows) > STROKES:
        raise BadMessage(f"Expected at most {STROKES} strokes, got {len(rows)}. Delete some.")
    strokes = tuple(_stroke(row, number) for number, row in enumerate(rows, start=1))
    total = sum(len(stroke.t) for stroke in strokes)
    if total > SAMPLES:
        raise BadMessage(f"Expected at most {SAMPLES:,} samples in all, got {total:,}. Delete some strokes.")
    if len({stroke.id for stroke in strokes}) < len(strokes):
        raise BadMessage("Expected a name of its own for every stroke, got one twice. Reload the page.")
    return Strokes(_rev(said), strokes, _options(said.get("options")))


def _stroke(row: Any, number: int) -> Stroke:
    if not isinstance(row, dict):
        raise BadMessage(f"Expected stroke {number} as an object with id, t and x, got {_shown(row)}.")
    t, x = row.get("t"), row.get("x")
    if not isinstance(t, list) or not isinstance(x, list) or len(t) != len(x) or not t:
        raise BadMessage(f"Expected stroke {number} with as many times t as positions x, at least one.")
    if len(t) > STROKE_SAMPLES:
        raise BadMessage(
            f"Expected at most {STROKE_SAMPLES:,} samples in stroke {number}, got {len(t):,}. Draw shorter."
        )
    if not all(isinstance(point, list) and len(point) == 2 for point in x):
        raise BadMessage(f"Expected the positions of stroke {number} as pairs [x, y].")
    times = _numbers(t, LONGEST, f"times in stroke {number}")
    places = _numbers([c for point in x for c in point], FARTHEST, f"coordinates in stroke {number}").reshape(-1, 2)
    name = _name(row.get("id"), "the id of a stroke")
    if (v := row.get("v")) is None:
        return Stroke(name, times, places)
    if not isinstance(v, list) or len(v) != len(x) or not all(isinstance(one, list) and len(one) == 2 for one in v):
        raise BadMessage(f"Expected the velocities of stroke {number} as pairs [vx, vy], one for every position.")
    fast = _numbers([c for one in v for c in one], FARTHEST, f"velocities in stroke {number}").reshape(-1, 2)
    return Stroke(name, times, places, fast)


def _options(said: Any) -> Options:
    if said is None:
        return Options()
    if not isinstance(said, dict):
        raise BadMessage(f"Expected options as an object, got {_shown(said)}.")
    order, graph = said.get("order", "known"), said.get("graph", "paths")
    if order not in ("known", "unordered"):
        raise BadMessage(f"Expected order 'known' or 'unordered', got {_shown(order)}.")
    if graph not in ("paths", "kernel"):
        raise BadMessage(f"Expected graph 'paths' or 'kernel', got {_shown(graph)}.")
    return Options(
        order,
        graph,
        _within(said, "sigma", 1e-6, FARTHEST),
        _within(said, "theta_r", 1e-6, math.pi),
        _within(said, "eps", 1e-9, 1 - 1e-9),
    )


def _load(said: dict[str, Any]) -> Load:
    name, data = said.get("name"), said.get("base64")
    if not isinstance(name, str) or not isinstance(data, str):
        raise BadMessage("Expected a file with its name and its content in base64.")
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    if not (suffix.isascii() and suffix.isalnum() and len(suffix) <= 10):
        raise BadMessage(
            "Expected a file whose name ends in .eigenwell, .csv, .parquet, .npz or .mat. Rename or convert it."
        )
    return Load(f".{suffix}", _bytes(data))


def _restore(said: dict[str, Any]) -> Restore:
    data = said.get("base64")
    if not isinstance(data, str):
        raise BadMessage("Expected a model's file in base64.")
    return Restore(_rev(said), _bytes(data), _numbering(said))


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise BadMessage("Expected the file in base64, got something else. Load it again.") from None


def _take(said: dict[str, Any]) -> Take:
    what = said.get("what")
    if what not in TAKEN:
        raise BadMessage(f"Expected one of {', '.join(TAKEN)}, got {_shown(what)}.")
    return Take(_rev(said), what, _look(said.get("view")), _goals(said.get("goals")), _numbering(said))


def _numbering(said: dict[str, Any]) -> Numbers:
    given = said.get("numbers")
    if given is None:
        return ()
    if (
        not isinstance(given, list)
        or not all(type(q) is int for q in given)
        or sorted(given) != list(range(len(given)))
    ):
        raise BadMessage("Expected numbers as a list with each of 0, 1, ... once.")
    return tuple(given)


def _goals(said: Any) -> tuple[tuple[float, float, float], ...]:
    if said is None:
        return ()
    if not isinstance(said, list) or len(said) > STROKES or not all(isinstance(g, list) and len(g) == 3 for g in said):
        raise BadMessage(f"Expected goals as a list of at most {STROKES} triples [x, y, colour].")
    rows = _numbers([c for goal in said for c in goal], FARTHEST, "goals").reshape(-1, 3)
    return tuple((float(x), float(y), float(colour)) for x, y, colour in rows)


def _look(said: Any) -> Look | None:
    if said is None:
        return None
    if not isinstance(said, dict) or not isinstance(said.get("centre"), list) or len(said["centre"]) != 2:
        raise BadMessage("Expected view as an object with centre [x, y] and zoom.")
    x, y, zoom = (float(c) for c in _numbers([*said["centre"], said.get("zoom")], FARTHEST, "the view"))
    if not zoom > 0:
        raise BadMessage(f"Expected zoom > 0, got {zoom}.")
    return Look((x, y), zoom)


_READERS: dict[str, Callable[[dict[str, Any]], Message]] = {
    "strokes": _strokes,
    "learn": lambda said: Learn(_rev(said), _numbering(said)),
    "compare": lambda said: Compare(_rev(said)),
    "cancel": lambda said: Cancel(),
    "preset": lambda said: Preset(_name(said.get("name"), "the name of a preset")),
    "pictures": lambda said: Pictures(),
    "load": _load,
    "restore": _restore,
    "take": _take,
    "ping": lambda said: Ping(),
}


# --- values -------------------------------------------------------------------------------------------


def _rev(said: dict[str, Any]) -> int:
    rev = _rev_or_none(said)
    if rev is None:
        raise BadMessage(f"Expected rev as a whole number from 0, got {_shown(said.get('rev'))}.")
    return rev


def _rev_or_none(said: dict[str, Any]) -> int | None:
    rev = said.get("rev")
    return rev if type(rev) is int and 0 <= rev <= WHOLE else None


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= NAME or not value.isprintable():
        raise BadMessage(f"Expected {what} of 1 to {NAME} letters, got {_shown(value)}.")
    return value


def _numbers(values: list[Any], largest: float, what: str) -> FloatArray:
    # bool is an int to isinstance, and a string of digits a number to NumPy: both are mistakes here.
    if not all(type(value) is float or type(value) is int for value in values):
        raise BadMessage(f"Expected numbers for {what}, got something else.")
    # Compared before they become floats: a whole number may be too large for one.
    if not all(-largest <= value <= largest for value in values):
        raise BadMessage(f"Expected {what} between -{largest:g} and {largest:g}, got larger ones.")
    return np.array(values, dtype=np.float64)


def _within(said: dict[str, Any], name: str, least: float, most: float) -> float | None:
    value = said.get(name)
    if value is None:
        return None
    if type(value) not in (int, float) or not least <= value <= most:
        raise BadMessage(f"Expected {name} between {least:.3g} and {most:.3g}, got {_shown(value)}.")
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
