"""Models of eigenwell 0.1, read: a folder of config.json and one .safetensors file, with a field per attractor.

Schema 2: a brake per attractor, which limits the speed.
Schema 1: the size and sha256 of the tensor file, and the field's warnings; no brake.
Schema 0: `"tensors": "<file>"`, neither checksum nor warnings.

Each of those fields is a field of today without windows. With one attractor the model is the same, number for number.
With several there was no joint field: the nearest sample chose among them anew at every call, which is not stable. So
such a model is refused as a whole, and read one goal at a time.
"""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as unpack

from ..demonstrations import Caution
from ..errors import ModelError
from ..fields import Field, StableField
from .schema import AGAIN, Tensors, caution, check_part, check_samples, count, expect, parse_json, shown, stable_field

CONFIG = "config.json"
LARGEST_CONFIG = 16 * 2**20
LAST_SCHEMA = 2
UNCHECKED = Caution(
    "unchecked-model",
    "The model was saved without a checksum, so a change since could not be noticed. Save it again.",
)
UNBRAKED = Caution(
    "no-speed-limit",
    "The model was saved before fields had a limit of speed; away from its data it may be fast. Learn it again.",
)
_OLD = (
    "flow.frequencies", "flow.weights", "speed.frequencies", "speed.weights", "speed.offset", "attractor", "swirl",
    "softening", "centre", "scale", "pace",
)  # fmt: skip
"""Tensors of every attractor's field in all three schemas."""


def load(source: Path, goal: int | None) -> Field | StableField:
    """The field of a folder with one attractor, or the stable field of one goal of several."""
    where = str(source / CONFIG)
    said = parse_json(_read(source / CONFIG, LARGEST_CONFIG), where)
    schema = said["schema"]
    if schema > LAST_SCHEMA:
        raise ModelError(
            f"Expected schema {LAST_SCHEMA} or older in a model's folder, got {schema} in {where}. {AGAIN}"
        )
    dimension, attractors = count(said, "dimension", 2, where), count(said, "n_attractors", 1, where)
    warnings = tuple(caution(one, where) for one in expect(said, "warnings", list, where)) if schema else (UNCHECKED,)
    warnings += (UNBRAKED,) if schema < 2 else ()
    tensors = _tensors(source, said, schema, dimension, attractors)
    if goal is None and attractors > 1:
        raise ModelError(
            f"Expected one field for all attractors in {source}, got {attractors} separate ones (schema {schema}), which "
            "together were not stable. Learn it again; or take one of them with load(path, goal=q)."
        )
    if goal is not None and (isinstance(goal, bool) or not isinstance(goal, int) or not 0 <= goal < attractors):
        raise ModelError(f"Expected a goal 0 to {attractors - 1} of {source}, got {goal!r}. Name one of them.")
    field = stable_field(tensors, str(goal or 0))
    if goal is not None:
        return field
    labels = tensors["labels"].astype(np.intp)
    # Phases were not kept; only motions ask for them, and this field has none.
    return Field(field, (), (), tensors["samples"], labels, np.zeros(len(labels)), warnings=warnings)


def _tensors(source: Path, said: dict[str, Any], schema: int, dimension: int, attractors: int) -> Tensors:
    """The tensors, checked, each field's named as today."""
    where = str(source / CONFIG)
    described = expect(said, "tensors", dict, where) if schema else {"file": said.get("tensors")}
    file = source / _file_name(described, where)
    data = _read(file)
    if schema:
        size, wanted = count(described, "size", 0, where), expect(described, "sha256", str, where)
        if len(data) != size:
            raise ModelError(f"Expected {size} bytes in {file}, got {len(data)}: it was cut short or changed. {AGAIN}")
        if hashlib.sha256(data).hexdigest() != wanted:
            raise ModelError(f"Expected {file} with the sha256 named in {CONFIG}, got another: it was changed. {AGAIN}")
    try:
        old = {name: np.array(tensor, order="C") for name, tensor in unpack(data).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        line = (" ".join(str(error).split()) or type(error).__name__)[:200]
        raise ModelError(f"Expected a safetensors file at {file}, got something else ({line}). {AGAIN}") from error
    names = (*_OLD, "brake") if schema == LAST_SCHEMA else _OLD
    if len(old) != 2 + attractors * len(names):
        raise ModelError(
            f"Expected {2 + attractors * len(names)} tensors for {attractors} attractors in {file}, got {len(old)}. {AGAIN}"
        )
    check_samples(old, dimension, attractors, str(file))
    tensors = {name: old[name] for name in ("samples", "labels")}
    for q in range(attractors):
        for name in names:
            if f"{q}.{name}" not in old:
                raise ModelError(f"Expected tensor {q}.{name} in {file}, got none. {AGAIN}")
        tensors |= {
            f"{q}.{name}": old[f"{q}.{name}"] for name in names if name not in ("attractor", "swirl", "softening")
        }
        tensors |= {f"{q}.{name}s": old[f"{q}.{name}"][None] for name in ("attractor", "swirl")}
        tensors |= {f"{q}.softening": old[f"{q}.softening"][None], f"{q}.log_weights": np.zeros(1)}
        tensors |= {f"{q}.{name}": np.asarray(0.0) for name in ("flow.window", "speed.window")}
        tensors.setdefault(f"{q}.brake", np.zeros(dimension))
        check_part(tensors, str(q), dimension, 1, str(file))
    return tensors


def _file_name(said: dict[str, Any], where: str) -> str:
    name = str(expect(said, "file", str, where))
    # A name with a path in it would read files outside the model.
    outside = PurePath(name).name != name or "\\" in name or "\0" in name
    if outside or not name.endswith(".safetensors") or len(name) > 200:
        raise ModelError(f"Expected the name of a .safetensors file beside {where}, got {shown(name)}. {AGAIN}")
    return name


def _read(path: Path, most: int | None = None) -> bytes:
    """All bytes of a plain file."""
    if not path.is_file():
        raise ModelError(f"Expected a file at {path}, got none. Copy the whole folder of the model, or learn it again.")
    try:
        if most is not None and path.stat().st_size > most:
            raise ModelError(
                f"Expected at most {most} bytes in {path}, got {path.stat().st_size}: this is not a model's."
            )
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"Expected to read {path}, got: {error.strerror or error}. Check its permissions.") from error
