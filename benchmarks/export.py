"""Do exported fields say what NumPy says, and how fast? Learned models in 2, 3, 7 and 10 dimensions.

Bar: C and ONNX agree with NumPy to 1e-6 (float) on 10,000 states; C takes at most 10 us per planar state. Double and
single precision are reported beside it.

    python -m benchmarks.export
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell.export import DOUBLE, FLOAT, SINGLE, ParityError, export_c, export_onnx
from eigenwell.fields import MultiAttractorField
from eigenwell.learning import learn
from eigenwell.learning.recipes import Recipe

STEPS = 600
"""Enough to bend the flows as far as they will be; the fit itself is not measured here."""


def data() -> dict[str, ew.Demonstrations]:
    sets = {
        "duffing": ew.systems.duffing.sample(seed=0),
        "four wells": ew.systems.four_wells.sample(seed=0),
        "three_d": ew.systems.three_d.sample(seed=0),
        "arm": ew.datasets.joint_recordings(0),
        "ten_d": ew.systems.ten_d.sample(seed=0),
    }
    try:
        return {"LASA Sshape": ew.datasets.lasa("Sshape")} | sets
    except ew.DataError:
        return sets


def exported(name: str, field: MultiAttractorField, folder: Path) -> list[Row]:
    rows = []
    what = f"{name}, {field.dimension}-D, {field.n_attractors} attractors, {len(field.samples)} samples"
    for kind, export in (("C", export_c), ("ONNX", export_onnx)):
        beside = []
        for word, precision in (("double", DOUBLE), ("single", SINGLE)):
            try:
                beside.append(f"{word} {export(field, folder / 'field', precision=precision)}")
            except ParityError as error:
                beside.append(f"{word} REFUSED: {error}")
        parity = export(field, folder / "field", precision=FLOAT)
        timed = kind == "C" and field.dimension == 2
        met = parity.proved and parity.max_error <= 1e-6 and (not timed or parity.latency_us <= 10)
        bar = "1e-6, 10 us" if timed else "1e-6"
        rows.append(Row(f"{kind}, {what}", bar, str(parity), "; ".join(beside), met))
    return rows


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, demos in data().items():
            rows += exported(name, learn(demos, recipe=Recipe(steps=STEPS)), Path(folder))
    report("export", rows)


if __name__ == "__main__":
    main()
