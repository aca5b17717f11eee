"""The studio's canvas inside a notebook: strokes drawn there come back as Demonstrations. Needs the extra `notebook`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..demonstrations import DataError, Demonstrations
from ..errors import missing_extra
from ..fields import Field
from ..identification import Identification
from ..report.live import bundled
from ..report.numbers import of_field
from ..wording import plural
from .identify import DrawnResult, find
from .messages import why
from .protocol import Options
from .strokes import Stroke, drawing

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise missing_extra("The studio in a notebook", "anywidget", "notebook") from error

HEIGHT = 460
"""Pixels of the canvas; its width is the cell's."""


class Canvas(anywidget.AnyWidget):
    """A canvas that shares its strokes with the kernel. Draw on it, or set `strokes`, and it says how many goals there are.

    strokes         [{"t": seconds, "x": [[x, y], ...]}], as they were drawn
    demonstrations  the same for eigenwell: evenly sampled, with velocities, at rest where the pen was lifted
    found           what `identify` makes of them, None while there are none
    field           a learned field to show; `learn()` learns one from the strokes
    """

    _esm = f"{bundled('widget')}\nexport default {{ render: $widget.render }};"
    strokes: Any = traitlets.List().tag(sync=True)
    content: Any = traitlets.Dict().tag(sync=True)
    height: Any = traitlets.Int(HEIGHT).tag(sync=True)

    def __init__(self, strokes: Sequence[dict[str, Any]] = (), field: Field | None = None, **more: Any) -> None:
        self._result: DrawnResult | None = None
        self._field: Field | None = field
        super().__init__(strokes=list(strokes), **more)
        self._look()
        self.observe(self._drawn, names="strokes")

    @property
    def demonstrations(self) -> Demonstrations:
        if self._result is None:
            raise DataError("Expected strokes on the canvas, there are none. Draw first.")
        return self._result.drawing.demos

    @property
    def found(self) -> Identification | None:
        return None if self._result is None else self._result.found

    @property
    def field(self) -> Field | None:
        return self._field

    @field.setter
    def field(self, field: Field | None) -> None:
        self._field = field
        self._look()

    def learn(self, **options: Any) -> Field:
        """Learn the field of the strokes, as `eigenwell.learn` does, and show it."""
        from ..learning import learn

        if self.found is None:
            raise DataError("Expected strokes on the canvas, there are none. Draw first.")
        self.field = learn(self.found, **options)
        return self.field

    def _drawn(self, change: Any) -> None:
        self._field = None  # of other strokes
        self._look()

    def _look(self) -> None:
        """Identify what is drawn, and send labels, words and field to the page."""
        rows = [
            Stroke(f"s{k}", np.asarray(row["t"], float), np.asarray(row["x"], float))
            for k, row in enumerate(self.strokes, start=1)
        ]
        labels, words, goals = [-1] * len(rows), "", []
        self._result = None
        try:
            self._result = find(drawing(rows), Options()) if rows else None
        except DataError as error:
            words = str(error)
        if self._result is not None:
            found, drawn = self._result.found, self._result.drawing
            named = {name: int(found.labels[near[0]]) for name, near in zip(drawn.ids, drawn.nearest, strict=True)}
            labels, goals = [named.get(row.id, -1) for row in rows], found.attractors.tolist()
            words = f"{plural(found.n_attractors, 'goal')}. {why(found, Options())}"
        shown = None if self._field is None else of_field(self._field)
        self.content = {"field": shown, "labels": labels, "colours": [], "words": words, "goals": goals}


def show(what: Any = None, **more: Any) -> Canvas:
    """A canvas to draw on in a notebook, with what is given: a Field, an Identification, Demonstrations, or nothing yet.

    Data must be in the plane. The canvas is two-way: `canvas.demonstrations` and `canvas.found` follow what is drawn.
    """
    if isinstance(what, Field):
        starts = np.flatnonzero(what.phases == 1.0)
        paths = np.split(what.samples, starts[1:])
        return Canvas([_row(x, np.linspace(0, 1, len(x))) for x in paths if len(x) > 1], what, **more)
    demos = what.demos if isinstance(what, Identification) else None if what is None else Demonstrations.of(what)
    if demos is None:
        return Canvas(**more)
    if demos.dimension != 2:
        raise DataError(f"Expected positions in 2 dimensions, got {demos.dimension}. Draw others with plot_field.")
    if demos.offsets is None:
        raise DataError(
            "Expected trajectories to show as strokes, got samples without order. Pass what identify found."
        )
    time = np.arange(demos.n_samples) / 100 if demos.time is None else demos.time
    bounds = zip(demos.offsets[:-1], demos.offsets[1:], strict=True)
    return Canvas([_row(demos.x[a:b], time[a:b] - time[a]) for a, b in bounds], **more)


def _row(x: Any, t: Any) -> dict[str, Any]:
    return {"t": np.round(t, 5).tolist(), "x": np.round(x, 5).tolist()}
