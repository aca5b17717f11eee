"""The page's JavaScript without a page: its numbers against Python's, and its pure parts, in node's own test runner."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.test_warps import everything, two_goals
from tests.untrained import field_of, stable_field

import eigenwell as ew
from eigenwell.export.javascript import formulas
from eigenwell.fields import StableField
from eigenwell.fields.home import kept_home
from eigenwell.report.numbers import in_view, of_field, of_stable

ROOT = Path(__file__).parents[1]


def winding(field, seed):
    """The same field with a swirl at every goal, and a speed that varies."""
    rng = np.random.default_rng(seed)
    model = field.model
    swirls = np.zeros_like(model.swirls)
    swirls[:, 0, 1] = rng.normal(size=len(swirls))
    swirls[:, 1, 0] = -swirls[:, 0, 1]
    speed = model.speed._replace(weights=rng.normal(0, 0.3, model.speed.weights.shape))
    model = model._replace(swirls=swirls, speed=speed, log_weights=rng.normal(0, 0.4, len(swirls)))
    return StableField(model, field.centre, field.scale, 1.3)


def stable_cases():
    rng = np.random.default_rng(0)
    for name, d, count, turns in (
        ("one goal", 2, 1, False),
        ("one goal that winds", 2, 1, True),
        ("three goals", 2, 3, False),
        ("four goals that wind", 2, 4, True),
        ("a motion with its phase", 3, 1, False),
        ("one that winds", 3, 1, True),
    ):
        field = stable_field(rng.uniform(-0.5, 0.5, (count, d)), 0.3, np.arange(1, d + 1), bend=0.25, seed=count)
        field = winding(field, seed=count) if turns else field
        # In the box, around it, and far beyond the table in which the page looks things up.
        reach = np.repeat([0.6, 1.4, 8.0], [40, 15, 5])[:, None]
        x = field.from_unit(rng.uniform(-1, 1, (60, d)) * reach)
        yield {
            "name": name,
            "numbers": of_stable(field),
            "x": x.tolist(),
            "v": field.predict(x).tolist(),
            "potential": field.potential(x).tolist(),
            "basin": field.basin(x).tolist(),
        }


def warped_cases():
    """Through every warp, in the plane and with a phase."""
    field = everything(two_goals(memory=True))
    low, high = field.samples.min(0), field.samples.max(0)
    union = two_goals().around([[0.1, -0.3], [0.2, -0.2]], radius=0.15)
    rng = np.random.default_rng(3)
    for name, one in (
        ("every warp", field.map),
        ("every warp of a motion", field.lifted[0]),
        ("a union", union.map),
        ("kept home", kept_home(two_goals().map, low, high)),
    ):
        x = np.hstack([rng.uniform(-1.9, 1.9, (60, 2)), rng.uniform(0, 1, (60, one.dimension - 2))])
        yield {
            "name": name,
            "numbers": of_stable(one),
            "x": x.tolist(),
            "v": one.predict(x).tolist(),
            "potential": one.potential(x).tolist(),
            "basin": one.basin(x).tolist(),
        }


def world_cases():
    """What a hand does to a field in the page, and the same by field.moved, around and within."""
    for name, field, edits in (
        ("a goal elsewhere", two_goals(), {"goals": {0: [0.5, 0.6]}}),
        ("both goals, far", two_goals(), {"goals": {0: [0.7, -0.5], 1: [0.5, 1.1]}}),
        ("one stone", two_goals(), {"stones": [([0.0, 0.1], 0.2)]}),
        ("stones that overlap, and one beside", two_goals(),
         {"stones": [([0.1, -0.2], 0.15), ([0.25, -0.1], 0.15), ([0.3, 0.8], 0.2)]}),
        ("walls on three sides", two_goals(), {"low": [-1.2, None], "high": [1.3, 1.2]}),
        ("all of it, with memory", two_goals(memory=True),
         {"goals": {1: [0.7, 0.5]}, "stones": [([0.0, 0.0], 0.15)], "low": [-1.6, -1.5], "high": [1.6, 1.5]}),
    ):  # fmt: skip
        plain = of_field(field)
        seen = field.moved(edits.get("goals", {})) if "goals" in edits else field
        if "stones" in edits:
            centres, radii = zip(*edits["stones"], strict=True)
            seen = seen.around(centres, radius=radii)
        if "low" in edits:
            seen = seen.within(edits["low"], edits["high"])
        x = np.random.default_rng(5).uniform(-1.2, 1.1, (50, 2))
        z = np.column_stack([x, np.linspace(0.1, 1, 50)])
        yield {
            "name": name,
            "field": plain,
            "edits": {**edits, "goals": list(map(list, edits.get("goals", {}).items()))},
            "x": x.tolist(),
            "v": seen.predict(x).tolist(),
            "motion": seen.lifted[0].predict(z).tolist() if seen.lifted else None,
            "z": z.tolist(),
            "saddles": seen.saddles.tolist(),
            "homes": seen.map.learned_place(x).tolist(),
        }


def refused_cases():
    for edits in (
        {"goals": {0: [-0.6, 0.8], 1: [0.9, 0.3]}},  # past each other
        {"stones": [([1.1, 0.4], 0.3)]},
        {"low": [0.0, None], "high": [None, None]},
        {"stones": [([0.9, -0.3], 0.4)], "low": [None, None], "high": [1.2, None]},
        {"stones": [([-1.0 + 0.25 * k, 0.0], 0.15) for k in range(6)]},
    ):
        field = two_goals()
        with pytest.raises(ew.DataError):
            field = field.moved(edits.get("goals", {}))
            for centre, radius in edits.get("stones", []):
                field = field.around(centre, radius=radius)
            if "low" in edits:
                field.within(edits["low"], edits["high"])
        yield {
            "field": of_field(two_goals()),
            "edits": {**edits, "goals": list(map(list, edits.get("goals", {}).items()))},
        }


def scaled_cases():
    """Fields in the units of a view: the same velocities in those units. Where a warp is at work their speed, and nothing else,
    is measured in the view: there both axes have one unit here."""
    middle = np.array([0.03, -2.0])
    for name, field, half in (
        ("in other units for each axis", two_goals(memory=True), np.array([0.02, 3.0])),
        ("in other units, with every warp", everything(two_goals(memory=True)), np.array([3.0, 3.0])),
    ):
        numbers = in_view(of_field(field), middle, half)
        x = np.random.default_rng(4).uniform([-1, -1], [1, 1], (40, 2))
        z = np.column_stack([x, np.linspace(0, 1, 40)])
        for kind, one, python, states in (
            ("map", numbers["map"], field.map, x),
            ("motion", numbers["lifted"][0], field.lifted[0], z),
        ):
            shown = np.column_stack([(states[:, :2] - middle) / half, states[:, 2:]])
            yield {
                "name": f"{kind} {name}",
                "numbers": one,
                "x": shown.tolist(),
                "v": (python.predict(states) / np.append(half, np.ones(states.shape[1] - 2))).tolist(),
                "potential": python.potential(states).tolist(),
                "basin": python.basin(states).tolist(),
            }


def learned_cases():
    found = ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))
    for name, memory in (("the map", False), ("motions", True)):
        field = field_of(found, bend=0.2, memory=memory)
        low, high = field.samples.min(axis=0), field.samples.max(axis=0)
        starts = np.random.default_rng(1).uniform(low, high, (6, 2))
        t = np.linspace(0.0, 0.5, 12)
        goals = [field.motion(start).goal if memory else int(field.basin(start)) for start in starts]
        yield {
            "name": name,
            "field": of_field(field),
            "starts": starts.tolist(),
            "t": t.tolist(),
            "ways": field.simulate(starts, t=t).tolist(),
            "goals": goals,
            "ends": goals,
        }


@pytest.mark.slow
def test_the_page_evaluates_what_python_does_and_its_parts_keep_their_laws(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine: apt-get install nodejs")
    cases = tmp_path / "cases.json"
    cases.write_text(
        json.dumps(
            {
                "stable": [*stable_cases(), *warped_cases(), *scaled_cases()],
                "learned": list(learned_cases()),
                "worlds": list(world_cases()),
                "refused": list(refused_cases()),
            }
        )
    )
    files = sorted(str(path) for path in (ROOT / "tests" / "page").glob("*.test.mjs"))
    done = subprocess.run(
        [node, "--test", *files], capture_output=True, text=True, timeout=120, env={**os.environ, "CASES": str(cases)}
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert int(re.search(r"# pass (\d+)", done.stdout).group(1)) > 15


def test_the_formulas_of_the_page_are_those_of_python():
    """`make page` prints them."""
    printed = (ROOT / "src" / "eigenwell" / "studio" / "page" / "formulas.js").read_text()
    assert printed == formulas()


def test_the_page_is_tidy():
    """`npm run lint`, where eslint is installed."""
    eslint = ROOT / "node_modules" / ".bin" / "eslint"
    if not eslint.exists():
        pytest.skip("eslint is not installed: npm install")
    done = subprocess.run(
        [str(eslint), "src/eigenwell/studio", "tests/page"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
