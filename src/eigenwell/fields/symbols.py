"""Arrays of symbols: what a formula does to them is written down, and compiled as a Python function of plain numbers.

NumPy takes a microsecond a call however little there is to do, and a field asked for one state makes hundreds of them; Python
multiplies two floats in thirty nanoseconds. So the formulas of `flows`, `stable` and `warps` are run once on arrays whose
elements are symbols, and what they wrote, a line for every number, is what `single` runs for one state. This module is also
the library of such arrays, as NumPy is that of its own.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

NEUTRAL = {"+": 0, "-": 0, "*": 1, "/": 1}
"""What changes nothing on the right of an operator."""
NAME = re.compile(r"\bt\d+")
"""Of what was calculated."""


class Symbol:
    """A number that the compiled function will know under a name."""

    __slots__ = ("name", "program")

    def __init__(self, name: str, program: dict[str, str]) -> None:
        self.name, self.program = name, program

    def _line(self, text: str) -> Symbol:
        """The symbol of an expression; one that was written before is not written again."""
        return Symbol(self.program.setdefault(text, f"t{len(self.program)}"), self.program)

    def _with(self, operator: str, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # the array's turn
        plain = not isinstance(other, Symbol)
        return self if plain and other == NEUTRAL.get(operator) else self._line(f"{self} {operator} {_text(other)}")

    def _after(self, operator: str, other: Any) -> Symbol:
        neutral = operator in "+*" and other == NEUTRAL[operator]
        return self if neutral else self._line(f"{_text(other)} {operator} {self}")

    def __str__(self) -> str:
        return self.name

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Symbol:
        return self._after("+", other)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._after("-", other)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Symbol:
        return self._after("*", other)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._after("/", other)

    def __pow__(self, power: Any) -> Any:
        return self * self if power == 2 else self._with("**", power)

    def __neg__(self) -> Symbol:
        return self._line(f"-{self}")

    def __abs__(self) -> Symbol:
        return self._line(f"abs({self})")

    # NumPy calls these for its functions of the same names.
    def exp(self) -> Symbol:
        return self._line(f"exp({self})")

    def log(self) -> Symbol:
        return self._line(f"log({self})")

    def sqrt(self) -> Symbol:
        return self._line(f"sqrt({self})")

    def tanh(self) -> Symbol:
        return self._line(f"tanh({self})")


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


def _elementwise(pattern: str) -> Callable[..., Any]:
    """A function of arrays, by what it writes for their elements."""

    def write(*values: Any) -> Symbol:
        known = next(value for value in values if isinstance(value, Symbol))
        return known._line(pattern.format(*map(_text, values)))

    function = np.frompyfunc(write, 1 + max(int(c) for c in pattern if c.isdigit()), 1)
    return lambda *arrays: np.asarray(function(*arrays), dtype=object).view(Symbols)


_less = _elementwise("{0} < {1}")
where = _elementwise("{1} if {0} else {2}")
maximum = _elementwise("{0} if {0} > {1} else {1}")
minimum = _elementwise("{0} if {0} < {1} else {1}")
exp, log, sqrt, tanh, abs = np.exp, np.log, np.sqrt, np.tanh, np.abs
eye, ones_like, zeros_like = np.eye, np.ones_like, np.zeros_like


def concatenate(arrays: Sequence[Any], axis: int) -> Any:
    return np.concatenate(arrays, axis=axis).view(Symbols)


def stack(arrays: Sequence[Any], axis: int) -> Any:
    return np.stack(arrays, axis=axis).view(Symbols)


def compiled(
    function: Callable[..., Sequence[Any]], *shapes: tuple[int, ...]
) -> Callable[..., tuple[tuple[float, ...], ...]]:
    """The function of arrays of some shapes as one of plain sequences, row by row; it gives tuples, row by row."""
    program: dict[str, str] = {}
    given = []
    lines = []
    for k, shape in enumerate(shapes):
        names = [f"a{k}_{i}" for i in range(math.prod(shape))]
        array = np.array([Symbol(name, program) for name in names], dtype=object).reshape(shape)
        given.append(array.view(Symbols))
        lines.append(f"{', '.join(names)}, = a{k}")
    out = [", ".join(map(_text, np.ravel(array))) + "," for array in function(*given)]
    end = "return " + ", ".join(f"({values})" for values in out) + ","
    # What nothing that is returned depends on is left out.
    needed, work = set(NAME.findall(end)), []
    for text, name in reversed(program.items()):
        if name in needed:
            needed.update(NAME.findall(text))
            work.append(f"{name} = {text}")
    lines += [*reversed(work), end]
    source = f"def run({', '.join(f'a{k}' for k in range(len(shapes)))}):\n " + "\n ".join(lines)
    known: dict[str, Any] = {name: getattr(math, name) for name in ("exp", "log", "sqrt", "tanh", "inf")}
    exec(compile(source, f"<{function.__qualname__}>", "exec"), known)
    return known["run"]  # type: ignore[no-any-return]
