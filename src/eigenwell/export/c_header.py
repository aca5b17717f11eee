"""A field as one C99 header without dependencies, proved by compiling and running it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..fields import Field, StableField
from ..files import replacing
from ..models import as_field
from .c_text import Writer, c_header, identifier
from .exported import Answers, Parity, ParityError, Steps
from .parity import STATES, compare_advance, compare_poses, prove
from .precision import FLOAT, Precision

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Wconversion")


def export_c(
    field: Field | StableField,
    path: str | os.PathLike[str],
    *,
    precision: Precision = FLOAT,
    name: str | None = None,
) -> Parity:
    """Write `field` as a header whose functions begin with eigenwell_<name>_ (by default the file's own name).

    It holds velocity, advance, basin, far and potential of the map, `toward` for one goal, for a field with memory a struct
    `motion` that carries its phase, and for a field of poses the `twist` at a position and a quaternion. Before it is put at
    `path` it is compiled and compared with NumPy on 10,000 states, and loops on it must arrive where `basin` says; where
    there is no C compiler it is written all the same and the result says so: `.proved` is False.

    Parameters
    ----------
    field : Field or StableField
    path : str or path
        The header.
    precision : Precision
        SINGLE, DOUBLE or FLOAT.
    name : str, optional
        Functions begin with eigenwell_<name>_; by default the file's own name.

    Returns
    -------
    Parity
        What comparing the header with NumPy found.

    Raises
    ------
    ParityError
        When the header does not say what NumPy says; it is not written.

    Examples
    --------
    >>> from eigenwell.export import export_c
    >>> export_c(field, "field.h")  # doctest: +SKIP
    """
    many, target = as_field(field), Path(path)
    prefix = "eigenwell_" + identifier(target.stem if name is None else name)
    compiler = find_compiler()
    with replacing(target) as temporary:
        temporary.write_text(c_header(many, prefix, precision, proved=compiler is not None), encoding="ascii")
        if compiler is None:
            reason = f"no C compiler on PATH (looked for {', '.join(COMPILERS)}). Install one, for example gcc, and export again"
            return Parity(target, proved=False, reason=reason)
        with compiled(temporary, prefix, many, precision, compiler) as exported:
            proved = prove(many, exported, target, precision)
            error = max(proved.max_error, compare_advance(many, exported, precision))
            if many.chart is not None:
                error = max(error, compare_poses(many, exported, precision))
            return replace(proved, max_error=error)


def find_compiler() -> str | None:
    """The compiler named by CC, or the first that is there."""
    return next((found for name in (os.environ.get("CC"), *COMPILERS) if name and (found := shutil.which(name))), None)


@contextmanager
def compiled(header: Path, prefix: str, field: Field, precision: Precision, compiler: str) -> Iterator[Compiled]:
    """A program that answers for a header, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="eigenwell-") as folder:
        source, program = Path(folder) / "proof.c", Path(folder) / "proof"
        shutil.copy(header, Path(folder) / "field.h")
        words = {
            "HEADER": "field.h",
            "STATES": STATES,
            "MEMORY": int(field.has_memory),
            "POSES": int(field.chart is not None),
        }
        source.write_text(Writer(prefix, precision).filled("proof.c", words), encoding="ascii")
        try:
            command = [compiler, *FLAGS, str(source), "-o", str(program), "-lm"]
            subprocess.run(command, capture_output=True, check=True, timeout=120)
            process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (OSError, subprocess.SubprocessError) as error:
            lines = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
            raise ParityError(
                f"Expected {Path(compiler).name} to compile and run the exported header, got: "
                f"{lines[0] if lines else error}. Nothing was written. Name another compiler in CC, or unset it."
            ) from error
        assert process.stdin is not None and process.stdout is not None
        try:
            yield Compiled(process.stdin, process.stdout, field.dimension)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


@dataclass(frozen=True)
class Compiled:
    """Questions to a running proof: see proof.c for the letters."""

    to: IO[bytes]
    back: IO[bytes]
    dimension: int

    def _ask(self, letter: str, rows: FloatArray, wanted: int) -> FloatArray:
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        answers = 1 if letter in "TM" else len(rows)
        try:
            self.to.write(np.array([ord(letter), len(rows), rows.shape[1], wanted], dtype=np.int32).tobytes())
            self.to.write(rows.tobytes())
            self.to.flush()
            said = self.back.read(8 * answers * wanted)
        except OSError:
            said = b""
        if len(said) != 8 * answers * wanted:
            raise ParityError(
                "Expected the compiled header to answer, got nothing. Nothing was written. Please report it."
            )
        return np.frombuffer(said).reshape(answers, wanted)

    def answers(self, x: FloatArray) -> Answers:
        said, d = self._ask("v", x, self.dimension + 3), self.dimension
        return Answers(said[:, :d], said[:, d + 1].astype(np.intp), said[:, d + 2] != 0, said[:, d])

    def velocity(self, x: FloatArray) -> FloatArray:
        return self._ask("l", x, self.dimension)

    def advance(self, x: FloatArray, dt: float) -> FloatArray:
        return self._ask("a", np.column_stack([x, np.full(len(x), dt)]), self.dimension + 1)[:, :-1]

    def motion_advance(self, goal: int, x: FloatArray, phase: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
        """After two steps of motions that begin at x: states, and the phase as it was at the second."""
        rows = np.column_stack([x, np.full(len(x), goal), phase, np.full(len(x), dt)])
        said = self._ask("d", rows, self.dimension + 2)
        return said[:, :-2], said[:, -1]

    def toward(self, goal: int, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        said = self._ask("t", np.column_stack([np.full(len(x), goal), x]), self.dimension + 1)
        return said[:, :-1], said[:, -1]

    def begin(self, x: FloatArray) -> tuple[IntArray, FloatArray]:
        said = self._ask("b", x, 2)
        return said[:, 0].astype(np.intp), said[:, 1]

    def motion(self, steps: Steps) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Velocity and rate at the second step, and the phase once the third is seen."""
        goal, x0, *between, dt = steps
        rows = np.column_stack([x0, np.full(len(x0), goal), *between, np.full(len(x0), dt)])
        said = self._ask("m", rows, self.dimension + 2)
        return said[:, :-2], said[:, -2], said[:, -1]

    def roll(self, x0: FloatArray, dt: float, steps: int) -> tuple[FloatArray, BoolArray]:
        said = self._ask("r", np.column_stack([x0, np.full(len(x0), dt), np.full(len(x0), steps)]), self.dimension + 1)
        return said[:, :-1], said[:, -1] != 0

    def state(self, position: FloatArray, quaternion: FloatArray) -> tuple[FloatArray, BoolArray]:
        """States (n, d) of poses, and whether anything is known there."""
        said = self._ask("p", np.column_stack([position, quaternion]), self.dimension + 1)
        return said[:, :-1], said[:, -1] != 0

    def twist(self, x: FloatArray) -> FloatArray:
        """Linear and angular velocity (n, d) of states."""
        return self._ask("o", x, self.dimension)

    def latency(self, x: FloatArray, *, motions: bool) -> float:
        return float(self._ask("M" if motions else "T", x, 1)[0, 0])
