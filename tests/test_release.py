"""What is published: one version, a description that renders elsewhere, a wheel that works where nothing else is."""

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from email import message_from_string
from importlib.util import find_spec
from pathlib import Path

import pytest

import eigenwell
from test_models import many

ROOT = Path(__file__).parent.parent
ROOM = 240e6
"""Bytes of site-packages with the core; NumPy and SciPy are nine tenths of it."""
TRY = """
import sys
import eigenwell as ew
demos = ew.systems.duffing.sample(seed=0).shuffled()
found = ew.identify(demos.x, demos.v)
assert found.n_attractors == 2 and found.confidence > 0.9, found
field = ew.load(sys.argv[1])
field.save(sys.argv[2])
again = ew.load(sys.argv[2])
start = field.samples[0]
assert (again.predict(start) == field.predict(start)).all()
assert again.simulate(start, duration=1.0).shape == (201, 2)
try:
    ew.learn(found)
except ew.MissingExtra as missing:
    print(missing)
"""


def test_the_version_stands_in_one_place_and_the_citation_agrees():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (\S+)$", citation, flags=re.MULTILINE)[1] == eigenwell.__version__
    paper = tomllib.loads((ROOT / "packages" / "eigenwell-paper" / "pyproject.toml").read_text())
    assert paper["project"]["version"] == eigenwell.__version__
    assert "version =" not in (ROOT / "pyproject.toml").read_text().partition("[project.optional")[0]
    assert re.search(rf"^## {re.escape(eigenwell.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_links_of_the_readme_lead_somewhere():
    readme = (ROOT / "README.md").read_text()
    for address in re.findall(r"\]\((?!https?:)([^)#]+)", readme):
        assert (ROOT / address).exists(), address


def test_the_paper_cites_what_is_in_its_bibliography():
    cited = set(re.findall(r"@([a-z0-9]+)", (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")))
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")))
    assert cited == known


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    done = run([sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)])
    if done.returncode:
        skip_without_index(done)
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
def test_the_wheel_says_what_it_is(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = message_from_string(archive.read(next(n for n in names if n.endswith("METADATA"))).decode())
    assert about["Version"] == eigenwell.__version__
    assert {n.split("/")[0] for n in names} == {"eigenwell", f"eigenwell-{eigenwell.__version__}.dist-info"}
    assert "eigenwell/py.typed" in names and any(n.endswith("studio/page/index.html") for n in names)
    text = about.get_payload()
    assert "](docs/" not in text and "](CITATION.cff)" not in text, "an index needs absolute links"
    pytest.importorskip("twine")
    checked = run([sys.executable, "-m", "twine", "check", "--strict", str(wheel)])
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path):
    # Our own pip can install there; one of its own takes seconds to be set up.
    ours = find_spec("pip") is not None
    venv.create(tmp_path / "empty", with_pip=not ours)
    python = tmp_path / "empty" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", str(python)] if ours else [str(python), "-m", "pip"]
    done = run([*pip, "install", "--quiet", str(wheel)])
    if done.returncode:
        skip_without_index(done)
    many().save(tmp_path / "model.eigenwell")
    code = [str(python), "-c", TRY, str(tmp_path / "model.eigenwell"), str(tmp_path / "again.eigenwell")]
    tried = run(code, cwd=tmp_path)
    assert tried.returncode == 0, tried.stderr
    assert 'pip install "eigenwell[learn]"' in tried.stdout
    (packages,) = (tmp_path / "empty").rglob("site-packages")
    size = sum(
        f.stat().st_size for f in packages.rglob("*") if f.is_file() and "pip" not in f.relative_to(packages).parts[0]
    )
    assert size < ROOM, f"{size / 1e6:.0f} MB"


def run(command: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    # Without PYTHONPATH: the empty environment must not find the sources of this one.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, capture_output=True, text=True, env=clean, cwd=cwd)


def skip_without_index(done: subprocess.CompletedProcess[str]) -> None:
    """No package index is no fault of ours; anything else is."""
    said = done.stdout + done.stderr
    if re.search(
        r"Could not find a version|No matching distribution|ConnectionError|NewConnectionError|Temporary failure", said
    ):
        pytest.skip("no package index can be reached")
    pytest.fail(said)
