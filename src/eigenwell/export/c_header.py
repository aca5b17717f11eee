"""A field as one C99 header without dependencies, proved by compiling and running it."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._types import FloatArray, IntArray
from ..fields import REACH, MultiAttractorField, StableField
from ..fields.flows import LOG_SCALE_BOUND
from ..files import replacing
from ..models import as_multi
from .centred import Centred, centred
from .parity import STATES, Answers, Parity, ParityError, compare, parity_states
from .precision import FLOAT, Precision

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Wconversion")


def export_c(
    field: MultiAttractorField | StableField,
    path: str | os.PathLike[str],
    *,
    precision: Precision = FLOAT,
    name: str | None = None,
) -> Parity:
    """Write `field` as a header whose functions begin with eigenwell_<name>_ (by default the file's own name).

    Before it is put at `path` it is compiled and compared with NumPy on 10,000 states; where there is no C compiler
    it is written all the same and the result says so: `.proved` is False.
    """
    many, target = as_multi(field), Path(path)
    prefix = "eigenwell_" + _identifier(target.stem if name is None else name)
    compiler = find_compiler()
    with replacing(target) as temporary:
        temporary.write_text(c_header(many, prefix, precision, proved=compiler is not None), encoding="ascii")
        if compiler is None:
            reason = f"no C compiler on PATH (looked for {', '.join(COMPILERS)}). Install one, for example gcc, and export again"
            return Parity(target, proved=False, reason=reason)
        x = parity_states(many, precision)
        said, latency = run_header(temporary, prefix, x, many.dimension, precision, compiler)
        error, ties = compare(many, x, said, precision)
    return Parity(target, True, len(x), error, precision.tolerance, ties, latency)


def find_compiler() -> str | None:
    """The compiler named by CC, or the first that is there."""
    return next((found for name in (os.environ.get("CC"), *COMPILERS) if name and (found := shutil.which(name))), None)


def c_header(field: MultiAttractorField, prefix: str, precision: Precision, *, proved: bool) -> str:
    """The text of the header. It says whether it was `proved`, for a header that was not is written too."""
    tables = centred(field)
    quantity = "attractor" if field.n_attractors == 1 else "attractors"
    words = {
        "TITLE": f"A vector field in {field.dimension} dimensions, stable at {field.n_attractors} {quantity}.",
        "VERSION": __version__,
        "PROOF": f"agrees with its NumPy code to {precision.tolerance:g}, tried when it was made"
        if proved
        else "agreement with its NumPy code NOT TRIED, for want of a compiler",
        "GUARD": f"{prefix.upper()}_H",
        "D": field.dimension,
        "Q": field.n_attractors,
        "LAST": field.n_attractors - 1,
        "L": tables.frequencies.shape[1],
        "F": tables.frequencies.shape[2],
        "G": tables.speed_frequencies.shape[1],
        "PASSES": tables.frequencies.shape[3],
        "MOVES": tables.home.shape[2],
        "N": len(field.samples),
        # One range is put off at every level, and one more before the loop looks.
        "DEPTH": len(field.samples).bit_length() + 1,
        "TABLES": "\n".join(
            _table(f"{prefix}_{table}", *numbers) for table, numbers in _tables(field, tables, precision).items()
        ),
        "BOUND": _literal(LOG_SCALE_BOUND, precision.inside),
        "REACH": _literal(REACH**2, precision.inside),
        **_angle_words(precision.inside),
    }
    return _filled("field.h", words, prefix, precision)


def _filled(template: str, words: dict[str, Any], prefix: str, precision: Precision) -> str:
    words = words | {
        "P": prefix,
        "REAL": _c_type(precision.outside),
        "WORK": _c_type(precision.inside),
        "f": _suffix(precision.inside),
    }
    text = resources.files(__package__).joinpath(template).read_text(encoding="ascii")
    return re.sub(r"@(\w+)@", lambda match: str(words[match[1]]), text)


def _tables(field: MultiAttractorField, tables: Centred, precision: Precision) -> dict[str, tuple[NDArray[Any], type]]:
    """Name, numbers and type of every table in the header. What rounding takes from a position is kept beside it."""
    inside, outside = precision.inside, precision.outside
    rounded = tables.attractors.astype(outside)
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    points = (field.samples - middle) / field.box
    order, axis = kd_tree(points)
    return {
        "attractors": (rounded, outside),
        "attractor_rest": (tables.rest(rounded), inside),
        "scale": (tables.scale, inside),
        "gain": (tables.gain, inside),
        "order": (np.array([[*passing, *moving] for passing, moving in tables.splits]), np.uint16),
        "frequencies": (tables.frequencies, inside),
        "cosines": (tables.cosines, inside),
        "sines": (tables.sines, inside),
        "squash": (tables.squash, inside),
        "still": (np.exp(LOG_SCALE_BOUND * tables.squash), inside),
        "home": (tables.home, inside),
        "swirl": (tables.swirl, inside),
        "softening": (tables.softening, inside),
        "brake": (tables.brake, inside),
        "speed_frequencies": (tables.speed_frequencies, inside),
        "speed_cosines": (tables.speed_cosines, inside),
        "speed_sines": (tables.speed_sines, inside),
        "speed_at_rest": (tables.speed_at_rest, inside),
        "middle": (middle.astype(outside), outside),
        "middle_rest": (middle - middle.astype(outside), inside),
        "box": (field.box, inside),
        "sample": (points[order], outside),
        "axis": (axis, np.uint16),
        "label": (field.labels[order], np.uint16),
    }


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


def _angle_words(inside: type) -> dict[str, str]:
    """pi in three parts, and as many terms of the two series on [-pi/2, pi/2] as the type can see."""
    bits = np.finfo(inside).nmant + 1
    # Products of a part with k are exact while k has no more bits than the part leaves free.
    free = bits // 3
    first = _leading(math.pi, bits - free)
    second = _leading(math.pi - first, bits - free)
    third = (math.pi - first - second) + 1.2246467991473532e-16  # pi less the double nearest to it
    terms = 1 + next(n for n in range(2, 20) if (math.pi / 2) ** (2 * n) / math.factorial(2 * n) < 0.1 * 2.0**-bits)
    return {
        "LIMIT": _literal(2.0 ** (free - 1), inside),
        "INVERSE_PI": _literal(1 / math.pi, inside),
        "PI_1": _literal(first, inside),
        "PI_2": _literal(second, inside),
        "PI_3": _literal(third, inside),
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
    digits = str(kind(value))
    return (digits if set(digits) & set(".e") else f"{digits}.0") + _suffix(kind)


def _c_type(kind: type) -> str:
    return {"float32": "float", "float64": "double", "uint16": "unsigned short"}[kind.__name__]


def _suffix(kind: type) -> str:
    return "f" if kind is np.float32 else ""


def _identifier(name: str) -> str:
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return word or "field"


def run_header(
    header: Path, prefix: str, x: FloatArray, dimension: int, precision: Precision, compiler: str
) -> tuple[Answers, float]:
    """What a header says of 10,000 states, and microseconds per velocity."""
    with tempfile.TemporaryDirectory(prefix="eigenwell-") as folder:
        source, program = Path(folder) / "proof.c", Path(folder) / "proof"
        shutil.copy(header, Path(folder) / "field.h")
        source.write_text(
            _filled("proof.c", {"HEADER": "field.h", "STATES": STATES}, prefix, precision), encoding="ascii"
        )
        _run([compiler, *FLAGS, str(source), "-o", str(program), "-lm"], b"")
        out = _run([str(program)], x.astype(precision.outside).tobytes())
    kind, n = np.dtype(precision.outside), len(x)
    sizes = [n * dimension * kind.itemsize, n * kind.itemsize, 4 * n, 4 * n, 16]
    parts = [out[start : start + size] for start, size in zip(np.cumsum([0, *sizes]), sizes, strict=False)]
    velocity = np.frombuffer(parts[0], kind).reshape(n, dimension).astype(np.float64)
    said = Answers(
        velocity,
        np.frombuffer(parts[2], np.int32).astype(np.intp),
        np.frombuffer(parts[3], np.int32) != 0,
        np.frombuffer(parts[1], kind).astype(np.float64),
    )
    return said, float(np.frombuffer(parts[4])[0]) / 1e3


def _run(command: list[str], given: bytes) -> bytes:
    try:
        return subprocess.run(command, input=given, capture_output=True, check=True, timeout=120).stdout
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or b""
        lines = said.decode(errors="replace").strip().splitlines()
        raise ParityError(
            f"Expected {Path(command[0]).name} to compile and run the exported header, got: "
            f"{lines[0] if lines else error}. Nothing was written. Name another compiler in CC, or unset it."
        ) from error
