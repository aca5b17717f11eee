"""What a saved model must hold: its schema, how older ones are brought up to it, and the checks on every number.

Schema 2 (present): a brake per attractor, which limits the speed.
Schema 1: the size and sha256 of the tensor file, and the field's warnings; no brake.
Schema 0: `"tensors": "<file>"`, neither checksum nor warnings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..demonstrations import Caution
from ..errors import ModelError as ModelError

FORMAT = "eigenwell-model"
SCHEMA = 2


@dataclass(frozen=True)
class Config:
    """config.json, checked."""

    dimension: int
    n_attractors: int
    file: str
    size: int | None
    sha256: str | None
    """None for models saved before checksums."""
    braked: bool
    """False for models saved before there was a limit of speed."""
    warnings: tuple[Caution, ...]


def _from_0(said: dict[str, Any]) -> dict[str, Any]:
    doubt = {
        "name": "unchecked-model",
        "message": "The model was saved without a checksum, so a change since could not be noticed. Save it again.",
    }
    tensors = {"file": said.get("tensors"), "size": None, "sha256": None}
    return said | {"tensors": tensors, "warnings": [doubt]}


def _from_1(said: dict[str, Any]) -> dict[str, Any]:
    doubt = {
        "name": "no-speed-limit",
        "message": "The model was saved before fields had a limit of speed; away from its data it may be fast. Learn it again.",
    }
    warnings = said.get("warnings")
    return said | {"warnings": [*warnings, doubt] if isinstance(warnings, list) else warnings}


MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {0: _from_0, 1: _from_1}
"""From each older schema to the next. A new schema adds one line here and keeps the others."""


def parse_config(text: bytes, where: str) -> Config:
    """config.json as a Config, brought up to the present schema."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"Expected JSON in {where}, got something else ({' '.join(str(error).split())[:120]}). Copy or save the model "
            "again."
        ) from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ModelError(f'Expected "format": "{FORMAT}" in {where}, got none: this is not a model of eigenwell.')
    schema = said.get("schema")
    if type(schema) is not int or schema < 0:
        raise ModelError(f"Expected a schema number in {where}, got {_shown(schema)}. Copy or save the model again.")
    if schema > SCHEMA:
        raise ModelError(
            f"Expected schema {SCHEMA} or older in {where}, got {schema} (saved by eigenwell "
            f"{_shown(said.get('eigenwell'))}). Update with: pip install --upgrade eigenwell"
        )
    checked = schema >= 1
    for older in range(schema, SCHEMA):
        said = MIGRATIONS[older](said)
    tensors = _expect(said, "tensors", dict, where)
    return Config(
        dimension=_count(said, "dimension", 2, where),
        n_attractors=_count(said, "n_attractors", 1, where),
        file=_file_name(tensors, where),
        size=_count(tensors, "size", 0, where) if checked else None,
        sha256=_expect(tensors, "sha256", str, where) if checked else None,
        braked=schema >= 2,
        warnings=tuple(_caution(entry, where) for entry in _expect(said, "warnings", list, where)),
    )


def _expect(said: dict[str, Any], key: str, kind: type, where: str) -> Any:
    value = said.get(key)
    if type(value) is not kind:
        raise ModelError(
            f"Expected {key!r} in {where} to be a JSON {_JSON[kind]}, got {_shown(value)}. Copy or save the model again."
        )
    return value


_JSON = {dict: "object", list: "list", str: "string", int: "whole number"}


def _count(said: dict[str, Any], key: str, least: int, where: str) -> int:
    value = _expect(said, key, int, where)
    if not least <= value < 2**40:
        raise ModelError(f"Expected {key!r} >= {least} in {where}, got {_shown(value)}. Copy or save the model again.")
    return int(value)


def _file_name(said: dict[str, Any], where: str) -> str:
    name = str(_expect(said, "file", str, where))
    # A name with a path in it would read files outside the model.
    if (
        PurePath(name).name != name
        or "\\" in name
        or "\0" in name
        or not name.endswith(".safetensors")
        or len(name) > 200
    ):
        raise ModelError(
            f"Expected the name of a .safetensors file beside {where}, got {_shown(name)}. Copy or save the model again."
        )
    return name


def _caution(said: Any, where: str) -> Caution:
    if not isinstance(said, dict):
        raise ModelError(
            f"Expected warnings with name and message in {where}, got {_shown(said)}. Save the model again."
        )
    return Caution(_expect(said, "name", str, where), _expect(said, "message", str, where))


def _shown(value: Any) -> str:
    """A JSON value in a message; never a nested one, which may be deeper than can be printed."""
    return f"a JSON {_JSON[type(value)]}" if isinstance(value, dict | list) else json.dumps(value)[:60]


# --- tensors ------------------------------------------------------------------------------------------

_SHAPES = {
    "flow.frequencies": ("layers", "features", "passing"),
    "flow.weights": ("layers", "2 moving", "2 features"),
    "speed.frequencies": ("speed features", "dimension"),
    "speed.weights": ("2 speed features",),
    "speed.offset": (),
    "attractor": ("dimension",),
    "swirl": ("dimension", "dimension"),
    "softening": (),
    "brake": ("dimension",),
    "centre": ("dimension",),
    "scale": ("dimension",),
    "pace": (),
}
"""Of every field's tensors, in words that _sizes gives numbers to."""


def check_tensors(tensors: Mapping[str, NDArray[Any]], dimension: int, n_attractors: int, where: str) -> None:
    """Names, types, shapes and values: everything the mathematics takes for granted."""
    if 2 + len(_SHAPES) * n_attractors != len(tensors):
        raise ModelError(
            f"Expected {2 + len(_SHAPES) * n_attractors} tensors for {n_attractors} attractors in {where}, got "
            f"{len(tensors)}. {_AGAIN}"
        )
    _check(tensors, "samples", (None, dimension), where)
    samples = len(tensors["samples"])
    _check(tensors, "labels", (samples,), where, np.int64)
    labels = tensors["labels"]
    if samples == 0 or labels.min() < 0 or labels.max() >= n_attractors:
        raise ModelError(f"Expected samples labelled 0 to {n_attractors - 1} in {where}, got others or none. {_AGAIN}")
    if not (np.ptp(tensors["samples"], axis=0) > 0).any():
        raise ModelError(f"Expected samples that differ in {where}, got one position. {_AGAIN}")
    for q in range(n_attractors):
        sizes = _sizes(tensors, q, dimension, where)
        for name, words in _SHAPES.items():
            _check(tensors, f"{q}.{name}", tuple(sizes[word] for word in words), where)
        for name in ("softening", "scale", "pace"):
            if not (tensors[f"{q}.{name}"] > 0).all():
                raise ModelError(f"Expected {name} > 0 in tensor {q}.{name} of {where}, got others. {_AGAIN}")
        if not (tensors[f"{q}.brake"] >= 0).all():
            raise ModelError(f"Expected brake >= 0 in tensor {q}.brake of {where}, got others. {_AGAIN}")
        swirl = tensors[f"{q}.swirl"]
        if not np.allclose(swirl, -swirl.T, rtol=1e-6, atol=1e-9):
            raise ModelError(
                f"Expected a skew matrix in tensor {q}.swirl of {where}, got another: it is not stable. {_AGAIN}"
            )


_AGAIN = "Copy the model again, or save it again."


def _sizes(tensors: Mapping[str, NDArray[Any]], q: int, dimension: int, where: str) -> dict[str, int]:
    flow, speed = tensors.get(f"{q}.flow.frequencies"), tensors.get(f"{q}.speed.frequencies")
    if flow is None or speed is None or flow.ndim != 3 or speed.ndim != 2 or min(*flow.shape, *speed.shape) < 1:
        raise ModelError(f"Expected the frequencies of attractor {q} in {where}, got none of that shape. {_AGAIN}")
    layers, features, passing = flow.shape
    if passing != dimension // 2:
        raise ModelError(
            f"Expected tensor {q}.flow.frequencies of {where} for {dimension} dimensions, got shape {flow.shape}. {_AGAIN}"
        )
    return {
        "dimension": dimension,
        "layers": layers,
        "features": features,
        "2 features": 2 * features,
        "passing": passing,
        "2 moving": 2 * (dimension - passing),
        "speed features": len(speed),
        "2 speed features": 2 * len(speed),
    }


def _check(
    tensors: Mapping[str, NDArray[Any]], name: str, shape: tuple[int | None, ...], where: str, kind: type = np.float64
) -> None:
    tensor = tensors.get(name)
    if tensor is None:
        raise ModelError(f"Expected tensor {name} in {where}, got none. {_AGAIN}")
    fits = tensor.ndim == len(shape) and all(a in (None, b) for a, b in zip(shape, tensor.shape, strict=True))
    if tensor.dtype != kind or not fits:
        wanted = "(" + ", ".join("n" if size is None else str(size) for size in shape) + ")"
        raise ModelError(
            f"Expected tensor {name} of {where} as {np.dtype(kind)} {wanted}, got {tensor.dtype} {tensor.shape}. {_AGAIN}"
        )
    if not np.isfinite(tensor).all():
        raise ModelError(f"Expected finite numbers in tensor {name} of {where}, got NaN or infinity. {_AGAIN}")
