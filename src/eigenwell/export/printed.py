"""C printed from the formulas of `fields`: each is run once on symbols, and what it wrote is the body of a C function; and
JavaScript, which is C without types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..fields.symbols import ANGLE, EQUAL, FUNCTIONS, LESS, MAXIMUM, MINIMUM, WHERE, written

PATTERNS = {
    WHERE: "{0} ? {1} : {2}",
    MAXIMUM: "{0} > {1} ? {0} : {1}",
    MINIMUM: "{0} < {1} ? {0} : {1}",
    "{0} ** {1}": "pow@f@({0}, {1})",
    "abs({0})": "fabs@f@({0})",
    ANGLE: "atan2@f@({0}, {1})",
    **{f"{name}({{0}})": f"{name}@f@({{0}})" for name in FUNCTIONS},
}
"""How C says what Python says otherwise; `@f@` as in all templates."""


def c_function(
    name: str, function: Callable[..., Sequence[Any]], number: Callable[[float], str], *shapes: tuple[int, ...]
) -> str:
    """static void name(const a0[], a1[], ..., out0[], ...) of arrays of some shapes; an `out` may be one of the given."""
    given, lines, out = written(function, *shapes)

    def said(operand: str) -> str:
        if operand[0] == "a":
            return re.sub(r"_(\d+)", r"[\1]", operand)
        return operand if operand[0] == "t" else number(float(operand))

    words = [f"const @WORK@ *a{k}" for k in range(len(given))] + [f"@WORK@ *out{k}" for k in range(len(out))]
    used = {operand for _, _, operands in lines for operand in operands} | {one for row in out for one in row}
    body = [f"(void)a{k};" for k, names in enumerate(given) if not used.intersection(names)]
    truths = {line for line, pattern, _ in lines if pattern in (LESS, EQUAL)}
    for line, pattern, operands in lines:
        kind = "int" if line in truths else "@WORK@"
        body.append(f"const {kind} {line} = {PATTERNS.get(pattern, pattern).format(*map(said, operands))};")
    # All is calculated before anything is written.
    for k, row in enumerate(out):
        body += [f"out{k}[{i}] = {'(@WORK@)' * (one in truths)}{said(one)};" for i, one in enumerate(row)]
    return f"static inline void {name}({', '.join(words)})\n{{\n    " + "\n    ".join(body) + "\n}\n"


WITHOUT_TYPES = (
    ("static inline void", "export function"),
    (r"(const )?@WORK@ \*", ""),
    ("const (@WORK@|int)", "const"),
    (r"\(void\)\w+;\s*|\(@WORK@\)", ""),
    ("fabs@f@", "Math.abs"),
    (r"(\w+)@f@", r"Math.\1"),
    ("==", "==="),
)
"""What of a C function is another in JavaScript."""


def javascript(function: str) -> str:
    """A function that `c_function` printed, as one of a module."""
    for said, instead in WITHOUT_TYPES:
        function = re.sub(said, instead, function)
    return function
