"""The house stays in order: imports go one way, `import eigenwell` is light, files stay short, errors have one root."""

import ast
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import eigenwell

ROOT = Path(eigenwell.__file__).parent
PAPER = ROOT.parents[1] / "packages" / "eigenwell-paper" / "src" / "eigenwell_paper"

# A room may use only rooms on lines above its own, or on its own line.
FLOORS = [
    ["_types", "errors", "palette", "progress", "threads", "wording"],
    ["velocities", "checks", "metrics", "runge_kutta", "annotations", "data_frames"],
    ["grids", "repr_html", "arguments"],
    ["demonstrations"],
    ["poses", "cells"],
    ["systems", "datasets", "graphs", "files"],
    ["paths", "spectral", "numbering"],
    ["attractors"],
    ["flow"],
    ["results"],
    ["readings"],
    ["identification"],
    ["fields", "comparison"],
    ["learning", "models"],
    ["estimators", "export", "distributed", "auditing"],
    ["plotting", "report"],
    ["studio"],
    ["cli"],
]
# field.save(folder) is worth one step up the stairs, taken when it is called.
# A data frame at the front door is read by the names of its columns, as files are.
# comparison.plot() and sweep.plot() draw.
STAIRS = {("demonstrations", "files"), ("fields", "models"), ("comparison", "plotting")}


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


def test_the_table_for_contributors_is_the_order_of_the_imports():
    """Every package has a row, and uses only those of its row and of rows above, as the text beside it says."""
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    table = text.partition("## How the house is laid out")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    row = {name: k for k, names in enumerate(rows) for name in names}
    floors = [name for names in FLOORS for name in names]
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(row) <= set(floors), "CONTRIBUTING.md has a row for every package and no other names"
    for path in ROOT.rglob("*.py"):
        me = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for used in (imports(path) & set(row)) if me in row else ():
            assert row[used] <= row[me] or (me, used) in STAIRS, (
                f"{path.name} ({me}) imports {used}, below it in the table"
            )


def test_files_named_for_contributors_are_there():
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.py)`", text))
    assert len(named) > 15
    assert {name for name in named if not (ROOT / name).exists() and not (ROOT.parents[1] / name).exists()} == set()


def test_what_the_guides_use_is_at_the_top():
    pages = [p for glob in ("README.md", "docs/*/*.md", "examples/*/*.py") for p in ROOT.parents[1].glob(glob)]
    used = {name for page in pages for name in re.findall(r"\bew\.([A-Za-z]\w*)", page.read_text())}
    assert used <= set(eigenwell.__all__)
    assert len(eigenwell.__all__) <= 30, "what few need lives in its module"


def test_files_can_be_read_in_one_sitting():
    rooms = [*ROOT.rglob("*.py"), *PAPER.rglob("*.py")]
    lengths = {str(p): len(p.read_text().splitlines()) for p in rooms if p.name != "__init__.py"}
    assert not {name: n for name, n in lengths.items() if n > 400}
    assert statistics.median(lengths.values()) < 170


@pytest.mark.parametrize("module", ["eigenwell"])
def test_importing_is_light(module):
    """No JAX, no matplotlib on import; half a second is the bar, measured in benchmarks."""
    heavy = "{'jax', 'matplotlib', 'plotly', 'pyarrow', 'optax', 'sklearn', 'numpy'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", eigenwell.__all__)
def test_every_public_name_is_there(name):
    value = getattr(eigenwell, name)
    assert name in dir(eigenwell)
    assert value is sys.modules.get(f"eigenwell.{name}") or value.__name__ == name


# Signals between parts of the package, caught where they are meant for; a user never sees one.
SIGNALS = {"Cancelled", "Damaged", "WorkStopped"}


def test_every_error_has_one_root():
    roots = {"EigenwellError", "DataError", "ModelError", "MissingExtra", "FileError"}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ClassDef) or node.name in SIGNALS | {"EigenwellError"}:
                continue
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            raised = any(base.endswith(("Error", "Exception")) or base in roots for base in bases)
            assert not raised or bases & roots, f"{path.name}: {node.name} is not an EigenwellError"


def test_an_error_is_also_the_built_in_kind_it_always_was():
    from eigenwell import checks, demonstrations, files, models
    from eigenwell.distributed.run import DistributedError

    assert issubclass(eigenwell.DataError, eigenwell.EigenwellError) and issubclass(eigenwell.DataError, ValueError)
    assert issubclass(eigenwell.ModelError, eigenwell.DataError) and issubclass(files.FileError, eigenwell.DataError)
    assert issubclass(eigenwell.MissingExtra, ImportError) and not issubclass(eigenwell.MissingExtra, ValueError)
    assert issubclass(DistributedError, eigenwell.EigenwellError) and issubclass(DistributedError, OSError)
    assert demonstrations.DataError is checks.DataError is eigenwell.DataError
    assert models.ModelError is eigenwell.ModelError and files.MissingExtra is eigenwell.MissingExtra
