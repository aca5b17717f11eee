"""The reference: a page for every public module with all its public names, made from the code when the site is built.

Docstrings of the package are plain English with `code` in single backticks, equations indented, and fields of a class as
aligned columns. `as_rst` turns that into what Sphinx reads, before numpydoc looks at the sections.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

import eigenwell

REFERENCE = Path(__file__).parent.parent / "reference"
PAGES = REFERENCE / "api"
GROUPS = {
    "Data in": ("demonstrations", "files", "poses", "velocities", "datasets", "systems"),
    "Identify": ("identification", "results", "graphs", "paths", "flow", "spectral", "attractors"),
    "Learn and follow": ("learning", "fields", "models", "export"),
    "Look and compare": ("comparison", "plotting", "report", "metrics"),
    "Around it": ("estimators", "distributed", "studio", "progress", "errors"),
}
"""Modules by what they are for; one that nobody has placed yet goes to the last group."""
SECTION = re.compile(r"^-{3,}\s*$")
COLUMN = re.compile(r"^([\w.]+(?:, [\w.]+)*)\s{2,}(\S.*)$")
# Code in backticks and *stressed words* stay as they are; elsewhere * | and a closing _ are signs, not markup.
CODE = re.compile(r"(``[^`]+``|:\w+:`[^`]+`|`[^`]+`|(?<![\w*])\*\w[\w ]*\*(?![\w*]))")


def modules() -> list[str]:
    """Public modules, by name."""
    return list(eigenwell._MODULES)


def public(module: ModuleType) -> list[str]:
    """What a module offers: its __all__, or what is defined in it without an underscore."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def by_kind(module: ModuleType) -> dict[str, list[str]]:
    """Public names as functions, classes, errors and objects."""
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": [], "Objects": []}
    for name in public(module):
        value = getattr(module, name)
        if inspect.isclass(value):
            kinds["Errors" if issubclass(value, Exception) else "Classes"].append(name)
        else:
            kinds["Functions" if inspect.isroutine(value) else "Objects"].append(name)
    return {kind: names for kind, names in kinds.items() if names}


def homes() -> dict[int, tuple[str, str]]:
    """Where each public function and class has its page: with its module, though others may offer it too."""
    home: dict[int, tuple[str, str]] = {}
    for name in modules():
        module = import_module(f"eigenwell.{name}")
        for one in public(module):
            value = getattr(module, one)
            inside = f"{getattr(value, '__module__', '')}.".startswith(f"eigenwell.{name}.")
            if (inspect.isclass(value) or inspect.isroutine(value)) and (inside or id(value) not in home):
                home[id(value)] = (name, one)
    return home


def page(name: str, home: dict[int, tuple[str, str]]) -> str:
    module = import_module(f"eigenwell.{name}")
    title = f"eigenwell.{name}"
    lines = [title, "=" * len(title), "", f".. automodule:: eigenwell.{name}", "   :no-members:", ""]
    elsewhere = []
    for kind, names in by_kind(module).items():
        if kind == "Objects":
            lines += [kind, "-" * len(kind), "", *(f"``{one}``\n    {_said(module, one)}" for one in names), ""]
            continue
        mine = [one for one in names if home[id(getattr(module, one))][0] == name]
        elsewhere += [home[id(getattr(module, one))] for one in names if one not in mine]
        if mine:
            lines += [kind, "-" * len(kind), "", f".. currentmodule:: eigenwell.{name}", "", ".. autosummary::"]
            lines += ["   :toctree: ../generated", "", *(f"   {one}" for one in mine), ""]
    if elsewhere:
        links = ", ".join(f":obj:`~eigenwell.{where}.{one}`" for where, one in elsewhere)
        lines += [f"Also offered here: {links}.", ""]
    return "\n".join(lines)


def _said(module: ModuleType, name: str) -> str:
    """An object in one line: what it calls itself, else its kind."""
    value = getattr(module, name)
    text = str(value) if type(value).__repr__ is not object.__repr__ else type(value).__name__
    text = " ".join(text.split())
    return f"``{text if len(text) < 160 else type(value).__name__}``"


def top() -> str:
    """The names of `import eigenwell as ew`, each with a link to its page."""
    said = "After ``import eigenwell as ew``, as ``ew.identify`` and so on; so are all modules."
    lines = ["eigenwell", "=========", "", said, "", ".. autosummary::", ""]
    names = sorted(eigenwell._HOME.items())
    return "\n".join([*lines, *(f"   ~eigenwell.{where}.{name}" for name, where in names), ""])


def contents() -> str:
    """The first page of the reference."""
    lines = ["# Reference", "", "Every public name, from its docstring, and every command, from its help.", ""]
    lines += _listed(["At the top: import eigenwell as ew <api/eigenwell>", "commands", "measurements"])
    known, last = set(modules()), list(GROUPS)[-1]
    placed = {name for group in GROUPS.values() for name in group}
    for title, group in GROUPS.items():
        names = [name for name in group if name in known] + (sorted(known - placed) if title == last else [])
        lines += [f"## {title}", "", *_listed([f"api/{name}" for name in names])]
    return "\n".join(lines)


def _listed(entries: list[str]) -> list[str]:
    return ["```{toctree}", ":maxdepth: 1", "", *entries, "```", ""]


def write_pages(app: Sphinx, config: Any) -> None:
    PAGES.mkdir(exist_ok=True)
    home = homes()
    pages = {PAGES / "eigenwell.rst": top()} | {PAGES / f"{name}.rst": page(name, home) for name in modules()}
    for file, text in (pages | {REFERENCE / "index.md": contents()}).items():
        # Left alone where nothing changed, so that Sphinx does not read it again.
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    # Pages of names and modules that are gone.
    wanted = {f"eigenwell.{where}.{name}.rst" for where, name in home.values()} | {file.name for file in pages}
    for file in [*PAGES.glob("*.rst"), *(REFERENCE / "generated").glob("*.rst")]:
        if file.name not in wanted:
            file.unlink()
    # Named, because a page that is new to a later build would not be looked at.
    config.autosummary_generate = list(map(str, pages))


def as_rst(lines: list[str]) -> list[str]:
    """A plain docstring as reStructuredText; sections of numpydoc are kept."""
    head = next((i for i in range(1, len(lines)) if SECTION.match(lines[i])), len(lines) + 1) - 1
    return [*_prose(lines[:head]), *(_plain(line) for line in lines[head:])]


def _prose(lines: list[str]) -> Iterator[str]:
    """Paragraphs; equations and aligned columns set apart."""
    for block in _blocks(lines):
        first = block[0]
        if first.lstrip().startswith(">>>"):
            yield from block
        elif COLUMN.match(first.strip()) and len({len(line) - len(line.lstrip()) for line in block}) <= 2:
            yield from _columns(block)
        elif first.startswith("  "):
            yield from ["::", "", *block]
        else:
            yield from map(_plain, block)
        yield ""


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _columns(block: list[str]) -> Iterator[str]:
    """`name   what it is` lines, with what goes on below indented, as a list of definitions."""
    depth = len(block[0]) - len(block[0].lstrip())
    for line in block:
        found = COLUMN.match(line.strip())
        if found and len(line) - len(line.lstrip()) == depth:
            yield from [f"``{found[1]}``", f"    {_plain(found[2])}"]
        else:
            yield f"    {_plain(line.strip())}"


def _plain(line: str) -> str:
    if line.lstrip().startswith((">>>", "...", ".. ", ":")):
        return line
    parts = CODE.split(line)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", re.sub(r"([*|])", r"\\\1", part.replace("\\", "\\\\")))
        elif not part.startswith(("``", ":", "*")):
            parts[i] = f"`{part}`"
    return "".join(parts)


def on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def on_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Names of array types inside others are printed as references by Sphinx; as names they read better."""
    plain = [
        None if text is None else re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
        for text in (signature, returns)
    ]
    return plain[0], plain[1]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", write_pages)  # before Sphinx looks for pages
    app.connect("autodoc-process-signature", on_signature)
    app.connect("autodoc-process-docstring", on_docstring, priority=100)  # before numpydoc looks for sections
    return {"parallel_read_safe": True, "parallel_write_safe": True}
