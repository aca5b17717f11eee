"""Arrays that write themselves down as ONNX nodes: the formulas of `fields`, run on them once, are the exported graph.

Every value carries an example of itself, a NumPy array for a few points, which knows its shape; the number of points stays
open.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
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


class Value(NDArrayOperatorsMixin):
    """An array of the graph; what NumPy's functions would do to it is written down instead."""

    def __init__(self, graph: Graph, name: str, example: NDArray[Any]) -> None:
        self.graph, self.name, self.example = graph, name, example

    def __array_namespace__(self, **_: Any) -> Operations:
        return OPERATIONS

    def __array_ufunc__(self, function: Any, _: str, *inputs: Any) -> Value:
        """function(*inputs); a number beside a value is of its kind."""
        if function is np.cos:  # by a sine: runtimes have no cosine in double
            half = np.sin(0.5 * self)
            return 1.0 - 2.0 * half * half  # type: ignore[no-any-return]
        if function is np.power and inputs[1] in (1, 2):
            return self if inputs[1] == 1 else self * self
        return self._written(OPERATORS[function.__name__], function, *inputs)

    def __array_function__(self, function: Any, _: Any, given: Any, named: Any) -> Any:
        if function is np.where:
            return self._written("Where", function, *given)
        if function in (np.ones_like, np.zeros_like):
            return self * 0.0 + float(function is np.ones_like)
        values, axis = given[0], named["axis"]
        if function is np.stack:
            values = [value[None] for value in values]
        # What has no rows is left out.
        some = [value for value in values if np.shape(_example(value))[axis]]
        join = partial(np.concatenate, axis=axis)
        return some[0] if len(some) == 1 else self._written("Concat", lambda *parts: join(parts), *some, axis=axis)

    def _written(self, operator: str, function: Callable[..., Any], *inputs: Any, **attributes: Any) -> Value:
        kind = next(one.dtype for one in reversed(inputs) if isinstance(one, Value))
        inputs = tuple(one if isinstance(one, Value) else np.asarray(one, dtype=kind) for one in inputs)
        with np.errstate(all="ignore"):
            return self.graph.node(operator, function(*map(_example, inputs)), *inputs, **attributes)

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

    def __getattr__(self, name: str) -> Callable[[int], Value]:
        if name not in ("mean", "min", "max"):
            raise AttributeError(name)
        example: Any = getattr(self.example, name)
        return lambda axis: self.call(f"Reduce{name.capitalize()}", example(axis), axes=[axis], keepdims=0)

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
    """NumPy under another name: what is not NumPy's own takes the way that every library has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


OPERATORS = {
    **{"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "matmul": "MatMul", "power": "Pow"},
    **{"negative": "Neg", "absolute": "Abs", "less": "Less", "greater": "Greater", "equal": "Equal", "isnan": "IsNaN"},
    **{"logical_and": "And", "logical_not": "Not", "maximum": "Max", "minimum": "Min"},
    **{name: name.capitalize() for name in ("exp", "log", "sin", "sqrt", "tanh")},
}
"""What NumPy's functions are called in ONNX."""
OPERATIONS = Operations()
