"""The files of a result, however it was found; and the little that goes into its summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from ..attractors import Attractor
from ..paths import Grouping
from .inputs import Part, arrow
from .records import spread


def _columns(letter: str, table: FloatArray) -> dict[str, FloatArray]:
    return {f"{letter}{i + 1}": np.ascontiguousarray(column) for i, column in enumerate(table.T)}


def label_table(
    part: Part, label: IntArray, confidence: NDArray[Any], path: IntArray, position: IntArray
) -> dict[str, Any]:
    """The label of every row of a partition, in its order, and where it is in which path."""
    columns: dict[str, NDArray[Any]] = {"sample": part.offset + np.arange(part.rows), "label": label.astype(np.int32)}
    columns |= {"confidence": confidence.astype(np.float32), "path": path.astype(np.int32), "position": position}
    return {f"labels/{part.name}.parquet": arrow()[0].table(columns)}


def path_table(
    label: IntArray, samples: IntArray, first: IntArray, pace: FloatArray, start: FloatArray, end: FloatArray
) -> Any:
    """A row per path, in the order of the result."""
    columns = {
        "path": np.arange(len(label)),
        "label": label,
        "samples": samples,
        "first_sample": first,
        "end_pace": pace,
    }
    return arrow()[0].table(columns | _columns("start_x", start) | _columns("end_x", end))


def embedding_table(
    ids: IntArray, x: FloatArray, v: FloatArray, number: IntArray, length: IntArray, embedding: FloatArray
) -> Any:
    """Samples of one sub-dynamics, path after path: where they are, how they move, and their linear coordinates."""
    columns = {"sample": ids, "path": np.repeat(number, length), "position": spread(0 * length, length)}
    return arrow()[0].table(columns | _columns("x", x) | _columns("v", v) | _columns("u", embedding))


def attractor_table(located: Sequence[dict[str, Any]], paths: Sequence[int], samples: Sequence[int]) -> Any:
    """A row per attractor."""
    columns = {"label": np.arange(len(located)), "paths": np.array(paths), "samples": np.array(samples)}
    for what, name in (("x", "position"), ("error_x", "standard_error")):
        columns |= _columns(what, np.array([one[name] for one in located]))
    return arrow()[0].table(columns)


def plain(attractor: Attractor, eigenvalues: FloatArray) -> dict[str, Any]:
    """An attractor and the eigenvalues of its graph, as JSON has them; complex numbers as pairs."""
    out: dict[str, Any] = {"of_graph": eigenvalues.tolist()}
    for name, value in vars(attractor).items():
        pairs = np.stack([value.real, value.imag], axis=-1) if np.iscomplexobj(value) else value
        out[name] = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
    return out


def unplain(said: dict[str, Any]) -> Attractor:
    """The attractor that `plain` wrote."""
    arrays: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value for name, value in said.items()
    }
    del arrays["of_graph"]
    if arrays["eigenvalues"] is not None:
        arrays["eigenvalues"] = arrays["eigenvalues"] @ [1, 1j]
    return Attractor(**arrays)


def said(grouping: Grouping | None) -> dict[str, Any] | None:
    """How the ends were grouped, as JSON has it."""
    if grouping is None:
        return None
    others = [{"attractors": r.n_groups, "probability": r.probability} for r in grouping.alternatives]
    reading = {"low": grouping.low, "high": grouping.high, "probability": grouping.probability}
    return reading | {"alternatives": others}
