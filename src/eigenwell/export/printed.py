"""C and JavaScript printed from the formulas of `fields`: each is run once on symbols, and what it wrote is a function's body."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..fields.symbols import ANGLE, EQUAL, FUNCTIONS, LESS, MAXIMUM, MINIMUM, WHERE, written

Number = Callable[[float], str]


class Language(NamedTuple):
    """How a function of arrays is written; `@f@` and `@WORK@` as in all templates."""

    function: str
    """Its form, with `name`, `given`, `out`, `unused` and `body`."""
    given: str
    out: str
    """How an argument is declared."""
    number: str
    truth: str
    """How a name for a value is declared."""
    patterns: dict[str, str]
    """What it says otherwise than Python."""


_SHARED = {
    WHERE: "{0} ? {1} : {2}",
    MAXIMUM: "{0} > {1} ? {0} : {1}",
    MINIMUM: "{0} < {1} ? {0} : {1}",
}
C = Language(
    "static inline void {name}({given}, {out})\n{{\n    {body}\n}}\n",
    "const @WORK@ *{0}",
    "@WORK@ *{0}",
    "const @WORK@",
    "const int",
    _SHARED
    | {"{0} ** {1}": "pow@f@({0}, {1})", "abs({0})": "fabs@f@({0})", ANGLE: "atan2@f@({0}, {1})"}
    | {f"{name}({{0}})": f"{name}@f@({{0}})" for name in FUNCTIONS},
)
JAVASCRIPT = Language(
    "export function {name}({given}, {out}) {{\n  {body}\n}}\n",
    "{0}",
    "{0}",
    "const",
    "const",
    _SHARED | {EQUAL: "{0} === {1}"} | {f"{name}({{0}})": f"Math.{name}({{0}})" for name in (*FUNCTIONS, "abs")},
)


def printed(
    language: Language, name: str, function: Callable[..., Sequence[Any]], number: Number, *shapes: tuple[int, ...]
) -> str:
    """name(a0, a1, ..., out0, out1, ...) of arrays of some shapes, row by row; an `out` may be one of the given."""
    given, lines, out = written(function, *shapes)

    def said(operand: str) -> str:
        if operand[0] == "a":
            return re.sub(r"_(\d+)", r"[\1]", operand)
        return operand if operand[0] == "t" else number(float(operand))

    body, truths = [], {line for line, pattern, _ in lines if pattern in (LESS, EQUAL)}
    if language is C:
        used = {operand for _, _, operands in lines for operand in operands} | {one for row in out for one in row}
        body += [f"(void)a{k};" for k, names in enumerate(given) if not used.intersection(names)]
    for line, pattern, operands in lines:
        value = language.patterns.get(pattern, pattern).format(*map(said, operands))
        body.append(f"{language.truth if line in truths else language.number} {line} = {value};")
    # All is calculated before anything is written.
    for k, row in enumerate(out):
        cast = "(@WORK@)" if language is C else ""
        body += [f"out{k}[{i}] = {cast * (one in truths)}{said(one)};" for i, one in enumerate(row)]
    words = (
        ", ".join(form.format(f"{letter}{k}") for k in range(len(rows)))
        for form, letter, rows in ((language.given, "a", given), (language.out, "out", out))
    )
    indent = language.function.partition("{body}")[0].rpartition("\n")[2]
    return language.function.format(name=name, given=next(words), out=next(words), body=f"\n{indent}".join(body))
