"""Exports say what the library says, in C and in ONNX, or they are not written."""

import math
import runpy
import subprocess
import sys
import timeit
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tests.test_models import many, stable_field
from tests.untrained import compared_little, learned_field

from eigenwell.demonstrations import Chart
from eigenwell.export import (
    DOUBLE,
    FLOAT,
    SINGLE,
    Parity,
    ParityError,
    Precision,
    c_header,
    c_text,
    export_c,
    export_onnx,
)
from eigenwell.export.c_header import FLAGS, find_compiler
from eigenwell.export.c_text import kd_tree
from eigenwell.export.parity import Answers, compare, parity_states
from eigenwell.export.tables import tables
from eigenwell.fields import Field
from eigenwell.fields.flows import Flow, linearise
from eigenwell.files import CannotWrite, MissingExtra
from eigenwell.poses import composed, exponential

EXAMPLES = Path(__file__).parent.parent / "examples"
Export = Callable[..., Parity]
both = pytest.mark.parametrize("export", [export_c, export_onnx])
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


ABOUT_PARITY = {
    "test_exports_agree_with_numpy",
    "test_full_size",
    "test_a_field_far_from_the_origin",
    "test_parity_notices_every_kind_of_difference",
    "test_a_state_on_the_border_may_fall_to_either_side",
    "test_parity_states_are_what_the_export_can_be_asked",
}


@pytest.fixture(autouse=True)
def asked_little(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 10,000 states where agreement is in question; few where only the file is wanted."""
    if request.node.originalname not in ABOUT_PARITY:
        compared_little(monkeypatch.setattr)


def name_of(export: Export) -> str:
    return "field.h" if export is export_c else "field.onnx"


KINDS = [
    (2, 1, {}, DOUBLE),
    (2, 3, {}, FLOAT),
    (2, 2, {"toward": True, "seed": 1}, SINGLE),
    (3, 2, {"toward": True, "memory": True}, FLOAT),
    (2, 2, {"memory": True, "seed": 1}, DOUBLE),
    (7, 2, {"memory": True}, SINGLE),
]
"""Dimension, attractors, what the field has (an odd seed winds), precision."""


@both
@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "attractors", "has", "precision"), KINDS)
def test_exports_agree_with_numpy(
    export: Export, dimension: int, attractors: int, has: dict, precision: Precision, tmp_path: Path
) -> None:
    """Velocity, potential, basin, far, every goal, and motions; and loops on the export arrive where its basin said."""
    field = many(dimension, attractors, samples=100, **has)
    parity = export(field, tmp_path / name_of(export), precision=precision)
    assert parity.proved and parity.states == 10_000 and parity.path.is_file()
    assert parity.max_error <= precision.tolerance <= 1e-4
    assert parity.ties <= 10 and 0 < parity.latency_us < 1e5
    assert parity.loop is not None and parity.loop.arrived == 1 and parity.loop.as_basin_said >= 0.98
    assert math.isnan(parity.motion_us) != field.has_memory
    wanted = {"field.h"} if export is export_c else {"field.onnx", "field.basin.onnx"}
    if export is export_onnx:
        wanted |= {"field.toward.onnx"} if attractors > 1 else set()
        wanted |= {"field.motion.onnx"} if field.has_memory else set()
    assert {p.name for p in tmp_path.iterdir()} == wanted


@both
@pytest.mark.slow
def test_full_size(export: Export, tmp_path: Path) -> None:
    """At the size that `learn` makes: 1e-6, and in C one state takes less than a fifth of what it takes here."""
    field = many(2, 3, layers=10, features=32, samples=500)
    said = export(field, tmp_path / name_of(export))
    assert said.max_error <= 1e-6
    if export is export_c:
        # A ratio of two times from one run: `benchmarks.export` has the microseconds, on a machine that does nothing else.
        here = min(timeit.repeat(lambda: field.predict([0.1, 0.2]), number=50, repeat=5)) / 50 * 1e6
        assert said.latency_us <= here / 5


@pytest.mark.slow
@both
def test_a_field_far_from_the_origin(export: Export, tmp_path: Path) -> None:
    field = many(3, 1, offset=1000)
    for precision in (FLOAT, DOUBLE):
        assert export(field, tmp_path / name_of(export), precision=precision).max_error <= precision.tolerance


@pytest.mark.slow
@both
def test_a_single_field(export: Export, tmp_path: Path) -> None:
    assert export(stable_field(2, 1), tmp_path / name_of(export)).proved


def test_fields_of_different_sizes_share_tables() -> None:
    """Law: padding with zero weights is the identity, so that psi and its Jacobian stay."""
    small, large = stable_field(3, 0), stable_field(3, 1, layers=7, features=9)
    both_ = tables([small, large])
    assert both_.flow.frequencies.shape[:3] == (2, 7, 9) and both_.speed.frequencies.shape == (2, 8, 3)
    x = np.random.default_rng(0).uniform(-1, 1, (3, 20))
    for n, one in enumerate((small, large)):
        flow = Flow(*(part[n] for part in both_.flow))
        (y, steps), (expected, original) = linearise(flow, x), linearise(one.model.flow, x)
        np.testing.assert_allclose(y, expected, atol=1e-13)
        np.testing.assert_allclose(steps[0].shear, original[0].shear, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 64, 1001])
def test_every_range_of_the_tree_is_split_by_its_middle(count: int) -> None:
    points = np.random.default_rng(0).integers(0, 9, (count, 3)).astype(float)
    order, axis = kd_tree(points)
    assert sorted(order) == list(range(count))
    ranges = [(0, count)]
    while ranges:
        low, high = ranges.pop()
        at = low + (high - low) // 2
        if low < high:
            along = points[order[low:high], axis[at]]
            assert (along[: at - low] <= along[at - low]).all() and (along[at - low :] >= along[at - low]).all()
            ranges += [(low, at), (at + 1, high)]


# --- the graph ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Field, dict[str, onnxruntime.InferenceSession]]:
    field, path = many(2, 2, toward=True, memory=True), tmp_path_factory.mktemp("graph") / "field.onnx"
    with pytest.MonkeyPatch.context() as patch:
        compared_little(patch.setattr)
        export_onnx(field, path)
    sessions = {
        part: onnxruntime.InferenceSession(str(path.with_name(f"field{part}.onnx")), providers=["CPUExecutionProvider"])
        for part in ("", ".basin", ".toward", ".motion")
    }
    return field, sessions


Sessions = tuple[Field, dict[str, onnxruntime.InferenceSession]]


@pytest.mark.slow
def test_names_shapes_and_age_of_the_graphs(graphs: Sessions) -> None:
    _, sessions = graphs
    names = {
        part: ([i.name for i in s.get_inputs()], [o.name for o in s.get_outputs()]) for part, s in sessions.items()
    }
    assert names == {
        "": (["x"], ["velocity", "potential"]),
        ".basin": (["x"], ["basin", "far", "start_goal", "start_phase"]),
        ".toward": (["x", "goal"], ["velocity", "potential"]),
        ".motion": (
            ["x", "phase", "goal", "heading", "radius"],
            ["velocity", "phase_rate", "heading_out", "radius_out"],
        ),
    }
    for n in (1, 7):
        x = np.zeros((n, 2), np.float32)
        assert [a.shape for a in sessions[""].run(None, {"x": x})] == [(n, 2), (n,)]
        assert [a.shape for a in sessions[".basin"].run(None, {"x": x})] == [(n,)] * 4


@pytest.mark.slow
def test_the_graphs_rest_at_their_attractors_and_do_not_know_nan(graphs: Sessions) -> None:
    field, sessions = graphs
    at = field.attractors.astype(np.float32)
    velocity, potential = sessions[""].run(None, {"x": at})
    assert (velocity == 0).all() and (potential == 0).all()
    assert (sessions[".basin"].run(["basin"], {"x": at})[0] == np.arange(2)).all()
    basin, far = sessions[".basin"].run(["basin", "far"], {"x": np.array([[np.nan, 0], [1e6, 0]], np.float32)})
    assert far.all() and basin[0] == -1
    assert np.isfinite(sessions[""].run(["velocity"], {"x": np.array([[1e6, -1e6]], np.float32)})[0]).all()


@pytest.mark.slow
def test_a_goal_is_an_input_and_one_that_is_not_there_is_refused(graphs: Sessions) -> None:
    field, sessions = graphs
    x = field.samples[:20].astype(np.float32)
    asked = x.astype(float)
    for goal, expected in ((-1, field.predict(asked)), *((q, field.toward(q).predict(asked)) for q in range(2))):
        got = sessions[".toward"].run(["velocity"], {"x": x, "goal": np.array(goal)})[0]
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    for goal in (2, -2):
        with pytest.raises(Exception, match="indices"):
            sessions[".toward"].run(["velocity"], {"x": x, "goal": np.array(goal)})


@pytest.mark.slow
def test_a_motion_is_carried_from_step_to_step_by_its_caller(graphs: Sessions) -> None:
    field, sessions = graphs
    x = field.samples[3].astype(np.float32)
    goal, phase = (a[0] for a in sessions[".basin"].run(["start_goal", "start_phase"], {"x": x[None]}))
    motion = field.motion(x.astype(float))
    assert goal == motion.goal and phase == pytest.approx(motion.phase, abs=1e-6)
    heading, radius, dt = np.zeros((1, 3)), np.zeros(1), 0.002
    for _ in range(30):
        expected = motion.step(x.astype(float), dt)
        fed = {"x": x[None], "phase": np.array([phase], np.float32), "goal": np.array(goal)}
        v, rate, heading, radius = sessions[".motion"].run(None, {**fed, "heading": heading, "radius": radius})
        np.testing.assert_allclose(v[0], expected, rtol=1e-4, atol=1e-4)
        assert v.dtype == np.float32 and heading.dtype == radius.dtype == np.float64  # kept, so not rounded
        x, phase = (x + np.float32(dt) * v[0]).astype(np.float32), np.float32(phase + dt * rate[0])


# --- the header ---------------------------------------------------------------------------------------

USER = """
#include <stdio.h>
#include <stdlib.h>
#include "robot_arm.h"
int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const REAL x[2] = {(REAL)atof(argv[i]), (REAL)atof(argv[i + 1])};
        REAL v[2], w[2], lost[2];
        eigenwell_robot_arm_velocity(x, v);
        eigenwell_robot_arm_toward(1, x, w);
        eigenwell_robot_arm_toward(2, x, lost);
        printf("%.17g %.17g %d %d %.17g %.17g %.17g %.17g %d\\n", (double)v[0], (double)v[1], eigenwell_robot_arm_basin(x),
               eigenwell_robot_arm_far(x), (double)eigenwell_robot_arm_potential(x), (double)w[0], (double)w[1],
               (double)eigenwell_robot_arm_potential_toward(1, x), lost[0] != lost[0]);
    }
    return 0;
}
"""


def compiled(folder: Path, precision: Precision) -> Path:
    (folder / "user.c").write_text(USER)
    real = "-DREAL=float" if precision.outside is np.float32 else "-DREAL=double"
    command = [str(find_compiler()), *FLAGS, "-Werror", "-Wshadow", real, "user.c", "-o", "user", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder / "user"


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("precision", [FLOAT, DOUBLE, SINGLE], ids=["float", "double", "single"])
def test_a_header_compiles_without_a_warning_and_is_used_as_it_says(precision: Precision, tmp_path: Path) -> None:
    field = many(2, 2)
    export_c(field, tmp_path / "Robot-arm.h", name="robot arm", precision=precision)
    (tmp_path / "Robot-arm.h").rename(tmp_path / "robot_arm.h")
    text = (tmp_path / "robot_arm.h").read_text()
    assert [line for line in text.splitlines() if line.startswith("#include")] == ["#include <math.h>"]
    assert f"to {precision.tolerance:g}, tried" in text and "malloc" not in text and "@" not in text
    program = compiled(tmp_path, precision)
    at = field.attractors[0].astype(precision.outside)
    out = field.samples.mean(0) + 2 * field.box
    asked = np.array([field.samples[0], field.samples[-1], at, out, [1e6, -1e6], [np.nan, 0]])
    said = subprocess.run([program, *map(repr, map(float, asked.ravel()))], capture_output=True, text=True, check=True)
    rows = np.array([[float(word) for word in line.split()] for line in said.stdout.splitlines()])
    assert (rows[:, 8] == 1).all()  # a goal that does not exist gives NaN
    x = asked[:4].astype(precision.outside).astype(float)
    np.testing.assert_array_equal(rows[:4, 2], field.basin(x))
    np.testing.assert_array_equal(rows[:4, 3], field.far(x))
    tolerance = 1e-3 if precision is SINGLE else 1e-5
    np.testing.assert_allclose(rows[[0, 1, 3], :2], field.predict(x[[0, 1, 3]]), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(rows[[0, 1, 3], 4], field.potential(x[[0, 1, 3]]), rtol=tolerance)
    np.testing.assert_allclose(
        rows[[0, 1, 3], 5:7], field.toward(1).predict(x[[0, 1, 3]]), rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(rows[[0, 1, 3], 7], field.toward(1).potential(x[[0, 1, 3]]), rtol=tolerance)
    assert rows[2, 2] == 0 and (rows[2, :2] == 0).all() and rows[2, 4] == 0
    # Far beyond the data: known to be so, and still a number; NaN is far from everything.
    assert (rows[4:, 3] == 1).all() and np.isfinite(rows[4]).all()
    assert np.isnan(rows[5, :2]).all() and rows[5, 2] == -1


PUSHED = """
#include <stdio.h>
#include "field.h"
int main(void)
{
    double x[2];
    eigenwell_field_motion m;
    if (scanf("%lf %lf", &x[0], &x[1]) != 2 || !eigenwell_field_motion_begin(&m, x)) return 1;
    for (int i = 0; i < 4000 && !eigenwell_field_motion_done(&m); ++i) {
        double v[2], held = i >= 20 && i < 60 ? 0.3 : 1;
        if (!eigenwell_field_motion_step(&m, x, 0.002, v)) return 2;
        for (int k = 0; k < 2; ++k) x[k] += 0.002 * held * v[k] + (i == 100 ? 0.1 : 0);
        printf("%.17g %.17g %.17g\\n", x[0], x[1], m.phase);
    }
    double v[2];
    const int backwards = eigenwell_field_motion_step(&m, x, -0.1, v);
    const int nowhere = eigenwell_field_motion_begin_at(&m, 2, 1, x) + eigenwell_field_motion_begin_at(&m, 0, 1.5, x);
    return backwards || nowhere || v[0] == v[0];
}
"""


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_motion_in_c_is_held_pushed_and_goes_on_as_numpys(seed: int, tmp_path: Path) -> None:
    field = many(2, 2, memory=True, seed=seed)
    export_c(field, tmp_path / "field.h", precision=DOUBLE)
    (tmp_path / "user.c").write_text(PUSHED)
    command = [str(find_compiler()), *FLAGS, "-Werror", "-Wshadow", "user.c", "-o", "user", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    x = field.samples[field.phases.argmax()]
    said = subprocess.run([tmp_path / "user"], input=" ".join(map(str, x.tolist())), capture_output=True, text=True)
    assert said.returncode == 0
    rows = np.array([[float(word) for word in line.split()] for line in said.stdout.splitlines()])
    motion, path = field.motion(x), []
    while not motion.done and len(path) < 4000:
        i = len(path)
        v = motion.step(x, 0.002)
        x = x + 0.002 * (0.3 if 20 <= i < 60 else 1) * v + (0.1 if i == 100 else 0)
        path.append([*x, motion.phase])
    assert len(rows) == len(path) < 4000
    np.testing.assert_allclose(rows, path, atol=1e-9)


ADVANCED = """
#include <stdio.h>
#include "field.h"
int main(void)
{
    double x[2], dt;
    while (scanf("%lf %lf %lf", &dt, &x[0], &x[1]) == 3) {
        const int said = eigenwell_field_basin(x);
        for (int i = 0; i < 40000 && eigenwell_field_potential(x) > 1e-9; ++i) {
            if (!eigenwell_field_advance(x, dt, x)) return 1;
        }
        printf("%d %.17g %.17g\\n", said, x[0], x[1]);
    }
    double nowhere[2];
    return eigenwell_field_advance(x, -1, nowhere) || nowhere[0] == nowhere[0];
}
"""


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_loop_on_advance_in_c_ends_where_basin_said(seed: int, tmp_path: Path) -> None:
    """From three times the box, at any rate; an odd seed winds."""
    field = many(2, 3, seed=seed)
    export_c(field, tmp_path / "field.h", precision=DOUBLE)
    (tmp_path / "user.c").write_text(ADVANCED)
    command = [str(find_compiler()), *FLAGS, "-Werror", "-Wshadow", "user.c", "-o", "user", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    rng = np.random.default_rng(4)
    asked = np.column_stack(
        [np.repeat([1.0, 0.1, 0.01], 10), field.samples.mean(0) + 1.5 * field.box * rng.uniform(-1, 1, (30, 2))]
    )
    said = subprocess.run([tmp_path / "user"], input="\n".join(" ".join(map(repr, map(float, row))) for row in asked),
                          capture_output=True, text=True)  # fmt: skip
    assert said.returncode == 0
    rows = np.array([line.split() for line in said.stdout.splitlines()], dtype=float)
    np.testing.assert_array_equal(rows[:, 0], field.basin(asked[:, 1:]))
    np.testing.assert_allclose(rows[:, 1:], field.attractors[rows[:, 0].astype(int)], atol=1e-3)


@pytest.mark.slow
@needs_compiler
def test_fast_math_is_refused(tmp_path: Path) -> None:
    export_c(many(), tmp_path / "field.h")
    command = [str(find_compiler()), "-std=c99", "-ffast-math", "-fsyntax-only", "-x", "c", str(tmp_path / "field.h")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "-ffast-math" in done.stderr


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(("name", "prefix"), [("x.h", "x"), ("My Robot 2.h", "my_robot_2"), ("é-.h", "field")])
def test_functions_are_named_after_the_file(name: str, prefix: str, tmp_path: Path) -> None:
    export_c(many(), tmp_path / name)
    assert f"eigenwell_{prefix}_velocity(" in (tmp_path / name).read_text()


def test_without_a_compiler_the_export_says_that_it_is_unproved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    parity = export_c(many(), tmp_path / "field.h")
    assert parity.path.is_file() and not parity.proved and math.isnan(parity.max_error)
    assert "NOT TRIED" in parity.path.read_text()
    assert "not proved: no C compiler" in str(parity) and "gcc" in str(parity)


# --- exports that do not agree ------------------------------------------------------------------------


@pytest.mark.slow
@both
def test_an_export_that_disagrees_is_not_written(export: Export, tmp_path: Path) -> None:
    impossible = Precision(np.float32, np.float32, 1e-9)
    with pytest.raises(ParityError, match=r"agrees with NumPy to 1e-09, got an error of .*Nothing was written"):
        export(many(), tmp_path / name_of(export), precision=impossible)
    assert list(tmp_path.iterdir()) == []


@needs_compiler
def test_a_broken_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(ParityError, match=r"Expected false to compile.*CC"):
        export_c(many(), tmp_path / "field.h")
    assert list(tmp_path.iterdir()) == []


def answers(field: Field, x: np.ndarray) -> Answers:
    return Answers(field.predict(x), field.basin(x), field.far(x), field.potential(x))


@pytest.mark.slow
def test_parity_notices_every_kind_of_difference() -> None:
    field = many(2, 2, samples=300)
    x = parity_states(field, DOUBLE)
    said = answers(field, x)
    assert compare(field, x, said, DOUBLE) == (0.0, 0)
    wrong_v, wrong_potential = said.velocity.copy(), said.potential.copy()
    wrong_v[5, 1] += 1e-9
    wrong_potential[5] *= 1 + 1e-6
    inside = int(np.argmin(np.linalg.norm((x - field.attractors[0]) / field.box, axis=1)))
    wrong_far, wrong_basin, broken = said.far.copy(), said.basin.copy(), said.velocity.copy()
    wrong_far[inside] ^= True
    wrong_basin[inside] = 1 - wrong_basin[inside]
    broken[0] = np.nan
    for bad in (
        Answers(wrong_v, said.basin, said.far, said.potential),
        Answers(said.velocity, said.basin, said.far, wrong_potential),
        Answers(said.velocity, said.basin, wrong_far, said.potential),
        Answers(said.velocity, wrong_basin, said.far, said.potential),
        Answers(broken, said.basin, said.far, said.potential),
        Answers(said.velocity, said.basin + 2, said.far, said.potential),
    ):
        with pytest.raises(ParityError):
            compare(field, x, bad, DOUBLE)


@pytest.mark.slow
def test_a_state_on_the_border_may_fall_to_either_side() -> None:
    field = many(2, 2, samples=300)
    border = field.separatrices(reach=0.5)[0][3::40]
    x = np.concatenate([border, field.samples, *[field.samples + 1e-3 * k * field.box for k in range(1, 20)]])
    said = answers(field, x)
    other = said.basin.copy()
    other[: len(border)] = 1 - np.maximum(other[: len(border)], 0)
    blurred = Precision(np.float64, np.float32, 1e-4)
    error, ties = compare(field, x, Answers(said.velocity, other, said.far, said.potential), blurred)
    assert error == 0 and 0 < ties <= len(border)
    other[-1] = 1 - other[-1]
    with pytest.raises(ParityError, match="on no border"):
        compare(field, x, Answers(said.velocity, other, said.far, said.potential), blurred)


def test_parity_states_are_what_the_export_can_be_asked() -> None:
    field = many(3, 2)
    x = parity_states(field, FLOAT)
    assert x.shape == (10_000, 3) and (x.astype(np.float32) == x).all()
    assert 0.05 < field.far(x).mean() < 0.9
    gap = np.abs(x[:, None] - field.attractors).max(-1).min(1)
    assert (gap < 1e-4).sum() > 300


@both
def test_output_that_cannot_be_written(export: Export, tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "place.h", tmp_path):
        with pytest.raises(CannotWrite, match="Cannot write"):
            export(many(), path)
    assert list(tmp_path.iterdir()) == []


def test_missing_extras_name_their_pip_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match=r'pip install "eigenwell\[export\]"'):
        export_onnx(many(), tmp_path / "field.onnx")


@pytest.mark.slow
def test_importing_the_exports_loads_no_extra() -> None:
    code = "import sys, eigenwell.export; assert not {'onnx', 'onnxruntime', 'jax'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_result_says_it_in_one_line(tmp_path: Path) -> None:
    assert str(Parity(tmp_path, True, 10_000, 5.8e-8, 1e-6, 2, 4.123)) == (
        "agrees with NumPy to 5.8e-08 on 10,000 states (2 on a border); 4.12 us per state on this machine"
    )
    assert "7 us per step of a motion" in str(Parity(tmp_path, True, 1, 0.0, 1e-6, 0, 4.0, motion_us=7.0))
    assert c_header.FLAGS[0] == "-std=c99"


# --- the example --------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.slow
def test_the_control_loop_runs_in_python_and_in_c_to_the_same_place(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    loop = runpy.run_path(str(EXAMPLES / "control_loop.py"))
    # The functions of a script run by path look their names up in its own globals.
    monkeypatch.setitem(loop["control"].__globals__, "SECONDS", 0.1)
    field = many(3, 2, memory=True)
    loop["control"](field, field.samples[0])
    loop["follow"](field, field.samples[0])
    loop["control_in_c"](field, field.samples[0])
    lines = [line for line in capfd.readouterr().out.splitlines() if " at 1 kHz" in line]
    assert [line.split()[:3] for line in lines] == [
        ["Python:", "map,", "100"], ["Python:", "motion,", "100"], ["C:", "map,", "100"], ["C:", "motion,", "100"]
    ]  # fmt: skip
    places = [line.split("; ")[1] for line in lines]
    assert places[0] == places[2] and places[1] == places[3]


@needs_compiler
@pytest.mark.parametrize("memory", [False, True])
def test_the_c_example_compiles_without_a_warning(memory: bool, tmp_path: Path) -> None:
    (tmp_path / "field.h").write_text(c_text.c_header(many(memory=memory), "eigenwell_field", FLOAT, proved=False))
    source = str(EXAMPLES / "control_loop.c")
    command = [str(find_compiler()), *FLAGS, "-Werror", f"-I{tmp_path}", source, "-o", str(tmp_path / "loop"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("precision", [SINGLE, DOUBLE, FLOAT])
def test_a_field_of_poses_gives_twists_in_c(tmp_path, precision, monkeypatch):
    monkeypatch.setattr("eigenwell.export.parity.MOTIONS", 500)  # as many poses are asked
    rng = np.random.default_rng(3)
    goals = np.array([[0.2, 0.1, 0.0, 0.3, -0.2, 0.1], [-0.2, 0.0, 0.1, -0.2, 0.3, 0.2]])
    labels = np.repeat([0, 1], 40)
    phases = np.tile(np.linspace(1, 0, 40), 2)
    samples = goals[labels] + phases[:, None] * rng.uniform(-0.5, 0.5, (2, 6))[labels]
    reference = np.array([0.5, -0.5, 0.1, 0.7])
    chart = Chart(reference / np.linalg.norm(reference), 0.4)
    field = replace(learned_field(goals, samples, labels, phases, bend=0.05), chart=chart)
    parity = export_c(field, tmp_path / "pose.h", precision=precision)
    assert parity.proved and parity.max_error < precision.tolerance
    header = (tmp_path / "pose.h").read_text()
    assert "int  eigenwell_pose_twist(" in header and "@" not in header
    with c_header.compiled(tmp_path / "pose.h", "eigenwell_pose", field, precision, str(find_compiler())) as exported:
        half = composed(chart.reference, exponential(np.array([np.pi, 0, 0])))  # half a turn away
        state, known = exported.state(np.zeros((1, 3)), half[None])
        assert not known.any() and np.isnan(state).all()
