"""The formulas of the studio's page, printed from those of `fields`: warps of the plane, and layers with and without a phase.

python -m eigenwell.export.javascript > src/eigenwell/studio/page/formulas.js
"""

from __future__ import annotations

import re
from typing import Any

from ..fields.symbols import MAXIMUM, MINIMUM
from .kernels import model_kernels, wall_inverses, world_kernels
from .printed import PATTERNS, c_function

HEAD = """// Printed from the formulas of eigenwell/fields by eigenwell/export/javascript.py: do not change it by hand.
// Arrays are read row by row, and written once all is calculated: what comes out may go into what came in.

"""


WITHOUT_TYPES = (
    ("static inline void", "export function"),
    (r"(const )?@WORK@ \*", ""),
    ("const (@WORK@|int)", "const"),
    (r"\(void\)\w+;\s*|\(@WORK@\)", ""),
    ("fabs@f@", "Math.abs"),
    (r"(\w+)@f@", r"Math.\1"),
    ("==", "==="),
    ("\n    ", "\n  "),
    (";\n  const ", ",\n  "),
)
"""What of a C function is another in JavaScript, which is C without types."""
FORMS = PATTERNS | {MAXIMUM: "Math.max({0}, {1})", MINIMUM: "Math.min({0}, {1})"}
WIDEST = 40
"""Of what is written inside something else: lines stay in sight, and the page small."""


def formulas() -> str:
    """A module of functions of plain numbers; those of fields end in their dimension."""
    named = world_kernels(2) | wall_inverses(2) | {"product": (lambda one, other: (one @ other,), (2, 2), (2, 2))}
    for d in (2, 3):
        named |= {f"{name}{d}": one for name, one in model_kernels(d, winds=True).items()}
    return HEAD + "\n".join(_function(name, *one) for name, one in named.items())


def _function(name: str, function: Any, *shapes: tuple[int, ...]) -> str:
    camel = re.sub(r"_(\w)", lambda match: match[1].upper(), name)
    text = c_function(
        camel, function, lambda value: repr(value).removesuffix(".0"), *shapes, forms=FORMS, widest=WIDEST
    )
    for said, instead in WITHOUT_TYPES:
        text = re.sub(said, instead, text)
    return text


if __name__ == "__main__":
    print(formulas(), end="")
