"""Saved models: a folder of config.json and one .safetensors file, versioned, checked, never a pickle.

The tensor file is named by its content and config.json names it, so that the one rename of config.json is the moment
a model is replaced: whoever loads meanwhile gets the old model or the new one, and never a mixture.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..demonstrations import Caution
from ..fields import MultiAttractorField, StableField
from ..fields.flows import Flow
from ..fields.stable import Speed, StableModel
from ..files import CannotWrite, replacing
from ..files.errors import missing_extra
from .schema import FORMAT, SCHEMA, Config, ModelError, check_tensors, parse_config

CONFIG = "config.json"
LARGEST_CONFIG = 16 * 2**20
LOOKS = 10
"""How often to look for the file that the config names, while others replace the model."""
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".sav")

Tensors = dict[str, NDArray[Any]]


def save(field: MultiAttractorField | StableField, folder: str | os.PathLike[str]) -> None:
    """Write `field` to a folder, whole or not at all. A model that is already there is replaced, anything else refused."""
    try:
        from safetensors.numpy import save as pack
    except ImportError as error:
        raise missing_extra("Saving a model", "safetensors", "models") from error
    target, many = Path(folder), as_multi(field)
    tensors = _tensors(many)
    check_tensors(tensors, many.dimension, many.n_attractors, "the field to save")
    data = pack(tensors)
    config = Config(
        dimension=many.dimension,
        n_attractors=many.n_attractors,
        file=f"field-{hashlib.sha256(data).hexdigest()[:16]}.safetensors",
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        braked=True,
        warnings=tuple(many.warnings),
    )
    try:
        if target.is_dir() and any(target.iterdir()):
            _check_is_model(target)
            _fill(target, config, data)
            for old in target.iterdir():
                if old.name not in (CONFIG, config.file):
                    old.unlink(missing_ok=True)
        else:
            _create(target, config, data)
    except OSError as error:
        raise CannotWrite(
            f"Cannot write the model {target}: {error.strerror or error}. Give a folder name in a place that exists and "
            "that you may write to."
        ) from error


def load(folder: str | os.PathLike[str]) -> MultiAttractorField:
    """The field saved in a folder, the same numbers to the last bit."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load as unpack
    except ImportError as error:
        raise missing_extra("Loading a model", "safetensors", "models") from error
    source = Path(folder)
    _check_is_folder(source)
    config, data = _opened(source)
    file = source / config.file
    digest = hashlib.sha256(data).hexdigest()
    if config.sha256 is not None and digest != config.sha256:
        raise ModelError(
            f"Expected {file} with the sha256 {config.sha256[:12]}... named in {CONFIG}, got {digest[:12]}...: it is not the "
            "file that was saved. Copy the model again, or save it again."
        )
    try:
        # Copied: the arrays that come are read-only views into the bytes.
        tensors = {name: np.array(tensor, order="C") for name, tensor in unpack(data).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        raise ModelError(
            f"Expected a safetensors file at {file}, got something else ({_line(error)}). Copy or save the model again."
        ) from error
    if not config.braked:
        without = {f"{q}.brake": np.zeros(config.dimension) for q in range(config.n_attractors)}
        if without.keys() & tensors.keys():
            raise ModelError(
                f"Expected no brake in {file}, as its schema is older, got one. Copy or save the model again."
            )
        tensors |= without
    check_tensors(tensors, config.dimension, config.n_attractors, str(file))
    return _field(tensors, config)


def as_multi(field: MultiAttractorField | StableField) -> MultiAttractorField:
    """A StableField as a field with one attractor. It has no samples: a grid over its box stands for them."""
    if isinstance(field, MultiAttractorField):
        return field
    if not isinstance(field, StableField):
        raise ModelError(
            f"Expected a StableField or a MultiAttractorField, got {type(field).__name__}. Pass what learn() gave."
        )
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
    return MultiAttractorField((field,), field.from_unit(unit), np.zeros(len(unit), dtype=np.intp), warnings=(doubt,))


# --- a field as named arrays --------------------------------------------------------------------------


def _tensors(field: MultiAttractorField) -> Tensors:
    tensors: Tensors = {"samples": field.samples, "labels": field.labels.astype(np.int64)}
    for q, one in enumerate(field.fields):
        model = one.model
        tensors |= {
            f"{q}.flow.frequencies": model.flow.frequencies,
            f"{q}.flow.weights": model.flow.weights,
            f"{q}.speed.frequencies": model.speed.frequencies,
            f"{q}.speed.weights": model.speed.weights,
            f"{q}.speed.offset": model.speed.offset,
            f"{q}.attractor": model.attractor,
            f"{q}.swirl": model.swirl,
            f"{q}.softening": model.softening,
            f"{q}.brake": model.brake,
            f"{q}.centre": one.centre,
            f"{q}.scale": one.scale,
            f"{q}.pace": np.asarray(one.pace),
        }
    return {name: np.array(tensor, order="C") for name, tensor in tensors.items()}


def _field(tensors: Tensors, config: Config) -> MultiAttractorField:
    fields = []
    for q in range(config.n_attractors):
        mine = {name.removeprefix(f"{q}."): tensor for name, tensor in tensors.items() if name.startswith(f"{q}.")}
        model = StableModel(
            Flow(mine["flow.frequencies"], mine["flow.weights"]),
            Speed(mine["speed.frequencies"], mine["speed.weights"], mine["speed.offset"]),
            mine["attractor"],
            mine["swirl"],
            mine["softening"],
            mine["brake"],
        )
        fields.append(StableField(model, mine["centre"], mine["scale"], float(mine["pace"])))
    labels = tensors["labels"].astype(np.intp)
    return MultiAttractorField(tuple(fields), tensors["samples"], labels, warnings=config.warnings)


# --- reading ------------------------------------------------------------------------------------------


def _check_is_folder(source: Path) -> None:
    if source.is_dir():
        if not (source / CONFIG).is_file() and any(p.suffix in PICKLES for p in source.iterdir()):
            raise ModelError(_pickle(source))
        return
    if source.is_file():
        if source.suffix in PICKLES or _begins_as_pickle(source):
            raise ModelError(_pickle(source))
        raise ModelError(f"Expected a model's folder, got the file {source}. Name the folder that holds its {CONFIG}.")
    raise ModelError(f"Expected a model's folder at {source}, got nothing that can be read. Check the name.")


def _pickle(source: Path) -> str:
    return (
        f"Expected a folder of {CONFIG} and .safetensors, got a pickle at {source}. Pickles run code when read and "
        "eigenwell does not read them: save the model again with field.save(folder)."
    )


def _begins_as_pickle(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(1) == b"\x80"
    except OSError:
        return False


def _opened(source: Path) -> tuple[Config, bytes]:
    """The config and the bytes of the file it names, of one and the same save."""
    for _ in range(LOOKS):
        config = _config(source)
        try:
            return config, _read(source / config.file, config.size)
        except ModelError as error:
            # Perhaps the model was replaced between the two looks: then the config names another file by now.
            refused = error
    raise refused


def _config(source: Path) -> Config:
    return parse_config(_read(source / CONFIG), str(source / CONFIG))


def _read(path: Path, size: int | None = None) -> bytes:
    """All bytes of a plain file, `size` of them where that is known."""
    if not path.is_file():
        raise ModelError(f"Expected a file at {path}, got none. Copy the whole folder of the model, or save it again.")
    try:
        found = path.stat().st_size
        if path.name == CONFIG and found > LARGEST_CONFIG:
            raise ModelError(f"Expected at most {LARGEST_CONFIG} bytes in {path}, got {found}: this is not a model's.")
        if size is not None and found != size:
            raise ModelError(
                f"Expected {size} bytes in {path}, got {found}: the file was cut short or changed. Copy the model again, or "
                "save it again."
            )
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"Expected to read {path}, got: {error.strerror or error}. Check its permissions.") from error


def _line(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200]


# --- writing ------------------------------------------------------------------------------------------


def _check_is_model(target: Path) -> None:
    others = [p.name for p in target.iterdir() if not _is_ours(p)]
    if others or not _says_it_is_a_model(target / CONFIG):
        found = f"{sorted(others)[0]!r} in it" if others else f"no {CONFIG} of a model in it"
        raise CannotWrite(
            f"Expected a new folder or a saved model at {target}, got a folder with {found}. Choose another name; nothing "
            "was changed."
        )


def _is_ours(path: Path) -> bool:
    """A file of a model, or what a save that was killed left of one."""
    return path.is_file() and (
        path.name == CONFIG or path.suffix == ".safetensors" or path.name.startswith(f".{CONFIG}.")
    )


def _says_it_is_a_model(config: Path) -> bool:
    try:
        said = json.loads(_read(config))
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("format") == FORMAT


def _create(target: Path, config: Config, data: bytes) -> None:
    """A new folder, complete before it has its name."""
    if target.exists() and not target.is_dir():
        raise CannotWrite(f"Expected a folder for the model, got the file {target}. Choose another name.")
    temporary = target.parent / f".{target.name[:40]}.{secrets.token_hex(4)}"
    temporary.mkdir()
    try:
        _fill(temporary, config, data)
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _fill(folder: Path, config: Config, data: bytes) -> None:
    said = {
        "format": FORMAT,
        "schema": SCHEMA,
        "eigenwell": __version__,
        "dimension": config.dimension,
        "n_attractors": config.n_attractors,
        "tensors": {"file": config.file, "size": config.size, "sha256": config.sha256},
        "warnings": [{"name": c.name, "message": c.message} for c in config.warnings],
    }
    with replacing(folder / config.file) as temporary:
        temporary.write_bytes(data)
    # Last: this rename makes the model the new one.
    with replacing(folder / CONFIG) as temporary:
        temporary.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
