"""A page to share: one HTML file with the field in it, which moves without a server and opens from a disk."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..fields import Field
from .numbers import of_field

if TYPE_CHECKING:
    from .identify import DrawnResult

PAGE, SHARED = Path(__file__).parent / "page", Path(__file__).parent / "shared"
MODULES = (
    "palette", "view", "warps", "worlds", "waves", "ways", "latent", "model", "regions", "grid", "motions", "field", "flow",
    "backdrop", "particles"
)  # fmt: skip
"""Of the studio's own page, in the order in which they use each other."""
DIGITS = 4


def shared_page(result: DrawnResult, field: Field, colours: Sequence[int] = ()) -> str:
    """The page of a drawing and its field; `colours` of the goals, by their number where there are none."""
    content = {"field": of_field(field), "strokes": labelled(result), "colours": list(colours), "version": __version__}
    page = (SHARED / "page.html").read_text(encoding="utf-8")
    return page.replace("/*content*/", _json(content)).replace("/*script*/", bundled("main"))


def labelled(result: DrawnResult) -> list[dict[str, Any]]:
    """The strokes as the method saw them, each with the number of its goal; samples from a brush have one each."""
    drawn, labels = result.drawing, result.labels
    if drawn.scattered:
        return [{"x": np.round(drawn.demos.x, DIGITS).tolist(), "q": -1, "dots": labels.tolist()}]
    bounds = zip(drawn.offsets[:-1], drawn.offsets[1:], strict=True)
    return [{"x": np.round(drawn.demos.x[a:b], DIGITS).tolist(), "q": int(labels[a])} for a, b in bounds]


def bundled(name: str) -> str:
    """One script of a module in `shared` and all that it uses."""
    used = [PAGE / f"{one}.js" for one in MODULES] + [SHARED / "mount.js", SHARED / f"{name}.js"]
    return "\n".join(map(_module, used))


def _module(path: Path) -> str:
    """A module as a function of its own, for a page of one file: browsers load no modules from a disk."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', r"const \1 = $\2;", text, flags=re.MULTILINE)
    names = re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, flags=re.MULTILINE)
    text = re.sub(r"^export (?=const|function|class|async)", "", text, flags=re.MULTILINE)
    return f"const ${path.stem} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"


def _json(content: dict[str, Any]) -> str:
    """As a JavaScript value inside a page: no text in it can end the script."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
