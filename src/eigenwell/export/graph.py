"""Formulas that write themselves down as ONNX nodes."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class GraphBuilder:
    """Nodes and constants written so far; numbers are stored as `real`."""

    def __init__(self, real: type[np.floating[Any]]) -> None:
        self.real = real
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._seen: dict[tuple[bytes, str, tuple[int, ...]], str] = {}
        self._numbers = count()

    def inner(self) -> GraphBuilder:
        """The body of a loop: nodes of its own, constants and names of this graph."""
        body = GraphBuilder(self.real)
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
        return Value(self, self._seen[key])

    def number(self, value: float) -> Value:
        return self.constant(np.float64(value))

    def pick(self, stacked: ArrayLike, index: Value | None) -> Value:
        """The entry `index` of the first axis; where there is only one, it."""
        values = np.asarray(stacked)
        if index is None or len(values) == 1:
            return self.constant(values[0])
        return self.constant(values).call("Gather", index, axis=0)

    def loop(
        self, most: int, carried: list[Value], body: GraphBuilder, out: list[Value], again: Value, types: list[int]
    ) -> list[Value]:
        """Repeat `body`, whose inputs are named in0, in1, ..., while `again` and at most so often; the values that it carries."""
        from onnx import TensorProto, helper

        info = helper.make_tensor_value_info
        inputs = [info("trip", TensorProto.INT64, []), info("going", TensorProto.BOOL, [])]
        inputs += [info(f"in{i}", kind, None) for i, kind in enumerate(types)]
        outputs = [info(again.name, TensorProto.BOOL, [])]
        outputs += [info(value.name, kind, None) for value, kind in zip(out, types, strict=True)]
        inside = helper.make_graph(body.nodes, "body", inputs, outputs)
        names = [f"v{next(self._numbers)}" for _ in carried]
        begin = self.number(1.0).call("Greater", self.number(0.0))
        given = [self.constant(most).name, begin.name, *(value.name for value in carried)]
        self.nodes.append(helper.make_node("Loop", given, names, body=inside))
        return [Value(self, name) for name in names]


class Value:
    """A tensor of the graph. Arithmetic adds nodes."""

    # NumPy must leave `array * value` to Value.
    __array_ufunc__ = None

    def __init__(self, graph: GraphBuilder, name: str) -> None:
        self.graph, self.name = graph, name

    def call(self, operator: str, *others: Value, **attributes: Any) -> Value:
        """operator(self, *others)."""
        from onnx import helper

        out = f"v{next(self.graph._numbers)}"
        names = [self.name, *(other.name for other in others)]
        self.graph.nodes.append(helper.make_node(operator, names, [out], **attributes))
        return Value(self.graph, out)

    def _with(self, operator: str, other: Value | ArrayLike) -> Value:
        return self.call(operator, other if isinstance(other, Value) else self.graph.constant(other))

    def _after(self, operator: str, other: ArrayLike) -> Value:
        return self.graph.constant(other).call(operator, self)

    def __add__(self, other: Value | ArrayLike) -> Value:
        return self._with("Add", other)

    def __radd__(self, other: ArrayLike) -> Value:
        return self._after("Add", other)

    def __sub__(self, other: Value | ArrayLike) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: ArrayLike) -> Value:
        return self._after("Sub", other)

    def __mul__(self, other: Value | ArrayLike) -> Value:
        return self._with("Mul", other)

    def __rmul__(self, other: ArrayLike) -> Value:
        return self._after("Mul", other)

    def __truediv__(self, other: Value | ArrayLike) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: ArrayLike) -> Value:
        return self._after("Div", other)

    def __matmul__(self, other: Value | ArrayLike) -> Value:
        return self._with("MatMul", other)

    def __neg__(self) -> Value:
        return self.call("Neg")

    def cast(self, kind: type[np.floating[Any]]) -> Value:
        from onnx import helper

        return self.call("Cast", to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def sum(self, axis: int, *, keep: bool = True) -> Value:
        return self.call("ReduceSum", self.graph.constant([axis]), keepdims=int(keep))

    def unsqueeze(self, axis: int) -> Value:
        return self.call("Unsqueeze", self.graph.constant([axis]))

    def columns(self, which: list[int]) -> Value:
        """These entries of the last axis, in this order."""
        return self.call("Gather", self.graph.constant(which), axis=-1)

    def part(self, start: int, stop: int, *, axis: int = -1) -> Value:
        return self.call("Slice", *(self.graph.constant([i]) for i in (start, stop, axis)))

    def reshape(self, shape: list[int]) -> Value:
        return self.call("Reshape", self.graph.constant(shape))

    def concat(self, other: Value) -> Value:
        """Side by side, along the last axis."""
        return self.call("Concat", other, axis=-1)

    def named(self, name: str) -> None:
        """Give the value the name of an output."""
        from onnx import helper

        self.graph.nodes.append(helper.make_node("Identity", [self.name], [name]))
