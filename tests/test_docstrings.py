"""Every public name is documented, in numpydoc's form, with an example that runs."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import re
import textwrap
from functools import cached_property
from itertools import pairwise

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


# Classes without a public name, whose methods users call on those that have one.
SHARED = {"Questions", "Saved", "Warped"}


def functions_of(owner: type) -> dict[str, object]:
    """Public methods that the class itself defines, or has from one that is shared."""
    kinds = [kind for kind in owner.__mro__ if kind is owner or kind.__name__ in SHARED]
    found = {name: value for kind in reversed(kinds) for name, value in vars(kind).items() if not name.startswith("_")}
    plain = {name: getattr(value, "__func__", value) for name, value in found.items()}
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


def entries(section: str) -> dict[tuple[str, ...], str]:
    """Names that are described together -> their kind and text."""
    out: dict[tuple[str, ...], str] = {}
    head: tuple[str, ...] = ()
    for line in section.splitlines():
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            head = tuple(name.strip().lstrip("*") for name in names.split(","))
            out[head] = kind
        elif head:
            out[head] += " " + line.strip()
    return out


@pytest.mark.parametrize("name", {n: v for n, v in (PUBLIC | METHODS).items() if inspect.isfunction(v)})
def test_no_text_tells_of_parameters_that_are_not_there_or_of_other_defaults(name):
    function = (PUBLIC | METHODS)[name]
    known = inspect.signature(function).parameters
    for names, text in entries(sections(function).get("Parameters", "")).items():
        assert set(names) <= set(known), name
        defaults = [known[one].default for one in names]
        if "optional" in text.split():
            assert inspect.Parameter.empty not in defaults, f"{name}: {names} must be given"
        said = set(re.findall(r"default `?(\w+)\(\)", text))
        assert not said or None in defaults or said <= {type(one).__name__ for one in defaults}, f"{name}: {names}"


def beside(kind: type) -> dict[str, str]:
    """Texts that stand behind fields in the source of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body
    pairs = [(one.target.id, below) for one, below in pairwise(body) if isinstance(one, ast.AnnAssign)]
    return {
        name: below.value.value
        for name, below in pairs
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def telling(text: str) -> set[str]:
    """Beginnings of the words that say something."""
    few = {"that", "this", "with", "from", "where", "which", "than", "their", "every", "them", "they"}
    return {word[:5].lower() for word in re.findall(r"[A-Za-z]{4,}", text)} - few


@pytest.mark.parametrize("name", [n for n, kind in CLASSES.items() if dataclasses.is_dataclass(kind)])
def test_a_field_told_of_twice_is_told_the_same(name):
    """The two texts have at least a telling word in common: texts of different things have none."""
    kind = CLASSES[name]
    source, said = beside(kind), sections(kind)
    fields = {f.name for f in dataclasses.fields(kind)}
    assert named(said.get("Parameters", "")) - {""} <= fields, name
    for names, text in (entries(said.get("Attributes", "")) | entries(said.get("Parameters", ""))).items():
        if len(names) == 1 and names[0] in source:
            assert telling(f"{names[0]} {text}") & telling(source[names[0]]), f"{name}.{names[0]}: {text}"


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_names_its_fields_and_properties(name):
    """Fields in the text of the class, or each beside itself in the source."""
    kind = CLASSES[name]
    if dataclasses.is_dataclass(kind) and not has_a_field_documented_in_the_source(kind):
        said = sections(kind)
        fields = {f.name for f in dataclasses.fields(kind) if not f.name.startswith("_")}
        told = {field for field, text in beside(kind).items() if len(text.strip()) > 3}
        assert fields <= named(said.get("Attributes", "")) | named(said.get("Parameters", "")) | told, name
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
LONG = ("certificate", "fields.Certificate", "fields.Loop")


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
