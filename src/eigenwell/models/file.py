"""Saved models: one .safetensors file with its configuration inside, versioned, checked, never a pickle.

A model is put in place by one rename: whoever loads meanwhile gets the old model or the new one. A checksum over the
configuration and all tensors is in the file's own header, so that every change since is noticed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from .. import __version__
from ..demonstrations import Caution
from ..errors import ModelError
from ..fields import Field, SecondOrderField, StableField
from ..fields.warping import by_own_ways
from ..files import CannotWrite, replacing
from . import second_order, warps
from .schema import AGAIN, SECOND_ORDER, Config, Tensors, check_tensors, parse_config, stable_field

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
    _check(tensors, config, "the field to save")
    check_target(target, overwrite=overwrite)
    text = config.text(__version__)
    data = pack(tensors, {CONFIG: text, CHECKSUM: _digest(text, tensors)})
    with replacing(target) as temporary:
        temporary.write_bytes(data)


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Refuse, before any work is done, what `save` would refuse: a folder, or a file that is not a model."""
    target = Path(path)
    if target.is_dir():
        raise CannotWrite(
            f"Expected a file for the model, got the folder {target}. Choose another name, for example "
            f"{target}.safetensors; nothing was changed."
        )
    if not target.parent.is_dir():
        raise CannotWrite(f"Cannot write {target}: there is no folder {target.parent}. Make it, or give another place.")
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


def _parts(field: Field | StableField | SecondOrderField) -> tuple[Config, Tensors]:
    if isinstance(field, SecondOrderField):
        return second_order.parts(field)
    if isinstance(field, StableField):
        kinds, seen = warps.named(field.model.world)
        alone = Config("stable field", field.dimension, field.n_attractors, 0, 0, None, None, (), warps=kinds)
        return alone, _tensors("map", field) | warps.home_tensors("map", field) | seen
    many = as_field(field)
    kinds, seen = warps.named(many.map.model.world)
    config = Config(
        kind="field",
        dimension=many.dimension,
        n_attractors=many.n_attractors,
        goals=len(many.goals),
        lifted=len(many.lifted),
        fit=many.fit,
        map_fit=many.map_fit,
        warnings=tuple(many.warnings),
        chart=many.chart,
        warps=kinds,
    )
    tensors: Tensors = seen | {
        "samples": np.array(many.samples, dtype=np.float64, order="C"),
        "labels": many.labels.astype(np.int64),
        "phases": np.array(many.phases, dtype=np.float64, order="C"),
    }
    for (prefix, _, _), one in zip(config.parts(), (many.map, *many.goals, *many.lifted), strict=True):
        tensors |= _tensors(prefix, one) | warps.home_tensors(prefix, one)
    return config, tensors


def _tensors(prefix: str, one: StableField) -> Tensors:
    model = one.model
    named = {
        **{f"flow.{name}": value for name, value in model.flow._asdict().items()},
        **{f"speed.{name}": value for name, value in model.speed._asdict().items()},
        **{name: getattr(model, name) for name in ("attractors", "log_weights", "swirls", "softening", "brake")},
        "centre": one.centre,
        "scale": one.scale,
        "pace": one.pace,
    }
    return {f"{prefix}.{name}": np.array(value, dtype=np.float64, order="C") for name, value in named.items()}


def _check(tensors: Tensors, config: Config, where: str) -> None:
    if config.kind == SECOND_ORDER:
        second_order.check_tensors(tensors, config, where)
    else:
        warped = warps.check_warps(tensors, config.warps, config.n_attractors, where)
        homes = sum(warps.check_home(tensors, prefix, where) for prefix, _, _ in config.parts())
        check_tensors(tensors, config, where, warped + homes)


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
    _check(tensors, config, str(source))
    if config.kind == SECOND_ORDER:
        return second_order.field_of(tensors)
    stable = [
        warps.seen(stable_field(tensors, prefix), tensors, config.warps, prefix, None if q == "map" else int(q))
        for prefix, _, _ in config.parts()
        for q in [prefix.split(".")[-1]]
    ]
    if config.kind == "stable field":
        return stable[0]
    field = Field(
        map=stable[0],
        goals=tuple(stable[1 : 1 + config.goals]),
        lifted=tuple(stable[1 + config.goals :]),
        samples=tensors["samples"],
        labels=tensors["labels"].astype(np.intp),
        phases=tensors["phases"],
        fit=config.fit,
        map_fit=config.map_fit,
        warnings=config.warnings,
        chart=config.chart,
    )
    return by_own_ways(field)


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
