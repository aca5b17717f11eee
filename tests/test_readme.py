"""The README tells the truth: its Python runs, and its commands print what it shows, up to the digits."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

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
def test_console_blocks_print_what_they_show(tmp_path):
    environment = {**os.environ, "COLUMNS": "100"}
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            assert words[0] == "eigenwell"
            done = subprocess.run(
                [sys.executable, "-m", "eigenwell", *words[1:]],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            assert without_digits(done.stdout) == without_digits(shown)
