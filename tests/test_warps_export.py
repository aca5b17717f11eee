"""Warps in C and ONNX: the same as in NumPy, compiled in and set at run time."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from tests.test_warps import everything, two_goals

import eigenwell as ew
from eigenwell.errors import DataError
from eigenwell.export import DOUBLE, export_c
from eigenwell.export.c_header import FLAGS, find_compiler
from eigenwell.fields.home import kept_home

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def softly(field):
    """With walls that were learned, as the innermost warp."""
    low, high = field.samples.min(0), field.samples.max(0)
    return replace(
        field,
        map=kept_home(field.map, low, high),
        lifted=tuple(kept_home(one, low, high) for one in field.lifted),
    )


CASES = {
    "all": lambda: everything(two_goals(memory=True)),
    "union": lambda: two_goals().around([[0.1, -0.3], [0.2, -0.2]], radius=0.15),
    "ellipsoid in space": lambda: two_goals(d=3).around([0.1, -0.4, 0], axes=np.diag([0.3, 0.1, 0.2])),
    "learned walls": lambda: everything(softly(two_goals(memory=True))),
    "passed": lambda: two_goals(memory=True).moved({0: [1.2, 0.1]}, via=[([-0.2, -0.4], [-0.3, -0.2])]),
}


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_c_says_what_numpy_says(tmp_path, name):
    proved = export_c(CASES[name](), tmp_path / "field.h", precision=DOUBLE)
    assert proved.proved and proved.max_error < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all", "union", "learned walls", "passed"])
def test_onnx_says_what_numpy_says(tmp_path, name):
    pytest.importorskip("onnxruntime")
    from eigenwell.export import export_onnx

    assert export_onnx(CASES[name](), tmp_path / "field.onnx", precision=DOUBLE).max_error < 1e-12


def test_what_keeps_a_field_home_is_saved(tmp_path):
    field = everything(softly(two_goals(memory=True)))
    x = np.random.default_rng(0).uniform(-2, 2, (50, 2))
    for one in (field, field.unwarped):
        one.save(tmp_path / "field.eigenwell")
        back = ew.load(tmp_path / "field.eigenwell")
        np.testing.assert_array_equal(back.predict(x), one.predict(x))
        np.testing.assert_array_equal(back.simulate(x[:3], 1.0), one.simulate(x[:3], 1.0))
        assert len(back.warps) == len(one.warps)


PROGRAM = """
#include <stdio.h>
#include "field.h"
int main(void)
{
    eigenwell_field_world world = eigenwell_field_home;
    double number[64], x[2], v[2];
    int count = 0;
    while (count < 64 && scanf("%lf", number + count) == 1) ++count;
    world.goal[0][0] = number[0];
    world.goal[0][1] = number[1];
    world.low[0] = number[2];
    world.low[1] = number[3];
    world.bodies = 2;
    for (int m = 0; m < 2; ++m) {
        for (int i = 0; i < 2; ++i) {
            world.centre[m][i] = number[4 + 3 * m + i];
            world.shape[m][i][i] = 1 / number[6 + 3 * m];
        }
    }
    if (!eigenwell_field_world_ready(&world)) return 1;
    for (int k = 10; k < count; k += 2) {
        x[0] = number[k];
        x[1] = number[k + 1];
        eigenwell_field_velocity_in(&world, x, v);
        printf("%.17g %.17g %.17g", v[0], v[1], eigenwell_field_potential_in(&world, x));
        for (int q = 0; q < 2; ++q) {
            eigenwell_field_motion motion;
            eigenwell_field_motion_begin_at_in(&world, &motion, q, 0.5, x);
            eigenwell_field_motion_step_in(&world, &motion, x, 1e-3, v);
            printf(" %.17g %.17g", v[0], v[1]);
        }
        printf("\\n");
    }
    return 0;
}
"""


@needs_compiler
@pytest.mark.slow
def test_a_world_made_in_c_is_that_of_numpy(tmp_path):
    field = two_goals(memory=True)
    export_c(field, tmp_path / "field.h", precision=DOUBLE, name="field")
    (tmp_path / "main.c").write_text(PROGRAM)
    program = tmp_path / "main"
    subprocess.run([find_compiler(), *FLAGS, str(tmp_path / "main.c"), "-o", str(program), "-lm"], check=True)

    def asked(numbers):
        said = " ".join(f"{n!r}" for n in map(float, numbers))
        return subprocess.run([str(program)], input=said, capture_output=True, text=True)

    x = np.random.default_rng(0).uniform(-1.5, 1.5, (27, 2))
    x[0] = [0.2, -0.3]  # in the middle of a ball
    x[1] = [-2.1, 0.0]  # beyond the wall
    goal, low, balls = [1.4, 0.9], [-2.0, -2.0], [[0.2, -0.3, 0.2], [-0.3, 0.4, 0.1]]
    done = asked([*goal, *low, *np.ravel(balls), *x.ravel()])
    assert done.returncode == 0
    said = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    other = field.moved({0: goal}).within(low, None).around(np.array(balls)[:, :2], radius=np.array(balls)[:, 2])
    np.testing.assert_allclose(said[:, :2], other.predict(x), atol=1e-7)
    np.testing.assert_allclose(said[:, 2], other.potential(x), rtol=1e-7)
    for q in (0, 1):
        ours = [other.motion(one, goal=q, phase=0.5).step(one, 1e-3) for one in x]
        np.testing.assert_allclose(said[:, 3 + 2 * q : 5 + 2 * q], ours, atol=1e-7)
    # What Python refuses is refused.
    touching = [[0.2, -0.3, 0.2], [0.4, -0.3, 0.2]]
    over = [[*goal, 0.2], [-0.3, 0.4, 0.1]]
    for bad in (touching, over):
        assert asked([*goal, *low, *np.ravel(bad)]).returncode == 1
    with pytest.raises(DataError):
        field.moved({0: goal}).around(goal, radius=0.2)
    assert asked([*goal, 1.5, -2.0, *np.ravel(balls)]).returncode == 1
