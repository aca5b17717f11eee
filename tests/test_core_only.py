"""The core needs NumPy, SciPy, safetensors and threadpoolctl, and nothing else; what needs more says how to install it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from test_models import many

# Python is told that nothing else is installed.
BLOCK = """
import sys
core = {"eigenwell", "numpy", "scipy", "safetensors", "threadpoolctl"} | set(sys.stdlib_module_names)
class Nothing:
    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        if first not in core and not first.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nothing())
"""
IDENTIFY = """
demos = ew.systems.duffing.sample(seed=0).shuffled()
found = ew.identify(x=demos.x, v=demos.v)
str(found), found.uncertainty, found.paths(0)
"""
HEAVY = {"jax", "optax", "sklearn", "matplotlib", "plotly", "pyarrow", "pandas", "onnx", "dask", "typer", "rich"}
ROOMS = (
    "attractors", "datasets", "demonstrations", "errors", "fields", "files", "graphs", "identification", "learning", "metrics",
    "models", "paths", "spectral", "systems", "velocities",
)  # fmt: skip


def run(code: str) -> Any:
    """What `told` holds after `code` ran in a Python of its own."""
    whole = f"import json\nimport eigenwell as ew\n{code}\nprint(json.dumps(told))"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def alone(code: str) -> Any:
    """The same with the core alone."""
    return run(f"{BLOCK}\n{code}")


def test_identify_needs_the_core_alone():
    told = alone(f"{IDENTIFY}\ntold = {{'n': found.n_attractors, 'sure': found.confidence}}")
    assert told["n"] == 2 and told["sure"] > 0.9


@pytest.mark.slow
def test_identify_loads_nothing_else_where_everything_is_installed():
    loaded = run(f"{IDENTIFY}\nimport sys; told = list(sys.modules)")
    assert not HEAVY & set(loaded)
    # Parts of SciPy that take as long to import as all the rest: `python -m benchmarks.core` has the seconds.
    assert not {"scipy.stats", "scipy.interpolate", "scipy.signal", "scipy.integrate"} & set(loaded)


@pytest.mark.slow
def test_every_room_of_the_core_can_be_imported_and_reached_by_name():
    told = alone(f"told = [getattr(ew, name).__name__ for name in {ROOMS!r}]")
    assert told == [f"eigenwell.{name}" for name in ROOMS]


def test_fields_are_saved_loaded_and_followed_with_the_core_alone(tmp_path: Path):
    field = many()
    field.save(tmp_path / "model")
    code = (
        f"field = ew.load({str(tmp_path / 'model')!r}); field.save({str(tmp_path / 'again')!r})\n"
        "start = field.samples[0]\n"
        "told = [field.predict(start).tolist(), field.simulate(start, duration=1.0)[-1].tolist()]"
    )
    velocity, _ = alone(code)
    assert velocity == pytest.approx(field.predict(field.samples[0]).tolist())
    assert (tmp_path / "again").exists()


EXTRAS = {
    "learn": "ew.learn(demos, found)",
    "sklearn": "ew.AttractorIdentifier",
    "plot": "ew.plotting.plot_samples(demos, found)",
    "report": "ew.report.write_report('a.html', demos, found)",
    "files": "ew.files.write('a.parquet', demos)",
    "dask": "ew.distributed.identify('a.parquet', out='out')",
}


@pytest.mark.slow
def test_what_needs_more_says_how_to_install_it(tmp_path: Path):
    lines = [f"import os; os.chdir({str(tmp_path)!r})", IDENTIFY, "told = {}"]
    for extra, asked in EXTRAS.items():
        lines += ["try:", f"    {asked}", "except ew.MissingExtra as error:", f"    told[{extra!r}] = str(error)"]
    told = alone("\n".join(lines))
    assert list(told) == list(EXTRAS)
    for extra, said in told.items():
        assert said.endswith(f'which is not installed. Install it with: pip install "eigenwell[{extra}]"')
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
