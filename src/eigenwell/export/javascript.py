"""The formulas of the studio's page, printed from those of `fields`: warps of the plane, and layers with and without a phase.

python -m eigenwell.export.javascript > src/eigenwell/studio/page/formulas.js
"""

from __future__ import annotations

import math
import re

from .kernels import heading_kernel, model_kernels, wall_inverses, world_kernels
from .printed import c_function, javascript

HEAD = """// Printed from the formulas of eigenwell/fields by eigenwell/export/javascript.py: do not change it by hand.
// Arrays are read row by row, and written once all is calculated: what comes out may go into what came in.

"""


def formulas() -> str:
    """A module of functions of plain numbers; those of fields end in their dimension."""
    named = world_kernels(2) | wall_inverses(2)
    for d in (2, 3):
        every = model_kernels(d, d // 2) | heading_kernel(d, winds=True)
        named |= {f"{name}{d}": one for name, one in every.items()}
    return HEAD + "\n".join(
        javascript(c_function(re.sub(r"_(\w)", lambda match: match[1].upper(), name), function, _number, *shapes))
        for name, (function, *shapes) in named.items()
    )


def _number(value: float) -> str:
    """As JavaScript reads it back to the last bit."""
    return (
        repr(int(value) if value.is_integer() and abs(value) < 1e9 else value) if math.isfinite(value) else "Infinity"
    )


if __name__ == "__main__":
    print(formulas(), end="")
