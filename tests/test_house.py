"""The house stays in order: imports go one way, the front door is light, files stay short."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import eigenwell

ROOT = Path(eigenwell.__file__).parent

# A room may use only rooms on lines above its own, or on its own line.
FLOORS = [
    ["_types", "errors", "palette"],
    ["velocities", "checks", "metrics"],
    ["demonstrations"],
    ["systems", "datasets", "graphs", "files"],
    ["paths", "spectral"],
    ["attractors"],
    ["identification"],
    ["estimators", "fields"],
    ["learning", "models"],
    ["baselines", "export", "distributed"],
    ["plotting", "report"],
    ["reproduce", "studio"],
    ["cli"],
]
# field.save(folder) is worth one step up the stairs, taken when it is called.
STAIRS = {("fields", "models")}


def room(module: str) -> str:
    return module.split(".")[0]


def imports(path: Path) -> set[str]:
    """Rooms of this package that a file imports, at any depth of its code."""
    inside = path.relative_to(ROOT).parts
    used = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = inside[: len(inside) - node.level]
            names = [node.module] if node.module else [a.name for a in node.names]
            used |= {room(".".join([*package, name])) for name in names}
    return used


def test_imports_go_one_way():
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    for path in ROOT.rglob("*.py"):
        me = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if me.startswith("__"):
            continue
        assert me in floor, f"{me} has no floor: give it one in tests/test_house.py"
        for used in imports(path) - {me, "__version__"}:
            if (me, used) in STAIRS:
                continue
            assert floor[used] < floor[me], f"{path.name} ({me}) imports {used}, which is not below it"


def test_files_can_be_read_in_one_sitting():
    long = {p.name: n for p in ROOT.rglob("*.py") if (n := len(p.read_text().splitlines())) > 400}
    assert not long


@pytest.mark.parametrize("module", ["eigenwell"])
def test_the_front_door_is_light(module):
    """No JAX, no matplotlib on import; half a second is the bar, measured in benchmarks."""
    code = f"import sys, {module}; print([m for m in ('jax', 'matplotlib', 'plotly', 'pyarrow', 'optax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
