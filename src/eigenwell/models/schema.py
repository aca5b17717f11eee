"""What a saved model must hold, as one table: for every part of it its numbers, their shapes and what makes them a model.

Schema 3 (present): one file; a map of all attractors, and fields for goals and motions where they were learned.
Schemas 0 to 2, folders with a field per attractor, were never published.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ..demonstrations import Caution, Chart
from ..errors import ModelError
from ..fields import Fit
from ..fields.second_order import PULLS

FORMAT, SCHEMA = "eigenwell-model", 3
AGAIN = "Copy the model again, or save it again."
MOST = 2**16
"""Dimensions or attractors."""
SECOND_ORDER = "second order field"
KINDS = ("field", "stable field", SECOND_ORDER)

Tensors = dict[str, NDArray[Any]]


# --- the configuration --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    """The configuration in a model's file."""

    kind: str
    """One of KINDS: "field" is what `learn` returns, "stable field" one StableField alone."""
    dimension: int
    n_attractors: int
    goals: int = 0
    """Fields of one attractor alone: none, or one for each."""
    lifted: int = 0
    """Fields of (x, phase): none, or one for each attractor."""
    fit: Fit | None = None
    map_fit: Fit | None = None
    warnings: tuple[Caution, ...] = ()
    chart: Chart | None = None
    """How the last three coordinates are orientations, for a field of poses."""
    warps: tuple[str, ...] = ()
    """Kinds of what the field is seen through, from the world inwards."""

    @property
    def places(self) -> int:
        """n, the coordinates that warps act on: positions, for a field of poses."""
        return self.dimension - (0 if self.chart is None else 3)

    def parts(self) -> Iterator[tuple[str, int, int]]:
        """Prefix, dimension and number of attractors of every stable field in the file."""
        yield "map", self.dimension, self.n_attractors
        for q in range(self.goals):
            yield f"goals.{q}", self.dimension, 1
        for q in range(self.lifted):
            yield f"lifted.{q}", self.dimension + 1, 1

    def text(self, version: str) -> str:
        """As JSON."""
        said = {"format": FORMAT, "schema": SCHEMA, "eigenwell": version} | asdict(self)
        return json.dumps(_finite(said), allow_nan=False)


def _finite(value: Any) -> Any:
    """Values as JSON has them: none for what is not a number."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, tuple | np.ndarray):
        return [_finite(one) for one in value]
    return (float(value) if math.isfinite(value) else None) if isinstance(value, float) else value


def parse_config(text: str, where: str) -> Config:
    """The configuration, checked."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"Expected JSON in {where}, got something else ({' '.join(str(error).split())[:120]}). {AGAIN}"
        ) from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ModelError(f'Expected "format": "{FORMAT}" in {where}, got none: this is not a model of eigenwell.')
    schema = said.get("schema")
    if type(schema) is int and schema > SCHEMA:
        raise ModelError(
            f"Expected schema {SCHEMA} or older in {where}, got {schema} (saved by eigenwell "
            f"{_shown(said.get('eigenwell'))}). Update with: pip install --upgrade eigenwell"
        )
    if type(schema) is not int or schema != SCHEMA:
        raise ModelError(f"Expected schema {SCHEMA} in a model's file, got {_shown(schema)} in {where}. {AGAIN}")
    config: Config = _read(Config, said, "a configuration", where)
    q, extra = config.n_attractors, (0, config.n_attractors) if config.kind == "field" else (0,)
    fits = [fit for fit in (config.fit, config.map_fit) if fit is not None]
    chart = config.chart
    for fine, wanted in (
        (config.kind in KINDS, f"one of the kinds {', '.join(KINDS)}"),
        (2 <= config.dimension <= MOST, f"'dimension' >= 2 and <= {MOST}"),
        (1 <= q <= MOST, f"'n_attractors' >= 1 and <= {MOST}"),
        (config.goals in extra and config.lifted in extra, f"no further fields or one for each of {q} attractors"),
        (all(fit.demonstrations for fit in fits), "demonstrations in a fit"),
        (all(0 <= one.goal < q for fit in fits for one in fit.demonstrations), f"demonstrations with a goal below {q}"),
        (set(config.warps) <= set(WARPS), f"warps of the kinds {', '.join(WARPS)}"),
        (
            chart is None or (chart.reference.shape == (4,) and abs(math.hypot(*chart.reference) - 1) < 1e-6),
            "a unit quaternion as the reference of a chart",
        ),
        (chart is None or chart.scale > 0, "the scale of a chart > 0"),
    ):
        if not fine:
            raise ModelError(f"Expected {wanted} in {where}, got something else. {AGAIN}")
    return config


def _read(kind: Any, said: Any, what: str, where: str) -> Any:
    """What JSON says, as a value of some type: a dataclass, a tuple, an array, a word or a number."""
    if get_origin(kind) is UnionType:
        return None if said is None else _read(get_args(kind)[0], said, what, where)
    if kind is float and said is None:
        return math.nan
    if is_dataclass(kind) and isinstance(said, dict):
        hints, whole = get_type_hints(kind), cast(type[Any], kind)
        return whole(
            **{
                one.name: _read(hints[one.name], said.get(one.name), f"{one.name!r}", where)
                for one in fields(kind)
                if one.name in said or one.name not in vars(kind)
            }
        )
    if get_origin(kind) is tuple and type(said) is list:
        return tuple(_read(get_args(kind)[0], one, f"an entry of {what}", where) for one in said)
    if get_origin(kind) is np.ndarray and type(said) is list:
        return np.array([_read(float, one, f"an entry of {what}", where) for one in said])
    if type(said) is not kind or (kind is int and not 0 <= said < 2**40):
        names = f" with {' and '.join(one.name for one in fields(kind))}" if is_dataclass(kind) else ""
        raise ModelError(f"Expected {what} as {_called(kind)}{names} in {where}, got {_shown(said)}. {AGAIN}")
    return said


def _called(kind: Any) -> str:
    words = {str: "a JSON string", int: "a whole number", bool: "true or false", float: "a number"}
    return words.get(kind) or (f"a {cast(type, kind).__name__.lower()}" if is_dataclass(kind) else "a JSON list")


def _shown(value: Any) -> str:
    """A JSON value in a message; never a nested one, which may be deeper than can be printed."""
    return (
        f"a JSON {'object' if isinstance(value, dict) else 'list'}"
        if isinstance(value, dict | list)
        else repr(value)[:60]
    )


# --- the tensors --------------------------------------------------------------------------------------

Rule = Callable[[NDArray[Any], dict[str, int]], Any]
RULES: dict[str, Rule] = {
    "": lambda a, n: True,
    "> 0": lambda a, n: (a > 0).all(),
    ">= 0": lambda a, n: (a >= 0).all(),
    "from 0 to 1": lambda a, n: ((a >= 0) & (a <= 1)).all(),
    "labelled 0 to {last}": lambda a, n: len(a) > 0 and a.min() >= 0 and a.max() <= n["last"],
    "that differ": lambda a, n: (np.ptp(a, axis=0) > 0).any(),
    "at different places": lambda a, n: len(np.unique(a, axis=0)) == len(a),
    "skew, or it is not stable": lambda a, n: np.allclose(a, -a.transpose(0, 2, 1), rtol=1e-6, atol=1e-9),
    "without NaN": lambda a, n: True,
}
"""What numbers have to be, beside finite; the last may be infinite."""

WALLS = {"low": ("n", "without NaN"), "high": ("n", "without NaN"), "margin": ("2 n", "> 0")}
TABLE: dict[str, dict[str, tuple[str, str]]] = {
    "stable": {
        "flow.frequencies": ("layers features passing", ""),
        "flow.weights": ("layers 2*moving 2*features", ""),
        "flow.window": ("", ">= 0"),
        "speed.frequencies": ("waves d", ""),
        "speed.weights": ("2*waves", ""),
        "speed.offset": ("", ""),
        "speed.window": ("", ">= 0"),
        "attractors": ("q d", "at different places"),
        "log_weights": ("q", ""),
        "swirls": ("q d d", "skew, or it is not stable"),
        "softening": ("q", "> 0"),
        "brake": ("d", ">= 0"),
        "centre": ("d", ""),
        "scale": ("d", "> 0"),
        "pace": ("", "> 0"),
    },
    "data": {
        "samples": ("samples d", "that differ"),
        "labels": ("samples", "labelled 0 to {last}"),
        "phases": ("samples", "from 0 to 1"),
    },
    # Pulls and least damping above zero are what makes it come to rest in the attractors alone.
    SECOND_ORDER: {
        "places": ("q half", "at different places"),
        "centre": ("half", ""),
        "scale": ("", "> 0"),
        "pulls": ("pulls", "> 0"),
        "centres": ("bumps half", ""),
        "width": ("", "> 0"),
        "damping": ("bumps", ">= 0"),
        "turning": ("bumps pairs", ""),
        "least": ("", "> 0"),
        "misfit": ("", ">= 0"),
    },
    "world": {"places": ("q n", "")},
    "home": WALLS | {"knee": ("", ">= 0")},
    "within": WALLS | {"braking": ("", "> 0")},
    "around": {
        "centre": ("n", ""),
        "centres": ("bodies n", ""),
        "shapes": ("bodies n n", ""),
        "reach": ("", "> 0"),
    },
    "moved": {
        "matrix": ("n n", ""),
        "shift": ("n", ""),
        "path": ("steps marks n", ""),
        "force": ("steps marks n", ""),
        "length": ("n", "> 0"),
        "old": ("marks n", ""),
        "new": ("marks n", ""),
        "goals": ("marks", ""),
    },
}
"""Of every part of a model its tensors: a word for each axis, whose size is known or the same throughout the part, and a rule."""
WARPS = ("within", "around", "moved")
WHOLE = ("labels", "goals")
"""Tensors of whole numbers."""


def layout(config: Config, names: Mapping[str, Any]) -> list[tuple[str, str, dict[str, int]]]:
    """Prefix and kind of every part of a model, and the sizes that are known of it."""
    d, q = config.dimension, config.n_attractors
    known = {"2": 2, "pulls": len(PULLS), "n": config.places, "last": q - 1}
    if config.kind == SECOND_ORDER:
        half = d // 2
        return [("", SECOND_ORDER, known | {"q": q, "half": half, "pairs": half * (half - 1) // 2})]
    parts = [("", "data", known | {"d": d})] if config.kind == "field" else []
    for prefix, size, count in config.parts():
        sizes = known | {"d": size, "q": count, "passing": size // 2, "moving": size - size // 2}
        parts.append((f"{prefix}.", "stable", sizes))
        parts += [(f"{prefix}.home.", "home", sizes)] * any(name.startswith(f"{prefix}.home.") for name in names)
    parts += [("warps.", "world", known | {"q": q})] if config.warps else []
    return parts + [(f"warps.{i}.", kind, dict(known)) for i, kind in enumerate(config.warps)]


def check_tensors(tensors: Mapping[str, NDArray[Any]], config: Config, where: str) -> None:
    """Names, types, shapes and values: everything the mathematics takes for granted."""
    parts = layout(config, tensors)
    wanted = sum(len(TABLE[kind]) for _, kind, _ in parts)
    if len(tensors) != wanted:
        count = sum(kind == "stable" for _, kind, _ in parts)
        raise ModelError(f"Expected {wanted} tensors for {count} stable fields in {where}, got {len(tensors)}. {AGAIN}")
    for prefix, kind, sizes in parts:
        for name, (axes, rule) in TABLE[kind].items():
            _check(tensors, prefix + name, axes, rule, sizes, where)


def _check(
    tensors: Mapping[str, NDArray[Any]], name: str, axes: str, rule: str, sizes: dict[str, int], where: str
) -> None:
    tensor = tensors.get(name)
    if tensor is None:
        raise ModelError(f"Expected tensor {name} in {where}, got none. {AGAIN}")
    dtype = np.dtype(np.int64 if name.split(".")[-1] in WHOLE else np.float64)
    words = axes.split()
    wanted = [2 * sizes[word[2:]] if word.startswith("2*") else sizes.get(word) for word in words]
    fits = tensor.ndim == len(words) and all(
        have == want or (want is None and (have > 0 or word == "steps"))
        for have, want, word in zip(tensor.shape, wanted, words, strict=True)
    )
    if tensor.dtype != dtype or not fits:
        shape = "(" + ", ".join("n" if size is None else str(size) for size in wanted) + ")"
        raise ModelError(
            f"Expected tensor {name} of {where} as {dtype} {shape}, got {tensor.dtype} {tensor.shape}. {AGAIN}"
        )
    sizes.update(zip(words, tensor.shape, strict=True))
    if not np.isfinite(tensor).all() and (rule != "without NaN" or np.isnan(tensor).any()):
        raise ModelError(f"Expected finite numbers in tensor {name} of {where}, got NaN or infinity. {AGAIN}")
    if not RULES[rule](tensor, sizes):
        raise ModelError(f"Expected {name} {rule.format(**sizes)} in {where}, got others. {AGAIN}")
