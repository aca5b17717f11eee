"""Formulas that write themselves down as ONNX nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class Graph:
    """Nodes and constants written so far; numbers are stored as `real`."""

    def __init__(self, real: type[np.floating[Any]]) -> None:
        self.real = real
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._seen: dict[tuple[bytes, str, tuple[int, ...]], Value] = {}

    def constant(self, value: ArrayLike) -> Value:
        """An array as a value; floats become `real`, the same array is stored once."""
        from onnx import numpy_helper

        array = np.asarray(value)
        array = array.astype(self.real) if array.dtype.kind == "f" else array.astype(np.int64)
        key = (array.tobytes(), array.dtype.str, array.shape)
        if key not in self._seen:
            name = f"c{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
            self._seen[key] = Value(self, name)
        return self._seen[key]

    def number(self, value: float) -> Value:
        return self.constant(np.float64(value))


class Value:
    """A tensor of the graph. Arithmetic adds nodes."""

    # NumPy must leave `array * value` to Value.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def call(self, operator: str, *others: Value, **attributes: Any) -> Value:
        """operator(self, *others)."""
        from onnx import helper

        out = f"v{len(self.graph.nodes)}"
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
