"""What worker processes do, by name: plain values in, JSON text or bytes out. Nothing is kept between jobs."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..demonstrations import DataError
from . import finding, particles, presets, transfer
from .protocol import Options
from .strokes import Stroke, drawing

if TYPE_CHECKING:
    from ..fields import Field

Tell = Callable[[Any], None]
View = tuple[float, float, float, float] | None


def text(answer: dict[str, Any]) -> str:
    return json.dumps(answer, allow_nan=False, separators=(",", ":"))


def identify(strokes: Sequence[Stroke], options: Options, tell: Tell) -> str:
    return text(finding.identified(strokes, options))


def learn(strokes: Sequence[Stroke], options: Options, view: View, tell: Tell) -> tuple[str, bytes]:
    """The answer, and the field as bytes that only these processes read again."""
    from . import training

    def report(step: int, steps: int, loss: float) -> None:
        tell({"step": step, "steps": steps, "loss": None if loss != loss else float(f"{loss:.4g}")})

    answer, field = training.learned(finding.find(drawing(strokes), options), view, report)
    return text(answer), pickle.dumps(field)


def simulate(field: bytes, start: tuple[float, float], goal: int | None, tell: Tell) -> str:
    return text(particles.path(_field(field), start, goal))


def preset(name: str, tell: Tell) -> str:
    return text(presets.strokes_of(name))


def load(suffix: str, data: bytes, tell: Tell) -> str:
    return text(transfer.read(suffix, data))


def take(
    strokes: Sequence[Stroke], options: Options, field: bytes | None, what: str, tell: Tell
) -> tuple[str, str, bytes]:
    """Name, media type and content of a file to take away."""
    return transfer.write(finding.find(drawing(strokes), options), None if field is None else _field(field), what)


def warm(what: str, tell: Tell) -> None:
    """Import what the first job would otherwise wait for."""
    from ..demonstrations import Demonstrations
    from ..identification import identify as find

    if what == "learning":
        from . import training

        training.warm_up()
    elif what == "drawing":
        import numpy as np

        # One of each: SciPy imports some of its parts on first use.
        t = np.linspace(0.0, 1.0, 60)[:, None]
        lines = [np.hstack([a * (1 - t) ** 2, b * (1 - t) ** 2 + 0.1 * t]) for a, b in ((1, 1), (1, -1), (-1, 1))]
        demos = Demonstrations.from_trajectories(lines, dt=1 / 60)
        find(demos)
        with suppress(DataError):
            find(demos.x, demos.v)


JOBS: dict[str, Callable[..., Any]] = {
    job.__name__: job for job in (identify, learn, simulate, preset, load, take, warm)
}


@lru_cache(maxsize=4)
def _field(data: bytes) -> Field:
    """The field in bytes that `learn` made, in this same program."""
    field: Field = pickle.loads(data)
    return field
