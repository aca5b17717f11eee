"""C printed from the formulas of `fields`: each is run once on symbols, and what it wrote is the body of a C function."""

from __future__ import annotations

import re
from collections import Counter
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
    name: str,
    function: Callable[..., Sequence[Any]],
    number: Callable[[float], str],
    *shapes: tuple[int, ...],
    forms: dict[str, str] = PATTERNS,
    widest: int = 0,
) -> str:
    """static void name(const a0[], a1[], ..., out0[], ...) of arrays of some shapes; an `out` may be one of the given.

    What is used once stands where it is used, where it is no wider than `widest`.
    """
    given, lines, out = written(function, *shapes)
    uses = Counter(
        operands[int(k)] for _, pattern, operands in lines for k in re.findall(r"{(\d)}", forms.get(pattern, pattern))
    )
    inside: dict[str, str] = {}

    def said(operand: str) -> str:
        if operand[0] == "a":
            return re.sub(r"_(\d+)", r"[\1]", operand)
        return inside.get(operand, operand) if operand[0] == "t" else number(float(operand))

    words = [f"const @WORK@ *a{k}" for k in range(len(given))] + [f"@WORK@ *out{k}" for k in range(len(out))]
    given_out = {one for row in out for one in row}
    body = [f"(void)a{k};" for k, names in enumerate(given) if not (given_out | uses.keys()).intersection(names)]
    truths = {line for line, pattern, _ in lines if pattern in (LESS, EQUAL)}
    for line, pattern, operands in lines:
        form = forms.get(pattern, pattern)
        # Between commas nothing needs brackets.
        value = form.format(*(f"({said(one)})" if one in inside and form[-1] != ")" else said(one) for one in operands))
        if uses[line] == 1 and line not in given_out and len(value) <= widest:
            inside[line] = value
        else:
            body.append(f"const {'int' if line in truths else '@WORK@'} {line} = {value};")
    # All is calculated before anything is written.
    for k, row in enumerate(out):
        body += [f"out{k}[{i}] = {'(@WORK@)' * (one in truths)}{said(one)};" for i, one in enumerate(row)]
    return f"static inline void {name}({', '.join(words)})\n{{\n    " + "\n    ".join(body) + "\n}\n"
