"""Arrays of symbols: what a formula does to them is written down, and printed as a function of plain numbers.

NumPy takes a microsecond a call however little there is to do, and a field asked for one state makes hundreds of them; Python
multiplies two floats in thirty nanoseconds. So the formulas of `flows`, `stable` and `warps` are run once on arrays whose
elements are symbols, and what they wrote, a line for every number, is what `single` runs for one state, and what
`export.printed` prints as C and JavaScript. This module is also the library of such arrays, as NumPy is that of its own.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
NEUTRAL = {"add": 0, "subtract": 0, "multiply": 1, "divide": 1}
"""What changes nothing on the right of an operator, and of those that commute on the left."""
Program = dict[tuple[str, ...], str]
"""What was calculated: by a pattern and its operands, under which name."""


class Symbol(NDArrayOperatorsMixin):
    """A number that the printed function will know under a name."""

    __slots__ = ("name", "program")

    def __init__(self, name: str, program: Program) -> None:
        self.name, self.program = name, program

    def _line(self, pattern: str, *operands: Any) -> Symbol:
        """The symbol of an expression; one that was written before is not written again."""
        key = (pattern, *map(_text, operands))
        return Symbol(self.program.setdefault(key, f"t{len(self.program)}"), self.program)

    def __array_ufunc__(self, function: Any, _: str, left: Any, *right: Any) -> Any:
        if any(isinstance(one, np.ndarray) for one in (left, *right)):
            return function(*map(_objects, (left, *right))).view(Symbols)
        name, (other,) = function.__name__, right or (None,)
        if name in ("negative", "absolute"):
            return self._line("-{0}" if name == "negative" else "abs({0})", left)
        if name == "power":
            return self._power(other)
        if not isinstance(other, Symbol) and other == NEUTRAL[name]:
            return left
        if not isinstance(left, Symbol) and name in ("add", "multiply") and left == NEUTRAL[name]:
            return other
        return self._line(f"{{0}} {OPERATORS[name]} {{1}}", left, other)

    def _power(self, power: float) -> Symbol:
        """Whole powers by squares: a product takes a tenth of the time."""
        if power < 1 or power != int(power):
            return self._line("{0} ** {1}", self, power)
        half = self._power(power // 2) if power > 1 else self
        return self if power == 1 else half * half * self if power % 2 else half * half

    def __getattr__(self, name: str) -> Callable[[], Symbol]:
        # NumPy calls these for its functions of the same names.
        if name not in FUNCTIONS:
            raise AttributeError(name)
        return lambda: self._line(f"{name}({{0}})", self)


FUNCTIONS = ("exp", "log", "sqrt", "tanh", "cos", "sin")


def _text(value: Any) -> str:
    return value.name if isinstance(value, Symbol) else repr(float(value))


class Symbols(np.ndarray[Any, Any]):
    """An array of symbols; NumPy does the shapes."""

    def __array_namespace__(self, **_: Any) -> Any:
        return sys.modules[__name__]

    def __lt__(self, other: Any) -> Any:
        return _less(self, other)

    def __gt__(self, other: Any) -> Any:
        return _less(other, self)

    def min(self, axis: int) -> Any:  # type: ignore[override]
        return reduce(minimum, np.moveaxis(self, axis, 0))

    def max(self, axis: int) -> Any:  # type: ignore[override]
        return reduce(maximum, np.moveaxis(self, axis, 0))

    def argmin(self, axis: int) -> Any:  # type: ignore[override]
        first, *others = np.moveaxis(self, axis, 0)
        index: Any = np.zeros(first.shape)
        for k, other in enumerate(others, start=1):
            index, first = where(_less(other, first), float(k), index), minimum(first, other)
        return index


def _elementwise(pattern: str) -> Callable[..., Any]:
    """A function of arrays, by what it writes for their elements."""

    def write(*values: Any) -> Symbol:
        known = next(value for value in values if isinstance(value, Symbol))
        return known._line(pattern, *values)

    function = np.frompyfunc(write, len(set(re.findall(r"{\d}", pattern))), 1)
    return lambda *arrays: np.asarray(function(*map(_objects, arrays)), dtype=object).view(Symbols)


def _objects(array: Any) -> Any:
    return np.asarray(array, dtype=object)


LESS, EQUAL, WHERE = "{0} < {1}", "{0} == {1}", "{1} if {0} else {2}"
MAXIMUM, MINIMUM = "{0} if {0} > {1} else {1}", "{0} if {0} < {1} else {1}"
ANGLE = "atan2({0}, {1})"
_less, equal, where, maximum, minimum, arctan2 = map(_elementwise, (LESS, EQUAL, WHERE, MAXIMUM, MINIMUM, ANGLE))
exp, log, sqrt, tanh, cos, sin, abs = np.exp, np.log, np.sqrt, np.tanh, np.cos, np.sin, np.abs
eye, ones_like, zeros_like = np.eye, np.ones_like, np.zeros_like


def concatenate(arrays: Sequence[Any], axis: int) -> Any:
    return np.concatenate(arrays, axis=axis).view(Symbols)


def stack(arrays: Sequence[Any], axis: int) -> Any:
    return np.stack(arrays, axis=axis).view(Symbols)


class Written(NamedTuple):
    """What a function does to numbers: in lines, each a name, a pattern and its operands."""

    given: list[list[str]]
    """Names of the arrays' elements, row by row."""
    lines: list[tuple[str, str, tuple[str, ...]]]
    out: list[list[str]]
    """What it gives: names, or numbers that are known."""


def written(function: Callable[..., Sequence[Any]], *shapes: tuple[int, ...]) -> Written:
    """What a function of arrays of some shapes does; what it gives depends on all of it."""
    program: Program = {}
    names = [[f"a{k}_{i}" for i in range(math.prod(shape))] for k, shape in enumerate(shapes)]
    given = [np.array([Symbol(name, program) for name in row], dtype=object) for row in names]
    answer = function(*(row.reshape(shape).view(Symbols) for row, shape in zip(given, shapes, strict=True)))
    out = [list(map(_text, np.ravel(array))) for array in answer]
    needed, lines = {name for row in out for name in row}, []
    for (pattern, *operands), name in reversed(program.items()):
        if name in needed:
            needed.update(operands)
            lines.append((name, pattern, tuple(operands)))
    return Written(names, lines[::-1], out)


def compiled(
    function: Callable[..., Sequence[Any]], *shapes: tuple[int, ...]
) -> Callable[..., tuple[tuple[float, ...], ...]]:
    """The function of arrays of some shapes as one of plain sequences, row by row; it gives tuples, row by row."""
    given, work, out = written(function, *shapes)
    lines = [f"{', '.join(names)}, = a{k}" for k, names in enumerate(given)]
    lines += [f"{name} = {pattern.format(*operands)}" for name, pattern, operands in work]
    lines.append("return " + ", ".join(f"({', '.join(names)},)" for names in out) + ",")
    source = f"def run({', '.join(f'a{k}' for k in range(len(shapes)))}):\n " + "\n ".join(lines)
    known: dict[str, Any] = {name: getattr(math, name) for name in (*FUNCTIONS, "atan2", "inf")}
    exec(compile(source, f"<{function.__qualname__}>", "exec"), known)
    return known["run"]  # type: ignore[no-any-return]
