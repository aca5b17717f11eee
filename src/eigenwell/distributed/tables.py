"""The files of a result, however it was found; and the little that goes into its summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..demonstrations import Caution
from ..paths import Grouping
from .inputs import arrow
from .records import Records, column, packed, spread


def table(**columns: Any) -> Any:
    """An Arrow table; of a matrix (n, d) called x the columns x1, x2, ..."""
    flat: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        parts = {name: values} if np.ndim(values) == 1 else {f"{name}{i + 1}": c for i, c in enumerate(values.T)}
        flat |= {one: np.ascontiguousarray(c) for one, c in parts.items()}
    return arrow()[0].table(flat)


def label_rows(ids: IntArray, label: IntArray, sure: NDArray[Any], path: IntArray, position: IntArray) -> Records:
    """What is found of samples, in the order of the input: label, how sure, path, and where it is in the path."""
    label, path, sure = label.astype(np.int32), path.astype(np.int32), sure.astype(np.float32)
    return packed(sample=ids, label=label, confidence=sure, path=path, position=position)[np.argsort(ids)]


def label_table(rows: Records) -> Any:
    return table(**{name: column(rows, name) for name in rows.dtype.names or ()})


def path_table(
    label: IntArray, samples: IntArray, first: IntArray, pace: FloatArray, start: FloatArray, end: FloatArray
) -> Any:
    """A row per path, in the order of the result."""
    said = {"label": label, "samples": samples, "first_sample": first, "end_pace": pace}
    return table(path=np.arange(len(label)), **said, start_x=start, end_x=end)


def embedding_table(
    ids: IntArray, x: FloatArray, v: FloatArray, number: IntArray, length: IntArray, embedding: FloatArray
) -> Any:
    """Samples of one sub-dynamics, path after path: where they are, how they move, and their linear coordinates."""
    path, position = np.repeat(number, length), spread(0, length)
    return table(sample=ids, path=path, position=position, x=x, v=v, u=embedding)


def attractor_table(located: Sequence[dict[str, Any]], paths: Sequence[int], samples: Sequence[int]) -> Any:
    """A row per attractor."""
    place, error = (np.array([one[name] for one in located]) for name in ("position", "standard_error"))
    counted = {"paths": np.array(paths), "samples": np.array(samples)}
    return table(label=np.arange(len(located)), **counted, x=place, error_x=error)


def plain(attractor: Attractor, eigenvalues: FloatArray) -> dict[str, Any]:
    """An attractor and the eigenvalues of its graph, as JSON has them; complex numbers as pairs."""
    out: dict[str, Any] = {"of_graph": eigenvalues.tolist()}
    for name, value in vars(attractor).items():
        pairs = np.stack([value.real, value.imag], axis=-1) if np.iscomplexobj(value) else value
        out[name] = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
    return out


def unplain(said: dict[str, Any]) -> Attractor:
    """The attractor that `plain` wrote."""
    arrays: dict[str, Any] = {k: np.array(a) if isinstance(a, list) else a for k, a in said.items() if k != "of_graph"}
    if arrays["eigenvalues"] is not None:
        arrays["eigenvalues"] = arrays["eigenvalues"] @ [1, 1j]
    return Attractor(**arrays)


def doubts(warnings: Sequence[Caution]) -> list[list[str]]:
    return [[c.name, c.message] for c in warnings]


def said(grouping: Grouping | None) -> dict[str, Any] | None:
    """How the ends were grouped, as JSON has it."""
    if grouping is None:
        return None
    others = [{"attractors": r.n_groups, "probability": r.probability} for r in grouping.alternatives]
    return {name: getattr(grouping, name) for name in ("low", "high", "probability")} | {"alternatives": others}
