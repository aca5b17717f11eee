"""What a learned field says of its map: the one stable field of all attractors, without memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from .._types import FloatArray
from .field import StableField

P = ParamSpec("P")
R = TypeVar("R")


def _of_map(question: Callable[Concatenate[StableField, P], R]) -> Callable[Concatenate[Any, P], R]:
    """The same question to the map."""

    @wraps(question)
    def ask(self: Any, /, *given: P.args, **named: P.kwargs) -> R:
        return question(self.map, *given, **named)

    return ask


class MapQueries:
    """Questions about a field that its map answers."""

    map: StableField

    predict = _of_map(StableField.predict)
    advance = _of_map(StableField.advance)
    basin = _of_map(StableField.basin)
    potential = _of_map(StableField.potential)
    potential_gradient = _of_map(StableField.potential_gradient)
    separatrices = _of_map(StableField.separatrices)

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return self.map.dimension

    @property
    def n_attractors(self) -> int:
        """Q, the number of attractors."""
        return self.map.n_attractors

    @property
    def attractors(self) -> FloatArray:
        """(Q, d), the places where the field is zero and stable."""
        return self.map.attractors

    @property
    def saddles(self) -> FloatArray:
        """(n, d), where the basins of the map meet; none of them is stable."""
        return self.map.saddles
