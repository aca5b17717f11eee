"""What a saved model must hold: its configuration, its tensors, and the checks on every number.

Schema 3 (present): one file; a map of all attractors, and fields for goals and motions where they were learned.
Schemas 0 to 2, folders with a field per attractor, were never published.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..demonstrations import Caution, Chart
from ..errors import ModelError
from ..fields import Fit, Followed, Speed, StableField, StableModel
from ..fields.flows import Flow

FORMAT = "eigenwell-model"
SCHEMA = 3
AGAIN = "Copy the model again, or save it again."
MOST_ATTRACTORS = 2**16
SECOND_ORDER = "second order field"
KINDS = ("field", "stable field", SECOND_ORDER)

Tensors = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Config:
    """The configuration in a model's file, checked."""

    kind: str
    """One of KINDS: "field" is what `learn` returns, "stable field" one StableField alone."""
    dimension: int
    n_attractors: int
    goals: int
    """Fields of one attractor alone: none, or one for each."""
    lifted: int
    """Fields of (x, phase): none, or one for each attractor."""
    fit: Fit | None
    map_fit: Fit | None
    warnings: tuple[Caution, ...]
    chart: Chart | None = None
    """How the last three coordinates are orientations, for a field of poses."""
    warps: tuple[str, ...] = ()
    """Kinds of what the field is seen through, see `warps`."""

    def parts(self) -> Iterator[tuple[str, int, int]]:
        """Prefix, dimension and number of attractors of every stable field in the file."""
        yield "map", self.dimension, self.n_attractors
        for q in range(self.goals):
            yield f"goals.{q}", self.dimension, 1
        for q in range(self.lifted):
            yield f"lifted.{q}", self.dimension + 1, 1

    def text(self, version: str) -> str:
        """As JSON."""
        said = {
            "format": FORMAT,
            "schema": SCHEMA,
            "eigenwell": version,
            "kind": self.kind,
            "dimension": self.dimension,
            "n_attractors": self.n_attractors,
            "goals": self.goals,
            "lifted": self.lifted,
            "fit": _fit_as_json(self.fit),
            "map_fit": _fit_as_json(self.map_fit),
            "warnings": [{"name": c.name, "message": c.message} for c in self.warnings],
        }
        if self.warps:
            said["warps"] = list(self.warps)
        if self.chart is not None:
            said["chart"] = {"reference": self.chart.reference.tolist(), "scale": self.chart.scale}
        return json.dumps(said, allow_nan=False)


def parse_json(text: str | bytes, where: str) -> dict[str, Any]:
    """A JSON object that says it is a model of eigenwell, with a schema number that is known."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"Expected JSON in {where}, got something else ({' '.join(str(error).split())[:120]}). {AGAIN}"
        ) from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ModelError(f'Expected "format": "{FORMAT}" in {where}, got none: this is not a model of eigenwell.')
    schema = said.get("schema")
    if type(schema) is not int or schema < 0:
        raise ModelError(f"Expected a schema number in {where}, got {shown(schema)}. {AGAIN}")
    if schema > SCHEMA:
        raise ModelError(
            f"Expected schema {SCHEMA} or older in {where}, got {schema} (saved by eigenwell "
            f"{shown(said.get('eigenwell'))}). Update with: pip install --upgrade eigenwell"
        )
    return said


def parse_config(text: str, where: str) -> Config:
    """The configuration of schema 3."""
    said = parse_json(text, where)
    if said["schema"] != SCHEMA:
        raise ModelError(f"Expected schema {SCHEMA} in a model's file, got {said['schema']} in {where}. {AGAIN}")
    kind = expect(said, "kind", str, where)
    if kind not in KINDS:
        raise ModelError(f"Expected one of the kinds {', '.join(KINDS)} in {where}, got {shown(kind)}. {AGAIN}")
    attractors = count(said, "n_attractors", 1, where)
    goals, lifted = (count(said, key, 0, where) for key in ("goals", "lifted"))
    extra = (0, attractors) if kind == "field" else (0,)
    if attractors > MOST_ATTRACTORS or goals not in extra or lifted not in extra:
        raise ModelError(
            f"Expected no further fields or one for each of {attractors} attractors in {where}, got {goals} and {lifted}. {AGAIN}"
        )
    return Config(
        kind=kind,
        dimension=count(said, "dimension", 2, where),
        n_attractors=attractors,
        goals=goals,
        lifted=lifted,
        fit=_fit_from_json(said.get("fit"), attractors, where),
        map_fit=_fit_from_json(said.get("map_fit"), attractors, where),
        warnings=tuple(caution(entry, where) for entry in expect(said, "warnings", list, where)),
        chart=_chart_from_json(said.get("chart"), where),
        warps=_warps_from_json(said.get("warps", []), where),
    )


WARPS = ("within", "around", "moved")


def _warps_from_json(said: Any, where: str) -> tuple[str, ...]:
    if not isinstance(said, list) or any(kind not in WARPS for kind in said):
        raise ModelError(f"Expected warps of the kinds {', '.join(WARPS)} in {where}, got others. {AGAIN}")
    return tuple(said)


def _chart_from_json(said: Any, where: str) -> Chart | None:
    if said is None:
        return None
    if not isinstance(said, dict):
        raise ModelError(f"Expected a chart in {where} as a JSON object, got {shown(said)}. {AGAIN}")
    reference, scale = expect(said, "reference", list, where), expect(said, "scale", float, where)
    numbers = [q for q in reference if type(q) is float and math.isfinite(q)]
    if len(numbers) != 4 or len(reference) != 4 or abs(math.hypot(*numbers) - 1) > 1e-6 or not 0 < scale < math.inf:
        raise ModelError(f"Expected a unit quaternion and a scale > 0 as chart in {where}, got others. {AGAIN}")
    return Chart(np.array(numbers), scale)


def expect(said: dict[str, Any], key: str, kind: type, where: str) -> Any:
    value = said.get(key)
    if type(value) is not kind:
        raise ModelError(f"Expected {key!r} in {where} to be a JSON {_JSON[kind]}, got {shown(value)}. {AGAIN}")
    return value


_JSON = {dict: "object", list: "list", str: "string", int: "whole number", bool: "true or false", float: "number"}


def count(said: dict[str, Any], key: str, least: int, where: str) -> int:
    value = expect(said, key, int, where)
    if not least <= value < 2**40:
        raise ModelError(f"Expected {key!r} >= {least} in {where}, got {shown(value)}. {AGAIN}")
    return int(value)


def caution(said: Any, where: str) -> Caution:
    if not isinstance(said, dict):
        raise ModelError(f"Expected warnings with name and message in {where}, got {shown(said)}. {AGAIN}")
    return Caution(expect(said, "name", str, where), expect(said, "message", str, where))


def shown(value: Any) -> str:
    """A JSON value in a message; never a nested one, which may be deeper than can be printed."""
    return f"a JSON {_JSON[type(value)]}" if isinstance(value, dict | list) else json.dumps(value)[:60]


_NUMBERS = ("distance", "end_error", "cosine_error", "timing")


def _fit_as_json(fit: Fit | None) -> Any:
    if fit is None:
        return None
    rows = [
        {"name": one.name, "goal": one.goal, "arrives": one.arrives}
        | {key: value if math.isfinite(value := float(getattr(one, key))) else None for key in _NUMBERS}
        for one in fit.demonstrations
    ]
    return {"by": fit.by, "demonstrations": rows}


def _fit_from_json(said: Any, attractors: int, where: str) -> Fit | None:
    if said is None:
        return None
    if not isinstance(said, dict):
        raise ModelError(f"Expected a fit in {where} as a JSON object, got {shown(said)}. {AGAIN}")
    rows = []
    for row in expect(said, "demonstrations", list, where):
        if not isinstance(row, dict) or not 0 <= count(row, "goal", 0, where) < attractors:
            raise ModelError(f"Expected demonstrations with a goal below {attractors} in {where}, got others. {AGAIN}")
        numbers = {key: math.nan if row.get(key) is None else expect(row, key, float, where) for key in _NUMBERS}
        rows.append(
            Followed(
                name=expect(row, "name", str, where),
                goal=row["goal"],
                arrives=expect(row, "arrives", bool, where),
                **numbers,
            )
        )
    if not rows:
        raise ModelError(f"Expected demonstrations in the fit of {where}, got none. {AGAIN}")
    return Fit(tuple(rows), expect(said, "by", str, where))


# --- tensors ------------------------------------------------------------------------------------------

SHAPES = {
    "flow.frequencies": ("layers", "features", "passing"),
    "flow.weights": ("layers", "2 moving", "2 features"),
    "flow.window": (),
    "speed.frequencies": ("speed features", "dimension"),
    "speed.weights": ("2 speed features",),
    "speed.offset": (),
    "speed.window": (),
    "attractors": ("attractors", "dimension"),
    "log_weights": ("attractors",),
    "swirls": ("attractors", "dimension", "dimension"),
    "softening": ("attractors",),
    "brake": ("dimension",),
    "centre": ("dimension",),
    "scale": ("dimension",),
    "pace": (),
}
"""Of every stable field's tensors, in words that _sizes gives numbers to."""


def check_tensors(tensors: Mapping[str, NDArray[Any]], config: Config, where: str, warps: int = 0) -> None:
    """Names, types, shapes and values: everything the mathematics takes for granted; `warps` tensors were checked."""
    parts = 1 + config.goals + config.lifted
    samples = 3 if config.kind == "field" else 0
    if samples + warps + len(SHAPES) * parts != len(tensors):
        raise ModelError(
            f"Expected {samples + warps + len(SHAPES) * parts} tensors for {parts} stable fields in {where}, got {len(tensors)}. "
            f"{AGAIN}"
        )
    if samples:
        check_samples(tensors, config.dimension, config.n_attractors, where)
        check(tensors, "phases", (len(tensors["samples"]),), where)
        if not ((tensors["phases"] >= 0) & (tensors["phases"] <= 1)).all():
            raise ModelError(f"Expected phases from 0 to 1 in {where}, got others. {AGAIN}")
    for prefix, dimension, attractors in config.parts():
        check_part(tensors, prefix, dimension, attractors, where)


def check_samples(tensors: Mapping[str, NDArray[Any]], dimension: int, n_attractors: int, where: str) -> None:
    check(tensors, "samples", (None, dimension), where)
    check(tensors, "labels", (len(tensors["samples"]),), where, np.int64)
    labels = tensors["labels"]
    if len(labels) == 0 or labels.min() < 0 or labels.max() >= n_attractors:
        raise ModelError(f"Expected samples labelled 0 to {n_attractors - 1} in {where}, got others or none. {AGAIN}")
    if not (np.ptp(tensors["samples"], axis=0) > 0).any():
        raise ModelError(f"Expected samples that differ in {where}, got one position. {AGAIN}")


def check_part(tensors: Mapping[str, NDArray[Any]], prefix: str, dimension: int, attractors: int, where: str) -> None:
    """One stable field."""
    sizes = sizes_of(tensors, prefix, dimension, where) | {"attractors": attractors}
    for name, words in SHAPES.items():
        check(tensors, f"{prefix}.{name}", tuple(sizes[word] for word in words), where)
    for name in ("softening", "scale", "pace"):
        if not (tensors[f"{prefix}.{name}"] > 0).all():
            raise ModelError(f"Expected {name} > 0 in tensor {prefix}.{name} of {where}, got others. {AGAIN}")
    for name in ("brake", "flow.window", "speed.window"):
        if not (tensors[f"{prefix}.{name}"] >= 0).all():
            raise ModelError(f"Expected {name} >= 0 in tensor {prefix}.{name} of {where}, got others. {AGAIN}")
    swirls = tensors[f"{prefix}.swirls"]
    if not np.allclose(swirls, -swirls.transpose(0, 2, 1), rtol=1e-6, atol=1e-9):
        raise ModelError(
            f"Expected skew matrices in tensor {prefix}.swirls of {where}, got others: not stable. {AGAIN}"
        )
    places = tensors[f"{prefix}.attractors"]
    if len(np.unique(places, axis=0)) < attractors:
        raise ModelError(f"Expected attractors at different places in {where}, got two at the same one. {AGAIN}")


def sizes_of(tensors: Mapping[str, NDArray[Any]], prefix: str, dimension: int, where: str) -> dict[str, int]:
    flow, speed = tensors.get(f"{prefix}.flow.frequencies"), tensors.get(f"{prefix}.speed.frequencies")
    if flow is None or speed is None or flow.ndim != 3 or speed.ndim != 2 or min(*flow.shape, *speed.shape) < 1:
        raise ModelError(f"Expected the frequencies of {prefix} in {where}, got none of that shape. {AGAIN}")
    layers, features, passing = flow.shape
    if passing != dimension // 2:
        raise ModelError(
            f"Expected tensor {prefix}.flow.frequencies of {where} for {dimension} dimensions, got shape {flow.shape}. {AGAIN}"
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


def check(
    tensors: Mapping[str, NDArray[Any]], name: str, shape: tuple[int | None, ...], where: str, kind: type = np.float64
) -> None:
    tensor = tensors.get(name)
    if tensor is None:
        raise ModelError(f"Expected tensor {name} in {where}, got none. {AGAIN}")
    fits = tensor.ndim == len(shape) and all(a in (None, b) for a, b in zip(shape, tensor.shape, strict=True))
    if tensor.dtype != kind or not fits:
        wanted = "(" + ", ".join("n" if size is None else str(size) for size in shape) + ")"
        raise ModelError(
            f"Expected tensor {name} of {where} as {np.dtype(kind)} {wanted}, got {tensor.dtype} {tensor.shape}. {AGAIN}"
        )
    if not np.isfinite(tensor).all():
        raise ModelError(f"Expected finite numbers in tensor {name} of {where}, got NaN or infinity. {AGAIN}")


def stable_field(tensors: Mapping[str, NDArray[Any]], prefix: str) -> StableField:
    """The stable field whose tensors begin with a prefix; they were checked."""
    mine = {
        name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")
    }
    model = StableModel(
        flow=Flow(*(mine[f"flow.{name}"] for name in Flow._fields)),
        speed=Speed(*(mine[f"speed.{name}"] for name in Speed._fields)),
        attractors=mine["attractors"],
        log_weights=mine["log_weights"],
        swirls=mine["swirls"],
        softening=mine["softening"],
        brake=mine["brake"],
    )
    return StableField(model, mine["centre"], mine["scale"], float(mine["pace"]))
