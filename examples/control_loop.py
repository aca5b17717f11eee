"""A 1 kHz control loop on a learned field, in Python and then, on the exported header, in C.

    python examples/control_loop.py [MODEL]

MODEL is a saved model; without one a field is learned from Duffing's oscillator first (half a minute).
The robot here is an integrator that follows its command; put your reading and your command in its place.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from eigenwell.export import export_c
from eigenwell.export.c_header import find_compiler
from eigenwell.fields import MultiAttractorField
from eigenwell.models import load

PERIOD = 1e-3
SECONDS = 3.0


def learned() -> MultiAttractorField:
    import eigenwell as ew
    from eigenwell.learning import learn

    print("Learning a field from Duffing's oscillator ...", flush=True)
    return learn(ew.systems.duffing.sample(seed=0))


def control(field: MultiAttractorField, x: np.ndarray) -> None:
    # Once: which attractor? The answer is kept, so that V falls to the end whatever borders are crossed.
    own = field.fields[field.basin(x)]
    ticks, late, spent = round(SECONDS / PERIOD), 0, []
    own.predict(x)  # the first call prepares what the others use
    due = time.perf_counter()
    for _ in range(ticks):
        start = time.perf_counter()
        v = own.predict(x)
        spent.append(time.perf_counter() - start)
        x = x + PERIOD * v
        due += PERIOD
        rest = due - time.perf_counter()
        late += rest < 0
        time.sleep(max(rest, 0.0))
    where = ", ".join(f"{c:.4g}" for c in x)
    print(
        f"Python: {ticks} ticks at 1 kHz, {1e6 * np.mean(spent):.1f} us per velocity (slowest {1e6 * max(spent):.0f}), "
        f"{late} late; V = {own.potential(x):.2g} at ({where})"
    )


def control_in_c(field: MultiAttractorField, x: np.ndarray) -> None:
    compiler = find_compiler()
    if compiler is None:
        print("C:      no compiler here")
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"field.h {export_c(field, Path(folder) / 'field.h')}")
        source, program = Path(__file__).with_suffix(".c"), Path(folder) / "loop"
        subprocess.run([compiler, "-std=c99", "-O2", f"-I{folder}", str(source), "-o", str(program), "-lm"], check=True)
        subprocess.run([str(program), str(SECONDS), *(repr(float(c)) for c in x)], check=True)


def main() -> None:
    field = load(sys.argv[1]) if len(sys.argv) > 1 else learned()
    start = field.samples[0]
    control(field, start)
    control_in_c(field, start)


if __name__ == "__main__":
    main()
