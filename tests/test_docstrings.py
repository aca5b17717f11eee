"""Every public name is documented, in numpydoc's form, with an example that runs."""

import dataclasses
import doctest
import importlib
import inspect
import re
from functools import cached_property

import pytest

import eigenwell
from untrained import field_of

# Fetched on first use and not part of what users import from.
INTERNAL = {"studio"}
PAPER = ["eigenwell_paper", "eigenwell_paper.baselines"]
MODULES = ["eigenwell", *(f"eigenwell.{name}" for name in eigenwell._MODULES if name not in INTERNAL), *PAPER]


def public() -> dict[str, object]:
    """Every public function and class, once, under the shortest name it has."""
    found: dict[int, tuple[str, object]] = {}
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.setdefault(id(value), (f"{module}.{name}".removeprefix("eigenwell."), value))
    return dict(found.values())


PUBLIC = public()
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


def functions_of(owner: type) -> dict[str, object]:
    """Public methods that the class itself defines."""
    plain = {name: getattr(value, "__func__", value) for name, value in vars(owner).items() if not name.startswith("_")}
    return {name: value for name, value in plain.items() if inspect.isfunction(value)}


METHODS = {
    f"{owner}.{name}": value
    for owner, kind in CLASSES.items()
    if not issubclass(kind, Exception)
    for name, value in functions_of(kind).items()
}


def sections(value: object) -> dict[str, str]:
    """Text of every section of a docstring by its title; the summary under ''."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(value) or "", flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def named(section: str) -> set[str]:
    """Names that a section of parameters describes: 'x, v : array'."""
    heads = [line.partition(" : ")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(function: object) -> set[str]:
    names = inspect.signature(function).parameters
    return {name for name in names if name not in ("self", "cls", "kwargs") and not name.startswith("_")}


def has_a_field_documented_in_the_source(kind: type) -> bool:
    """PathSettings: thirty constants, each with a line of its own beside it."""
    return kind.__name__ == "PathSettings"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is_and_what_is_public(module):
    loaded = importlib.import_module(module)
    assert (loaded.__doc__ or "").strip() and list(loaded.__all__)


@pytest.mark.parametrize("name", PUBLIC | METHODS)
def test_every_public_name_has_a_sentence(name):
    summary = sections((PUBLIC | METHODS)[name])[""].strip()
    assert (len(summary) > 8 and summary.splitlines()[0].rstrip()[-1] in '.:,;"`') or len(summary.splitlines()) > 1, (
        name
    )


@pytest.mark.parametrize("name", {n: v for n, v in (PUBLIC | METHODS).items() if inspect.isfunction(v)})
def test_every_function_names_its_parameters_and_what_it_returns(name):
    function = (PUBLIC | METHODS)[name]
    said = sections(function)
    assert parameters(function) <= named(said.get("Parameters", "")), name
    returns = inspect.signature(function).return_annotation
    if returns not in ("None", None, inspect.Signature.empty) and "Iterator[None]" not in str(returns):
        assert said.get("Returns", "").strip(), name


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_names_its_fields_and_properties(name):
    kind = CLASSES[name]
    if dataclasses.is_dataclass(kind) and not has_a_field_documented_in_the_source(kind):
        said = sections(kind)
        fields = {f.name for f in dataclasses.fields(kind) if not f.name.startswith("_")}
        assert fields <= named(said.get("Attributes", "")) | named(said.get("Parameters", "")), name
    for title, value in vars(kind).items():
        getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
        if isinstance(value, property | cached_property) and not title.startswith("_"):
            assert (getter.__doc__ or "").strip(), f"{name}.{title}"


def needs_no_example(value: object) -> bool:
    """Errors are raised, not called; a protocol is what others are."""
    return inspect.isclass(value) and (issubclass(value, Exception) or getattr(value, "_is_protocol", False))


@pytest.mark.parametrize("name", [n for n, v in PUBLIC.items() if not needs_no_example(v)])
def test_every_public_name_has_an_example(name):
    assert ">>>" in sections(PUBLIC[name]).get("Examples", ""), name


@pytest.fixture(scope="module")
def shown():
    """What examples of fields go by: two attractors, with memory, untrained, which costs nothing."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    demos = eigenwell.systems.heart.sample(seed=0, frequency=20.0)
    found = eigenwell.identify(demos)
    yield {"field": field_of(found, memory=True), "found": found}
    importlib.import_module("matplotlib.pyplot").close("all")


# Their examples run loops for a second.
LONG = ("certificate", "fields.Certificate", "fields.Loop", "fields.MotionLoop", "fields.RungeKutta4")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n.endswith(LONG) else n for n in PUBLIC | METHODS]
)
def test_examples_run(name, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = (PUBLIC | METHODS)[name]
    text = inspect.getdoc(value) or ""
    example = doctest.DocTestParser().get_doctest(text, dict(shown), name, None, 0)
    if example.examples:
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
        assert result.failed == 0, f"{result.failed} examples of {name} differ: python -m doctest shows how"
