"""The sweep over constants: each is found with its reason, changed wherever it is in use, and put back."""

import inspect
import json
import sys
from dataclasses import is_dataclass
from importlib import import_module
from types import ModuleType

import pytest
from benchmarks import ablation
from benchmarks.constants import Constant, changed, constants

import eigenwell as ew

EVERY = constants()
TRIED = [(4, 0.5, 2), (1, 0.5, 1), (0.9, 2.0, 0.8), (0.2, 2.0, 0.4), (3.0, 0.0, 0.0)]


def held(one: Constant) -> float:
    """The value that the library goes by now."""
    home = import_module(f"eigenwell.{one.module}")
    value = getattr(getattr(home, one.owner)() if one.owner else home, one.name)
    return value if one.place < 0 else value[one.place]


def can_be_made(one: Constant) -> bool:
    kind = getattr(import_module(f"eigenwell.{one.module}"), one.owner, None)
    try:
        return not one.owner or (is_dataclass(kind) and kind() is not None)
    except TypeError:  # has fields that must be given
        return False


@pytest.mark.slow
def test_constants_are_found_and_changed_and_put_back():
    rooms = {one.module.partition(".")[0] for one in EVERY}
    assert {"paths", "flow", "learning"} <= rooms
    assert len({str(one) for one in EVERY}) == len(EVERY)
    made = [one for one in EVERY if can_be_made(one)]
    some = [one for inside in (True, False) for one in [m for m in made if bool(m.owner) == inside][::20]]
    assert any(one.owner for one in some) and any(not one.owner for one in some)
    for one in some:
        assert held(one) == one.value
        with changed(one, 123.0):
            assert held(one) == 123.0, one
        assert held(one) == one.value


def test_a_constant_is_changed_where_it_was_imported_to_and_where_it_is_a_default(monkeypatch):
    """Two modules, made for this: one has a number, the other imports it and binds it as a default."""
    home, user = ModuleType("eigenwell.made_home"), ModuleType("eigenwell.made_user")
    code = "from eigenwell.made_home import REACH\ndef far(x, y=REACH, *, z=REACH): return x + y + z + REACH\n"
    for module, text in ((home, "REACH = 1.0\n"), (user, code)):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(text, vars(module))
    sources = {home: "REACH = 1.0\n", user: code}
    plain = inspect.getsource
    monkeypatch.setattr("benchmarks.constants.inspect.getsource", lambda m: sources.get(m) or plain(m))
    with changed(Constant("made_home", "", "REACH", -1, 1.0, ""), 5.0):
        assert user.far(0.0) == 15.0
    assert user.far(0.0) == 3.0


@pytest.mark.parametrize(("value", "factor", "tried"), TRIED)
def test_numbers_stay_what_they_are(value, factor, tried):
    assert Constant("a", "", "B", -1, value, "").times(factor) == pytest.approx(tried)


@pytest.mark.slow
def test_the_sweep_says_what_changes_and_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ablation, "RESULTS", tmp_path)
    monkeypatch.setattr("benchmarks.table.RESULTS", tmp_path)
    demos = ew.systems.heart.sample(seed=0, frequency=20.0).shuffled(0)
    asked = []

    def suite(seeds):
        return iter([lambda: asked.append(1) or ablation._identified(demos)() for _ in seeds])

    monkeypatch.setitem(ablation.SUITES, "strokes", suite)
    arguments = ["strokes", "--seeds", "1", "--only", str(EVERY[0]), "--factors", "0.5", "--name", "tried"]
    ablation.main(arguments)
    assert "all done" in capsys.readouterr().out and len(asked) == 2
    kept = json.loads((tmp_path / "tried.json").read_text())
    assert list(kept["table"]) == [ablation.AS_THEY_ARE, kept["rows"][1]["what"]]
    assert kept["table"][ablation.AS_THEY_ARE]["strokes"][0][0] == 1.0
    ablation.main(arguments)
    assert len(asked) == 2


def test_reasons_are_listed(capsys):
    ablation.main(["--list"])
    out = capsys.readouterr().out
    assert f"{len(EVERY)} numbers" in out and str(EVERY[0]) in out
