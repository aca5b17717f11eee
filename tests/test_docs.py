"""The documentation tells the truth: its Python runs, its links lead somewhere, and no public name is left out."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import eigenwell

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted((DOCS / "howto").glob("*.md")), ROOT / "CONTRIBUTING.md"]
WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]
# Needs a cluster of its own; tests/test_distributed.py has it.
ELSEWHERE = {"many_machines.md"}


@pytest.fixture(scope="module", autouse=True)
def extensions():
    sys.path.insert(0, str(DOCS / "_ext"))
    yield
    sys.path.remove(str(DOCS / "_ext"))


@pytest.fixture
def names():
    pytest.importorskip("sphinx")
    return import_module("public_names")


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in WITH_CODE if p.name not in ELSEWHERE], ids=lambda page: page.stem)
@pytest.mark.usefixtures("trains_little")
def test_python_of_the_guides_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if page.stem == "snapshots":
        pytest.importorskip("anndata")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL))
    exec(compile(code, page.name, "exec"), {})


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md"), *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for address in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text):
        # Pages of the gallery are made from scripts of that name.
        if "/gallery/" in address or "/tutorials/" in address:
            folder, _, name = address.rpartition("/")
            assert (ROOT / "examples" / folder.rpartition("/")[2] / name).with_suffix(".py").exists(), address
        else:
            assert (page.parent / address).exists(), address


def test_the_reference_has_a_page_for_every_module(names):
    listed = re.findall(r"^api/(\w+)$", names.contents(), re.MULTILINE)
    assert sorted(listed) == sorted(names.modules())


def test_the_reference_has_every_public_name_once(names):
    home = names.homes()
    pages = {module: names.page(module, home) for module in names.modules()}
    for name, where in eigenwell._HOME.items():
        assert name in names.top()
        assert (where, name) == home[id(getattr(eigenwell, name))]
    for value in home:
        where, name = home[value]
        assert sum(f"   {name}\n" in page for page in pages.values() if f"eigenwell.{where}\n" in page) == 1


def test_plain_docstrings_become_markup(names):
    plain = [
        "V = |y|^2 / 2 at `x*`, where x*_q and psi_ lie.",
        "",
        "    a_q = w_q / sum_k w_k",
        "",
        "labels   (n,) of every *sample*",
        "         or -1",
        "",
        "Parameters",
        "----------",
        "x : array",
        "    Positions, |x| < 1.",
    ]
    assert names.as_rst(plain) == [
        r"V = \|y\|^2 / 2 at ``x*``, where x\*_q and psi\_ lie.",
        "",
        "::",
        "",
        "    a_q = w_q / sum_k w_k",
        "",
        "``labels``",
        "    (n,) of every *sample*",
        "    or -1",
        "",
        "Parameters",
        "----------",
        "x : array",
        r"    Positions, \|x\| < 1.",
    ]


def test_measurements_are_those_of_the_benchmarks():
    pytest.importorskip("sphinx")
    text = import_module("measurements").text()
    assert text.count("## ") >= 10 and "leave one out" in text


def test_faults_of_a_site_are_found(tmp_path: Path):
    sys.path.insert(0, str(DOCS))
    from check_links import faults

    (tmp_path / "a.html").write_text(
        '<h1 id="here"></h1><a href="b.html#there"></a><a href="#here"></a><a href="c.html">'
    )
    (tmp_path / "b.html").write_text('<img src="https://elsewhere/x.png"><a href="a.html#here"></a><img src="no.png">')
    assert faults(tmp_path) == [
        "a.html: link to b.html#there, which has no such place",
        "a.html: link to c.html, which is not there",
        "b.html: fetches https://elsewhere/x.png",
        "b.html: no.png is not there",
    ]
    sys.path.remove(str(DOCS))


def measured(file: str) -> dict[str, str]:
    """What was reached, by what was measured; of rows that say 'the same' the one they follow is named first."""
    rows, last = {}, ""
    for row in json.loads((ROOT / "benchmarks" / "results" / f"{file}.json").read_text(encoding="utf-8"))["rows"]:
        what = f"{last}; {row['what']}" if row["what"].startswith("the same") else row["what"]
        last = last if row["what"].startswith("the same") else what
        rows[what] = row["reached"]
    return rows


def test_numbers_of_readme_and_paper_are_those_of_the_benchmarks():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    left_out = measured("lasa-leave-one-out")
    for line, name in (
        ("error in time", "time_rmse"),
        ("DTW per point", "dtw"),
        ("Fréchet", "frechet"),
        ("end", "end"),
    ):
        cells = re.search(rf"^\| {line}[^|]*\| ([\d.]+) \| ([\d.]+) \|", readme, re.MULTILINE)
        assert cells is not None, line
        for shown, way in zip(cells.groups(), ("memory", "map"), strict=True):
            assert shown == f"{float(left_out[f'leave one out, {way}, 182 tests: {name}, mm']):.2f}", (line, way)
    for name in ("time_rmse", "dtw"):
        assert f"{float(left_out[f'leave one out, memory, 182 tests: {name}, mm']):.2f} mm" in " ".join(paper.split())
    counts = list(measured("noise-composites").values())
    for number, first in ((200, 0), (100, 1)):
        row = " / ".join(count.split(" of ")[0] for count in counts[first:6:2])
        assert f"| {row} of {number} |" in readme
    snapshots = measured("snapshots-number")
    for what in ("number right", "right where confidence >= .9"):
        assert f"| {snapshots[f'{what}, systems of the list']} |" in readme
    fates = [float(snapshots[f"fates right, noise {noise}%, systems of the list"]) for noise in (0, 20, 40)]
    assert "| " + " / ".join(f"{share:.3f}" for share in fates) + " |" in readme
    assert f"| {measured('snapshots-dimensions')['5-D to 30-D, 5,000 samples']} |" in readme
    peers = [measured(f"snapshots-peer-{name}") for name in ("cellrank", "dynamo", "cmgraph", "scvelo")]
    defaults = [list(rows.values())[1].split(" of ")[0] for rows in peers]
    assert f"| {peers[0]['eigenwell, which has no parameter']}; {', '.join(defaults)};" in readme
    velocity = measured("recordings")["velocity, root mean square error at 1 mm, 100 Hz (mean; worst)"]
    assert f"| {velocity.split(';')[0]} mm/s (" in readme
