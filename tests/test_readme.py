"""The README tells the truth: its Python runs, and its commands print what it shows, up to the digits."""

import re
import shlex
from pathlib import Path

import pytest

from test_cli import run

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def without_digits(text: str) -> list[str]:
    """Numbers differ in their last digits between machines; words and their order do not."""
    return [re.sub(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", "#", line).strip() for line in text.strip().splitlines()]


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
            assert without_digits(out) == without_digits(shown)
