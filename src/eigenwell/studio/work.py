"""What worker processes do, by name: plain values in, JSON text or bytes out. Nothing is kept between jobs."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..demonstrations import DataError
from . import documents, messages, presets
from .identify import compared, find, identified
from .protocol import Numbers, Options, Request
from .strokes import Stroke, drawing

if TYPE_CHECKING:
    from ..fields import Field

Tell = Callable[[Any], None]
Drawn = Sequence[Stroke]


def text(answer: dict[str, Any]) -> str:
    return json.dumps(answer, allow_nan=False, separators=(",", ":"))


def identify(strokes: Drawn, options: Options, tell: Tell) -> str:
    """News on the way are nobody's, but whoever is not wanted any more stops at them."""
    return text(identified(strokes, options, lambda stage, done, total: tell((stage, done, total))))


def learn(strokes: Drawn, options: Options, numbers: Numbers, tell: Tell) -> tuple[str, bytes]:
    """The answer, and the field as bytes that only these processes read again. News on the way: progress, and the field
    while it grows."""
    from . import training

    def report(step: int, steps: int, loss: float) -> None:
        tell(("progress", text({"step": step, "steps": steps, "loss": None if loss != loss else float(f"{loss:.4g}")})))

    result = find(drawing(strokes), options).numbered(numbers)
    answer, field = training.learned(result, report, lambda grown: tell(("growing", text(grown))))
    return _with_file(answer, field)


def restore(strokes: Drawn, options: Options, numbers: Numbers, data: bytes, tell: Tell) -> tuple[str, bytes]:
    """As `learn`, of a field that was learned before from these strokes and kept in a model's file."""
    from . import training

    field = documents.model(data)
    return _with_file(training.told(find(drawing(strokes), options).numbered(numbers), field), field)


def _with_file(answer: dict[str, Any], field: Field) -> tuple[str, bytes]:
    """With the model's file, which the page keeps over a reload."""
    kept = base64.b64encode(documents.packed(field)).decode()
    return text(answer | {"model": kept}), pickle.dumps(field)


def certify(field: bytes, tell: Tell) -> str:
    """What came of putting the field to the test: seconds that no flow should wait for."""
    return text(messages.certified(_field(field)))


def pictures(tell: Tell) -> str:
    """Of each preset; those that are made at once are news, before others are read from disks."""
    made: dict[str, Any] = {}
    for name in presets.names():
        made[name] = presets.picture(name)
        if len(made) == len(presets.WRITTEN):
            tell(text({"pictures": made}))
    return text({"pictures": made})


def load(suffix: str, data: bytes, tell: Tell) -> str:
    return text(documents.read(data) if suffix == documents.SUFFIX else documents.recording(suffix, data))


def take(strokes: Drawn, options: Options, field: bytes | None, asked: Request, tell: Tell) -> tuple[str, str, bytes]:
    """Name, media type and content of a file to take away."""
    learned = None if field is None else _field(field)
    if asked.name == "studio":
        return documents.written(strokes, options, learned, asked)
    colours = [int(colour) for _, _, colour in asked.goals]
    return documents.taken(find(drawing(strokes), options).numbered(asked.numbers), learned, asked.name, colours)


def warm(what: str, part: int, tell: Tell) -> int | None:
    """Import or compile what the first job would otherwise wait for; the number of the next part, None after the last."""
    if what == "learning":
        from . import training

        return training.warm_up(part)
    if what == "drawing":
        import numpy as np

        from .. import identification
        from ..demonstrations import Demonstrations

        # One of each: SciPy imports some of its parts on first use.
        t = np.linspace(0.0, 1.0, 60)[:, None]
        lines = [np.hstack([a * (1 - t) ** 2, b * (1 - t) ** 2 + 0.1 * t]) for a, b in ((1, 1), (1, -1), (-1, 1))]
        demos = Demonstrations.from_trajectories(lines, dt=1 / 60)
        identification.identify(demos)
        with suppress(DataError):
            identification.identify(demos.x, demos.v)
    return None


JOBS: dict[str, Callable[..., Any]] = {
    **{job.__name__: job for job in (identify, learn, restore, certify, load, take, pictures, warm)},
    "compare": lambda strokes, tell: text(compared(strokes)),
    "preset": lambda name, tell: text(presets.strokes_of(name)),
}


@lru_cache(maxsize=4)
def _field(data: bytes) -> Field:
    """The field in bytes that `learn` made, in this same program."""
    field: Field = pickle.loads(data)
    return field
