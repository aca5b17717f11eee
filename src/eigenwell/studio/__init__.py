"""Draw demonstrations in the browser and watch them become a stable field: a small server and a static page.

The page and the server speak JSON over one WebSocket (`protocol`). Work runs in worker processes (`workers`, `work`), so
that drawing never waits; the server (`server`) only passes messages. Needs the extra `studio`.

`show` has the same canvas inside a notebook, with the extra `notebook`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .widget import Canvas


def show(what: Any = None, **more: Any) -> Canvas:
    """A canvas to draw on in a notebook, with what is given: a Field, an Identification, Demonstrations, or nothing yet.

    Strokes drawn on it come back: `canvas.demonstrations`, `canvas.found`; `canvas.learn()` learns their field and shows it.

    Raises
    ------
    MissingExtra
        When anywidget is not installed.
    """
    from .widget import show as on_canvas

    return on_canvas(what, **more)
