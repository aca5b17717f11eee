"""The text of a C99 header: templates, tables and numbers that C reads back to the last bit."""

from __future__ import annotations

import math
import re
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._types import FloatArray, IntArray
from ..fields import REACH, Field
from ..fields.curves import AT_REST, MOST_STEPS, ON_TIME, longest_step, turning
from ..fields.flows import TINY, split
from ..fields.learned import LATE
from ..fields.motion import CHANGE, RETURN
from ..fields.motion import MOST_STEPS as MOTION_STEPS
from ..fields.simulation import ARRIVED
from ..fields.single import NEWTON
from ..fields.stable import Wells, winding
from ..poses import EDGE
from ..wording import plural
from .c_world import world_tables, world_words
from .exported import Precision
from .kernels import Kernels, field_kernels, model_kernels, pose_kernels, ready_kernels, world_kernels
from .printed import c_function
from .tables import Tables, tables

Numbers = tuple[NDArray[Any], type]
SHORTEST = 1e-3
"""Share of a latent step below which no place between is looked for."""


def c_header(field: Field, prefix: str, precision: Precision, *, proved: bool) -> str:
    """The text of the header. It says whether it was `proved`, for a header that was not is written too."""
    writer = Writer(prefix, precision)
    memory = ", with memory" if field.has_memory else ""
    map_tables = tables([field.map])
    models = writer.model("map", "the map's model", map_tables)
    if field.goals:
        models += writer.model("goal", "the models of one attractor each", tables(field.goals))
    if field.lifted:
        models += writer.model("lifted", "the models of (x, phase), one for each attractor", tables(field.lifted))
    words: dict[str, Any] = {
        "TITLE": f"A vector field in {field.dimension} dimensions, stable at {plural(field.n_attractors, 'attractor')}{memory}.",
        "VERSION": __version__,
        "PROOF": f"agrees with its NumPy code to {precision.tolerance:g}, tried when it was made"
        if proved
        else "agreement with its NumPy code NOT TRIED, for want of a compiler",
        "GUARD": f"{prefix.upper()}_H",
        "D": field.dimension,
        "Q": field.n_attractors,
        "LAST": field.n_attractors - 1,
        "MEMORY": int(field.has_memory),
        "N": len(field.samples),
        # One range is put off at every level, and one more before the loop looks.
        "DEPTH": len(field.samples).bit_length() + 1,
        "TABLES": writer.written(_tables(field, precision)),
        "MODELS": models,
        "TOWARD": f"{prefix}_goal" if field.goals else f"{prefix}_map",
        "TOWARD_N": "goal" if field.goals else "0",
        "TOWARD_ONLY": "0" if field.goals else "goal",
        "KERNELS": writer.kernels(prefix, field_kernels(field)),
        "MOST_STEPS": MOST_STEPS // 4,
        "LONGEST": longest_step(field.map.wells),
        "PACE": float(field.map.pace),
        "REACH": REACH**2,
        "PLACES": field.dimension - 3,
        **{"AT_REST": AT_REST, "ON_TIME": ON_TIME, "LATE": LATE, "EDGE": EDGE},
        **{"RETURN": RETURN, "CHANGE": CHANGE, "DONE": ARRIVED, "MOST": float(MOTION_STEPS)},
        **dict.fromkeys(("MOTION", "MOTION_HELP", "POSES", "POSE_HELP"), ""),
        **_angle_words(precision.inside),
    }
    n, seen = field.places.shape[1], world_tables(field)
    world = {
        "TABLES": writer.written({name: (values, precision.inside) for name, values in seen.items()}),
        "KERNELS": writer.kernels(prefix, world_kernels(n) | ready_kernels(n, field.n_attractors)),
    }
    words["WORLD"] = writer.filled("world.h", world_words(field, writer.braces) | world)
    words["ADVANCE"] = writer.filled("advance.h", words)
    if field.lifted:
        words |= {"MOTION": writer.filled("motion.h", words), "MOTION_HELP": writer.filled("motion_help.h", words)}
    if field.chart is not None:
        words["POSE_KERNELS"] = writer.kernels(prefix, pose_kernels(field.chart))
        words |= {"POSES": writer.filled("pose.h", words), "POSE_HELP": writer.filled("pose_help.h", words)}
    return at_home(writer.filled("field.h", words), prefix)


def at_home(text: str, prefix: str) -> str:
    """Behind every function f_in(world, ...) its plain form f(...), of the world as it was exported."""

    def both(match: re.Match[str]) -> str:
        whole, kind, name, given = match.group(0, 1, 2, 3)
        names = ", ".join([f"&{prefix}_home", *(re.split(r"[ *]", one)[-1] for one in given.split(", "))])
        says = "" if kind == "void" else "return "
        return f"{whole}\nstatic inline {kind} {name}({given})\n{{\n    {says}{name}_in({names});\n}}\n"

    form = rf"static inline (\w+) (\w+)_in\(const {prefix}_world \*world, (.*)\)\n\{{\n(?:.*\n)*?\}}\n"
    return re.sub(form, both, text)


class Writer:
    """Fills templates for one prefix and one precision."""

    def __init__(self, prefix: str, precision: Precision) -> None:
        self.precision = precision
        self.shared: dict[str, Any] = {
            "P": prefix,
            "REAL": _c_type(precision.outside),
            "WORK": _c_type(precision.inside),
            "f": _suffix(precision.inside),
            "TINY": TINY,
            "NEAR": float(np.finfo(precision.inside).eps) ** 0.5,
            "NEWTON": NEWTON,
            "SHORTEST": SHORTEST,
        }

    def number(self, value: float) -> str:
        return _literal(value, self.precision.inside)

    def braces(self, values: NDArray[Any]) -> str:
        return _braces(np.asarray(values, dtype=self.precision.inside))

    def filled(self, template: str, words: dict[str, Any]) -> str:
        return self.fill(resources.files(__package__).joinpath(template).read_text(encoding="ascii"), words)

    def fill(self, text: str, words: dict[str, Any]) -> str:
        """With words for what stands between @; floats as C reads them."""
        known = words | self.shared

        def said(match: re.Match[str]) -> str:
            word = known[match[1]]
            return self.number(word) if isinstance(word, float) else str(word)

        return re.sub(r"@(\w+)@", said, text)

    def written(self, named: dict[str, Numbers], kind: str = "") -> str:
        prefix = f"{self.shared['P']}_{kind}_" if kind else f"{self.shared['P']}_"
        return "\n".join(_table(f"{prefix}{name}", *numbers) for name, numbers in named.items())

    def kernels(self, prefix: str, functions: Kernels) -> str:
        """Functions of `fields` as C."""
        return "\n".join(
            self.fill(c_function(f"{prefix}_{name}", function, self.number, *shapes), {})
            for name, (function, *shapes) in functions.items()
        )

    def model(self, kind: str, what: str, these: Tables) -> str:
        words = {
            "WHAT": what,
            "M": f"{self.shared['P']}_{kind}",
            "WAY": "0" if kind == "map" else "n + 1",
            "D": these.dimension,
            "K": these.wells.goals.shape[1],
            "L": these.flow.frequencies.shape[1],
            "F": these.flow.frequencies.shape[2],
            "G": these.speed.frequencies.shape[1],
            "PASSES": these.flow.frequencies.shape[3],
            "MOVES": these.flow.weights.shape[2] // 2,
            "ALL": int(kind == "map"),
            "KERNELS": self.kernels(
                f"{self.shared['P']}_{kind}",
                model_kernels(these.dimension, bool(these.wells.swirls.any())),
            ),
            "KNEE": f"&{self.shared['P']}_{kind}_knee[n]" if these.knee.any() else "0",
            "TABLES": self.written(_model_tables(these, self.precision.inside), kind),
        }
        return self.filled("model.h", words)


def _model_tables(these: Tables, inside: type) -> dict[str, Numbers]:
    flow, speed, wells = these.flow, these.speed, these.wells
    # Features first, as they are summed; what does not depend on the state is done in double once, here.
    cosines, sines = np.split(np.swapaxes(flow.weights, 2, 3) * flow.frequencies.shape[2] ** -0.5, 2, axis=2)
    speed_cosines, speed_sines = np.split(speed.weights * speed.frequencies.shape[1] ** -0.5, 2, axis=1)
    each = [Wells(*one) for one in zip(*wells, strict=True)]
    named: dict[str, Any] = {
        "centre": these.centre,
        # What rounding takes from a position is kept beside it: data may be far from the origin.
        "centre_rest": these.centre - these.centre.astype(inside),
        "scale": these.scale,
        "gain": these.gain,
        "frequencies": flow.frequencies,
        "cosines": cosines,
        "sines": sines,
        "window": flow.window,
        "well": wells.goals,
        "swirl": wells.swirls,
        "softening": wells.softening,
        "brake": these.brake,
        "speed_frequencies": speed.frequencies,
        "speed_cosines": speed_cosines,
        "speed_sines": speed_sines,
        "speed_offset": speed.offset,
        "speed_window": speed.window,
        "knee": these.knee,
        "pace": these.pace,
        "turning": np.array([1 + turning(one) for one in each]),
    }
    order = np.array([np.concatenate(split(these.dimension, layer)) for layer in range(flow.frequencies.shape[1])])
    return {"order": (order, np.uint16)} | {name: (values, inside) for name, values in named.items()}


def _tables(field: Field, precision: Precision) -> dict[str, Numbers]:
    """Attractors and samples, and what motions need."""
    inside, outside = precision.inside, precision.outside
    rounded = field.attractors.astype(outside)
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    points = (field.samples - middle) / field.box
    order, axis = kd_tree(points)
    named: dict[str, Numbers] = {
        "attractors": (rounded, outside),
        "attractor_rest": (field.attractors - rounded, inside),
        "middle": (middle.astype(outside), outside),
        "middle_rest": (middle - middle.astype(outside), inside),
        "box": (field.box, inside),
        "sample": (points[order], outside),
        "axis": (axis, np.uint16),
        "label": (field.labels[order], np.uint16),
    }
    if field.lifted:
        rates, real, imaginary = winding(np.concatenate([one.wells.swirls for one in field.lifted]))
        named |= {
            "phase": (field.phases[order], outside),
            "rest_phase": (np.array([one.attractors[0, -1] for one in field.lifted]), inside),
            "wind_rate": (rates, inside),
            "wind_re": (real, inside),
            "wind_im": (imaginary, inside),
        }
    return named


def kd_tree(points: FloatArray) -> tuple[IntArray, IntArray]:
    """An order of the points, and an axis for each: the middle of every range splits the rest along its axis."""
    order = np.arange(len(points))
    axis = np.zeros(len(points), dtype=np.intp)
    ranges = [(0, len(points))]
    while ranges:
        low, high = ranges.pop()
        if low >= high:
            continue
        at = low + (high - low) // 2
        mine = order[low:high]
        axis[at] = np.ptp(points[mine], axis=0).argmax()
        order[low:high] = mine[np.argpartition(points[mine, axis[at]], at - low)]
        ranges += [(low, at), (at + 1, high)]
    return order, axis


def _angle_words(inside: type) -> dict[str, Any]:
    """pi in three parts, and as many terms of the two series on [-pi/2, pi/2] as the type can see."""
    bits = np.finfo(inside).nmant + 1
    # Products of a part with k are exact while k has no more bits than the part leaves free.
    free = bits // 3
    first = _leading(math.pi, bits - free)
    second = _leading(math.pi - first, bits - free)
    third = (math.pi - first - second) + 1.2246467991473532e-16  # pi less the double nearest to it
    terms = 1 + next(n for n in range(2, 20) if (math.pi / 2) ** (2 * n) / math.factorial(2 * n) < 0.1 * 2.0**-bits)
    return {
        "LIMIT": 2.0 ** (free - 1),
        "INVERSE_PI": 1 / math.pi,
        "PI_1": first,
        "PI_2": second,
        "PI_3": third,
        "SINE": _horner([(-1) ** n / math.factorial(2 * n + 1) for n in range(terms)], inside),
        "COSINE": _horner([(-1) ** n / math.factorial(2 * n) for n in range(terms)], inside),
    }


def _leading(value: float, bits: int) -> float:
    """`value` cut to its leading bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 2**bits) / 2**bits, exponent)


def _horner(coefficients: list[float], inside: type) -> str:
    """The polynomial in z, innermost term last."""
    text = _literal(coefficients[-1], inside)
    for coefficient in reversed(coefficients[:-1]):
        text = f"{_literal(coefficient, inside)} + z * ({text})"
    return text


def _table(name: str, values: NDArray[Any], kind: type) -> str:
    sizes = "".join(f"[{n}]" for n in values.shape)
    return f"static const {_c_type(kind)} {name}{sizes} = {_braces(values.astype(kind))};"


def _braces(values: NDArray[Any]) -> str:
    if values.ndim > 1:
        return "{\n" + ",\n".join(_braces(part) for part in values) + "}"
    words = [_literal(value, values.dtype.type) for value in values]
    lines = [", ".join(words[i : i + 12]) for i in range(0, len(words), 12)]
    return "{" + ",\n ".join(lines) + "}"


def _literal(value: Any, kind: type) -> str:
    """A number that C reads back to the last bit."""
    if np.issubdtype(kind, np.integer):
        return str(int(value))
    if np.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    digits = str(kind(value))
    return (digits if set(digits) & set(".e") else f"{digits}.0") + _suffix(kind)


def _c_type(kind: type) -> str:
    return {"float32": "float", "float64": "double", "uint16": "unsigned short"}[kind.__name__]


def _suffix(kind: type) -> str:
    return "f" if kind is np.float32 else ""


def identifier(name: str) -> str:
    """A name as C can have it."""
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return word or "field"
