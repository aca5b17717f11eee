"""A 1 kHz control loop on a learned field, in Python and then, on the exported header, in C.

    python examples/control_loop.py [MODEL]

MODEL is a saved model; without one a field is learned from pen strokes that cross (half a minute). First the map is
followed from a start: where would it go from here. Then, where the field has memory, a motion: what was shown. It is pushed
half-way by a tenth of the box, and rejoins its path.
The robot here is an integrator that follows its command; put your reading and your command in its place.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from eigenwell.export import export_c
from eigenwell.export.c_header import find_compiler
from eigenwell.fields import Field
from eigenwell.models import as_field, load

PERIOD = 1e-3
SECONDS = 3.0
PUSH = 0.1
"""Share of the box by which the motion is pushed, half-way."""


def learned() -> Field:
    import eigenwell as ew

    print("Learning a field from pen strokes ...", flush=True)
    return ew.learn(ew.datasets.pen_strokes(seed=0))


def loop(
    what: str,
    x: np.ndarray,
    command: Callable[[np.ndarray], np.ndarray],
    push: np.ndarray,
    value: Callable[[np.ndarray], str],
) -> None:
    """Ask for a velocity, move, wait for the next tick; and say how it went."""
    ticks, late, spent = round(SECONDS / PERIOD), 0, []
    due = time.perf_counter()
    for tick in range(ticks):
        start = time.perf_counter()
        v = command(x)
        spent.append(time.perf_counter() - start)
        x = x + PERIOD * v + (push if tick == ticks // 2 else 0)
        due += PERIOD
        rest = due - time.perf_counter()
        late += rest < 0
        time.sleep(max(rest, 0.0))
    where = ", ".join(f"{c:.4g}" for c in x)
    print(
        f"Python: {what}, {ticks} ticks at 1 kHz, {1e6 * np.mean(spent):.1f} us per velocity "
        f"(slowest {1e6 * max(spent):.0f}), {late} late; {value(x)} at ({where})"
    )


def control(field: Field, x: np.ndarray) -> None:
    """The map needs no memory: ask again wherever the robot is."""
    field.predict(x)  # the first call prepares what the others use
    loop("map", x, field.predict, np.zeros(len(x)), lambda state: f"V = {field.potential(state):.2g}")


def follow(field: Field, x: np.ndarray) -> None:
    """A motion carries its phase, 1 at the start and 0 at the goal."""
    if not field.has_memory:
        print("Python: no motions; learn with memory=True")
        return
    motion = field.motion(x)
    loop("motion", x, lambda state: motion.step(state, PERIOD), PUSH * field.box, lambda _: f"phase {motion.phase:.2g}")


def control_in_c(field: Field, x: np.ndarray) -> None:
    compiler = find_compiler()
    if compiler is None:
        print("C:      no compiler here")
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"field.h {export_c(field, Path(folder) / 'field.h')}")
        source, program = Path(__file__).with_suffix(".c"), Path(folder) / "loop"
        subprocess.run([compiler, "-std=c99", "-O2", f"-I{folder}", str(source), "-o", str(program), "-lm"], check=True)
        push = PUSH * field.box
        subprocess.run([str(program), str(SECONDS), *(repr(float(c)) for c in (*x, *push))], check=True)


def main() -> None:
    field = as_field(load(sys.argv[1])) if len(sys.argv) > 1 else learned()
    start = field.samples[0]
    control(field, start)
    follow(field, start)
    control_in_c(field, start)


if __name__ == "__main__":
    main()
