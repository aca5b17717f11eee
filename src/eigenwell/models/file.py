"""Saved models: one .safetensors file with its configuration inside, versioned, checked, never a pickle.

A model is put in place by one rename: whoever loads meanwhile gets the old model or the new one. A checksum over the
configuration and all tensors is in the file's own header, so that every change since is noticed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from .. import __version__
from ..demonstrations import Caution
from ..errors import ModelError
from ..fields import Around, Field, Moved, SecondOrderField, Speed, StableField, StableModel, Within
from ..fields.flows import Flow
from ..fields.warping import by_own_ways
from ..fields.warps import Stretch, World
from ..files import CannotWrite, replacing
from ..files.atomic import check_writable
from .schema import AGAIN, SECOND_ORDER, TABLE, WHOLE, Config, Tensors, check_tensors, parse_config

WARPS: dict[str, Any] = {"within": Within, "around": Around, "moved": Moved}
TOLD = ("fit", "map_fit", "warnings", "chart")
"""What a Field and its configuration both have."""
CONFIG, CHECKSUM = "eigenwell", "sha256"
"""Names in the file's metadata."""
LARGEST_HEADER = 100 * 2**20
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".sav")


def save(
    field: Field | StableField | SecondOrderField, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write `field` to one file, whole or not at all.

    A model that is already there is replaced; any other file is refused unless `overwrite`, a folder always.

    Parameters
    ----------
    field : Field, StableField or SecondOrderField
        What was learned.
    path : str or path
        The file, for example "duffing.eigenwell".
    overwrite : bool
        Replace a file that is not a model.

    Raises
    ------
    CannotWrite
        When the file cannot be written there; nothing was changed.
    ModelError
        When the field holds numbers that `load` would refuse.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.models.save(field, "duffing.eigenwell")  # doctest: +SKIP
    """
    target = Path(path)
    config, tensors = _parts(field)
    _field(config, tensors, "the field to save")
    check_target(target, overwrite=overwrite)
    text = config.text(__version__)
    data = pack(tensors, {CONFIG: text, CHECKSUM: _digest(text, tensors)})
    with replacing(target) as temporary:
        temporary.write_bytes(data)


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Refuse, before any work is done, what `save` would refuse: a folder, or a file that is not a model."""
    target = Path(path)
    check_writable(target)
    if target.exists() and not overwrite and not _is_model(target):
        raise CannotWrite(
            f"Expected a new file or a saved model at {target}, got another file. Choose another name, or say that it may "
            "be replaced (overwrite=True, or --force); nothing was changed."
        )


def load(path: str | os.PathLike[str], *, goal: int | None = None) -> Field | StableField | SecondOrderField:
    """What was saved at `path`, the same numbers to the last bit: a Field, or a StableField or SecondOrderField.

    With `goal` the stable field of that attractor alone, as `field.toward(goal)`.

    Parameters
    ----------
    path : str or path
        A model.
    goal : int, optional
        The stable field of that attractor alone.

    Returns
    -------
    Field, StableField or SecondOrderField
        What was saved.

    Raises
    ------
    ModelError
        When there is no model, or it was damaged, or its schema is newer; the message says what to do.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.load("duffing.eigenwell")  # doctest: +SKIP
    """
    source = Path(path)
    if source.is_dir():
        if any(p.suffix in PICKLES for p in source.iterdir()):
            raise ModelError(_pickle(source))
        raise ModelError(f"Expected a model's file, got the folder {source}. Name a file in it.")
    field = _load_file(source)
    if goal is None:
        return field
    if isinstance(goal, bool) or not isinstance(goal, int) or not 0 <= goal < field.n_attractors:
        raise ModelError(f"Expected a goal 0 to {field.n_attractors - 1} of {source}, got {goal!r}. Name one of them.")
    if isinstance(field, SecondOrderField):
        raise ModelError(f"Expected no goal for {source}, a field of (q, qdot), got {goal!r}. Leave goal out.")
    if isinstance(field, Field):
        return field.toward(goal)
    return field if field.n_attractors == 1 else field.alone(goal)


def as_field(field: Field | StableField | SecondOrderField) -> Field:
    """A StableField as a Field. It has no samples: a grid over its box stands for them."""
    if isinstance(field, Field):
        return field
    if isinstance(field, SecondOrderField):
        raise ModelError(
            "Expected a field of positions, got one of second order, whose states are (q, qdot). It can be saved, loaded, "
            "and asked for predict, simulate and energy in Python; for the rest learn without order=2."
        )
    if not isinstance(field, StableField):
        raise ModelError(f"Expected a Field or a StableField, got {type(field).__name__}. Pass what learn() gave.")
    # Five points per axis leave no state of the box farther than `fields.REACH`, up to four dimensions; beyond, a
    # grid has too many points, and the middles of the faces keep at least the extent.
    d = field.dimension
    if d <= 4:
        unit = np.array(list(itertools.product(np.linspace(-0.5, 0.5, 5), repeat=d)))
    else:
        unit = np.concatenate([np.zeros((1, d)), 0.5 * np.eye(d), -0.5 * np.eye(d)])
    doubt = Caution(
        "samples-unknown",
        "The field came without its samples: what is far from the data is judged by the box they filled.",
    )
    samples = field.from_unit(unit)
    labels = np.maximum(field.basin(field.present_place(samples)), 0)
    return Field(field, (), (), samples, labels, np.zeros(len(unit)), warnings=(doubt,))


# --- a field as named arrays --------------------------------------------------------------------------


def _parts(field: Any) -> tuple[Config, Tensors]:
    """Configuration and tensors."""
    if isinstance(field, SecondOrderField):
        config = Config(SECOND_ORDER, field.dimension, field.n_attractors, warnings=field.warnings)
        return config, _tensors("", SECOND_ORDER, field)
    many = field if isinstance(field, StableField) else as_field(field)
    whole = many.map if isinstance(many, Field) else many
    world = whole.model.world
    # Where goals were moving to is of the moment, and not kept.
    warps = () if world is None else world.outer.warps
    kinds = tuple(next(kind for kind, warp in WARPS.items() if isinstance(one, warp)) for one in warps)
    config = Config("stable field", many.dimension, many.n_attractors, warps=kinds)
    stable: tuple[StableField, ...] = (whole,)
    tensors: Tensors = {}
    if isinstance(many, Field):
        told = {name: getattr(many, name) for name in TOLD}
        config = replace(config, kind="field", goals=len(many.goals), lifted=len(many.lifted), **told)
        stable, tensors = (whole, *many.goals, *many.lifted), _tensors("", "data", many)
    for (prefix, _, _), one in zip(config.parts(), stable, strict=True):
        tensors |= _tensors(f"{prefix}.", "stable", one)
        if one.model.world is not None and one.model.world.home is not None:
            tensors |= _tensors(f"{prefix}.home.", "home", one.model.world.home)
    if warps:
        tensors |= _tensors("warps.", "world", world)
    for i, (kind, warp) in enumerate(zip(kinds, warps, strict=True)):
        tensors |= _tensors(f"warps.{i}.", kind, warp)
    return config, tensors


def _tensors(prefix: str, kind: str, one: Any) -> Tensors:
    def value(name: str) -> Any:
        model = kind == "stable" and name not in ("centre", "scale", "pace")
        return reduce(getattr, name.split("."), one.model if model else one)

    return {
        prefix + name: np.array(value(name), dtype=np.int64 if name in WHOLE else np.float64, order="C")
        for name in TABLE[kind]
    }


def _field(config: Config, tensors: Tensors, where: str) -> Field | StableField | SecondOrderField:
    """What was saved, once its numbers are checked."""
    check_tensors(tensors, config, where)
    if config.kind == SECOND_ORDER:
        numbers: dict[str, Any] = {name: float(t) if t.ndim == 0 else t for name, t in tensors.items()}
        return SecondOrderField(**numbers)

    def part(prefix: str, kind: str) -> dict[str, Any]:
        return {name: tensors[prefix + name] for name in TABLE[kind] if prefix + name in tensors}

    warps = [_sound(WARPS[kind](**part(f"warps.{i}.", kind)), where) for i, kind in enumerate(config.warps)]
    stable = []
    for prefix, _, _ in config.parts():
        own, home = part(f"{prefix}.", "stable"), part(f"{prefix}.home.", "home")
        flow = Flow(*(own.pop(f"flow.{name}") for name in Flow._fields))
        speed = Speed(*(own.pop(f"speed.{name}") for name in Speed._fields))
        frame = own.pop("centre"), own.pop("scale"), float(own.pop("pace"))
        one = StableField(StableModel(flow, speed, **own), *frame)
        through = (*warps, *([_sound(Stretch(**home), where)] if home else []))
        if through:
            n = config.places
            _, _, goal = prefix.partition(".")
            places = tensors.get("warps.places", one.attractors[:, :n])
            if goal and warps:
                places = places[int(goal) : int(goal) + 1]
            one = replace(one, model=one.model._replace(world=World(one.centre[:n], one.scale[:n], through, places)))
        stable.append(one)
    if config.kind == "stable field":
        return stable[0]
    goals, lifted = stable[1 : 1 + config.goals], stable[1 + config.goals :]
    told = {name: getattr(config, name) for name in TOLD}
    return by_own_ways(Field(stable[0], tuple(goals), tuple(lifted), **part("", "data"), **told))


def _sound(one: Any, where: str) -> Any:
    """A warp, if it is a diffeomorphism."""
    if isinstance(one, Around):
        inner = np.linalg.norm(np.einsum("mij,mj->mi", one.shapes, one.centre - one.centres), axis=1)
        fine = one.reach > 1 and (inner < 1).all() and (np.linalg.det(one.shapes) != 0).all()
    elif isinstance(one, Moved):
        steep = np.linalg.norm(one.force / one.length, axis=2).sum(1) * np.exp(-0.5)
        fine = np.linalg.det(one.matrix) > 0 and (steep < 1).all()
    else:
        fine = (one.low + one.margin[0] <= one.high - one.margin[1]).all() and (isinstance(one, Within) or one.knee < 1)
    if not fine:
        raise ModelError(f"Expected a warp that does not fold in {where}, got another: {type(one).__name__}. {AGAIN}")
    return one


def _digest(text: str, tensors: Tensors) -> str:
    """sha256 over the configuration and every tensor's name, type, shape and bytes."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype.str} {tensor.shape}\n".encode())
        digest.update(np.ascontiguousarray(tensor).tobytes())
    return digest.hexdigest()


# --- reading ------------------------------------------------------------------------------------------


def _load_file(source: Path) -> Field | StableField | SecondOrderField:
    if not source.is_file():
        raise ModelError(f"Expected a model's file at {source}, got nothing that can be read. Check the name.")
    try:
        data = source.read_bytes()
    except OSError as error:
        raise ModelError(
            f"Expected to read {source}, got: {error.strerror or error}. Check its permissions."
        ) from error
    metadata = _metadata(data)
    if metadata is None:
        if source.suffix in PICKLES or data[:1] == b"\x80":
            raise ModelError(_pickle(source))
        raise ModelError(f"Expected a model of eigenwell in {source}, got another file or only a part of one. {AGAIN}")
    text = metadata[CONFIG]
    config = parse_config(text, str(source))
    try:
        # Copied: the arrays that come are read-only views into the bytes.
        tensors = {name: np.array(tensor, order="C") for name, tensor in unpack(data).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        line = (" ".join(str(error).split()) or type(error).__name__)[:200]
        raise ModelError(f"Expected all tensors in {source}, got a part or something else ({line}). {AGAIN}") from error
    if metadata.get(CHECKSUM) != _digest(text, tensors):
        raise ModelError(
            f"Expected {source} with the sha256 in its header, got another: it is not the file that was saved. {AGAIN}"
        )
    return _field(config, tensors, str(source))


def _metadata(data: bytes) -> dict[str, str] | None:
    """The metadata of a safetensors file that says it is ours, or None."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= size <= min(LARGEST_HEADER, len(data) - 8):
        return None
    try:
        said = json.loads(data[8 : 8 + size])
    except (ValueError, RecursionError):
        return None
    metadata = said.get("__metadata__") if isinstance(said, dict) else None
    ours = isinstance(metadata, dict) and isinstance(metadata.get(CONFIG), str)
    return metadata if ours else None


def _is_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(8)
            head += file.read(min(int.from_bytes(head, "little"), LARGEST_HEADER))
        return path.is_file() and _metadata(head) is not None
    except OSError:
        return False


def _pickle(source: Path) -> str:
    return (
        f"Expected a .safetensors file of eigenwell, got a pickle at {source}. Pickles run code when read and "
        "eigenwell does not read them: save the model again with field.save(path)."
    )
