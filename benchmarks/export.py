"""Do exported fields say what NumPy says, how fast, and do loops on them arrive? Learned models in 2 to 10 dimensions.

Bars: C and ONNX agree with NumPy to 1e-6 (float) on 10,000 states; loops on the export arrive, all of them, and where its
`basin` said (99.5 % of 1,000 starts in the box, for the systems of the plane); C takes at most 6 us per planar state and
9 us per step of a motion. Double and single precision are reported beside it.

    python -m benchmarks.export
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell.export import DOUBLE, FLOAT, SINGLE, ParityError, export_c, export_onnx, parity
from eigenwell.fields import Field
from eigenwell.learning import learn
from eigenwell.learning.recipes import Recipe

STEPS = 600
"""Enough to bend the flows as far as they will be; the fit itself is not measured here."""
LOOPS = 1000


def data() -> dict[str, ew.Demonstrations]:
    sets = {
        "heart": ew.systems.heart.sample(seed=0),
        "pendulum": ew.systems.pendulum.sample(seed=0),
        "duffing": ew.systems.duffing.sample(seed=0),
        "pen strokes": ew.datasets.pen_strokes(seed=0),
        "four wells": ew.systems.four_wells.sample(seed=0),
        "three_d": ew.systems.three_d.sample(seed=0),
        "arm": ew.datasets.joint_recordings(0),
        "ten_d": ew.systems.ten_d.sample(seed=0),
    }
    try:
        return {"LASA Sshape": ew.datasets.lasa("Sshape")} | sets
    except ew.DataError:
        return sets


def exported(name: str, field: Field, folder: Path) -> list[Row]:
    rows = []
    memory = ", memory" if field.has_memory else ""
    what = f"{name}, {field.dimension}-D, {field.n_attractors} attractors{memory}, {len(field.samples)} samples"
    for kind, export in (("C", export_c), ("ONNX", export_onnx)):
        beside = []
        for word, precision in (("double", DOUBLE), ("single", SINGLE)):
            try:
                beside.append(f"{word} {export(field, folder / 'field', precision=precision)}")
            except ParityError as error:
                beside.append(f"{word} REFUSED: {error}")
        said = export(field, folder / "field", precision=FLOAT)
        timed = kind == "C" and field.dimension == 2
        assert said.loop is not None
        met = said.proved and said.max_error <= 1e-6 and said.loop.arrived == 1 and said.loop.as_basin_said >= 0.995
        # A motion that is not there took no time.
        met &= not timed or (said.latency_us <= 6 and not said.motion_us > 9)
        bar = "1e-6, loops 100 % / 99.5 %" + (", 6 us, 9 us" if timed else "")
        got = f"{said}; {said.loop.as_basin_said:.1%} where basin said"
        rows.append(Row(f"{kind}, {what}", bar, got, "; ".join(beside), met))
    return rows


def main() -> None:
    parity.LOOPS = LOOPS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, demos in data().items():
            rows += exported(name, learn(demos, recipe=Recipe(steps=STEPS)), Path(folder))
    report("export", rows)


if __name__ == "__main__":
    main()
