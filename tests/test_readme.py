"""The README tells the truth: its Python runs, and its commands print what it shows, digits included where nothing is trained."""

import os
import re
import runpy
import shlex
from functools import partial
from pathlib import Path

import pytest

from eigenwell.learning import Recipe
from test_cli import run

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TRAINED = {"learn", "predict", "simulate"}
"""Commands whose numbers come from a field that is trained less here: their words are compared, and no numbers."""


def lines(text: str) -> list[str]:
    return [NUMBER.sub("#", line).strip() for line in text.strip().splitlines()]


def assert_same_numbers(out: str, shown: str) -> None:
    """To one unit of the last digit that is shown; a size in MB to a tenth, for it follows the versions of others."""
    for ours, told in zip(NUMBER.findall(out), NUMBER.findall(shown), strict=True):
        last = 10.0 ** -len(told.partition(".")[2])
        megabytes = f"{told} MB" in shown
        assert abs(float(ours) - float(told)) <= (0.1 * float(told) if megabytes else 1.01 * last), (ours, told)


@pytest.mark.slow
@pytest.mark.usefixtures("trains_little")
def test_python_blocks_run(capsys):
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("2 attractors, confidence")


@pytest.mark.slow
@pytest.mark.usefixtures("trains_little")
def test_console_blocks_print_what_they_show(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            name, *words = shlex.split(command)
            assert name == "eigenwell"
            code, out, err = run(*words)
            assert code == 0, err
            assert lines(out) == lines(shown)
            if words[0] not in TRAINED:
                assert_same_numbers(out, shown)


@pytest.mark.slow
def test_make_demo_holds(tmp_path, capsys, monkeypatch):
    """Trained as users train it at night, and in a third of the steps by day."""
    if os.environ.get("EIGENWELL_TESTS") != "nightly":
        monkeypatch.setattr("eigenwell.learning.learner.Recipe", partial(Recipe, steps=200))
    demo = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "demo.py"))
    demo["main"](tmp_path)
    assert "\nholds\n" in capsys.readouterr().out
    assert (tmp_path / "duffing.png").stat().st_size > 10_000
