"""The commands, on files of every format; those that are about processes in a process of their own."""

import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from tests.untrained import compared_little, field_of

import eigenwell as ew
from eigenwell import files
from eigenwell.cli import main

ROOT = Path(__file__).parents[1]
FORMATS = ("csv", "parquet", "npz", "mat")


def run(*args):
    """(exit code, stdout, stderr) of one command, without the second that Python takes to start."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with patch("sys.argv", ["eigenwell", *map(str, args)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
        except Exception:
            code = 1
            traceback.print_exc()
    return code, out.getvalue(), err.getvalue()


def start(*args, **options):
    """The same in a process of its own, as from a shell."""
    done = subprocess.run(
        [sys.executable, "-m", "eigenwell", *map(str, args)], capture_output=True, text=True, timeout=120, **options
    )
    return done.returncode, done.stdout, done.stderr


def ok(*args):
    code, out, err = run(*args)
    assert code == 0, (args, out, err)
    return out


def fails(code, *args, match=""):
    """The command fails with this exit code and one line on stderr."""
    got, out, err = run(*args)
    assert got == code, (args, out, err)
    assert "Traceback" not in err and err.count("\n") == 1 and err.startswith("eigenwell: "), err
    assert re.search(match, err), err
    return err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Heart samples, shuffled and as trajectories, in every format."""
    folder = tmp_path_factory.mktemp("cli")
    demos = ew.systems.heart.sample(seed=0, frequency=50.0)
    for suffix in FORMATS:
        files.write(folder / f"shuffled.{suffix}", demos.shuffled())
        files.write(folder / f"ordered.{suffix}", demos)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    """A small field with memory: what the commands do with one does not depend on how it was learned."""
    path = folder / "heart.eigenwell"
    field_of(ew.identify(files.read(folder / "ordered.csv")), memory=True, bend=0.05).save(path)
    return path


# --- answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_identify_every_format(folder, suffix):
    answer = json.loads(ok("identify", folder / f"shuffled.{suffix}", "--json"))
    assert answer["n_attractors"] == 2
    assert np.allclose(answer["attractors"], [[-1, 2], [1, 2]], atol=0.02)
    assert len(answer["labels"]) == answer["n_samples"] == 3006
    assert {"uncertainty", "confidence", "warnings", "paths", "samples", "dimension"} <= set(answer)


def test_identify_takes_what_the_user_knows(folder, tmp_path):
    answer = json.loads(ok("identify", folder / "ordered.csv", "--n-attractors", "1", "--json"))
    assert answer["n_attractors"] == 1 and "by n_attractors" in answer["told"][0]
    answer = json.loads(ok("identify", folder / "ordered.csv", "--exclude", "0,ordered.csv#1", "--json"))
    assert "without recordings 0 (ordered.csv#0), 1 (ordered.csv#1)" in answer["told"][0]
    assert answer["about"].startswith("Read x1, x2 as position") and "alternatives" in answer
    assert [(o["recording"], o["kind"]) for o in answer["odd"]] == [(2, "ends alone")]  # its two fellows are gone
    fails(3, "identify", folder / "ordered.csv", "--exclude", "nobody", match="name of a recording")
    # A column says the task: here the number of the trajectory itself, so that each is a goal of its own.
    named = ("--task", "trajectory", "--trajectory", "trajectory")
    answer = json.loads(ok("identify", folder / "ordered.csv", *named, "--json"))
    assert answer["n_attractors"] == 6 and "by labels" in answer["told"][0]
    fails(3, "identify", folder / "ordered.csv", "--task", "chore", match="chore")


def test_learn_does_not_replace_a_model_unasked(folder, tmp_path):
    (tmp_path / "model").touch()
    fails(4, "learn", folder / "ordered.csv", "-o", tmp_path / "model", match="--force")
    # A folder is not replaced at all.
    fails(4, "learn", folder / "ordered.csv", "-o", tmp_path, match="is a folder")


def test_identify_prints_plain_lines_in_a_pipe(folder):
    code, out, err = start("identify", folder / "ordered.npz")
    assert code == 0 and err == ""
    assert out.startswith("2 attractors") and "\x1b" not in out
    assert out.splitlines()[1].split("\t") == ["#", "attractor", "paths", "samples"]


def test_identify_writes_labels_and_is_strict(folder, tmp_path):
    ok("identify", folder / "ordered.csv", "--labels", tmp_path / "labels.txt")
    assert set((tmp_path / "labels.txt").read_text().split()) == {"0", "1"}
    short = ew.systems.duffing_short.sample(seed=0, frequency=25.0)
    files.write(tmp_path / "short.csv", short)
    code, _, err = run("identify", tmp_path / "short.csv", "--strict")
    assert code == 6 and "do not end at rest" in err


def test_column_options(folder, tmp_path):
    text = (folder / "ordered.csv").read_text().replace("trajectory,time_s,x1,x2,v1,v2", "n,w,a,b,c,d")
    (tmp_path / "odd.csv").write_text(text)
    fails(3, "identify", tmp_path / "odd.csv", match="found n, w, a, b, c, d")
    mapping = ("--position", "a,b", "--velocity", "c,d", "--time", "w", "--trajectory", "n")
    assert json.loads(ok("identify", tmp_path / "odd.csv", *mapping, "--json"))["n_attractors"] == 2


def test_convert_round_trip_keeps_every_bit(folder, tmp_path):
    demos, last = files.read(folder / "ordered.csv"), folder / "ordered.csv"
    for suffix in (*FORMATS[1:], "csv"):
        ok("convert", last, "-o", tmp_path / f"a.{suffix}")
        last = tmp_path / f"a.{suffix}"
    back = files.read(last)
    assert all(getattr(back, n).tobytes() == getattr(demos, n).tobytes() for n in ("x", "v", "time", "offsets"))
    assert (tmp_path / "a.csv").read_bytes() == (folder / "ordered.csv").read_bytes()


def test_datasets(tmp_path):
    names = [row["name"] for row in json.loads(ok("datasets", "--json"))]
    assert {"heart", "duffing", "pen_strokes"} <= set(names)
    assert "heart\t2\t2\t6006" in ok("datasets")
    ok("datasets", "four_wells", "-o", tmp_path / "a.npz", "--shuffle", "--seed", "3")
    assert not files.read(tmp_path / "a.npz").ordered
    fails(3, "datasets", "moon", match="there are heart")


def test_demo_without_learning():
    answer = json.loads(ok("demo", "four_wells", "--no-learn", "--json"))
    assert answer["n_attractors"] == 4 and max(answer["error"]) < 0.01


# --- models -------------------------------------------------------------------------------------------


def test_predict_says_what_the_library_says(model, folder, tmp_path):
    from eigenwell.models import load

    out = json.loads(ok("predict", model, "--at", "0.5,1", "--at", "-1,3", "--json"))
    assert np.array_equal(out["velocities"], load(model).predict([[0.5, 1], [-1, 3]]))
    assert out["basin"][1] == 0
    (tmp_path / "states.csv").write_text("0.5,1\n-1,3\n")
    assert json.loads(ok("predict", model, "--states", tmp_path / "states.csv", "--json")) == out
    assert len(ok("predict", model, "--at", "0,0").splitlines()) == 2


def test_a_goal_is_kept(model):
    from eigenwell.models import load

    out = json.loads(ok("predict", model, "--at", "0.5,1", "--goal", "0", "--json"))
    assert np.array_equal(out["velocities"], load(model).toward(0).predict([[0.5, 1]])) and out["basin"] == [0]
    for q, memory in ((0, "--no-memory"), (1, "--no-memory"), (1, "--memory")):
        args = ("--from", "0.2,1.5", "--duration", "60", "--goal", q, memory, "--json")
        ended = json.loads(ok("simulate", model, *args))["attractors"][0]
        assert np.allclose(ended, [[-1, 2], [1, 2]][q], atol=0.05)
    fails(3, "predict", model, "--at", "0,0", "--goal", "2", match="goal 0 to 1")


def test_simulate(model, tmp_path):
    args = ("--from", "1.5,1", "--duration", "30", "--samples", "50", "--json")
    for choice in ((), ("--memory",), ("--no-memory",)):
        out = json.loads(ok("simulate", model, *args, *choice))
        assert np.shape(out["states"]) == (1, 50, 2) and out["distance_to_attractor"][0] < 0.05
    ok("simulate", model, "--from", "1.5,1", "--from", "-1,1", "--duration", "3", "-o", tmp_path / "a.parquet")
    assert files.read(tmp_path / "a.parquet").n_trajectories == 2
    assert ok("simulate", model, "--from", "1,1", "--duration", "1").startswith(
        "trajectory\ttime_s\tx1\tx2\n0\t0.0\t1.0\t1.0"
    )


def test_certify(model, folder, tmp_path):
    """What is said and the exit code belong together."""
    args = ("--samples", "4", "--json")
    code, out, err = run("certify", model, "--rate", "50", *args)
    said = json.loads(out)
    assert err == "" and code == 0 and said["holds"] is True and said["failures"] == []
    rates = {(loop["method"], loop["rate"]) for loop in said["certificate"]["loops"]}
    assert rates == {("euler", 50.0), ("advance", 5.0)} and said["certificate"]["sinks"] == 2
    assert said["verdicts"] == dict.fromkeys(["stable", "arrives", "where basin said", "stays home", "follows"], True)
    fails(3, "certify", model, "--rate", "0", match="rates > 0")
    # A field that is stable and goes elsewhere than the data is of no use, and the verdict says so.
    elsewhere = tmp_path / "elsewhere.eigenwell"
    field_of(ew.identify(files.read(folder / "ordered.csv")), good=False).save(elsewhere)
    code, out, _ = run("certify", elsewhere, "--rate", "50", *args)
    said = json.loads(out)
    assert code == 6 and said["holds"] is False and len(said["failures"]) == 1
    assert [name for name, holds in said["verdicts"].items() if not holds] == ["follows"]


@pytest.mark.slow
@pytest.mark.usefixtures("trains_little")
def test_learn_replaces_models_and_nothing_else(folder, tmp_path, trains_little):
    args = ("learn", folder / "ordered.csv", "--steps", "40", "--no-memory", "-o")
    (tmp_path / "notes.txt").write_text("mine")
    fails(4, *args, tmp_path / "notes.txt", match="there already.*--force")
    fails(4, *args, tmp_path, "--force", match="is a folder")
    fails(4, *args, tmp_path / "no" / "model", match="no folder")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert "stable at 2 attractors" in ok(*args, tmp_path / "notes.txt", "--force")
    fails(4, *args, tmp_path / "notes.txt", match="there already.*--force")
    again = (*args[:4], "--memory", "-o", tmp_path / "notes.txt", "--force", "--json")
    out = json.loads(ok(*again))
    assert out["n_attractors"] == 2 and out["model"] == str(again[6]) and out["memory"] and not out["toward"]
    assert out["fit"]["by"] in ("map", "motion") and out["map_fit"]["by"] == "map" and len(out["saddles"]) == 1


@pytest.mark.slow
def test_export(model, tmp_path, monkeypatch):
    compared_little(monkeypatch.setattr)  # tests/test_export.py has all 10,000 states
    code, out, err = run("export", model, "--c", tmp_path / "field.h")
    assert code == (6 if shutil.which("cc") is None else 0), err  # where no compiler is there, nothing is proved
    assert (tmp_path / "field.h").stat().st_size > 1000 and "field.h" in out
    pytest.importorskip("onnxruntime")
    assert json.loads(ok("export", model, "--onnx", tmp_path / "field.onnx", "--json"))["parity"]["proved"]
    assert {p.name for p in tmp_path.glob("*.onnx")} == {
        "field.onnx", "field.basin.onnx", "field.toward.onnx", "field.motion.onnx"
    }  # fmt: skip


@pytest.mark.slow
def test_report(folder, model, tmp_path, monkeypatch):
    monkeypatch.setattr("eigenwell.report.CERTIFIED", 6)
    ok("report", folder / "ordered.csv", "-o", tmp_path / "page.html", "--model", model)
    page = (tmp_path / "page.html").read_text()
    assert "<h1>2 attractors</h1>" in page and "--model" in page and "The learned motions" in page


# --- failures -----------------------------------------------------------------------------------------


def test_bad_input_is_one_line(tmp_path, folder, model):
    fails(3, "identify", tmp_path / "nope.csv", match="found nothing there")
    (tmp_path / "empty.csv").touch()
    fails(3, "identify", tmp_path / "empty.csv", match="empty file")
    fails(3, "identify", tmp_path / "x" / "..", match="found|Cannot read|none")
    (tmp_path / "nan.csv").write_text("x,y,vx,vy\n" + "nan,1,2,3\n" * 5)
    fails(3, "identify", tmp_path / "nan.csv", match="finite")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    fails(3, "identify", tmp_path / "loop.csv", match="symbolic links")
    fails(3, "certify", tmp_path / "nope")
    fails(3, "predict", model, "--at", "1,2,3", match="dimension 2")
    fails(3, "predict", model, "--at", "nan,2", match="finite")
    fails(4, "convert", folder / "ordered.csv", "-o", tmp_path / "no" / "a.csv", match="Cannot write")
    fails(4, "report", folder / "ordered.csv", "-o", tmp_path / "no" / "a.html", match="Cannot write")
    fails(3, "convert", folder / "ordered.csv", "-o", tmp_path / "a.xyz", match="ends in")
    (tmp_path / "file").touch()
    for option in ("--trim", "--split"):
        fails(4, "audit", folder / "ordered.csv", option, tmp_path / "file", match="Cannot write into .*it is a file")
    with patch("eigenwell.studio.gallery.learned_drawings", side_effect=AssertionError("the work has begun")):
        fails(4, "studio", "--static", tmp_path / "file", match="it is a file")
    fails(3, "sweep", tmp_path, "--by", "heat", match="got the folder")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_bad_usage_is_one_line(model):
    fails(2, "identify", match="Missing argument")
    fails(2, "nonsense", match="nonsense")
    fails(2, "identify", "--bogus", "a.csv", match="bogus")
    fails(2, "simulate", model, "--from", "1,two", "--duration", "1", match="numbers")
    fails(2, "simulate", model, "--from", "1,2", "--duration", "-1", match="> 0")
    fails(2, "predict", model, match="--at")
    fails(2, "export", model, match="--onnx")


def test_errors_as_json_and_with_traceback(tmp_path):
    code, out, err = run("identify", tmp_path / "nope.csv", "--json")
    assert code == 3 and json.loads(out)["error"]["kind"] == "MissingFile" and err.count("\n") == 1
    code, _, err = start("identify", tmp_path / "nope.csv", "--debug")
    assert code != 0 and "Traceback" in err


@pytest.mark.slow
def test_missing_extras_name_the_pip_line(tmp_path, folder):
    """Python is told that a package is not there, as if it were not installed."""
    for package, extra, args in (
        ("typer", "cli", ["--help"]),
        ("pyarrow", "files", ["identify", str(folder / "ordered.parquet")]),
        ("plotly", "report", ["report", str(folder / "ordered.csv"), "-o", str(tmp_path / "a.html")]),
        ("jax", "learn", ["learn", str(folder / "ordered.csv"), "-o", str(tmp_path / "model")]),
        ("eigenwell_paper", "reproduce", ["reproduce", "--list"]),
    ):
        # Not by sys.modules[package] = None: SciPy looks there for JAX, and would take None for it.
        code = (
            "import sys\nclass Nothing:\n    def find_spec(self, name, path=None, target=None):\n"
            f"        if name == {package!r}: raise ModuleNotFoundError(name=name)\n"
            f"sys.meta_path.insert(0, Nothing()); sys.argv[1:] = {args!r}\nfrom eigenwell.cli import main; main()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert done.returncode == 5 and f'pip install "eigenwell[{extra}]"' in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(folder):
    command = f"{sys.executable} -m eigenwell identify {folder / 'ordered.csv'} --json | head -c 20"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


# --- start and help -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_help_is_quick_and_imports_nothing_heavy():
    code = (
        "import sys; sys.argv[1:] = ['--help']\nfrom eigenwell.cli import main\ntry: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'jax', 'sklearn', 'matplotlib', 'plotly', 'pyarrow'} & set(sys.modules)\n"
        "print('heavy', sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "heavy []" in done.stdout, done
    resource = pytest.importorskip("resource", reason="Windows does not tell the processor time of children")
    best = np.inf
    for _ in range(5):
        # Processor time, which others on a busy machine change little.
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if best <= 0.6:
            break
    assert best <= 0.6


def test_docs_are_the_help():
    made = runpy.run_path(str(ROOT / "docs" / "make_commands.py"))["text"]()
    if "A known system" not in made:
        pytest.skip("typer before 0.25 does not say what arguments are for")
    assert (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8") == made, (
        "run python docs/make_commands.py"
    )
    assert "## eigenwell identify" in made and "--position" in made
    shown = subprocess.run(
        [sys.executable, "-m", "eigenwell", "identify", "--help"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    ).stdout  # fmt: skip
    section = made.split("## eigenwell identify")[1].split("\n## ")[0]
    for flag in re.findall(r"`(--[a-z]+)", section):
        assert flag in shown


def test_completion_and_version():
    assert ok("--version").strip() == f"eigenwell {ew.__version__}"
    asked = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = start("--show-completion", "bash", env=asked)
    assert done[0] == 0 and "_EIGENWELL_COMPLETE=complete_bash" in done[1]
    env = {**os.environ, "_EIGENWELL_COMPLETE": "complete_bash", "COMP_WORDS": "eigenwell id", "COMP_CWORD": "1"}
    assert "identify" in start(env=env)[1]


# --- what takes long ----------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_who_looks_on_sees_how_far_it_is(tmp_path):
    """Bars on stderr while something is being done, none of it where the result goes."""
    files.write(tmp_path / "a.csv", ew.systems.heart.sample(seed=0, frequency=20.0))
    out, err = io.StringIO(), Terminal()
    asked = ["eigenwell", "identify", str(tmp_path / "a.csv")]
    with patch("sys.argv", asked), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert "paths" in err.getvalue() and "attractors" in err.getvalue()
    assert out.getvalue() == ok("identify", tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("command", "option", "code", "match"),
    [
        ("report", ("--learn", "-o", "nowhere/a.html"), 4, "Cannot write"),
        ("identify", ("--labels", "."), 4, "is a folder"),
        ("compare", ("--plot", "a.xyz"), 2, "png, .svg or .pdf"),
        ("compare", ("--plot", "nowhere/a.png"), 4, "Cannot write"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(tmp_path, monkeypatch, command, option, code, match):
    monkeypatch.chdir(tmp_path)
    files.write("a.csv", ew.systems.heart.sample(seed=0, frequency=20.0))
    shutil.copy("a.csv", "b.csv")
    with patch("eigenwell.identification.identify", side_effect=AssertionError("the work has begun")):
        fails(code, command, "a.csv", *(["b.csv"] if command == "compare" else []), *option, match=match)


def test_a_seed_that_is_none_is_refused():
    fails(3, "datasets", "composite:abc", match="composite:SEED")
