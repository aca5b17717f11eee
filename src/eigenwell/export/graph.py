"""Arrays that write themselves down as ONNX nodes: the formulas of `fields`, run on them once, are the exported graph.

Every value carries an example of itself, a NumPy array for a few points, which knows its shape; the number of points stays
open. `Operations` is the library of such arrays, as NumPy is that of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

POINTS = 3
"""Of an example: as many as no other axis that is looked at has to have."""


class Graph:
    """Nodes and constants written so far; numbers are stored as `real`."""

    def __init__(self, real: type[np.floating[Any]]) -> None:
        self.real = real
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._seen: dict[tuple[bytes, str, tuple[int, ...]], str] = {}
        self._numbers = count()

    def inner(self) -> Graph:
        """The body of a loop: nodes of its own, constants and names of this graph."""
        body = Graph(self.real)
        body.constants, body._seen, body._numbers = self.constants, self._seen, self._numbers
        return body

    def constant(self, value: ArrayLike) -> Value:
        """An array as a value; floats become `real`, the same array is stored once."""
        from onnx import numpy_helper

        array = np.asarray(value)
        array = array.astype(self.real) if array.dtype.kind == "f" else array.astype(np.int64)
        key = (array.tobytes(), array.dtype.str, array.shape)
        if key not in self._seen:
            name = f"c{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
            self._seen[key] = name
        return Value(self, self._seen[key], array)

    def pick(self, stacked: ArrayLike, index: Value | None) -> Any:
        """The entry `index` of the first axis; where there is only one, or no index, the first, as it is."""
        values = np.asarray(stacked)
        return values[0] if index is None or len(values) == 1 else self.constant(values)[index]

    def node(self, operator: str, example: Any, *inputs: Any, **attributes: Any) -> Value:
        """operator(*inputs)."""
        from onnx import helper

        out = f"v{next(self._numbers)}"
        names = [one.name if isinstance(one, Value) else self.constant(one).name for one in inputs]
        self.nodes.append(helper.make_node(operator, names, [out], **attributes))
        known = np.asarray(example)
        return Value(self, out, known.astype(self.real) if known.dtype.kind == "f" else known)

    def loop(self, most: int, carried: list[Value], body: Graph, out: list[Value], again: Value) -> list[Value]:
        """Repeat `body`, whose inputs are named in0, in1, ..., while `again` and at most so often; the values that it carries."""
        from onnx import TensorProto, helper

        info = helper.make_tensor_value_info
        types = [helper.np_dtype_to_tensor_dtype(one.example.dtype) for one in carried]
        inputs = [info("trip", TensorProto.INT64, []), info("going", TensorProto.BOOL, [])]
        inputs += [info(f"in{i}", kind, None) for i, kind in enumerate(types)]
        outputs = [info(again.name, TensorProto.BOOL, [])]
        outputs += [info(value.name, kind, None) for value, kind in zip(out, types, strict=True)]
        inside = helper.make_graph(body.nodes, "body", inputs, outputs)
        names = [f"v{next(self._numbers)}" for _ in carried]
        begin = self.constant(1.0) > self.constant(0.0)
        given = [self.constant(most).name, begin.name, *(value.name for value in carried)]
        self.nodes.append(helper.make_node("Loop", given, names, body=inside))
        return [Value(self, name, one.example) for name, one in zip(names, out, strict=True)]


class Value:
    """An array of the graph."""

    # NumPy must leave `array * value` to Value.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str, example: NDArray[Any]) -> None:
        self.graph, self.name, self.example = graph, name, example

    def __array_namespace__(self, **_: Any) -> Operations:
        return OPERATIONS

    @property
    def shape(self) -> tuple[int, ...]:
        return self.example.shape

    @property
    def dtype(self) -> Any:
        return self.example.dtype

    def __len__(self) -> int:
        return len(self.example)

    def call(self, operator: str, example: Any, *others: Any, **attributes: Any) -> Value:
        return self.graph.node(operator, example, self, *others, **attributes)

    def _with(self, operator: str, function: Callable[..., Any], other: Any, turned: bool = False) -> Value:
        if not isinstance(other, Value):
            other = np.asarray(other, dtype=self.example.dtype)
        mine, theirs = (other, self) if turned else (self, other)
        with np.errstate(all="ignore"):
            return self.graph.node(operator, function(_example(mine), _example(theirs)), mine, theirs)

    def __add__(self, other: Any) -> Value:
        return self._with("Add", np.add, other)

    def __radd__(self, other: Any) -> Value:
        return self._with("Add", np.add, other, True)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", np.subtract, other)

    def __rsub__(self, other: Any) -> Value:
        return self._with("Sub", np.subtract, other, True)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", np.multiply, other)

    def __rmul__(self, other: Any) -> Value:
        return self._with("Mul", np.multiply, other, True)

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", np.divide, other)

    def __rtruediv__(self, other: Any) -> Value:
        return self._with("Div", np.divide, other, True)

    def __matmul__(self, other: Any) -> Value:
        return self._with("MatMul", np.matmul, other)

    def __rmatmul__(self, other: Any) -> Value:
        return self._with("MatMul", np.matmul, other, True)

    def __lt__(self, other: Any) -> Value:
        return self._with("Less", np.less, other)

    def __gt__(self, other: Any) -> Value:
        return self._with("Greater", np.greater, other)

    def __neg__(self) -> Value:
        return self.call("Neg", -self.example)

    def __pow__(self, power: float) -> Value:
        if power == 1:
            return self
        return self * self if power == 2 else self._with("Pow", np.power, float(power))

    def __getitem__(self, key: Any) -> Any:
        value, axis = self, 0
        keys = key if isinstance(key, tuple) else (key,)
        for one in keys:
            if one is None:
                value = value.call("Unsqueeze", np.expand_dims(value.example, axis), np.array([axis]))
            elif isinstance(one, EllipsisType):
                axis += value.example.ndim - sum(k is not None for k in keys)
            elif isinstance(one, slice):
                bounds = [np.array([n]) for n in (one.start or 0, 2**31 if one.stop is None else one.stop, axis)]
                if one != slice(None):
                    value = value.call("Slice", value.example[(slice(None),) * axis + (one,)], *bounds)
            else:
                at = _example(one)
                value = value.call("Gather", np.take(value.example, at, axis=axis), one, axis=axis)
                axis += np.ndim(at) - 1
            axis += 1
        return value

    @property
    def T(self) -> Value:
        return self.call("Transpose", self.example.T)

    def reshape(self, *shape: int) -> Value:
        return self.call("Reshape", self.example.reshape(shape), np.array(shape))

    def sum(self, axis: int) -> Value:
        return self.call("ReduceSum", self.example.sum(axis), np.array([axis]), keepdims=0)

    def mean(self, axis: int) -> Value:
        return self.call("ReduceMean", self.example.mean(axis), axes=[axis], keepdims=0)

    def min(self, axis: int) -> Value:
        return self.call("ReduceMin", self.example.min(axis), axes=[axis], keepdims=0)

    def max(self, axis: int) -> Value:
        return self.call("ReduceMax", self.example.max(axis), axes=[axis], keepdims=0)

    def argmin(self, axis: int) -> Value:
        return self.call("ArgMin", self.example.argmin(axis), axis=axis, keepdims=0)

    def cast(self, kind: Any) -> Value:
        from onnx import helper

        example = self.example.astype(kind)
        return self.call("Cast", example, to=helper.np_dtype_to_tensor_dtype(example.dtype))

    def named(self, name: str) -> None:
        """Give the value the name of an output."""
        from onnx import helper

        self.graph.nodes.append(helper.make_node("Identity", [self.name], [name]))


def _example(value: Any) -> Any:
    return value.example if isinstance(value, Value) else value


class Operations:
    """Functions of values, under the names that NumPy has for them."""

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in PLAIN:
            raise AttributeError(f"No operation {name!r}; there are {', '.join(PLAIN)}.")
        return partial(_called, *PLAIN[name])

    def cos(self, x: Value) -> Value:
        """By a sine: runtimes have no cosine in double."""
        half = self.sin(0.5 * x)
        return 1.0 - 2.0 * half * half

    def ones_like(self, x: Value) -> Value:
        return x * 0.0 + 1.0

    def zeros_like(self, x: Value) -> Value:
        return x * 0.0

    def concatenate(self, values: Sequence[Any], axis: int) -> Any:
        """Side by side; what has no rows is left out."""
        some = [value for value in values if np.shape(_example(value))[axis]]
        if len(some) == 1:
            return some[0]
        return _called("Concat", lambda *a, axis: np.concatenate(a, axis), *some, axis=axis)

    def stack(self, values: Sequence[Value], axis: int) -> Any:
        assert axis == 0
        return self.concatenate([value[None] for value in values], 0)


def _called(operator: str, function: Callable[..., Any], *values: Any, **attributes: Any) -> Any:
    """A node, or of numbers that are known, what NumPy says."""
    graphs = [value.graph for value in values if isinstance(value, Value)]
    with np.errstate(all="ignore"):
        example = function(*map(_example, values), **attributes)
    return graphs[0].node(operator, example, *values, **attributes) if graphs else example


PLAIN: dict[str, tuple[str, Callable[..., Any]]] = {
    "abs": ("Abs", np.abs),
    "equal": ("Equal", np.equal),
    "exp": ("Exp", np.exp),
    "isnan": ("IsNaN", np.isnan),
    "log": ("Log", np.log),
    "logical_and": ("And", np.logical_and),
    "logical_not": ("Not", np.logical_not),
    "maximum": ("Max", np.maximum),
    "minimum": ("Min", np.minimum),
    "sin": ("Sin", np.sin),
    "sqrt": ("Sqrt", np.sqrt),
    "tanh": ("Tanh", np.tanh),
    "where": ("Where", np.where),
}
"""Operators of ONNX, and what they do to examples."""
OPERATIONS = Operations()
